/// Gives small fragments of regions to the regions around them: few people in a place apart from the rest of their
/// region hide nobody, for a neighbor that touches only them tells them from the rest (contract C7).
///
/// A fragment is small if it is not its region's main one and has fewer than 1,000 residents, or than K where that is
/// less. It goes to a region of the same country
/// - that touches it with its main fragment, or with one that has residents enough not to be small;
/// - whose center, as it is or the best it could have, is near enough to all of it;
/// - and that then promises as many residents as its region did, or K.
///
/// The region that gives it keeps K residents, if it had them, and the smallest area. Of several that could take it the
/// one does whose residents lose least accuracy.
struct FragmentTransfer {
    typealias Region = (group: Group, record: RegionRecord)

    private let fragments: Fragments
    private let limits: RegionLimits
    /// The record of a region that changed; nil where none is allowed.
    private let record: (Group) throws -> RegionRecord?
    private(set) var regions: [Region]
    /// By part, its region.
    private var owner: [Int32]
    /// The regions that changed.
    private(set) var changed: Set<Int> = []

    private var parts: PartSet { fragments.parts }

    /// A small fragment has fewer residents than this.
    private static let smallResidents = 1_000.0

    init(
        parts: PartSet, limits: RegionLimits, regions: [Region], record: @escaping (Group) throws -> RegionRecord?
    ) {
        fragments = Fragments(parts: parts)
        (self.limits, self.regions, self.record) = (limits, regions, record)
        owner = Array(repeating: -1, count: parts.count)
        for (index, region) in regions.enumerated() {
            for part in region.group.parts { owner[Int(part)] = Int32(index) }
        }
    }

    /// Gives away what can be given. Every transfer leaves one small fragment less, so this ends.
    mutating func run() throws {
        var givers = regions.indices.filter { !regions[$0].group.isEmpty && !small(of: $0).isEmpty }
        var wasGiven = true
        while wasGiven, !givers.isEmpty {
            wasGiven = false
            for giver in givers {
                for fragment in small(of: giver) where try give(fragment, of: giver) { wasGiven = true }
            }
            givers = Set(givers).union(changed).sorted()
        }
    }

    /// The small fragments of a region; those without residents are left where they are.
    private func small(of region: Int) -> [[Int32]] {
        besides(region).filter { fragments.residents(of: $0) > 0 }
    }

    /// The fragments of a region that are not its main one and have few residents or none.
    private func besides(_ region: Int) -> [[Int32]] {
        fragments.fragments(of: regions[region].group.parts).dropFirst().filter {
            fragments.residents(of: $0) < min(Self.smallResidents, limits.anonymity)
        }
    }

    private mutating func give(_ fragment: [Int32], of giver: Int) throws -> Bool {
        let group = regions[giver].group, gone = Set(fragment)
        let promised = fragment.reduce(0) { $0 + parts.population[Int($1)] }
        let area = fragment.reduce(0) { $0 + parts.area[Int($1)] }
        guard group.population < limits.anonymity || group.population - promised >= limits.anonymity,
            group.area - area >= limits.smallestArea * 1.02
        else { return false }
        let takers = takers(of: fragment, promising: min(limits.anonymity, group.population) - promised, giver)
        guard !takers.isEmpty else { return false }
        let rest = Group(
            parts: group.parts.filter { !gone.contains($0) }, in: parts,
            site: gone.contains(group.site.part) ? nil : group.site)
        guard let left = try record(rest) else { return false }
        for taker in takers {
            let union = Group(
                parts: regions[taker].group.parts + fragment, in: parts, site: regions[taker].group.site)
            guard let enlarged = try record(union) else { continue }
            regions[giver] = (rest, left)
            regions[taker] = (union, enlarged)
            for part in fragment { owner[Int(part)] = Int32(taker) }
            changed.formUnion([giver, taker])
            return true
        }
        return false
    }

    /// The regions that may take a fragment, the one that loses least accuracy first.
    private func takers(of fragment: [Int32], promising promised: Double, _ giver: Int) -> [Int] {
        var touched: [Int: [Int32]] = [:]
        for part in fragments.touching(fragment) where owner[Int(part)] != Int32(giver) {
            touched[Int(owner[Int(part)]), default: []].append(part)
        }
        var found: [(cost: Double, region: Int)] = []
        for (region, border) in touched {
            let (group, taker) = regions[region]
            guard !group.isEmpty, group.population >= promised,
                let reach = reach(of: region, with: fragment), reach <= limits.largestReach(isEmpty: false)
            else { continue }
            let small = Set(besides(region).joined())
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
