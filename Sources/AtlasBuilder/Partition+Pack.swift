import Hereabouts

extension Partition {
    /// Opens further regions where people live densely: the circles that hold K most tightly first, out of what regions
    /// can spare. Then parts go to the regions in which their people are known most closely.
    mutating func pack() {
        var packing = Packing(self)
        packing.open()
        groups = packing.regrouped()
        for _ in 0..<2 {
            packing = Packing(self)
            packing.relax()
            groups = packing.regrouped()
        }
    }
}

/// A partition into which centers are put, and whose parts change hands about them.
private struct Packing {
    let partition: Partition
    private var owner: [Int32]
    private var sites: [Site]
    /// Residents and km² of each region.
    private var population: [Double]
    private var area: [Double]
    /// Meters from each center to the farthest corner, or more.
    private var reach: [Double]
    private var isSite: [Bool]
    /// Parts, for queries within a few kilometers and within many.
    private let fine: PointGrid
    private let coarse: PointGrid

    private static let unitLevel = 13
    /// A new circle may be this many times as wide as the tightest with K residents about its center.
    private static let looseness = 1.25
    /// Nobody moves for less than this gain in accuracy.
    private static let worthwhile = 0.8

    private var parts: PartSet { partition.parts }
    private var anonymity: Double { partition.limits.anonymity }

    init(_ partition: Partition) {
        self.partition = partition
        let parts = partition.parts
        owner = [Int32](repeating: -1, count: parts.count)
        isSite = [Bool](repeating: false, count: parts.count)
        for (index, group) in partition.groups.enumerated() {
            for part in group.parts { owner[Int(part)] = Int32(index) }
            isSite[Int(group.site.part)] = true
        }
        sites = partition.groups.map(\.site)
        population = partition.groups.map(\.population)
        area = partition.groups.map(\.area)
        reach = partition.groups.map(\.reach)
        let settled = (0..<Int32(parts.count)).filter { parts.population[Int($0)] > 0 }
        fine = PointGrid(parts.center, indices: settled, side: 1_500)
        coarse = PointGrid(parts.center, indices: settled, side: 6_000)
    }

    private func accuracy(_ reach: Double) -> Double {
        partition.limits.accuracy(ofReach: reach)
    }

    // MARK: New centers

    mutating func open() {
        for (_, part) in tightest() { open(at: part) }
    }

    /// Parts that may be centers of new circles, with the radius that holds K about each, the tightest first.
    private func tightest() -> [(radius: Double, part: Int)] {
        parts.units(0..<parts.count, level: Self.unitLevel).compactMap { unit -> (radius: Double, part: Int)? in
            let part = unit.reduce(unit.lowerBound) { parts.population[$1] > parts.population[$0] ? $1 : $0 }
            guard parts.isLand[part], population[Int(owner[part])] >= 1.5 * anonymity else { return nil }
            return tightRadius(around: part).map { ($0, part) }
        }.sorted { $0 < $1 }
    }

    /// The parts with residents whose middles are within a distance of a point, the nearest first.
    private func parts(within radius: Double, of point: SIMD3<Double>) -> [(distance: Double, part: Int)] {
        var found: [(distance: Double, part: Int)] = []
        (radius <= 4_000 ? fine : coarse).forEach(near: point, within: radius) { part in
            let distance = parts.center[part].distance(to: point)
            if distance <= radius { found.append((distance, part)) }
        }
        found.sort { $0.distance != $1.distance ? $0.distance < $1.distance : $0.part < $1.part }
        return found
    }

    /// The radius about a part's site that holds K; nil where a smaller circle would not help.
    private func tightRadius(around part: Int) -> Double? {
        let site = parts.sites[part].position
        let largest = reach[Int(owner[part])] * Self.worthwhile
        var search = 1_800.0
        while search < largest * 1.6 {
            var sum = 0.0
            for near in parts(within: min(search, largest), of: site) {
                sum += parts.population[near.part]
                if sum >= anonymity { return near.distance }
            }
            search *= 1.6
        }
        return nil
    }

