/// Joins regions that are short of residents with whole neighbors, where a circle about the center that one of the two
/// will publish, or about any other point that may be a center, holds both.
struct CenterJoiner {
    let parts: PartSet
    let limits: RegionLimits
    /// Whether a site may be the center, of a region that holds land or not, though it is none that its part was given.
    let isAllowed: (_ site: Site, _ hasLand: Bool) -> Bool
    /// Regions already seen to fit no neighbor, by the part of their site: while regions only join, neighbors only grow.
    private var hopeless: Set<Int32> = []

    init(parts: PartSet, limits: RegionLimits, isAllowed: @escaping (_ site: Site, _ hasLand: Bool) -> Bool) {
        self.parts = parts
        self.limits = limits
        self.isAllowed = isAllowed
    }

    typealias Region = (group: Group, center: SIMD3<Double>)

    /// Two regions, by position, and what they make together.
    struct Pair {
        var first: Int, second: Int
        var union: Group
    }

    /// Leaves a region as it is from now on.
    mutating func giveUp(on group: Group) { hopeless.insert(group.site.part) }

    /// Tries regions anew that may reach one of those about `changed`, which have become smaller or others.
    mutating func reconsider(_ regions: [Region], near changed: [SIMD3<Double>]) {
        let reach = 2 * limits.largestReach(isEmpty: false)
        let grid = PointGrid(changed, indices: Array(0..<Int32(changed.count)), side: reach)
        for region in regions where hopeless.contains(region.group.site.part) {
            var isNear = false
            grid.forEach(near: region.center, within: reach) {
                isNear = isNear || region.center.distance(to: changed[$0]) <= reach
            }
            if isNear { hopeless.remove(region.group.site.part) }
        }
    }

    /// Pairs to join, no region in two of them; nil where none fits.
    mutating func pairs(of regions: [Region]) -> [Pair]? {
        // Apart, because the one kind is looked for nearer than the other.
        let settled = grid(of: regions, areEmpty: false), empty = grid(of: regions, areEmpty: true)
        var pairs: [Pair] = []
        var isTaken = [Bool](repeating: false, count: regions.count)
        for index in regions.indices where regions[index].group.population < limits.anonymity && !isTaken[index] {
            guard !hopeless.contains(regions[index].group.site.part) else { continue }
            var partners: [(distance: Double, index: Int)] = []
            let isEmpty = regions[index].group.isEmpty
            let limit = limits.largestReach(isEmpty: isEmpty)
            let alike = isEmpty ? empty : settled
            alike.forEach(near: regions[index].center, within: 2 * limit) { other in
                guard other != index, isAlike(regions[index].group, regions[other].group) else { return }
                partners.append((regions[index].center.distance(to: regions[other].center), other))
            }
            partners.sort { $0 < $1 }
            var wasBlocked = false
            for (_, other) in partners {
                guard let union = union(regions[index], regions[other], limit) else { continue }
                if isTaken[other] {
                    wasBlocked = true
                    continue
                }
                pairs.append(Pair(first: index, second: other, union: union))
                isTaken[index] = true
                isTaken[other] = true
                break
            }
            if !isTaken[index], !wasBlocked { hopeless.insert(regions[index].group.site.part) }
        }
        return pairs.isEmpty ? nil : pairs
    }

    private func grid(of regions: [Region], areEmpty: Bool) -> PointGrid {
        let members = regions.indices.filter { regions[$0].group.isEmpty == areEmpty }
        return PointGrid(
            regions.map(\.center), indices: members.map { Int32($0) }, side: limits.largestReach(isEmpty: areEmpty))
    }

    /// Whether two regions that are both settled or both empty may join: what is empty joins its like, land or sea.
    private func isAlike(_ a: Group, _ b: Group) -> Bool {
        !a.isEmpty || parts.isLand[Int(a.site.part)] == parts.isLand[Int(b.site.part)]
    }

    /// Both regions as one; nil where no circle allowed holds them.
    private func union(_ a: Region, _ b: Region, _ limit: Double) -> Group? {
        let members = a.group.parts + b.group.parts
        if parts.isWider(members, than: 2 * limit, along: b.center - a.center) { return nil }
        for region in [a, b] where parts.mayBeCenter(region.group.site, of: members) {
            guard members.allSatisfy({ parts.isWithin(limit, of: region.center, part: Int($0)) }) else { continue }
            return Group(parts: members, in: parts, site: region.group.site)
        }
        return parts.group(of: members, within: limit, isAllowed: isAllowed)
    }
}
