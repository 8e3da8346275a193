/// A piece of a cut cell that belongs to one region.
package struct CutPiece: Sendable {
    package var region: UInt32
    /// The cut cell and the steps along its side.
    package var cell: Quad
    package var gridSize: Int
    package var face: CutRecord.Face

    /// The leaf cell at a point of the cut cell's grid.
    package func leaf(x: Double, y: Double) -> Leaf {
        let scale = Double(cell.size) / Double(gridSize), last = cell.size - 1
        return Leaf(face: cell.face, i: cell.i + min(last, Int(x * scale)), j: cell.j + min(last, Int(y * scale)))
    }

    /// A leaf cell well inside.
    package var insideLeaf: Leaf { leaf(x: face.x, y: face.y) }
}
