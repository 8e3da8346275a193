import Hereabouts

/// Chooses centers so that as many people as possible live within reach of one, under the condition that parts can be
/// shared out among the centers so that each gets K residents, or K/2 about people whom no circle gives K, or whom those with
/// K do not reach.
///
/// A covering problem with a transport problem inside. Centers are added one at a time, those first that cover most
/// people whom none covers yet. A new center obtains its residents along *chains*: it takes parts from a neighbor, that
/// one from a third, until one is met that can spare them. So the assignment is feasible after each step. Then centers
/// that cover people nobody else covers are exchanged for others that cover more.
///
/// Circles of several sizes are chosen, the smallest first: each reaches as many people as it can whom no smaller one does, and the
/// largest the rest. Only people around whom no circle of the largest size holds several times K come before.
struct CenterChoice {
    let parts: PartSet
    let limits: RegionLimits

    /// A chosen center and what it owns.
    private struct Center {
        /// Its size, an index into `sizes`, and which of that size's candidates it is.
        var size: Int
        var candidate: Int
        /// Residents it must have: K or K/2.
        var need: Double
        var isOpen = true
        /// Residents of the parts it owns, as `counted`.
        var load = 0.0
    }

    /// Sizes of circles below the largest, as accuracy in meters: those of a city, of typical land and of the country. The typical one
    /// leaves room below 6 km for what straightening adds.
    private static let accuracies: [Double] = [2_700, 5_800, 9_000]
    private static let tileLevel = 10
    /// Nobody looks for a chain through more centers.
    private static let longestSearch = 80
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

    private var centers: [Center] = []
    /// Candidates by size, the smallest first.
    private var sizes: [CenterCandidates]
    /// The center that each part is assigned to; -1 for none.
    private var owner: [Int32]
    /// How many centers, of the size that is being chosen and smaller ones, reach each part.
    private var covers: [Int32]
    /// Whether a part holds the site of a center.
    private var isSite: [Bool]
    /// Promised residents of each part whom no circle gives K; of others none.
    private let beyond: [Double]
    /// How many people whom no center reaches each candidate of the largest size must, to have K/2.
    private let leastGainsOfHalf: [Double]
    /// What each part counts for a center: its promised residents, but no more than its share of the smallest area of a region, so
    /// that K of these take up that area too.
    private let counted: [Double]
    /// Assignments changed since an insertion began, to take it back, with the stamps of their tiles before.
    private var log: [(part: Int32, owner: Int32, stamp: Int)] = []
    /// The tile of each part: a cell of some 9 km.
    private let tile: [Int32]
    /// Where the parts of each tile end.
    private let tileEnd: [Int32]
    /// A number for the state of each tile, owners and sites: another one for each that it has been in.
    private var stamps: [Int]
    private var lastStamp = 0
    private var visits: [Visit] = []
    private var givers: [Givers?] = []
    /// Scratch of `findGivers`: where a center is in the list; -1 between calls.
    private var position: [Int] = []
    private var searches = 0

    private var anonymity: Double { limits.anonymity }
    private var largest: Int { sizes.count - 1 }

    /// `reach`: largest distance from center to corner, meters.
    init(parts: PartSet, limits: RegionLimits, reach: Double) {
        self.parts = parts
        self.limits = limits
        let anonymity = limits.anonymity
        // A little more, for areas that are summed in another order.
        let densest = anonymity / (1.001 * limits.smallestCutArea)
        counted = parts.population.indices.map { min(parts.population[$0], parts.area[$0] * densest) }
        let smaller = Self.accuracies.map { limits.reach(ofAccuracy: $0) }.filter { $0 < reach }
        sizes = smaller.map { CenterCandidates(parts, anonymity: anonymity, reach: $0, thinLevel: 12) }
        sizes.append(CenterCandidates(parts, anonymity: anonymity, reach: reach, thinLevel: 11))
        let candidates = sizes[sizes.count - 1]
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
        owner = [Int32](repeating: -1, count: parts.count)
        covers = [Int32](repeating: 0, count: parts.count)
        isSite = [Bool](repeating: false, count: parts.count)
        let tiles = parts.units(0..<parts.count, level: Self.tileLevel)
        tile = zip(tiles, 0...).flatMap { unit, index in repeatElement(Int32(index), count: unit.count) }
        tileEnd = tiles.map { Int32($0.upperBound) }
        stamps = [Int](repeating: 0, count: tiles.count)
    }

