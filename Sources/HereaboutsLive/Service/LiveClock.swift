import Hereabouts

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The clock of a service: the system's, or one of your own for tests.
public struct LiveClock: Sendable {
    let now: @Sendable () -> Timestamp
    let sleep: @Sendable (Timestamp) async throws -> Void

    /// Makes a clock.
    ///
    /// - Parameters:
    ///   - now: the present, UTC. Where it runs backwards, the service waits until it has caught up.
    ///   - sleep: returns at or after a moment; throws when its task is cancelled.
    public init(
        now: @escaping @Sendable () -> Timestamp, sleep: @escaping @Sendable (_ until: Timestamp) async throws -> Void
    ) {
        (self.now, self.sleep) = (now, sleep)
    }

    /// The present.
    public var present: Timestamp { now() }

    /// The system's real-time clock. A sleep lasts at most a minute, so that a clock that is set is noticed.
    public static let system = LiveClock(now: systemTime) { moment in
        let nanoseconds = min(moment.nanoseconds(after: systemTime()), 60_000_000_000)
        if nanoseconds > 0 { try await Task.sleep(for: .nanoseconds(nanoseconds)) }
    }

    @Sendable private static func systemTime() -> Timestamp {
        var time = timespec()
        // SAFETY: the call writes to a structure of its own type, which lives during the call.
        _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(clockSeconds: Int64(time.tv_sec), nanoseconds: Int64(time.tv_nsec))
    }
}
