import AtlasFormat
import GeoBridge
import ParallelMap

/// C6 and C7: regions short of residents or area are as large as they may be.
extension VerifiedAtlas {
    func verifyAnonymity(
        _ count: ResidentCount.Count?, _ bounds: AtlasVerifier.LeftoverBounds = .init()
    ) throws -> Clause {
        let needed = Double(tables.limits.anonymity)
        var clause = Clause("C6", "\(Int(needed)) people are promised or no neighbor of its country can join")
        clause.checked = regionCount
        let promised = (0..<regionCount).map { count?.promised[$0] ?? Double(tables.promised($0)) }
        let residents = (0..<regionCount).map { count?.residents[$0] ?? Double(tables.anonymity($0)) }
        let short = (0..<regionCount).filter { promised[$0] + Self.tolerance(needed) < needed }
        let isSettled = settledRegions(count)
        let settled = short.filter { isSettled[$0] }, empty = short.filter { !isSettled[$0] }
        let total = residents.reduce(0, +), affected = short.reduce(0) { $0 + residents[$1] }
        let share = (affected * 10_000 / max(total, 1)).rounded() / 100
        clause.notes.append(
            "\(Int(affected)) of \(Int(total)) people (\(share) %) live in \(settled.count) regions that promise fewer "
                + "than \(Int(needed)); \(empty.count) regions have no residents but listed ones")
        let limits = tables.limits
        var joints = try RegionJoiner(subject: self, limit: limits.largestAccuracy).joints(of: settled) {
            isSettled[$1]
        }
        if let isAshore {
            // Nobody gains from joining land and sea, and the contract keeps them apart. Where there may be inhabited land
            // around, a region keeps to the limit of those with residents.
            let isNearPeople = try parallelMap(count: regionCount) { region in
                isAshore[region] && !isSettled[region] && count.map { mayBeSettled(region, $0.inhabited) } ?? false
            }
            for isNear in [false, true] {
                let limit = isNear ? limits.largestAccuracy : limits.largestEmptyAccuracy
                joints += try RegionJoiner(subject: self, limit: limit).joints(
                    of: empty.filter { isNearPeople[$0] == isNear }
                ) {
                    !isSettled[$1] && isAshore[$0] == isAshore[$1] && isNearPeople[$1] == isNear
                }
            }
        } else {
            clause.skipped.append("regions without people: no land was given to tell land from sea")
            clause.skipped.append("common centers other than the regions' own: no land was given")
        }
        verifyResidents(count, &clause)
        try verifyLeftovers(promised: promised, residents: residents, isSettled, bounds, &clause)
        try verifyConcentrations(count, &clause)
        clause.add(
            joints.sorted { $0.region < $1.region }.map { joint in
                offender(
                    joint.region,
                    "it promises \(Int(promised[joint.region])) people and could be joined with "
                        + "\(tables.identifier(joint.partner)), which promises \(Int(promised[joint.partner])), in a "
                        + "circle of \(Int(joint.accuracy.rounded(.up))) m")
            })
        return clause
    }

    /// Which regions have residents besides those that a list adds. Without a population, whom the file has.
    func settledRegions(_ count: ResidentCount.Count?) -> [Bool] {
        (0..<regionCount).map { region in
            count.map { $0.residents[region] > $0.listed[region] } ?? tables.isInhabited(region)
        }
    }

    /// Whether a builder may take any land of a region for settled.
    private func mayBeSettled(_ region: Int, _ inhabited: InhabitedLand) -> Bool {
        cover.quads(region).contains { inhabited.mayBeSettled($0) }
            || cover.pieces(region).contains { inhabited.mayBeSettled($0.cell) }
    }

