import HeapModule

/// Gives small fragments of regions to the regions around them: few people in a place apart from the rest of their
/// region hide nobody, for a neighbor that touches only them tells them from the rest (contract C7).
///
/// A fragment is small if it is not its region's main one and has fewer than 1,000 residents, or than K where that is
/// less. It goes to a region of the same country
/// - that touches it with its main fragment, or with one that has residents enough not to be small;
/// - whose center, as it is or the best it could have, is near enough to all of it;
/// - and that then promises as many residents as its region did, or K.
///
/// The region that gives it keeps K residents, if it had them, or gets them back from its neighbors, and keeps the
/// smallest area. Of several that could take it the one does whose residents lose least accuracy.
///
/// A fragment that no single region can take goes to several around it, part by part. One that they cannot take either is
/// connected with the rest of its region: that one gets the parts between, of regions that keep K or K/2 without them and come
/// into no small fragments by it. Where there is no such way either, the fragment gets parts of the regions around it until it is no
/// longer small; or a region whose circle does not hold it moves its center, and gives up parts of its own on the far side.
///
/// A fragment that some region tells apart, for it touches that one and nothing else of its region, hides nobody by what its
/// region promises. Where nothing else helps the region gets a way to those that tell, so that they touch the rest of it too; or the
/// fragment goes to regions that promise less. At last even if someone then lacks a twentieth of K: that is a little for some, and a
/// fragment that is told apart has nothing. Then it is also made larger by more parts, about any center.
struct FragmentTransfer {
    typealias Region = (group: Group, record: RegionRecord)

    private let fragments: Fragments
    private let limits: RegionLimits
    /// The record of a region that changed; nil where none is allowed.
    private let record: (Group) throws -> RegionRecord?
    /// Whether a site may be the center, of a region that holds land or not, though it is none that its part was given.
    private let isAllowed: (_ site: Site, _ hasLand: Bool) -> Bool
    private(set) var regions: [Region]
    /// By part, its region.
    private var owner: [Int32]
    /// Regions known to have no small fragment, by their parts.
    private(set) var sound: Set<[Int32]>
    /// The regions that changed.
    private(set) var changed: Set<Int> = []
    /// The first parts of fragments that ways were made for; each once, so that two regions do not take them from each other forever.
    private(set) var approached: Set<Int32>

    private var parts: PartSet { fragments.parts }

    /// A small fragment has fewer residents than this.
    private static let smallResidents = 1_000.0
    /// A region gets at most this many parts for a fragment, or for one that is told apart.
    private static let mostParts = 8, mostPartsToldApart = 32
    /// So many regions compensate each other at the most, and so many parts are tried for it at each step.
    private static let longestChain = 4, mostChains = 8

    init(
        parts: PartSet, limits: RegionLimits, regions: [Region], sound: Set<[Int32]> = [],
        approached: Set<Int32> = [], isAllowed: @escaping (_ site: Site, _ hasLand: Bool) -> Bool,
        record: @escaping (Group) throws -> RegionRecord?
    ) {
        fragments = Fragments(parts: parts)
        (self.limits, self.regions, self.sound, self.approached) = (limits, regions, sound, approached)
        (self.isAllowed, self.record) = (isAllowed, record)
        owner = Array(repeating: -1, count: parts.count)
        for (index, region) in regions.enumerated() {
            for part in region.group.parts { owner[Int(part)] = Int32(index) }
        }
    }

    /// Gives away or connects what can be. Each step leaves fewer small fragments or is the only one of its kind, so this ends.
    mutating func run() throws {
        var givers: [Int] = []
        for index in regions.indices where !regions[index].group.isEmpty && !sound.contains(regions[index].group.parts)
        {
            if small(of: index).isEmpty { sound.insert(regions[index].group.parts) } else { givers.append(index) }
        }
        var wasGiven = true
        while wasGiven, !givers.isEmpty {
            wasGiven = false
            for giver in givers {
                while try giveAny(of: giver) { wasGiven = true }
            }
            givers = Set(givers).union(changed).sorted()
        }
    }

    /// The small fragments of a region.
    private func small(of region: Int) -> [[Int32]] { smallOnes(of: regions[region].group.parts) }

    /// The small fragments of some parts; those without residents are left where they are.
    private func smallOnes(of members: [Int32]) -> [[Int32]] {
        besides(members).filter { fragments.residents(of: $0) > 0 }
    }

    /// The fragments of some parts that are not the main one and have few residents or none.
    private func besides(_ members: [Int32]) -> [[Int32]] {
        fragments.fragments(of: members).dropFirst().filter {
            fragments.residents(of: $0) < min(Self.smallResidents, limits.anonymity)
        }
    }

