/// Fragments that several regions take, part by part.
extension FragmentTransfer {
    /// So many parts are handed out at the most, and so many other centers are tried for a region that is to take a part.
    private static let mostHandedOut = 16, mostCenters = 3

    /// Gives a fragment to regions that promise so many then, each of its parts to one around it; with `mayMakeRoom`, after these
    /// have given up others where they must.
    mutating func handOut(
        _ fragment: [Int32], of giver: Int, promising promised: Double, mayMakeRoom: Bool, mayLack: Bool = false
    ) throws -> Bool {
        let group = regions[giver].group
        guard fragment.count <= Self.mostHandedOut, let rest = rest(of: group, without: fragment, mayBeSmall: true)
        else { return false }
        var groups = [giver: rest]
        guard handOut(fragment, in: &groups, promising: promised, besides: [giver], mayMakeRoom: mayMakeRoom),
            settleGiver(giver, in: &groups, mayLack: mayLack)
        else { return false }
        let before = groups.keys.reduce(0) { $0 + small(of: $1).count }
        let after = groups.values.reduce(0) { $0 + smallOnes(of: $1.parts).count }
        return try after < before && replace(groups)
    }

    /// Gives parts that no region has any more to some that touch them, each to the one whose residents lose least accuracy by it;
    /// `groups` are the regions as they would be.
    private func handOut(
        _ given: [Int32], in groups: inout [Int: Group], promising promised: Double, besides chain: [Int],
        mayMakeRoom: Bool
    ) -> Bool {
        let limit = limits.largestReach(isEmpty: false)
        var left = given
        while !left.isEmpty {
            var best: (cost: Double, part: Int32, taker: Int)?
            for part in left {
                for taker in takers(of: [part], in: groups, promising: promised, besides: chain) {
                    let group = group(taker, in: groups)
                    guard parts.isWithin(limit, of: group.site.position, part: Int(part)) else { continue }
                    let reach = max(group.reach, parts.reach(from: group.site.position, to: Int(part)))
                    let cost = (reach - group.reach) * group.population
                    if cost < best?.cost ?? .infinity { best = (cost, part, taker) }
                }
            }
            if let best {
                let group = group(best.taker, in: groups)
                groups[best.taker] = Group(parts: group.parts + [best.part], in: parts, site: group.site)
                left.removeAll { $0 == best.part }
            } else if mayMakeRoom,
                let taken = makeRoom(for: left, in: &groups, promising: promised, besides: chain)
            {
                left.removeAll { taken.contains($0) }
            } else {
                return false
            }
        }
        return true
    }

    /// Moves a region's circle so that it holds some of the parts, and hands out those of its own that it does not hold any more;
    /// the parts that it took.
    private func makeRoom(
        for left: [Int32], in groups: inout [Int: Group], promising promised: Double, besides chain: [Int]
    ) -> [Int32]? {
        let limit = limits.largestReach(isEmpty: false)
        let choices = left.count > 1 ? [left] + left.map { [$0] } : [left]
        for wanted in choices {
            let around = Set(
                wanted.flatMap { takers(of: [$0], in: groups, promising: promised, besides: chain) })
            for taker in around.sorted() {
                let group = group(taker, in: groups)
                var offers: [(promised: Double, site: Site, given: [Int32])] = []
                for part in group.parts {
                    let site = parts.sites[Int(part)]
                    guard parts.mayBeCenter(site, of: group.parts),
                        parts.reach(from: site.position, to: wanted) <= limit
                    else { continue }
                    let given = group.parts.filter { !parts.isWithin(limit, of: site.position, part: Int($0)) }
                    guard given.count <= Self.mostHandedOut else { continue }
                    offers.append((given.reduce(0) { $0 + parts.population[Int($1)] }, site, given))
                }
                offers.sort {
                    ($0.promised, $0.given.count, $0.site.part) < ($1.promised, $1.given.count, $1.site.part)
                }
                for offer in offers.prefix(Self.mostCenters) {
                    guard let rest = rest(of: group, without: offer.given) else { continue }
                    let moved = Group(parts: rest.parts + wanted, in: parts, site: offer.site)
                    let promised = min(limits.anonymity, group.population)
                    var changed = groups
                    changed[taker] = moved
                    guard moved.reach <= limit,
                        handOut(
                            offer.given, in: &changed, promising: promised, besides: chain + [taker],
                            mayMakeRoom: false),
                        compensate(taker, in: &changed, besides: chain)
                    else { continue }
                    groups = changed
                    return wanted
                }
            }
        }
        return nil
    }
}
