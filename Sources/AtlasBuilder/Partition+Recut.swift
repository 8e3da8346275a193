extension Partition {
    /// People times accuracy: what a cut must lower.
    private func cost(population: Double, reach: Double) -> Double {
        population * limits.accuracy(ofReach: reach)
    }

    func cost(_ group: Group) -> Double { cost(population: group.population, reach: group.reach) }

    /// Cuts long regions anew together with a neighbor, where that makes the circles of the two smaller.
    mutating func recut(rounds: Int = 3) {
        var tried: Set<Pair> = []
        var version = [Int32](repeating: 0, count: groups.count)
        for _ in 0..<rounds {
            let grid = PointGrid(
                groups.map { center(of: $0) }, indices: groups.indices.map { Int32($0) },
                side: limits.smallestAccuracy)
            let order = groups.indices.filter { isLong(groups[$0]) }
                .sorted { groups[$0].reach != groups[$1].reach ? groups[$0].reach > groups[$1].reach : $0 < $1 }
            for index in order where isLong(groups[index]) { recut(index, grid, &tried, &version) }
        }
    }

    /// Two regions, and how often each had changed when they were to be cut anew.
    private struct Pair: Hashable {
        var region: Int32, version: Int32
        var other: Int32, otherVersion: Int32
    }

    /// Whether a region holds enough and is much wider than one of its area need be.
    private func isLong(_ group: Group) -> Bool {
        // A square's corner is 0.71 sides away, a circle's edge 0.56.
        group.population >= limits.anonymity && group.reach > 800 * group.area.squareRoot()
            && limits.accuracy(ofReach: group.reach) > limits.smallestAccuracy
    }

    private mutating func recut(_ index: Int, _ grid: PointGrid, _ tried: inout Set<Pair>, _ version: inout [Int32]) {
        let group = groups[index]
        var neighbors: [(distance: Double, index: Int)] = []
        grid.forEach(near: center(of: group), within: 2 * group.reach) { other in
            guard other != index, groups[other].population >= limits.anonymity else { return }
            let distance = center(of: group).distance(to: center(of: groups[other]))
            if distance <= group.reach + groups[other].reach { neighbors.append((distance, other)) }
        }
        var best: (saved: Double, other: Int, a: Group, b: Group)?
        for (_, other) in neighbors.sorted(by: { $0 < $1 }).prefix(6) {
            let pair = Pair(
                region: Int32(index), version: version[index], other: Int32(other), otherVersion: version[other])
            guard tried.insert(pair).inserted else { continue }
            let before = cost(group) + cost(groups[other])
            let cuts = Sweep(parts: parts, members: group.parts + groups[other].parts).cuts(
                anonymity: limits.anonymity, area: limits.smallestCutArea
            ) { population, reach in
                cost(population: population, reach: reach)
            }
            for (estimate, inner, outer) in cuts.prefix(2) where estimate < before {
                let a = makeGroup(inner), b = makeGroup(outer)
                let saved = before - cost(a) - cost(b)
                if a.reach <= reachLimit, b.reach <= reachLimit, saved > best?.saved ?? 0.01 * before {
                    best = (saved, other, a, b)
                }
            }
        }
        guard let best else { return }
        groups[index] = best.a
        groups[best.other] = best.b
        version[index] += 1
        version[best.other] += 1
    }
}

/// Looks for the best straight or circular cut through a set of parts.
private struct Sweep {
    let parts: PartSet
    let members: [Int32]
    /// Smallest and largest projection of each member on each of eight directions of the tangent plane.
    private var low: [[Double]] = []
    private var high: [[Double]] = []
    private var middle: [[Double]] = []

