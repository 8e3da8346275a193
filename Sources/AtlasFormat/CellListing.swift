import GeoBridge

/// What the tables list for some level-7 cells.
package struct CellListing: Sendable {
    /// A cut cell and the offset of its record.
    package struct Cut: Sendable {
        package var cell: Quad
        package var offset: Int

        /// The pieces into which borders divide the cell.
        /// - Throws: `FormatError`, `GEOSError`.
        package func pieces(_ tables: AtlasTables, _ context: GEOSContext) throws -> [CutPiece] {
            let record = try tables.cut(at: offset)
            return try record.faces(context).map {
                CutPiece(region: $0.region, cell: cell, gridSize: record.gridSize, face: $0)
            }
        }
    }

    package private(set) var quads: [(region: UInt32, quad: Quad)] = []
    package private(set) var cuts: [Cut] = []
    /// Cut cells of which the runs give only a part.
    package private(set) var incompleteCuts = 0
    /// Area in cells of level 15.
    package private(set) var weight = 0

    package init() {}

    /// Appends what the tables list for one level-7 cell.
    package mutating func append(_ tables: AtlasTables, face: Int, column: Int, row: Int) throws {
        switch try tables.top(face: face, column: column, row: row) {
        case .value(let value):
            try append([(value, 0..<1 << 16)], tables, face, column, row)
        case .block(let block):
            let ends = block.keys.dropFirst() + [1 << 16]
            let runs = zip(block.values, zip(block.keys, ends)).map { ($0, $1.0..<$1.1) }
            try append(runs, tables, face, column, row)
        }
    }

    private struct CutKey: Hashable {
        var cell: Quad
        var offset: Int
    }

    private mutating func append(
        _ runs: [(AtlasTables.Value, Range<Int>)], _ tables: AtlasTables, _ face: Int, _ column: Int, _ row: Int
    ) throws {
        /// How much of each cut cell the runs give, in cells of level 15.
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
