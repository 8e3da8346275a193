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

    let tables: AtlasTables
    /// Cells by region: those of region r are `quads[quadStart[r] ..< quadStart[r + 1]]`.
    private(set) var quads: [Quad] = []
    private(set) var quadStart: [Int32] = []
    private(set) var pieces: [Piece] = []
    private(set) var pieceStart: [Int32] = []
    /// Cut cells in all.
    private(set) var cutCount = 0
    /// Cut cells of which the tables give only a part, and cut cells whose pieces do not add up to the cell.
    private(set) var incompleteCuts = 0
    /// Area of everything listed, in cells of level 16.
    private(set) var weight = 0

    init(_ tables: AtlasTables, progress: @Sendable (Double) -> Void) throws {
        self.tables = tables
        // A task is a column of level-8 cells.
        let columns = try parallelMap(count: 6 * 256) { task in
            try Column(tables, face: task / 256, column: task % 256)
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

    private static func pieces(
        of cuts: ArraySlice<Column.Cut>, _ tables: AtlasTables
    ) throws -> (pieces: [Piece], incomplete: Int) {
        let context = try GEOSContext()
        var pieces: [Piece] = []
        var incomplete = 0
        for cut in cuts {
            let record = try tables.cut(at: cut.offset)
            let faces = try record.faces(context)
            let whole = Double(record.gridSize * record.gridSize)
            if (faces.reduce(0) { $0 + $1.area } - whole).magnitude > 1e-9 * whole { incomplete += 1 }
            for face in faces where face.area > CutRecord.leastArea {
                pieces.append(Piece(region: face.region, cell: cut.cell, gridSize: record.gridSize, face: face))
            }
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

/// What the tables list for the level-8 cells of one column of a face.
private struct Column: Sendable {
    struct Cut: Sendable {
        var cell: Quad
        var offset: Int
    }

    var quads: [(region: UInt32, quad: Quad)] = []
    var cuts: [Cut] = []
    var incompleteCuts = 0
    var weight = 0

    init(_ tables: AtlasTables, face: Int, column: Int) throws {
        for row in 0..<256 {
            switch try tables.top(face: face, column: column, row: row) {
            case .value(let value):
                try append([(value, 0..<1 << 16)], tables, face, column, row)
            case .block(let block):
                let ends = block.keys.dropFirst() + [1 << 16]
                let runs = zip(block.values, zip(block.keys, ends)).map { ($0, $1.0..<$1.1) }
                try append(runs, tables, face, column, row)
            }
        }
    }

    private struct CutKey: Hashable {
        var cell: Quad
        var offset: Int
    }

    private mutating func append(
        _ runs: [(AtlasTables.Value, Range<Int>)], _ tables: AtlasTables, _ face: Int, _ column: Int, _ row: Int
    ) throws {
        /// How much of each cut cell the runs give, in cells of level 16.
        var covered: [CutKey: Int] = [:]
        for (value, keys) in runs {
            weight += keys.count
            let level: Int
            switch value {
            case .region: level = AtlasTables.levelOfKeys
            case .cut(let offset): level = try tables.cut(at: offset).level
            }
            Quad.cells(face: face, column: column, row: row, keys: keys) { quad in
                switch value {
                case .region(let region): quads.append((region, quad))
                case .cut(let offset): cover(quad, level: level, offset, &covered)
                }
            }
        }
        for (key, weight) in covered.sorted(by: { $0.key.cell.bits < $1.key.cell.bits }) {
            if weight != key.cell.weight { incompleteCuts += 1 }
            cuts.append(Cut(cell: key.cell, offset: key.offset))
        }
    }

    private func cover(_ quad: Quad, level: Int, _ offset: Int, _ covered: inout [CutKey: Int]) {
        if quad.level >= level {
            covered[CutKey(cell: quad.ancestor(level: level), offset: offset), default: 0] += quad.weight
            return
        }
        let size = 1 << (30 - level)
        for i in stride(from: quad.i, to: quad.i + quad.size, by: size) {
            for j in stride(from: quad.j, to: quad.j + quad.size, by: size) {
                let cell = Quad(face: quad.face, i: i, j: j, level: level)
                covered[CutKey(cell: cell, offset: offset), default: 0] += cell.weight
            }
        }
    }
}

extension AtlasTables {
    /// The region of a leaf cell, walked down the tables, which must have been listed before.
    func region(at leaf: FaceIJ) throws(VerificationError) -> Int {
        let (i, j) = (Int(leaf.i), Int(leaf.j))
        var key = 0
        for bit in stride(from: 21, through: 14, by: -1) { key = key << 2 | (i >> bit & 1) << 1 | j >> bit & 1 }
        switch try value(face: Int(leaf.face), column: i >> 22, row: j >> 22, key: key) {
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
