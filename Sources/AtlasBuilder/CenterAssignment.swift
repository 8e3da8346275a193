import Hereabouts

/// Centers, and which of them each part is assigned to. Every center keeps the residents it needs, or the change is taken back: what
/// has changed since a mark can be.
struct CenterAssignment {
    let parts: PartSet
    /// Candidates by size, the smallest first.
    let sizes: [CenterCandidates]
    /// What each part counts for a center: its promised residents, but no more than its share of the smallest area of a region, so
    /// that K of these take up that area too.
    let counted: [Double]
    private(set) var centers: [Center] = []
    /// The center that each part is assigned to; -1 for none.
    private(set) var owner: [Int32]
    /// How many centers, of the size that is being chosen and smaller ones, reach each part.
    private(set) var covers: [Int32]
    /// Whether a part holds the site of a center.
    private(set) var isSite: [Bool]
    /// What falls short, in people: those whom no center reaches, `Self.costOfHalf` of those whose center has K/2, and something for
    /// large circles. Only differences count.
    private(set) var cost = 0.0

    /// What changed, and what was before.
    private enum Change {
        /// Another center has a part, or it is a site or none any more.
        case part(Int32, owner: Int32, stamp: Int)
        /// The last center was opened.
        case opened
        case closed(Int)
    }

    /// What changed since nothing could be taken back.
    private var journal: [Change] = []
    let limits: RegionLimits
    /// What a person in a circle of each size costs, in people.
    private let burdens: [Double]
    /// What a person whose center has K/2 costs more than one whose center has K, in people.
    static let costOfHalf = 0.6
    /// How much the size of circles counts, by what a rescue is worth (`RegionLimits.burden`): less than at the end, for later passes
    /// make circles smaller.
    private static let weightOfSize = 0.3

    private static let tileLevel = 10
    /// The tile of each part: a cell of some 9 km.
    let tile: [Int32]
    /// Where the parts of each tile end.
    let tileEnd: [Int32]
    /// A number for the state of each tile, owners and sites: another one for each that it has been in.
    private(set) var stamps: [Int]
    private var lastStamp = 0
    // What searches for chains keep (CenterAssignment+Chains.swift).
    var visits: [Visit] = []
    var givers: [Givers?] = []
    /// Scratch of `findGivers`: where a center is in the list; -1 between calls.
    var position: [Int] = []
    var searches = 0

    /// A chosen center and what it owns.
    struct Center {
        /// Its size, an index into `sizes`, and which of that size's candidates it is.
        var size: Int
        var candidate: Int
        /// Residents it must have: K or K/2.
        var need: Double
        var isOpen = true
        /// Residents of the parts it owns, as `counted`.
        var load = 0.0
        /// What each of these costs, in people.
        fileprivate(set) var price = 0.0

        init(size: Int, candidate: Int, need: Double) {
            (self.size, self.candidate, self.need) = (size, candidate, need)
        }
    }

    init(parts: PartSet, sizes: [CenterCandidates], limits: RegionLimits) {
        self.parts = parts
        self.sizes = sizes
        self.limits = limits
        burdens = sizes.map { Self.weightOfSize * limits.burden(ofReach: $0.reach) / limits.rescueWorth }
        // A little more, for areas that are summed in another order.
        let densest = limits.anonymity / (1.001 * limits.smallestCutArea)
        counted = parts.population.indices.map { min(parts.population[$0], parts.area[$0] * densest) }
        owner = [Int32](repeating: -1, count: parts.count)
        covers = [Int32](repeating: 0, count: parts.count)
        isSite = [Bool](repeating: false, count: parts.count)
        let tiles = parts.units(0..<parts.count, level: Self.tileLevel)
        tile = zip(tiles, 0...).flatMap { unit, index in repeatElement(Int32(index), count: unit.count) }
        tileEnd = tiles.map { Int32($0.upperBound) }
        stamps = [Int](repeating: 0, count: tiles.count)
    }

    func site(of center: Center) -> Site { sizes[center.size].sites[center.candidate] }

    func site(of center: Int) -> Site { site(of: centers[center]) }

    func disc(of center: Center) -> Disc { sizes[center.size].disc(center.candidate) }

    func disc(of center: Int) -> Disc { disc(of: centers[center]) }

    func reach(of center: Int) -> Double { sizes[centers[center].size].reach }

    func surplus(_ center: Int) -> Double { centers[center].load - centers[center].need }

    /// Counts the centers that reach each part, of this size and smaller ones.
    mutating func countCovers(upTo size: Int) {
        covers = [Int32](repeating: 0, count: parts.count)
        for index in centers.indices where centers[index].isOpen && centers[index].size <= size {
            for part in disc(of: index) { covers[part] += 1 }
        }
    }

