import GeoBridge
import Hereabouts

/// A cell that borders cut, as the atlas stores it: edges on a grid of the cell's own.
///
/// The cell is a square of `gridSize` steps. The label at a point is `base`, changed by the code of every edge and
/// closing below the point. A closing stands for an edge that leaves through the lower side at `x`: it runs from there
/// to the right end of the lower side.
struct CutCell: Sendable {
    struct Edge: Sendable {
        var x0: Int32, y0: Int32, x1: Int32, y1: Int32
        var code: UInt16
    }
    struct Closing: Sendable {
        var x: Int32
        var code: UInt16
    }
    /// One country's share of the cell.
    struct Piece: Sendable {
        var country: UInt16
        /// km².
        var area: Double
        /// Corners, and points between them on long edges, Earth-centered.
        var corners: [SIMD3<Double>]
        /// A point of the piece in leaf coordinates, on land if it has any.
        var site: SIMD2<Int64>
        var isLand: Bool
    }

    var cell: CellID
    var gridSize: Int32
    var base: UInt16
    var edges: [Edge]
    var closings: [Closing]
    /// The country of each label that occurs; where rounding brings forth a label that is none, that of its surroundings.
    var countries: [(label: UInt16, country: UInt16)]
    var pieces: [Piece]
    /// Whether every face has a country that the borders know near all of its corners.
    var isFaithful = true

    /// Steps along a cell's side: steps of at most 21 m (level 11) at any level.
    static func gridSize(level: Int) -> Int32 {
        level >= AtlasLayout.fineCutLevel ? AtlasLayout.fineGrid : AtlasLayout.coarseGrid
    }

    /// The label at the middle of a leaf cell, given by its column and row within this cell.
    func label(column: Int64, row: Int64) -> UInt16 {
        // In these units leaf middles are odd and grid points even, so that no point lies on a grid line.
        let isFine = gridSize == AtlasLayout.fineGrid
        let scale = isFine ? Int64(gridSize) : 1
        let step = isFine ? 2 * Int64(cell.size) : 2 * Int64(cell.size) / Int64(gridSize)
        let x = (2 * column + 1) * scale, y = (2 * row + 1) * scale
        var label = base
        for edge in edges {
            let x0 = step * Int64(edge.x0), x1 = step * Int64(edge.x1)
            guard (x0 < x) != (x1 < x) else { continue }
            let y0 = step * Int64(edge.y0), y1 = step * Int64(edge.y1)
            let side = (x1 - x0) * (y - y0) - (y1 - y0) * (x - x0)
            if x1 > x0 ? side >= 0 : side <= 0 { label ^= edge.code }
        }
        for closing in closings where step * Int64(closing.x) < x { label ^= closing.code }
        return label
    }

    /// The country at a leaf cell within this cell, as the atlas will have it: a label that no face has is the first's.
    func country(atLeaf leaf: FaceIJ) -> UInt16 {
        let corner = cell.lowerLeft
        let label = label(column: Int64(leaf.i - corner.i), row: Int64(leaf.j - corner.j))
        return countries.first { $0.label == label }?.country ?? countries[0].country
    }
}
