/// How large regions may be and how many residents they must hold.
package struct RegionLimits: Sendable {
    /// Residents that every region should promise (K).
    package var anonymity: Double = 20_000
    /// Largest accuracy of a region with residents, meters.
    package var largestAccuracy: Double = 16_000
    /// Largest accuracy of a region that took a leftover (`LeftoverRepair`), meters.
    package var largestLeftoverAccuracy: Double { 1.25 * largestAccuracy }
    /// Leftovers have a smaller accuracy, meters.
    var smallLeftoverAccuracy: Double { 0.75 * largestAccuracy }
    /// Largest accuracy of a region at sea or on empty land, meters.
    package var largestEmptyAccuracy: Double = 60_000
    /// Smallest accuracy, meters.
    package var smallestAccuracy: Double = 2_000
    /// Smallest area, km².
    package var smallestArea: Double = 6
    /// How far beyond the region its circle reaches, meters, so that a device at its edge may keep it.
    package var steadiness: Double = 250

    /// What it is worth to bring one person out of a region short of residents, in meters by which the accuracies of others may
    /// grow together (`burden`).
    var rescueWorth: Double = 84_000
    /// A typical person's accuracy stays below it, meters. Those who have more lose little by still more.
    var typicalAccuracy: Double = 6_000
    /// What a meter above it counts where others are rescued for it.
    private static let weightAboveTypical = 0.1

    package init() {}

    /// The residents that a region of so many must keep: K, or K/2 where it falls short, or none where it is short of that.
    func obligation(of population: Double) -> Double {
        population >= anonymity ? anonymity : population >= anonymity / 2 ? anonymity / 2 : 0
    }

    /// Largest distance from a center to the farthest corner of a region, meters. Two meters are for the difference
    /// between chord and geodesic, the rest for rounding the center and the accuracy.
    func largestReach(isEmpty: Bool) -> Double {
        reach(ofAccuracy: isEmpty ? largestEmptyAccuracy : largestAccuracy)
    }

    /// The same for a region of an accuracy, meters.
    func reach(ofAccuracy accuracy: Double) -> Double { accuracy - steadiness - 5 }

    /// The accuracy of a region of so many meters from center to farthest corner, before it is rounded.
    func accuracy(ofReach reach: Double) -> Double { max(smallestAccuracy, reach + steadiness) }

    /// What is published of a region whose center is so many meters, along a straight line, from its farthest corner. Two meters are
    /// for what lies between corners: cell sides and borders bulge by less (see `CutCellBuilder`).
    func publishedAccuracy(ofReach reach: Double) -> Double {
        max(smallestAccuracy, ((Ellipsoid.geodesic(overChord: reach) + 2 + steadiness) / 10).rounded(.up) * 10)
    }

    /// A little above the limit, so that parts' areas, summed in another way, are still above it; km².
    var smallestCutArea: Double { smallestArea * 1.02 }

    /// What a circle costs a person in it where others are rescued for it, meters: its accuracy, or little less than the largest.
    func burden(ofReach reach: Double) -> Double {
        let accuracy = accuracy(ofReach: reach)
        return accuracy <= typicalAccuracy
            ? accuracy : largestAccuracy - Self.weightAboveTypical * (largestAccuracy - accuracy)
    }
}

/// A region as it grows.
struct Group: Sendable {
    var parts: [Int32]
    /// The center.
    var site: Site
    /// Meters from the center to the farthest corner.
    var reach: Double
    /// Promised residents.
    var population: Double
    /// km².
    var area: Double
    /// Whether none of it is settled: only then may it be larger than a region with residents.
    let isEmpty: Bool

    /// A region of the parts, about the best center found, or about `site` where that may be the center and is better.
    init(parts members: [Int32], in set: PartSet, site: Site? = nil) {
        parts = members
        (self.site, reach) = set.bestSite(of: members)
        if let site, set.mayBeCenter(site, of: members) {
            let reach = set.reach(from: site.position, to: members)
            if reach < self.reach { (self.site, self.reach) = (site, reach) }
        }
        (population, area, isEmpty) = Self.sums(members, in: set)
    }

    /// A region of the parts about a site of one of them.
    init(parts members: [Int32], in set: PartSet, about site: Site) {
        (parts, self.site, reach) = (members, site, set.reach(from: site.position, to: members))
        (population, area, isEmpty) = Self.sums(members, in: set)
    }

    private static func sums(
        _ members: [Int32], in set: PartSet
    ) -> (population: Double, area: Double, isEmpty: Bool) {
        let population = members.reduce(0) { $0 + set.population[Int($1)] }
        let area = members.reduce(0) { $0 + set.area[Int($1)] }
        return (population, area, !members.contains { set.isSettled[Int($0)] })
    }
}

