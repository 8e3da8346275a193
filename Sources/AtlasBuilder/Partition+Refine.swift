extension Partition {
    /// Moves parts across borders between regions: first people out of regions that stay short, then the parts that make
    /// a circle wide to regions whose circles hold them at less cost.
    mutating func refine(rounds: Int = 3) {
        for _ in 0..<rounds {
            var refiner = Refiner(self)
            let order = groups.indices.sorted {
                groups[$0].reach != groups[$1].reach ? groups[$0].reach > groups[$1].reach : $0 < $1
            }
            for index in order where groups[index].population < limits.anonymity { refiner.empty(index) }
            for index in order { refiner.shed(from: index) }
            groups = refiner.refined()
        }
    }
}

/// A partition whose parts change hands about fixed centers.
///
/// The cost of a region is its people times its accuracy, as in `Partition.split`.
private struct Refiner {
    let partition: Partition
    var members: [[Int32]]
    var population: [Double]
    var area: [Double]
    var reach: [Double]
    let grid: PointGrid

    var parts: PartSet { partition.parts }
    var anonymity: Double { partition.limits.anonymity }

    init(_ partition: Partition) {
        self.partition = partition
        members = partition.groups.map(\.parts)
        population = partition.groups.map(\.population)
        area = partition.groups.map(\.area)
        reach = partition.groups.map(\.reach)
        grid = PointGrid(
            partition.groups.map { partition.center(of: $0) }, indices: partition.groups.indices.map { Int32($0) },
            side: partition.reachLimit / 2)
    }

    private func accuracy(_ reach: Double) -> Double {
        partition.limits.accuracy(ofReach: reach)
    }

    private func center(_ group: Int) -> SIMD3<Double> { partition.groups[group].site.position }

    /// Where a part could go, and what that costs the people of both.
    private struct Move {
        var part: Int32
        var host: Int
        var cost: Double
        var reach: Double
    }

    /// The cheapest region other than `group` that holds enough people and whose circle can hold a part.
    private func cheapestMove(
        of part: Int32, from group: Int, _ grown: [Int: Double], by burden: (_ reach: Double) -> Double
    ) -> Move? {
        var best: Move?
        let middle = parts.center[Int(part)], residents = parts.population[Int(part)]
        grid.forEach(near: middle, within: partition.reachLimit) { host in
            guard host != group, population[host] >= anonymity else { return }
            let distance = center(host).distance(to: middle)
            guard distance <= partition.reachLimit else { return }
            let before = grown[host] ?? reach[host]
            // No corner is nearer than the middle is, so a dearer host is seen without looking at corners.
            func cost(_ reach: Double) -> Double {
                let after = burden(max(before, reach))
                return population[host] * (after - burden(before)) + residents * after
            }
            guard cost(distance) < best?.cost ?? .infinity else { return }
            let after = parts.reach(from: center(host), to: Int(part))
            guard after <= partition.reachLimit, cost(after) < best?.cost ?? .infinity else { return }
            best = Move(part: part, host: host, cost: cost(after), reach: max(before, after))
        }
        return best
    }

    /// Gives the people of a region short of them to regions that have enough, where that costs those no more than it is worth.
    mutating func empty(_ index: Int) {
        let site = partition.groups[index].site.part, least = partition.limits.obligation(of: population[index])
        for part in members[index] where part != site && parts.population[Int(part)] > 0 {
            if population[index] - parts.population[Int(part)] >= least { giveAway(part, from: index) }
        }
        if members[index] == [site] { giveAway(site, from: index) }
    }

    private mutating func giveAway(_ part: Int32, from index: Int) {
        let limits = partition.limits
        guard let move = cheapestMove(of: part, from: index, [:], by: limits.burden) else { return }
        let worth = limits.rescueWorth + limits.burden(ofReach: move.reach)
        if move.cost <= parts.population[Int(part)] * worth { carryOut([move], from: index) }
    }

    /// Gives away the parts farthest from a center, as many as lower the cost most.
    mutating func shed(from index: Int) {
        let center = center(index), site = partition.groups[index].site.part
        let order = members[index].map { (reach: parts.reach(from: center, to: Int($0)), part: $0) }
            .sorted { $0.reach != $1.reach ? $0.reach > $1.reach : $0.part < $1.part }
        guard let first = order.first, accuracy(first.reach) > partition.limits.smallestAccuracy else { return }
        let least = partition.limits.obligation(of: population[index])
        var left = (population: population[index], area: area[index])
        var moves: [Move] = [], grown: [Int: Double] = [:]
        var spent = 0.0
        var best: (gain: Double, count: Int) = (0, 0)
        let before = left.population * accuracy(first.reach)
        for (position, (_, part)) in order.dropLast().enumerated() where part != site {
            left.population -= parts.population[Int(part)]
            left.area -= parts.area[Int(part)]
            guard left.population >= least, left.area >= partition.limits.smallestCutArea,
                let move = cheapestMove(of: part, from: index, grown, by: accuracy)
            else { break }
            moves.append(move)
            grown[move.host] = move.reach
            spent += move.cost
            let gain = before - spent - left.population * accuracy(order[position + 1].reach)
            if gain > best.gain { best = (gain, moves.count) }
            // What costs more than all that is left could gain will not pay.
            if spent > before { break }
        }
        carryOut(moves.prefix(best.count), from: index)
    }

    private mutating func carryOut(_ moves: some Collection<Move>, from index: Int) {
        guard !moves.isEmpty else { return }
        let gone = Set(moves.map(\.part))
        members[index].removeAll { gone.contains($0) }
        for move in moves {
            let part = Int(move.part)
            population[index] -= parts.population[part]
            area[index] -= parts.area[part]
            members[move.host].append(move.part)
            population[move.host] += parts.population[part]
            area[move.host] += parts.area[part]
            reach[move.host] = max(reach[move.host], move.reach)
        }
        reach[index] = parts.reach(from: center(index), to: members[index])
    }

    /// The regions by their new members, about centers as good as or better than before.
    func refined() -> [Group] {
        zip(members, partition.groups).compactMap { members, group in
            if members.isEmpty { return nil }
            let ordered = members.sorted()
            return partition.makeGroup(ordered, site: ordered.contains(group.site.part) ? group.site : nil)
        }
    }
}
