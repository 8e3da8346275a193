extension Partition {
    /// Joins short regions with each other wherever a circle holds both; most populous first.
    mutating func joinShortNeighbors() {
        let anonymity = limits.anonymity
        join(where: { $0.population < anonymity }, with: { $0.population < anonymity })
    }

    /// Joins what is short or too small with any neighbor wherever a circle holds both.
    mutating func repair() {
        let anonymity = limits.anonymity, area = smallestCutArea
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

    /// The neighbor whose union with the region costs its people least accuracy; one that fills the region first.
    private func bestPartner(
        of index: Int, grid: PointGrid, isAlive: [Bool], _ accepts: (Group) -> Bool
    ) -> (Int, Group)? {
        let group = groups[index]
        var candidates: [(cost: Double, index: Int)] = []
        grid.forEach(near: center(of: group), within: 2 * reachLimit) { other in
            guard other != index, isAlive[other], accepts(groups[other]), fits(group, groups[other]) else { return }
            let isFilled = group.population + groups[other].population >= limits.anonymity
            let d = center(of: group).distance(to: center(of: groups[other]))
            candidates.append((isFilled ? d : d + 4 * reachLimit, other))
        }
        candidates.sort { $0.cost != $1.cost ? $0.cost < $1.cost : $0.index < $1.index }
        for (_, other) in candidates {
            let union = makeGroup(group.parts + groups[other].parts)
            if union.reach <= reachLimit { return (other, union) }
        }
        return nil
    }

    /// False where the two are too far apart along the line between their centers for one circle.
    private func fits(_ a: Group, _ b: Group) -> Bool {
        !parts.isWider(a.parts + b.parts, than: 2 * reachLimit, along: center(of: b) - center(of: a))
    }
}
