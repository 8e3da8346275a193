import Hereabouts

/// Devices by their keys, numbered from 0, as an object that several can hold.
final class KeyNumbers {
    var table = DeviceKeys()
}

/// The first records of an input with device keys, held back until they are all there or the input ends: until then nobody
/// knows whether each device's are in order of time, and whether one device can have made them.
final class FirstRecords {
    struct Record {
        var coordinate: Coordinate
        /// Nil where there is none.
        var time: Timestamp?
        /// In meters; nil where unknown.
        var horizontalAccuracy: Double?
        /// By the number of its key; nil where the key is not known.
        var device: Int?
        var problem: RecordProblem.Reason?
        var line: Int
    }

    /// A record in 48 bytes; what is wrong with bad ones is kept apart.
    struct Entry {
        var coordinate: Coordinate
        /// In nanoseconds since 1970; `Int64.min` for none.
        var time: Int64
        /// Not a number where unknown.
        var horizontalAccuracy: Double
        var line: Int
        /// Negative where the key is not known.
        var device: Int32
        var isBad: Bool
    }

    /// So many are held back.
    static let most = FirstFixes.most

    private var entries = Column<Entry>()
    private var problems: [Int: RecordProblem.Reason] = [:]
    let keys = KeyNumbers()
    private let intervalNanoseconds: Int64
    /// The latest tick of each device's fixes so far; `Int64.min` before the first with a time.
    private var ticks: [Int64] = []
    /// Fixes whose device has one of a later tick before them: at once they could not be answered.
    private var late = 0

    init(interval: Duration) { intervalNanoseconds = Pacer.nanoseconds(in: interval) }

    var isFull: Bool { entries.count >= Self.most }

    /// Whether the records are to be answered in order of time, not as they come.
    var isOutOfOrder: Bool { late >= 3 && 4 * late > entries.count }

    func append(_ record: Record) {
        if let problem = record.problem { problems[entries.count] = problem }
        entries.append(
            Entry(
                coordinate: record.coordinate, time: record.time?.nanosecondsSince1970 ?? .min,
                horizontalAccuracy: record.horizontalAccuracy ?? .nan, line: record.line,
                device: Int32(record.device ?? -1), isBad: record.problem != nil))
        guard let device = record.device else { return }
        while ticks.count <= device { ticks.append(.min) }
        guard record.problem == nil, let time = record.time else { return }
        let tick = Pacer.tick(for: time, intervalNanoseconds: intervalNanoseconds).nanosecondsSince1970
        if tick < ticks[device] { late += 1 } else { ticks[device] = tick }
    }

    /// Calls a function with each record, in order.
    func forEach(_ body: (Record) throws(TraceError) -> Void) throws(TraceError) {
        for number in 0..<entries.count {
            let entry = entries[number]
            try body(
                Record(
                    coordinate: entry.coordinate,
                    time: entry.time == .min ? nil : Timestamp(nanosecondsSince1970: entry.time),
                    horizontalAccuracy: entry.horizontalAccuracy.isNaN ? nil : entry.horizontalAccuracy,
                    device: entry.device < 0 ? nil : Int(entry.device),
                    problem: entry.isBad ? problems[number] : nil, line: entry.line))
        }
    }

    /// A report of the first device that jumps as none can; nil where there is none.
    ///
    /// - Parameter candidates: of the input.
    func jumpReport(candidates: [KeyCandidate]) -> JumpReport? {
        let (numbers, starts) = recordsByDevice()
        // Three jumps take four fixes.
        for device in ticks.indices where starts[device + 1] - starts[device] >= 4 {
            let numbers = inOrderOfTime(numbers[starts[device]..<starts[device + 1]])
            var count = JumpCount()
            for number in numbers { count.take(entries[number].coordinate, at: time(number)) }
            guard count.isImplausible else { continue }
            var first = FirstFixes()
            for number in numbers { first.take(entries[number].coordinate, at: time(number), record: number) }
            return JumpReport(first, isKeyed: true, candidates: candidates)
        }
        return nil
    }

    private func time(_ number: Int) -> Timestamp { Timestamp(nanosecondsSince1970: entries[number].time) }

    /// The device of a record's fix; nil where it has none, or one without a time.
    private func deviceOfFix(_ number: Int) -> Int? {
        !entries[number].isBad && entries[number].time != .min && entries[number].device >= 0
            ? Int(entries[number].device) : nil
    }

    /// The numbers of the fixes with times, device by device, and where each device's begin.
    private func recordsByDevice() -> (numbers: [Int], starts: [Int]) {
        var starts = [Int](repeating: 0, count: ticks.count + 1)
        for number in 0..<entries.count { if let device = deviceOfFix(number) { starts[device + 1] += 1 } }
        for device in ticks.indices { starts[device + 1] += starts[device] }
        var next = starts
        var numbers = [Int](repeating: 0, count: starts[ticks.count])
        for number in 0..<entries.count {
            guard let device = deviceOfFix(number) else { continue }
            numbers[next[device]] = number
            next[device] += 1
        }
        return (numbers, starts)
    }

    private func inOrderOfTime(_ numbers: ArraySlice<Int>) -> ArraySlice<Int> {
        let isInOrder = zip(numbers, numbers.dropFirst()).allSatisfy { time($0) <= time($1) }
        return isInOrder ? numbers : numbers.sorted { (time($0), $0) < (time($1), $1) }[...]
    }
}
