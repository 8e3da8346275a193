import Hereabouts

extension Partition {
    /// Straightens borders between regions along coarser cells: a cell goes whole to one of those that have a part of it, to
    /// that with most of it first, where no circle grows past a share of what it was, no region falls short, and nobody
    /// goes to a region with fewer residents than K (or K/2) from one that has as many. The tables become smaller and
    /// outlines plainer.
    mutating func alignToCells() {
        var aligner = CellAligner(self)
        for level in stride(from: 13, through: 8, by: -1) { aligner.straighten(level: level) }
        groups = aligner.aligned()
    }
}

private struct CellAligner {
    let partition: Partition
    var owner: [Int32]
    var population: [Double]
    var area: [Double]
    /// The largest reach each region may have.
    let reach: [Double]

    var parts: PartSet { partition.parts }
    /// The least share of a cell's area with which a region may get it whole.
    private static let leastShare = 0.05

    /// How many times as wide a circle may become. In between lies the width that half of all people's regions have; those
    /// of the densest places are hardly wider than the least, and the widest, three of four, are most of the tables.
    private static func slack(ofReach reach: Double) -> Double { (3_000...8_000).contains(reach) ? 1.08 : 1.3 }

    init(_ partition: Partition) {
        self.partition = partition
        owner = [Int32](repeating: -1, count: partition.parts.count)
        for (index, group) in partition.groups.enumerated() {
            for part in group.parts { owner[Int(part)] = Int32(index) }
        }
        population = partition.groups.map(\.population)
        area = partition.groups.map(\.area)
        let limits = partition.limits
        reach = partition.groups.map { group in
            // People who cannot be helped lose nothing by a wider circle.
            if group.population < limits.anonymity { return partition.reachLimit }
            let least = limits.reach(ofAccuracy: limits.smallestAccuracy)
            return min(partition.reachLimit, max(group.reach * Self.slack(ofReach: group.reach), least))
        }
    }

    /// Tries every cell of a level.
    mutating func straighten(level: Int) {
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
        let donor = partition.groups[Int(owner[part])]
        guard donor.site.part != Int32(part) else { return false }
        if parts.population[part] > 0, obligation(of: group) < obligation(of: Int(owner[part])) { return false }
        return parts.isWithin(reach[group], of: partition.center(of: partition.groups[group]), part: part)
    }

    private func obligation(of group: Int) -> Double { partition.limits.obligation(of: population[group]) }

    /// Whether the donors still hold enough people and land without the parts.
    private func remainEnough(_ moved: [Int]) -> Bool {
        var residents: [Int32: Double] = [:], land: [Int32: Double] = [:]
        for part in moved {
            residents[owner[part], default: 0] += parts.population[part]
            land[owner[part], default: 0] += parts.area[part]
        }
        return residents.allSatisfy { donor, gone in
            population[Int(donor)] - gone >= obligation(of: Int(donor))
                && area[Int(donor)] - land[donor]! >= partition.limits.smallestCutArea
        }
    }

    private mutating func move(_ part: Int, to group: Int32) {
        let donor = Int(owner[part])
        population[donor] -= parts.population[part]
        area[donor] -= parts.area[part]
        population[Int(group)] += parts.population[part]
        area[Int(group)] += parts.area[part]
        owner[part] = group
    }

    func aligned() -> [Group] {
        var members = [[Int32]](repeating: [], count: partition.groups.count)
        for part in 0..<parts.count { members[Int(owner[part])].append(Int32(part)) }
        return zip(members, partition.groups).map { Group(parts: $0, in: parts, site: $1.site) }
    }
}
