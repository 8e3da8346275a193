import Hereabouts

/// The fixes of one person, from any number of inputs and tracks, merged in time: of each interval between ticks the
/// newest (contract C9). So what the recording was cut into, and in which order, changes no answer.
struct Person {
    /// The newest fix of an interval.
    private struct Newest {
        var fix: Fix
        var track: UInt32
        /// How many fixes the interval had.
        var count = 1
    }

    /// A fix whose record is to be written, if every fix has one.
    private struct Record {
        /// Nil of a bad record.
        var time: Timestamp?
        var track: UInt32
    }

    /// An answer, of the track whose fix it was given for.
    private struct TrackAnswer {
        var answer: Pacer.Answer
        var track: UInt32
    }

    private let intervalNanoseconds: Int64
    private let emission: Emission
    private var intervals: [Newest] = []
    /// The interval of each tick.
    private var numbers: [Timestamp: Int] = [:]
    private var last: (tick: Timestamp, number: Int)?
    private var records: [Record] = []

    var isEmpty: Bool { intervals.isEmpty }

    /// - Parameter emission: whether records of all fixes are wanted, which takes memory for each.
    init(interval: Duration, emission: Emission) {
        intervalNanoseconds = Pacer.nanoseconds(in: interval)
        self.emission = emission
    }

    /// Takes a fix of a track. O(1).
    ///
    /// - Throws: what is wrong with its coordinate.
    @inline(__always)
    mutating func take(_ fix: Fix, track: UInt32) throws(CoordinateError) {
        try fix.coordinate.validate()
        if emission == .fixes { records.append(Record(time: fix.time, track: track)) }
        let tick = Pacer.tick(for: fix.time, intervalNanoseconds: intervalNanoseconds)
        if last?.tick != tick {
            if let number = numbers[tick] {
                last = (tick, number)
            } else {
                last = (tick, intervals.count)
                numbers[tick] = intervals.count
                return intervals.append(Newest(fix: fix, track: track))
            }
        }
        guard let number = last?.number else { return }
        intervals[number].count += 1
        // Of two at the same time, the first.
        guard fix.time > intervals[number].fix.time else { return }
        (intervals[number].fix, intervals[number].track) = (fix, track)
    }

    /// Notes a bad record, for which a blank one is to be written.
    mutating func takeBlank(track: UInt32) { records.append(Record(time: nil, track: track)) }

    /// What the person's fixes come to.
    struct Outcome {
        /// Of each track in order of their numbers, and each track's in order of time: reports, where the region is nil
        /// blank ones.
        var reports: [(track: UInt32, region: Region?, time: Timestamp?)] = []
        /// The state after each tick that was answered, in order, and whether the answer was reported.
        var states: [(state: Pacer.State, isReported: Bool)] = []
        /// How many fixes came after the answer of their tick, in the run before.
        var late = 0
    }

    /// Answers all ticks.
    ///
    /// - Parameters:
    ///   - pacer: as the runs before left it.
    ///   - keepsStates: whether the states are wanted.
    consuming func answer(_ pacer: inout Pacer, atlas: Atlas, keepsStates: Bool) -> Outcome {
        var outcome = Outcome()
        var answers: [TrackAnswer] = []
        var published = pacer.region
        let opening = (tick: pacer.lastTick, region: pacer.region)
        for interval in intervals.sorted(by: { $0.fix.time < $1.fix.time }) {
            // The coordinate was validated.
            guard let reception = try? pacer.report(interval.fix, inValid: atlas), case .kept = reception,
                let tick = pacer.pendingTick, let answer = pacer.tick(tick, inValid: atlas)
            else {
                outcome.late += interval.count
                continue
            }
            answers.append(TrackAnswer(answer: answer, track: interval.track))
            let isReported = emission == .recomputations || emission == .changes && answer.region != published
            if isReported {
                published = answer.region
                outcome.reports.append((interval.track, answer.region, answer.tick))
            }
            if keepsStates, let state = pacer.state(in: atlas) { outcome.states.append((state, isReported)) }
        }
        if emission == .fixes {
            outcome.reports = Self.reports(of: records, answers, opening: opening)
        } else {
            outcome.reports = Self.grouped(outcome.reports)
        }
        return outcome
    }

    /// A report per fix, with the answer that stood at its time; none of fixes before the last answer of an earlier run.
    private static func reports(
        of records: [Record], _ answers: [TrackAnswer], opening: (tick: Timestamp?, region: Region?)
    ) -> [(track: UInt32, region: Region?, time: Timestamp?)] {
        let reports = records.compactMap { record -> (track: UInt32, region: Region?, time: Timestamp?)? in
            guard let time = record.time else { return (record.track, nil, nil) }
            if let tick = opening.tick, time < tick { return nil }
            // The first answer after the fix.
            var (low, high) = (0, answers.count)
            while low < high {
                let middle = (low + high) / 2
                if answers[middle].answer.tick > time { high = middle } else { low = middle + 1 }
            }
            return (record.track, low > 0 ? answers[low - 1].answer.region : opening.region, time)
        }
        return grouped(reports)
    }

    /// By track, else in the same order.
    private static func grouped(
        _ reports: [(track: UInt32, region: Region?, time: Timestamp?)]
    ) -> [(track: UInt32, region: Region?, time: Timestamp?)] {
        reports.indices.sorted { (reports[$0].track, $0) < (reports[$1].track, $1) }.map { reports[$0] }
    }
}
