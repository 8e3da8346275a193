import Hereabouts

/// What holds at a point: a country and whether it is land.
///
/// Bits 0–13 are the country's index (0 is no country), bit 15 is land. Labels combine by exclusive or: crossing an
/// edge turns the label on one side into the label on the other, whatever the number of countries that meet.
package struct Label: Hashable, Sendable {
    package var bits: UInt16
    package init(bits: UInt16) { self.bits = bits }
    package init(country: Int, isLand: Bool) {
        precondition(country <= Int(Label.countryMask))
        bits = UInt16(country) | (isLand ? Label.landBit : 0)
    }
    package static let landBit: UInt16 = 0x8000
    package static let countryMask: UInt16 = 0x3fff
    package var country: Int { Int(bits & Label.countryMask) }
    package var isLand: Bool { bits & Label.landBit != 0 }
}

/// A straight edge on one cube face, between points of the leaf grid, and what changes across it.
///
/// Coordinates are leaf-cell units (level 30: 0 … 2^30 along a face, beyond it for edges that leave the face). Vertices
/// sit at even coordinates and every point that is asked about at odd ones, so a vertical or horizontal line through a
/// question never meets a vertex, and the crossing tests are exact in 64-bit integers.
package struct FaceEdge: Sendable {
    var x0: Int32, y0: Int32, x1: Int32, y1: Int32
    /// Exclusive or of the labels on the two sides.
    var code: UInt16

    /// Whether the point is on or to the left of the directed edge.
    @inline(__always)
    func isLeft(_ x: Int64, _ y: Int64) -> Bool {
        let dx = Int64(x1) &- Int64(x0), dy = Int64(y1) &- Int64(y0)
        return dx &* (y &- Int64(y0)) &- dy &* (x &- Int64(x0)) >= 0
    }

    @inline(__always)
    func crossesVertical(x: Int64, from y: Int64, to yEnd: Int64) -> Bool {
        (Int64(x0) < x) != (Int64(x1) < x) && isLeft(x, y) != isLeft(x, yEnd)
    }

    @inline(__always)
    func crossesHorizontal(y: Int64, from x: Int64, to xEnd: Int64) -> Bool {
        (Int64(y0) < y) != (Int64(y1) < y) && isLeft(x, y) != isLeft(xEnd, y)
    }

    /// Whether the edge may meet the closed square at (i, j) of the given size; never false when it does.
    @inline(__always)
    func mayMeet(i: Int64, j: Int64, size: Int64) -> Bool {
        let iEnd = i &+ size, jEnd = j &+ size
        if Int64(max(x0, x1)) < i || Int64(min(x0, x1)) > iEnd { return false }
        if Int64(max(y0, y1)) < j || Int64(min(y0, y1)) > jEnd { return false }
        // Corners one unit outside, so that an edge through a corner counts as meeting the square.
        let a = isLeft(i &- 1, j &- 1)
        return !(a == isLeft(iEnd &+ 1, j &- 1) && a == isLeft(i &- 1, jEnd &+ 1) && a == isLeft(iEnd &+ 1, jEnd &+ 1))
    }
}

/// One cell on the way down: its square, the edges that may meet it and the label at its reference point.
struct CellView {
    var cell: CellID
    var face: Int
    /// Lower corner in leaf units.
    var i: Int64, j: Int64
    var level: Int
    /// The label at (`referenceX`, `referenceY`).
    var reference: Label
    var edges: Range<Int>

    var size: Int64 { 1 << Int64(30 - level) }
    var referenceX: Int64 { i + size / 2 + 1 }
    var referenceY: Int64 { j + size / 2 + 1 }
}

/// The Earth divided by borders and coasts: labeled edges on the six faces, walked as a quadtree.
struct CellMap: Sendable {
    /// Edges of each face.
    var faces: [[FaceEdge]]
    /// The label at each face's reference point.
    var references: [Label]

