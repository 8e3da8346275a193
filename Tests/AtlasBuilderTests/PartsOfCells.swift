import Hereabouts

@testable import AtlasBuilder

extension PartSet {
    /// Appends a whole cell with so many residents; its site is its middle.
    mutating func append(
        _ cell: CellID, residents: Double, promised: Double? = nil, isLand: Bool = true, isSettled: Bool = true,
        isOpen: Bool = false
    ) {
        let corner = cell.lowerLeft, shape = CellShape(cell)
        append(
            corners: shape.corners, site: SIMD2(corner.i, corner.j) &+ UInt32(cell.size / 2), isOpen: isOpen,
            isLand: isLand, isSettled: isSettled,
            people: Population.People(residents: residents, promised: promised ?? residents), area: shape.area,
            cell: cell)
    }
}

extension CellID {
    /// A cell of a level by column and row, counted from one in the middle of face 0.
    static func lattice(_ column: Int, _ row: Int, level: Int) -> CellID {
        let size = 1 << (30 - level), middle = 1 << 29
        return CellID(face: 0, i: UInt32(middle + column * size), j: UInt32(middle + row * size), level: level)
    }
}
