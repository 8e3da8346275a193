import Hereabouts

/// A finished region: what the atlas says about it.
struct RegionRecord: Sendable {
    var country: UInt16
    /// The level-18 cell whose middle is the center.
    var centerCell: CellID
    /// 1e-5 degrees.
    var latitudeE5: Int32, longitudeE5: Int32
    /// Meters, a multiple of 10.
    var accuracy: Int32
    /// Where the published center is, Earth-centered.
    var centerPosition: SIMD3<Double>
    var people: Population.People
    /// People per km² within 16 km around the center.
    var density: Double
    /// km².
    var area: Double
    /// Whether none of it is settled.
    var isEmpty: Bool
    var name: String?
    /// Whether the name is that of a place that is only near: neither in the region, nor where most of its people live.
    var isNear = false
    var members: [PartReference]
}

/// Chooses the center, accuracy and name of every region of a country.
struct RegionFinisher {
    let country: GrownCountry
    let growth: RegionGrowth
    let places: PlaceIndex
    let extents: PlaceExtents
    let roots: [CellRoot]
    let inhabited: InhabitedLand

    private var limits: RegionLimits { growth.limits }

    /// A place may be the center if its circle is at most this many times the best one's.
    private static let placeAllowance = 1.25
    /// What gives fragments away may leave a leftover again.
    private static let mostRounds = 3
    /// Names reach this far.
    private static let nameRadiusMeters = 100_000.0

    func records() throws -> [RegionRecord] {
        var finished = try country.groups.flatMap { try split($0) }
        var joiner = CenterJoiner(parts: country.parts, limits: limits, isAllowed: mayBeCenter)
        var sound: Set<[Int32]> = [], approached: Set<Int32> = []
        for round in 0...Self.mostRounds {
            while true {
                try join(&finished, &joiner)
                // What was given away may let regions join that could not before.
                var transfer = FragmentTransfer(
                    parts: country.parts, limits: limits, regions: finished, sound: sound, approached: approached,
                    isAllowed: mayBeCenter
                ) { group in
                    let record = try record(of: group)
                    return isAllowed(record) ? record : nil
                }
                try transfer.run()
                if transfer.changed.isEmpty { break }
                (sound, approached) = (transfer.sound, transfer.approached)
                finished = transfer.regions.map { (about($0.record, $0.group), $0.record) }
                joiner.reconsider(
                    finished.map { ($0.group, $0.record.centerPosition) },
                    near: transfer.changed.sorted().map { finished[$0].record.centerPosition })
            }
            if round == Self.mostRounds { break }
            var repair = LeftoverRepair(
                parts: country.parts, limits: limits, regions: finished, isAllowed: mayBeCenter, part: part
            ) { group, limit in
                let record = try record(of: group)
                return Double(record.accuracy) <= limit ? record : nil
            }
            try repair.run()
            if repair.changed.isEmpty { break }
            finished = repair.regions.compactMap(\.self).map { (about($0.record, $0.group), $0.record) }
            joiner.reconsider(finished.map { ($0.group, $0.record.centerPosition) }, near: repair.changed)
        }
        return finished.map(\.record)
    }

    /// The part of the country at a position.
    private func part(at position: Coordinate) -> Int32? {
        let leaf = CellID.leaf(latitude: position.latitude, longitude: position.longitude)
        let parts = country.parts
        var low = 0, high = parts.count
        while low < high {
            let middle = (low + high) / 2
            if CellID(rawValue: parts.cell[middle]).rangeMax.rawValue < leaf { low = middle + 1 } else { high = middle }
        }
        while low < parts.count, CellID(rawValue: parts.cell[low]).rangeMin.rawValue <= leaf {
            if growth.holds(country.job.members[low], FaceIJ(position)) { return Int32(low) }
            low += 1
        }
        return nil
    }

