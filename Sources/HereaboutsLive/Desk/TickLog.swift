import Hereabouts

/// Which ticks are over, whatever the clock does: none has two answers.
///
/// While the clock runs forward ticks pass in runs: without a gap, or with one where nobody waited or the clock was set. A clock
/// that is set back is followed where it was far ahead, and of the ticks that it then comes to those in no run are answered.
struct TickLog: Hashable, Sendable {
    /// From one tick to another, both included, in nanoseconds.
    typealias Run = ClosedRange<Int64>

    /// Ticks up to this one are over.
    private var floor: Int64
    /// Those of runs that have ended, ascending, and apart by more than an interval.
    private var runs: [Run] = []
    /// The last tick before those of the present run.
    private var begin: Int64
    /// When the clock was followed back, by the clock after it: the last times.
    private var stepsBack: [Int64] = []
    /// How often the clock was followed back, since the desk began.
    private(set) var stepBackCount = 0
    private let interval: Int64

    /// A clock is followed back so often within a day.
    private static let stepsOfDay = 3
    private static let day: Int64 = 86_400_000_000_000
    private static let mostRuns = 16
    /// A clock that is behind by so much is one that was not set: 400 days.
    private static let longBefore = 400 * day

    /// A log of a desk that has answered nothing.
    ///
    /// - Parameters:
    ///   - lastTick: up to now.
    ///   - floor: up to which ticks are over; nil for those of long before: the clock may have been ahead from the beginning.
    init(lastTick: Timestamp, floor: Timestamp? = nil, interval: Int64) {
        let floor = floor ?? lastTick.advanced(by: -Self.longBefore)
        (begin, self.floor) = (lastTick.nanosecondsSince1970, floor.nanosecondsSince1970)
        self.interval = interval
    }

    /// The first tick from one on that is not over.
    func next(from tick: Timestamp) -> Timestamp {
        var next = tick.nanosecondsSince1970
        if next <= floor { next = aligned(after: floor) }
        for run in runs where run.contains(next) { next = aligned(after: run.upperBound) }
        return Timestamp(nanosecondsSince1970: next)
    }

    /// The last tick before a moment that is over.
    func last(before time: Timestamp) -> Timestamp {
        let time = time.nanosecondsSince1970
        let ends = runs.filter { $0.lowerBound <= time }.map { min($0.upperBound, time) }
        return Timestamp(nanosecondsSince1970: max(floor, ends.last ?? .min))
    }

    /// Notes that the present run ended with a tick, and another began behind one.
    mutating func leap(from end: Timestamp, to last: Timestamp) {
        add(begin, end.nanosecondsSince1970)
        begin = last.nanosecondsSince1970
    }

    /// Notes a tick that was answered, unless that is known.
    mutating func note(_ tick: Timestamp, lastTick: Timestamp) {
        let isOfRun = tick.nanosecondsSince1970 > begin && tick <= lastTick
        if !isOfRun, next(from: tick) == tick { add(tick.nanosecondsSince1970, tick.nanosecondsSince1970) }
    }

    /// Whether a clock may be followed back to a moment: not too often, and not to before all that is known.
    func mayStepBack(to time: Timestamp) -> Bool {
        let time = time.nanosecondsSince1970
        let recent = stepsBack.filter { step in
            let (apart, overflow) = step.subtractingReportingOverflow(time)
            return !overflow && apart.magnitude < UInt64(Self.day)
        }
        return recent.count < Self.stepsOfDay && time > floor
    }

    /// Notes that the clock is followed back to a moment.
    mutating func stepBack(from lastTick: Timestamp, to last: Timestamp, at time: Timestamp) {
        add(begin, lastTick.nanosecondsSince1970)
        begin = last.nanosecondsSince1970
        stepsBack = Array((stepsBack + [time.nanosecondsSince1970]).suffix(Self.stepsOfDay))
        stepBackCount += 1
    }

    /// The first tick after a moment.
    private func aligned(after time: Int64) -> Int64 {
        let next = Timestamp(nanosecondsSince1970: time).advanced(by: 1)
        return Pacer.tick(for: next, intervalNanoseconds: interval).nanosecondsSince1970
    }

    private mutating func add(_ first: Int64, _ last: Int64) {
        guard last > floor, first <= last else { return }
        var run = max(first, floor)...last
        // With those that it touches.
        runs.removeAll { other in
            let touches =
                Self.sum(other.upperBound, interval) >= run.lowerBound
                && Self.sum(run.upperBound, interval) >= other.lowerBound
            if touches { run = min(run.lowerBound, other.lowerBound)...max(run.upperBound, other.upperBound) }
            return touches
        }
        runs.append(run)
        runs.sort { $0.lowerBound < $1.lowerBound }
        // The earliest is the one that no clock comes back to.
        while runs.count > Self.mostRuns { floor = runs.removeFirst().upperBound }
    }

    private static func sum(_ time: Int64, _ interval: Int64) -> Int64 {
        Timestamp(nanosecondsSince1970: time).advanced(by: interval).nanosecondsSince1970
    }

    // MARK: Bytes

    /// The numbers that say all of it, with the present run up to a tick.
    func numbers(lastTick: Timestamp) -> [Int64] {
        [floor, begin, lastTick.nanosecondsSince1970, Int64(stepsBack.count)] + stepsBack
            + runs.flatMap { [$0.lowerBound, $0.upperBound] }
    }

    /// Takes up a log: what it knows is over, and so is the run that it ended with.
    ///
    /// - Parameter lastTick: up to now.
    /// - Returns: nil for numbers that `numbers(lastTick:)` cannot have given.
    init?(numbers: [Int64], lastTick: Timestamp, interval: Int64) {
        guard numbers.count >= 4, (0...Int64(Self.stepsOfDay)).contains(numbers[3]) else { return nil }
        let bounds = numbers.dropFirst(4 + Int(numbers[3]))
        guard numbers.count >= 4 + Int(numbers[3]), bounds.count % 2 == 0, bounds.count <= 2 * Self.mostRuns,
            numbers[1] <= numbers[2]
        else { return nil }
        self.init(lastTick: lastTick, floor: Timestamp(nanosecondsSince1970: numbers[0]), interval: interval)
        stepsBack = Array(numbers[4..<4 + Int(numbers[3])])
        for place in stride(from: bounds.startIndex, to: bounds.endIndex, by: 2) {
            guard bounds[place] <= bounds[place + 1] else { return nil }
            add(bounds[place], bounds[place + 1])
        }
        // The run goes on where no tick has passed since.
        if numbers[2] == lastTick.nanosecondsSince1970 { begin = numbers[1] } else { add(numbers[1], numbers[2]) }
    }
}
