import AtlasFormat
import AtlasSources
import GeoBridge
import ParallelMap
import PROJBridge

/// C4: every region on one side of every border, every center on land where its region holds land.
extension VerifiedAtlas {
    /// How far the atlas's borders may be from their source, meters: 25 m by simplification, half a step of a cut
    /// cell's grid each way (11 m, so 15.6 m across), and 1 m between straight on a face and straight in degrees.
    static let borderTolerance = 42.0
    /// Land nearer than this to its own coast is not looked for.
    private static let coastTolerance = 40.0

    func verifySides(borders: [BorderFeature]?) throws -> Clause {
        var clause = Clause("C4", "a region lies in one country, its center on land if it holds land")
        clause.checked = regionCount
        if let borders {
            clause.add(try regionsAbroad(borders, &clause.notes))
        } else {
            clause.skipped.append("countries: the borders' source was not given")
        }
        if let land, let isAshore {
            clause.add(try regionsCenteredAtSea(land, isAshore))
        } else {
            clause.skipped.append("centers on land: no land was given")
        }
        return clause
    }

    /// Regions with a center, cell or piece that the borders give to another country.
    private func regionsAbroad(
        _ borders: [BorderFeature], _ notes: inout [String]
    ) throws -> [VerificationReport.Offender] {
        var points: [Position] = [], owners: [Int32] = [], isCenter: [Bool] = []
        for region in 0..<regionCount {
            points.append(tables.position(region))
            for quad in cover.quads(region) { points.append(contentsOf: Self.samples(of: quad)) }
            for piece in cover.pieces(region) { points.append(piece.position(x: piece.face.x, y: piece.face.y)) }
            while owners.count < points.count {
                isCenter.append(owners.last != Int32(region))
                owners.append(Int32(region))
            }
        }
        let codes = try PointsInPolygons(points).codes(borders)
        let known = Set(borders.map(\.code))
        func expected(_ index: Int) -> String? { tables.countryCode(tables.country(Int(owners[index]))) }
        func agrees(_ code: String?, _ index: Int) -> Bool {
            code == expected(index) || code == nil && !known.contains(expected(index) ?? "")
        }
        let suspects = points.indices.filter { !agrees(codes[$0], $0) }
        // Within the tolerance of a border the other side will do.
        let stars = try suspects.map { try Self.surroundings(points[$0]) }
        let around = try PointsInPolygons(Array(stars.joined())).codes(borders)
        let size = Self.starRadii.count * Self.starDirections
        var problems: [Int32: String] = [:]
        var excused = 0
        for (position, index) in suspects.enumerated() {
            if around[position * size..<(position + 1) * size].contains(where: { agrees($0, index) }) {
                excused += 1
                continue
            }
            let what = isCenter[index] ? "its center" : "a part of it"
            let problem = "\(what) lies in \(codes[index] ?? "no country")"
            if problems[owners[index]] == nil { problems[owners[index]] = problem }
        }
        notes.append(
            "\(points.count) points compared with the borders; \(excused) within \(Int(Self.borderTolerance)) m of one")
        return problems.sorted { $0.key < $1.key }.map { offender(Int($0.key), $0.value) }
    }

    /// The middle of a cell; of a large one, the middles of its cells of level 8.
    private static func samples(of quad: Quad) -> [Position] {
        let count = 1 << max(0, 8 - quad.level)
        return (0..<count * count).map { index in
            quad.position(
                x: (Double(index / count) + 0.5) / Double(count), y: (Double(index % count) + 0.5) / Double(count))
        }
    }

    /// Meters and directions at which a point's surroundings are asked for: tongues of land can be a few meters wide.
    private static let starRadii = [1, 2, 4, 8, 16, 24, 32, borderTolerance]
    private static let starDirections = 16

    private static func surroundings(_ point: Position) throws -> [Position] {
        try starRadii.flatMap { radius in
            try (0..<starDirections).map { direction in
                let place = try Geodesic.wgs84.destination(
                    fromLatitude: point.latitude, longitude: point.longitude,
                    azimuthDegrees: Double(direction) * 360 / Double(starDirections), distanceMeters: radius)
                return Position(latitude: place.latitude, longitude: place.longitude)
            }
        }
    }

    /// Regions whose center is at sea though they hold land.
    ///
    /// Looked at from the land's side: points a little inland of every edge of every coast. A region that holds land
    /// holds such a point, or lies wholly inland. What counts is where a center could be, in the middle of a level-18 cell.
    private func regionsCenteredAtSea(
        _ land: [[[Double]]], _ isAshore: [Bool]
    ) throws -> [VerificationReport.Offender] {
        let batch = 64
        let found = try parallelMap(count: (land.count + batch - 1) / batch) { task in
            var found: [(point: Position, region: Int)] = []
            for polygon in land[task * batch..<min(land.count, (task + 1) * batch)] {
                for (index, ring) in polygon.enumerated() {
                    for point in Self.pointsInland(of: ring, isHole: index > 0) {
                        let center = RegionJoiner.center(CubeGeometry.leaf(at: point))
                        let region = try tables.region(at: center)
                        if !isAshore[region] { found.append((center, region)) }
                    }
                }
            }
            return found
        }.flatMap { $0 }
        let isLand = try PointsInPolygons(found.map(\.point)).areInside(land)
        var counts: [Int: Int] = [:]
        for (point, isLand) in zip(found, isLand) where isLand { counts[point.region, default: 0] += 1 }
        return counts.sorted { $0.key < $1.key }.map {
            offender($0.key, "its center is at sea, but it holds land (\($0.value) points)")
        }
    }

    /// Points on the land side of a ring's edges, `coastTolerance` away from them, every kilometer of long ones.
    private static func pointsInland(of ring: [Double], isHole: Bool) -> [Position] {
        var twiceArea = 0.0
        for k in stride(from: 0, to: ring.count - 2, by: 2) {
            twiceArea += ring[k] * ring[k + 3] - ring[k + 2] * ring[k + 1]
        }
        let isLandLeft = (twiceArea > 0) != isHole
        let metersPerDegree = 111_195.0
        var points: [Position] = []
        for k in stride(from: 0, to: ring.count - 2, by: 2) {
            let cosine = max(1e-6, sineAndCosine(degrees: ring[k + 1]).cosine)
            let dx = (ring[k + 2] - ring[k]) * cosine, dy = ring[k + 3] - ring[k + 1]
            let length = (dx * dx + dy * dy).squareRoot()
            guard length > 0 else { continue }
            let offset = coastTolerance / metersPerDegree / length * (isLandLeft ? 1 : -1)
            let count = max(1, Int((length * metersPerDegree / 1_000).rounded(.up)))
            for step in 0..<count {
                let t = (Double(step) + 0.5) / Double(count)
                let point = Position(
                    latitude: ring[k + 1] + dy * t + dx * offset,
                    longitude: ring[k] + (dx * t - dy * offset) / cosine)
                if point.latitude.magnitude <= 90, point.longitude.magnitude <= 180 { points.append(point) }
            }
        }
        return points
    }
}
