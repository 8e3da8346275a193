/// How long another program is waited for: the time in which a run waits for what it writes, and reads that. What the run
/// does besides does not count, nor does who reads the run's own output.
///
/// Used by one thread at a time.
final class Patience {
    private var left: Duration
    private var since: ContinuousClock.Instant?

    init(_ duration: Duration) { left = duration }

    func begin() { since = .now }

    func end() {
        if let since { left -= .now - since }
        since = nil
    }

    /// Whether there is none left.
    var isOver: Bool { left <= (since.map { .now - $0 } ?? .zero) }
}

/// How gpsbabel is run.
package struct GPSBabelProgram: Sendable {
    /// Its name in the search path, or its path.
    var name = "gpsbabel"
    /// The seconds that it has for any input, and the bytes of an input for each further one.
    var seconds = 60
    var bytesPerSecond = 100_000

    /// The seconds that it has for an input of so many bytes.
    func seconds(forBytes count: Int) -> Int { seconds + count / bytesPerSecond }
}