    func verifyAreas(smallest: Double, _ count: ResidentCount.Count?) throws -> Clause {
        var clause = Clause(
            "C7", "no region under \(smallest) km² that could take more of its country, no small fragment")
        clause.checked = regionCount
        let small = (0..<regionCount).filter { measures[$0].area < smallest }
        clause.notes.append("\(small.count) regions are smaller")
        let limits = tables.limits
        let grid = CenterGrid(self, regions: Array(0..<regionCount), side: limits.largestEmptyAccuracy)
        clause.add(
            try parallelMap(count: small.count) { index in
                let region = small[index]
                let center = EarthCentered.position(tables.position(region))
                let isSettled =
                    tables.isInhabited(region) || count.map { mayBeSettled(region, $0.inhabited) } ?? false
                let donors = grid.regions(within: 2 * limits.largestEmptyAccuracy, of: center).filter { other in
                    guard other != region, tables.country(other) == tables.country(region) else { return false }
                    let isEmpty = !isSettled && !tables.isInhabited(other)
                    let limit = (isEmpty ? limits.largestEmptyAccuracy : limits.largestAccuracy) - limits.steadiness
                    return measures[region].reach <= limit && hasPart(of: other, within: limit, of: center)
                }
                // What they have beyond the smallest area themselves.
                let spare = donors.reduce(0) { $0 + max(0, measures[$1].area - smallest) }
                guard measures[region].area + spare >= smallest else { return nil }
                return donors.first.map {
                    offender(
                        region,
                        "it has \(Int(measures[region].area * 100)) hectares, and its circle could hold a part of "
                            + "\(tables.identifier($0))")
                }
            }.compactMap { $0 })
        try verifyFragments(count, &clause)
        return clause
    }

    /// Whether a circle of the limit about a position holds a whole cell or piece of a region.
    private func hasPart(of region: Int, within limit: Double, of center: SIMD3<Double>) -> Bool {
        func isWithin(_ places: [Position]) -> Bool {
            places.allSatisfy { EarthCentered.position($0).chord(to: center) <= limit }
        }
        return cover.quads(region).contains { isWithin($0.corners) }
            || cover.pieces(region).contains { piece in
                let ring = piece.face.rings[0]
                return isWithin(
                    stride(from: 0, to: ring.count, by: 2).map { piece.position(x: ring[$0], y: ring[$0 + 1]) })
            }
    }
}

/// Looks for regions that one circle could hold together.
struct RegionJoiner: Sendable {
    /// Two regions that fit, and the accuracy the two would have.
    struct Joint: Sendable {
        var region: Int, partner: Int
        var accuracy: Double
    }

    let subject: VerifiedAtlas
    /// Largest distance from a center to the farthest point, meters.
    let reach: Double

    init(subject: VerifiedAtlas, limit: Double) {
        self.subject = subject
        // Five meters less: a builder keeps two for what lies between corners, and half a meter for rounding the center. Two
        // more, because corners and centers are rounded here that are exact there.
        reach = limit - subject.tables.limits.steadiness - 7
    }

    private struct Candidate: Sendable {
        var partner: Int
        var center: Position
        var reach: Double
    }

    /// For each region that can be joined with another of its country, one such.
    func joints(of regions: [Int], isPartner: @Sendable (Int, Int) -> Bool) throws -> [Joint] {
        let grid = CenterGrid(subject, regions: Array(0..<subject.regionCount), side: reach)
        let batch = 64
        let candidates = try parallelMap(count: (regions.count + batch - 1) / batch) { task in
            let context = try GEOSContext()
            return try regions[task * batch..<min(regions.count, (task + 1) * batch)].map { region in
                try grid.regions(within: 2 * reach, of: EarthCentered.position(subject.tables.position(region)))
                    .filter { $0 != region && subject.tables.country($0) == subject.tables.country(region) }
                    .filter { isPartner(region, $0) }
                    .flatMap { try self.candidates(region, $0, context) }
            }
        }.flatMap { $0 }
        let isLand = try areAshore(candidates.joined().map(\.center))
        var next = 0
        return zip(regions, candidates).compactMap { region, candidates in
            defer { next += candidates.count }
            let allowed = zip(candidates, next...).filter { candidate, index in
                guard let isAshore = subject.isAshore, let isLand else { return true }
                return isLand[index] || !isAshore[region] && !isAshore[candidate.partner]
            }
            let best = allowed.min { $0.0.reach < $1.0.reach }?.0
            return best.map {
                Joint(region: region, partner: $0.partner, accuracy: $0.reach + subject.tables.limits.steadiness)
            }
        }
    }

    private func areAshore(_ places: [Position]) throws -> [Bool]? {
        try subject.land.map { try PointsInPolygons(places).areInside($0) }
    }

