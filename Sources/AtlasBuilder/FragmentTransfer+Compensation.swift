/// Parts for regions that gave some, and for fragments that get some.
extension FragmentTransfer {
    /// A region gets at most this many parts for a fragment, or for one that is told apart.
    private static let mostParts = 8, mostPartsToldApart = 32
    /// So many regions compensate each other at the most, and so many parts are tried for it at each step.
    private static let longestChain = 4, mostChains = 8
    /// What a region may lack where a fragment is told apart.
    private var mostLacking: Double { 0.05 * limits.anonymity }

    /// Makes a fragment no longer small by parts of the regions around it.
    mutating func enlarge(_ fragment: [Int32], of giver: Int, mayLack: Bool) throws -> Bool {
        let enough = min(Self.smallResidents, limits.anonymity)
        var groups = [giver: regions[giver].group]
        let isDone = fill(
            giver, in: &groups, around: { self.fragments.fragment(of: $0.parts, at: fragment[0]) }, mayLack: mayLack
        ) {
            self.fragments.residents(of: $0) >= enough
        }
        guard isDone else { return false }
        // In a region of hardly anybody it may outgrow the main one, which is the small one then.
        let before = small(of: giver).count, after = smallOnes(of: groups[giver]!.parts).count
        return try after < before && replace(groups)
    }

    /// `settle` for the region that gives a fragment, if it had K, nearly K, or is too small without it.
    func settleGiver(_ giver: Int, in groups: inout [Int: Group], mayLack: Bool) -> Bool {
        regions[giver].group.population < limits.anonymity - mostLacking
            && groups[giver]!.area >= limits.smallestCutArea
            || settle(giver, in: &groups, mayLack: mayLack)
    }

    /// Whether a region that gave something gets back the residents that it owes or, with `mayLack`, lacks few of them.
    func settle(_ giver: Int, in groups: inout [Int: Group], besides chain: [Int] = [], mayLack: Bool) -> Bool {
        if compensate(giver, in: &groups, besides: chain) { return true }
        let group = groups[giver]!
        return mayLack && group.population >= owed(by: giver, mayLack: true) && group.area >= limits.smallestCutArea
    }

    /// The residents that a region must keep: K or K/2; or, with `mayLack` and where it lacks some of them already, less those that it
    /// may lack.
    private func owed(by region: Int, mayLack: Bool) -> Double {
        let population = regions[region].group.population
        let owed = limits.obligation(of: population + mostLacking)
        return population >= owed && !mayLack ? owed : owed - mostLacking
    }

    /// Brings a region that gave a part or a fragment back to the residents that it owes and to the least area, with parts of its
    /// neighbors.
    func compensate(_ giver: Int, in groups: inout [Int: Group], besides chain: [Int] = []) -> Bool {
        let owed = owed(by: giver, mayLack: false)
        return fill(giver, in: &groups, around: \.parts, besides: chain) { members in
            members.reduce(0) { $0 + parts.population[Int($1)] } >= owed
                && members.reduce(0) { $0 + parts.area[Int($1)] } >= limits.smallestCutArea
        }
    }

    /// Gives a region parts that touch some of its own until those are enough, the nearest to its center first, as far as its circle
    /// may reach; `groups` are the regions as they would be. With `mayLack` another circle may reach farther, and a donor may lack some
    /// of the residents that it owes.
    ///
    /// A neighbor that falls short of the residents that it owes is compensated in turn, in a chain of a few; none falls below the
    /// least area, and none gets more small fragments.
    private func fill(
        _ region: Int, in groups: inout [Int: Group], around seed: (Group) -> [Int32], besides chain: [Int] = [],
        mayLack: Bool = false, until isEnough: ([Int32]) -> Bool
    ) -> Bool {
        let limit = limits.largestReach(isEmpty: false)
        for _ in 0..<(mayLack ? Self.mostPartsToldApart : Self.mostParts) {
            let group = groups[region]!, members = seed(group)
            if isEnough(members) { return true }
            var offers: [(reach: Double, part: Int32)] = []
            for part in fragments.touching(members) where mayLack || parts.population[Int(part)] > 0 {
                let reach = parts.reach(from: group.site.position, to: Int(part))
                if reach <= limit || mayLack { offers.append((reach, part)) }
            }
            offers.sort { ($0.reach, $0.part) < ($1.reach, $1.part) }
            let isGiven =
                offers.contains {
                    give($0.part, to: region, in: &groups, besides: chain, isChain: false, mayLack: mayLack)
                }
                || chain.count < Self.longestChain
                    && offers.prefix(Self.mostChains).contains {
                        give($0.part, to: region, in: &groups, besides: chain, isChain: true)
                    }
            if !isGiven { return false }
        }
        return isEnough(seed(groups[region]!))
    }

    /// Gives a part to a region if its own can do without it: as it is, or, with `isChain`, if it is compensated.
    private func give(
        _ part: Int32, to region: Int, in groups: inout [Int: Group], besides chain: [Int], isChain: Bool,
        mayLack: Bool = false
    ) -> Bool {
        let donor = owner(of: part, in: groups)
        guard donor != region, !chain.contains(donor) else { return false }
        let group = group(donor, in: groups), receiver = groups[region]!
        let isShort = group.population - parts.population[Int(part)] < owed(by: donor, mayLack: mayLack)
        guard isShort == isChain, let rest = rest(of: group, without: [part]),
            smallOnes(of: rest.parts).count <= smallOnes(of: group.parts).count,
            let union = parts.group(
                of: receiver.parts + [part], site: receiver.site, within: limits.largestReach(isEmpty: false),
                isAllowed: isAllowed)
        else { return false }
        var changed = groups
        changed[donor] = rest
        changed[region] = union
        if isChain, !compensate(donor, in: &changed, besides: chain + [region]) { return false }
        groups = changed
        return true
    }
}
