import AtlasFormat
import GeoBridge
import Hereabouts

/// The cells and pieces that make up some regions.
struct MapCells: Sendable {
    /// By region and face: rings in leaf coordinates.
    private var polygons: [Region: [Int: [[[Double]]]]] = [:]

    init(around frame: MapFrame, of regions: Set<Region>, _ tables: AtlasTables) throws {
        let context = try GEOSContext()
        let listing = try Self.listing(around: frame, of: regions, tables)
        for (owner, quad) in listing.quads where regions.contains(Region(index: owner)) {
            polygons[Region(index: owner), default: [:]][quad.face, default: []].append([Self.square(quad)])
        }
        for cut in listing.cuts {
            let pieces = try cut.pieces(tables, context)
            for piece in pieces where regions.contains(Region(index: piece.region)) {
                let rings = piece.face.rings.map { Self.onFace($0, piece) }
                polygons[Region(index: piece.region), default: [:]][piece.cell.face, default: []].append(rings)
            }
        }
    }

    /// What the tables list for the level-7 cells that any of the regions may touch.
    private static func listing(
        around frame: MapFrame, of regions: Set<Region>, _ tables: AtlasTables
    ) throws -> CellListing {
        let bounds = frame.bounds
        let farthest = [bounds.north, bounds.south].map { latitude in
            CellListing.chord(bounds.middle, Coordinate(latitude: latitude, longitude: bounds.west))
        }.max()!
        let largest = regions.reduce(0) { max($0, tables.accuracy(Int($1.index))) }
        // A region that the bounds touch reaches at most a diameter beyond them.
        return try CellListing(
            around: bounds.middle, chord: farthest + 2 * largest / CellListing.leastRadiusMeters, tables)
    }

    private static func square(_ quad: Quad) -> [Double] {
        let x = Double(quad.i), y = Double(quad.j), side = Double(quad.size)
        return [x, y, x + side, y, x + side, y + side, x, y + side, x, y]
    }

    /// A ring of a cut cell's grid in leaf coordinates.
    private static func onFace(_ ring: [Double], _ piece: CutPiece) -> [Double] {
        let step = Double(piece.cell.size) / Double(piece.gridSize)
        return ring.indices.map { Double($0 % 2 == 0 ? piece.cell.i : piece.cell.j) + ring[$0] * step }
    }

    /// A region's polygons in whole units.
    ///
    /// Cells meet exactly on their face, so they are united there. The sides that are left are great circles, drawn
    /// straight: over the 80 km of the largest cell that is at most some hundred meters aside.
    func outline(of region: Region, in frame: MapFrame) throws -> [[[Double]]] {
        let context = try GEOSContext()
        var polygons: [[[Double]]] = []
        let faces = (self.polygons[region] ?? [:]).sorted { $0.key < $1.key }
        for (face, parts) in faces {
            let united = try context.multiPolygon(parts).unaryUnion(gridSize: 1).polygonRings()
            polygons += united.compactMap { rings in
                let drawn = rings.map { Self.onPaper($0, face: face, frame) }
                // Rings smaller than a unit are not drawn, nor what lies in them.
                return drawn[0].count >= 8 ? drawn.filter { $0.count >= 8 } : nil
            }
        }
        guard faces.count > 1 else { return polygons }
        // Over the edge of a face, the parts are joined on paper.
        return try context.multiPolygon(polygons).madeValid().unaryUnion(gridSize: 1).polygonRings()
    }

    /// A ring of a face in whole units, without positions that repeat or lie straight between their neighbors.
    private static func onPaper(_ ring: [Double], face: Int, _ frame: MapFrame) -> [Double] {
        var points: [SIMD2<Double>] = []
        for k in stride(from: 0, to: ring.count, by: 2) {
            let u = CubeProjection.stToUV(ring[k] * 0x1p-30), v = CubeProjection.stToUV(ring[k + 1] * 0x1p-30)
            let point = frame.point(CubeProjection.coordinate(of: CubeProjection.direction(face: face, u: u, v: v)))
            if point == points.last { continue }
            if points.count >= 2, isBetween(points[points.count - 2], points[points.count - 1], point) {
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
}
