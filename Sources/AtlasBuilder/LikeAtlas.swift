import AtlasFormat
import Hereabouts

/// An atlas that another is to be like: its regions stay where the contract allows it.
package struct LikeAtlas: Sendable {
    private let tables: AtlasTables

    /// - Throws: `FormatError`.
    package init(path: String) throws(FormatError) { tables = try AtlasTables(path: path) }

    /// The region of a leaf cell.
    func region(at leaf: FaceIJ) throws(FormatError) -> Int {
        try tables.region(at: Leaf(face: Int(leaf.face), i: Int(leaf.i), j: Int(leaf.j)))
    }

    /// The code of a region's country.
    func country(of region: Int) -> String? { tables.countryCode(tables.country(region)) }

    func center(of region: Int) -> Coordinate {
        let center = tables.center(region)
        return Coordinate(latitude: center.latitude, longitude: center.longitude)
    }

    func accuracy(of region: Int) -> Double { tables.accuracy(region) }
}

extension RegionGrowth {
    /// Regions of the parts of a country as another atlas has them, about its centers; and the parts that are in none of them: their
    /// region lacks its center, or reaches farther than one of its kind may.
    func kept(
        _ job: GrowthJob, _ parts: PartSet, like atlas: LikeAtlas, country: String
    ) throws -> (groups: [Group], rest: [Int32]) {
        var members: [Int: [Int32]] = [:], rest: [Int32] = []
        for (index, reference) in job.members.enumerated() {
            let region = try atlas.region(at: siteLeaf(of: reference))
            if atlas.country(of: region) == country {
                members[region, default: []].append(Int32(index))
            } else {
                rest.append(Int32(index))
            }
        }
        var groups: [Group] = []
        for (region, members) in members.sorted(by: { $0.key < $1.key }) {
            let group = site(at: atlas.center(of: region), of: members, job).map {
                Group(parts: members, in: parts, about: $0)
            }
            if let group, isAllowed(group, accuracy: atlas.accuracy(of: region)) {
                groups.append(group)
            } else {
                rest += members
            }
        }
        return (groups, rest.sorted())
    }

    /// Whether a region's circle, which was of some accuracy, may be as large as it is now.
    private func isAllowed(_ group: Group, accuracy: Double) -> Bool {
        let limit =
            group.isEmpty
            ? limits.largestEmptyAccuracy
            : accuracy > limits.largestAccuracy ? limits.largestLeftoverAccuracy : limits.largestAccuracy
        return limits.publishedAccuracy(ofReach: group.reach) <= limit
    }

    /// How many finished regions are those of another atlas: the same cells, center and accuracy.
    func keptCount(_ records: [RegionRecord], like atlas: LikeAtlas) throws -> Int {
        var partCounts: [Int: Int] = [:]
        let regions = try records.map { record in
            let regions = try record.members.map { try atlas.region(at: siteLeaf(of: $0)) }
            for region in regions { partCounts[region, default: 0] += 1 }
            return regions.allSatisfy { $0 == regions[0] } ? regions[0] : nil
        }
        return zip(records, regions).count { record, region in
            guard let region, partCounts[region] == record.members.count else { return false }
            return atlas.center(of: region) == record.centerCell.publishedCenter
                && atlas.accuracy(of: region) == Double(record.accuracy)
        }
    }

    /// The site of a center in one of some parts.
    func site(at center: Coordinate, of members: [Int32], _ job: GrowthJob) -> Site? {
        let leaf = FaceIJ(center)
        guard let part = members.first(where: { holds(job.members[Int($0)], leaf) }) else { return nil }
        let corner = CellID(face: Int(leaf.face), i: leaf.i, j: leaf.j, level: RegionID.level).lowerLeft
        return Site(part: part, leaf: SIMD2(corner.i, corner.j), position: Ellipsoid.position(center))
    }
}
