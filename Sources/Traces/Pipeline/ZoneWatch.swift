import Hereabouts
import Synchronization

/// A sensitive place and how far it reaches. Printing, interpolating or dumping one shows none of its numbers.
package struct ZoneCircle: Sendable, CustomStringConvertible, CustomReflectable {
    var middle: Coordinate
    var reachMeters: Double

    package init(middle: Coordinate, reachMeters: Double) { (self.middle, self.reachMeters) = (middle, reachMeters) }

    /// Shows no number.
    package var description: String { "ZoneCircle(redacted)" }
    /// Shows nothing.
    package var customMirror: Mirror { Mirror(self, children: []) }

    /// The same with latitude and longitude exchanged; nil where that is no position.
    fileprivate var exchanged: ZoneCircle? {
        guard middle.longitude.magnitude <= 90 else { return nil }
        return ZoneCircle(
            middle: Coordinate(latitude: middle.longitude, longitude: middle.latitude), reachMeters: reachMeters)
    }
}

/// What a run learns of its zones: whether an answer was withheld, and whether fixes are near the zones, as these are written
/// and with latitude and longitude exchanged.
///
/// Zones that lie far from every fix protect nothing; if they would be near the other way round, a home is about to be
/// published. It is one for all threads of a run, and what it learns does not depend on their order.
final class ZoneWatch: Sendable, CustomReflectable {
    /// How near to a zone a fix is that may be meant by it.
    private static let nearMeters = 100_000.0

    /// By cell of a degree: whether it may have positions near zones as written (1), or exchanged (2).
    private let cells: [UInt8]
    private let written, exchanged: [Disc]
    private let isNearWritten = Atomic(false), isNearExchanged = Atomic(false), hasWithheld = Atomic(false)

    /// What is near a zone: points of the unit sphere within a chord of its middle.
    private struct Disc {
        var middle: Point
        var chordSquared: Double
    }

    init(_ circles: [ZoneCircle]) {
        let other = circles.compactMap(\.exchanged)
        written = circles.map(Self.disc)
        exchanged = other.map(Self.disc)
        var cells = [UInt8](repeating: 0, count: circles.isEmpty ? 0 : 360 * 180)
        for circle in circles { Self.mark(&cells, circle, with: 1) }
        for circle in other { Self.mark(&cells, circle, with: 2) }
        self.cells = cells
    }

    /// Shows nothing.
    var customMirror: Mirror { Mirror(self, children: []) }

    // MARK: Answers

    /// Notes that nothing was published of a region.
    func noteWithheld() {
        if !hasWithheld.load(ordering: .relaxed) { hasWithheld.store(true, ordering: .relaxed) }
    }

    /// Whether no answer was withheld so far.
    var isIdle: Bool { !hasWithheld.load(ordering: .relaxed) }

    // MARK: Fixes

    /// Whether the fixes so far are near a zone with its latitude and longitude exchanged, and near none as they are written.
    var mayBeExchanged: Bool {
        isNearExchanged.load(ordering: .relaxed) && !isNearWritten.load(ordering: .relaxed)
    }

    /// Looks at fixes; at none once one was near a zone. Those that are no positions are near none.
    func look(at positions: some Collection<Coordinate>) {
        guard !cells.isEmpty, !isNearWritten.load(ordering: .relaxed) else { return }
        let wanted: UInt8 = isNearExchanged.load(ordering: .relaxed) ? 1 : 3
        for position in positions {
            let longitude = FaceIJ.wrappedLongitude(position.longitude)
            guard position.latitude.magnitude <= 90, longitude.magnitude <= 180 else { continue }
            let found = cells[Self.cell(position.latitude, longitude)] & wanted
            if found != 0 { look(closely: Self.point(position.latitude, longitude), found) }
        }
    }

    private func look(closely point: Point, _ found: UInt8) {
        func isNear(_ disc: Disc) -> Bool {
            let (x, y, z) = (point.x - disc.middle.x, point.y - disc.middle.y, point.z - disc.middle.z)
            return x * x + y * y + z * z <= disc.chordSquared
        }
        if found & 1 != 0, written.contains(where: isNear) { isNearWritten.store(true, ordering: .relaxed) }
        if found & 2 != 0, exchanged.contains(where: isNear) { isNearExchanged.store(true, ordering: .relaxed) }
    }

    // MARK: Geometry, on a sphere: to the kilometer is enough

    /// A point of the unit sphere.
    private struct Point {
        var x, y, z: Double
    }

    private static func point(_ latitude: Double, _ longitude: Double) -> Point {
        let (sine, cosine) = Trigonometry.sineAndCosine(degrees: latitude)
        let (east, north) = Trigonometry.sineAndCosine(degrees: longitude)
        return Point(x: cosine * north, y: cosine * east, z: sine)
    }

    private static func disc(_ circle: ZoneCircle) -> Disc {
        let radians = (nearMeters + circle.reachMeters) / CellID.earthRadiusMeters
        // 2 sin(r/2) of an angle below 0.03 is r to 1 part in 10,000.
        return Disc(middle: point(circle.middle.latitude, circle.middle.longitude), chordSquared: radians * radians)
    }

    /// - Parameters:
    ///   - latitude: in [-90, 90].
    ///   - longitude: in [-180, 180].
    private static func cell(_ latitude: Double, _ longitude: Double) -> Int {
        min(179, Int(latitude + 90)) * 360 + min(359, Int(longitude + 180))
    }

    /// Marks the cells that a circle's surroundings reach.
    private static func mark(_ cells: inout [UInt8], _ circle: ZoneCircle, with mark: UInt8) {
        // A degree of latitude is at least 110,574 m; one more degree for the sphere's sake.
        let reach = (nearMeters + circle.reachMeters) / 110_574 + 1
        let (low, high) = (max(-90, circle.middle.latitude - reach), min(90, circle.middle.latitude + reach))
        let outermost = max(low.magnitude, high.magnitude)
        let width = outermost >= 89 ? 360 : reach / Trigonometry.sineAndCosine(degrees: outermost).cosine
        for row in Int(low + 90)...min(179, Int(high + 90)) {
            for column in 0..<360 {
                let away = (Double(column) + 0.5 - 180 - circle.middle.longitude).magnitude
                if min(away, 360 - away) <= width + 1 { cells[row * 360 + column] |= mark }
            }
        }
    }
}
