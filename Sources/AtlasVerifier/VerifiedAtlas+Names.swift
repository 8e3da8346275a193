import AtlasFormat
import AtlasSources
import Foundation
import GeoBridge
import ParallelMap

/// C8: regions are named for places, and centered on them where that costs little.
extension VerifiedAtlas {
    private static let nearMeters = 100_000.0
    /// How much larger than the best a circle about the place may be.
    private static let largerShare = 1.25
    /// The builder measures distances on the ground as this verifier does, but for the last digits.
    private static let extentTolerance = 1.0

    /// Without the population, any of the places that list as many residents may be the main one, and nobody can tell how
    /// far the people of a place live.
    func verifyNames(places given: [Place]?, _ residents: ResidentCount.Count?) throws -> Clause {
        var clause = Clause("C8", "a region is named for its main place, or one near")
        clause.checked = regionCount
        guard let given else {
            clause.notes.append("\((0..<regionCount).count { tables.name($0) != nil }) regions have a name")
            clause.skipped.append("names and their places: no places were given")
            return clause
        }
        if residents == nil { clause.skipped.append("names of places outside: no population was given") }
        let known = Set((0..<tables.countryCount).compactMap { tables.countryCode($0) })
        // The borders may be those of districts, and the places' countries codes that they do not have.
        let places = given.map { place in
            var place = place
            place.country = place.country.flatMap { known.contains($0) ? $0 : nil }
            return place
        }
        let homes = try homes(of: places)
        var contained = [[Int32]](repeating: [], count: regionCount)
        for (place, region) in homes.enumerated() { contained[region].append(Int32(place)) }
        let positions = places.map { EarthCentered.position($0.position) }
        let grid = CenterGrid(positions: positions, regions: Array(places.indices), side: Self.nearMeters)
        let own = contained
        clause.add(
            try offenders { region in
                let code = tables.countryCode(tables.country(region))
                // A place that says it lies in another country is on the wrong side of a border drawn differently
                // there.
                let inside = own[region].map { places[Int($0)] }.filter { $0.country == nil || $0.country == code }
                if let main = inside.max(by: { $0.population < $1.population }) {
                    let equals = inside.filter { $0.population == main.population }
                    return fault(ofName: residents.map { Self.mostPeopled(equals, $0) } ?? equals, region)
                }
                guard let residents else { return nil }
                return try fault(ofOutsideName: region, code, places, homes, positions, grid, residents.inhabited)
            })
        clause.add(try misplacedCenters(places, own, residents))
        return clause
    }

    private func homes(of places: [Place]) throws -> [Int] {
        let batch = 4096
        return try parallelMap(count: (places.count + batch - 1) / batch) { task in
            try places[task * batch..<min(places.count, (task + 1) * batch)].map {
                try tables.region(at: $0.position)
            }
        }.flatMap { $0 }
    }

    private func name(_ region: Int) -> String? { tables.name(region).flatMap { tables.name(at: $0) } }

    /// Those of the places with most residents in the level-11 cell around them.
    private static func mostPeopled(_ places: [Place], _ count: ResidentCount.Count) -> [Place] {
        let residents = places.map { place in
            let leaf = CubeGeometry.leaf(at: place.position)
            return count.byCell[Quad(face: leaf.face, i: leaf.i, j: leaf.j, level: InhabitedLand.level)] ?? 0
        }
        let most = residents.max() ?? 0
        return zip(places, residents).filter { $1 + tolerance(most) >= most }.map(\.0)
    }

    private func fault(ofName candidates: [Place], _ region: Int) -> String? {
        guard let name = name(region) else { return "it has no name, but holds \(candidates[0].name)" }
        if tables.isNameOfNeighbor(region) { return "it is named for a place near, but holds \(candidates[0].name)" }
        return candidates.contains { $0.name == name } ? nil : "its main place is \(candidates[0].name)"
    }

