import Hereabouts

/// The system's real-time clock in UTC, for a service.
public struct SystemClock: Clock {
    /// The shortest time that it tells apart: a nanosecond.
    public var minimumResolution: Duration { .nanoseconds(1) }
    /// The present.
    public var now: Timestamp { .now }

    /// A clock; all are alike.
    public init() {}

    /// Returns at or after a moment, also where the clock is set meanwhile.
    ///
    /// - Throws: `CancellationError`.
    public func sleep(until deadline: Timestamp, tolerance: Duration? = nil) async throws {
        while now < deadline {
            try await Task.sleep(for: min(now.duration(to: deadline), .seconds(60)), tolerance: tolerance)
        }
    }
}