    private mutating func giveAny(of giver: Int) throws -> Bool {
        for fragment in small(of: giver) {
            let promised = min(limits.anonymity, regions[giver].group.population)
            if try give(fragment, of: giver, promising: promised)
                || handOut(fragment, of: giver, promising: promised, mayMakeRoom: false)
                || connect(fragment, with: giver, mayLack: false) || enlarge(fragment, of: giver, mayLack: false)
                || handOut(fragment, of: giver, promising: promised, mayMakeRoom: true)
                || giveToldApart(fragment, of: giver)
            {
                return true
            }
        }
        return false
    }

    /// Hides a fragment that is told apart, or gives it to regions that promise less. What touches it beyond the border is not known
    /// here, so there it counts as told apart.
    private mutating func giveToldApart(_ fragment: [Int32], of giver: Int) throws -> Bool {
        let tellers = tellers(of: fragment, giver), isAtBorder = fragment.contains { parts.isPiece(Int($0)) }
        guard isAtBorder || !tellers.isEmpty else { return false }
        // At a border ways come last: those beyond it may still tell.
        let isFirst = !tellers.isEmpty && approached.insert(fragment[0]).inserted
        for mayLack in [false, true] {
            if try isFirst && !isAtBorder && approach(tellers, of: fragment, giver, mayLack: mayLack)
                || mayLack && connect(fragment, with: giver, mayLack: true)
                || give(fragment, of: giver, promising: 0, mayLack: mayLack)
                || handOut(fragment, of: giver, promising: 0, mayMakeRoom: true, mayLack: mayLack)
                || mayLack && enlarge(fragment, of: giver, mayLack: true)
                || isFirst && isAtBorder && approach(tellers, of: fragment, giver, mayLack: mayLack)
            {
                return true
            }
        }
        return false
    }

    /// The regions of the country that touch a fragment and none of its region's that are not small.
    private func tellers(of fragment: [Int32], _ giver: Int) -> Set<Int32> {
        func around(_ parts: [Int32]) -> Set<Int32> {
            Set(fragments.touching(parts).map { owner[Int($0)] }).subtracting([Int32(giver)])
        }
        return around(fragment).subtracting(around(large(of: giver)))
    }

    /// Gives a fragment to a region that promises so many then; with `mayLack`, even if its own then lacks them.
    private mutating func give(
        _ fragment: [Int32], of giver: Int, promising promised: Double, mayLack: Bool = false
    ) throws -> Bool {
        let group = regions[giver].group
        let takers = takers(of: fragment, promising: promised, giver)
        guard !takers.isEmpty, let rest = rest(of: group, without: fragment, mayBeSmall: true) else { return false }
        for taker in takers {
            let union = Group(
                parts: regions[taker].group.parts + fragment, in: parts, site: regions[taker].group.site)
            var groups = [giver: rest, taker: union]
            guard settleGiver(giver, in: &groups, mayLack: mayLack) else { continue }
            if try replace(groups) { return true }
        }
        return false
    }

    /// A region without some of its parts; nil where it would be too small, or lose the only center whose circle is small enough.
    private func rest(of group: Group, without given: [Int32], mayBeSmall: Bool = false) -> Group? {
        let gone = Set(given), kept = group.parts.filter { !gone.contains($0) }
        guard !kept.isEmpty else { return nil }
        let rest = Group(parts: kept, in: parts, site: gone.contains(group.site.part) ? nil : group.site)
        let isLargeEnough = mayBeSmall || rest.area >= limits.smallestCutArea
        return isLargeEnough && rest.reach <= limits.largestReach(isEmpty: rest.isEmpty) ? rest : nil
    }

    // MARK: Part by part

