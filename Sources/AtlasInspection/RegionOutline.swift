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
        var parts: [FaceQuarter: [[[Double]]]] = [:]
        let listing = try Self.listing(around: region, tables)
        for (owner, quad) in listing.quads where owner == region {
            parts[Self.quarter(quad), default: []].append([Self.square(quad)])
        }
        for cut in listing.cuts {
            for piece in try cut.pieces(tables, context) where piece.region == region {
                parts[Self.quarter(cut.cell), default: []].append(piece.face.rings.map { Self.onFace($0, piece) })
            }
        }
        var united = try context.polygon([])
        for (quarter, polygons) in parts.sorted(by: { $0.key < $1.key }) {
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

    private static func quarter(_ quad: Quad) -> FaceQuarter {
        FaceQuarter(face: quad.face, x: Double(quad.i), y: Double(quad.j))
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
