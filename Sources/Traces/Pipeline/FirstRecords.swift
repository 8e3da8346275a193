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

    /// So many are held back.
    static let most = FirstFixes.most

    private(set) var records: [Record] = []
    let keys = KeyNumbers()
    private let intervalNanoseconds: Int64
    /// The latest tick of each device's fixes so far; nil before the first with a time.
    private var ticks: [Timestamp?] = []
    /// Fixes whose device has one of a later tick before them: at once they could not be answered.
    private var late = 0

    init(interval: Duration) { intervalNanoseconds = Pacer.nanoseconds(in: interval) }

    var isFull: Bool { records.count >= Self.most }

    /// Whether the records are to be answered in order of time, not as they come.
    var isOutOfOrder: Bool { late >= 3 && 4 * late > records.count }

    func append(_ record: Record) {
        records.append(record)
        guard let device = record.device else { return }
        while ticks.count <= device { ticks.append(nil) }
        guard record.problem == nil, let time = record.time else { return }
        let tick = Pacer.tick(for: time, intervalNanoseconds: intervalNanoseconds)
        guard let last = ticks[device], tick < last else {
            ticks[device] = tick
            return
        }
        late += 1
    }

    /// A report of the first device that jumps as none can; nil where there is none.
    ///
    /// - Parameter candidates: of the input.
    func jumpReport(candidates: [KeyCandidate]) -> JumpReport? {
        for numbers in recordsByDevice() {
            var fixes = JumpCount()
            for number in numbers {
                guard let time = records[number].time else { continue }
                fixes.take(records[number].coordinate, at: time)
            }
            guard fixes.isImplausible else { continue }
            var first = FirstFixes()
            for number in numbers {
                guard let time = records[number].time else { continue }
                first.take(records[number].coordinate, at: time, record: number)
            }
            return JumpReport(first, isKeyed: true, candidates: candidates)
        }
        return nil
    }

    /// The numbers of each device's fixes with times, in order of these.
    private func recordsByDevice() -> [[Int]] {
        var numbers = [[Int]](repeating: [], count: ticks.count)
        for (number, record) in records.enumerated() where record.problem == nil && record.time != nil {
            if let device = record.device { numbers[device].append(number) }
        }
        for device in numbers.indices {
            let times = numbers[device].map { records[$0].time?.nanosecondsSince1970 ?? 0 }
            if zip(times, times.dropFirst()).allSatisfy({ $0 <= $1 }) { continue }
            numbers[device] = times.indices.sorted { (times[$0], $0) < (times[$1], $1) }.map { numbers[device][$0] }
        }
        return numbers
    }
}
