/// Joins regions that are short of residents with whole neighbours, where the circle about the centre that one of the two
/// will publish holds both: after this no short region could grow by a neighbour without moving its centre.
struct CenterJoiner {
    let parts: PartSet
    let limits: RegionLimits
    /// Regions already seen to fit no neighbour, by the part of their site; their neighbours only grow.
    private var hopeless: Set<Int32> = []

    init(parts: PartSet, limits: RegionLimits) {
        self.parts = parts
        self.limits = limits
    }

    /// Two regions, by position, and what they make together.
    struct Pair {
        var first: Int, second: Int
        var union: Group
    }

    /// Leaves a region as it is from now on.
    mutating func giveUp(on group: Group) { hopeless.insert(group.site) }

    /// Pairs to join, no region in two of them; nil where none fits.
    mutating func pairs(of regions: [(group: Group, center: SIMD3<Double>)]) -> [Pair]? {
        let grid = PointGrid(
            regions.map(\.center), indices: Array(0..<Int32(regions.count)), side: limits.largestAccuracy)
        var pairs: [Pair] = []
        var isTaken = [Bool](repeating: false, count: regions.count)
        for index in regions.indices where regions[index].group.population < limits.anonymity && !isTaken[index] {
            guard !hopeless.contains(regions[index].group.site) else { continue }
            var best: (distance: Double, index: Int)?
            var wasBlocked = false
            let limit = reachLimit(regions[index].group)
            grid.forEach(near: regions[index].center, within: 2 * limit) { other in
                guard other != index, isAlike(regions[index].group, regions[other].group) else { return }
                let d = regions[index].center.distance(to: regions[other].center)
                guard d < best?.distance ?? .infinity, fits(regions[index], regions[other], limit) else { return }
                if isTaken[other] { wasBlocked = true } else { best = (d, other) }
            }
            if let best {
                let a = regions[index], b = regions[best.index]
                let site = fitsAbout(a.center, a.group, b.group, limit) ? a.group.site : b.group.site
                let union = Group(parts: a.group.parts + b.group.parts, in: parts, site: site)
                pairs.append(Pair(first: index, second: best.index, union: union))
                isTaken[index] = true
                isTaken[best.index] = true
            } else if !wasBlocked {
                hopeless.insert(regions[index].group.site)
            }
        }
        return pairs.isEmpty ? nil : pairs
    }

    private func reachLimit(_ group: Group) -> Double {
        (group.population > 0 ? limits.largestAccuracy : limits.largestEmptyAccuracy) - limits.steadiness - 5
    }

    /// Settled joins settled; what is empty joins its like, land or sea.
    private func isAlike(_ a: Group, _ b: Group) -> Bool {
        (a.population > 0) == (b.population > 0)
            && (a.population > 0 || parts.isLand[Int(a.site)] == parts.isLand[Int(b.site)])
    }

    private func fits(
        _ a: (group: Group, center: SIMD3<Double>), _ b: (group: Group, center: SIMD3<Double>), _ limit: Double
    ) -> Bool {
        fitsAbout(a.center, a.group, b.group, limit) || fitsAbout(b.center, a.group, b.group, limit)
    }

    private func fitsAbout(_ center: SIMD3<Double>, _ a: Group, _ b: Group, _ limit: Double) -> Bool {
        (a.parts + b.parts).allSatisfy { parts.isWithin(limit, of: center, part: Int($0)) }
    }
}
