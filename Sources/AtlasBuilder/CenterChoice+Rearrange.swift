/// Rearranging centers ("ruin and recreate"): what exchanging one for one does not find.
extension CenterChoice {
    /// There is a trial for so many residents of a country; for each pocket so many in a round.
    private static let residentsPerTrial = 5_000.0, trialsOfPocket = 12
    /// It ends where so many times as many people are short of K as no circle gives it, or after so many rounds in a row without gain.
    private static let mostShort = 1.6, mostIdle = 3
    /// No more centers are closed in a trial, and so many candidates tried for a part that it bares.
    private static let mostClosed = 5, mostTriedInTrial = 4
    /// Pockets of fewer people are not tried.
    private static let smallestPocket = 50.0

    /// Closes a few centers around people whom none reaches although a circle could give them K, opens one that reaches them, and covers
    /// what that bares; keeps it where the cost is lower by a person.
    mutating func rearrange() {
        var random = TrialSequence(state: 1)
        var trials = Int(parts.residents.reduce(0, +) / Self.residentsPerTrial), idle = 0
        let unreachable = unreachableResidents
        while trials > 0, idle < Self.mostIdle, shortResidents > Self.mostShort * unreachable {
            idle = rearrangePockets(&random, trials: &trials) ? 0 : idle + 1
        }
    }

    /// Estimated residents whom no center reaches or whose center has K/2.
    private var shortResidents: Double {
        parts.residents.indices.reduce(0) { sum, part in
            let owner = Int(assignment.owner[part])
            let isShort =
                assignment.covers[part] == 0 || owner >= 0 && assignment.centers[owner].need < anonymity
            return isShort ? sum + parts.residents[part] : sum
        }
    }

    /// One round, the largest pockets first, with so many trials left; whether any brought a gain. A pocket is what the best candidate
    /// reaches about a part. This one is tried first, then any that reach the part.
    mutating func rearrangePockets(_ random: inout TrialSequence, trials: inout Int) -> Bool {
        let most = sizes[largest].most
        var isSeen: Set<Int> = [], isChanged = false
        let bare = parts.population.indices.filter { isBare($0) && most[$0] >= anonymity }
        for part in mostPopulousFirst(bare) where assignment.covers[part] == 0 && !isSeen.contains(part) {
            let near = candidates(reaching: part, need: anonymity, least: { _ in 0 }, gain: gain)
            guard let best = near.first else { continue }
            isSeen.formUnion(sizes[largest].disc(best).filter { assignment.covers[$0] == 0 })
            guard gain(best) >= Self.smallestPocket else { continue }
            for trial in 0..<Self.trialsOfPocket where assignment.covers[part] == 0 {
                if trials == 0 { return isChanged }
                trials -= 1
                let candidate = trial == 0 ? best : near[random.next(below: near.count)]
                if rearrange(around: candidate, closing: 1 + trial % Self.mostClosed, &random) { isChanged = true }
            }
        }
        return isChanged
    }

    /// Opens a center after closing so many around it and covers what they leave bare; whether that pays, for else all is
    /// as before.
    private mutating func rearrange(around candidate: Int, closing count: Int, _ random: inout TrialSequence) -> Bool {
        let mark = assignment.mark
        let center = Center(size: largest, candidate: candidate, need: anonymity)
        let position = assignment.site(of: center).position
        // The nearest, more or less: another trial closes others.
        var near: [(distance: Double, center: Int)] = []
        for owner in owners(in: assignment.disc(of: center)) {
            let distance = position.distance(to: assignment.site(of: owner).position)
            near.append((distance * (0.3 + random.nextUnit()), owner))
        }
        near.sort { $0.distance != $1.distance ? $0.distance < $1.distance : $0.center < $1.center }
        guard assignment.insert(center, inPlaceOf: near.prefix(count).map(\.center)) else { return false }
        let goal = mark.cost - 1
        for need in [anonymity, anonymity / 2] {
            cover(assignment.bared(since: mark), need: need, mostTried: Self.mostTriedInTrial, goal: goal)
        }
        let pays = assignment.cost <= goal
        if !pays { assignment.revert(to: mark) }
        assignment.commit()
        return pays
    }
}

/// A linear congruential generator with Knuth's constants (MMIX): the same sequence on every machine.
struct TrialSequence {
    var state: UInt64

    private mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state >> 33
    }

    mutating func next(below limit: Int) -> Int { Int(next() % UInt64(limit)) }

    /// From 0 up to 1.
    mutating func nextUnit() -> Double { Double(next()) / Double(1 << 31) }
}
