import Hereabouts

/// The devices of a desk by index, as a structure of arrays: some 60 bytes for a device besides its name's entry.
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
    }

    private var indices: [String: UInt32] = [:]
    private(set) var names: ContiguousArray<String> = []
    private var latitudes: ContiguousArray<Double> = []
    private var longitudes: ContiguousArray<Double> = []
    private var times: ContiguousArray<Int64> = []
    /// Meters; NaN where the fix had none.
    private var accuracies: ContiguousArray<Float> = []
    private var flags: ContiguousArray<Flags> = []
    /// The tick at which the standing region was answered first, in nanoseconds.
    private var since: ContiguousArray<Int64> = []
    private var free: [UInt32] = []
    private(set) var pacers: PackedPacers
    /// The devices whose fix waits for its tick.
    private var pending: ContiguousArray<UInt32> = []

    init(interval: Duration) { pacers = PackedPacers(interval: interval) }

    var count: Int { indices.count }

    /// The indices in use, ascending.
    var live: [Int] { flags.indices.filter { flags[$0].contains(.isLive) } }

    func index(of name: String) -> Int? { indices[name].map(Int.init) }

    func isLive(_ index: Int) -> Bool { flags.indices.contains(index) && flags[index].contains(.isLive) }

    mutating func add(_ name: String) -> Int {
        let index: Int
        if let last = free.popLast() {
            index = Int(last)
            names[index] = name
        } else {
            index = names.count
            names.append(name)
            latitudes.append(0)
            longitudes.append(0)
            times.append(.min)
            accuracies.append(.nan)
            flags.append([])
            since.append(.min)
            pacers.append()
        }
        flags[index] = .isLive
        indices[name] = UInt32(index)
        return index
    }

    mutating func remove(_ index: Int) {
        erase(index)
        if flags[index].contains(.isPending) { pending.removeAll { $0 == index } }
        indices[names[index]] = nil
        names[index] = ""
        flags[index] = []
        since[index] = .min
        pacers.reset(index)
        free.append(UInt32(index))
    }

    // MARK: The newest fix

    /// The newest fix, where it is kept.
    func fix(_ index: Int) -> Fix? {
        guard flags[index].contains(.hasFix) else { return nil }
        return Fix(
            coordinate: Coordinate(latitude: latitudes[index], longitude: longitudes[index]),
            time: Timestamp(nanosecondsSince1970: times[index]),
            horizontalAccuracy: accuracies[index].isNaN ? nil : Double(accuracies[index]))
    }

    /// The time of the newest fix in nanoseconds; `Int64.min` where none is kept.
    func fixTime(_ index: Int) -> Int64 { times[index] }

    /// Keeps a fix in place of the last one, to be answered at the next tick.
    mutating func keep(_ index: Int, _ coordinate: Coordinate, _ time: Timestamp, _ accuracy: Double?) {
        latitudes[index] = coordinate.latitude
        longitudes[index] = coordinate.longitude
        times[index] = time.nanosecondsSince1970
        accuracies[index] = accuracy.map { $0 > 0 && $0.isFinite ? Float($0) : .nan } ?? .nan
        if !flags[index].contains(.isPending) { pending.append(UInt32(index)) }
        flags[index].formUnion([.hasFix, .isPending])
    }

    /// Erases the newest fix.
    mutating func erase(_ index: Int) {
        (latitudes[index], longitudes[index], times[index], accuracies[index]) = (0, 0, .min, .nan)
        flags[index].remove(.hasFix)
    }

    /// Whether a grant of full accuracy or exact times needs the fixes of a device.
    func isWatched(_ index: Int) -> Bool { flags[index].contains(.isWatched) }

    mutating func setWatched(_ index: Int, _ isWatched: Bool) {
        if isWatched {
            flags[index].insert(.isWatched)
        } else {
            flags[index].remove(.isWatched)
            if !flags[index].contains(.isPending) { erase(index) }
        }
    }

    // MARK: Published answers

    /// The last answer and its tick.
    func answer(_ index: Int) -> (region: Region, tick: Timestamp)? {
        guard let region = pacers.region(index), let tick = pacers.tick(index) else { return nil }
        return (region, tick)
    }

    /// The tick at which the last answer's region was answered first.
    func since(_ index: Int) -> Timestamp { Timestamp(nanosecondsSince1970: since[index]) }

    /// Answers all devices whose fix waits, and erases the fixes that nobody's grant needs.
    ///
    /// - Returns: the first damage that was found; devices where it was have no answer.
    mutating func answerAll(
        at tick: Timestamp, interval: Int64, in atlas: Atlas, _ body: (Int, Pacer.Answer) -> Void
    ) -> LookupError? {
        var failure: LookupError?
        for place in pending.indices {
            let index = Int(pending[place])
            flags[index].remove(.isPending)
            if var fix = fix(index) {
                // A fix that came after its tick counts for this one.
                fix.time = max(fix.time, tick.advanced(by: 1 - interval))
                do throws(LookupError) {
                    if let answer = try pacers.answer(index, fix, at: tick, in: atlas) {
                        if answer.isNew { since[index] = tick.nanosecondsSince1970 }
                        body(index, answer)
                    }
                } catch { failure = failure ?? error }
            }
            if !flags[index].contains(.isWatched) { erase(index) }
        }
        pending.removeAll(keepingCapacity: true)
        return failure
    }

    mutating func restore(
        _ index: Int, _ state: Pacer.State, since: Timestamp, in atlas: Atlas
    ) throws(AtlasError) {
        try pacers.restore(index, state, in: atlas)
        self.since[index] = since.nanosecondsSince1970
    }
}

extension Timestamp {
    /// This moment and some nanoseconds, within the range of times.
    package func advanced(by nanoseconds: Int64) -> Timestamp {
        let (sum, overflow) = nanosecondsSince1970.addingReportingOverflow(nanoseconds)
        return Timestamp(nanosecondsSince1970: overflow ? (nanoseconds > 0 ? .max : .min) : sum)
    }
}
