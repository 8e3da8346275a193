import AtlasFormat
import GeoBridge
import Hereabouts

/// The outline of a region, for people and for programs that draw maps.
///
/// Cells and pieces are united on each quarter of a cube face, where their sides are straight and meet exactly, and
/// only then brought to longitude and latitude. Quarters end at the poles and at the antimeridian, so nothing crosses
/// either.
package struct RegionOutline: Sendable {
    /// Valid polygons that do not overlap: closed rings, flat longitude and latitude in degrees, outer ring first.
    package let polygons: [[[Double]]]

    /// Degrees to which positions are rounded: a tenth of a meter.
    private static let gridDegrees = 1e-6
    /// Edges are great circles, or straight on a face; between vertices they are drawn to this many degrees.
    private static let toleranceDegrees = 1e-7

    /// Traces the outline of a region of an atlas file. Reads the whole file; some tens of milliseconds.
    ///
    /// - Throws: `FormatError` where the file is no atlas or has no such region; `GEOSError`.
    package init(of region: Region, atlasPath: String) throws {
        try self.init(of: Int(region.index), AtlasTables(path: atlasPath))
    }

    init(of region: Int, _ tables: AtlasTables) throws {
        guard (0..<tables.regionCount).contains(region) else { throw FormatError.malformed("no such region") }
        let context = try GEOSContext()
        var parts: [Quarter: [[[Double]]]] = [:]
        let listing = try Self.listing(around: region, tables)
        for (owner, quad) in listing.quads where owner == region {
            parts[Quarter(quad), default: []].append([Self.square(quad)])
        }
        for cut in listing.cuts {
            for piece in try cut.pieces(tables, context) where piece.region == region {
                parts[Quarter(cut.cell), default: []].append(piece.face.rings.map { Self.onFace($0, piece) })
            }
        }
        var united = try context.polygon([])
        for (quarter, polygons) in parts.sorted(by: { $0.key.order < $1.key.order }) {
            let rings = try context.multiPolygon(polygons).unaryUnion(gridSize: 1).polygonRings()
            let projected = rings.map { $0.map { quarter.project($0, tolerance: Self.toleranceDegrees) } }
            united = try united.union(
                context.multiPolygon(projected).madeValid(), gridSize: Self.gridDegrees)
        }
        polygons = try united.polygonRings()
    }

    /// What the tables list for the level-7 cells that the region's circle may touch.
    private static func listing(around region: Int, _ tables: AtlasTables) throws -> CellListing {
        let center = tables.center(region)
        return try CellListing(
            around: Coordinate(latitude: center.latitude, longitude: center.longitude),
            chord: tables.accuracy(region) / CellListing.leastRadiusMeters, tables)
    }

    package static func square(_ quad: Quad) -> [Double] {
        let x = Double(quad.i), y = Double(quad.j), side = Double(quad.size)
        return [x, y, x + side, y, x + side, y + side, x, y + side, x, y]
    }

    /// A ring of a cut cell's grid in leaf coordinates.
    package static func onFace(_ ring: [Double], _ piece: CutPiece) -> [Double] {
        let step = Double(piece.cell.size) / Double(piece.gridSize)
        return ring.indices.map { k in Double(k % 2 == 0 ? piece.cell.i : piece.cell.j) + ring[k] * step }
    }

    // MARK: Text

    /// Well-known text, six decimals.
    package func wkt() throws -> String {
        let context = try GEOSContext()
        return try Self.geometry(polygons, context).wkt(decimals: 6)
    }

    /// A GeoJSON geometry (RFC 7946), on one line.
    package func geoJSON() throws -> String {
        let context = try GEOSContext()
        return try Self.geometry(polygons, context).geoJSON()
    }

    private static func geometry(_ polygons: [[[Double]]], _ context: GEOSContext) throws(GEOSError) -> Geometry {
        polygons.count == 1 ? try context.polygon(polygons[0]) : try context.multiPolygon(polygons)
    }
}

/// A quarter of a cube face. Its edges through the middle of the face are meridians or the equator.
private struct Quarter: Hashable {
    let face: Int
    let isRight: Bool, isUpper: Bool

    init(_ quad: Quad) {
        face = quad.face
        isRight = quad.i >= 1 << 29
        isUpper = quad.j >= 1 << 29
    }

    var order: Int { face * 4 + (isRight ? 2 : 0) + (isUpper ? 1 : 0) }

    /// The longitude of the quarter's middle: all its points are less than 180° away.
    private var middleLongitude: Double { place(isRight ? 0x3p28 : 0x1p28, isUpper ? 0x3p28 : 0x1p28).longitude }

    private func place(_ x: Double, _ y: Double) -> Coordinate {
        let u = CubeProjection.stToUV(x * 0x1p-30), v = CubeProjection.stToUV(y * 0x1p-30)
        return CubeProjection.coordinate(of: CubeProjection.direction(face: face, u: u, v: v))
    }

    /// A ring of leaf coordinates as longitudes and latitudes.
    func project(_ ring: [Double], tolerance: Double) -> [Double] {
        let middle = middleLongitude
        var result: [Double] = []
        for k in stride(from: 0, to: ring.count - 2, by: 2) {
            let (x0, y0, x1, y1) = (ring[k], ring[k + 1], ring[k + 2], ring[k + 3])
            var a = position(x0, y0, middle), b = position(x1, y1, middle)
            // A pole has every longitude: that of the other end, so that the edge is a meridian.
            if a.y.magnitude == 90 { a.x = b.x }
            if b.y.magnitude == 90 { b.x = a.x }
            append(SIMD2(x0, y0), a, SIMD2(x1, y1), b, middle, tolerance, depth: 0, &result)
            if b.y.magnitude == 90 { result.append(contentsOf: [b.x, b.y]) }
        }
        return result + result.prefix(2)
    }

    private func position(_ x: Double, _ y: Double, _ middle: Double) -> SIMD2<Double> {
        let place = place(x, y)
        var longitude = place.longitude
        if longitude - middle > 180 { longitude -= 360 }
        if longitude - middle < -180 { longitude += 360 }
        return SIMD2(longitude, place.latitude)
    }

    /// Appends the start of an edge, and points along it until they are near the straight line.
    private func append(
        _ p: SIMD2<Double>, _ a: SIMD2<Double>, _ q: SIMD2<Double>, _ b: SIMD2<Double>, _ middle: Double,
        _ tolerance: Double, depth: Int, _ result: inout [Double]
    ) {
        let half = (p + q) / 2
        var m = position(half.x, half.y, middle)
        if m.y.magnitude == 90 { m.x = a.x }
        let along = b - a, aside = m - a
        let error = (along.x * aside.y - along.y * aside.x) / max((along * along).sum().squareRoot(), 1e-12)
        if depth == 12 || error.magnitude <= tolerance {
            result.append(contentsOf: [a.x, a.y])
            return
        }
        append(p, a, half, m, middle, tolerance, depth: depth + 1, &result)
        append(half, m, q, b, middle, tolerance, depth: depth + 1, &result)
    }
}