    private mutating func open(at part: Int) {
        let donor = Int(owner[part]), site = parts.sites[part]
        guard !isSite[part], population[donor] >= anonymity + parts.population[part],
            let radius = tightRadius(around: part)
        else { return }
        let farthest = max(radius * Self.looseness, 1_700)
        var taken = [part], spent = [donor: parts.population[part]], lost = [donor: parts.area[part]]
        var sum = parts.population[part], land = parts.area[part]
        var before = parts.population[part] * accuracy(reach[donor])
        var widest = parts.reach(from: site.position, to: part)
        for near in parts(within: farthest, of: site.position) where near.part != part {
            if sum >= anonymity, land >= partition.limits.smallestCutArea { break }
            let giver = Int(owner[near.part]), residents = parts.population[near.part]
            guard !isSite[near.part], population[giver] - spent[giver, default: 0] - residents >= anonymity,
                area[giver] - lost[giver, default: 0] - parts.area[near.part] >= partition.limits.smallestCutArea,
                parts.isWithin(partition.reachLimit, of: site.position, part: near.part)
            else { continue }
            taken.append(near.part)
            spent[giver, default: 0] += residents
            lost[giver, default: 0] += parts.area[near.part]
            sum += residents
            land += parts.area[near.part]
            before += residents * accuracy(reach[giver])
            widest = max(widest, parts.reach(from: site.position, to: near.part))
        }
        guard sum >= anonymity, land >= partition.limits.smallestCutArea,
            sum * accuracy(widest) < before * Self.worthwhile
        else { return }
        let index = sites.count
        sites.append(site)
        isSite[part] = true
        population.append(0)
        area.append(0)
        reach.append(widest)
        for part in taken { move(part, to: index) }
    }

    private mutating func move(_ part: Int, to index: Int) {
        let giver = Int(owner[part])
        population[giver] -= parts.population[part]
        area[giver] -= parts.area[part]
        population[index] += parts.population[part]
        area[index] += parts.area[part]
        owner[part] = Int32(index)
    }

    // MARK: Relaxation

    /// Moves parts out of regions that can spare them to the neighbors where that makes people times accuracy least.
    mutating func relax() {
        let grid = PointGrid(sites.map(\.position), indices: sites.indices.map { Int32($0) }, side: 4_000)
        let largeGrid = PointGrid(sites.map(\.position), indices: sites.indices.map { Int32($0) }, side: 12_000)
        for part in 0..<parts.count where !isSite[part] {
            let giver = Int(owner[part]), residents = parts.population[part], middle = parts.center[part]
            guard residents > 0, population[giver] - residents >= anonymity,
                area[giver] - parts.area[part] >= partition.limits.smallestCutArea
            else { continue }
            let own = residents * accuracy(reach[giver])
            var best: (cost: Double, host: Int, reach: Double)?
            (reach[giver] < 6_000 ? grid : largeGrid).forEach(near: middle, within: reach[giver]) { host in
                let distance = sites[host].position.distance(to: middle)
                guard host != giver, population[host] >= anonymity, distance <= reach[giver] else { return }
                func cost(_ farthest: Double) -> Double {
                    residents * accuracy(farthest) + population[host] * (accuracy(farthest) - accuracy(reach[host]))
                }
                let bound = cost(max(reach[host], distance))
                guard bound < best?.cost ?? own else { return }
                let farthest = max(reach[host], parts.reach(from: sites[host].position, to: part))
                let exact = cost(farthest)
                if farthest <= partition.reachLimit, exact < best?.cost ?? own { best = (exact, host, farthest) }
            }
            if let best {
                move(part, to: best.host)
                reach[best.host] = best.reach
            }
        }
    }

    /// The regions by their new members.
    func regrouped() -> [Group] {
        var members = [[Int32]](repeating: [], count: sites.count)
        for part in 0..<parts.count { members[Int(owner[part])].append(Int32(part)) }
        return zip(members, sites).map { partition.makeGroup($0, site: $1) }
    }
}
