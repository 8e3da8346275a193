import Hereabouts
import ParallelMap
import Synchronization

/// Where a part is: which root, and which of its parts.
struct PartReference: Hashable, Sendable {
    var root: Int32
    var part: Int32
}

/// One country's parts, in cell order.
struct GrowthJob: Sendable {
    var country: UInt16
    var members: [PartReference]
}

/// A country divided into regions.
struct GrownCountry: Sendable {
    var job: GrowthJob
    var parts: PartSet
    var groups: [Group]
    /// Estimated residents for whom no circle of the largest size could hold K, as `Partition.unreachable`.
    var unreachable: Double
}

/// Grows the regions of every country from its parts.
struct RegionGrowth: Sendable {
    let roots: [RootParts]
    let limits: RegionLimits
    /// An atlas whose regions stay where they may, and the codes of countries by index.
    var like: (atlas: LikeAtlas, countryCodes: [String])?

    /// One job for each country, in the order of their indices.
    func jobs() -> [GrowthJob] {
        var members: [UInt16: [PartReference]] = [:]
        for (rootIndex, root) in roots.enumerated() {
            for (partIndex, part) in root.parts.enumerated() {
                members[part.country, default: []].append(
                    PartReference(root: Int32(rootIndex), part: Int32(partIndex)))
            }
        }
        return members.keys.sorted().map { GrowthJob(country: $0, members: members[$0]!) }
    }

    /// Runs `body` on the regions of every job, largest jobs first for an even load; results in the order of `jobs`.
    /// `progress` hears the number of parts done.
    func grow<Result: Sendable>(
        _ jobs: [GrowthJob], progress: @escaping @Sendable (Double) -> Void,
        _ body: @Sendable (GrownCountry) throws -> Result
    ) throws -> [Result] {
        let order = jobs.indices.sorted {
            jobs[$0].members.count != jobs[$1].members.count
                ? jobs[$0].members.count > jobs[$1].members.count : $0 < $1
        }
        let done = Atomic<Int>(0)
        let grown = try parallelMap(count: order.count) { position in
            let job = jobs[order[position]]
            let result = try body(try grow(job))
            progress(Double(done.wrappingAdd(job.members.count, ordering: .relaxed).newValue))
            return result
        }
        var result = [Result?](repeating: nil, count: jobs.count)
        for (position, index) in order.enumerated() { result[index] = grown[position] }
        return result.map { $0! }
    }

    /// Settled land, empty land and sea are divided apart; borders between them are straightened, and what is too small then joins
    /// across kinds. Of an atlas that this one is like the regions stay, and only what is in none of them is divided.
    private func grow(_ job: GrowthJob) throws -> GrownCountry {
        let parts = partSet(of: job.members)
        var groups: [Group] = [], rest = job.members.indices.map { Int32($0) }
        if let like {
            (groups, rest) = try kept(job, parts, like: like.atlas, country: like.countryCodes[Int(job.country)])
        }
        let (divided, unreachable) = divide(rest, of: job, parts)
        // Much of the water beside a shore, and of the empty land beside settled land, is in the circles of the regions there.
        if like == nil {
            groups = CellAligner(parts: parts, limits: limits, groups: divided) { group in
                max(group.reach, limits.reach(ofAccuracy: limits.smallestAccuracy))
            }.aligned()
        } else {
            groups += divided
        }
        let repaired = SliverRepair(parts: parts, limits: limits, groups: groups).repaired()
        return GrownCountry(job: job, parts: parts, groups: repaired, unreachable: unreachable)
    }

    /// Some parts of a country as regions; and the residents of the country for whom no circle of the largest size could hold K.
    private func divide(_ members: [Int32], of job: GrowthJob, _ parts: PartSet) -> ([Group], unreachable: Double) {
        var groups: [Group] = []
        var unreachable = 0.0
        for kind in [PartKind.settled, .empty, .sea] {
            func isOfKind(_ part: Int32) -> Bool { self[job.members[Int(part)]].kind == kind }
            let indices = members.filter(isOfKind)
            let partition = Partition(dividing: parts.subset(indices), limits: limits, isEmpty: kind != .settled)
            unreachable += partition.unreachable
            for group in partition.groups {
                var group = group
                group.parts = group.parts.map { indices[Int($0)] }
                group.site.part = indices[Int(group.site.part)]
                groups.append(group)
            }
            if kind == .settled, members.count < job.members.count {
                let all = parts.subset(job.members.indices.map { Int32($0) }.filter(isOfKind))
                unreachable =
                    CenterChoice(parts: all, limits: limits, reach: limits.largestReach(isEmpty: false))
                    .unreachableResidents
            }
        }
        return (groups, unreachable)
    }

    private func partSet(of members: [PartReference]) -> PartSet {
        var set = PartSet()
        for reference in members {
            let part = self[reference]
            set.append(
                corners: corners(of: reference), site: part.site, isOpen: part.isOpen, isLand: part.isAshore,
                isSettled: part.kind == .settled, people: part.people, area: Double(part.area), cell: part.cell)
        }
        return set
    }

    subscript(reference: PartReference) -> Part { roots[Int(reference.root)].parts[Int(reference.part)] }

    private func corners(of reference: PartReference) -> [SIMD3<Double>] {
        let part = self[reference]
        guard part.cut >= 0 else { return CellShape(part.cell).corners }
        return roots[Int(reference.root)].cuts[Int(part.cut)].pieces[Int(part.piece)].corners
    }
}
