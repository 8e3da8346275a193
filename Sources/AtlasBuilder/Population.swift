import AtlasSources
import Hereabouts
import ParallelMap

/// Residents as weighted points, sorted by cell: what a cell holds is a difference of two prefix sums.
struct Population: Sendable {
    /// How many people: an estimate, and how many of them can be promised.
    struct People: Hashable, Sendable {
        var residents = 0.0, promised = 0.0

        static func += (left: inout People, right: People) {
            left.residents += right.residents
            left.promised += right.promised
        }
    }

    /// Leaf cell ids, ascending.
    private(set) var cells: [UInt64] = []
    /// Residents of all points before, and those promised, in units of 1/1024 person; one more than there are points.
    private var residents: [Int64] = [0], promised: [Int64] = [0]

    private static let unit = 1024.0

    /// The points, in ascending order of their cells.
    init(_ points: [PopulationPoint]) {
        cells.reserveCapacity(points.count)
        residents.reserveCapacity(points.count + 1)
        promised.reserveCapacity(points.count + 1)
        for point in points {
            precondition(cells.last ?? 0 <= point.cell, "points in order")
            cells.append(point.cell)
            residents.append(residents.last! + Int64((point.people.residents * Self.unit).rounded()))
            promised.append(promised.last! + Int64((point.people.promised * Self.unit).rounded()))
        }
    }

    /// Positions of the points in a cell. Logarithmic.
    func range(of cell: CellID) -> Range<Int> { cells.range(of: cell) }

    func people(_ range: Range<Int>) -> People {
        People(
            residents: Double(residents[range.upperBound] - residents[range.lowerBound]) / Self.unit,
            promised: Double(promised[range.upperBound] - promised[range.lowerBound]) / Self.unit)
    }

    /// The people among the points of a range whose leaf cells pass a test.
    func people(_ range: Range<Int>, where holds: (UInt64) -> Bool) -> People {
        var sum = People()
        for point in range where holds(cells[point]) { sum += people(point..<point + 1) }
        return sum
    }
}

/// Some people at one point.
struct PopulationPoint: Sendable {
    /// Leaf cell.
    var cell: UInt64
    var people: Population.People
}

// MARK: - Sources

extension Population {
    /// Every root's people, from a surface, or from rows of positions, whose residents are all promised; and apart the points of
    /// settlements that a list adds, in order of their cells.
    /// - Throws: `InputError`.
    static func read(_ path: String) throws -> (roots: [Population], listed: [PopulationPoint]) {
        try SurfaceReader.recognizes(path)
            ? read(SurfaceReader(path: path)) : (read(PopulationReader(path: path)), [])
    }

    private static func read(_ rows: PopulationReader) throws -> [Population] {
        var roots = [[PopulationPoint]](repeating: [], count: CellRoot.count)
        try rows.forEachChunk { samples in
            for sample in samples where sample.population > 0 {
                let cell = CellID.leaf(latitude: sample.latitude, longitude: sample.longitude)
                let people = People(residents: sample.population, promised: sample.population)
                roots[CellRoot.index(of: cell)].append(PopulationPoint(cell: cell, people: people))
            }
        }
        let points = roots
        return try parallelMap(count: points.count) { root in
            Population(
                points[root].sorted {
                    $0.cell != $1.cell ? $0.cell < $1.cell : $0.people.residents < $1.people.residents
                })
        }
    }

    /// A cell of a surface, in half the space.
    private struct PeopledCell: Sendable {
        var cell: UInt64
        var residents: Float, promised: Float
    }

    private static func read(_ surface: SurfaceReader) throws -> (roots: [Population], listed: [PopulationPoint]) {
        var listed: [PopulationPoint] = []
        var roots = [[PeopledCell]](repeating: [], count: CellRoot.count)
        func add(_ cell: CellID, _ residents: Double, _ promised: Double) {
            roots[CellRoot.index(of: cell.rawValue)].append(
                PeopledCell(cell: cell.rawValue, residents: Float(residents), promised: Float(promised)))
        }
        try surface.forEachChunk { cells in
            for cell in cells {
                let id = CellID(rawValue: cell.id)
                if cell.isListed {
                    SurfacePoints(cell).forEach { listed.append(PopulationPoint(cell: $0.rawValue, people: $1)) }
                } else if id.level >= CellRoot.level {
                    add(id, cell.residents, cell.promised)
                } else {
                    SurfacePoints(cell).forEach { add($0, $1.residents, $1.promised) }
                }
            }
        }
        let cells = roots
        let populations = try parallelMap(count: cells.count) { root in
            var points: [PopulationPoint] = []
            points.reserveCapacity(cells[root].count)
            for cell in cells[root] {
                let cell = SurfaceCell(
                    id: cell.cell, residents: Double(cell.residents), promised: Double(cell.promised))
                SurfacePoints(cell).forEach { points.append(PopulationPoint(cell: $0.rawValue, people: $1)) }
            }
            return Population(points)
        }
        return (populations, listed)
    }
}

/// The points at which the residents of a surface's cell are taken to live; `SurfaceReader` has the rule.
struct SurfacePoints {
    let cell: CellID
    /// How many times the cell is divided into four.
    private let divisions: Int
    /// The people of each point.
    private let people: Population.People

    init(_ surface: SurfaceCell) {
        cell = CellID(rawValue: surface.id)
        var divisions = 0, people = Population.People(residents: surface.residents, promised: surface.promised)
        while people.residents > SurfaceReader.residentsOfPoint,
            cell.level + divisions < SurfaceReader.finestDividedLevel
        {
            people = Population.People(residents: people.residents / 4, promised: people.promised / 4)
            divisions += 1
        }
        (self.divisions, self.people) = (divisions, people)
    }

    /// Calls `body` with each point's leaf cell, in ascending order, and its people.
    func forEach(_ body: (CellID, Population.People) -> Void) {
        var next = cell
        for _ in 0..<divisions { next = next.child(0) }
        for _ in 0..<1 << (2 * divisions) {
            let corner = next.lowerLeft, half = next.size / 2
            body(
                CellID(face: next.face, i: corner.i + half, j: corner.j + half, level: CellID.maxLevel), people)
            next = next.next
        }
    }
}
