internal import CKernels
import Hereabouts

/// The devices of a desk by index: 64 bytes for a device and its name's entry (see `NameTable`), and 80 more for one that
/// was near several regions (see `PackedPacers`).
///
/// Of precise positions it holds the newest fix of a device, once, and that only until its tick unless a consumer's
/// grant of full accuracy needs it (law 5).
struct DeviceTable: Sendable {
    private struct Flags: OptionSet {
        let rawValue: UInt8
        /// The slot holds a fix.
        static let hasFix = Flags(rawValue: 1)
        /// The fix waits for its tick.
        static let isPending = Flags(rawValue: 2)
        /// Some relation's grant is for full accuracy or exact times.
        static let isWatched = Flags(rawValue: 4)
        /// The index is in use.
        static let isLive = Flags(rawValue: 8)
        /// The device said to be still where it was last answered, without a fix being kept.
        static let isConfirmed = Flags(rawValue: 16)
    }

    /// What a fix changes, side by side: a table of many devices is in no cache.
    private struct Slot {
        var latitude = 0.0
        var longitude = 0.0
        /// Of the fix, in nanoseconds; `Int64.min` where there is none.
        var time = Int64.min
        /// The tick at which the standing region was answered first, in nanoseconds.
        var since = Int64.min
        /// Meters; NaN where the fix had none.
        var accuracy = Float.nan
        var flags: Flags = []
        /// Whole minutes after its time at which the device said to be there still.
        var confirmedMinutes: UInt16 = 0
    }

    /// How many devices ahead of the one that is answered the next are prefetched.
    private static let lookahead = 8

    private var names = NameTable()
    private var slots: ContiguousArray<Slot> = []
    private var free: [UInt32] = []
    private(set) var pacers: PackedPacers
    /// The devices whose fix waits for its tick.
    private var pending: ContiguousArray<UInt32> = []

    init(interval: Duration) { pacers = PackedPacers(interval: interval) }

    var count: Int { names.count }

    /// All indices, in use or not.
    var indices: Range<Int> { slots.indices }

    /// The indices in use, ascending.
    var live: [Int] { indices.filter { isLive($0) } }

    func index(of id: DeviceID) -> Int? { index(of: id.rawValue) }

    func index(of name: String) -> Int? {
        unsafe Self.withBytes(name) { unsafe index(of: $0, hash: NameTable.hash(of: $0)) }
    }

    func index(of name: UnsafeBufferPointer<UInt8>, hash: UInt64) -> Int? { unsafe names.index(of: name, hash: hash) }

    /// Prefetches what fixes of some devices need.
    ///
    /// - Parameter hashes: of their names.
    func prefetch(_ hashes: UnsafeBufferPointer<UInt64>) {
        unsafe slots.withUnsafeBufferPointer { slots in
            unsafe names.prefetch(hashes) { index in
                guard slots.indices.contains(index) else { return }
                // SAFETY: the index is below the count.
                unsafe prefetch_line(slots.baseAddress! + index)
                pacers.prefetch(index, all: false)
            }
        }
    }

    func isLive(_ index: Int) -> Bool { slots.indices.contains(index) && slots[index].flags.contains(.isLive) }

    /// The name of a device.
    func name(_ index: Int) -> String { names.name(index) }

    /// The identifier of a device: its name.
    func id(_ index: Int) -> DeviceID { DeviceID(rawValue: name(index)) }

    /// The bytes of a device's name, for the time of the call.
    func withName<Result>(_ index: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        unsafe names.withName(index, body)
    }

    mutating func add(_ name: String) -> Int {
        unsafe Self.withBytes(name) { unsafe add($0, hash: NameTable.hash(of: $0)) }
    }

    /// Adds a device whose name is not taken.
    ///
    /// - Parameter hash: `NameTable.hash(of: name)`.
    mutating func add(_ name: UnsafeBufferPointer<UInt8>, hash: UInt64) -> Int {
        let index: Int
        if let last = free.popLast() {
            index = Int(last)
        } else {
            index = slots.count
            slots.append(Slot())
            pacers.append()
        }
        slots[index].flags = .isLive
        unsafe names.insert(name, hash: hash, at: index)
        return index
    }

    mutating func remove(_ index: Int) {
        if slots[index].flags.contains(.isPending) { pending.removeAll { $0 == index } }
        names.remove(index)
        slots[index] = Slot()
        pacers.reset(index)
        free.append(UInt32(index))
    }

    private static func withBytes<Result>(_ name: String, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        var name = name
        return name.withUTF8 { unsafe body($0) }
    }

    // MARK: The newest fix

    /// Whether a fix waits for its tick.
    func isPending(_ index: Int) -> Bool { slots[index].flags.contains(.isPending) }

    /// Whether the newest fix is kept.
    func hasFix(_ index: Int) -> Bool { slots[index].flags.contains(.hasFix) }

    /// The newest fix, where it is kept.
    func fix(_ index: Int) -> Fix? {
        let slot = slots[index]
        guard slot.flags.contains(.hasFix) else { return nil }
        return Fix(
            coordinate: Coordinate(latitude: slot.latitude, longitude: slot.longitude),
            time: Timestamp(nanosecondsSince1970: slot.time),
            horizontalAccuracy: slot.accuracy.isNaN ? nil : Double(slot.accuracy))
    }

    /// The time of the newest fix in nanoseconds; `Int64.min` where none is kept.
    func fixTime(_ index: Int) -> Int64 { slots[index].time }

