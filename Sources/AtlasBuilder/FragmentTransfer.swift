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

    let fragments: Fragments
    let limits: RegionLimits
    /// The record of a region that changed; nil where none is allowed.
    private let record: (Group) throws -> RegionRecord?
    /// Whether a site may be the center, of a region that holds land or not, though it is none that its part was given.
    let isAllowed: (_ site: Site, _ hasLand: Bool) -> Bool
    private(set) var regions: [Region]
    /// By part, its region.
    private(set) var owner: [Int32]
    /// Regions known to have no small fragment, by their parts.
    private(set) var sound: Set<[Int32]>
    /// The regions that changed.
    private(set) var changed: Set<Int> = []
    /// The first parts of fragments that ways were made for; each once, so that two regions do not take them from each other forever.
    private(set) var approached: Set<Int32>

    var parts: PartSet { fragments.parts }

    /// A small fragment has fewer residents than this.
    static let smallResidents = 1_000.0

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
    func small(of region: Int) -> [[Int32]] { smallOnes(of: regions[region].group.parts) }

    /// The small fragments of some parts; those without residents are left where they are.
    func smallOnes(of members: [Int32]) -> [[Int32]] {
        fragments.small(of: members, fewerThan: min(Self.smallResidents, limits.anonymity))
    }

    /// The fragments of some parts that are not the main one and have few residents or none.
    func besides(_ members: [Int32]) -> [[Int32]] {
        fragments.besides(members, fewerThan: min(Self.smallResidents, limits.anonymity))
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
    func tellers(of fragment: [Int32], _ giver: Int) -> Set<Int32> {
        func around(_ parts: [Int32]) -> Set<Int32> {
            Set(fragments.touching(parts).map { owner[Int($0)] }).subtracting([Int32(giver)])
        }
        return around(fragment).subtracting(around(large(of: giver)))
    }

    /// Gives a fragment to the region that loses least accuracy of those that promise so many then; with `mayLack`, even if its own
    /// then lacks them.
    private mutating func give(
        _ fragment: [Int32], of giver: Int, promising promised: Double, mayLack: Bool = false
    ) throws -> Bool {
        guard let rest = rest(of: regions[giver].group, without: fragment, mayBeSmall: true) else { return false }
        let residents = fragments.residents(of: fragment)
        let costs: [(cost: Double, taker: Int)] = takers(of: fragment, promising: promised, besides: [giver])
            .compactMap { taker in
                guard let reach = reach(of: taker, with: fragment) else { return nil }
                let record = regions[taker].record
                let growth = max(0, reach + limits.steadiness - Double(record.accuracy))
                return (growth * (record.people.residents + residents), taker)
            }
        for (_, taker) in costs.sorted(by: <) {
            let union = Group(
                parts: regions[taker].group.parts + fragment, in: parts, site: regions[taker].group.site)
            var groups = [giver: rest, taker: union]
            guard settleGiver(giver, in: &groups, mayLack: mayLack) else { continue }
            if try replace(groups) { return true }
        }
        return false
    }

    /// How far a region would reach with a fragment: from its present center or, where that is too far, from the best; nil where no
    /// circle about either holds all of it.
    private func reach(of region: Int, with fragment: [Int32]) -> Double? {
        let limit = limits.largestReach(isEmpty: false), center = regions[region].record.centerPosition
        let reach = parts.reach(from: center, to: fragment)
        if reach <= limit { return reach }
        let union = regions[region].group.parts + fragment
        let direction = parts.center[Int(fragment[0])] - center
        if parts.isWider(union, than: 2 * limit, along: direction) { return nil }
        let best = parts.bestSite(of: union).reach
        return best <= limit ? best : nil
    }

    /// The regions that touch some parts with a fragment that is not small and would promise so many with them; `groups` are the
    /// regions as they would be, and those in `chain` are none to ask.
    func takers(
        of given: [Int32], in groups: [Int: Group] = [:], promising promised: Double, besides chain: [Int]
    ) -> [Int] {
        let touching = fragments.touching(given), own = given.reduce(0) { $0 + parts.population[Int($1)] }
        return Set(touching.map { owner(of: $0, in: groups) }).subtracting(chain).sorted().filter { taker in
            let group = group(taker, in: groups)
            guard !group.isEmpty, group.population + own >= promised else { return false }
            let small = Set(besides(group.parts).joined())
            return touching.contains { owner(of: $0, in: groups) == taker && !small.contains($0) }
        }
    }

    /// A region without some of its parts; nil where it would be too small, or lose the only center whose circle is small enough.
    func rest(of group: Group, without given: [Int32], mayBeSmall: Bool = false) -> Group? {
        let gone = Set(given), kept = group.parts.filter { !gone.contains($0) }
        guard !kept.isEmpty else { return nil }
        let rest = Group(parts: kept, in: parts, site: gone.contains(group.site.part) ? nil : group.site)
        let isLargeEnough = mayBeSmall || rest.area >= limits.smallestCutArea
        return isLargeEnough && rest.reach <= limits.largestReach(isEmpty: rest.isEmpty) ? rest : nil
    }

    /// The region of a part; for one that no region has any more, the one that had it.
    func owner(of part: Int32, in groups: [Int: Group]) -> Int {
        groups.first { $0.value.parts.contains(part) }?.key ?? Int(owner[Int(part)])
    }

    /// A region as it would be.
    func group(_ region: Int, in groups: [Int: Group]) -> Group { groups[region] ?? regions[region].group }

    /// Gives regions other parts, if each then has an allowed record.
    mutating func replace(_ groups: [Int: Group]) throws -> Bool {
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
}