/// Divides the parts of one country and kind into regions.
///
/// 1. `coverPeople`: circles of several sizes, up to the largest allowed, that get K residents each, or K/2 where K cannot be had,
///    and reach as many people as possible (`CenterChoice`); what they do not reach is covered with as few circles as possible.
///    Empty land and sea are covered in that way alone (`cover`).
/// 2. `pack`: further circles where people live densely, the tightest that hold K first.
/// 3. `balance`: neighbors share their parts out anew where that makes the circles of the two smaller.
/// 4. `recut`: long regions are cut anew together with a neighbor.
/// 5. `refine`: people move from regions that stay short to any whose circle can hold them, and outlying parts to the
///    regions that they widen least.
/// 6. `dissolve`: regions with fewer than K/2 are given up where those around them can hold all of theirs.
/// 7. `alignToCells`: borders follow coarser cells where that costs nothing.
/// 8. `repair`: what is too small or still too thin joins a neighbor wherever the circle allows.
struct Partition {
    let parts: PartSet
    let limits: RegionLimits
    /// Largest distance from center to corner, meters.
    let reachLimit: Double
    var groups: [Group] = []
    /// Estimated residents for whom no circle of the largest size, about any center that was tried, holds K in whole parts.
    private(set) var unreachable = 0.0

    /// Where circles cover land by its area, cells of this level, some 4.5 km wide, have one candidate each.
    private static let unitLevel = 11

    private var anonymity: Double { limits.anonymity }

    /// The parts divided into regions, in a fixed order.
    init(dividing parts: PartSet, limits: RegionLimits, isEmpty: Bool) {
        self.init(parts: parts, limits: limits, reachLimit: limits.largestReach(isEmpty: isEmpty))
        guard parts.count > 0 else { return }
        if isEmpty {
            run("cover") { $0.cover() }
        } else {
            run("choose") { $0.coverPeople() }
            run("pack") { $0.pack() }
            run("balance") { $0.balance() }
            run("recut") { $0.recut() }
            run("refine") { $0.refine() }
            run("dissolve") { $0.dissolve() }
        }
        run("align") { $0.alignToCells() }
        run("repair") { $0.repair() }
    }

    /// Runs a pass, and in debug builds asserts what must hold after each.
    private mutating func run(_ name: StaticString, _ pass: (inout Partition) -> Void) {
        pass(&self)
        checkInvariants(after: name)
    }

    init(parts: PartSet, limits: RegionLimits, reachLimit: Double) {
        self.parts = parts
        self.limits = limits
        self.reachLimit = reachLimit
    }

    func makeGroup(_ members: [Int32], site: Site? = nil) -> Group { Group(parts: members, in: parts, site: site) }

    func center(of group: Group) -> SIMD3<Double> { group.site.position }

    // MARK: Cover

    /// Circles of K residents that cover as many people as possible; the rest by area.
    private mutating func coverPeople() {
        var choice = CenterChoice(parts: parts, limits: limits, reach: reachLimit)
        unreachable = choice.unreachableResidents
        let (chosen, rest) = choice.choose()
        groups = chosen.flatMap { fitting($0.parts, site: $0.site) }
        guard !rest.isEmpty else { return }
        var others = Partition(parts: parts.subset(rest), limits: limits, reachLimit: reachLimit)
        others.cover()
        groups += others.groups.map { group in
            var group = group
            group.parts = group.parts.map { rest[Int($0)] }
            group.site.part = rest[Int(group.site.part)]
            return group
        }
        joinShortNeighbors()
    }

    private mutating func cover() {
        var centers = seeds()
        var owner = nearestOwners(centers)
        for round in 0..<3 {
            for _ in 0..<2 {
                centers = recentered(centers, owner: owner)
                owner = nearestOwners(centers)
            }
            if round < 2 {
                centers = withoutSpareCenters(centers, owner: owner)
                owner = nearestOwners(centers)
            }
        }
        groups = zip(members(of: owner, count: centers.count), centers).flatMap { fitting($0, site: $1) }
    }

    /// A group of the members about a site; those that no circle about its center holds are in groups of their own.
    private func fitting(_ members: [Int32], site: Site?) -> [Group] {
        guard !members.isEmpty else { return [] }
        let group = makeGroup(members, site: site)
        guard group.reach > reachLimit, members.count > 1 else { return [group] }
        func isNear(_ part: Int32) -> Bool { parts.isWithin(reachLimit, of: group.site.position, part: Int(part)) }
        // A part too wide for any circle stands alone.
        guard isNear(group.site.part) else {
            return [makeGroup([group.site.part])] + fitting(members.filter { $0 != group.site.part }, site: nil)
        }
        return fitting(members.filter(isNear), site: group.site) + fitting(members.filter { !isNear($0) }, site: nil)
    }

    private func members(of owner: [Int32], count: Int) -> [[Int32]] {
        var members = [[Int32]](repeating: [], count: count)
        for part in 0..<parts.count { members[Int(owner[part])].append(Int32(part)) }
        return members
    }

