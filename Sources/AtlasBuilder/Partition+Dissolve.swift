extension Partition {
    /// Shares out regions that hold fewer than K/2 among those around them, wherever circles of the largest size can hold all
    /// of their parts, and those touch: so fewer and larger regions cover thin land, and more people share each.
    mutating func dissolve() {
        let dissolver = Dissolver(self)
        dissolver.run()
        groups = dissolver.remaining
    }
}

/// A partition whose smallest regions are given up.
private final class Dissolver {
    let partition: Partition
    private let parts: PartSet
    private var groups: [Group?]
    private let grid: PointGrid
    /// Centers may have moved so far from where the grid has them, meters.
    private static let farthestMove = 4_000.0
    /// Regions whose circle is moved for a part, at most.
    private static let mostTries = 5

    init(_ partition: Partition) {
        self.partition = partition
        parts = partition.parts
        groups = partition.groups
        grid = PointGrid(
            partition.groups.map { partition.center(of: $0) }, indices: partition.groups.indices.map { Int32($0) },
            side: partition.reachLimit / 2)
    }

    var remaining: [Group] { groups.compactMap(\.self) }

    func run() {
        let order = groups.indices.filter { groups[$0]!.population < partition.limits.anonymity / 2 }
            .sorted { (groups[$0]!.area, $0) < (groups[$1]!.area, $1) }
        for index in order { giveUp(index) }
    }

    private func giveUp(_ index: Int) {
        let group = groups[index]!
        var hosts: [Int: Group] = [:]
        // From the outside in: an inner part touches a region once an outer one has gone there.
        var left = group.parts.map { (distance: group.site.position.distance(to: parts.center[Int($0)]), part: $0) }
            .sorted { $0 > $1 }.map(\.part)
        while !left.isEmpty {
            let rest = left.filter { part in
                let host = hostsNear(part, besides: index).first { host in
                    let host = hosts[host] ?? groups[host]!
                    return isWithinReach(part, of: host) && isTouched(part, by: host)
                }
                if let host { hosts[host, default: groups[host]!].parts.append(part) }
                return host == nil
            }
            guard rest.count == left.count else {
                left = rest
                continue
            }
            guard let (host, moved) = moved(for: left.removeFirst(), besides: index, hosts) else { return }
            hosts[host] = moved
        }
        for (host, group) in hosts.sorted(by: { $0.key < $1.key }) {
            groups[host] = partition.makeGroup(group.parts.sorted(), site: group.site)
        }
        groups[index] = nil
    }

    /// Whether a part has a side in common with a region, or nearly so: no fragment comes of it there.
    private func isTouched(_ part: Int32, by host: Group) -> Bool {
        let p = Int(part)
        return host.parts.contains { other in
            let q = Int(other)
            return parts.center[p].distance(to: parts.center[q]) < 0.98 * (parts.radius[p] + parts.radius[q])
        }
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
            groups[$0]!.population < partition.limits.anonymity && isTouched(part, by: hosts[$0] ?? groups[$0]!)
        }
        for host in short.prefix(Self.mostTries) {
            let group = partition.makeGroup((hosts[host] ?? groups[host]!).parts + [part])
            if group.reach <= partition.reachLimit { return (host, group) }
        }
        return nil
    }
}