    /// Centers, in one of the two regions, of circles that hold both: a few of the best.
    private func candidates(_ a: Int, _ b: Int, _ context: GEOSContext) throws -> [Candidate] {
        let center = subject.tables.position(a)
        let frame = TangentFrame(latitude: center.latitude, longitude: center.longitude)
        let hull = subject.measures[a].hull + subject.measures[b].hull
        let plane = hull.map(frame.plane)
        for direction in Self.directions {
            let along = plane.map { ($0 * direction).sum() }
            if along.max()! - along.min()! > 2 * reach { return [] }
        }
        let circle = try context.lineString(plane.flatMap { [$0.x, $0.y] }).minimumBoundingCircle()
        if circle.radius > reach { return [] }
        let middle = frame.place(SIMD2(circle.x, circle.y))
        var found: [Candidate] = []
        for place in try places(a, b, near: middle) {
            let position = EarthCentered.position(place)
            var farthest = 0.0
            for corner in hull where farthest <= reach { farthest = max(farthest, corner.chord(to: position)) }
            if farthest <= reach { found.append(Candidate(partner: b, center: place, reach: farthest)) }
        }
        found.sort { ($0.reach, $0.center.latitude) < ($1.reach, $1.center.latitude) }
        return Array(found.prefix(8))
    }

    private static let directions: [SIMD2<Double>] = (0..<8).map {
        let (sine, cosine) = sineAndCosine(degrees: Double($0) * 22.5)
        return SIMD2(cosine, sine)
    }

    /// Places in either region that could be a center: as near as may be to the middle in every cell and piece. Without
    /// land, where a place could be at sea, only the two regions' own centers.
    private func places(_ a: Int, _ b: Int, near middle: Position) throws -> [Position] {
        guard subject.land != nil else { return [subject.tables.position(a), subject.tables.position(b)] }
        let leaf = CubeGeometry.leaf(at: middle)
        var leaves = [leaf]
        for region in [a, b] {
            for quad in subject.cover.quads(region) {
                var nearest = Leaf(face: quad.face, i: quad.i + quad.size / 2, j: quad.j + quad.size / 2)
                if quad.face == leaf.face {
                    nearest.i = min(max(leaf.i, quad.i), quad.i + quad.size - 1)
                    nearest.j = min(max(leaf.j, quad.j), quad.j + quad.size - 1)
                }
                leaves.append(nearest)
            }
            leaves.append(contentsOf: subject.cover.pieces(region).map(\.insideLeaf))
        }
        return try leaves.map(Self.center).filter { place in
            let region = try subject.tables.region(at: place)
            return region == a || region == b
        }
    }

    /// What is published for a center in a leaf cell: the middle of its level-18 cell to 1e-5 degrees.
    static func center(_ leaf: Leaf) -> Position {
        let middle = CubeGeometry.middleOfIdentifyingCell(leaf)
        return Position(
            latitude: (middle.latitude * 100_000).rounded() / 100_000,
            longitude: (middle.longitude * 100_000).rounded() / 100_000)
    }
}

/// Regions by their centers, in cubes of space.
struct CenterGrid: Sendable {
    private let side: Double
    private let positions: [SIMD3<Double>]
    private let regions: [Int]
    private var members: [SIMD3<Int32>: [Int32]] = [:]

    init(_ subject: VerifiedAtlas, regions: [Int], side: Double) {
        let positions = regions.map { EarthCentered.position(subject.tables.position($0)) }
        self.init(positions: positions, regions: regions, side: side)
    }

    init(positions: [SIMD3<Double>], regions: [Int], side: Double) {
        (self.side, self.positions, self.regions) = (side, positions, regions)
        for index in positions.indices { members[cube(positions[index]), default: []].append(Int32(index)) }
    }

    private func cube(_ position: SIMD3<Double>) -> SIMD3<Int32> {
        SIMD3<Int32>((position / side).rounded(.down))
    }

    /// What lies within a straight-line distance of a position, in ascending order.
    func regions(within distance: Double, of position: SIMD3<Double>) -> [Int] {
        let low = cube(position - distance), high = cube(position + distance)
        var found: [Int] = []
        for x in low.x...high.x {
            for y in low.y...high.y {
                for z in low.z...high.z {
                    guard let cube = members[SIMD3(x, y, z)] else { continue }
                    for index in cube where positions[Int(index)].chord(to: position) <= distance {
                        found.append(regions[Int(index)])
                    }
                }
            }
        }
        return found.sorted()
    }
}
