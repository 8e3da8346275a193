extension Partition {
    /// Shares out regions that hold fewer than K/2 among those around them, wherever circles of the largest size can hold all
    /// of their parts: so fewer and larger regions cover thin land, and more people share each.
    mutating func dissolve() {
        var dissolver = Dissolver(self)
        dissolver.run()
        groups = dissolver.remaining
    }
}

/// A partition whose smallest regions are given up.
private struct Dissolver {
    let partition: Partition
    private var groups: [Group?]
    private let grid: PointGrid
    /// Centers may have moved so far from where the grid has them, meters.
    private static let farthestMove = 4_000.0
    /// Regions whose circle is moved for a part, at most.
    private static let mostTries = 5

    private var parts: PartSet { partition.parts }

    init(_ partition: Partition) {
        self.partition = partition
        groups = partition.groups
        grid = PointGrid(
            partition.groups.map { partition.center(of: $0) }, indices: partition.groups.indices.map { Int32($0) },
            side: partition.reachLimit / 2)
    }

    var remaining: [Group] { groups.compactMap(\.self) }

    mutating func run() {
        let order = groups.indices.filter { groups[$0]!.population < partition.limits.anonymity / 2 }
            .sorted { (groups[$0]!.area, $0) < (groups[$1]!.area, $1) }
        for index in order { giveUp(index) }
    }

    private mutating func giveUp(_ index: Int) {
        let group = groups[index]!
        // Regions as they would be, and parts that no circle holds where it is.
        var hosts: [Int: Group] = [:], rest: [Int32] = []
        for part in group.parts {
            let near = hostsNear(part, besides: index)
            if let host = near.first(where: { isWithinReach(part, of: hosts[$0] ?? groups[$0]!) }) {
                hosts[host, default: groups[host]!].parts.append(part)
            } else {
                rest.append(part)
            }
        }
        for part in rest {
            guard let (host, moved) = moved(for: part, besides: index, hosts) else { return }
            hosts[host] = moved
        }
        for (host, group) in hosts.sorted(by: { $0.key < $1.key }) {
            groups[host] = partition.makeGroup(group.parts.sorted(), site: group.site)
        }
        groups[index] = nil
    }

    private func isWithinReach(_ part: Int32, of host: Group) -> Bool {
        let limit = host.population < partition.limits.anonymity ? partition.reachLimit : host.reach
        return parts.isWithin(limit, of: host.site.position, part: Int(part))
    }

    /// The regions that may reach a part, the nearest center first.
    private func hostsNear(_ part: Int32, besides index: Int) -> [Int] {
        let middle = parts.center[Int(part)]
        var near: [(distance: Double, host: Int)] = []
        grid.forEach(near: middle, within: partition.reachLimit + Self.farthestMove) { host in
            guard host != index, let group = groups[host] else { return }
            near.append((group.site.position.distance(to: middle), host))
        }
        return near.sorted { $0 < $1 }.map(\.host)
    }

    /// A region short of K whose circle can be moved so that it holds a part too.
    private func moved(for part: Int32, besides index: Int, _ hosts: [Int: Group]) -> (Int, Group)? {
        let short = hostsNear(part, besides: index).filter {
            groups[$0]!.population < partition.limits.anonymity
        }
        for host in short.prefix(Self.mostTries) {
            let group = partition.makeGroup((hosts[host] ?? groups[host]!).parts + [part])
            if group.reach <= partition.reachLimit { return (host, group) }
        }
        return nil
    }
}
