import Hereabouts
import ParallelMap

/// Where people live, cell by cell of level 11 (4 km): tells how densely the surroundings of a point are settled.
struct InhabitedLand: Sendable {
    private let positions: [SIMD3<Double>]
    private let residents: [Double]
    private let promised: [Double]
    private let grid: PointGrid

    /// "Around" a point is this far, meters.
    static let radiusMeters = 16_000.0
    /// Land with more people per km² around is inhabited.
    static let inhabitedDensity = 2.0
    private static let level = 11
    /// No point of a cell of the level is farther from its middle, meters.
    private static let halfDiagonalMeters = 3_900.0

    init(_ population: [Population]) throws {
        let cells = try parallelMap(count: population.count) { root in Self.cells(of: population[root]) }.flatMap { $0 }
        positions = cells.map { Ellipsoid.position($0.cell.center) }
        residents = cells.map(\.people.residents)
        promised = cells.map(\.people.promised)
        grid = PointGrid(positions, indices: Array(0..<Int32(positions.count)), side: 1.25 * Self.radiusMeters)
    }

    private static func cells(of population: Population) -> [(cell: CellID, people: Population.People)] {
        var cells: [(cell: CellID, people: Population.People)] = []
        var next = 0
        while next < population.cells.count {
            let cell = CellID(rawValue: population.cells[next]).parent(level: level)
            let range = population.range(of: cell)
            cells.append((cell, population.people(range)))
            next = range.upperBound
        }
        return cells
    }

    /// Promised residents within 16 km of a point, by the middles of their cells.
    func promised(around point: SIMD3<Double>) -> Double { sum(of: promised, within: Self.radiusMeters, of: point) }

    /// The sum over the cells whose middles are within a distance.
    private func sum(of people: [Double], within distance: Double, of point: SIMD3<Double>) -> Double {
        var sum = 0.0
        grid.forEach(near: point, within: distance) { index in
            if positions[index].distance(to: point) <= distance { sum += people[index] }
        }
        return sum
    }

    /// People per km² of the circle around a point, land and water.
    func density(at point: SIMD3<Double>) -> Double {
        sum(of: residents, within: Self.radiusMeters, of: point) / Self.area
    }

    /// Whether any point of a cell of level 11 or coarser may have inhabited land around it. True for all that have, and
    /// for some more: each level-11 cell's breadth is added.
    func mayBeInhabited(_ cell: CellID) -> Bool {
        // A coarser cell's middle is that much farther from those of its cells of the level.
        let steps = Double(1 << (Self.level - cell.level))
        let reach = Self.radiusMeters + Self.halfDiagonalMeters * (cell.level == Self.level ? 1 : steps + 1)
        let around = sum(of: residents, within: reach, of: Ellipsoid.position(cell.center))
        let isNear = around > Self.inhabitedDensity * Self.area
        return isNear && (cell.level == Self.level || (0..<4).contains { mayBeInhabited(cell.child($0)) })
    }

    /// Of the circle, km².
    private static let area = Double.pi * (radiusMeters / 1_000) * (radiusMeters / 1_000)
}
