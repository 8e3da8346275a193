import GeoBridge
import Hereabouts

/// Every region's cells and pieces of cut cells, listed from the tables.
struct RegionCover: Sendable {
    /// A piece of a cut cell.
    struct Piece: Sendable {
        var region: UInt32
        /// The cut cell and the steps along its side.
        var cell: Quad
        var gridSize: Int
        var face: CutRecord.Face
    }

    private(set) var tables: AtlasTables
    /// Cells by region: those of region r are `quads[quadStart[r] ..< quadStart[r + 1]]`.
    private(set) var quads: [Quad] = []
    private(set) var quadStart: [Int32] = []
    private(set) var pieces: [Piece] = []
    private(set) var pieceStart: [Int32] = []
    /// Cut cells in all.
    private(set) var cutCount = 0
    /// Cut cells of which the tables give only a part, and cut cells whose pieces do not add up to the cell.
    private(set) var incompleteCuts = 0
    /// Area of everything listed, in cells of level 15.
    private(set) var weight = 0

    init(_ tables: AtlasTables, progress: @Sendable (Double) -> Void) throws {
        self.tables = tables
        // A task is a column of level-7 cells.
        let columns = try parallelMap(count: 6 * 128) { task in
            var listing = CellListing()
            for row in 0..<128 { try listing.append(tables, face: task / 128, column: task % 128, row: row) }
            return listing
        }
        progress(0.2)
        weight = columns.reduce(0) { $0 + $1.weight }
        incompleteCuts = columns.reduce(0) { $0 + $1.incompleteCuts }
        (quads, quadStart) = Self.grouped(
            columns.lazy.flatMap { $0.quads }, count: tables.regionCount, region: { $0.region }, value: { $0.quad })
        let cuts = columns.flatMap(\.cuts)
        cutCount = cuts.count
        let batch = 128, batches = (cuts.count + batch - 1) / batch
        let listed = try parallelMap(count: batches, onEach: { progress(0.2 + 0.8 * Double($0) / Double(batches)) }) {
            try Self.pieces(of: cuts[$0 * batch..<min(cuts.count, ($0 + 1) * batch)], tables)
        }
        incompleteCuts += listed.reduce(0) { $0 + $1.incomplete }
        (pieces, pieceStart) = Self.grouped(
            listed.lazy.flatMap { $0.pieces }, count: tables.regionCount, region: { $0.region }, value: { $0 })
    }

    /// The same cells and pieces with other records for the regions.
    func replacing(_ tables: AtlasTables) -> RegionCover {
        var copy = self
        copy.tables = tables
        return copy
    }

    func quads(_ region: Int) -> ArraySlice<Quad> { quads[Int(quadStart[region])..<Int(quadStart[region + 1])] }

    func pieces(_ region: Int) -> ArraySlice<Piece> { pieces[Int(pieceStart[region])..<Int(pieceStart[region + 1])] }

    /// Sorts values by region, keeping their order within each.
    private static func grouped<Elements: Sequence, Value>(
        _ elements: Elements, count: Int, region: (Elements.Element) -> UInt32, value: (Elements.Element) -> Value
    ) -> ([Value], [Int32]) {
        var start = [Int32](repeating: 0, count: count + 1)
        for element in elements { start[Int(region(element)) + 1] += 1 }
        for index in 0..<count { start[index + 1] += start[index] }
        var next = start
        var order = [Int32](repeating: 0, count: Int(start[count]))
        var values: [Value] = []
        values.reserveCapacity(order.count)
        for element in elements {
            order[Int(next[Int(region(element))])] = Int32(values.count)
            next[Int(region(element))] += 1
            values.append(value(element))
        }
        return (order.map { values[Int($0)] }, start)
    }

    /// All pieces of a cut cell.
    static func pieces(of cut: CellListing.Cut, _ tables: AtlasTables, _ context: GEOSContext) throws -> [Piece] {
        let record = try tables.cut(at: cut.offset)
        return try record.faces(context).map {
            Piece(region: $0.region, cell: cut.cell, gridSize: record.gridSize, face: $0)
        }
    }

    private static func pieces(
        of cuts: ArraySlice<CellListing.Cut>, _ tables: AtlasTables
    ) throws -> (pieces: [Piece], incomplete: Int) {
        let context = try GEOSContext()
        var pieces: [Piece] = []
        var incomplete = 0
        for cut in cuts {
            let found = try Self.pieces(of: cut, tables, context)
            let whole = Double(found[0].gridSize * found[0].gridSize)
            if (found.reduce(0) { $0 + $1.face.area } - whole).magnitude > 1e-9 * whole { incomplete += 1 }
            pieces.append(contentsOf: found.filter { $0.face.area > CutRecord.leastArea })
        }
        return (pieces, incomplete)
    }
}

extension RegionCover.Piece {
    /// The place of a point of the cut cell's grid.
    func coordinate(x: Double, y: Double) -> Coordinate {
        cell.coordinate(x: x / Double(gridSize), y: y / Double(gridSize))
    }

    /// The leaf cell at a point of the cut cell's grid.
    func leaf(x: Double, y: Double) -> FaceIJ {
        let scale = Double(cell.size) / Double(gridSize), last = cell.size - 1
        return FaceIJ(
            face: UInt8(cell.face), i: UInt32(cell.i + min(last, Int(x * scale))),
            j: UInt32(cell.j + min(last, Int(y * scale))))
    }

    /// A leaf cell well inside.
    var insideLeaf: FaceIJ { leaf(x: face.x, y: face.y) }
}

extension AtlasTables {
    /// The region of a leaf cell, walked down the tables, which must have been listed before.
    func region(at leaf: FaceIJ) throws(VerificationError) -> Int {
        let (i, j) = (Int(leaf.i), Int(leaf.j))
        var key = 0
        for bit in stride(from: 22, through: 15, by: -1) { key = key << 2 | (i >> bit & 1) << 1 | j >> bit & 1 }
        switch try value(face: Int(leaf.face), column: i >> 23, row: j >> 23, key: key) {
        case .region(let region): return Int(region)
        case .cut(let offset):
            let record = try cut(at: offset)
            let mask = (1 << (30 - record.level)) - 1
            return Int(record.region(column: i & mask, row: j & mask))
        }
    }

    /// The region of a place, as the format says: 180° is -180°.
    func region(at place: Coordinate) throws(VerificationError) -> Int {
        try region(at: FaceIJ(latitude: place.latitude, longitude: FaceIJ.wrappedLongitude(place.longitude)))
    }
}
