import Hereabouts

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The moments that a fix can have been taken at: from 1990, before which no receiver recorded tracks, to a day after the
/// run's clock. Numbers that are no epoch (seconds since the start, days of a spreadsheet, `hhmmss`) are moments in 1970.
struct TimeBounds: Sendable {
    /// 1990-01-01T00:00:00Z.
    static let earliest = Timestamp(nanosecondsSince1970: 631_152_000_000_000_000)
    /// What a clock may be ahead of ours, in nanoseconds: a local time without its offset is at most 14 hours off.
    private static let tolerance: Int64 = 86_400_000_000_000

    private let earliest: Timestamp
    /// The last moment that is accepted.
    let latest: Timestamp

    init(_ options: ConvertRun.Options) {
        let (sum, overflow) = options.now.nanosecondsSince1970.addingReportingOverflow(Self.tolerance)
        earliest = options.earliest
        latest = Timestamp(nanosecondsSince1970: overflow ? .max : sum)
    }

    /// Why a fix cannot have been taken at a moment; nil where it can.
    @inline(__always)
    func problem(_ time: Timestamp) -> RecordProblem.Reason? {
        if time < earliest { return .timeTooEarly }
        return time > latest ? .timeInFuture : nil
    }
}

extension Timestamp {
    /// The moment by the system's clock, at most `latestOfClocks`.
    package static func systemClock() -> Timestamp {
        var now = timespec()
        // SAFETY: the clock is written to `now`.
        _ = unsafe clock_gettime(CLOCK_REALTIME, &now)
        return Timestamp(clockSeconds: Int64(now.tv_sec), nanoseconds: Int64(now.tv_nsec))
    }
}
