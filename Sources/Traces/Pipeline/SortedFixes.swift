import Files
import Hereabouts

/// The fixes of an input with device keys whose records are in no order of time: of each device and interval what the
/// answers of the same input in order of time (stable) depend on. That is the newest fix, and, since the fix that begins
/// an interval gives the answer of the one before, when the interval began.
///
/// Up to 64 MiB are kept in memory, the others in a temporary file without a name, in runs that are merged as they are
/// read. Where no such file can be written all of them stay in memory.
final class SortedFixes {
    /// What is kept of a device's interval.
    struct Interval: BitwiseCopyable {
        /// The interval's newest fix; of several at one time the one that came first.
        var time: Int64
        var latitude, longitude: Double
        /// In meters; not a number where unknown.
        var horizontalAccuracy: Double
        /// The time of its first fix in order of time, and the number of that record.
        fileprivate var firstTime, firstRecord: Int64
        /// The number of the device's key.
        var device: UInt32
        /// How many fixes it has.
        var count: UInt32 = 1

        var fix: Fix {
            Fix(
                coordinate: Coordinate(latitude: latitude, longitude: longitude),
                time: Timestamp(nanosecondsSince1970: time),
                horizontalAccuracy: horizontalAccuracy.isNaN ? nil : horizontalAccuracy)
        }

        /// Takes what later records have of the interval.
        fileprivate mutating func add(_ other: Interval) {
            if other.time > time {
                (time, latitude, longitude) = (other.time, other.latitude, other.longitude)
                horizontalAccuracy = other.horizontalAccuracy
            }
            if other.firstTime < firstTime { (firstTime, firstRecord) = (other.firstTime, other.firstRecord) }
            count &+= other.count
        }
    }

    /// A record that is written if all are: of a fix, or a blank one.
    struct Record: BitwiseCopyable, Equatable {
        static let blank = Record(nanoseconds: 0, device: -1)

        /// Of the fix.
        var nanoseconds: Int64
        /// The number of the device's key.
        var device: Int32
    }

    private struct Key: Hashable {
        var device: UInt32
        var tick: Int64
    }

    /// Some 64 MiB, with the table of their numbers and what sorting them takes.
    private static let runLength = 1 << 18
    /// 32 MiB.
    private static let logLength = 1 << 21
    /// Intervals or records that are read at a time.
    private static let blockLength = 1 << 10

    /// The keys' numbers.
    let keys: KeyNumbers
    private let intervalNanoseconds: Int64
    private let runLength, logLength: Int
    private var intervals: [Interval] = []
    private var numbers: [Key: Int] = [:]
    /// Each device's interval that was found last: its number and tick.
    private var last: [(number: Int, tick: Int64)] = []
    /// The runs in the file, each in order of ticks and devices.
    private var runs: [Range<Int>] = []
    private let file = SpillFile<Interval>()
    private var canSpill = true
    private var recordCount: Int64 = 0
    private var log: [Record] = []
    private let logFile = SpillFile<Record>()
    private var canSpillLog = true

    /// - Parameters:
    ///   - runLength: how many intervals are kept in memory.
    ///   - logLength: how many records are kept in memory.
    init(
        keys: KeyNumbers, interval: Duration, runLength: Int = SortedFixes.runLength,
        logLength: Int = SortedFixes.logLength
    ) {
        self.keys = keys
        intervalNanoseconds = Pacer.nanoseconds(in: interval)
        (self.runLength, self.logLength) = (runLength, logLength)
    }

    private func tick(_ nanoseconds: Int64) -> Int64 {
        Pacer.tick(for: Timestamp(nanosecondsSince1970: nanoseconds), intervalNanoseconds: intervalNanoseconds)
            .nanosecondsSince1970
    }

    // MARK: Taking

    /// Takes the fix of the next record, whose coordinate is valid. O(1) amortized.
    func take(_ coordinate: Coordinate, at time: Timestamp, horizontalAccuracy: Double?, device: Int) {
        let nanoseconds = time.nanosecondsSince1970, tick = tick(nanoseconds)
        recordCount += 1
        let interval = Interval(
            time: nanoseconds, latitude: coordinate.latitude, longitude: coordinate.longitude,
            horizontalAccuracy: horizontalAccuracy ?? .nan, firstTime: nanoseconds, firstRecord: recordCount,
            device: UInt32(device))
        while last.count <= device { last.append((-1, 0)) }
        if last[device].number >= 0, last[device].tick == tick {
            intervals[last[device].number].add(interval)
            return
        }
        let key = Key(device: interval.device, tick: tick)
        if let known = numbers[key] {
            intervals[known].add(interval)
            last[device] = (known, tick)
            return
        }
        if intervals.count >= runLength, canSpill { spill() }
        last[device] = (intervals.count, tick)
        numbers[key] = intervals.count
        intervals.append(interval)
    }

    /// Notes that the next record is written.
    func note(_ record: Record) {
        if log.count >= logLength, canSpillLog {
            do throws(SystemError) {
                try logFile.append(log)
                log.removeAll(keepingCapacity: true)
            } catch {
                canSpillLog = false
            }
        }
        log.append(record)
    }

