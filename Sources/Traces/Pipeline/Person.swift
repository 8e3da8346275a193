import Hereabouts

/// The fixes of one person, from any number of inputs and tracks, merged in time: of each interval between ticks the
/// newest (contract C9). So what the recording was cut into, and in which order, changes no answer.
struct Person {
    /// The newest fix of an interval.
    private struct Newest {
        var fix: Fix
        var track: UInt32
        var kind: ReportKind
        /// How many fixes the interval had.
        var count = 1
        /// Whether it was answered in an output that stays; see `merge`.
        var isReserved = false

        /// Takes one more fix of the interval. Of two at the same time that of a track counts, else the first.
        @inline(__always)
        mutating func add(_ fix: Fix, track: UInt32, kind: ReportKind) {
            count += 1
            if (fix.time, kind.rawValue) > (self.fix.time, self.kind.rawValue) {
                (self.fix, self.track, self.kind) = (fix, track, kind)
            }
        }

        /// Takes what another file has of the interval.
        mutating func add(_ other: Newest) {
            let all = count + other.count
            let isNewer = (other.fix.time, other.kind.rawValue) > (fix.time, kind.rawValue)
            if other.isReserved == isReserved ? isNewer : other.isReserved { self = other }
            count = all
        }
    }

    /// An answer, of the track whose fix it was given for; nil where there was none.
    fileprivate struct TrackAnswer {
        var tick: Timestamp?
        var region: Region?
        /// Whether there is one and it is withheld.
        var isWithheld = false
        var track: UInt32 = 0
    }

    private let intervalNanoseconds: Int64
    private var intervals: [Newest] = []
    /// The interval of each tick.
    private var numbers: [Timestamp: Int] = [:]
    /// The interval of the last fix: its number, what there is of it, and its times, the first exclusive.
    private var number = -1
    private var newest: Newest?
    private var start = Int64.max
    private var end = Int64.min
    /// What is judged before anything is answered.
    var first = FirstFixes()

    var isEmpty: Bool { newest == nil && intervals.isEmpty }

    init(interval: Duration) { intervalNanoseconds = Pacer.nanoseconds(in: interval) }

    /// Takes a fix of a track, a route or the waypoints. O(1).
    ///
    /// - Parameter record: the number of its record in the input; nil of one whose jumps are not judged.
    /// - Throws: what is wrong with its coordinate.
    @inline(__always)
    mutating func take(_ fix: Fix, track: UInt32, kind: ReportKind, record: Int?) throws(CoordinateError) {
        try fix.coordinate.validate()
        first.take(fix.coordinate, at: fix.time, track: track, record: record)
        let time = fix.time.nanosecondsSince1970
        guard time > start, time <= end else { return change(to: Newest(fix: fix, track: track, kind: kind)) }
        newest?.add(fix, track: track, kind: kind)
    }

    /// Goes on in the interval of a fix.
    private mutating func change(to first: Newest) {
        if let newest { intervals[number] = newest }
        let tick = Pacer.tick(for: first.fix.time, intervalNanoseconds: intervalNanoseconds)
        end = tick.nanosecondsSince1970
        start = end.subtractingReportingOverflow(intervalNanoseconds).overflow ? .min : end - intervalNanoseconds
        if let known = numbers[tick] {
            number = known
            newest = intervals[number]
            newest?.add(first.fix, track: first.track, kind: first.kind)
        } else {
            number = intervals.count
            numbers[tick] = number
            intervals.append(first)
            newest = first
        }
    }

    /// Takes the fixes of another file of the person, as if they came after those there are. O(intervals).
    ///
    /// - Parameters:
    ///   - firstTrack: what the numbers of the file's tracks are added to; none before had so high a one.
    ///   - isReserved: whether the file's output is there already and stays. The intervals of its fixes were answered with
    ///     those then, and are not answered with another file's.
    mutating func merge(_ other: consuming Person, firstTrack: UInt32, isReserved: Bool) {
        other.putBack()
        putBack()
        for interval in other.intervals {
            var interval = interval
            interval.track += firstTrack
            interval.isReserved = isReserved
            let tick = Pacer.tick(for: interval.fix.time, intervalNanoseconds: intervalNanoseconds)
            if let known = numbers[tick] {
                if intervals[known].isReserved != isReserved {
                    reservedFixes += isReserved ? intervals[known].count : interval.count
                }
                intervals[known].add(interval)
            } else {
                numbers[tick] = intervals.count
                intervals.append(interval)
            }
        }
        first.merge(other.first, firstTrack: firstTrack)
    }

    /// Fixes that count for nothing because their intervals are reserved for other files'.
    private(set) var reservedFixes = 0

    /// Puts the interval of the last fix back among the others.
    private mutating func putBack() {
        if let newest { intervals[number] = newest }
        (number, newest, start, end) = (-1, nil, .max, .min)
    }

    /// What the person's fixes come to.
    struct Outcome {
        /// The state after each tick that was answered, in order, whether the answer was reported, and what decides about the
        /// next ones.
        var states: [(state: Pacer.State, isReported: Bool, memory: ReportRule.Memory)] = []
        /// How many fixes came after the answer of their tick, in the run before.
        var late = 0
        /// How many answers were withheld since their regions promise too few residents.
        var tooFew = 0
        /// What the records of fixes have, where these are wanted.
        fileprivate(set) var standing: PersonAnswers?
    }