    /// Estimated residents whom no circle of the largest size that was tried gives K: hardly any partition could.
    var unreachableResidents: Double {
        parts.residents.indices.reduce(0) { beyond[$1] > 0 ? $0 + parts.residents[$1] : $0 }
    }

    /// The parts of each center, and those out of reach of any.
    mutating func choose() -> (groups: [(site: Site, parts: [Int32])], rest: [Int32]) {
        addGreedily()
        for need in [anonymity, anonymity / 2] {
            for _ in 0..<Self.rounds where !exchange(need) { break }
        }
        adoptOrphans()
        var members = [[Int32]](repeating: [], count: centers.count), rest: [Int32] = []
        for part in 0..<parts.count {
            if owner[part] >= 0 { members[Int(owner[part])].append(Int32(part)) } else { rest.append(Int32(part)) }
        }
        return (centers.indices.filter { centers[$0].isOpen }.map { (site(of: $0), members[$0]) }, rest)
    }

    // MARK: Greedy

    /// Adds centers as long as any covers more people. Those whom not even the best circle gives K get K/2 first, at the price of
    /// `mostTaken`; then those whom few circles give K; then all others, the smallest circles first.
    private mutating func addGreedily() {
        add(largest, need: anonymity / 2, worth: beyond)
        let most = sizes[largest].most
        var worth = worth(largest)
        for part in 0..<parts.count where most[part] >= Self.hard * anonymity { worth[part] = 0 }
        add(largest, need: anonymity, worth: worth)
        for size in sizes.indices {
            countCovers(size)
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

    /// Counts the centers that reach each part, of this size and smaller ones.
    private mutating func countCovers(_ size: Int) {
        covers = [Int32](repeating: 0, count: parts.count)
        for index in centers.indices where centers[index].isOpen && centers[index].size <= size {
            for part in disc(of: index) { covers[part] += 1 }
        }
    }

    /// What the parts of a disc that no center covers are worth.
    private func uncoveredWorth(_ disc: Disc, _ worth: [Double]) -> Double {
        disc.reduce(0) { covers[$1] == 0 ? $0 + worth[$1] : $0 }
    }

    /// Adds centers that need so many residents, those first that cover parts of most worth which none covers yet.
    private mutating func add(_ size: Int, need: Double, worth: [Double]) {
        let candidates = sizes[size]
        func least(_ candidate: Int) -> Double { leastGain(candidate, size: size, need: need) }
        func gain(_ candidate: Int) -> Double { uncoveredWorth(candidates.disc(candidate), worth) }
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
                    _ = insert(Center(size: size, candidate: candidate, need: need))
                    gains[candidate] = 0
                }
            }
            open.removeAll { gains[$0] < least($0) }
        }
    }

    private func site(of center: Center) -> Site { sizes[center.size].sites[center.candidate] }

    private func site(of center: Int) -> Site { site(of: centers[center]) }

    private func disc(of center: Int) -> Disc {
        sizes[centers[center].size].disc(centers[center].candidate)
    }

    private func reach(of center: Int) -> Double { sizes[centers[center].size].reach }

    // MARK: Insertion

    /// Adds a center if the assignment can be mended so that it and all others get their residents.
    private mutating func insert(_ center: Center) -> Bool {
        guard !isSite[Int(site(of: center).part)] else { return false }
        let mark = log.count
        let index = open(center)
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
    private mutating func open(_ center: Center) -> Int {
        let index = centers.count
        centers.append(center)
        note(site(of: index).part)
        isSite[Int(site(of: index).part)] = true
        for part in disc(of: index) {
            covers[part] += 1
            if owner[part] < 0 { assign(Int32(part), to: index) }
        }
        return index
    }

    /// Undoes `open`; nothing is assigned to the center any more.
    private mutating func close(_ index: Int) {
        for part in disc(of: index) { covers[part] -= 1 }
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

    /// Keeps what is about to change at a part, for `revert`; its tile is in another state from now on.
    private mutating func note(_ part: Int32) {
        let tile = Int(tile[Int(part)])
        log.append((part, owner[Int(part)], stamps[tile]))
        lastStamp += 1
        stamps[tile] = lastStamp
    }

    private mutating func assign(_ part: Int32, to center: Int) {
        let former = Int(owner[Int(part)])
        note(part)
        if former >= 0 { centers[former].load -= counted[Int(part)] }
        if center >= 0 { centers[center].load += counted[Int(part)] }
        owner[Int(part)] = Int32(center)
    }

    private mutating func revert(to mark: Int) {
        while log.count > mark {
            let (part, former, stamp) = log.removeLast()
            stamps[Int(tile[Int(part)])] = stamp
            let now = Int(owner[Int(part)])
            if now >= 0 { centers[now].load -= counted[Int(part)] }
            if former >= 0 { centers[Int(former)].load += counted[Int(part)] }
            owner[Int(part)] = former
        }
    }

    private func surplus(_ center: Int) -> Double { centers[center].load - centers[center].need }

    /// Brings a center to the residents that it needs, along chains.
    private mutating func fill(_ index: Int) -> Bool {
        guard canFill(index) else { return false }
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
        for part in disc(of: taker) where owner[part] == Int32(giver) && !isSite[part] {
            guard counted[part] > 0 else { continue }
            let middle = parts.center[part]
            offers.append((near.distance(to: middle) - far.distance(to: middle), Int32(part)))
        }
        offers.sort { $0.cost != $1.cost ? $0.cost < $1.cost : $0.part < $1.part }
        var got = 0.0
        for offer in offers where got < need {
            let residents = counted[Int(offer.part)]
            if residents <= surplus(giver) {
                assign(offer.part, to: taker)
                got += residents
            }
        }
        return got
    }

    /// What a search for chains knows of a center.
    private struct Visit {
        /// The search that met it; what an earlier one wrote does not count.
        var search = 0
        /// Who would take its parts; -1 for the center that the search began with.
        var taker = -1
        /// Residents of its parts that the taker reaches, and of the smallest of these parts.
        var sum = 0.0, least = 0.0
    }

    /// What a center could take from another: residents of the other's parts that its circle holds, and of the smallest of these parts.
    private struct Giver {
        var center: Int
        var sum: Double
        var least: Double
    }

    /// The centers from which a center could take parts. Most searches meet the same ones in the same state again, and where they
    /// do not, few of the circle's tiles have changed.
    private struct Givers {
        /// The circle that they were found for.
        let size: Int, candidate: Int
        var tiles: [Tile] = []
        var found: [Giver] = []

        struct Tile {
            let index: Int
            /// The circle's parts in it.
            var runs: [Range<Int32>] = []
            /// The state in which `found` was found; -1 for none.
            var stamp = -1
            var found: [Giver] = []
        }
    }

    /// The parts of a circle by tile.
    private func tiles(of disc: Disc) -> [Givers.Tile] {
        var tiles: [Givers.Tile] = []
        for run in disc.runs {
            var first = run.lowerBound
            while first < run.upperBound {
                let index = Int(tile[Int(first)])
                let end = min(run.upperBound, tileEnd[index])
                if tiles.last?.index != index { tiles.append(Givers.Tile(index: index)) }
                tiles[tiles.count - 1].runs.append(first..<end)
                first = end
            }
        }
        return tiles
    }

    /// Brings `givers` of a center up to date.
    private mutating func findGivers(of taker: Int) {
        while givers.count <= taker { givers.append(nil) }
        while position.count < centers.count { position.append(-1) }
        let center = centers[taker]
        var isKnown = false
        if let known = givers[taker], known.size == center.size, known.candidate == center.candidate {
            // By index here and below: a tile is not copied for a look at it.
            let tiles = known.tiles
            if tiles.indices.allSatisfy({ stamps[tiles[$0].index] == tiles[$0].stamp }) { return }
            isKnown = true
        }
        // Taken out, what is known is changed in place.
        var new =
            isKnown
            ? givers[taker].take()!
            : Givers(size: center.size, candidate: center.candidate, tiles: tiles(of: disc(of: taker)))
        for index in new.tiles.indices where new.tiles[index].stamp != stamps[new.tiles[index].index] {
            new.tiles[index].stamp = stamps[new.tiles[index].index]
            new.tiles[index].found.removeAll(keepingCapacity: true)
            for part in Disc(runs: new.tiles[index].runs[...]) {
                let giver = Int(owner[part]), residents = counted[part]
                guard giver >= 0, giver != taker, residents > 0, !isSite[part] else { continue }
                add(Giver(center: giver, sum: residents, least: residents), to: &new.tiles[index].found)
            }
            for giver in new.tiles[index].found { position[giver.center] = -1 }
        }
        new.found.removeAll(keepingCapacity: true)
        for index in new.tiles.indices { for giver in new.tiles[index].found { add(giver, to: &new.found) } }
        for giver in new.found { position[giver.center] = -1 }
        givers[taker] = new
    }

    /// Adds what a center could give to a list, whose places are in `position`.
    private mutating func add(_ giver: Giver, to found: inout [Giver]) {
        let known = position[giver.center]
        if known < 0 {
            position[giver.center] = found.count
            found.append(giver)
        } else {
            found[known].sum += giver.sum
            found[known].least = min(found[known].least, giver.least)
        }
    }

    /// Goes from a center to those from which it could take parts, to those from which these could, and so on: breadth first.
    private struct Search {
        /// The centers met, each after its taker; `visits` say what they could give.
        var queue: [Int]
        var head = 0
        /// Takers and givers that no chain may have next to each other.
        let banned: Set<Int64>
    }

    private mutating func search(from index: Int, _ banned: Set<Int64> = []) -> Search {
        searches += 1
        while visits.count < centers.count { visits.append(Visit()) }
        visits[index] = Visit(search: searches)
        return Search(queue: [index], banned: banned)
    }

    /// Where in the queue the next taker's new givers are; nil where the search ends.
    private mutating func advance(_ search: inout Search) -> Range<Int>? {
        guard search.head < search.queue.count, search.queue.count < Self.longestSearch else { return nil }
        let taker = search.queue[search.head], first = search.queue.count
        search.head += 1
        findGivers(of: taker)
        for giver in givers[taker]?.found ?? []
        where visits[giver.center].search < searches
            && !search.banned.contains(Int64(taker) << 32 | Int64(giver.center))
        {
            visits[giver.center] = Visit(search: searches, taker: taker, sum: giver.sum, least: giver.least)
            search.queue.append(giver.center)
        }
        return first..<search.queue.count
    }

    /// The shortest chain from a center to one that has residents to spare; the center itself comes first.
    private mutating func chain(to index: Int, _ banned: Set<Int64>) -> [Int]? {
        var search = search(from: index, banned)
        while let new = advance(&search) {
            var best: (sum: Double, giver: Int)?
            for giver in search.queue[new] {
                let visit = visits[giver], surplus = surplus(giver)
                let spare = min(visit.sum, surplus)
                if surplus >= visit.least, spare > best?.sum ?? 0 { best = (spare, giver) }
            }
            guard let best else { continue }
            var chain = [best.giver]
            while let last = chain.last, visits[last].taker >= 0 { chain.append(visits[last].taker) }
            return chain.reversed()
        }
        return nil
    }

    /// Whether the centers from which chains can come to a center have as many residents to spare as it lacks.
    private mutating func canFill(_ index: Int) -> Bool {
        var spare = surplus(index)
        if spare >= 0 { return true }
        var search = search(from: index)
        while let new = advance(&search) {
            for giver in search.queue[new] { spare += max(0, surplus(giver)) }
            if spare >= 0 { return true }
        }
        return false
    }

    // MARK: Exchange

    /// Tries to cover people whom no center covers by another center of the largest size, or by one in place of one nearby that needs
    /// as many residents. It must reach at least so many more; whether any did.
    private mutating func exchange(_ need: Double) -> Bool {
        let candidates = sizes[largest]
        func least(_ candidate: Int) -> Double { leastGain(candidate, size: largest, need: need) }
        var isChanged = false
        let uncovered = (0..<parts.count).filter { covers[$0] == 0 && parts.population[$0] > 0 }
            .sorted {
                parts.population[$0] != parts.population[$1] ? parts.population[$0] > parts.population[$1] : $0 < $1
            }
        var gains = [Double?](repeating: nil, count: candidates.sites.count)
        var isTried = [Bool](repeating: false, count: candidates.sites.count)
        for part in uncovered where covers[part] == 0 {
            var near: [(gain: Double, candidate: Int)] = []
            candidates.grid.forEach(near: parts.center[part], within: candidates.reach) { candidate in
                guard !isTried[candidate], candidates.within[candidate] >= need,
                    parts.isWithin(candidates.reach, of: candidates.sites[candidate].position, part: part)
                else { return }
                // Later exchanges may have changed it: it only says whom to try first.
                let gain = gains[candidate] ?? uncoveredWorth(candidates.disc(candidate), parts.population)
                gains[candidate] = gain
                if gain >= least(candidate) { near.append((gain, candidate)) }
            }
            near.sort { $0.gain != $1.gain ? $0.gain > $1.gain : $0.candidate < $1.candidate }
            for (_, candidate) in near.prefix(Self.mostTried) {
                isTried[candidate] = true
                let gain = uncoveredWorth(candidates.disc(candidate), parts.population)
                guard gain >= least(candidate) else { continue }
                let center = Center(size: largest, candidate: candidate, need: need)
                if insert(center) || replaceOne(by: center, gain: gain) {
                    isChanged = true
                    break
                }
            }
        }
        return isChanged
    }

    /// Adds a center in place of another, if more people are covered then.
    private mutating func replaceOne(by center: Center, gain: Double) -> Bool {
        let site = site(of: center), reach = sizes[center.size].reach
        var near: [(loss: Double, center: Int)] = []
        var seen: Set<Int32> = []
        for part in sizes[center.size].disc(center.candidate) {
            let owner = owner[part]
            if owner >= 0, centers[Int(owner)].need == center.need, seen.insert(owner).inserted {
                near.append((0, Int(owner)))
            }
        }
        for k in near.indices {
            let former = near[k].center
            let growth = limits.burden(ofReach: reach) - limits.burden(ofReach: self.reach(of: former))
            var loss = centers[former].load * growth / limits.rescueWorth
            for part in disc(of: former) where covers[part] == 1 {
                // As much is not worth it, however much more it is.
                if loss >= gain - 1 { break }
                if !parts.isWithin(reach, of: site.position, part: part) { loss += parts.population[part] }
            }
            near[k].loss = loss
        }
        near.sort { $0.loss != $1.loss ? $0.loss < $1.loss : $0.center < $1.center }
        for (loss, former) in near.prefix(Self.mostReplaced) where loss < gain - 1 {
            let heirs = Set(disc(of: former).map { owner[$0] }).subtracting([-1, Int32(former)]).sorted()
            let freed = disc(of: former).filter { owner[$0] == Int32(former) }.map { Int32($0) }
            for part in freed { assign(part, to: -1) }
            note(self.site(of: former).part)
            close(former)
            guard !isSite[Int(site.part)] else {
                reopen(former)
                continue
            }
            let index = open(center)
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
        for part in disc(of: index) { covers[part] += 1 }
        isSite[Int(site(of: index).part)] = true
        centers[index].isOpen = true
    }

    /// Assigns a part to the nearest center that reaches it, if there is any.
    private mutating func giveToNearest(_ part: Int32, of heirs: [Int32]) {
        guard covers[Int(part)] > 0 else { return }
        var best: (distance: Double, center: Int)?
        for index in heirs.map({ Int($0) }) {
            let d = site(of: index).position.distance(to: parts.center[Int(part)])
            if d < best?.distance ?? reach(of: index),
                parts.isWithin(reach(of: index), of: site(of: index).position, part: Int(part))
            {
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
            for part in disc(of: index) where isOrphan[part] {
                let distance = position.distance(to: parts.center[part])
                if distance < nearest[part] { (nearest[part], owner[part]) = (distance, Int32(index)) }
            }
        }
    }
}