    /// What the parts of a disc that no center reaches are worth.
    func uncoveredWorth(_ disc: Disc, _ worth: [Double]) -> Double {
        var sum = 0.0
        for run in disc.runs {
            for part in Int(run.lowerBound)..<Int(run.upperBound) where covers[part] == 0 { sum += worth[part] }
        }
        return sum
    }

    // MARK: Changes

    /// How far the journal has come, and the cost there.
    struct Mark {
        fileprivate let count: Int
        let cost: Double
    }

    var mark: Mark { Mark(count: journal.count, cost: cost) }

    /// Nothing that has changed can be taken back any more.
    mutating func commit() { journal.removeAll(keepingCapacity: true) }

    mutating func revert(to mark: Mark) {
        while journal.count > mark.count {
            switch journal.removeLast() {
            case .part(let part, let former, let stamp):
                stamps[Int(tile[Int(part)])] = stamp
                move(part, to: former)
            case .opened:
                setOpen(centers.count - 1, false)
                centers.removeLast()
            case .closed(let index):
                setOpen(index, true)
            }
        }
        cost = mark.cost
    }

    /// Parts with people that centers closed since a mark reached, and that none does now.
    func bared(since mark: Mark) -> [Int] {
        var bared: Set<Int> = []
        for case .closed(let index) in journal[mark.count...] {
            for part in disc(of: index) where covers[part] == 0 && parts.population[part] > 0 { bared.insert(part) }
        }
        return Array(bared)
    }

    /// Adds a center in place of others, whose parts go to it and to those around, if the assignment can be mended so that it and all
    /// that stay get their residents.
    mutating func insert(_ center: Center, inPlaceOf formers: [Int] = []) -> Bool {
        let mark = mark, own = site(of: center).part
        var heirs: Set<Int32> = [], freed: [Int32] = []
        for former in formers {
            var last: Int32 = -1
            for part in disc(of: former) {
                // Neighbors mostly have the same one.
                if owner[part] != last { heirs.insert(owner[part]) }
                last = owner[part]
                if last == Int32(former) { freed.append(Int32(part)) }
            }
        }
        heirs.subtract([-1])
        heirs.subtract(formers.map { Int32($0) })
        for part in freed { assign(part, to: -1) }
        for former in formers { close(former) }
        if !isSite[Int(own)] {
            let index = open(center)
            let heirs = heirs.sorted()
            for part in freed where owner[Int(part)] < 0 { giveToNearest(part, of: heirs) }
            if settle(index) { return true }
        }
        revert(to: mark)
        return false
    }

    /// A new center, which owns its own part and what nobody did.
    private mutating func open(_ center: Center) -> Int {
        let index = centers.count
        centers.append(center)
        centers[index].price = burdens[center.size] + (center.need < limits.anonymity ? Self.costOfHalf : 0)
        note(site(of: index).part)
        journal.append(.opened)
        setOpen(index, true)
        for part in disc(of: index) where owner[part] < 0 { assign(Int32(part), to: index) }
        return index
    }

    /// Closes a center that owns nothing any more.
    private mutating func close(_ index: Int) {
        note(site(of: index).part)
        journal.append(.closed(index))
        setOpen(index, false)
    }

    private mutating func setOpen(_ index: Int, _ isOpen: Bool) {
        centers[index].isOpen = isOpen
        isSite[Int(site(of: index).part)] = isOpen
        for part in disc(of: index) {
            if isOpen {
                covers[part] += 1
                if covers[part] == 1 { cost -= parts.population[part] }
            } else {
                covers[part] -= 1
                if covers[part] == 0 { cost += parts.population[part] }
            }
        }
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

    /// Keeps what is about to change at a part; its tile is in another state from now on.
    private mutating func note(_ part: Int32) {
        let tile = Int(tile[Int(part)])
        journal.append(.part(part, owner: owner[Int(part)], stamp: stamps[tile]))
        lastStamp += 1
        stamps[tile] = lastStamp
    }

    mutating func assign(_ part: Int32, to center: Int) {
        note(part)
        move(part, to: Int32(center))
    }

    private mutating func move(_ part: Int32, to center: Int32) {
        let former = owner[Int(part)], residents = counted[Int(part)]
        // Who has none will be in a circle of the largest size.
        var (old, new) = (burdens[burdens.count - 1], burdens[burdens.count - 1])
        if former >= 0 {
            centers[Int(former)].load -= residents
            old = centers[Int(former)].price
        }
        if center >= 0 {
            centers[Int(center)].load += residents
            new = centers[Int(center)].price
        }
        cost += residents * (new - old)
        owner[Int(part)] = center
    }

    /// Parts that nobody took go to the nearest center in reach.
    mutating func adoptOrphans() {
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