    /// Answers all ticks.
    ///
    /// - Parameters:
    ///   - pacer: as the runs before left it.
    ///   - memory: likewise.
    ///   - rule: which answers are reported.
    ///   - withheld: the regions of which nothing is published.
    ///   - keepsStates: whether the states are wanted.
    ///   - inOrderOfTime: whether reports come in that order; else by track in order of their numbers, and each track's in order.
    ///   - report: called for each report, unless every fix has one.
    consuming func answer(
        _ pacer: inout Pacer, _ memory: inout ReportRule.Memory, _ rule: ReportRule, atlas: Atlas,
        withheld: WithheldRegions?, keepsStates: Bool,
        inOrderOfTime: Bool = false,
        report: (_ track: UInt32, _ region: Region?, _ time: Timestamp?) throws(TraceError) -> Void
    ) throws(TraceError) -> Outcome {
        putBack()
        var outcome = Outcome()
        var answers: [TrackAnswer] = []
        let published = pacer.region.flatMap(withheld.published)
        let opening = TrackAnswer(
            tick: pacer.lastTick, region: published, isWithheld: pacer.region != nil && published == nil)
        for interval in intervals.sorted(by: { $0.fix.time < $1.fix.time }) {
            // The coordinate was validated.
            guard let reception = try? pacer.report(interval.fix, inValid: atlas), case .kept = reception,
                let tick = pacer.pendingTick, let answer = pacer.tick(tick, inValid: atlas)
            else {
                outcome.late += interval.count
                continue
            }
            let region = withheld.published(answer.region)
            if region == nil, withheld?.isTooFew(answer.region) == true { outcome.tooFew += 1 }
            let isReported = rule.reports(region, at: answer.tick, &memory)
            if isReported || rule.emission == .fixes {
                answers.append(
                    TrackAnswer(
                        tick: answer.tick, region: region, isWithheld: region == nil, track: interval.track))
            }
            if keepsStates, let state = pacer.state(in: atlas) { outcome.states.append((state, isReported, memory)) }
        }
        if rule.emission == .fixes {
            outcome.standing = PersonAnswers(answers, opening: opening)
        } else {
            if !inOrderOfTime { answers = Self.byTrack(answers) }
            for answer in answers { try report(answer.track, answer.region, answer.tick) }
        }
        return outcome
    }

    /// Answers by their tracks, else in the same order.
    private static func byTrack(_ answers: [TrackAnswer]) -> [TrackAnswer] {
        answers.indices.sorted { (answers[$0].track, $0) < (answers[$1].track, $1) }.map { answers[$0] }
    }
}

/// The answers of a person, by the times at which they stand.
struct PersonAnswers {
    private let answers: [Person.TrackAnswer]
    private let opening: Person.TrackAnswer
    // Of the answers up to the last record's time the last, and the times for which it is that: fixes mostly follow each
    // other.
    private var standing: Person.TrackAnswer
    private var since, until: Timestamp?

    fileprivate init(_ answers: [Person.TrackAnswer], opening: Person.TrackAnswer) {
        (self.answers, self.opening) = (answers, opening)
        (standing, since, until) = (opening, nil, answers.first?.tick)
    }

    /// Reports the record of a fix, with the answer that stood at its time; none of a fix before the last answer of an earlier
    /// run. A record without a time is a blank one, and so is a report without a region.
    mutating func report(
        _ record: Report, _ report: (_ track: UInt32, _ region: Region?, _ time: Timestamp?) throws(TraceError) -> Void
    ) throws(TraceError) {
        guard let time = record.time else { return try report(record.device, nil, nil) }
        if let tick = opening.tick, time < tick { return }
        if since.map({ time < $0 }) ?? false || until.map({ time >= $0 }) ?? false {
            let next = firstAnswer(after: time)
            standing = next > 0 ? answers[next - 1] : opening
            (since, until) = (next > 0 ? standing.tick : nil, next < answers.count ? answers[next].tick : nil)
        }
        // Without a record: a blank one would tell how long the device stayed.
        if !standing.isWithheld { try report(record.device, standing.region, time) }
    }

    /// The number of the first answer of a tick after a time; how many there are where there is none. O(log n).
    private func firstAnswer(after time: Timestamp) -> Int {
        var (low, high) = (0, answers.count)
        while low < high {
            let middle = (low + high) / 2
            if let tick = answers[middle].tick, tick > time { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

/// The fixes and bad records that each give a record, by their tracks and else as they came: half a million in memory, the
/// others in a temporary file without a name.
struct FixRecords {
    private let records = SpilledReports()

    /// - Parameter time: nil of a bad record, for which a blank one is to be written.
    func append(track: UInt32, at time: Timestamp?) {
        records.append(Report(device: track, region: .invalid, time: time))
    }

    /// Takes those of another file.
    ///
    /// - Parameter firstTrack: what the numbers of the file's tracks are added to.
    func append(_ other: FixRecords, firstTrack: UInt32) throws(TraceError) {
        try other.records.forEach { record throws(TraceError) in
            append(track: record.device + firstTrack, at: record.time)
        }
    }

    /// Reports each by the answers of its person.
    ///
    /// - Parameter person: the number of a track's person.
    func forEach(
        standing: [PersonAnswers?], person: (_ track: UInt32) -> Int,
        _ report: (_ track: UInt32, _ region: Region?, _ time: Timestamp?) throws(TraceError) -> Void
    ) throws(TraceError) {
        var standing = standing
        try records.forEach { record throws(TraceError) in
            try standing[person(record.device)]?.report(record, report)
        }
    }
}
