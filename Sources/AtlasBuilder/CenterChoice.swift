import Hereabouts

/// Chooses centers so that as many people as possible live within reach of one, under the condition that parts can be
/// shared out among the centers so that each gets K residents, or K/2 about people whom no circle gives K, or whom those with
/// K do not reach.
///
/// A covering problem with a transport problem inside. Centers are added one at a time, those first that cover most
/// people whom none covers yet. A new center obtains its residents along *chains*: it takes parts from a neighbor, that
/// one from a third, until one is met that can spare them. So the assignment is feasible after each step. Then centers
/// that cover people nobody else covers are exchanged for others that cover more. Where that finds no more, centers are *rearranged*:
/// a few are closed for one among people who have none, and what these leave bare is covered anew, as long as that brings people
/// closer to K ("ruin and recreate": Schrimpf and others, Record Breaking Optimization Results Using the Ruin and Recreate
/// Principle, 2000).
///
/// Circles of several sizes are chosen, the smallest first: each reaches as many people as it can whom no smaller one does, and the
/// largest the rest. Only people around whom no circle of the largest size holds several times K come before.
struct CenterChoice {
    typealias Center = CenterAssignment.Center

    /// Sizes of circles below the largest, as accuracy in meters: those of a city, of typical land and of the country. The typical one
    /// leaves room below 6 km for what straightening adds.
    private static let accuracies: [Double] = [2_700, 5_800, 9_000]
    /// So many new centers are tried for a part that none covers, and each in place of so many others at the most.
    private static let mostTried = 60, mostReplaced = 8
    /// Centers are exchanged in so many rounds.
    private static let rounds = 4

    /// For fewer people no center of the largest size is added, as a share of K.
    private static let smallestGain = 0.01
    /// The same for a smaller one, whose people have a larger circle without it.
    private static let smallestGainOfSmall = 0.1
    /// A center with K/2 may take so many people for each that it reaches from among those who could have K. Where people were counted,
    /// K/2 promised is what there is; where they are estimated, it is about K expected.
    private static let mostTaken = (counted: 2.0, estimated: 1.0)
    /// Where at least this share of the estimate is promised, people were counted.
    private static let leastShareOfCounted = 0.8
    /// People around whom no circle of the largest size holds so many times K have one first: smaller ones would leave too few.
    private static let hard = 4.0

    var assignment: CenterAssignment
    /// Promised residents of each part whom no circle gives K; of others none.
    private let beyond: [Double]
    /// How many people whom no center reaches each candidate of the largest size must, to have K/2.
    private let leastGainsOfHalf: [Double]

    var parts: PartSet { assignment.parts }
    private var limits: RegionLimits { assignment.limits }
    var anonymity: Double { limits.anonymity }
    /// Candidates by size, the smallest first.
    var sizes: [CenterCandidates] { assignment.sizes }
    var largest: Int { sizes.count - 1 }

    /// `reach`: largest distance from center to corner, meters.
    init(parts: PartSet, limits: RegionLimits, reach: Double) {
        let anonymity = limits.anonymity
        let smaller = Self.accuracies.map { limits.reach(ofAccuracy: $0) }.filter { $0 < reach }
        let candidates = CenterCandidates(parts, anonymity: anonymity, reach: reach, thinLevel: 11)
        let smallerCandidates = smaller.map { CenterCandidates(parts, anonymity: anonymity, reach: $0, thinLevel: 12) }
        assignment = CenterAssignment(parts: parts, sizes: smallerCandidates + [candidates], limits: limits)
        let beyond = parts.population.indices.map { candidates.most[$0] < anonymity ? parts.population[$0] : 0 }
        self.beyond = beyond
        leastGainsOfHalf = candidates.sites.indices.map { candidate in
            var promised = 0.0, estimated = 0.0, own = 0.0
            for part in candidates.disc(candidate) {
                promised += parts.population[part]
                estimated += parts.residents[part]
                own += beyond[part]
            }
            let isCounted = promised >= Self.leastShareOfCounted * estimated
            let mostTaken = isCounted ? Self.mostTaken.counted : Self.mostTaken.estimated
            return max(Self.smallestGain * anonymity, (anonymity / 2 - own) / mostTaken)
        }
    }

