import NIOCore

/// The times to wait between attempts: 1 … 60 s, doubling, with jitter, so that many who lost one server do not return at once.
struct Backoff {
    private static let least = 1.0
    private static let most = 30.0
    private var seconds = Self.least

    /// Uniform between a time and twice that; the time is 1 s at first and doubles up to 30 s.
    mutating func next(_ random: inout any RandomNumberGenerator) -> TimeAmount {
        let delay = seconds * Double.random(in: 1..<2, using: &random)
        seconds = min(2 * seconds, Self.most)
        return .milliseconds(Int64(delay * 1000))
    }

    mutating func reset() { seconds = Self.least }
}
