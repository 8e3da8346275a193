/// Parts that a circle contains, ascending: as runs of parts that follow each other, for in the order of cells most do.
struct Disc: Sequence {
    let runs: ArraySlice<Range<Int32>>

    func makeIterator() -> Iterator { Iterator(runs: runs.makeIterator()) }

    struct Iterator: IteratorProtocol {
        private var runs: IndexingIterator<ArraySlice<Range<Int32>>>
        /// What is left of the run that has begun.
        private var rest: Range<Int32> = 0..<0

        init(runs: IndexingIterator<ArraySlice<Range<Int32>>>) { self.runs = runs }

        @inline(__always)
        mutating func next() -> Int? {
            while rest.isEmpty {
                guard let run = runs.next() else { return nil }
                rest = run
            }
            defer { rest = rest.lowerBound + 1..<rest.upperBound }
            return Int(rest.lowerBound)
        }
    }
}

/// Finds the parts that circles of one radius contain. Runs of parts that lie in one cell are wholly inside of most circles or wholly
/// outside: first those of larger cells, across the edge those of cells half as wide, and only there part by part.
struct DiscSearch {
    private let parts: PartSet
    private let reach: Double
    private let blocks: [Run]
    private let units: [Run]
    private let grid: PointGrid
    private let widest: Double
    /// The blocks near a point, ascending, and that point: those after it are often close by.
    private var near: [Int] = []
    private var middle = SIMD3<Double>(repeating: .infinity)

    /// What lies in one cell.
    private struct Run {
        var parts: Range<Int>
        /// The units of a block; none of a unit.
        var units: Range<Int>
        var center: SIMD3<Double>
        /// From the center to the farthest corner of a part, meters.
        var radius: Double
        var residents: Double

        init(_ run: Range<Int>, of set: PartSet, units: Range<Int> = 0..<0) {
            let middle = run.reduce(SIMD3<Double>()) { $0 + set.center[$1] } / Double(run.count)
            (parts, self.units, center) = (run, units, middle)
            radius = run.reduce(0) { max($0, middle.distance(to: set.center[$1]) + set.radius[$1]) }
            residents = run.reduce(0) { $0 + set.population[$1] }
        }
    }

    /// `level`: of the cells that units of parts lie in; `reach`: radius of the circles, meters.
    init(_ parts: PartSet, level: Int, reach: Double) {
        self.parts = parts
        self.reach = reach
        units = parts.units(0..<parts.count, level: level).map { Run($0, of: parts) }
        var blocks: [Run] = [], unit = 0
        for run in parts.units(0..<parts.count, level: level - 1) {
            let first = unit
            while unit < units.count, units[unit].parts.lowerBound < run.upperBound { unit += 1 }
            blocks.append(Run(run, of: parts, units: first..<unit))
        }
        self.blocks = blocks
        // A block of one part is inside or not, by its middle.
        widest = blocks.reduce(0) { $1.parts.count > 1 ? max($0, $1.radius) : $0 }
        grid = PointGrid(blocks.map(\.center), indices: Array(0..<Int32(blocks.count)), side: reach / 2)
    }

    /// Appends the runs of parts within the circle about a point; the promised residents of these.
    mutating func append(around point: SIMD3<Double>, to runs: inout [Range<Int32>]) -> Double {
        let slack = reach / 3
        if !(middle.distance(to: point) <= slack) {
            middle = point
            near.removeAll(keepingCapacity: true)
            grid.forEach(near: point, within: reach + widest + slack) { block in
                let distance = point.distance(to: blocks[block].center)
                if distance - blocks[block].radius <= reach + slack { near.append(block) }
            }
            near.sort()
        }
        let start = runs.count
        var sum = 0.0
        func add(_ range: Range<Int>) {
            let (low, high) = (Int32(range.lowerBound), Int32(range.upperBound))
            if runs.count > start, runs[runs.count - 1].upperBound == low {
                runs[runs.count - 1] = runs[runs.count - 1].lowerBound..<high
            } else {
                runs.append(low..<high)
            }
        }
        for block in near {
            let distance = point.distance(to: blocks[block].center), radius = blocks[block].radius
            if distance - radius > reach { continue }
            if distance + radius <= reach {
                add(blocks[block].parts)
                for unit in blocks[block].units { sum += units[unit].residents }
                continue
            }
            for unit in blocks[block].units {
                let distance = point.distance(to: units[unit].center)
                if distance + units[unit].radius <= reach {
                    add(units[unit].parts)
                    sum += units[unit].residents
                } else if distance - units[unit].radius <= reach {
                    for part in units[unit].parts where parts.isWithin(reach, of: point, part: part) {
                        add(part..<part + 1)
                        sum += parts.population[part]
                    }
                }
            }
        }
        return sum
    }
}
