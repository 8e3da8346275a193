import AtlasFormat
import GeoBridge
import Hereabouts

/// Outlines of regions for maps, in whole units of the paper. Each map has its own way from a face to the paper.
///
/// Cells meet exactly on their face, so they are united there; the sides that are left are great circles, drawn straight.
/// Over the edges of faces the parts are joined on paper.
struct FlatOutline: Sendable {
    /// Where a position on a face, in leaf coordinates, lies on paper: whole units.
    let place: @Sendable (_ face: Int, _ x: Double, _ y: Double) -> SIMD2<Double>

    /// A position on a face, in leaf coordinates, as a direction from the Earth's center.
    static func direction(face: Int, _ x: Double, _ y: Double) -> CubeProjection.Direction {
        CubeProjection.direction(
            face: face, u: CubeProjection.stToUV(x * 0x1p-30), v: CubeProjection.stToUV(y * 0x1p-30))
    }

    /// A region's polygons, valid.
    ///
    /// - Parameter faces: its cells and pieces of cells by face, as rings in leaf coordinates.
    func polygons(of faces: [Int: [[[Double]]]], _ context: GEOSContext) throws -> [[[Double]]] {
        var polygons: [[[Double]]] = []
        for (face, parts) in faces.sorted(by: { $0.key < $1.key }) {
            for rings in try context.multiPolygon(parts).unaryUnion(gridSize: 1).polygonRings() {
                let drawn = rings.map { ring($0, face: face) }
                // Rings without an inside at this scale are left out, and what lies in them.
                if drawn[0].count >= 8 { polygons.append(drawn.filter { $0.count >= 8 }) }
            }
        }
        guard !polygons.isEmpty else { return [] }
        // Rounding can make a ring touch itself.
        return try context.multiPolygon(polygons).madeValid().unaryUnion(gridSize: 1).polygonRings()
    }

    /// A ring without positions that repeat or lie straight between their neighbors.
    private func ring(_ ring: [Double], face: Int) -> [Double] {
        var points: [SIMD2<Double>] = []
        for k in stride(from: 0, to: ring.count, by: 2) {
            let point = place(face, ring[k], ring[k + 1])
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

    /// What the outlines of two countries have in common: lines.
    ///
    /// - Parameter polygons: those of all regions of a country, by its code.
    static func borders(between polygons: [String: [[[Double]]]], _ context: GEOSContext) throws -> [[Double]] {
        let countries = try polygons.sorted { $0.key < $1.key }
            .map { try context.multiPolygon($0.value).unaryUnion(gridSize: 1).polygonRings() }
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
}

extension CellListing {
    /// Cells and pieces of cells by region and face, as rings in leaf coordinates.
    func parts(
        _ tables: AtlasTables, _ context: GEOSContext, where isWanted: (Quad) -> Bool = { _ in true }
    ) throws -> [UInt32: [Int: [[[Double]]]]] {
        var parts: [UInt32: [Int: [[[Double]]]]] = [:]
        for (owner, quad) in quads where isWanted(quad) {
            parts[owner, default: [:]][quad.face, default: []].append([RegionOutline.square(quad)])
        }
        for cut in cuts where isWanted(cut.cell) {
            for piece in try cut.pieces(tables, context) {
                let rings = piece.face.rings.map { RegionOutline.onFace($0, piece) }
                parts[piece.region, default: [:]][piece.cell.face, default: []].append(rings)
            }
        }
        return parts
    }
}
