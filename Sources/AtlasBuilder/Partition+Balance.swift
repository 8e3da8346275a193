extension Partition {
    /// Shares neighbors' parts out anew, two regions at a time, along the line between the middles of their people, as near
    /// halfway as leaves K to both.
    ///
    /// A step is taken if it lowers people times accuracy. (Steps that bring people nearer to the middle of their region lead to
    /// compact regions, but to wider ones of those that circles of several sizes gave.)
    mutating func balance(rounds: Int = 6) {
        var middles = groups.map { middle(of: $0.parts) }
        var isChanged = [Bool](repeating: true, count: groups.count)
        for _ in 0..<rounds where isChanged.contains(true) {
            let grid = PointGrid(middles, indices: groups.indices.map { Int32($0) }, side: 4_000)
            let wasChanged = isChanged
            isChanged = [Bool](repeating: false, count: groups.count)
            for index in groups.indices where groups[index].population >= limits.anonymity {
                for other in neighbors(of: index, grid, middles) where wasChanged[index] || wasChanged[other] {
                    if balance(index, other, &middles) { (isChanged[index], isChanged[other]) = (true, true) }
                }
            }
        }
    }

    /// Regions no wider than one whose circles meet its own, the nearest first.
    private func neighbors(of index: Int, _ grid: PointGrid, _ middles: [SIMD3<Double>]) -> [Int] {
        let reach = groups[index].reach
        var found: [(distance: Double, index: Int)] = []
        grid.forEach(near: middles[index], within: 2 * reach) { other in
            guard other != index, groups[other].population >= limits.anonymity, groups[other].reach <= reach else {
                return
            }
            let distance = middles[index].distance(to: middles[other])
            if distance < reach + groups[other].reach { found.append((distance, other)) }
        }
        return found.sorted { $0 < $1 }.prefix(10).map(\.index)
    }

    /// Where the people of some parts live on average; where nobody does the parts count alike.
    private func middle(of members: [Int32]) -> SIMD3<Double> {
        var sum = SIMD3<Double>(), weight = 0.0
        for part in members.map({ Int($0) }) {
            let w = parts.population[part] + 0.001
            sum += w * parts.center[part]
            weight += w
        }
        return sum / weight
    }

    /// People times the root mean square of their distance from a point, meters.
    private func spread(_ members: [Int32], about point: SIMD3<Double>) -> Double {
        var people = 0.0, squares = 0.0
        for part in members.map({ Int($0) }) {
            let distance = parts.center[part].distance(to: point)
            people += parts.population[part]
            squares += parts.population[part] * distance * distance
        }
        return (people * squares).squareRoot()
    }

    private mutating func balance(_ a: Int, _ b: Int, _ middles: inout [SIMD3<Double>]) -> Bool {
        let pooled = (groups[a].parts + groups[b].parts).map { part -> (nearness: Double, part: Int32) in
            let toA = parts.center[Int(part)].distance(to: middles[a])
            let toB = parts.center[Int(part)].distance(to: middles[b])
            return (toA * toA - toB * toB, part)
        }.sorted { ($0.nearness, $0.part) < ($1.nearness, $1.part) }
        guard let count = cut(pooled, groups[a].population + groups[b].population, groups[a].area + groups[b].area)
        else { return false }
        let members = [pooled.prefix(count), pooled.dropFirst(count)].map { side in side.map(\.part).sorted() }
        guard members[0] != groups[a].parts.sorted() else { return false }
        let moved = members.map { middle(of: $0) }
        let before = spread(groups[a].parts, about: middles[a]) + spread(groups[b].parts, about: middles[b])
        let after = spread(members[0], about: moved[0]) + spread(members[1], about: moved[1])
        // Where people come to live so much farther from the middle, circles hardly ever get smaller.
        guard after < 1.1 * before else { return false }
        let made = members.map { makeGroup($0) }
        guard made.allSatisfy({ $0.reach <= reachLimit }),
            cost(made[0]) + cost(made[1]) < 0.999 * (cost(groups[a]) + cost(groups[b]))
        else { return false }
        (groups[a], groups[b]) = (made[0], made[1])
        (middles[a], middles[b]) = (moved[0], moved[1])
        return true
    }

    /// How many parts the first of two regions gets: those nearer to its middle, as far as both then have people and land
    /// enough.
    private func cut(_ pooled: [(nearness: Double, part: Int32)], _ population: Double, _ area: Double) -> Int? {
        var residents = 0.0, land = 0.0
        var best: Int?
        for (index, (nearness, part)) in pooled.enumerated() {
            residents += parts.population[Int(part)]
            land += parts.area[Int(part)]
            guard residents >= limits.anonymity, land >= limits.smallestCutArea else { continue }
            guard population - residents >= limits.anonymity, area - land >= limits.smallestCutArea else { break }
            best = index + 1
            if nearness >= 0 { break }
        }
        return best
    }
}
