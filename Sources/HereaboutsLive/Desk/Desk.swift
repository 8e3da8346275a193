import Hereabouts

/// Decides who gets what of located devices, and when: a deterministic state machine.
///
/// Events and times go in, deliveries come out. A desk has no clock, starts no thread and does no I/O;
/// `LocationService` is an actor around one. It is a value: use it from one task or actor.
///
/// - *Ticks.* A reduced location is recomputed at ticks only, the multiples of the interval in UTC, from the device's
///   newest fix, once for all consumers. Connecting and asking recompute nothing: who comes between two ticks gets the
///   standing answer.
/// - *Views.* A consumer's view of a device begins when something is granted where nothing stood, and when a pause ends:
///   reduced with the answer of the next tick, exact with the next fix. Nothing from before is ever shown.
/// - *Non-interference.* What a reduced consumer receives, and when, is a function of the regions at ticks, the grants,
///   its own requests and the clock.
/// - *Grants.* Nothing is delivered without the owner's grant; full accuracy only while a session asks for a purpose
///   that is granted. When that ends, the standing reduced answer is the next thing that the consumer gets.
/// - *No backlog.* One answer waits for a subscription, the newest; of visits the departure of the stay that was told, and the
///   newest arrival.
/// - *Explained.* Where no location can come, an update comes once, whose diagnostics say why.
/// - *Bounded.* See `Limits`.
///
/// ```swift
/// var desk = try Desk(atlas: atlas, now: now)
/// try desk.addDevice("phone")
/// try desk.addConsumer(Consumer("family"))
/// try desk.grant(.reduced(), of: "phone", to: "family", at: now)
/// let stream = try desk.subscribeToUpdates(of: "phone", for: "family", at: now)
/// _ = try desk.report(fix, from: "phone", at: now)
/// // At `desk.nextEvent`:
/// try desk.advance(to: later)
/// for delivery in desk.takeDeliveries() { send(delivery) }
/// ```
///
/// Times never run backwards: a moment before `now` is taken for `now`.
public struct Desk: Sendable {
    /// What there may be at most.
    public struct Limits: Hashable, Sendable {
        /// Devices.
        public var devices = 1_000_000
        /// Consumers.
        public var consumers = 10_000
        /// Pairs of a consumer and a device that a grant, a session or a subscription has brought together.
        public var relations = 100_000
        /// Explicit sessions of one such pair.
        public var sessionsPerRelation = 16
        /// Subscriptions in all.
        public var subscriptions = 100_000
        /// Subscriptions of one pair.
        public var subscriptionsPerRelation = 64
        /// Purposes of one consumer.
        public var purposes = 16
        /// Conditions of one consumer, in all of its monitors. Core Location has 20.
        public var conditions = 20
        /// Beacons in one report.
        public var beacons = 32
        /// Bytes of a name, a purpose's key or a condition's identifier, in UTF-8.
        public var nameByteCount = 256

        /// The defaults.
        public init() {}
    }

    /// How a desk works.
    public struct Configuration: Hashable, Sendable {
        /// The time between two ticks; at least a second.
        public var interval = Duration.seconds(900)
        /// An answer older than this is none: `locationUnavailable`.
        public var stale = Duration.seconds(7200)
        /// A reduced consumer's device is stationary when its region was the same at so many ticks; at least 2.
        public var stationaryTicks = 3
        /// A session that is taken up again within this time is the same session.
        public var grace = Duration.seconds(10)
        /// A fix that is further ahead of the clock is dropped.
        public var futureTolerance = Duration.seconds(300)
        /// An answer that waits for the owner's decision on always is dropped after this time.
        public var heldAnswerLifetime = Duration.seconds(3600)
        /// What a tick brings is pushed within this time after it, at a moment by a hash of the target; less than the
        /// interval.
        public var spread = Duration.seconds(60)
        /// The key of that hash: random, unless you keep one for a deployment.
        public var spreadKey = UInt64.random(in: .min ... .max)
        /// What there may be at most.
        public var limits = Limits()

        /// The defaults.
        public init() {}
    }

