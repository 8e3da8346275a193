import AtlasFormat
import PROJBridge

/// What the clauses ask of one region's shape.
struct RegionMeasure: Sendable {
    /// No point of the region is farther from the center than this, meters; where that is more than its circle allows,
    /// some point is.
    var reach: Double
    /// Square kilometers, by geodesics between the corners.
    var area: Double
    /// Corners of the convex hull as seen from above the center, Earth-centered meters: whatever circle holds them holds
    /// the region.
    var hull: [SIMD3<Double>]
    /// Cells and pieces.
    var partCount: Int
}

/// Measures regions by PROJ's geodesics.
///
/// Circles are checked at corners, and between them by a bound. Along a curve of geodesic curvature at most k, the
/// distance d from a fixed point less than a quarter of the Earth away obeys d″ ≥ -k, since circles that small are
/// convex and lines curve away from them. So between two points of the curve a length s apart, d is at most the larger
/// of the two plus k s² / 8.
/// - Sides of cells are great circles of geodetic latitude, which on the ellipsoid are not quite geodesics: k ≤ 4 e² /
///   R, that is 0.03 / R.
/// - Edges in cut cells are straight in (s, t). On the face, u'' = 8/3 and u' ≥ 4/3 make their curvature at most 1.5,
///   and the projection from the face to the sphere multiplies it by at most 3^(3/2): k ≤ 7.8 / R, on the ellipsoid 8 /
///   R.
struct RegionMeasurer {
    let cover: RegionCover
    private let geodesic = Geodesic.wgs84

    private static let leastRadiusMeters = 6_335_000.0
    private static let sideCurvature = 0.03 / leastRadiusMeters
    private static let edgeCurvature = 8 / leastRadiusMeters
    /// A point belongs to its leaf cell, which reaches over the edge by less than its diagonal.
    private static let leafMeters = 0.02
    /// Longest way on the ground for a step on the face of one unit of s or t: u' ≤ 8/3, and the ellipsoid is nowhere
    /// more than 1 % larger than the mean sphere.
    private static let metersPerUnit = 8.0 / 3 * 6_371_010 * 1.01

    func measure(_ region: Int) throws -> RegionMeasure {
        let center = cover.tables.center(region)
        let frame = TangentFrame(latitude: center.latitude, longitude: center.longitude)
        let allowed = cover.tables.accuracy(region) - cover.tables.limits.steadiness - Self.leafMeters
        var reach = 0.0, area = 0.0
        var hull: [SIMD3<Double>] = []
        for quad in cover.quads(region) {
            let corners = quad.corners
            area += try geodesic.areaSquareMeters(polygon: [corners.flatMap { [$0.longitude, $0.latitude] }])
            hull.append(contentsOf: corners.map(EarthCentered.position))
            let edges = Edges(allowed: allowed, curvature: Self.sideCurvature, center: center) {
                quad.position(x: $0, y: $1)
            }
            reach = max(reach, try edges.bound(ring: [0, 0, 1, 0, 1, 1, 0, 1, 0, 0], unit: meters(quad)))
        }
        for piece in cover.pieces(region) {
            let rings = piece.face.rings.map { ring in places(ring, of: piece) }
            area += try geodesic.areaSquareMeters(polygon: rings.map { $0.flatMap { [$0.longitude, $0.latitude] } })
            hull.append(contentsOf: rings[0].map(EarthCentered.position))
            let edges = Edges(allowed: allowed, curvature: Self.edgeCurvature, center: center) {
                piece.position(x: $0, y: $1)
            }
            let unit = meters(piece.cell) / Double(piece.gridSize)
            reach = max(reach, try edges.bound(ring: piece.face.rings[0], unit: unit))
        }
        return RegionMeasure(
            reach: reach + Self.leafMeters, area: area / 1e6, hull: frame.hull(of: hull),
            partCount: cover.quads(region).count + cover.pieces(region).count)
    }

    /// Bound of the length of a cell's side.
    private func meters(_ cell: Quad) -> Double { Self.metersPerUnit * Double(cell.size) * 0x1p-30 }

    private func places(_ ring: [Double], of piece: CutPiece) -> [Position] {
        stride(from: 0, to: ring.count, by: 2).map { piece.position(x: ring[$0], y: ring[$0 + 1]) }
    }

    /// The distance from a center to the farthest point of edges, from above: split until the bound is close enough to
    /// say whether it is allowed.
    private struct Edges {
        let allowed: Double
        let curvature: Double
        let center: (latitude: Double, longitude: Double)
        let place: (Double, Double) -> Position

        private func distance(_ x: Double, _ y: Double) throws -> Double {
            let place = place(x, y)
            return try Geodesic.wgs84.distanceMeters(
                fromLatitude: center.latitude, longitude: center.longitude, toLatitude: place.latitude,
                longitude: place.longitude)
        }

        /// `unit` is a bound of the length of one step of x or y, meters.
        func bound(ring: [Double], unit: Double) throws -> Double {
            var farthest = 0.0
            let first = try distance(ring[0], ring[1])
            var last = first
            for k in stride(from: 2, to: ring.count, by: 2) {
                let next = k == ring.count - 2 ? first : try distance(ring[k], ring[k + 1])
                let (x0, y0, x1, y1) = (ring[k - 2], ring[k - 1], ring[k], ring[k + 1])
                farthest = max(farthest, try bound(x0, y0, last, x1, y1, next, unit))
                last = next
            }
            return farthest
        }

        private func bound(
            _ x0: Double, _ y0: Double, _ d0: Double, _ x1: Double, _ y1: Double, _ d1: Double, _ unit: Double
        ) throws -> Double {
            let dx = x1 - x0, dy = y1 - y0
            let length = (dx * dx + dy * dy).squareRoot() * unit
            let bulge = curvature * length * length / 8
            let bound = max(d0, d1) + bulge
            if max(d0, d1) > allowed { return max(d0, d1) }
            if bound <= allowed || bulge < 0.001 { return bound }
            let x = (x0 + x1) / 2, y = (y0 + y1) / 2, d = try distance(x, y)
            return max(try self.bound(x0, y0, d0, x, y, d, unit), try self.bound(x, y, d, x1, y1, d1, unit))
        }
    }
}