    private func fault(
        ofOutsideName region: Int, _ code: String?, _ places: [Place], _ homes: [Int], _ positions: [SIMD3<Double>],
        _ grid: CenterGrid, _ inhabited: InhabitedLand
    ) throws -> String? {
        let center = EarthCentered.position(tables.position(region))
        // What lies in no country has nothing near that is its own.
        let around = code == "XZ" ? [] : grid.regions(within: Self.nearMeters, of: center)
        let near = around.filter {
            (places[$0].country ?? tables.countryCode(tables.country(homes[$0]))) == code
        }.map { place in
            let distance = positions[place].chord(to: center), disc = places[place].discMeters
            return (
                distance: distance, name: places[place].name,
                // What is farther than twice the disc is outside in any case.
                extent: distance > 2 * disc + 1
                    ? disc
                    : inhabited.radius(
                        of: Double(places[place].population), around: positions[place], within: disc...2 * disc)
            )
        }
        let holders = near.filter { $0.distance < $0.extent - Self.extentTolerance }
        if let smallest = holders.map(\.extent).min() {
            let isHolder = near.contains {
                $0.name == name(region) && $0.distance < $0.extent + Self.extentTolerance && $0.extent <= smallest
            }
            return isHolder && !tables.isNameOfNeighbor(region)
                ? nil : "its center lies in the extent of \(holders.first { $0.extent == smallest }!.name)"
        }
        guard let name = name(region) else {
            // A chord of 100 km is a meter shorter than the way along the ground.
            let isSure = near.contains { $0.distance < Self.nearMeters - 5 }
            return isSure ? "it has no name, though \(near.min { $0.distance < $1.distance }!.name) is near" : nil
        }
        guard tables.isNameOfNeighbor(region) else {
            let isEdge = near.contains { $0.name == name && abs($0.distance - $0.extent) <= Self.extentTolerance }
            return isEdge ? nil : "its center is outside the place it is named for"
        }
        guard let nearest = near.map(\.distance).min() else { return "no place of its country is near" }
        let isNearest = near.contains { $0.name == name && $0.distance < nearest + 5 }
        return isNearest ? nil : "the nearest place is \(near.first { $0.distance == nearest }!.name)"
    }

    /// Regions that are not centered on their place though the circle would be hardly larger.
    private func misplacedCenters(
        _ places: [Place], _ contained: [[Int32]], _ residents: ResidentCount.Count?
    ) throws -> [VerificationReport.Offender] {
        let named: [(region: Int, centers: [Position])] = (0..<regionCount).compactMap { region in
            guard let name = name(region), !tables.isNameOfNeighbor(region) else { return nil }
            let bearers = contained[region].map { places[Int($0)] }.filter { $0.name == name }
            let most = bearers.map(\.population).max()
            let main = bearers.filter { $0.population == most }
            let centers = (residents.map { Self.mostPeopled(main, $0) } ?? main).map { place in
                return RegionJoiner.center(CubeGeometry.leaf(at: place.position))
            }
            return centers.isEmpty ? nil : (region, centers)
        }
        let isLand = try land.map { try PointsInPolygons(named.map { $0.centers[0] }).areInside($0) }
        return try parallelMap(count: named.count) { index in
            let (region, centers) = named[index]
            let center = tables.position(region)
            // Of two places of one name and size only the builder knows which it took.
            if centers.contains(center) || centers.count > 1 { return nil }
            let place = centers[0]
            if isLand?[index] == false { return nil }
            guard try tables.region(at: place) == region else { return nil }
            let accuracy = try reach(of: region, from: place) + tables.limits.steadiness
            let limits = tables.limits
            let largest = tables.isInhabited(region) ? limits.largestAccuracy : limits.largestEmptyAccuracy
            guard accuracy + 10 <= min(largest, Self.largerShare * tables.accuracy(region)) else { return nil }
            return offender(region, "it is not centered on its place, though the circle would be \(Int(accuracy)) m")
        }.compactMap { $0 }
    }

    /// Distance from a place to the farthest corner of a region, by PROJ.
    private func reach(of region: Int, from place: Position) throws -> Double {
        try measures[region].hull.map { corner in
            let corner = EarthCentered.place(corner)
            return try Geodesic.wgs84.distanceMeters(
                fromLatitude: place.latitude, longitude: place.longitude, toLatitude: corner.latitude,
                longitude: corner.longitude)
        }.max() ?? 0
    }
}

extension Place {
    /// Where it is.
    var position: Position { Position(latitude: latitude, longitude: longitude) }

    /// Radius in meters of a disc with as many residents, of whom 1,500 (p / 10,000)^¼ live on a km²; 0 if unknown.
    var discMeters: Double {
        let residents = Double(population)
        return residents > 0 ? 1_000 * (residents / (1_500 * pow(residents / 10_000, 0.25)) / .pi).squareRoot() : 0
    }
}