    private func join(_ finished: inout [Finished], _ joiner: inout CenterJoiner) throws {
        while let pairs = joiner.pairs(of: finished.map { ($0.group, $0.record.centerPosition) }) {
            var isGone = [Bool](repeating: false, count: finished.count)
            for pair in pairs {
                let record = try record(of: pair.union)
                if isAllowed(record) {
                    finished[pair.first] = (about(record, pair.union), record)
                    isGone[pair.second] = true
                } else {
                    joiner.giveUp(on: finished[pair.first].group)
                }
            }
            finished = finished.indices.filter { !isGone[$0] }.map { finished[$0] }
        }
    }

    /// A region about the center that it publishes, if that is a place and no site's circle is small enough.
    private func about(_ record: RegionRecord, _ group: Group) -> Group {
        guard group.reach > limits.largestReach(isEmpty: group.isEmpty) else { return group }
        let site = growth.site(at: record.centerCell.publishedCenter, of: group.parts, country.job)!
        return Group(parts: group.parts, in: country.parts, about: site)
    }

    private typealias Finished = FragmentTransfer.Region

    /// A region's record; where borders leave it no center whose circle is small enough, its halves'.
    private func split(_ group: Group) throws -> [Finished] {
        let record = try record(of: group)
        // One that took a leftover in an atlas that this one is like.
        let isLarger = !group.isEmpty && group.reach > limits.largestReach(isEmpty: false)
        if isAllowed(record) || isLarger && Double(record.accuracy) <= limits.largestLeftoverAccuracy
            || group.parts.count < 2
        {
            return [(about(record, group), record)]
        }
        let site = group.site.position
        func distance(_ part: Int32) -> Double { country.parts.center[Int(part)].distance(to: site) }
        let farthest = country.parts.center[Int(group.parts.max { distance($0) < distance($1) }!)]
        let order = group.parts.sorted {
            let a = country.parts.center[Int($0)].distance(to: farthest)
            let b = country.parts.center[Int($1)].distance(to: farthest)
            return a != b ? a < b : $0 < $1
        }
        return try [order[..<(order.count / 2)], order[(order.count / 2)...]].flatMap {
            try split(Group(parts: Array($0), in: country.parts))
        }
    }

    private func isAllowed(_ record: RegionRecord) -> Bool {
        Double(record.accuracy) <= (record.isEmpty ? limits.largestEmptyAccuracy : limits.largestAccuracy)
    }

    private func record(of group: Group) throws -> RegionRecord {
        let index = country.job.country
        let members = group.parts.map { country.job.members[Int($0)] }
        let candidate = Candidate(
            members: members,
            corners: group.parts.flatMap { part in
                country.parts.corners(Int(part)).map { country.parts.hull[$0] }
            })
        let holdsLand = members.contains { growth[$0].isAshore }
        let own = places.within(members, country: index, growth)
        guard var best = bestCenter(of: candidate, site: leaf(of: group.site)) else {
            throw BuildError.noCenter(country: Int(index))
        }
        let largest = Int32(group.isEmpty ? limits.largestEmptyAccuracy : limits.largestAccuracy)
        if best.accuracy > largest {
            // Joined about a place that is no site: find it again.
            for place in own where place.isAshore || !holdsLand {
                if let center = center(at: place.leaf, of: candidate), center.accuracy < best.accuracy { best = center }
            }
        }
        if let place = own.first, place.isAshore || !holdsLand, let center = center(at: place.leaf, of: candidate),
            Double(center.accuracy) <= Double(best.accuracy) * Self.placeAllowance,
            center.accuracy <= max(largest, best.accuracy)
        {
            best = center
        }
        var record = RegionRecord(
            country: index, centerCell: best.cell, latitudeE5: best.latitudeE5, longitudeE5: best.longitudeE5,
            accuracy: best.accuracy, centerPosition: best.position,
            people: members.reduce(into: Population.People()) { $0 += growth[$1].people },
            density: inhabited.density(at: best.position), area: group.area, isEmpty: group.isEmpty, members: members)
        if let place = own.first ?? extents.main(of: group.parts) {
            record.name = place.name
        } else if let near = places.nearest(to: best.position, country: index, within: Self.nameRadiusMeters) {
            record.name = near.name
            record.isNear = true
        }
        return record
    }

