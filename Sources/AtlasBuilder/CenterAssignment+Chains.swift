/// How a center obtains its residents: along *chains*. It takes parts from a neighbor, that one from a third, until one is met that can
/// spare them.
extension CenterAssignment {
    /// Nobody looks for a chain through more centers.
    private static let longestSearch = 80

    /// Brings a center to the residents that it needs, along chains.
    mutating func fill(_ index: Int) -> Bool {
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
    struct Visit {
        /// The search that met it; what an earlier one wrote does not count.
        var search = 0
        /// Who would take its parts; -1 for the center that the search began with.
        var taker = -1
        /// Residents of its parts that the taker reaches, and of the smallest of these parts.
        var sum = 0.0, least = 0.0
    }

    /// What a center could take from another: residents of the other's parts that its circle holds, and of the smallest of these parts.
    struct Giver {
        var center: Int
        var sum: Double
        var least: Double
    }

    /// The centers from which a center could take parts. Most searches meet the same ones in the same state again, and where they
    /// do not, few of the circle's tiles have changed.
    struct Givers {
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
}
