import Hereabouts

/// Chooses centers so that as many people as possible live within reach of one, under the condition that parts can be
/// shared out among the centers so that each gets K residents, or K/2 about people whom no circle gives K, or whom those with
/// K do not reach.
///
/// A covering problem with a transport problem inside. Centers are added one at a time, those first that cover most
/// people whom none covers yet. A new center obtains its residents along *chains*: it takes parts from a neighbor, that
/// one from a third, until one is met that can spare them. So the assignment is feasible after each step. Then centers
/// that cover people nobody else covers are exchanged for others that cover more.
struct CenterChoice {
    let parts: PartSet
    let anonymity: Double
    /// Largest distance from center to corner, meters.
    let reach: Double

    /// A chosen center and what it owns.
    private struct Center {
        var candidate: Int
        /// Residents it must have: K or K/2.
        var need: Double
        var isOpen = true
        /// Residents of the parts it owns.
        var load = 0.0
    }

    /// Candidates lie about 4 km apart.
    private static let unitLevel = 11
    /// Nobody looks for a chain through more centers.
    private static let longestSearch = 80

    /// For fewer people no center is added, as a share of K.
    private static let smallestGain = 0.01
    /// The same for a center with K/2, which takes people from among those who could have K.
    private static let smallestGainOfHalf = 0.25

    private var centers: [Center] = []
    /// The center that each part is assigned to; -1 for none.
    private var owner: [Int32]
    /// How many centers reach each part.
    private var covers: [Int32]
    /// Whether a part holds the site of a center.
    private var isSite: [Bool]
    private let partGrid: PointGrid
    /// Points that may become centers.
    private var candidates: [Site] = []
    /// The parts within reach of each candidate, and where each candidate's begin.
    private var reached: [Int32] = []
    private var reachedStart = [0]
    /// The residents within reach of each candidate.
    private var within: [Double] = []
    /// The coarser cell of the last candidate, by which candidates are thinned in dense land.
    private var lastUnit: UInt64 = 0
    /// The most residents within reach of a candidate that reaches the part.
    private var most: [Double]
    private var candidateGrid: PointGrid
    /// Assignments changed since an insertion began, to take it back.
    private var log: [(part: Int32, owner: Int32)] = []

    init(parts: PartSet, anonymity: Double, reach: Double) {
        self.parts = parts
        self.anonymity = anonymity
        self.reach = reach
        owner = [Int32](repeating: -1, count: parts.count)
        covers = [Int32](repeating: 0, count: parts.count)
        most = [Double](repeating: 0, count: parts.count)
        isSite = [Bool](repeating: false, count: parts.count)
        partGrid = PointGrid(parts.center, indices: Array(0..<Int32(parts.count)), side: reach / 2)
        candidateGrid = PointGrid([], indices: [], side: reach / 2)
    }

    /// The parts of each center, and those out of reach of any.
    mutating func choose() -> (groups: [(site: Site, parts: [Int32])], rest: [Int32]) {
        findCandidates()
        addGreedily()
        for _ in 0..<3 where !exchange(anonymity, least: 0) { break }
        for _ in 0..<3 where !exchange(anonymity / 2, least: anonymity * Self.smallestGainOfHalf) { break }
        adoptOrphans()
        var members = [[Int32]](repeating: [], count: centers.count), rest: [Int32] = []
        for part in 0..<parts.count {
            if owner[part] >= 0 { members[Int(owner[part])].append(Int32(part)) } else { rest.append(Int32(part)) }
        }
        return (centers.indices.filter { centers[$0].isOpen }.map { (site(of: $0), members[$0]) }, rest)
    }

    // MARK: Candidates

    /// Points around which enough people live: the most populous part of each unit, and a lattice where parts are wide.
    private mutating func findCandidates() {
        var unit: UInt64?, best = -1
        for part in 0..<parts.count {
            let cell = CellID(rawValue: parts.cell[part])
            let ancestor = cell.level > Self.unitLevel ? cell.parent(level: Self.unitLevel).rawValue : cell.rawValue
            if ancestor != unit {
                addCandidates(of: best)
                (unit, best) = (ancestor, part)
            } else if (parts.isLand[part] ? 1 : 0, parts.population[part])
                > (parts.isLand[best] ? 1 : 0, parts.population[best])
            {
                best = part
            }
        }
        addCandidates(of: best)
        candidateGrid = PointGrid(
            candidates.map(\.position), indices: Array(0..<Int32(candidates.count)), side: reach / 2)
    }

