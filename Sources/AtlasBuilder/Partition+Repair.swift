extension Partition {
    /// Joins short regions with each other wherever a circle holds both; most populous first.
    mutating func joinShortNeighbors() {
        let anonymity = limits.anonymity
        join(where: { $0.population < anonymity }, with: { $0.population < anonymity })
    }

    /// Joins what is short or too small with any neighbor wherever a circle holds both.
    mutating func repair() {
        let anonymity = limits.anonymity, area = limits.smallestCutArea
        joinShortNeighbors()
        join(where: { $0.population < anonymity }, with: { _ in true })
        join(where: { $0.area < area }, with: { _ in true })
    }

    private mutating func join(where needs: (Group) -> Bool, with accepts: (Group) -> Bool) {
        var isAlive = [Bool](repeating: true, count: groups.count)
        var changed = groups.indices.filter { needs(groups[$0]) }
        while !changed.isEmpty {
            let grid = PointGrid(
                groups.map { center(of: $0) }, indices: groups.indices.filter { isAlive[$0] }.map { Int32($0) },
                side: reachLimit)
            var next: [Int] = []
            changed.sort {
                groups[$0].population != groups[$1].population
                    ? groups[$0].population > groups[$1].population : $0 < $1
            }
            for index in changed where isAlive[index] && needs(groups[index]) {
                guard let (other, union) = bestPartner(of: index, grid: grid, isAlive: isAlive, accepts) else {
                    continue
                }
                groups[index] = union
                isAlive[other] = false
                next.append(index)
            }
            changed = next
        }
        groups = groups.indices.filter { isAlive[$0] }.map { groups[$0] }
    }

    /// The neighbor whose union with the region costs people least accuracy, of those that fill it, or else the nearest.
    private func bestPartner(
        of index: Int, grid: PointGrid, isAlive: [Bool], _ accepts: (Group) -> Bool
    ) -> (Int, Group)? {
        let group = groups[index]
        var candidates: [(isShort: Int, distance: Double, index: Int)] = []
        grid.forEach(near: center(of: group), within: 2 * reachLimit) { other in
            guard other != index, isAlive[other], accepts(groups[other]), fits(group, groups[other]) else { return }
            let isShort = group.population + groups[other].population < limits.anonymity
            candidates.append((isShort ? 1 : 0, center(of: group).distance(to: center(of: groups[other])), other))
        }
        candidates.sort { $0 < $1 }
        var best: (cost: Double, other: Int, union: Group)?
        var tries = 0
        for (isShort, _, other) in candidates {
            if best != nil, isShort > 0 || tries == Self.mostPartners { break }
            let union = makeGroup(group.parts + groups[other].parts)
            guard union.reach <= reachLimit else { continue }
            tries += 1
            let cost = isShort > 0 ? 0 : cost(union) - cost(groups[other])
            if cost < best?.cost ?? .infinity { best = (cost, other, union) }
        }
        return best.map { ($0.other, $0.union) }
    }

    /// The nearest partners that are compared.
    private static let mostPartners = 8

    /// False where the two are too far apart along the line between their centers for one circle.
    private func fits(_ a: Group, _ b: Group) -> Bool {
        !parts.isWider(a.parts + b.parts, than: 2 * reachLimit, along: center(of: b) - center(of: a))
    }
}