    /// Estimated residents whom no circle of the largest size that was tried gives K: hardly any partition could.
    var unreachableResidents: Double {
        parts.residents.indices.reduce(0) { beyond[$1] > 0 ? $0 + parts.residents[$1] : $0 }
    }

    /// The parts of each center, and those out of reach of any.
    mutating func choose() -> (groups: [(site: Site, parts: [Int32])], rest: [Int32]) {
        addGreedily()
        exchangeInRounds(anonymity)
        rearrange()
        exchangeInRounds(anonymity / 2)
        assignment.adoptOrphans()
        let centers = assignment.centers
        var members = [[Int32]](repeating: [], count: centers.count), rest: [Int32] = []
        for part in 0..<parts.count {
            let owner = Int(assignment.owner[part])
            if owner >= 0 { members[owner].append(Int32(part)) } else { rest.append(Int32(part)) }
        }
        let open = centers.indices.filter { centers[$0].isOpen }
        return (open.map { (assignment.site(of: $0), members[$0]) }, rest)
    }

    // MARK: Greedy

    /// Adds centers as long as any covers more people. Those whom not even the best circle gives K get K/2 first, at the price of
    /// `mostTaken`; then those whom few circles give K; then all others, the smallest circles first.
    mutating func addGreedily() {
        add(largest, need: anonymity / 2, worth: beyond)
        let most = sizes[largest].most
        var worth = worth(largest)
        for part in 0..<parts.count where most[part] >= Self.hard * anonymity { worth[part] = 0 }
        add(largest, need: anonymity, worth: worth)
        for size in sizes.indices {
            assignment.countCovers(upTo: size)
            add(size, need: anonymity, worth: self.worth(size))
        }
    }

    /// People who are harder to cover count for more: those around whom even the best circle holds hardly more than K.
    private func worth(_ size: Int) -> [Double] {
        zip(parts.population, sizes[size].most).map { $0 * (1 + 3 / max(0.05, $1 / anonymity - 1)) }
    }

    /// How many people whom no center reaches a new one must.
    private func leastGain(_ candidate: Int, size: Int, need: Double) -> Double {
        if need < anonymity { return leastGainsOfHalf[candidate] }
        return anonymity * (size < largest ? Self.smallestGainOfSmall : Self.smallestGain)
    }

    /// Adds centers that need so many residents, those first that cover parts of most worth which none covers yet.
    private mutating func add(_ size: Int, need: Double, worth: [Double]) {
        let candidates = sizes[size]
        func least(_ candidate: Int) -> Double { leastGain(candidate, size: size, need: need) }
        func gain(_ candidate: Int) -> Double { assignment.uncoveredWorth(candidates.disc(candidate), worth) }
        var gains = candidates.sites.indices.map { candidates.within[$0] >= need ? gain($0) : 0 }
        var open = candidates.sites.indices.filter { gains[$0] >= least($0) }
        var threshold = gains.max() ?? 0
        while !open.isEmpty {
            threshold *= 0.85
            let best = open.filter { gains[$0] >= threshold }
                .sorted { gains[$0] != gains[$1] ? gains[$0] > gains[$1] : $0 < $1 }
            for candidate in best {
                gains[candidate] = gain(candidate)
                if gains[candidate] >= max(threshold, least(candidate)) {
                    _ = assignment.insert(Center(size: size, candidate: candidate, need: need))
                    assignment.commit()
                    gains[candidate] = 0
                }
            }
            open.removeAll { gains[$0] < least($0) }
        }
    }

    // MARK: Exchange

    private mutating func exchangeInRounds(_ need: Double) {
        for _ in 0..<Self.rounds {
            let isChanged = cover(parts.population.indices.filter { isBare($0) }, need: need, mostTried: Self.mostTried)
            assignment.commit()
            if !isChanged { break }
        }
    }

    /// Whether people live in a part whom no center reaches.
    func isBare(_ part: Int) -> Bool { assignment.covers[part] == 0 && parts.population[part] > 0 }

    func mostPopulousFirst(_ indices: [Int]) -> [Int] {
        indices.sorted {
            parts.population[$0] != parts.population[$1] ? parts.population[$0] > parts.population[$1] : $0 < $1
        }
    }

