import Hereabouts

/// Points that may become centers of circles of one size, and what each circle holds.
struct CenterCandidates {
    /// Largest distance from a center to the farthest corner of its region, meters.
    let reach: Double
    private(set) var sites: [Site] = []
    /// Promised residents within reach of each.
    private(set) var within: [Double] = []
    /// For each part the most residents within reach of a candidate that reaches it.
    private(set) var most: [Double]
    private(set) var grid: PointGrid
    /// The parts within reach of each candidate, and where each candidate's begin.
    private var reached: [Int32] = []
    private var reachedStart = [0]

    /// Cells of this level, some 4 km wide, have one candidate each where the circles are of the largest size; half as wide ones
    /// where they are smaller.
    static let wideUnitLevel = 11, narrowUnitLevel = 12

    /// Points around which at least half of K live: the most populous part of each unit, and a lattice where parts are wide.
    init(_ parts: PartSet, anonymity: Double, reach: Double, unitLevel: Int) {
        self.reach = reach
        most = [Double](repeating: 0, count: parts.count)
        grid = PointGrid([], indices: [], side: reach / 2)
        let partGrid = PointGrid(parts.center, indices: Array(0..<Int32(parts.count)), side: reach / 2)
        /// The coarser cell of the last candidate, by which candidates are thinned in dense land.
        var lastUnit: UInt64 = 0
        func add(_ part: Int) {
            guard part >= 0 else { return }
            for site in [parts.sites[part]] + parts.lattice(of: part, level: unitLevel)
            where parts.isWithin(reach, of: site.position, part: part) {
                let start = reached.count
                var residents = 0.0
                partGrid.forEach(near: site.position, within: reach) { other in
                    if parts.isWithin(reach, of: site.position, part: other) {
                        reached.append(Int32(other))
                        residents += parts.population[other]
                    }
                }
                // Where so many live any center will do.
                let unit = CellID(rawValue: parts.cell[part]).rangeMin.parent(
                    level: residents < 6 * anonymity ? unitLevel : unitLevel - 1)
                let isAtSea = !parts.isLand[part] && !parts.mayBeCenter(site, of: Array(reached[start...]))
                if isAtSea || residents < anonymity / 2 || residents >= 3 * anonymity && unit.rawValue == lastUnit {
                    reached.removeSubrange(start...)
                    continue
                }
                lastUnit = unit.rawValue
                sites.append(site)
                within.append(residents)
                reachedStart.append(reached.count)
                for other in reached[start...] { most[Int(other)] = max(most[Int(other)], residents) }
            }
        }
        var unit: UInt64?, best = -1
        for part in 0..<parts.count {
            let cell = CellID(rawValue: parts.cell[part])
            let ancestor = cell.level > unitLevel ? cell.parent(level: unitLevel).rawValue : cell.rawValue
            if ancestor != unit {
                add(best)
                (unit, best) = (ancestor, part)
            } else if (parts.isLand[part] ? 1 : 0, parts.population[part])
                > (parts.isLand[best] ? 1 : 0, parts.population[best])
            {
                best = part
            }
        }
        add(best)
        grid = PointGrid(sites.map(\.position), indices: Array(0..<Int32(sites.count)), side: reach / 2)
    }

    /// The parts within reach of a candidate.
    func disc(_ candidate: Int) -> ArraySlice<Int32> { reached[reachedStart[candidate]..<reachedStart[candidate + 1]] }
}