    private mutating func addCandidates(of part: Int) {
        guard part >= 0 else { return }
        for site in [parts.sites[part]] + parts.lattice(of: part, level: Self.unitLevel) {
            let start = reached.count
            var residents = 0.0
            partGrid.forEach(near: site.position, within: reach) { other in
                if parts.isWithin(reach, of: site.position, part: other) {
                    reached.append(Int32(other))
                    residents += parts.population[other]
                }
            }
            // Where so many live any center will do.
            let unit = CellID(rawValue: parts.cell[part]).rangeMin.parent(level: residents < 6 * anonymity ? 11 : 10)
            let isAtSea = !parts.isLand[part] && !parts.mayBeCenter(site, of: Array(reached[start...]))
            if isAtSea || residents < anonymity / 2 || residents >= 3 * anonymity && unit.rawValue == lastUnit {
                reached.removeSubrange(start...)
                continue
            }
            lastUnit = unit.rawValue
            candidates.append(site)
            within.append(residents)
            reachedStart.append(reached.count)
            for other in reached[start...] { most[Int(other)] = max(most[Int(other)], residents) }
        }
    }

    /// The parts within reach of a candidate.
    private func disc(_ candidate: Int) -> ArraySlice<Int32> {
        reached[reachedStart[candidate]..<reachedStart[candidate + 1]]
    }

    /// Residents within reach of a candidate whom no center covers.
    private func gain(_ candidate: Int) -> Double {
        disc(candidate).reduce(0) { covers[Int($1)] == 0 ? $0 + parts.population[Int($1)] : $0 }
    }

    // MARK: Greedy

    /// Adds centers as long as any covers more people. Those whom not even the best circle gives K get K/2 first, where that
    /// takes it from no more people than it helps; then all others K. People who are harder to cover count for more: those
    /// around whom even the best circle holds hardly more than K.
    private mutating func addGreedily() {
        let beyond = parts.population.indices.map { most[$0] < anonymity ? parts.population[$0] : 0 }
        add(need: anonymity / 2, least: anonymity * Self.smallestGainOfHalf, worth: beyond)
        let worth = parts.population.indices.map { part in
            parts.population[part] * (1 + 3 / max(0.05, most[part] / anonymity - 1))
        }
        add(need: anonymity, least: anonymity * Self.smallestGain, worth: worth)
    }

    /// Adds centers that need so many residents, those first that cover parts of most worth which none covers yet.
    private mutating func add(need: Double, least: Double, worth: [Double]) {
        func gain(_ candidate: Int) -> Double {
            disc(candidate).reduce(0) { covers[Int($1)] == 0 ? $0 + worth[Int($1)] : $0 }
        }
        var gains = candidates.indices.map { within[$0] >= need ? gain($0) : 0 }
        var open = Array(candidates.indices)
        var threshold = gains.max() ?? 0
        while threshold >= least, !open.isEmpty {
            threshold *= 0.85
            open.sort { gains[$0] != gains[$1] ? gains[$0] > gains[$1] : $0 < $1 }
            var left: [Int] = []
            for candidate in open {
                if gains[candidate] >= threshold {
                    gains[candidate] = gain(candidate)
                    if gains[candidate] >= threshold {
                        _ = insert(candidate, need)
                        continue
                    }
                }
                if gains[candidate] >= least { left.append(candidate) }
            }
            open = left
        }
    }

    private func site(of center: Int) -> Site { candidates[centers[center].candidate] }

    private func disc(of center: Int) -> ArraySlice<Int32> { disc(centers[center].candidate) }

    // MARK: Insertion

    /// Adds a center if the assignment can be mended so that it and all others get their residents.
    private mutating func insert(_ candidate: Int, _ need: Double) -> Bool {
        guard !isSite[Int(candidates[candidate].part)] else { return false }
        let mark = log.count
        let index = open(candidate, need)
        if settle(index) {
            if mark == 0 { log.removeAll(keepingCapacity: true) }
            return true
        }
        revert(to: mark)
        close(index)
        centers.removeLast()
        return false
    }

    /// A new center, which owns its own part and what nobody did.
    private mutating func open(_ candidate: Int, _ need: Double) -> Int {
        let index = centers.count
        centers.append(Center(candidate: candidate, need: need))
        isSite[Int(site(of: index).part)] = true
        for part in disc(candidate) {
            covers[Int(part)] += 1
            if owner[Int(part)] < 0 { assign(part, to: index) }
        }
        return index
    }

