import AtlasFormat
import GeoBridge
import Hereabouts

/// A region and what lies around it, for small maps: outlines, and where two countries meet.
///
/// The plane is gnomonic about the region's center: cells are bounded by great circles, which are straight lines there, so
/// that neighbors meet without gaps wherever the cells of one are finer than the other's. Positions are rounded to a grid
/// of that plane, 1/2,000 of the reach.
package struct RegionVicinity: Sendable {
    /// How far around the center, in radii of the region.
    package static let reachInRadii = 3.0
    /// The most regions of one answer; those with the nearest centers are given.
    package static let mostRegions = 256
    private static let stepsPerReach = 2_000.0

    /// A region, or the part of it that lies near.
    package struct Outline: Sendable {
        package let region: Region
        /// Closed rings of longitude and latitude in degrees, outer ring first. Not cut at the antimeridian.
        package let polygons: [[[Double]]]
    }

    /// The region itself first, then by the distance of their centers. The region itself is whole; of the others all is
    /// given that lies within reach, and at most a level-7 cell's diagonal more.
    package let outlines: [Outline]
    /// Where the land or waters of two countries meet: lines of longitude and latitude in degrees. The limit of a country
    /// at the high seas is none.
    package let borders: [[Double]]

    /// - Parameters:
    ///   - region: of `atlas`.
    ///   - tables: of the same atlas.
    /// - Throws: `FormatError`, `GEOSError`.
    /// - Complexity: O(cells within reach); measured on one core: 10 to 70 ms.
    package init(of region: Region, in atlas: Atlas, _ tables: AtlasTables) throws {
        precondition(tables.fingerprint == atlas.fingerprint, "the tables of the atlas")
        let center = atlas.center(of: region)
        let reach = Self.reachInRadii * atlas.horizontalAccuracy(of: region)
        let plane = Plane(center: center, step: reach / Self.stepsPerReach / CellID.earthRadiusMeters)
        let context = try GEOSContext()
        let chord = reach / CellListing.leastRadiusMeters
        let parts = try CellListing(around: center, chord: chord, tables)
            .parts(tables, context) { Self.isNear($0, center, chord: chord) }
        let flat = FlatOutline { face, x, y in plane.point(FlatOutline.direction(face: face, x, y)) }
        func distance(_ other: Region) -> Double {
            other == region ? -1 : CellListing.chord(center, atlas.center(of: other))
        }
        let nearest = parts.keys.map(Region.init(index:)).map { (distance: distance($0), region: $0) }
            .sorted { ($0.distance, $0.region.index) < ($1.distance, $1.region.index) }
        var drawn: [(region: Region, polygons: [[[Double]]])] = []
        for (_, other) in nearest.prefix(Self.mostRegions) {
            let polygons = try flat.polygons(of: parts[other.index] ?? [:], context)
            if !polygons.isEmpty { drawn.append((other, polygons)) }
        }
        let countries = Dictionary(grouping: drawn) { atlas.country(of: $0.region).code }
            .filter { $0.key != Self.highSeas }.mapValues { $0.flatMap(\.polygons) }
        borders = try FlatOutline.borders(between: countries, context).map(plane.degrees)
        outlines = drawn.map { Outline(region: $0.region, polygons: $0.polygons.map { $0.map(plane.degrees) }) }
    }

    /// Whether a cell may lie within a chord of a center.
    private static func isNear(_ cell: Quad, _ center: Coordinate, chord: Double) -> Bool {
        let half = Double(cell.size) / 2
        let middle = CubeProjection.coordinate(
            of: FlatOutline.direction(face: cell.face, Double(cell.i) + half, Double(cell.j) + half))
        let diagonal = CellID.maximumDiagonal(level: cell.level) / CellID.earthRadiusMeters
        return CellListing.chord(center, middle) <= chord + diagonal / 2
    }

    /// The code of the high seas.
    private static let highSeas = "XZ"
}

/// The gnomonic plane that touches the sphere at a center.
private struct Plane: Sendable {
    private let outward: SIMD3<Double>, east: SIMD3<Double>, north: SIMD3<Double>
    /// The unit of the plane in radii of the sphere.
    private let step: Double

    init(center: Coordinate, step: Double) {
        func vector(_ latitude: Double, _ longitude: Double) -> SIMD3<Double> {
            let direction = CubeProjection.direction(latitude: latitude, longitude: longitude)
            return SIMD3(direction.x, direction.y, direction.z)
        }
        outward = vector(center.latitude, center.longitude)
        let (sine, cosine) = Trigonometry.sineAndCosine(degrees: center.longitude)
        east = SIMD3(-sine, cosine, 0)
        let (up, across) = Trigonometry.sineAndCosine(degrees: center.latitude)
        north = SIMD3(-cosine * up, -sine * up, across)
        self.step = step
    }

    /// A direction's place in whole steps.
    func point(_ direction: CubeProjection.Direction) -> SIMD2<Double> {
        let vector = SIMD3(direction.x, direction.y, direction.z)
        let scale = 1 / (step * (vector * outward).sum())
        return SIMD2((vector * east).sum() * scale, (vector * north).sum() * scale).rounded(.toNearestOrAwayFromZero)
    }

    /// Positions in steps as longitudes and latitudes.
    func degrees(_ positions: [Double]) -> [Double] {
        stride(from: 0, to: positions.count, by: 2).flatMap { k in
            let vector = outward + east * (positions[k] * step) + north * (positions[k + 1] * step)
            let place = CubeProjection.coordinate(
                of: CubeProjection.Direction(x: vector.x, y: vector.y, z: vector.z))
            return [place.longitude, place.latitude]
        }
    }
}
