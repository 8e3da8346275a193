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
    /// The parts within reach of each candidate, and where each candidate's runs begin.
    private var runs: [Range<Int32>] = []
    private var runStart = [0]

    /// Cells of this level, some 2 km wide, have one candidate each, and where K is hard to reach cells half as wide.
    private static let unitLevel = 12
    /// There the best circles of the wider cells hold so many times K.
    private static let hard = 0.7...1.1

    /// Points around which at least half of K live: the most populous part of each unit, and a lattice where parts are wide. Where a
    /// circle holds three times K, cells of `thinLevel` have one each, and where it holds six times K the next larger ones.
    init(_ parts: PartSet, anonymity: Double, reach: Double, thinLevel: Int) {
        self.reach = reach
        most = [Double](repeating: 0, count: parts.count)
        grid = PointGrid([], indices: [], side: reach / 2)
        let units = parts.units(0..<parts.count, level: Self.unitLevel)
        var search = DiscSearch(parts, level: Self.unitLevel, reach: reach)
        /// The coarser cell of the last candidate, by which candidates are thinned in dense land.
        var lastUnit: UInt64 = 0
        /// Adds a site if enough live around it; how many do.
        func add(_ site: Site) -> Double {
            let part = Int(site.part), start = runs.count
            guard parts.isWithin(reach, of: site.position, part: part) else { return 0 }
            let residents = search.append(around: site.position, to: &runs)
            // Where so many live any center will do.
            let unit = CellID(rawValue: parts.cell[part]).rangeMin.parent(
                level: residents < 6 * anonymity ? thinLevel : thinLevel - 1)
            let isAtSea = !parts.isLand[part] && Disc(runs: runs[start...]).contains { parts.isLand[$0] }
            if isAtSea || residents < anonymity / 2 || residents >= 3 * anonymity && unit.rawValue == lastUnit {
                runs.removeSubrange(start...)
                return isAtSea ? 0 : residents
            }
            lastUnit = unit.rawValue
            sites.append(site)
            within.append(residents)
            runStart.append(runs.count)
            for other in Disc(runs: runs[start...]) { most[other] = max(most[other], residents) }
            return residents
        }
        for unit in units {
            let best = Self.mostPopulous(of: parts, unit)
            var residents = add(parts.sites[best])
            for site in parts.lattice(of: best, level: Self.unitLevel) { residents = max(residents, add(site)) }
            guard Self.hard.contains(residents / anonymity) else { continue }
            for finer in parts.units(unit, level: Self.unitLevel + 1) {
                let part = Self.mostPopulous(of: parts, finer)
                if part != best { _ = add(parts.sites[part]) }
                for site in parts.lattice(of: part, level: Self.unitLevel + 1) { _ = add(site) }
            }
        }
        grid = PointGrid(sites.map(\.position), indices: Array(0..<Int32(sites.count)), side: reach / 2)
    }

    /// The part with most promised residents; one with land before one without.
    private static func mostPopulous(of parts: PartSet, _ range: Range<Int>) -> Int {
        func rank(_ part: Int) -> (Int, Double) { (parts.isLand[part] ? 1 : 0, parts.population[part]) }
        return range.reduce(range.lowerBound) { rank($1) > rank($0) ? $1 : $0 }
    }

    /// The parts within reach of a candidate.
    func disc(_ candidate: Int) -> Disc { Disc(runs: runs[runStart[candidate]..<runStart[candidate + 1]]) }
}