    init(parts: PartSet, members: [Int32]) {
        self.parts = parts
        self.members = members
        let up = parts.center[Int(members[0])]
        let axis = abs(up.z) < 0.9 * up.distance(to: .zero) ? SIMD3<Double>(0, 0, 1) : SIMD3<Double>(1, 0, 0)
        let east = axis.cross(up).unit, north = up.cross(east).unit
        for (c, s) in Sweep.directions {
            let direction = c * east + s * north
            var low = [Double](), high = [Double](), middle = [Double]()
            for member in members {
                var least = Double.infinity, most = -Double.infinity
                for k in parts.corners(Int(member)) {
                    let t = (parts.hull[k] * direction).sum()
                    least = min(least, t)
                    most = max(most, t)
                }
                low.append(least)
                high.append(most)
                middle.append((least + most) / 2)
            }
            self.low.append(low)
            self.high.append(high)
            self.middle.append(middle)
        }
    }

    /// Cosine and sine of multiples of 22.5°.
    private static let directions: [(Double, Double)] = [
        (1, 0), (0.9238795325112867, 0.3826834323650898), (0.7071067811865476, 0.7071067811865476),
        (0.3826834323650898, 0.9238795325112867), (0, 1), (-0.3826834323650898, 0.9238795325112867),
        (-0.7071067811865476, 0.7071067811865476), (-0.9238795325112867, 0.3826834323650898),
    ]

    /// The best cut of every order tried, cheapest first.
    func cuts(
        anonymity: Double, area: Double, cost: (Double, Double) -> Double
    ) -> [(cost: Double, inner: [Int32], outer: [Int32])] {
        var found: [(cost: Double, order: Int, position: Int)] = []
        let orders = middle + [distancesFromDensest(area: area)]
        var sorted: [[Int]] = []
        for (index, keys) in orders.enumerated() {
            let order = members.indices.sorted { keys[$0] != keys[$1] ? keys[$0] < keys[$1] : $0 < $1 }
            sorted.append(order)
            if let best = bestPosition(order, anonymity: anonymity, area: area, cost: cost) {
                found.append((best.cost, index, best.position))
            }
        }
        found.sort { $0.cost != $1.cost ? $0.cost < $1.cost : $0.order < $1.order }
        return found.map { cut in
            let order = sorted[cut.order]
            return (cut.cost, order[..<cut.position].map { members[$0] }, order[cut.position...].map { members[$0] })
        }
    }

    private func distancesFromDensest(area: Double) -> [Double] {
        let densest = members.max { a, b in
            let x = parts.population[Int(a)] / parts.area[Int(a)], y = parts.population[Int(b)] / parts.area[Int(b)]
            return x != y ? x < y : a > b
        }!
        let heart = parts.center[Int(densest)]
        return members.map { parts.center[Int($0)].distance(to: heart) }
    }

    /// Where along an order to cut: both sides large enough, and the estimated cost least.
    private func bestPosition(
        _ order: [Int], anonymity: Double, area: Double, cost: (Double, Double) -> Double
    ) -> (cost: Double, position: Int)? {
        let count = order.count
        var headPopulation = 0.0, headArea = 0.0
        let total = members.reduce(0.0) { $0 + parts.population[Int($1)] }
        let totalArea = members.reduce(0.0) { $0 + parts.area[Int($1)] }
        let tail = reaches(order.reversed())
        let head = reaches(order)
        var best: (cost: Double, position: Int)?
        for position in 1..<count {
            let part = Int(members[order[position - 1]])
            headPopulation += parts.population[part]
            headArea += parts.area[part]
            guard headPopulation >= anonymity, headArea >= area else { continue }
            guard total - headPopulation >= anonymity, totalArea - headArea >= area else { break }
            let value =
                cost(headPopulation, head[position - 1])
                + cost(total - headPopulation, tail[count - position - 1])
            if value < best?.cost ?? .infinity { best = (value, position) }
        }
        return best
    }

    /// Estimated reach of each prefix of an order: half its greatest width over eight directions, and a little.
    private func reaches(_ order: [Int]) -> [Double] {
        var least = [Double](repeating: .infinity, count: 8), most = [Double](repeating: -.infinity, count: 8)
        return order.map { member in
            var width = 0.0
            for d in 0..<8 {
                least[d] = min(least[d], low[d][member])
                most[d] = max(most[d], high[d][member])
                width = max(width, most[d] - least[d])
            }
            return width * 0.55
        }
    }
}
