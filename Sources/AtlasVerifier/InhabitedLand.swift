import AtlasFormat
import ParallelMap

/// Which land is inhabited: more than two people per km² within 16 km around a point, land and water (contract C5).
///
/// Residents are taken to live at the middles of cells of level 11 (4 km).
struct InhabitedLand: Sendable {
    static let level = 11
    private let residents: [Double]
    private let positions: [SIMD3<Double>]
    private let grid: CenterGrid
    /// Level-9 cells in which somebody lives.
    private let peopled: Set<Quad>

    private static let radiusMeters = 16_000.0
    /// Two per km² of the circle.
    private static let fewest = 2 * Double.pi * 16 * 16
    /// No point of a level-11 cell is farther from its middle, meters.
    private static let halfDiagonalMeters = 3_900.0

    /// Residents by cell of level 11, and those of the cells that count for settled.
    init(_ byCell: [Quad: Double], settled: some Sequence<Quad>) {
        let cells = byCell.sorted { $0.key.bits < $1.key.bits }
        residents = cells.map(\.value)
        positions = cells.map { EarthCentered.position($0.key.position(x: 0.5, y: 0.5)) }
        grid = CenterGrid(positions: positions, regions: Array(cells.indices), side: 20_000)
        peopled = Set(settled.map { $0.ancestor(level: 9) })
    }

    private func residents(within meters: Double, of cell: Quad) -> Double {
        let middle = EarthCentered.position(cell.position(x: 0.5, y: 0.5))
        return grid.regions(within: meters, of: middle).reduce(0) { $0 + residents[$1] }
    }

    /// The level-11 cells of a cell, or the one that it lies in, but for those that are certainly farther than a distance
    /// from as many residents as inhabited land has around it.
    private func cells(of quad: Quad, within meters: Double) -> [Quad] {
        guard quad.level < Self.level else { return [quad.ancestor(level: Self.level)] }
        let halfDiagonal = Self.halfDiagonalMeters * Double(1 << (Self.level - quad.level))
        guard residents(within: meters + halfDiagonal, of: quad) > Self.fewest else { return [] }
        return quad.quarters.flatMap { cells(of: $0, within: meters) }
    }

    /// Middles of level-11 cells within a cell that have inhabited land around them.
    func inhabitedMiddles(of quad: Quad) -> [Position] {
        cells(of: quad, within: Self.radiusMeters).filter {
            residents(within: Self.radiusMeters, of: $0) > Self.fewest
        }.map { $0.position(x: 0.5, y: 0.5) }
    }

    /// Whether a builder may take the land of a cell for settled: in its level-9 cell somebody lives, or any point may
    /// have inhabited land around it.
    func mayBeSettled(_ quad: Quad) -> Bool {
        if quad.level < 9 { return quad.quarters.contains { mayBeSettled($0) } }
        let around = quad.ancestor(level: 9), reach = Self.radiusMeters + Self.halfDiagonalMeters
        return peopled.contains(around)
            || cells(of: around, within: reach).contains {
                residents(within: reach, of: $0) > Self.fewest
            }
    }
}

extension Quad {
    fileprivate var quarters: [Quad] {
        [(0, 0), (0, 1), (1, 0), (1, 1)].map { x, y in
            Quad(face: face, i: i + x * size / 2, j: j + y * size / 2, level: level + 1)
        }
    }
}
