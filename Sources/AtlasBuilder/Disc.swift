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

/// Finds the parts that circles of one radius contain. Units of parts that lie in one cell are wholly inside of most circles or
/// wholly outside; only those across the edge are looked at part by part.
struct DiscSearch {
    private let parts: PartSet
    private let reach: Double
    private let units: [Range<Int>]
    private let centers: [SIMD3<Double>]
    /// From a unit's center to the farthest corner of its parts, meters.
    private let radii: [Double]
    private let residents: [Double]
    private let grid: PointGrid
    private let widest: Double
    private var near: [Int] = []

    /// `units`: runs of parts; `reach`: radius of the circles, meters.
    init(_ parts: PartSet, units: [Range<Int>], reach: Double) {
        self.parts = parts
        self.reach = reach
        self.units = units
        let centers = units.map { unit in
            unit.reduce(SIMD3<Double>()) { $0 + parts.center[$1] } / Double(unit.count)
        }
        self.centers = centers
        radii = zip(units, centers).map { unit, center in
            unit.reduce(0) { max($0, center.distance(to: parts.center[$1]) + parts.radius[$1]) }
        }
        residents = units.map { unit in unit.reduce(0) { $0 + parts.population[$1] } }
        // A unit of one part is inside or not, by its middle.
        widest = zip(units, radii).reduce(0) { $1.0.count > 1 ? max($0, $1.1) : $0 }
        grid = PointGrid(centers, indices: Array(0..<Int32(units.count)), side: reach / 2)
    }

    /// Appends the runs of parts within the circle about a point; the promised residents of these.
    mutating func append(around point: SIMD3<Double>, to runs: inout [Range<Int32>]) -> Double {
        near.removeAll(keepingCapacity: true)
        grid.forEach(near: point, within: reach + widest) { unit in
            if point.distance(to: centers[unit]) - radii[unit] <= reach { near.append(unit) }
        }
        near.sort()
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
        for unit in near {
            let distance = point.distance(to: centers[unit])
            if distance + radii[unit] <= reach {
                add(units[unit])
                sum += residents[unit]
            } else {
                for part in units[unit] where parts.isWithin(reach, of: point, part: part) {
                    add(part..<part + 1)
                    sum += parts.population[part]
                }
            }
        }
        return sum
    }
}