    /// The roots of a parallel walk, in cell order: every cell of the level, with its own copy of its edges.
    func roots(level: Int) -> [CellRoot] {
        var result: [CellRoot] = []
        for face in 0..<6 {
            let view = CellView(
                cell: CellID(face: face, i: 0, j: 0, level: 0), face: face, i: 0, j: 0, level: 0,
                reference: references[face],
                edges: 0..<faces[face].count)
            var walker = CellWalker(edges: faces[face])
            walker.walk(view) { view, walker in
                if view.level < level { return true }
                result.append(CellRoot(view: view, edges: Array(walker.edges[view.edges])))
                return false
            }
        }
        return result
    }
}

/// A cell to start a walk from, independent of its siblings.
struct CellRoot: Sendable {
    var view: CellView
    var edges: [FaceEdge]

    /// Walks the tree below the root in cell order; `visit` says whether to go on to the children.
    func walk(_ visit: (CellView, CellWalker) -> Bool) {
        var start = view
        start.edges = 0..<edges.count
        var walker = CellWalker(edges: edges)
        walker.walk(start, visit)
    }
}

/// Depth-first walk; the edges of the cells on the path lie one after another in one array.
struct CellWalker {
    var edges: [FaceEdge]

    init(edges: [FaceEdge]) { self.edges = edges }

    mutating func walk(_ view: CellView, _ visit: (CellView, CellWalker) -> Bool) {
        guard visit(view, self) else { return }
        let half = view.size / 2
        for position in 0..<4 {
            let child = view.cell.child(position)
            let corner = child.faceIJ()
            let mask = ~Int64(half - 1)
            var next = CellView(
                cell: child, face: view.face, i: Int64(corner.i) & mask, j: Int64(corner.j) & mask,
                level: view.level + 1, reference: view.reference, edges: 0..<0)
            next.reference = label(in: view, x: next.referenceX, y: next.referenceY)
            let start = edges.count
            for k in view.edges where edges[k].mayMeet(i: next.i, j: next.j, size: half) { edges.append(edges[k]) }
            next.edges = start..<edges.count
            walk(next, visit)
            edges.removeLast(edges.count - start)
        }
    }

    /// The label at a point of the cell with odd coordinates. Linear in the cell's edges.
    func label(in view: CellView, x: Int64, y: Int64) -> Label {
        var bits = view.reference.bits
        let rx = view.referenceX, ry = view.referenceY
        for k in view.edges {
            if edges[k].crossesVertical(x: rx, from: ry, to: y) { bits ^= edges[k].code }
            if edges[k].crossesHorizontal(y: y, from: rx, to: x) { bits ^= edges[k].code }
        }
        return Label(bits: bits)
    }
}

extension CellRoot {
    /// Roots are the cells of this level: enough for an even load on any number of cores.
    static let level = 3
    static let count = 6 << (2 * level)

    /// Position of the root that holds a leaf cell, among all roots in cell order.
    static func index(of leaf: UInt64) -> Int { Int(leaf >> UInt64(61 - 2 * level)) }

    /// Labels of points given as leaf cells of this root, ascending.
    func labels(of cells: [UInt64]) -> [Label] {
        var labels = [Label](repeating: Label(bits: 0), count: cells.count)
        walk { view, walker in
            let range = cells.range(of: view.cell)
            if range.isEmpty { return false }
            if !view.edges.isEmpty && view.edges.count > 16 && range.count > 4 && view.level < 24 { return true }
            for k in range {
                let leaf = CellID(rawValue: cells[k]).faceIJ()
                labels[k] = walker.label(in: view, x: Int64(leaf.i | 1), y: Int64(leaf.j | 1))
            }
            return false
        }
        return labels
    }
}

extension Array<UInt64> {
    /// Positions of the leaf cells within a cell, in an ascending array. Logarithmic.
    func range(of cell: CellID) -> Range<Int> {
        firstIndex(notBelow: cell.rangeMin.rawValue)..<firstIndex(notBelow: cell.rangeMax.rawValue + 1)
    }

    private func firstIndex(notBelow id: UInt64) -> Int {
        var low = 0, high = count
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < id { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension CellID {
    /// The leaf cell of a coordinate known to be valid; the longitude may need wrapping.
    static func leaf(latitude: Double, longitude: Double) -> UInt64 {
        let p = FaceIJ(latitude: latitude, longitude: FaceIJ.wrappedLongitude(longitude))
        return CellID(face: Int(p.face), i: p.i, j: p.j, level: CellID.maxLevel).rawValue
    }
}