    /// The last moment at which the device is known to have been where its newest fix is, to the minute.
    func confirmation(_ index: Int) -> Timestamp {
        let slot = slots[index]
        return Timestamp(nanosecondsSince1970: slot.time).advanced(by: Int64(slot.confirmedMinutes) * Self.minute)
    }

    private static let minute: Int64 = 60_000_000_000

    /// Notes that the device was still there at a moment: at the next tick its newest fix is answered, or, where none is kept,
    /// its region again.
    mutating func confirm(_ index: Int, _ moment: Timestamp) {
        var slot = slots[index]
        if slot.flags.contains(.hasFix) {
            let minutes = moment.nanoseconds(after: Timestamp(nanosecondsSince1970: slot.time)) / Self.minute
            slot.confirmedMinutes = max(slot.confirmedMinutes, UInt16(clamping: minutes))
        } else {
            slot.flags.insert(.isConfirmed)
        }
        if slot.flags.insert(.isPending).inserted { pending.append(UInt32(index)) }
        slots[index] = slot
    }

    /// Keeps a fix in place of the last one, to be answered at the next tick.
    mutating func keep(_ index: Int, _ coordinate: Coordinate, _ time: Timestamp, _ accuracy: Double?) {
        var slot = slots[index]
        slot.latitude = coordinate.latitude
        slot.longitude = coordinate.longitude
        slot.time = time.nanosecondsSince1970
        slot.confirmedMinutes = 0
        slot.accuracy = accuracy.map { $0 > 0 && $0.isFinite ? Float($0) : .nan } ?? .nan
        if !slot.flags.contains(.isPending) { pending.append(UInt32(index)) }
        slot.flags.formUnion([.hasFix, .isPending])
        slots[index] = slot
    }

    /// Erases the newest fix.
    mutating func erase(_ index: Int) {
        var slot = Slot()
        slot.since = slots[index].since
        slot.flags = slots[index].flags.subtracting(.hasFix)
        slots[index] = slot
    }

    /// Whether a grant of full accuracy or exact times needs the fixes of a device.
    func isWatched(_ index: Int) -> Bool { slots[index].flags.contains(.isWatched) }

    mutating func setWatched(_ index: Int, _ isWatched: Bool) {
        if isWatched {
            slots[index].flags.insert(.isWatched)
        } else {
            slots[index].flags.remove(.isWatched)
            if !slots[index].flags.contains(.isPending) { erase(index) }
        }
    }

    // MARK: Published answers

    /// The last answer and its tick.
    func answer(_ index: Int) -> (region: Region, tick: Timestamp)? {
        guard let region = pacers.region(index), let tick = pacers.tick(index) else { return nil }
        return (region, tick)
    }

    /// The tick at which the last answer's region was answered first.
    func since(_ index: Int) -> Timestamp { Timestamp(nanosecondsSince1970: slots[index].since) }

    /// Answers all devices whose fix waits, and erases the fixes that nobody's grant needs.
    ///
    /// - Returns: the first damage that was found; devices where it was have no answer.
    mutating func answerAll(
        at tick: Timestamp, interval: Int64, in atlas: Atlas, _ body: (Int, Pacer.Answer) -> Void
    ) -> LookupError? {
        var failure: LookupError?
        for place in pending.indices {
            if place + Self.lookahead < pending.count {
                let next = Int(pending[place + Self.lookahead])
                // SAFETY: a pending device has a slot.
                unsafe slots.withUnsafeBufferPointer { unsafe prefetch_line($0.baseAddress! + next) }
                pacers.prefetch(next, all: true)
            }
            let index = Int(pending[place])
            slots[index].flags.remove(.isPending)
            if var fix = fix(index) {
                // A fix that came after its tick counts for this one.
                fix.time = max(fix.time, tick.advanced(by: 1 - interval))
                do throws(LookupError) {
                    if let answer = try pacers.answer(index, fix, at: tick, in: atlas) {
                        if answer.isNew { slots[index].since = tick.nanosecondsSince1970 }
                        body(index, answer)
                    }
                } catch { failure = failure ?? error }
            } else if slots[index].flags.contains(.isConfirmed), let answer = pacers.confirm(index, at: tick) {
                body(index, answer)
            }
            slots[index].flags.remove(.isConfirmed)
            if !slots[index].flags.contains(.isWatched) { erase(index) }
        }
        pending.removeAll(keepingCapacity: true)
        return failure
    }

    /// Has what is of a time to come be of the last tick, and forgets fixes of such a time.
    mutating func stepBack(to last: Timestamp, now: Timestamp) {
        for index in indices where isLive(index) { stepBack(index, to: last, now: now) }
    }

    /// The same of one device.
    mutating func stepBack(_ index: Int, to last: Timestamp, now: Timestamp) {
        pacers.stepBack(index, to: last)
        slots[index].since = min(slots[index].since, last.nanosecondsSince1970)
        slots[index].confirmedMinutes = 0
        guard slots[index].time > now.nanosecondsSince1970 else { return }
        erase(index)
        slots[index].flags.remove(.isConfirmed)
    }

    mutating func restore(
        _ index: Int, _ state: Pacer.State, since: Timestamp, in atlas: Atlas
    ) throws(AtlasError) {
        try pacers.restore(index, state, in: atlas)
        slots[index].since = since.nanosecondsSince1970
    }
}

extension Timestamp {
    /// This moment and some nanoseconds, within the range of times.
    package func advanced(by nanoseconds: Int64) -> Timestamp {
        let (sum, overflow) = nanosecondsSince1970.addingReportingOverflow(nanoseconds)
        return Timestamp(nanosecondsSince1970: overflow ? (nanoseconds > 0 ? .max : .min) : sum)
    }
}
