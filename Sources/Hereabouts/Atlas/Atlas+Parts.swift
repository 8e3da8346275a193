/// A part of a region, with four corners on a face of the cube. Between them its sides are straight there.
package struct RegionPart: Sendable {
    /// The cell that it is, or that borders cut it from.
    package let cell: CellID
    /// Whether it is all of the cell.
    package let isWhole: Bool
    /// Counterclockwise, in leaf coordinates of the cell's face; two may coincide.
    package let corners: InlineArray<4, SIMD2<Double>>

    package var face: Int { cell.face }
}

extension Atlas {
    /// What a region consists of: cells, as large as they can be, and pieces of cells that borders cut. They touch, and do not overlap.
    ///
    /// - Throws: `LookupError`: a region of another atlas, or damage in an atlas that was not validated as a whole.
    /// - Complexity: O(cells of the finest level about the circle): a millisecond for one of 16 km.
    package func parts(of region: Region) throws(LookupError) -> [RegionPart] {
        let index = try validIndex(of: region)
        let circle = circle(places.uint64(index * 8))
        var search = PartSearch(
            region: UInt32(index), middle: circle.coordinate, reach: circle.horizontalAccuracy, cuts: [], parts: [])
        for face in 0..<6 {
            let cell = FaceIJ(face: UInt8(face), i: 0, j: 0)
            if try search.isWhole(cell, level: 0, self) { search.append(cell, level: 0) }
        }
        for cut in search.cuts {
            let reader = CutReader(bytes: cuts, offset: cut.offset)
            let corner = SIMD2(Double(cut.corner.i), Double(cut.corner.j)), step = Double(cut.size) / reader.gridSize
            let cell = CellID(face: Int(cut.corner.face), i: cut.corner.i, j: cut.corner.j, level: reader.level)
            CutSlabs(reader).forEachPiece(of: UInt32(index)) { piece in
                var corners = piece
                for k in 0..<4 { corners[k] = corner + corners[k] * step }
                search.parts.append(RegionPart(cell: cell, isWhole: false, corners: corners))
            }
        }
        return search.parts
    }
}

/// The cells of a region and the cut cells that list it, found from the faces down within its circle.
private struct PartSearch {
    struct Cut: Equatable {
        /// The leaf of least i and j.
        let corner: FaceIJ
        let size: UInt32, offset: Int
    }

    let region: UInt32
    let middle: Coordinate
    let reach: Double
    var cuts: [Cut]
    var parts: [RegionPart]

    /// Whether a cell is of the region alone. If it is not, those of its quarters that are have been appended.
    mutating func isWhole(_ cell: FaceIJ, level: Int, _ atlas: Atlas) throws(LookupError) -> Bool {
        let size = FaceIJ.limit >> UInt32(level)
        guard CellReach(middle, meters: reach).meets(cell, level: level) else { return false }
        guard level < AtlasLayout.finestLevel else {
            let value = atlas.value(at: cell)
            guard value != Region.noIndex else { throw .atlas(atlas.damage(at: cell)) }
            if value & AtlasLayout.isCut != 0 { note(cut: atlas.cutOffset(value), at: cell, atlas) }
            return value == region
        }
        let quarters = CellReach.children(of: cell, size: size)
        var wholes = 0
        for k in quarters.indices where try isWhole(quarters[k], level: level + 1, atlas) { wholes |= 1 << k }
        if wholes == 15 { return true }
        for k in quarters.indices where wholes >> k & 1 == 1 { append(quarters[k], level: level + 1) }
        return false
    }

    mutating func append(_ cell: FaceIJ, level: Int) {
        let size = Double(FaceIJ.limit >> UInt32(level)), low = SIMD2(Double(cell.i), Double(cell.j))
        parts.append(
            RegionPart(
                cell: CellID(face: Int(cell.face), i: cell.i, j: cell.j, level: level), isWhole: true,
                corners: [low, low + SIMD2(size, 0), low + SIMD2(size, size), low + SIMD2(0, size)]))
    }