    /// What became of a fix.
    public enum Reception: Hashable, Sendable {
        /// It is the newest so far: full consumers have it, and it is answered at the next tick.
        case kept
        /// It is not newer than the last one or than the device's last answer, or older than the tick before the last.
        /// It changes nothing.
        case late
        /// It is further in the future than `Configuration.futureTolerance`. It changes nothing.
        case future
        /// It came in a pause, or its own time lies in one. It changes nothing.
        case paused
    }

    /// How many fixes came to what.
    public struct Counts: Hashable, Sendable {
        /// Kept.
        public internal(set) var kept = 0
        /// Late or repeated.
        public internal(set) var late = 0
        /// In the future.
        public internal(set) var future = 0
        /// Of a pause.
        public internal(set) var paused = 0
        /// With an invalid coordinate.
        public internal(set) var invalid = 0
    }

    /// What a tick came to for a device.
    public struct DeviceAnswer: Hashable, Sendable {
        /// The device's index; see `Desk.deviceID(_:)`.
        public let device: Int
        /// Its region.
        public let region: Region
        /// The tick.
        public let tick: Timestamp
        /// Whether the region is another than the last, or the first.
        public let isNew: Bool
    }

    /// The regions.
    public let atlas: Atlas
    /// How the desk works.
    public let configuration: Configuration
    /// The fingerprint of the atlas that the snapshot was taken with from which the desk was restored; nil of one that says none.
    public internal(set) var snapshotFingerprint: UInt64?
    /// The latest moment that it knows of.
    public internal(set) var now: Timestamp
    /// The last tick up to `now`.
    public internal(set) var lastTick: Timestamp
    /// What became of the fixes so far.
    public internal(set) var counts = Counts()
    /// Whether the owner has paused everything, and how; nil where nothing is paused.
    public var pauseMode: PauseMode? { pauses.last.flatMap { $0.end == nil ? $0.mode : nil } }
    /// Whether consumers are told that everything is paused.
    public var isPaused: Bool { pauseMode == .told }

    /// How everything is paused.
    public enum PauseMode: UInt8, Hashable, Sendable {
        /// Consumers are told, at once and by name (`authorizationDeniedGlobally`), and have nothing.
        case told = 1
        /// As if every device had been switched off: what was answered stands until it is too old, and nothing else changes.
        case quiet
    }

    struct ConsumerEntry: Sendable {
        var consumer: Consumer
        /// The index of the consumer that a link derives from.
        var parent: Int?
        /// The links that derive from it.
        var links: [Int] = []
        /// Indices of its relations.
        var relations: [Int] = []
    }

    /// The beacons that a device sees, nearest first.
    struct Sightings: Sendable { let time: Timestamp, beacons: [BeaconSighting] }

    /// A time of which nobody ever has anything.
    struct Pause: Hashable, Sendable {
        let mode: PauseMode
        let begin: Timestamp
        /// Nil while it lasts.
        var end: Timestamp?

        func contains(_ time: Timestamp) -> Bool { begin <= time && end.map { time <= $0 } ?? true }
    }

    struct RelationKey: Hashable, Sendable { let consumer: Int, device: Int }

    let interval, stale, grace, futureTolerance, heldLifetime, spread: Int64
    var ticks: TickLog
    var devices: DeviceTable
    var consumers: [ConsumerEntry?] = []
    var consumerIndices: [ConsumerID: Int] = [:]
    var relations: [Relation?] = []
    var relationIndices: [RelationKey: Int] = [:]
    var freeRelations: [Int] = []
    var relationsOfDevice: [Int: [Int]] = [:]
    var sessionRelations: [UInt64: Int] = [:]
    var subscriptions: [UInt64: Subscription] = [:]
    /// Subscriptions with something to take, in the order in which it came.
    var ready: [UInt64] = []
    var ownerSubscriptions: [UInt64] = []
    var deadlines = DeadlineQueue()
    /// The pause that lasts, and those that a fix which is not late may lie in; in order of time.
    var pauses: [Pause] = []
    var sightings: [Int: Sightings] = [:]
    var lastNumber: UInt64 = 0

