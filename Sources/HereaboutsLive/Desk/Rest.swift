import Hereabouts

/// Whether a device is at rest, as a consumer sees whose grant has full accuracy or exact times: by the fixes of its view.
///
/// No second position is kept: only how far, in meters east and north, the newest fix lies from where the rest began.
struct Rest: Hashable, Sendable {
    /// A device has moved that is farther than this from where it came to rest, in meters, or than twice the accuracy.
    private static let radiusMeters: Float = 50
    /// It is at rest after this many nanoseconds.
    private static let nanoseconds: Int64 = 300_000_000_000
    /// The length of a degree of latitude in meters, to 1 %.
    private static let metersPerDegree = 111_200.0

    /// When the device came to where it is; of the first rest of a view, its first fix.
    private(set) var since: Timestamp
    /// Whether it came there in the view.
    private(set) var hasArrived = false
    private var newest: Timestamp
    private var east: Float = 0
    private var north: Float = 0

    init(_ fix: Fix) { (since, newest) = (fix.time, fix.time) }

    var isStationary: Bool { newest.nanoseconds(after: since) >= Self.nanoseconds }

    mutating func move(from last: Fix, to fix: Fix) {
        var degreesEast = (fix.coordinate.longitude - last.coordinate.longitude).remainder(dividingBy: 360)
        degreesEast *= Trigonometry.sineAndCosine(degrees: fix.coordinate.latitude).cosine
        east += Float(degreesEast * Self.metersPerDegree)
        north += Float((fix.coordinate.latitude - last.coordinate.latitude) * Self.metersPerDegree)
        newest = fix.time
        let radius = max(Self.radiusMeters, 2 * Float(fix.horizontalAccuracy ?? 0))
        if east * east + north * north > radius * radius {
            (since, east, north, hasArrived) = (fix.time, 0, 0, true)
        }
    }
}

extension Timestamp {
    /// The nanoseconds from an earlier moment to this one, within the range of an `Int64`.
    func nanoseconds(after earlier: Timestamp) -> Int64 {
        let (difference, overflow) = nanosecondsSince1970.subtractingReportingOverflow(earlier.nanosecondsSince1970)
        return overflow ? (self > earlier ? .max : .min) : difference
    }
}
