import Foundation

/// Several runs of one thing: their median, and how far they lie apart.
struct Measurement {
    /// Seconds, ascending.
    let seconds: [Double]

    /// Runs `body` once to warm up, and then `runs` times by the clock.
    init(runs: Int, _ body: () throws -> Void) rethrows {
        try body()
        seconds = try (0..<runs).map { _ in
            let start = ContinuousClock.now
            try body()
            let elapsed = (ContinuousClock.now - start).components
            return Double(elapsed.seconds) + Double(elapsed.attoseconds) * 1e-18
        }.sorted()
    }

    var median: Double { seconds[seconds.count / 2] }
    var least: Double { seconds[0] }
    var most: Double { seconds[seconds.count - 1] }
}

/// A check of a benchmark's results that did not hold.
struct WrongResult: Error, CustomStringConvertible {
    var description: String
}
