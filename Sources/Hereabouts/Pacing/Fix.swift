/// A moment, in nanoseconds since 1970-01-01 00:00:00 UTC, leap seconds not counted. Reaches from 1677 to 2262.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Nanoseconds since 1970; negative before.
    public var nanosecondsSince1970: Int64

    /// Makes a moment of nanoseconds since 1970.
    @inlinable
    public init(nanosecondsSince1970: Int64) { self.nanosecondsSince1970 = nanosecondsSince1970 }

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

/// A precise position of a device at a moment: what goes in, and never comes out.
public struct Fix: Hashable, Sendable {
    /// Where; checked when the fix is reported.
    public var coordinate: Coordinate
    /// When.
    public var time: Timestamp
    /// The receiver's own estimate of its error in meters: the radius that holds the truth about two times in three, as
    /// Core Location and Android give it. Nil, and any value that is not positive, mean that nobody knows.
    public var horizontalAccuracy: Double?

    /// Makes a fix of its parts, unchecked.
    public init(coordinate: Coordinate, time: Timestamp, horizontalAccuracy: Double? = nil) {
        self.coordinate = coordinate
        self.time = time
        self.horizontalAccuracy = horizontalAccuracy
    }
}