    /// A desk without devices and consumers.
    ///
    /// - Parameters:
    ///   - configuration: how it works.
    ///   - atlas: the regions.
    ///   - now: the present.
    /// - Throws: `DeskError.invalidConfiguration` for values that are not as documented.
    public init(configuration: Configuration = Configuration(), atlas: Atlas, now: Timestamp) throws(DeskError) {
        guard configuration.interval >= .seconds(1), configuration.stationaryTicks >= 2,
            configuration.spread >= .zero, configuration.spread < configuration.interval,
            configuration.stale >= configuration.interval, configuration.grace >= .zero,
            configuration.futureTolerance >= .zero, configuration.heldAnswerLifetime >= .zero
        else { throw .invalidConfiguration }
        self.configuration = configuration
        self.atlas = atlas
        self.now = now
        interval = Pacer.nanoseconds(in: configuration.interval)
        stale = Pacer.nanoseconds(in: configuration.stale)
        grace = Pacer.nanoseconds(in: configuration.grace)
        futureTolerance = Pacer.nanoseconds(in: configuration.futureTolerance)
        heldLifetime = Pacer.nanoseconds(in: configuration.heldAnswerLifetime)
        spread = Pacer.nanoseconds(in: configuration.spread)
        devices = DeviceTable(interval: configuration.interval)
        lastTick = Self.lastTick(now, interval: interval)
        ticks = TickLog(lastTick: lastTick, interval: interval)
    }

    /// The last multiple of the interval at or before a moment.
    package static func lastTick(_ time: Timestamp, interval: Int64) -> Timestamp {
        let tick = Pacer.tick(for: time, intervalNanoseconds: interval)
        return tick == time ? tick : tick.advanced(by: -interval)
    }

    // MARK: Time

    /// When something happens next by itself: a tick, or the end of a grant, a session or a delay. Advance the desk
    /// then.
    public var nextEvent: Timestamp {
        let tick = lastTick.advanced(by: interval)
        return deadlines.first.map { min($0, tick) } ?? tick
    }

    /// Lets everything happen that is due up to a moment, in order: ticks, and ends of grants, sessions and delays.
    ///
    /// What ends at a tick has ended before it. Of several ticks that nobody waited for the last is taken.
    ///
    /// - Parameters:
    ///   - time: the present. A moment before `now` changes nothing; but one that is more than an interval and five minutes
    ///     before it says that the clock was ahead. That is followed three times a day at most, and no tick is answered again.
    ///   - answered: called with each device's answer at a tick, in no particular order.
    /// - Throws: `DeskError.atlas`, after everything was done that could be.
    /// - Complexity: at a tick, linear in the devices that sent a fix since the last one, and in the relations; else
    ///   linear in what is due.
    public mutating func advance(
        to time: Timestamp, answered: (DeviceAnswer) -> Void = { _ in }
    ) throws(DeskError) {
        followBack(to: time)
        guard time >= nextEvent else {
            now = max(now, time)
            return
        }
        var failure: LookupError?
        while true {
            let tick = lastTick.advanced(by: interval)
            let deadline = deadlines.first
            if let deadline, deadline <= min(tick, time) {
                now = max(now, deadline)
                meetDeadline()
            } else if tick <= time, tick > lastTick {
                let end = deadline.map { $0 <= time ? $0.advanced(by: -1) : time } ?? time
                let last = Self.lastTick(end, interval: interval)
                now = max(now, tick, last)
                let damage = meetTicks(tick, max(tick, last), answered)
                failure = failure ?? damage
            } else {
                break
            }
        }
        now = max(now, time)
        if let failure { throw DeskError(failure) }
    }

