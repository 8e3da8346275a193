/// A moment, in nanoseconds since 1970-01-01 00:00:00 UTC, leap seconds not counted. The range is 1677 to 2262.
///
/// `HereaboutsFoundation` converts to and from `Date`.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Nanoseconds since 1970; negative before.
    public var nanosecondsSince1970: Int64

    /// Makes a moment of nanoseconds since 1970.
    @inlinable
    public init(nanosecondsSince1970: Int64) { self.nanosecondsSince1970 = nanosecondsSince1970 }

    /// Makes a moment of whole seconds since 1970; nil outside the range.
    @inlinable
    public init?(secondsSince1970: Int64) {
        let (nanoseconds, overflow) = secondsSince1970.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return nil }
        self.init(nanosecondsSince1970: nanoseconds)
    }

    /// The last moment that a clock is taken to show: 2262-04-10, which leaves room for what is to come within the range.
    package static let latestOfClocks = Timestamp(nanosecondsSince1970: 9_223_200_000_000_000_000)

    /// What a clock shows, at most `latestOfClocks` and not before 1970.
    package init(clockSeconds seconds: Int64, nanoseconds: Int64) {
        let moment = Timestamp(secondsSince1970: max(0, seconds)) ?? .latestOfClocks
        let (sum, overflow) = moment.nanosecondsSince1970.addingReportingOverflow(nanoseconds)
        self = overflow ? .latestOfClocks : min(Timestamp(nanosecondsSince1970: sum), .latestOfClocks)
    }

    /// Whether the left moment is the earlier one.
    @inlinable
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.nanosecondsSince1970 < right.nanosecondsSince1970
    }

    /// The nanoseconds from an earlier moment to this one, or `Int64.max` where that is more than an `Int64` holds.
    func nanoseconds(since earlier: Timestamp) -> Int64 {
        let (difference, overflow) = nanosecondsSince1970.subtractingReportingOverflow(earlier.nanosecondsSince1970)
        return overflow ? .max : difference
    }
}
