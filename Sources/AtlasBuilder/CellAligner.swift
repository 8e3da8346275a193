import Hereabouts

/// Straightens borders between regions along coarser cells: a cell goes whole to one of those that have a part of it, to
/// that with most of it first, where no circle grows past what it may, no region falls short, and nobody goes to a
/// region with fewer residents than K (or K/2) from one that has as many. The tables become smaller and outlines plainer.
///
/// Settled land stays in regions of settled land, and land in regions of land, whose centers are ashore. Empty land and
/// water may join either, and a region of nothing else ends where a cell takes all of it.
struct CellAligner {
    private let parts: PartSet
    private let limits: RegionLimits
    private var groups: [Group]
    private var owner: [Int32]
    /// Of each region, the number of its parts, and whether it gave or took any.
    private var partCount: [Int]
    private var isChanged: [Bool]
    private let hasLand: [Bool]
    /// The largest reach each region may have, meters.
    private let reach: [Double]

    /// The least share of a cell's area with which a region may get it whole.
    private static let leastShare = 0.05

    /// `reach` says how far a region may reach from its center then, meters.
    init(parts: PartSet, limits: RegionLimits, groups: [Group], reach: (Group) -> Double) {
        self.parts = parts
        self.limits = limits
        self.groups = groups
        owner = [Int32](repeating: -1, count: parts.count)
        for (index, group) in groups.enumerated() {
            for part in group.parts { owner[Int(part)] = Int32(index) }
        }
        partCount = groups.map(\.parts.count)
        isChanged = [Bool](repeating: false, count: groups.count)
        hasLand = groups.map { $0.parts.contains { parts.isLand[Int($0)] } }
        self.reach = groups.map(reach)
    }

    /// The regions after every cell was tried, the finest first.
    func aligned() -> [Group] {
        var aligner = self
        for level in stride(from: 13, through: 8, by: -1) { aligner.straighten(level: level) }
        return aligner.regrouped()
    }

    private mutating func straighten(level: Int) {
        for unit in parts.units(0..<parts.count, level: level)
        where CellID(rawValue: parts.cell[unit.lowerBound]).level > level {
            unify(unit)
        }
    }

    private mutating func unify(_ range: Range<Int>) {
        guard range.contains(where: { owner[$0] != owner[range.lowerBound] }) else { return }
        var shares: [Int32: Double] = [:]
        for part in range { shares[owner[part], default: 0] += parts.area[part] }
        let total = range.reduce(0) { $0 + parts.area[$1] }
        for taker in shares.sorted(by: { $0.value != $1.value ? $0.value > $1.value : $0.key < $1.key })
        where taker.value >= Self.leastShare * total {
            let others = range.filter { owner[$0] != taker.key }
            guard others.allSatisfy({ canMove($0, to: Int(taker.key)) }), remainEnough(others) else { continue }
            for part in others { move(part, to: taker.key) }
            return
        }
    }

    private func canMove(_ part: Int, to group: Int) -> Bool {
        if parts.isSettled[part] ? groups[group].isEmpty : parts.isLand[part] && !hasLand[group] { return false }
        if parts.population[part] > 0, obligation(of: group) < obligation(of: Int(owner[part])) { return false }
        return parts.isWithin(reach[group], of: groups[group].site.position, part: part)
    }

    private func obligation(of group: Int) -> Double { limits.obligation(of: groups[group].population) }

    /// Whether the donors still hold enough people and land without the parts, and their centers; or nothing at all.
    private func remainEnough(_ moved: [Int]) -> Bool {
        var given: [Int32: (residents: Double, area: Double, parts: Int, hasSite: Bool)] = [:]
        for part in moved {
            let donor = owner[part]
            var sum = given[donor] ?? (0, 0, 0, false)
            sum.residents += parts.population[part]
            sum.area += parts.area[part]
            sum.parts += 1
            sum.hasSite = sum.hasSite || groups[Int(donor)].site.part == Int32(part)
            given[donor] = sum
        }
        return given.allSatisfy { donor, gone in
            let donor = Int(donor)
            if groups[donor].isEmpty, gone.parts == partCount[donor] { return true }
            return !gone.hasSite && groups[donor].population - gone.residents >= obligation(of: donor)
                && groups[donor].area - gone.area >= limits.smallestCutArea
        }
    }

    private mutating func move(_ part: Int, to taker: Int32) {
        for (group, sign) in [(Int(owner[part]), -1.0), (Int(taker), 1.0)] {
            groups[group].population += sign * parts.population[part]
            groups[group].area += sign * parts.area[part]
            partCount[group] += Int(sign)
            isChanged[group] = true
        }
        owner[part] = taker
    }

    private func regrouped() -> [Group] {
        var members = [[Int32]](repeating: [], count: groups.count)
        for part in 0..<parts.count where isChanged[Int(owner[part])] { members[Int(owner[part])].append(Int32(part)) }
        return groups.indices.compactMap { index in
            if !isChanged[index] { return groups[index] }
            return members[index].isEmpty ? nil : Group(parts: members[index], in: parts, site: groups[index].site)
        }
    }
}
