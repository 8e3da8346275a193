import HeapModule
import Hereabouts

/// Repairs leftovers: settled regions whose small circles promise few residents amid others of their country, what is left when
/// circles of the largest size have been cut (contract C6).
///
/// A leftover is shared out among the regions that touch it, where their circles hold its parts. Else it gets parts of theirs until it
/// promises K/2 or its circle is no longer small. Else, if it is smaller than most, it joins one of them in a circle of up to
/// `largestLeftoverAccuracy`.
struct LeftoverRepair {
    typealias Region = FragmentTransfer.Region

    private let fragments: Fragments
    private let limits: RegionLimits
    /// The record of a region that changed, or nil where its accuracy would be above the limit, meters.
    private let record: (_ group: Group, _ limit: Double) throws -> RegionRecord?
    private let isAllowed: (_ site: Site, _ hasLand: Bool) -> Bool
    /// The part of the country at a position; nil where there is none.
    private let part: (Coordinate) -> Int32?
    private(set) var regions: [Region?]
    private var owner: [Int32]
    /// The centers of those that changed.
    private(set) var changed: [SIMD3<Double>] = []

    private var parts: PartSet { fragments.parts }

    /// What a region short of K/2 keeps of its residents.
    private static let keptShare = 0.5
    /// Below this share of the largest accuracy one joins a neighbor in a larger circle.
    private static let joinedShare = 0.6875
    /// Points of the ring around a region, so many accuracies from its center, and how many must lie in others.
    private static let ring = 1.3, ringPoints = 12, fewestAround = 10

    init(
        parts: PartSet, limits: RegionLimits, regions: [Region],
        isAllowed: @escaping (_ site: Site, _ hasLand: Bool) -> Bool, part: @escaping (Coordinate) -> Int32?,
        record: @escaping (_ group: Group, _ limit: Double) throws -> RegionRecord?
    ) {
        fragments = Fragments(parts: parts)
        (self.limits, self.regions) = (limits, regions)
        (self.isAllowed, self.part, self.record) = (isAllowed, part, record)
        owner = Array(repeating: -1, count: parts.count)
        for (index, region) in regions.enumerated() {
            for part in region.group.parts { owner[Int(part)] = Int32(index) }
        }
    }

    /// The leftovers, by their positions.
    var leftovers: [Int] { regions.indices.filter { isLeftover($0) } }

    /// Repairs what can be, the least promising first.
    mutating func run() throws {
        let parts = parts
        let order = leftovers.sorted {
            (regions[$0]!.group.population, $0) < (regions[$1]!.group.population, $1)
        }
        for index in order where isLeftover(index) {
            _ =
                try shareOut(index)
                || grow(index) { part, _ in parts.population[part] / parts.area[part] }
                || grow(index) { _, reach in reach }
                || isWorthLargerCircle(index) && join(index)
        }
    }

    /// Circles above the largest are for those that lack most: a few hundred of the world's.
    private func isWorthLargerCircle(_ index: Int) -> Bool {
        Double(regions[index]!.record.accuracy) < Self.joinedShare * limits.largestAccuracy
    }

    private func isLeftover(_ index: Int) -> Bool {
        guard let region = regions[index], !region.group.isEmpty, isSmall(region.group, region.record) else {
            return false
        }
        let frame = TangentFrame(
            at: Coordinate(
                latitude: Double(region.record.latitudeE5) / 1e5, longitude: Double(region.record.longitudeE5) / 1e5))
        let distance = Self.ring * Double(region.record.accuracy)
        var around = 0
        for point in 0..<Self.ringPoints {
            let (sine, cosine) = Trigonometry.sineAndCosine(degrees: Double(point) * 360 / Double(Self.ringPoints))
            let place = Ellipsoid.coordinate(at: frame.surfacePoint(SIMD2(sine, cosine) * distance))
            guard let part = part(place) else { return false }
            let other = Int(owner[Int(part)])
            if other == index { continue }
            guard regions[other]!.record.people.residents > 0 else { return false }
            around += 1
        }
        return around >= Self.fewestAround
    }

    private func isSmall(_ group: Group, _ record: RegionRecord) -> Bool {
        group.population < limits.anonymity / 2 && Double(record.accuracy) < limits.smallLeftoverAccuracy
    }

    // MARK: Steps

    /// The settled regions that touch some parts.
    private func neighbors(of members: [Int32], besides index: Int) -> [Int] {
        Set(fragments.touching(members).map { Int(owner[Int($0)]) }).subtracting([index]).sorted()
            .filter { !regions[$0]!.group.isEmpty }
    }

    /// Gives each part of a region to one that touches it, about its center as it is, where people lose least accuracy by it.
    private mutating func shareOut(_ index: Int) throws -> Bool {
        let limit = limits.largestReach(isEmpty: false)
        var left = regions[index]!.group.parts.map { (part: $0, touching: fragments.touching([$0])) }
        var takers: [Int: Group] = [:], given: [Int32: Int] = [:]
        /// What it costs that a region takes a part, and how far it reaches then; nil where that is too far.
        func cost(_ part: Int32, _ group: Group) -> (reach: Double, cost: Double)? {
            guard parts.isWithin(limit, of: group.site.position, part: Int(part)) else { return nil }
            let grown = max(group.reach, parts.reach(from: group.site.position, to: Int(part)))
            return (grown, (grown - group.reach) * (group.population + 1))
        }
        while !left.isEmpty {
            var best: (cost: Double, position: Int, taker: Int, reach: Double)?
            for (position, (part, touching)) in left.enumerated() {
                var asked: [Int] = []
                for other in touching {
                    let taker = given[other] ?? Int(owner[Int(other)])
                    guard taker != index, !asked.contains(taker) else { continue }
                    asked.append(taker)
                    let group = takers[taker] ?? regions[taker]!.group
                    guard !group.isEmpty, let (grown, cost) = cost(part, group) else { continue }
                    if cost < best?.cost ?? .infinity { best = (cost, position, taker, grown) }
                }
            }
            guard let best else { return false }
            let part = left.remove(at: best.position).part
            var group = takers[best.taker] ?? regions[best.taker]!.group
            group.parts.append(part)
            group.reach = best.reach
            group.population += parts.population[Int(part)]
            (takers[best.taker], given[part]) = (group, best.taker)
        }
        let made = takers.mapValues { Group(parts: $0.parts.sorted(), in: parts, site: $0.site) }
        return try replace(made, giving: index, within: limits.largestAccuracy)
    }

