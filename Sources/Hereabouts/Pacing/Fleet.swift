/// Paces many devices by key, in memory that is bounded, with a state that survives restarts.
///
/// Each device has a `Pacer` of its own, with all of its guarantees. The fleet adds these:
///
/// - *Bounded.* At most `capacity` devices, with keys of at most `maximumKeyByteCount` bytes. A device beyond that is
///   refused with `FleetError.full`; none is evicted silently, because a forgotten device could be answered too soon.
/// - *Durable* (contract C12). `snapshot()` gives all devices as bytes with a checksum, and `init(snapshot:…)` refuses
///   bytes that `snapshot()` cannot have made. Take a snapshot before you publish the answers that it covers: a fleet
///   restored from an older one may answer again.
/// - *Forgetting on purpose.* `forgetDevices(silentSince:)` removes devices without ever giving an extra answer.
///
/// ```swift
/// var fleet = Fleet(capacity: 100_000, atlas: atlas)
/// _ = try fleet.report(fix, from: "bus 12")
/// // At `fleet.nextTick(after: .now)`, and so on:
/// try fleet.tick(.now) { device in
///     try store(device.key, device.state)
///     if device.answer.isNew { publish(device.key, device.answer) }
/// }
/// ```
///
/// A fleet is a value and has no lock: use it from one task or actor.
public struct Fleet: Sendable {
    /// The largest size of a key in UTF-8.
    public static let maximumKeyByteCount = 1024

    /// The atlas that all devices are reported in.
    public let atlas: Atlas
    /// The time between two ticks.
    public let interval: Duration
    /// The largest number of devices.
    public let capacity: Int

    var pacers: [String: Pacer] = [:]
    /// Fixes of unknown devices up to this time are late: they may come from a forgotten device.
    var floor = Timestamp(nanosecondsSince1970: .min)

    /// A fleet without devices.
    ///
    /// - Parameters:
    ///   - interval: the time between two ticks; not negative.
    ///   - capacity: the largest number of devices; not negative. A device takes some two hundred bytes.
    ///   - atlas: the atlas for all devices.
    public init(interval: Duration = .seconds(900), capacity: Int, atlas: Atlas) {
        precondition(interval >= .zero, "an interval is not negative")
        precondition(capacity >= 0, "a capacity is not negative")
        self.interval = interval
        self.capacity = capacity
        self.atlas = atlas
    }

    /// A device that was answered at a tick.
    public struct Device: Sendable {
        /// Its key.
        public let key: String
        /// The answer.
        public let answer: Pacer.Answer
        fileprivate let pacer: Pacer
        fileprivate let atlas: Atlas

        /// What to keep of it, before the answer is published; `restore(_:for:from:otherAtlas:)` takes it. Nil where the atlas is
        /// damaged.
        public var state: Pacer.State? { pacer.state(in: atlas) }
    }

    /// The number of devices.
    public var count: Int { pacers.count }

    /// The keys of the devices, in no particular order.
    public var keys: some Collection<String> { pacers.keys }

    /// The first tick after a moment: when to call `tick(_:_:)` next.
    public func nextTick(after time: Timestamp) -> Timestamp {
        let interval = max(1, Pacer.nanoseconds(in: interval))
        return Pacer.tick(for: time.advanced(by: .nanoseconds(1)), intervalNanoseconds: interval)
    }

    /// Takes a fix of a device; see `Pacer.report(_:in:)`.
    ///
    /// Keys are compared as Swift compares strings: by canonical equivalence.
    ///
    /// - Returns: whether the fix was kept for its tick, and the answer of the tick before it, if that was not given yet.
    /// - Throws: `FleetError`. The fleet stays as it was.
    /// - Complexity: amortized O(key length).
    public mutating func report(_ fix: Fix, from key: String) throws(FleetError) -> Pacer.Reception {
        if let index = pacers.index(forKey: key) {
            do throws(LookupError) {
                return try pacers.values[index].report(fix, in: atlas)
            } catch {
                throw FleetError(error)
            }
        }
        guard key.utf8.count <= Self.maximumKeyByteCount else { throw .keyTooLong }
        var pacer = Pacer(interval: interval)
        let reception: Pacer.Reception
        do throws(LookupError) { reception = try pacer.report(fix, in: atlas) } catch { throw FleetError(error) }
        if fix.time <= floor { return .late }
        guard pacers.count < capacity else { throw .full }
        pacers[key] = pacer
        return reception
    }

    /// Answers the newest fixes of all devices whose tick has come; see `Pacer.tick(_:in:)`.
    ///
    /// - Parameters:
    ///   - time: the present.
    ///   - body: called with each device that has an answer, in no particular order.
    /// - Throws: `FleetError.atlas`. Devices not yet answered are answered at the next call.
    /// - Complexity: linear in the number of devices.
    public mutating func tick(_ time: Timestamp, _ body: (Device) -> Void) throws(FleetError) {
        do throws(TickFailure<Never>) {
            try answerAll(at: time) { (device) throws(Never) in body(device) }
        } catch {
            switch error {
            case .fleet(let error): throw error
            }
        }
    }

    #if !hasFeature(Embedded)
        /// The same where a device's answer may not be given, such as when its state could not be stored.
        ///
        /// - Throws: `FleetError.atlas`, and what `body` throws. That device, and those not yet answered, are answered at the next
        ///   call.
        public mutating func tick(_ time: Timestamp, _ body: (Device) throws -> Void) throws {
            do throws(TickFailure<any Error>) {
                try answerAll(at: time, body)
            } catch {
                switch error {
                case .fleet(let error): throw error
                case .body(let error): throw error
                }
            }
        }
    #endif