    /// Greedy cover: the first part not yet covered gets the circle that covers it and most other uncovered land.
    private func seeds() -> [Site] {
        // One part stands for each unit.
        let runs = parts.units(0..<parts.count, level: Self.unitLevel), units = runs.map { Int32($0.lowerBound) }
        var areaOfUnit = [Double](repeating: 0, count: parts.count)
        for run in runs { areaOfUnit[run.lowerBound] = run.reduce(0) { $0 + parts.area[$1] } }
        let unitGrid = PointGrid(parts.sites.map(\.position), indices: units, side: reachLimit / 2)
        let partGrid = PointGrid(parts.center, indices: Array(0..<Int32(parts.count)), side: reachLimit / 2)
        var isCovered = [Bool](repeating: false, count: parts.count)
        var centers: [Site] = []
        func place(_ center: Int32) {
            centers.append(parts.sites[Int(center)])
            let site = parts.sites[Int(center)].position
            partGrid.forEach(near: site, within: reachLimit) { part in
                if !isCovered[part], parts.isWithin(reachLimit, of: site, part: part) { isCovered[part] = true }
            }
        }
        let counted = reachLimit * 0.9
        for first in 0..<parts.count where !isCovered[first] {
            var best = Int32(first), bestGain = -1.0
            unitGrid.forEach(near: parts.center[first], within: reachLimit) { unit in
                let site = parts.sites[unit].position
                guard parts.isWithin(reachLimit, of: site, part: first) else { return }
                var gain = 0.0
                unitGrid.forEach(near: site, within: counted) { other in
                    if !isCovered[other], site.distance(to: parts.sites[other].position) <= counted {
                        gain += areaOfUnit[other]
                    }
                }
                if gain > bestGain { (best, bestGain) = (Int32(unit), gain) }
            }
            place(best)
            // A part too wide for any circle stands alone.
            isCovered[first] = true
        }
        return centers
    }

    /// For every part the nearest center whose circle contains it.
    private func nearestOwners(_ centers: [Site]) -> [Int32] {
        let sites = centers.map(\.position)
        let grid = PointGrid(sites, indices: Array(0..<Int32(sites.count)), side: reachLimit)
        var own = [Int32](repeating: -1, count: parts.count)
        for (index, center) in centers.enumerated() { own[Int(center.part)] = Int32(index) }
        var owner = [Int32](repeating: -1, count: parts.count)
        for part in 0..<parts.count {
            if own[part] >= 0 {
                owner[part] = own[part]
                continue
            }
            var nearest = Double.infinity
            grid.forEach(near: parts.center[part], within: reachLimit) { index in
                let d = sites[index].distance(to: parts.center[part])
                if d < nearest, parts.isWithin(reachLimit, of: sites[index], part: part) {
                    (nearest, owner[part]) = (d, Int32(index))
                }
            }
        }
        return adoptingStrays(owner, sites: sites, grid: grid)
    }

    /// Parts that no circle contains (wider than the limit, or left behind by a moved center) go to the nearest.
    private func adoptingStrays(_ owner: [Int32], sites: [SIMD3<Double>], grid: PointGrid) -> [Int32] {
        var owner = owner
        for part in 0..<parts.count where owner[part] < 0 {
            var nearest = Double.infinity
            var search = reachLimit
            while owner[part] < 0 {
                grid.forEach(near: parts.center[part], within: search) { index in
                    let d = sites[index].distance(to: parts.center[part])
                    if d < nearest { (nearest, owner[part]) = (d, Int32(index)) }
                }
                search *= 2
            }
        }
        return owner
    }

    private func recentered(_ centers: [Site], owner: [Int32]) -> [Site] {
        var moved = centers
        for (index, members) in members(of: owner, count: centers.count).enumerated() where !members.isEmpty {
            let best = parts.bestSite(of: members)
            if best.reach <= reachLimit { moved[index] = best.site }
        }
        return moved
    }

    /// Drops centers, smallest first, whose parts other circles contain.
    private func withoutSpareCenters(_ centers: [Site], owner: [Int32]) -> [Site] {
        let sites = centers.map(\.position)
        let grid = PointGrid(sites, indices: Array(0..<Int32(sites.count)), side: reachLimit)
        var members = members(of: owner, count: centers.count)
        let weight = members.map { $0.reduce(0.0) { $0 + parts.area[Int($1)] } }
        var isKept = [Bool](repeating: true, count: centers.count)
        for index in (0..<centers.count).sorted(by: { weight[$0] != weight[$1] ? weight[$0] < weight[$1] : $0 < $1 }) {
            isKept[index] = false
            var heirs: [Int] = []
            for part in members[index] {
                var heir = -1, nearest = Double.infinity
                grid.forEach(near: parts.center[Int(part)], within: reachLimit) { other in
                    let d = sites[other].distance(to: parts.center[Int(part)])
                    if isKept[other], d < nearest, parts.isWithin(reachLimit, of: sites[other], part: Int(part)) {
                        (heir, nearest) = (other, d)
                    }
                }
                if heir < 0 { break }
                heirs.append(heir)
            }
            if heirs.count < members[index].count {
                isKept[index] = true
            } else {
                for (part, heir) in zip(members[index], heirs) { members[heir].append(part) }
            }
        }
        return centers.indices.filter { isKept[$0] }.map { centers[$0] }
    }
}