    private func spill() {
        let start = file.count
        do throws(SystemError) {
            try file.append(sortedIntervals())
        } catch {
            canSpill = false
            return
        }
        runs.append(start..<file.count)
        intervals.removeAll(keepingCapacity: true)
        numbers.removeAll(keepingCapacity: true)
        for device in last.indices { last[device].number = -1 }
    }

    /// Those in memory, by their ticks and devices.
    private func sortedIntervals() -> [Interval] {
        intervals.map { (tick($0.time), $0) }.sorted { ($0.0, $0.1.device) < ($1.0, $1.1.device) }.map(\.1)
    }

    // MARK: Reading

    /// Calls a function with each interval, in the order in which the fixes that begin them come in order of time.
    ///
    /// - Throws: what the function throws; `TraceError.cannotRead` of the temporary file.
    func forEachInterval(_ body: (Interval) throws(TraceError) -> Void) throws(TraceError) {
        var cursors = runs.map { Cursor(rest: $0) }
        cursors.append(Cursor(block: sortedIntervals()))
        (intervals, numbers) = ([], [:])
        // All intervals of a tick begin before those of the next: they are put in order tick by tick.
        var tick = Int64.min
        var group: [Interval] = []
        while let next = try merged(&cursors) {
            let nextTick = self.tick(next.time)
            if nextTick != tick {
                for interval in Self.ordered(group) { try body(interval) }
                group.removeAll(keepingCapacity: true)
                tick = nextTick
            }
            group.append(next)
        }
        for interval in Self.ordered(group) { try body(interval) }
    }

    private static func ordered(_ intervals: [Interval]) -> [Interval] {
        intervals.sorted { ($0.firstTime, $0.firstRecord) < ($1.firstTime, $1.firstRecord) }
    }

    /// The first of all runs' next intervals by tick and device, with what all runs have of it; nil at the end.
    private func merged(_ cursors: inout [Cursor]) throws(TraceError) -> Interval? {
        var first: (tick: Int64, device: UInt32)?
        for index in cursors.indices {
            guard let head = try cursors[index].head(file) else { continue }
            let place = (tick: tick(head.time), device: head.device)
            if first.map({ place < $0 }) ?? true { first = place }
        }
        guard let first else { return nil }
        var result: Interval?
        // The runs are in order of the input.
        for index in cursors.indices {
            guard let head = try cursors[index].head(file), (tick(head.time), head.device) == first else { continue }
            if result == nil { result = head } else { result?.add(head) }
            cursors[index].advance()
        }
        return result
    }

    /// What is left of a run.
    private struct Cursor {
        var rest = 0..<0
        var block: [Interval] = []
        private var place = 0

        init(rest: Range<Int>) { self.rest = rest }

        init(block: [Interval]) { self.block = block }

        /// The next interval; nil at the end.
        mutating func head(_ file: SpillFile<Interval>) throws(TraceError) -> Interval? {
            if place == block.count {
                guard !rest.isEmpty else { return nil }
                let end = min(rest.upperBound, rest.lowerBound + SortedFixes.blockLength)
                block = try file.read(rest.lowerBound..<end)
                (place, rest) = (0, end..<rest.upperBound)
            }
            return block[place]
        }

        mutating func advance() { place += 1 }
    }

    /// Calls a function with the records that were noted, in their order.
    ///
    /// - Throws: as `forEachInterval`.
    func forEachRecord(_ body: (Record) throws(TraceError) -> Void) throws(TraceError) {
        for start in stride(from: 0, to: logFile.count, by: Self.blockLength) {
            for record in try logFile.read(start..<min(logFile.count, start + Self.blockLength)) { try body(record) }
        }
        for record in log { try body(record) }
    }
}

/// The answers of devices whose records are written later, each with the one that stood at its time.
struct StandingAnswers {
    private struct Answer {
        var tick: Timestamp
        var region: Region?
    }

    /// By the numbers of the devices' keys. The first is the one before the input, at the earliest time if there is none.
    private var answers: [[Answer]] = []

    /// Notes what stands before the input's fixes, once for each device.
    mutating func open(_ device: Int, tick: Timestamp?, region: Region?) {
        while answers.count <= device { answers.append([]) }
        guard answers[device].isEmpty else { return }
        answers[device] = [Answer(tick: tick ?? Timestamp(nanosecondsSince1970: .min), region: region)]
    }

    /// Notes the device's next answer.
    mutating func add(_ answer: Pacer.Answer, of device: Int) {
        answers[device].append(Answer(tick: answer.tick, region: answer.region))
    }

    /// What stands at a time: nil before the first answer. O(log n).
    ///
    /// - Returns: nil at a time of which nothing is known any more.
    func standing(_ device: Int, at time: Timestamp) -> Region?? {
        let answers = answers[device]
        var (low, high) = (0, answers.count)
        while low < high {
            let middle = (low + high) / 2
            if answers[middle].tick > time { high = middle } else { low = middle + 1 }
        }
        return low == 0 ? nil : .some(answers[low - 1].region)
    }
}
