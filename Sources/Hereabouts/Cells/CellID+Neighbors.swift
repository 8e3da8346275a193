/// The cells around a cell, across the edges of the cube too.
extension CellID {
    /// The four cells of the same level that share an edge with this one, all different: below, right, above, left in
    /// the (i, j) grid of this cell's face, as in S2.
    ///
    /// - Complexity: O(1).
    public var edgeNeighbors: Quartet<CellID> {
        let corner = lowerLeft
        let (face, level) = (self.face, self.level)
        let (i, j, size) = (Int(corner.i), Int(corner.j), Int(size))
        return Quartet(
            Self.wrapping(face: face, i: i, j: j - size, level: level),
            Self.wrapping(face: face, i: i + size, j: j, level: level),
            Self.wrapping(face: face, i: i, j: j + size, level: level),
            Self.wrapping(face: face, i: i - size, j: j, level: level))
    }

    /// All cells of a level, no larger than this one, that touch it from outside, at an edge or a vertex.
    ///
    /// In S2's order, which goes from below to above; at a corner of the cube a cell may come twice.
    ///
    /// - Parameter level: at least this cell's own, at most 30.
    /// - Complexity: O(2^(`level` - `self.level`)), the number of neighbors.
    public func allNeighbors(level: Int) -> [CellID] {
        precondition(level >= self.level && level <= Self.maxLevel, "neighbors are no larger than the cell")
        let corner = lowerLeft
        let (face, i, j, size) = (self.face, Int(corner.i), Int(corner.j), Int(size))
        let step = 1 << (Self.maxLevel - level)
        var neighbors: [CellID] = []
        neighbors.reserveCapacity(4 * (size / step) + 4)
        for offset in stride(from: -step, through: size, by: step) {
            if offset >= 0 && offset < size {
                neighbors.append(Self.wrapping(face: face, i: i + offset, j: j - step, level: level))
                neighbors.append(Self.wrapping(face: face, i: i + offset, j: j + size, level: level))
            }
            neighbors.append(Self.wrapping(face: face, i: i - step, j: j + offset, level: level))
            neighbors.append(Self.wrapping(face: face, i: i + size, j: j + offset, level: level))
        }
        return neighbors
    }

    /// The cells of a level around the vertex of that level nearest to this cell: four, or three at a corner of the
    /// cube. The first is this cell's own ancestor; the order is S2's.
    ///
    /// - Parameter level: less than this cell's own, at least 0.
    /// - Complexity: O(1).
    public func vertexNeighbors(level: Int) -> [CellID] {
        precondition(level >= 0 && level < self.level, "the vertex is that of a larger cell")
        let (face, leafI, leafJ, _) = faceIJ()
        let (i, j) = (Int(leafI), Int(leafJ))
        let half = 1 << (Self.maxLevel - level - 1)
        let size = 2 * half
        // The vertex lies on the side of the ancestor's half that holds this cell.
        let (iStep, jStep) = (i & half != 0 ? size : -size, j & half != 0 ? size : -size)
        let (iInside, jInside) = (Self.isOnFace(i + iStep), Self.isOnFace(j + jStep))
        var neighbors = [parent(level: level)]
        neighbors.append(Self.wrapping(face: face, i: i + iStep, j: j, level: level))
        neighbors.append(Self.wrapping(face: face, i: i, j: j + jStep, level: level))
        // Off the face both ways, the vertex is a corner of the cube, where only three cells meet.
        if iInside || jInside {
            neighbors.append(Self.wrapping(face: face, i: i + iStep, j: j + jStep, level: level))
        }
        return neighbors
    }

    /// Whether a leaf coordinate lies on its face.
    static func isOnFace(_ coordinate: Int) -> Bool { coordinate >= 0 && coordinate < Int(FaceIJ.limit) }

    /// The cell of a level that holds a leaf position on a face or beyond its edges.
    ///
    /// Beyond an edge, the position is first moved to the ring of leaves just outside the face; that ring, projected
    /// from the cube's center onto the next face, gives the leaf touching this one. S2 takes the same way.
    package static func wrapping(face: Int, i: Int, j: Int, level: Int) -> CellID {
        if isOnFace(i) && isOnFace(j) {
            return CellID(
                face: face, i: UInt32(truncatingIfNeeded: i), j: UInt32(truncatingIfNeeded: j), level: level)
        }
        let limit = Int(FaceIJ.limit)
        func linear(_ coordinate: Int) -> Double {
            let clamped = max(-1, min(limit, coordinate))
            // Just beyond 1 is enough to leave the face, and keeps the leaf the outermost one of the next.
            return max(-1 - 0x1p-52, min(1 + 0x1p-52, 0x1p-30 * Double(2 * (clamped - limit / 2) + 1)))
        }
        let direction = CubeProjection.direction(face: face, u: linear(i), v: linear(j))
        let (nextFace, u, v) = CubeProjection.faceUV(direction)
        return CellID(
            face: nextFace, i: CubeProjection.stToIJ(0.5 * (u + 1)), j: CubeProjection.stToIJ(0.5 * (v + 1)),
            level: level)
    }
}
