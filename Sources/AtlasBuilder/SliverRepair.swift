/// Repairs slivers: enlarges a country's regions that are smaller than allowed, across kinds of land and sea.
///
/// A region that is too small joins the neighbor that makes the smallest circle; where every union is too wide, it
/// takes parts from neighbors that stay large enough. What is left is all its country has within reach.
struct SliverRepair {
    let parts: PartSet
    let limits: RegionLimits
    private var groups: [Group]
    private var isAlive: [Bool]
    /// The groups by where their centers were at first.
    private let grid: PointGrid

    init(parts: PartSet, limits: RegionLimits, groups: [Group]) {
        self.parts = parts
        self.limits = limits
        self.groups = groups
        isAlive = Array(repeating: true, count: groups.count)
        grid = PointGrid(
            groups.map(\.site.position), indices: Array(0..<Int32(groups.count)),
            side: limits.largestAccuracy)
    }

    private var smallestArea: Double { limits.smallestArea * 1.02 }

    func repaired() -> [Group] {
        var repair = self
        repair.run()
        return repair.groups.indices.filter { repair.isAlive[$0] }.map { repair.groups[$0] }
    }

    private mutating func run() {
        let small = groups.indices.filter { groups[$0].area < smallestArea }
        guard !small.isEmpty else { return }
        for index in small.sorted(by: { (groups[$0].area, $0) < (groups[$1].area, $1) }) {
            while isAlive[index], groups[index].area < smallestArea {
                if let (other, union) = bestUnion(of: index) {
                    groups[index] = union
                    isAlive[other] = false
                } else if !takeParts(for: index) {
                    break
                }
            }
        }
    }

    /// Largest distance from the center to a corner that a group may have.
    private func reachLimit(_ group: Group) -> Double { limits.largestReach(isEmpty: group.isEmpty) }

    private func center(_ index: Int) -> SIMD3<Double> { groups[index].site.position }

    /// Groups that may come within reach, with doubled limits for centers that have moved since.
    private func neighbors(of index: Int) -> [Int] {
        var found: [Int] = []
        grid.forEach(near: center(index), within: 2 * limits.largestEmptyAccuracy) { other in
            if other != index, isAlive[other] { found.append(other) }
        }
        return found
    }

    private func bestUnion(of index: Int) -> (Int, Group)? {
        var nearby: [(distance: Double, index: Int)] = []
        for other in neighbors(of: index) {
            let limit = limits.largestReach(isEmpty: groups[index].isEmpty && groups[other].isEmpty)
            let distance = center(index).distance(to: center(other))
            if distance <= 2 * limit { nearby.append((distance, other)) }
        }
        nearby.sort { $0 < $1 }
        var best: (Int, Group)?
        for (_, other) in nearby.prefix(8) {
            let union = Group(parts: groups[index].parts + groups[other].parts, in: parts)
            if union.reach <= reachLimit(union), union.reach < best?.1.reach ?? .infinity { best = (other, union) }
        }
        return best
    }

    /// A neighbor without some of its parts, about its old center if that stays.
    private func remainder(of donor: Int, without given: [Int32]) -> Group {
        let gone = Set(given), site = groups[donor].site
        return Group(
            parts: groups[donor].parts.filter { !gone.contains($0) }, in: parts,
            site: gone.contains(site.part) ? nil : site)
    }

    /// Takes the nearest parts of neighbors, first so that it stays empty land if it is, and so that none of them falls short.
    private mutating func takeParts(for index: Int) -> Bool {
        for isEmpty in groups[index].isEmpty ? [true, false] : [false] {
            for keepingResidents in [true, false]
            where takeParts(for: index, isEmpty: isEmpty, keepingResidents: keepingResidents) { return true }
        }
        return false
    }

    /// Takes the nearest parts of neighbors that can spare the land and the residents, as far as the circle allows; or, where they need
    /// not keep the residents, those parts that have fewest for their area.
    private mutating func takeParts(for index: Int, isEmpty: Bool, keepingResidents: Bool) -> Bool {
        let group = groups[index]
        let limit = limits.largestReach(isEmpty: isEmpty)
        let center = center(index)
        guard group.reach <= limit else { return false }
        var offers: [(price: Double, part: Int32, donor: Int)] = []
        for donor in neighbors(of: index) {
            guard self.center(donor).distance(to: center) <= limit + groups[donor].reach else { continue }
            for part in groups[donor].parts {
                let p = Int(part)
                guard !parts.isSettled[p] || !isEmpty, parts.isWithin(limit, of: center, part: p)
                else { continue }
                let price =
                    keepingResidents ? center.distance(to: parts.center[p]) : parts.population[p] / parts.area[p]
                offers.append((price, part, donor))
            }
        }
        offers.sort { ($0.price, $0.part) < ($1.price, $1.part) }
        var taken: [Int: [Int32]] = [:]
        var area = group.area
        for offer in offers where area < smallestArea {
            let given = taken[offer.donor, default: []] + [offer.part]
            let left = groups[offer.donor].area - given.reduce(0) { $0 + parts.area[Int($1)] }
            let residents = groups[offer.donor].population - given.reduce(0) { $0 + parts.population[Int($1)] }
            let least = keepingResidents ? limits.obligation(of: groups[offer.donor].population) : 0
            guard left >= smallestArea, residents >= least else { continue }
            let rest = remainder(of: offer.donor, without: given)
            guard rest.reach <= reachLimit(rest) else { continue }
            taken[offer.donor] = given
            area += parts.area[Int(offer.part)]
        }
        if taken.isEmpty { return false }
        for (donor, given) in taken.sorted(by: { $0.key < $1.key }) {
            groups[donor] = remainder(of: donor, without: given)
            groups[index] = Group(parts: groups[index].parts + given, in: parts, site: groups[index].site)
        }
        return groups[index].area >= smallestArea
    }
}