    private enum TickFailure<Failure: Error>: Error {
        case fleet(FleetError)
        case body(Failure)
    }

    private mutating func answerAll<Failure>(
        at time: Timestamp, _ body: (Device) throws(Failure) -> Void
    ) throws(TickFailure<Failure>) {
        for index in pacers.indices {
            let before = pacers.values[index]
            let answer: Pacer.Answer?
            do throws(LookupError) {
                answer = try pacers.values[index].tick(time, in: atlas)
            } catch {
                throw .fleet(FleetError(error))
            }
            guard let answer else { continue }
            do throws(Failure) {
                try body(Device(key: pacers.keys[index], answer: answer, pacer: pacers.values[index], atlas: atlas))
            } catch {
                pacers.values[index] = before
                throw .body(error)
            }
        }
    }

    /// The last answer for a device, which stands until a tick gives another; nil for an unknown device.
    public func region(of key: String) -> Region? { pacers[key]?.region }

    /// What to keep of one device; nil for one without an answer. `snapshot()` has all of them.
    public func state(of key: String) -> Pacer.State? { pacers[key]?.state(in: atlas) }

    /// Takes up a device that this fleet does not have.
    ///
    /// - Parameters:
    ///   - state: what was kept of it.
    ///   - key: its key.
    ///   - fingerprint: of the atlas that it was kept with.
    ///   - otherAtlas: what becomes of a state of another atlas.
    /// - Throws: `FleetError`: the key is taken or too long, the fleet is full, or the atlas is another one or damaged.
    public mutating func restore(
        _ state: Pacer.State, for key: String, from fingerprint: UInt64, otherAtlas: OtherAtlas = .refused
    ) throws(FleetError) {
        guard key.utf8.count <= Self.maximumKeyByteCount else { throw .keyTooLong }
        guard pacers[key] == nil else { throw .keyTaken }
        guard pacers.count < capacity else { throw .full }
        do throws(AtlasError) {
            pacers[key] = try Pacer(
                interval: interval, state: state, from: fingerprint, in: atlas, otherAtlas: otherAtlas)
        } catch {
            throw .atlas(error)
        }
    }

    /// Forgets a device and all that was kept of it, for somebody who asks to be erased.
    ///
    /// It is a new device when it reports again, and never answered twice for a tick (C9): until then, fixes of unknown
    /// devices up to its last tick are late.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    public mutating func remove(_ key: String) -> Bool {
        guard let pacer = pacers.removeValue(forKey: key) else { return false }
        if let tick = pacer.lastTick { floor = max(floor, tick) }
        return true
    }

    /// Removes the devices whose last answer was given at or before a time, and which have sent no fix since.
    ///
    /// This never buys an extra answer (C9): afterwards, fixes of unknown devices up to `cutoff` are late. Its last region
    /// is forgotten, and which regions stood for it: a device at rest on an edge may be answered with the other region
    /// than before (C11). So choose a time after which a device is another one in the eyes of the observer, weeks rather
    /// than hours.
    ///
    /// - Returns: how many devices were removed.
    /// - Complexity: linear in the number of devices.
    @discardableResult
    public mutating func forgetDevices(silentSince cutoff: Timestamp) -> Int {
        let before = pacers.count
        pacers = pacers.filter { !$0.value.isForgettable(at: cutoff) }
        floor = max(floor, cutoff)
        return before - pacers.count
    }
}

extension Pacer {
    /// Whether no fix waits and all fixes that would be late for this device come at or before a time.
    fileprivate func isForgettable(at cutoff: Timestamp) -> Bool {
        guard pending == nil, let history else { return pending == nil }
        return history.tick <= cutoff
    }
}

extension Fleet: CustomStringConvertible, CustomDebugStringConvertible {
    /// How many devices there are, and nothing of them.
    public var description: String { "Fleet(\(count) of \(capacity) devices)" }
    /// How many devices there are, and nothing of them.
    public var debugDescription: String { description }
}

/// Why a fleet did not take a fix or a device. No case carries a position or a key.
public enum FleetError: Error, Hashable, Sendable {
    /// The coordinate is invalid.
    case coordinate(CoordinateError)
    /// The device is new, and the fleet has as many as it may.
    case full
    /// The key is longer than `Fleet.maximumKeyByteCount`.
    case keyTooLong
    /// The fleet has the device that is to be restored.
    case keyTaken
    /// The atlas is damaged where the lookup reads it. An atlas that was validated as a whole never gives this.
    case atlas(AtlasError)

    /// The lookups of a pacer have no region from outside.
    init(_ error: LookupError) {
        switch error {
        case .coordinate(let error): self = .coordinate(error)
        case .atlas(let error): self = .atlas(error)
        case .foreignRegion: self = .atlas(.changedInUse)
        }
    }
}

extension FleetError: CustomStringConvertible {
    /// A sentence for people.
    public var description: String {
        switch self {
        case .coordinate(let error): "\(error)"
        case .full: "the fleet has as many devices as it may"
        case .keyTooLong: "the device's key is longer than \(Fleet.maximumKeyByteCount) bytes"
        case .keyTaken: "the fleet has a device with this key"
        case .atlas(let error): "the atlas \(error.predicate)"
        }
    }
}
