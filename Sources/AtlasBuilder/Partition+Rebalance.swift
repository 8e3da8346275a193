extension Partition {
    /// Moves parts so that fewer people live in regions short of residents.
    mutating func rebalance() {
        var exchange = Exchange(self)
        let short = groups.indices.filter { groups[$0].population < limits.anonymity }
        for index in short.sorted(by: { isMorePopulous($0, $1) }) { exchange.pull(into: index) }
        for index in short.sorted(by: { isMorePopulous($1, $0) }) { exchange.push(from: index) }
        groups = exchange.regrouped()
        joinShortNeighbors()
    }

    private func isMorePopulous(_ a: Int, _ b: Int) -> Bool {
        groups[a].population != groups[b].population ? groups[a].population > groups[b].population : a < b
    }
}

/// A partition whose parts change hands.
private struct Exchange {
    let partition: Partition
    var groups: [Group]
    var owner: [Int32]
    let partGrid: PointGrid
    let groupGrid: PointGrid

    var parts: PartSet { partition.parts }
    var limit: Double { partition.reachLimit }
    var anonymity: Double { partition.limits.anonymity }

    init(_ partition: Partition) {
        self.partition = partition
        groups = partition.groups
        owner = [Int32](repeating: -1, count: partition.parts.count)
        for (index, group) in groups.enumerated() { for part in group.parts { owner[Int(part)] = Int32(index) } }
        partGrid = PointGrid(
            partition.parts.center, indices: Array(0..<Int32(partition.parts.count)), side: partition.reachLimit / 2)
        groupGrid = PointGrid(
            groups.map { partition.center(of: $0) }, indices: Array(0..<Int32(groups.count)), side: partition.reachLimit
        )
    }

    /// Takes from neighbors until the region holds enough; changes nothing where that cannot be.
    mutating func pull(into index: Int) {
        guard groups[index].population < anonymity else { return }
        let center = partition.center(of: groups[index])
        var offers: [(cost: Double, part: Int32)] = []
        partGrid.forEach(near: center, within: limit) { part in
            let donor = Int(owner[part])
            guard donor != index, groups[donor].site.part != Int32(part), parts.population[part] > 0,
                parts.isWithin(limit, of: center, part: part)
            else { return }
            let theirs = partition.center(of: groups[donor]).distance(to: parts.center[part])
            offers.append((center.distance(to: parts.center[part]) - theirs, Int32(part)))
        }
        offers.sort { $0.cost != $1.cost ? $0.cost < $1.cost : $0.part < $1.part }
        for takesFromShort in [false, true] {
            if let taken = choose(offers, for: index, takesFromShort: takesFromShort), isWorth(taken, to: index) {
                for part in taken { move(part, to: index) }
                return
            }
        }
    }

    /// Whether the people of a region gain more by others than those lose, who come from smaller circles to the largest.
    private func isWorth(_ taken: [Int32], to index: Int) -> Bool {
        let lent = taken.reduce(0) { $0 + parts.population[Int($1)] }
        return lent <= partition.limits.rebalanceWorth * groups[index].population
    }

    private func choose(_ offers: [(cost: Double, part: Int32)], for index: Int, takesFromShort: Bool) -> [Int32]? {
        var population = groups[index].population
        var given: [Int32: Double] = [:]
        var taken: [Int32] = []
        for (_, part) in offers {
            let donor = owner[Int(part)], residents = parts.population[Int(part)]
            let left = groups[Int(donor)].population - given[donor, default: 0] - residents
            let isShort = groups[Int(donor)].population < anonymity
            guard left >= anonymity || (isShort && takesFromShort) else { continue }
            given[donor, default: 0] += residents
            taken.append(part)
            population += residents
            if population >= anonymity { return taken }
        }
        return nil
    }

    /// Gives the parts of a region that stays short to regions that hold enough and reach them.
    mutating func push(from index: Int) {
        guard groups[index].population < anonymity else { return }
        // The center's own part goes last, and only if all others have gone: what stays needs it.
        let others = groups[index].parts.filter { owner[Int($0)] == Int32(index) && $0 != groups[index].site.part }
        let remaining = others.filter { !give($0, from: index) }
        if remaining.isEmpty { _ = give(groups[index].site.part, from: index) }
    }

    /// Moves a part to the nearest region that holds enough and reaches it, if there is one.
    private mutating func give(_ part: Int32, from index: Int) -> Bool {
        var nearest = Double.infinity, target = -1
        let center = parts.center[Int(part)]
        groupGrid.forEach(near: center, within: limit) { other in
            guard other != index, groups[other].population >= anonymity else { return }
            let site = partition.center(of: groups[other])
            let d = site.distance(to: center)
            if d < nearest, parts.isWithin(limit, of: site, part: Int(part)) { (nearest, target) = (d, other) }
        }
        if target >= 0 { move(part, to: target) }
        return target >= 0
    }

    private mutating func move(_ part: Int32, to index: Int) {
        let from = Int(owner[Int(part)])
        owner[Int(part)] = Int32(index)
        groups[from].population -= parts.population[Int(part)]
        groups[index].population += parts.population[Int(part)]
    }

    /// The groups by their new members; a group whose center left gets another.
    func regrouped() -> [Group] {
        var members = [[Int32]](repeating: [], count: groups.count)
        for part in 0..<parts.count { members[Int(owner[part])].append(Int32(part)) }
        return zip(members, groups).compactMap { members, group in
            guard !members.isEmpty else { return nil }
            let keepsSite = owner[Int(group.site.part)] == owner[Int(members[0])]
            return partition.makeGroup(members, site: keepsSite ? group.site : nil)
        }
    }
}
