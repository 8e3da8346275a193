internal import CKernels

/// The memories of many pacers under one clock, by index, in a fraction of the space that as many `Pacer`s take.
///
/// A `Pacer` keeps its waiting fix and, of every device, the regions that stood in contested places (see
/// `StandingTimes`). Here the caller keeps the fixes, and only devices that were near several regions have an entry of
/// the second table: 20 bytes for a device, 80 more for one that was. The answers are those of `Pacer`.
package struct PackedPacers: Sendable {
    /// What only devices near several regions need.
    private struct Contest: Sendable {
        var contenders = Contenders()
        var standing = StandingTimes()
    }

    /// In `links`: the index of the device's contest above the bit that says whether it rests.
    private static let noContest = UInt32.max >> 1
    /// In `ticks`: the device was not answered.
    private static let noTick = Int64.min

    private let interval: Duration
    private var ticks: ContiguousArray<Int64> = []
    private var regions: ContiguousArray<UInt32> = []
    private var heres: ContiguousArray<UInt32> = []
    private var links: ContiguousArray<UInt32> = []
    private var contests: ContiguousArray<Contest> = []
    private var freeContests: [UInt32] = []

    /// - Parameter interval: the time between two ticks; positive.
    package init(interval: Duration) {
        precondition(interval > .zero, "an interval is positive")
        self.interval = interval
    }

    /// How many devices there are.
    package var count: Int { ticks.count }

    /// Adds a device without an answer, with the next index.
    package mutating func append() {
        ticks.append(Self.noTick)
        regions.append(Region.invalid.bits)
        heres.append(Region.invalid.bits)
        links.append(Self.noContest << 1)
    }

    /// Forgets all of a device; its index stays.
    package mutating func reset(_ index: Int) { store(nil, at: index) }

    /// The last answer; nil before the first, and where a state was restored whose region the atlas does not have.
    package func region(_ index: Int) -> Region? {
        regions[index] == Region.invalid.bits ? nil : Region(bits: regions[index])
    }

    /// The tick of the last answer; nil before the first.
    package func tick(_ index: Int) -> Timestamp? {
        ticks[index] == Self.noTick ? nil : Timestamp(nanosecondsSince1970: ticks[index])
    }

    /// Prefetches what `tick` reads of a device; with `all`, what `answer` reads besides its contest.
    package func prefetch(_ index: Int, all: Bool) {
        Self.prefetch(ticks, index)
        guard all else { return }
        Self.prefetch(regions, index)
        Self.prefetch(heres, index)
        Self.prefetch(links, index)
    }

    private static func prefetch<Element>(_ elements: ContiguousArray<Element>, _ index: Int) {
        unsafe elements.withUnsafeBufferPointer { elements in
            guard let base = elements.baseAddress else { return }
            // SAFETY: a prefetch never faults.
            unsafe prefetch_line(base + index)
        }
    }

    /// Answers a device at a tick.
    ///
    /// - Parameters:
    ///   - fix: the newest fix of the interval before the tick, its time in (tick - interval, tick].
    ///   - tick: a multiple of the interval, after the tick of the last answer.
    /// - Throws: `LookupError`, as `Pacer.report(_:in:)`. The device stays as it was.
    package mutating func answer(
        _ index: Int, _ fix: Fix, at tick: Timestamp, in atlas: Atlas
    ) throws(LookupError) -> Pacer.Answer? {
        var pacer = pacer(index)
        guard case .kept = try pacer.report(fix, in: atlas), let answer = try pacer.tick(tick, in: atlas) else {
            return nil
        }
        store(pacer.history, at: index)
        return answer
    }

    /// Answers a device at a tick with the region that it has: it is where it was.
    ///
    /// - Parameter tick: as of `answer`.
    /// - Returns: nil where it has none.
    package mutating func confirm(_ index: Int, at tick: Timestamp) -> Pacer.Answer? {
        guard let region = region(index) else { return nil }
        ticks[index] = tick.nanosecondsSince1970
        return Pacer.Answer(tick: tick, region: region, isNew: false)
    }

    /// Has an answer that is of a tick to come be of a tick that has passed.
    package mutating func stepBack(_ index: Int, to tick: Timestamp) {
        ticks[index] = min(ticks[index], tick.nanosecondsSince1970)
    }

    /// What to keep of a device over a restart; nil before its first answer.
    package func state(_ index: Int, in atlas: Atlas) -> Pacer.State? { pacer(index).state(in: atlas) }

    /// Restores a device as `Pacer.init(interval:state:in:)` does, from a state of this atlas.
    package mutating func restore(_ index: Int, _ state: Pacer.State, in atlas: Atlas) throws(AtlasError) {
        store(try Pacer(interval: interval, state: state, in: atlas).history, at: index)
    }

    private func pacer(_ index: Int) -> Pacer {
        guard let tick = tick(index) else { return Pacer(interval: interval) }
        var history = Pacer.History(tick: tick, region: region(index))
        if heres[index] != Region.invalid.bits { history.here = Region(bits: heres[index]) }
        history.isResting = links[index] & 1 == 1
        let contest = links[index] >> 1
        if contest != Self.noContest {
            history.contenders = contests[Int(contest)].contenders
            history.standing = contests[Int(contest)].standing
        }
        return Pacer(interval: interval, history: history)
    }

    private mutating func store(_ history: Pacer.History?, at index: Int) {
        ticks[index] = history?.tick.nanosecondsSince1970 ?? Self.noTick
        regions[index] = history?.region?.bits ?? Region.invalid.bits
        heres[index] = history?.here?.bits ?? Region.invalid.bits
        var contest = links[index] >> 1
        let contents = history.map { Contest(contenders: $0.contenders, standing: $0.standing) } ?? Contest()
        if contents.contenders.isEmpty, contents.standing == StandingTimes() {
            if contest != Self.noContest { freeContests.append(contest) }
            contest = Self.noContest
        } else if contest != Self.noContest {
            contests[Int(contest)] = contents
        } else if let free = freeContests.popLast() {
            contests[Int(free)] = contents
            contest = free
        } else {
            contest = UInt32(contests.count)
            contests.append(contents)
        }
        links[index] = contest << 1 | (history?.isResting == true ? 1 : 0)
    }
}