    /// Undoes `open`; nothing is assigned to the center any more.
    private mutating func close(_ index: Int) {
        for part in disc(of: index) { covers[Int(part)] -= 1 }
        isSite[Int(site(of: index).part)] = false
        centers[index].isOpen = false
    }

    /// Gives a new center its own part and its residents; false where that cannot be done.
    private mutating func settle(_ index: Int) -> Bool {
        let own = site(of: index).part, former = Int(owner[Int(own)])
        if former != index {
            assign(own, to: index)
            if !fill(former) { return false }
        }
        return fill(index)
    }

    private mutating func assign(_ part: Int32, to center: Int) {
        let former = Int(owner[Int(part)])
        log.append((part, owner[Int(part)]))
        if former >= 0 { centers[former].load -= parts.population[Int(part)] }
        if center >= 0 { centers[center].load += parts.population[Int(part)] }
        owner[Int(part)] = Int32(center)
    }

    private mutating func revert(to mark: Int) {
        while log.count > mark {
            let (part, former) = log.removeLast()
            let now = Int(owner[Int(part)])
            if now >= 0 { centers[now].load -= parts.population[Int(part)] }
            if former >= 0 { centers[Int(former)].load += parts.population[Int(part)] }
            owner[Int(part)] = former
        }
    }

    private func surplus(_ center: Int) -> Double { centers[center].load - centers[center].need }

    /// Brings a center to the residents that it needs, along chains.
    private mutating func fill(_ index: Int) -> Bool {
        var banned: Set<Int64> = []
        while surplus(index) < 0 {
            guard let chain = chain(to: index, banned) else { return false }
            var got = 0.0
            var to = chain.count - 2
            while to >= 0 {
                got = pass(from: chain[to + 1], to: chain[to], need: -surplus(index))
                if got <= 0 {
                    banned.insert(Int64(chain[to]) << 32 | Int64(chain[to + 1]))
                    break
                }
                to -= 1
            }
            if banned.count > 40 { return false }
        }
        return true
    }

    /// Hands parts over, nearest to the taker first, as long as the giver keeps what it needs.
    private mutating func pass(from giver: Int, to taker: Int, need: Double) -> Double {
        let near = site(of: taker).position, far = site(of: giver).position
        var offers: [(cost: Double, part: Int32)] = []
        for part in disc(of: taker) where owner[Int(part)] == Int32(giver) && !isSite[Int(part)] {
            guard parts.population[Int(part)] > 0 else { continue }
            let middle = parts.center[Int(part)]
            offers.append((near.distance(to: middle) - far.distance(to: middle), part))
        }
        offers.sort { $0.cost != $1.cost ? $0.cost < $1.cost : $0.part < $1.part }
        var got = 0.0
        for offer in offers where got < need {
            let residents = parts.population[Int(offer.part)]
            if residents <= surplus(giver) {
                assign(offer.part, to: taker)
                got += residents
            }
        }
        return got
    }

    /// The shortest chain from a center to one that has residents to spare; the center itself comes first.
    private func chain(to index: Int, _ banned: Set<Int64>) -> [Int]? {
        var from: [Int: Int] = [index: -1]
        var queue = [index], head = 0
        while head < queue.count, queue.count < Self.longestSearch {
            let taker = queue[head]
            head += 1
            var available: [Int32: (sum: Double, least: Double)] = [:]
            var order: [Int32] = []
            for part in disc(of: taker) {
                let giver = owner[Int(part)], residents = parts.population[Int(part)]
                guard giver >= 0, giver != Int32(taker), residents > 0, !isSite[Int(part)] else { continue }
                if let known = available[giver] {
                    available[giver] = (known.sum + residents, min(known.least, residents))
                } else {
                    available[giver] = (residents, residents)
                    order.append(giver)
                }
            }
            var best: (sum: Double, giver: Int)?
            for giver in order where from[Int(giver)] == nil {
                if !banned.isEmpty, banned.contains(Int64(taker) << 32 | Int64(giver)) { continue }
                from[Int(giver)] = taker
                queue.append(Int(giver))
                let (sum, least) = available[giver]!
                let spare = min(sum, surplus(Int(giver)))
                if surplus(Int(giver)) >= least, spare > best?.sum ?? 0 { best = (spare, Int(giver)) }
            }
            if let best {
                var chain = [best.giver], at = taker
                while at >= 0 {
                    chain.append(at)
                    at = from[at]!
                }
                return chain.reversed()
            }
        }
        return nil
    }

