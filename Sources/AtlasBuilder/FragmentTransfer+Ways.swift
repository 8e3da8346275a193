import HeapModule

/// Ways from fragments to the rest of their region.
extension FragmentTransfer {
    /// What a part costs without residents, so that the way is short where nobody lives.
    private static let costOfPart = 1.0
    /// How many regions are avoided in turn.
    private static let mostDetours = 4

    /// Lets the rest of a region touch all those that tell a fragment of it apart.
    mutating func approach(_ tellers: Set<Int32>, of fragment: [Int32], _ giver: Int, mayLack: Bool) throws
        -> Bool
    {
        var changed = self
        for teller in tellers.sorted().map(Int.init) where changed.tellers(of: fragment, giver).contains(Int32(teller))
        {
            guard
                try changed.connect(changed.large(of: giver), with: teller, mayLack: mayLack)
                    || changed.connect(changed.large(of: teller), with: giver, mayLack: mayLack)
            else { return false }
        }
        guard changed.tellers(of: fragment, giver).isEmpty else { return false }
        self = changed
        return true
    }

    /// The parts of a region that are not in small fragments.
    func large(of region: Int) -> [Int32] {
        let members = regions[region].group.parts, small = Set(besides(members).joined())
        return members.filter { !small.contains($0) }
    }

    /// Gives a region the parts between some and its fragments that are not small, those with fewest residents: within one circle
    /// there is nothing between two parts that it could not hold. With `mayLack` those who give them may lack some of the residents that
    /// they owe.
    mutating func connect(_ start: [Int32], with giver: Int, mayLack: Bool) throws -> Bool {
        var avoided: Set<Int> = []
        while avoided.count < Self.mostDetours {
            guard let way = cheapestWay(from: start, of: giver, avoided) else { return false }
            let group = regions[giver].group
            var groups = [giver: Group(parts: group.parts + way, in: parts, site: group.site)]
            var spoiled: Set<Int> = []
            let given = Dictionary(grouping: way) { Int(owner[Int($0)]) }
            for (donor, given) in given.sorted(by: { $0.key < $1.key }) {
                // What this cuts off goes along.
                let kept = regions[donor].group.parts.filter { !given.contains($0) }, known = Set(small(of: donor))
                let cutOff = mayLack ? Set(smallOnes(of: kept)).subtracting(known).flatMap(\.self).sorted() : []
                if parts.reach(from: group.site.position, to: cutOff) <= limits.largestReach(isEmpty: false),
                    let rest = rest(of: regions[donor].group, without: given + cutOff),
                    smallOnes(of: rest.parts).count <= known.count
                {
                    groups[donor] = rest
                    groups[giver] = Group(parts: groups[giver]!.parts + cutOff, in: parts, site: group.site)
                } else {
                    spoiled.insert(donor)
                }
            }
            // What compensates one may be another's, so all have given by then.
            for donor in groups.keys.sorted() where donor != giver && spoiled.isEmpty {
                if !settle(donor, in: &groups, besides: [giver], mayLack: mayLack) { spoiled.insert(donor) }
            }
            if spoiled.isEmpty { return try replace(groups) }
            avoided.formUnion(spoiled)
        }
        return false
    }

    /// The parts on the way from some to a region's fragments that are not small, over sides and corners of cells, that have
    /// fewest residents together; none that is the center of its region, lies outside of this one's circle, or belongs to a
    /// region to avoid.
    private func cheapestWay(from start: [Int32], of giver: Int, _ avoided: Set<Int>) -> [Int32]? {
        let group = regions[giver].group, limit = limits.largestReach(isEmpty: false)
        let goal = Set(large(of: giver))
        var cost: [Int32: Double] = [:], previous: [Int32: Int32] = [:], done: Set<Int32> = []
        var open = Heap<Step>()
        for part in start {
            cost[part] = 0
            open.insert(Step(cost: 0, part: part))
        }
        while let step = open.popMin() {
            guard done.insert(step.part).inserted else { continue }
            if goal.contains(step.part) {
                let way = sequence(first: step.part) { previous[$0] }
                return way.filter { owner[Int($0)] != Int32(giver) && cost[$0]! > 0 }.sorted()
            }
            for next in fragments.touching([step.part]) where !done.contains(next) {
                let region = Int(owner[Int(next)])
                var total = step.cost
                if region != giver {
                    guard !avoided.contains(region), regions[region].group.site.part != next,
                        parts.isWithin(limit, of: group.site.position, part: Int(next))
                    else { continue }
                    total += parts.residents[Int(next)] + Self.costOfPart
                }
                if total < cost[next] ?? .infinity {
                    (cost[next], previous[next]) = (total, step.part)
                    open.insert(Step(cost: total, part: next))
                }
            }
        }
        return nil
    }

    private struct Step: Comparable {
        var cost: Double
        var part: Int32

        static func < (a: Step, b: Step) -> Bool { (a.cost, a.part) < (b.cost, b.part) }
    }
}