    /// The search is depth first, so the cells of the finest level that are of one cut cell come one after the other.
    private mutating func note(cut offset: Int, at cell: FaceIJ, _ atlas: Atlas) {
        let reader = CutReader(bytes: atlas.cuts, offset: offset)
        guard reader.lists(region) else { return }
        let size = FaceIJ.limit >> UInt32(reader.level)
        let corner = FaceIJ(face: cell.face, i: cell.i & (0 &- size), j: cell.j & (0 &- size))
        let cut = Cut(corner: corner, size: size, offset: offset)
        if cuts.last != cut { cuts.append(cut) }
    }
}

/// The edges of a cut cell, in steps of its grid, and what they enclose, slab by slab: between two columns in which vertices are,
/// edges run from one side to the other, so what lies between two of them has four corners.
struct CutSlabs {
    private struct Edge {
        let start: SIMD2<Double>, end: SIMD2<Double>
        let code: UInt8

        func y(at x: Double) -> Double {
            start.y + (end.y - start.y) * ((x - start.x) / (end.x - start.x))
        }
    }

    private let reader: CutReader
    private var edges: [Edge] = []
    private var closings: [(x: Double, code: UInt8)] = []

    /// Edges that cross are divided where they do, unless that is nearer to a column than this, in steps.
    private static let leastWidth = 1e-3

    init(_ reader: CutReader) {
        self.reader = reader
        reader.forEachEdge { x0, y0, x1, y1, code in
            // Those that are vertical have nothing above them.
            if x0 < x1 { edges.append(Edge(start: SIMD2(x0, y0), end: SIMD2(x1, y1), code: code)) }
            if x1 < x0 { edges.append(Edge(start: SIMD2(x1, y1), end: SIMD2(x0, y0), code: code)) }
        } closing: { x, code in
            closings.append((x, code))
        }
        edges.sort { $0.start.x < $1.start.x }
    }

    /// Calls with the corners of each piece of a region, counterclockwise.
    func forEachPiece(of region: UInt32, _ body: (InlineArray<4, SIMD2<Double>>) -> Void) {
        var columns = [0, reader.gridSize] + closings.map { $0.x } + edges.flatMap { [$0.start.x, $0.end.x] }
        columns = columns.filter { $0 >= 0 && $0 <= reader.gridSize }.sorted()
        var slabs: [(Double, Double)] = []
        for k in 1..<columns.count where columns[k - 1] < columns[k] {
            slabs.append((columns[k - 1], columns[k]))
            while let (left, right) = slabs.popLast() {
                if let crossing = forEachPiece(of: region, left, right, body) {
                    slabs.append((crossing, right))
                    slabs.append((left, crossing))
                }
            }
        }
    }

    /// - Returns: where two edges cross within the slab; nothing has been called then.
    private func forEachPiece(
        of region: UInt32, _ left: Double, _ right: Double, _ body: (InlineArray<4, SIMD2<Double>>) -> Void
    ) -> Double? {
        let top = reader.gridSize
        var heights: [(left: Double, right: Double, code: UInt8)] = []
        for edge in edges.prefix(while: { $0.start.x <= left }) where edge.end.x >= right {
            heights.append((min(max(edge.y(at: left), 0), top), min(max(edge.y(at: right), 0), top), edge.code))
        }
        heights.sort { $0.left + $0.right < $1.left + $1.right }
        for k in heights.indices.dropFirst() {
            let (below, above) = (heights[k - 1], heights[k])
            let (atLeft, atRight) = (above.left - below.left, above.right - below.right)
            guard (atLeft < 0) != (atRight < 0) else { continue }
            let crossing = left + (right - left) * (atLeft / (atLeft - atRight))
            if crossing > left + Self.leastWidth, crossing < right - Self.leastWidth { return crossing }
        }
        var code: UInt8 = 0
        for closing in closings where closing.x <= left { code ^= closing.code }
        /// Where the piece that is being traced begins.
        var start: (left: Double, right: Double)? = reader.region(ofCode: Int(code)) == region ? (0, 0) : nil
        func end(_ left0: Double, _ right0: Double) {
            guard let low = start, left0 > low.left || right0 > low.right else { return }
            body([SIMD2(left, low.left), SIMD2(right, low.right), SIMD2(right, right0), SIMD2(left, left0)])
        }
        for height in heights {
            code ^= height.code
            let isInside = reader.region(ofCode: Int(code)) == region
            if isInside == (start != nil) { continue }
            end(height.left, height.right)
            start = isInside ? (height.left, height.right) : nil
        }
        end(top, top)
        return nil
    }
}
