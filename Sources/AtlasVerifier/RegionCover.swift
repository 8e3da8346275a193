import AtlasFormat
import GeoBridge
import ParallelMap

/// Every region's cells and pieces of cut cells, listed from the tables.
struct RegionCover: Sendable {
    private(set) var tables: AtlasTables
    /// Cells by region: those of region r are `quads[quadStart[r] ..< quadStart[r + 1]]`.
    private(set) var quads: [Quad] = []
    private(set) var quadStart: [Int32] = []
    private(set) var pieces: [CutPiece] = []
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

    func pieces(_ region: Int) -> ArraySlice<CutPiece> { pieces[Int(pieceStart[region])..<Int(pieceStart[region + 1])] }

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
        of cuts: ArraySlice<CellListing.Cut>, _ tables: AtlasTables
    ) throws -> (pieces: [CutPiece], incomplete: Int) {
        let context = try GEOSContext()
        var pieces: [CutPiece] = []
        var incomplete = 0
        for cut in cuts {
            let found = try cut.pieces(tables, context)
            let whole = Double(found[0].gridSize * found[0].gridSize)
            if (found.reduce(0) { $0 + $1.face.area } - whole).magnitude > 1e-9 * whole { incomplete += 1 }
            pieces.append(contentsOf: found.filter { $0.face.area > CutRecord.leastArea })
        }
        return (pieces, incomplete)
    }
}