    /// A region in search of its center.
    private struct Candidate {
        var members: [PartReference]
        var corners: [SIMD3<Double>]
    }

    private struct Center {
        var cell: CellID
        var latitudeE5: Int32, longitudeE5: Int32
        var accuracy: Int32
        var position: SIMD3<Double>
    }

    /// The site that growth chose, or the best of all sites where borders leave that one's cell to another region.
    private func bestCenter(of candidate: Candidate, site: FaceIJ) -> Center? {
        if let center = center(at: site, of: candidate) { return center }
        let ashore = candidate.members.filter { growth[$0].isAshore }
        for members in [ashore, candidate.members] {
            let centers = members.compactMap { center(at: growth.siteLeaf(of: $0), of: candidate) }
            if let best = centers.min(by: { $0.accuracy < $1.accuracy }) { return best }
        }
        return centerByExhaustion(of: candidate)
    }

    /// For a region of pieces so narrow that no site's cell is its own: the first level-18 cell that is.
    private func centerByExhaustion(of candidate: Candidate) -> Center? {
        for member in candidate.members {
            var cell = growth[member].cell.rangeMin.parent(level: RegionID.level)
            let end = growth[member].cell.rangeMax
            while cell.rangeMin <= end {
                if let center = center(at: cell.lowerLeft, of: candidate) { return center }
                cell = cell.next
            }
        }
        return nil
    }

    /// Whether a site, as published, lies in its part, and on land if the region holds any.
    private func mayBeCenter(_ site: Site, hasLand: Bool) -> Bool {
        let leaf = leaf(of: site)
        let published = CellID(face: Int(leaf.face), i: leaf.i, j: leaf.j, level: RegionID.level).publishedCenter
        guard growth.holds(country.job.members[Int(site.part)], FaceIJ(published)) else { return false }
        let cell = CellID.leaf(latitude: published.latitude, longitude: published.longitude)
        return !hasLand || roots[CellRoot.index(of: cell)].labels(of: [cell])[0].isLand
    }

    private func leaf(of site: Site) -> FaceIJ {
        let face = growth[country.job.members[Int(site.part)]].cell.face
        return FaceIJ(face: UInt8(face), i: site.leaf.x, j: site.leaf.y)
    }

    /// A center at the level-18 cell of a leaf; nil where that cell's middle, as published, is not in the region.
    private func center(at leaf: FaceIJ, of candidate: Candidate) -> Center? {
        let cell = CellID(face: Int(leaf.face), i: leaf.i, j: leaf.j, level: RegionID.level)
        let middle = cell.center
        let published = cell.publishedCenter
        for point in [middle, published].map({ FaceIJ($0) }) {
            guard candidate.members.contains(where: { growth.holds($0, point) }) else { return nil }
        }
        let position = Ellipsoid.position(published)
        var farthest = 0.0
        for corner in candidate.corners { farthest = max(farthest, corner.distance(to: position)) }
        let accuracy = limits.publishedAccuracy(ofReach: farthest)
        return Center(
            cell: cell, latitudeE5: Int32((published.latitude * 1e5).rounded()),
            longitudeE5: Int32((published.longitude * 1e5).rounded()), accuracy: Int32(accuracy), position: position)
    }
}

extension RegionGrowth {
    /// The leaf cell of a part's site.
    func siteLeaf(of reference: PartReference) -> FaceIJ {
        let part = self[reference]
        return FaceIJ(face: UInt8(part.cell.face), i: part.site.x, j: part.site.y)
    }

    /// Whether a part holds a leaf cell.
    func holds(_ reference: PartReference, _ leaf: FaceIJ) -> Bool {
        let part = self[reference]
        let id = CellID(face: Int(leaf.face), i: leaf.i, j: leaf.j, level: CellID.maxLevel)
        guard part.cell.contains(id) else { return false }
        guard part.cut >= 0 else { return true }
        return roots[Int(reference.root)].cuts[Int(part.cut)].country(atLeaf: leaf) == part.country
    }
}