    /// Gives a fragment to regions that promise so many then, each of its parts to one around it; with `mayMakeRoom`, after these
    /// have given up others where they must.
    private mutating func handOut(
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
                let takers = takers(of: part, in: groups, promising: promised, besides: chain) { taker in
                    parts.isWithin(limit, of: taker.site.position, part: Int(part))
                }
                for taker in takers {
                    let group = group(taker, in: groups)
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

    /// The regions that touch a part with a fragment that is not small, promise so many with it, and are as they should.
    private func takers(
        of part: Int32, in groups: [Int: Group], promising promised: Double, besides chain: [Int],
        where isWanted: (Group) -> Bool
    ) -> [Int] {
        let touching = fragments.touching([part])
        return Set(touching.map { owner(of: $0, in: groups) }).subtracting(chain).sorted().filter { taker in
            let group = group(taker, in: groups)
            guard !group.isEmpty, group.population + parts.population[Int(part)] >= promised, isWanted(group) else {
                return false
            }
            let small = Set(besides(group.parts).joined())
            return touching.contains { owner(of: $0, in: groups) == taker && !small.contains($0) }
        }
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
                wanted.flatMap { takers(of: $0, in: groups, promising: promised, besides: chain) { _ in true } })
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

    /// So many parts are handed out at the most, and so many other centers are tried for a region that is to take a part.
    private static let mostHandedOut = 16, mostCenters = 3

    /// The region of a part; for one that no region has any more, the one that had it.
    private func owner(of part: Int32, in groups: [Int: Group]) -> Int {
        groups.first { $0.value.parts.contains(part) }?.key ?? Int(owner[Int(part)])
    }

    /// A region as it would be.
    private func group(_ region: Int, in groups: [Int: Group]) -> Group { groups[region] ?? regions[region].group }

    // MARK: Bridges

    /// Lets the rest of a region touch all those that tell a fragment of it apart.
    private mutating func approach(_ tellers: Set<Int32>, of fragment: [Int32], _ giver: Int, mayLack: Bool) throws
        -> Bool
    {
        var changed = self
        for teller in tellers.sorted().map(Int.init) where changed.tellers(of: fragment, giver).contains(Int32(teller))
        {
            guard
                try changed.connect(changed.large(of: giver), with: teller, mayLack: mayLack)
                    || changed.connect(changed.large(of: teller), with: giver, mayLack: mayLack)
            else { return false }
        }
        guard changed.tellers(of: fragment, giver).isEmpty else { return false }
        self = changed
        return true
    }

    /// The parts of a region that are not in small fragments.
    private func large(of region: Int) -> [Int32] {
        let members = regions[region].group.parts, small = Set(besides(members).joined())
        return members.filter { !small.contains($0) }
    }

    /// Gives a region the parts between some and its fragments that are not small, those with fewest residents: within one circle
    /// there is nothing between two parts that it could not hold. With `mayLack` those who give them may lack some of the residents that
    /// they owe.
    private mutating func connect(_ start: [Int32], with giver: Int, mayLack: Bool) throws -> Bool {
        var avoided: Set<Int> = []
        while avoided.count < Self.mostDetours {
            guard let bridge = cheapestBridge(from: start, of: giver, avoided) else { return false }
            let group = regions[giver].group
            var groups = [giver: Group(parts: group.parts + bridge, in: parts, site: group.site)]
            var spoiled: Set<Int> = []
            let given = Dictionary(grouping: bridge) { Int(owner[Int($0)]) }
            for (donor, given) in given.sorted(by: { $0.key < $1.key }) {
                // What this cuts off goes along.
                let kept = regions[donor].group.parts.filter { !given.contains($0) }, known = Set(small(of: donor))
                let cutOff = mayLack ? Set(smallOnes(of: kept)).subtracting(known).flatMap(\.self).sorted() : []
                if parts.reach(from: group.site.position, to: cutOff) <= limits.largestReach(isEmpty: false),
                    let rest = rest(of: regions[donor].group, without: given + cutOff),
                    smallOnes(of: rest.parts).count <= known.count
                {
                    groups[donor] = rest
                    groups[giver] = Group(parts: groups[giver]!.parts + cutOff, in: parts, site: group.site)
                } else {
                    spoiled.insert(donor)
                }
            }
            // What compensates one may be another's, so all have given by then.
            for donor in groups.keys.sorted() where donor != giver && spoiled.isEmpty {
                if !settle(donor, in: &groups, besides: [giver], mayLack: mayLack) { spoiled.insert(donor) }
            }
            if spoiled.isEmpty { return try replace(groups) }
            avoided.formUnion(spoiled)
        }
        return false
    }

    /// The parts on the way from some to a region's fragments that are not small, over sides and corners of cells, that have
    /// fewest residents together; none that is the center of its region, lies outside of this one's circle, or belongs to a
    /// region to avoid.
    private func cheapestBridge(from start: [Int32], of giver: Int, _ avoided: Set<Int>) -> [Int32]? {
        let group = regions[giver].group, limit = limits.largestReach(isEmpty: false)
        let goal = Set(large(of: giver))
        var cost: [Int32: Double] = [:], previous: [Int32: Int32] = [:], done: Set<Int32> = []
        var open = Heap<Step>()
        for part in start {
            cost[part] = 0
            open.insert(Step(cost: 0, part: part))
        }
        while let step = open.popMin() {
            guard done.insert(step.part).inserted else { continue }
            if goal.contains(step.part) {
                let way = sequence(first: step.part) { previous[$0] }
                return way.filter { owner[Int($0)] != Int32(giver) && cost[$0]! > 0 }.sorted()
            }
            for next in fragments.touching([step.part]) where !done.contains(next) {
                let region = Int(owner[Int(next)])
                var total = step.cost
                if region != giver {
                    guard !avoided.contains(region), regions[region].group.site.part != next,
                        parts.isWithin(limit, of: group.site.position, part: Int(next))
                    else { continue }
                    total += parts.residents[Int(next)] + Self.costOfPart
                }
                if total < cost[next] ?? .infinity {
                    (cost[next], previous[next]) = (total, step.part)
                    open.insert(Step(cost: total, part: next))
                }
            }
        }
        return nil
    }

    private struct Step: Comparable {
        var cost: Double
        var part: Int32

        static func < (a: Step, b: Step) -> Bool { (a.cost, a.part) < (b.cost, b.part) }
    }

    /// What a part costs without residents, so that the way is short where nobody lives.
    private static let costOfPart = 1.0
    /// What a region may lack where a fragment is told apart.
    private var mostLacking: Double { 0.05 * limits.anonymity }
    /// How many regions are avoided in turn.
    private static let mostDetours = 4

    /// Gives regions other parts, if each then has an allowed record.
    private mutating func replace(_ groups: [Int: Group]) throws -> Bool {
        var made: [(index: Int, region: Region)] = []
        for (index, group) in groups.sorted(by: { $0.key < $1.key }) {
            guard let record = try record(group) else { return false }
            made.append((index, (group, record)))
        }
        for (index, region) in made {
            regions[index] = region
            for part in region.group.parts { owner[Int(part)] = Int32(index) }
            changed.insert(index)
        }
        return true
    }

    // MARK: Parts for a region

    /// Makes a fragment no longer small by parts of the regions around it.
    private mutating func enlarge(_ fragment: [Int32], of giver: Int, mayLack: Bool) throws -> Bool {
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
    private func settleGiver(_ giver: Int, in groups: inout [Int: Group], mayLack: Bool) -> Bool {
        regions[giver].group.population < limits.anonymity - mostLacking
            && groups[giver]!.area >= limits.smallestCutArea
            || settle(giver, in: &groups, mayLack: mayLack)
    }

    /// Whether a region that gave something gets back the residents that it owes or, with `mayLack`, lacks few of them.
    private func settle(_ giver: Int, in groups: inout [Int: Group], besides chain: [Int] = [], mayLack: Bool) -> Bool {
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
    private func compensate(_ giver: Int, in groups: inout [Int: Group], besides chain: [Int] = []) -> Bool {
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

    /// The regions that may take a fragment, the one that loses least accuracy first.
    private func takers(of fragment: [Int32], promising promised: Double, _ giver: Int) -> [Int] {
        var touched: [Int: [Int32]] = [:]
        for part in fragments.touching(fragment) where owner[Int(part)] != Int32(giver) {
            touched[Int(owner[Int(part)]), default: []].append(part)
        }
        let own = fragment.reduce(0) { $0 + parts.population[Int($1)] }
        var found: [(cost: Double, region: Int)] = []
        for (region, border) in touched {
            let (group, taker) = regions[region]
            guard !group.isEmpty, group.population + own >= promised,
                let reach = reach(of: region, with: fragment), reach <= limits.largestReach(isEmpty: false)
            else { continue }
            let small = Set(besides(group.parts).joined())
            guard !small.isSuperset(of: border) else { continue }
            let growth = max(0, reach + limits.steadiness - Double(taker.accuracy))
            found.append((growth * (taker.people.residents + fragments.residents(of: fragment)), region))
        }
        return found.sorted { ($0.cost, $0.region) < ($1.cost, $1.region) }.map(\.region)
    }

    /// How far a region would reach with a fragment: from its present center or, where that is too far, from the best;
    /// nil where it is wider than any circle.
    private func reach(of region: Int, with fragment: [Int32]) -> Double? {
        let limit = limits.largestReach(isEmpty: false), center = regions[region].record.centerPosition
        let reach = parts.reach(from: center, to: fragment)
        if reach <= limit { return reach }
        let union = regions[region].group.parts + fragment
        let direction = parts.center[Int(fragment[0])] - center
        return parts.isWider(union, than: 2 * limit, along: direction) ? nil : parts.bestSite(of: union).reach
    }
}