    /// Joins a region with one that touches it, in a circle of the largest size that one with a leftover may have.
    private mutating func join(_ index: Int) throws -> Bool {
        let group = regions[index]!.group, reach = limits.reach(ofAccuracy: limits.largestLeftoverAccuracy)
        var best: (cost: Double, other: Int, union: Group)?
        for other in neighbors(of: group.parts, besides: index) {
            let partner = regions[other]!.group, members = group.parts + partner.parts
            if parts.isWider(members, than: 2 * reach, along: partner.site.position - group.site.position) { continue }
            guard let union = parts.group(of: members, site: partner.site, within: reach, isAllowed: isAllowed)
            else { continue }
            let cost = (union.reach - partner.reach) * (partner.population + 1)
            if cost < best?.cost ?? .infinity { best = (cost, other, union) }
        }
        guard let best else { return false }
        return try replace([best.other: best.union], giving: index, within: limits.largestLeftoverAccuracy)
    }

    /// Gives a region parts that touch it until it promises K/2 or is no longer small, of regions that keep what they owe: those
    /// that reach least far from its center first, or those where fewest people live.
    private mutating func grow(_ index: Int, by price: (_ part: Int, _ reach: Double) -> Double) throws -> Bool {
        let group = regions[index]!.group, center = group.site.position, limit = limits.largestReach(isEmpty: false)
        var members = group.parts, population = group.population, reach = group.reach
        var seen = Set(members), taken: [Int: [Int32]] = [:], left: [Int: (population: Double, area: Double)] = [:]
        var offers = Heap<Offer>()
        func addOffers(around added: [Int32]) {
            for part in fragments.touching(added) where seen.insert(part).inserted {
                let reach = parts.reach(from: center, to: Int(part))
                if reach <= limit { offers.insert(Offer(price: price(Int(part), reach), part: part, reach: reach)) }
            }
        }
        addOffers(around: members)
        while true {
            if population >= limits.anonymity / 2 || limits.accuracy(ofReach: reach) >= limits.smallLeftoverAccuracy {
                // About another center the circle may be smaller, and still too small.
                let grown = Group(parts: members.sorted(), in: parts, site: group.site)
                if population >= limits.anonymity / 2
                    || limits.publishedAccuracy(ofReach: grown.reach) >= limits.smallLeftoverAccuracy
                {
                    var groups = [index: grown]
                    for (donor, given) in taken {
                        let given = Set(given), whole = regions[donor]!.group
                        groups[donor] = Group(
                            parts: whole.parts.filter { !given.contains($0) }, in: parts, site: whole.site)
                    }
                    return try replace(groups, giving: nil, within: limits.largestAccuracy)
                }
            }
            guard let offer = offers.popMin() else { return false }
            let donor = Int(owner[Int(offer.part)]), whole = regions[donor]!.group
            var rest = left[donor] ?? (whole.population, whole.area)
            rest.population -= parts.population[Int(offer.part)]
            rest.area -= parts.area[Int(offer.part)]
            guard !whole.isEmpty, rest.population >= owed(by: whole), rest.area >= limits.smallestCutArea,
                whole.site.part != offer.part
            else { continue }
            left[donor] = rest
            taken[donor, default: []].append(offer.part)
            members.append(offer.part)
            population += parts.population[Int(offer.part)]
            reach = max(reach, offer.reach)
            addOffers(around: [offer.part])
        }
    }

    /// The residents that a region keeps that gives parts: K, or K/2; or, where it is short of that, half of its own.
    private func owed(by group: Group) -> Double {
        max(limits.obligation(of: group.population), Self.keptShare * min(group.population, limits.anonymity / 2))
    }

    /// A part that a region may get.
    private struct Offer: Comparable {
        var price: Double, part: Int32, reach: Double

        static func < (a: Offer, b: Offer) -> Bool { (a.price, a.part) < (b.price, b.part) }
    }

    /// Gives regions other parts, if each then has an allowed record and none has more small fragments.
    private mutating func replace(_ groups: [Int: Group], giving gone: Int?, within limit: Double) throws -> Bool {
        var made: [(index: Int, region: Region)] = []
        for (index, group) in groups.sorted(by: { $0.key < $1.key }) {
            let before = regions[index]!
            let limit = max(limit, Double(before.record.accuracy))
            guard smallCount(group) <= smallCount(before.group), let record = try record(group, limit),
                isSmall(before.group, before.record) || !isSmall(group, record)
            else {
                return false
            }
            made.append((index, (group, record)))
        }
        for (index, region) in made {
            regions[index] = region
            changed.append(region.record.centerPosition)
            for part in region.group.parts { owner[Int(part)] = Int32(index) }
        }
        if let gone { regions[gone] = nil }
        return true
    }

    private func smallCount(_ group: Group) -> Int {
        fragments.small(of: group.parts, fewerThan: min(FragmentTransfer.smallResidents, limits.anonymity)).count
    }
}