    /// Candidates of the largest size that reach a part, those first that reach most people whom no center does, as far as `gain` knows:
    /// later changes may have made it another.
    func candidates(
        reaching part: Int, need: Double, least: (Int) -> Double, gain: (Int) -> Double
    ) -> [Int] {
        let candidates = sizes[largest]
        var near: [(gain: Double, candidate: Int)] = []
        candidates.grid.forEach(near: parts.center[part], within: candidates.reach) { candidate in
            guard candidates.within[candidate] >= need,
                parts.isWithin(candidates.reach, of: candidates.sites[candidate].position, part: part)
            else { return }
            let gain = gain(candidate)
            if gain >= least(candidate) { near.append((gain, candidate)) }
        }
        near.sort { $0.gain != $1.gain ? $0.gain > $1.gain : $0.candidate < $1.candidate }
        return near.map(\.candidate)
    }

    /// People whom no center reaches and this candidate of the largest size would.
    func gain(_ candidate: Int) -> Double {
        assignment.uncoveredWorth(sizes[largest].disc(candidate), parts.population)
    }

    /// Tries to cover parts that no center covers by another center of the largest size, or by one in place of one nearby that needs
    /// as many residents. It must reach at least so many more; whether any did. For each part so many candidates are tried. It gives
    /// up where the cost would stay above `goal` if all the rest were covered.
    @discardableResult
    mutating func cover(_ bare: [Int], need: Double, mostTried: Int, goal: Double = .infinity) -> Bool {
        func least(_ candidate: Int) -> Double { leastGain(candidate, size: largest, need: need) }
        let bare = mostPopulousFirst(bare)
        let worth = 1 - (need < anonymity ? CenterAssignment.costOfHalf : 0)
        var rest = people(bare[...]), isChanged = false
        // None once a candidate was tried.
        var gains: [Int: Double] = [:]
        for (index, part) in bare.enumerated() where assignment.covers[part] == 0 {
            if assignment.cost - rest * worth > goal { break }
            rest -= parts.population[part]
            let near = candidates(reaching: part, need: need, least: least) { candidate in
                if let gain = gains[candidate] { return gain }
                let gain = gain(candidate)
                gains[candidate] = gain
                return gain
            }
            for candidate in near.prefix(mostTried) {
                gains[candidate] = 0
                let gain = gain(candidate)
                guard gain >= least(candidate) else { continue }
                let center = Center(size: largest, candidate: candidate, need: need)
                if assignment.insert(center) || replaceOne(by: center, gain: gain) {
                    isChanged = true
                    rest = people(bare[(index + 1)...])
                    break
                }
            }
        }
        return isChanged
    }

    /// People in those of these parts that no center reaches.
    private func people(_ indices: ArraySlice<Int>) -> Double {
        indices.reduce(0) { assignment.covers[$1] == 0 ? $0 + parts.population[$1] : $0 }
    }

    /// Adds a center in place of another, if more people are covered then.
    private mutating func replaceOne(by center: Center, gain: Double) -> Bool {
        let site = assignment.site(of: center), reach = sizes[center.size].reach
        var near: [(loss: Double, center: Int)] = []
        for former in owners(in: assignment.disc(of: center)) where assignment.centers[former].need == center.need {
            let growth = limits.burden(ofReach: reach) - limits.burden(ofReach: assignment.reach(of: former))
            var loss = assignment.centers[former].load * growth / limits.rescueWorth
            for part in assignment.disc(of: former) where assignment.covers[part] == 1 {
                // As much is not worth it, however much more it is.
                if loss >= gain - 1 { break }
                if !parts.isWithin(reach, of: site.position, part: part) { loss += parts.population[part] }
            }
            near.append((loss, former))
        }
        near.sort { $0.loss != $1.loss ? $0.loss < $1.loss : $0.center < $1.center }
        for (loss, former) in near.prefix(Self.mostReplaced) where loss < gain - 1 {
            if assignment.insert(center, inPlaceOf: [former]) { return true }
        }
        return false
    }

    /// The centers that own parts of a disc.
    func owners(in disc: Disc) -> [Int] {
        var owners: [Int] = [], seen: Set<Int32> = [-1], last: Int32 = -1
        for part in disc where assignment.owner[part] != last {
            last = assignment.owner[part]
            if seen.insert(last).inserted { owners.append(Int(last)) }
        }
        return owners
    }
}
