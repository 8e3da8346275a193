import AtlasFormat
import AtlasSources
import Foundation
import ParallelMap
import PROJBridge

/// C8: regions are named for places, and centered on them where that costs little.
extension VerifiedAtlas {
    private static let nearMeters = 100_000.0
    /// How much larger than the best a circle about the place may be.
    private static let largerShare = 1.25
    /// Of the residents of a region without a place of its own, so many must belong to one that it is named for.
    private static let leastShare = 0.25
    /// Where a place's last residents are, sums of many numbers decide: so many residents, the most at one point of a
    /// surface, and this share of a region's may belong to another.
    private static let doubtfulResidents = 400.0, doubtfulShare = 0.02

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
        let extents = try residents.map { try placeExtents(of: places, homes, positions, $0) }
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
                guard let residents, let extents else { return nil }
                if let fault = fault(
                    ofExtents: extents.shares(of: region),
                    among: residents.residents[region] - residents.listed[region], region, places)
                {
                    return fault
                }
                guard tables.isNameOfNeighbor(region) || name(region) == nil else { return nil }
                return fault(ofNearName: region, code, places, homes, positions, grid)
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

    /// Where the people live that the places list.
    private func placeExtents(
        of places: [Place], _ homes: [Int], _ positions: [SIMD3<Double>], _ count: ResidentCount.Count
    ) throws -> PlaceExtents {
        let codes = (0..<tables.countryCount).map { tables.countryCode($0) }
        let country = Dictionary(codes.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        var byCountry = [[(place: Int, residents: Double, position: SIMD3<Double>)]](
            repeating: [], count: tables.countryCount)
        for (index, place) in places.enumerated() where place.population > 0 {
            let home = place.country.flatMap { country[$0] } ?? tables.country(homes[index])
            // What lies in no country has no place of its own.
            guard codes[home] != "XZ" else { continue }
            byCountry[home].append((index, Double(place.population), positions[index]))
        }
        return try PlaceExtents(
            count.points, places: byCountry, regionCount: regionCount, countryOfRegion: { tables.country($0) })
    }

    /// A region without a place of its own is named for the one to which most of its residents belong, if those are enough.
    private func fault(
        ofExtents shares: [(place: Int, residents: Double)], among residents: Double, _ region: Int, _ places: [Place]
    ) -> String? {
        let doubt = Self.doubtfulResidents + Self.doubtfulShare * residents
        let most = shares.max { $0.residents < $1.residents }
        if let name = name(region), !tables.isNameOfNeighbor(region) {
            let bearer = shares.filter { places[$0.place].name == name }.map(\.residents).max() ?? 0
            let needed = max(Self.leastShare * residents, most?.residents ?? 0)
            return bearer > 0 && bearer + doubt >= needed ? nil : "few of its people live in the place it is named for"
        }
        guard let most, most.residents > Self.leastShare * residents + doubt else { return nil }
        return "\(Int(most.residents)) of its people live in \(places[most.place].name)"
    }

    /// Any other is named for the nearest place of its country.
    private func fault(
        ofNearName region: Int, _ code: String?, _ places: [Place], _ homes: [Int], _ positions: [SIMD3<Double>],
        _ grid: CenterGrid
    ) -> String? {
        let center = EarthCentered.position(tables.position(region))
        // What lies in no country has nothing near that is its own.
        let around = code == "XZ" ? [] : grid.regions(within: Self.nearMeters, of: center)
        let near = around.filter {
            (places[$0].country ?? tables.countryCode(tables.country(homes[$0]))) == code
        }.map { (distance: positions[$0].chord(to: center), name: places[$0].name) }
        guard let name = name(region) else {
            // A chord of 100 km is a meter shorter than the way along the ground.
            let isSure = near.contains { $0.distance < Self.nearMeters - 5 }
            return isSure ? "it has no name, though \(near.min { $0.distance < $1.distance }!.name) is near" : nil
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
}