    /// Answers the fixes that wait at their tick, and refreshes what depends on it at the last of several ticks that
    /// have passed: whether any device had a fix does not tell when.
    private mutating func meetTicks(
        _ tick: Timestamp, _ last: Timestamp, _ answered: (DeviceAnswer) -> Void
    ) -> LookupError? {
        lastTick = last
        var failure: LookupError?
        let tick = ticks.next(from: tick)
        if tick <= last {
            failure = devices.answerAll(at: tick, interval: interval, in: atlas) { index, answer in
                answered(DeviceAnswer(device: index, region: answer.region, tick: answer.tick, isNew: answer.isNew))
            }
        }
        if tick < last { ticks.leap(from: tick, to: last) }
        let forgotten = lastTick.advanced(by: -max(interval, Self.oldestConfirmed))
        pauses.removeAll { $0.end.map { $0 < forgotten } ?? false }
        for (index, seen) in sightings where isStale(seen.time) { sightings[index] = nil }
        for index in relations.indices {
            if let relation = relations[index], relation.begin != nil, relation.firstTick == nil {
                let first = self.answer(relation)?.tick
                relations[index]?.firstTick = first
            }
        }
        for index in relations.indices { refresh(index, .tick) }
        for index in relations.indices {
            guard let relation = relations[index], let rest = relation.rest else { continue }
            let isNeeded = relation.needsFixes && (!isStale(rest.since) || devices.fix(relation.device) != nil)
            if !isNeeded { relations[index]?.rest = nil }
        }
        // Behind the rests of all, so that none depends on another's.
        for relation in relations {
            guard let relation, relation.rest != nil,
                isStale(devices.confirmation(relation.device))
            else { continue }
            devices.erase(relation.device)
        }
        return failure
    }

    private mutating func meetDeadline() {
        let (time, item) = deadlines.removeFirst()
        switch item {
        case .subscription(let number):
            if let subscription = subscriptions[number], !subscription.waiting.isEmpty, subscription.due <= now {
                markReady(number)
            }
        case .relation(let index):
            guard let relation = relations[index], relation.scheduled == time else { return }
            relations[index]?.scheduled = nil
            relations[index]?.lapse(at: now, heldLifetime: heldLifetime)
            settle(index)
            if relations[index]?.isBlank == true { removeRelation(index) }
        }
    }

    /// Whether an answer or fix of a time is too old at the last tick.
    func isStale(_ time: Timestamp) -> Bool { lastTick.nanoseconds(after: time) > stale }

    // MARK: Deliveries

    /// Takes everything that is ready, of each subscription what `take(_:)` gives.
    public mutating func takeDeliveries() -> [Delivery] { takeReady().flatMap { take($0) } }

    /// The subscriptions that have something to take, or were ended by the owner, since the last call.
    public mutating func takeReady() -> [SubscriptionID] {
        let numbers = ready
        ready.removeAll(keepingCapacity: true)
        for number in numbers { subscriptions[number]?.isReady = false }
        return numbers.map { SubscriptionID(number: $0) }
    }

    /// Takes what waits for a subscription: an answer; of a monitor, one event for each condition that changed; of visits, the
    /// departure of the stay that was told and the newest arrival.
    public mutating func take(_ id: SubscriptionID) -> [Delivery] {
        guard var subscription = subscriptions[id.number], subscription.due <= now else { return [] }
        defer { subscriptions[id.number] = subscription }
        if let key = subscription.waitingKey { (subscription.takenKey, subscription.waitingKey) = (key, nil) }
        let deliveries = subscription.waiting
        subscription.waiting = []
        return deliveries
    }

    /// Takes the first of what waits for a subscription.
    mutating func takeFirst(_ id: SubscriptionID) -> Delivery? {
        var deliveries = take(id)
        guard !deliveries.isEmpty else { return nil }
        let first = deliveries.removeFirst()
        if !deliveries.isEmpty { subscriptions[id.number]?.waiting = deliveries }
        return first
    }

    /// Whether a subscription is open.
    public func isOpen(_ id: SubscriptionID) -> Bool { subscriptions[id.number] != nil }

    mutating func markReady(_ number: UInt64) {
        guard subscriptions[number]?.isReady != true else { return }
        subscriptions[number]?.isReady = true
        ready.append(number)
    }
}

extension Desk: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// How many devices and consumers there are, and nothing of them.
    public var description: String { "Desk(\(deviceCount) devices, \(consumerCount) consumers)" }
    /// As `description`.
    public var debugDescription: String { description }
    /// Without children.
    public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}
