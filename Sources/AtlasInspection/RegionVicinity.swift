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
        let parts = try Self.parts(around: center, reach: reach, tables, context)
        func distance(_ other: Region) -> Double {
            other == region ? -1 : CellListing.chord(center, atlas.center(of: other))
        }
        let nearest = parts.keys.map(Region.init(index:)).map { (distance: distance($0), region: $0) }
            .sorted { ($0.distance, $0.region.index) < ($1.distance, $1.region.index) }
        var drawn: [(region: Region, polygons: [[[Double]]])] = []
        for (_, other) in nearest.prefix(Self.mostRegions) {
            let polygons = try Self.united(parts[other.index] ?? [:], in: plane, context)
            if !polygons.isEmpty { drawn.append((other, polygons)) }
        }
        borders = try Self.borders(drawn, atlas, context).map(plane.degrees)
        outlines = drawn.map { Outline(region: $0.region, polygons: $0.polygons.map { $0.map(plane.degrees) }) }
    }

    /// Cells and pieces of cells within reach, by region and face, as rings in leaf coordinates.
    private static func parts(
        around center: Coordinate, reach: Double, _ tables: AtlasTables, _ context: GEOSContext
    ) throws -> [UInt32: [Int: [[[Double]]]]] {
        let chord = reach / CellListing.leastRadiusMeters
        func isNear(_ cell: Quad) -> Bool {
            let half = Double(cell.size) / 2
            let middle = CubeProjection.coordinate(
                of: Plane.direction(face: cell.face, Double(cell.i) + half, Double(cell.j) + half))
            let diagonal = CellID.maximumDiagonal(level: cell.level) / CellID.earthRadiusMeters
            return CellListing.chord(center, middle) <= chord + diagonal / 2
        }
        var parts: [UInt32: [Int: [[[Double]]]]] = [:]
        let listing = try CellListing(around: center, chord: chord, tables)
        for (owner, quad) in listing.quads where isNear(quad) {
            parts[owner, default: [:]][quad.face, default: []].append([RegionOutline.square(quad)])
        }
        for cut in listing.cuts where isNear(cut.cell) {
            for piece in try cut.pieces(tables, context) {
                let rings = piece.face.rings.map { RegionOutline.onFace($0, piece) }
                parts[piece.region, default: [:]][piece.cell.face, default: []].append(rings)
            }
        }
        return parts
    }

    /// A region's polygons in whole steps of the plane: united on each face, where cells meet exactly, and over the edges
    /// of faces in the plane.
    private static func united(
        _ faces: [Int: [[[Double]]]], in plane: Plane, _ context: GEOSContext
    ) throws -> [[[Double]]] {
        var polygons: [[[Double]]] = []
        for (face, parts) in faces.sorted(by: { $0.key < $1.key }) {
            for rings in try context.multiPolygon(parts).unaryUnion(gridSize: 1).polygonRings() {
                let drawn = rings.map { plane.ring($0, face: face) }
                // Rings without an inside at this scale are left out, and what lies in them.
                if drawn[0].count >= 8 { polygons.append(drawn.filter { $0.count >= 8 }) }
            }
        }
        guard !polygons.isEmpty else { return [] }
        // Rounding can make a ring touch itself.
        return try context.multiPolygon(polygons).madeValid().unaryUnion(gridSize: 1).polygonRings()
    }

    /// What the outlines of two countries have in common.
    private static func borders(
        _ drawn: [(region: Region, polygons: [[[Double]]])], _ atlas: Atlas, _ context: GEOSContext
    ) throws -> [[Double]] {
        let countries = try Dictionary(grouping: drawn) { atlas.country(of: $0.region).code }
            .filter { $0.key != Self.noCountry }.sorted { $0.key < $1.key }
            .map { try context.multiPolygon($0.value.flatMap(\.polygons)).unaryUnion(gridSize: 1).polygonRings() }
        guard countries.count > 1 else { return [] }
        var lines: [[Double]] = []
        for (index, country) in countries.enumerated() {
            let outline = try context.multiPolygon(country).boundary()
            for other in countries[(index + 1)...] {
                let shared = try outline.intersection(context.multiPolygon(other).boundary(), gridSize: 1)
                lines += try shared.lineMerge().lines()
            }
        }
        return lines
    }

    /// The code of the high seas.
    private static let noCountry = "XZ"
}

/// The gnomonic plane that touches the sphere at a center.
private struct Plane {
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

    static func direction(face: Int, _ x: Double, _ y: Double) -> CubeProjection.Direction {
        CubeProjection.direction(
            face: face, u: CubeProjection.stToUV(x * 0x1p-30), v: CubeProjection.stToUV(y * 0x1p-30))
    }

    /// A closed ring of leaf coordinates in whole steps, without positions that repeat or lie straight between others.
    func ring(_ ring: [Double], face: Int) -> [Double] {
        var points: [SIMD2<Double>] = []
        for k in stride(from: 0, to: ring.count, by: 2) {
            let direction = Self.direction(face: face, ring[k], ring[k + 1])
            let vector = SIMD3(direction.x, direction.y, direction.z)
            let scale = 1 / (step * (vector * outward).sum())
            let point = SIMD2((vector * east).sum() * scale, (vector * north).sum() * scale)
                .rounded(.toNearestOrAwayFromZero)
            if point == points.last { continue }
            if points.count >= 2, Self.isBetween(points[points.count - 2], points[points.count - 1], point) {
                points.removeLast()
            }
            points.append(point)
        }
        return points.flatMap { [$0.x, $0.y] }
    }

    private static func isBetween(_ a: SIMD2<Double>, _ b: SIMD2<Double>, _ c: SIMD2<Double>) -> Bool {
        let along = b - a, on = c - b
        return along.x * on.y == along.y * on.x && (along * on).sum() > 0
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