    // MARK: Exchange

    /// Tries to cover people whom no center covers by another center, or by one in place of one nearby that needs as many
    /// residents. It must reach at least so many more; whether any did.
    private mutating func exchange(_ need: Double, least: Double) -> Bool {
        var isChanged = false
        let uncovered = (0..<parts.count).filter { covers[$0] == 0 && parts.population[$0] > 0 }
            .sorted {
                parts.population[$0] != parts.population[$1] ? parts.population[$0] > parts.population[$1] : $0 < $1
            }
        var tried: Set<Int> = []
        for part in uncovered where covers[part] == 0 {
            var near: [(gain: Double, candidate: Int)] = []
            candidateGrid.forEach(near: parts.center[part], within: reach) { candidate in
                guard !tried.contains(candidate), within[candidate] >= need,
                    parts.isWithin(reach, of: candidates[candidate].position, part: part)
                else { return }
                let gain = gain(candidate)
                if gain >= least { near.append((gain, candidate)) }
            }
            near.sort { $0.gain != $1.gain ? $0.gain > $1.gain : $0.candidate < $1.candidate }
            for (_, candidate) in near.prefix(12) {
                tried.insert(candidate)
                if insert(candidate, need) || replaceOne(by: candidate, need) {
                    isChanged = true
                    break
                }
            }
        }
        return isChanged
    }

    /// Adds a center in place of another, if more people are covered then.
    private mutating func replaceOne(by candidate: Int, _ need: Double) -> Bool {
        let site = candidates[candidate]
        var near: [(loss: Double, center: Int)] = []
        var seen: Set<Int32> = []
        for part in disc(candidate) {
            let owner = owner[Int(part)]
            if owner >= 0, centers[Int(owner)].need == need, seen.insert(owner).inserted {
                near.append((0, Int(owner)))
            }
        }
        let gain = gain(candidate)
        for k in near.indices {
            var loss = 0.0
            for part in disc(of: near[k].center) where covers[Int(part)] == 1 {
                if !parts.isWithin(reach, of: site.position, part: Int(part)) { loss += parts.population[Int(part)] }
            }
            near[k].loss = loss
        }
        near.sort { $0.loss != $1.loss ? $0.loss < $1.loss : $0.center < $1.center }
        for (loss, former) in near.prefix(8) where loss < gain - 1 {
            let heirs = Set(disc(of: former).map { owner[Int($0)] }).subtracting([-1, Int32(former)]).sorted()
            let freed = disc(of: former).filter { owner[Int($0)] == Int32(former) }
            for part in freed { assign(part, to: -1) }
            close(former)
            guard !isSite[Int(site.part)] else {
                reopen(former)
                continue
            }
            let index = open(candidate, need)
            for part in freed where owner[Int(part)] < 0 { giveToNearest(part, of: heirs) }
            if settle(index) {
                log.removeAll(keepingCapacity: true)
                return true
            }
            revert(to: 0)
            close(index)
            centers.removeLast()
            reopen(former)
        }
        return false
    }

    private mutating func reopen(_ index: Int) {
        revert(to: 0)
        for part in disc(of: index) { covers[Int(part)] += 1 }
        isSite[Int(site(of: index).part)] = true
        centers[index].isOpen = true
    }

    /// Assigns a part to the nearest center that reaches it, if there is any.
    private mutating func giveToNearest(_ part: Int32, of heirs: [Int32]) {
        guard covers[Int(part)] > 0 else { return }
        var best: (distance: Double, center: Int)?
        for index in heirs.map({ Int($0) }) {
            let d = site(of: index).position.distance(to: parts.center[Int(part)])
            if d < best?.distance ?? reach, parts.isWithin(reach, of: site(of: index).position, part: Int(part)) {
                best = (d, index)
            }
        }
        if let best { assign(part, to: best.center) }
    }

    /// Parts that nobody took go to the nearest center in reach.
    private mutating func adoptOrphans() {
        var nearest = [Double](repeating: .infinity, count: parts.count)
        let isOrphan = owner.indices.map { owner[$0] < 0 || parts.population[$0] == 0 && !isSite[$0] }
        for index in centers.indices where centers[index].isOpen {
            let position = site(of: index).position
            for part in disc(of: index).map({ Int($0) }) where isOrphan[part] {
                let distance = position.distance(to: parts.center[part])
                if distance < nearest[part] { (nearest[part], owner[part]) = (distance, Int32(index)) }
            }
        }
    }
}
