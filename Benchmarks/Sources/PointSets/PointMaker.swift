import Foundation
import Hereabouts

/// The sets of points that are measured.
package enum PointSet: String, CaseIterable, Sendable {
    /// Spread evenly over the Earth's inhabited land.
    case land
    /// Half spread over inhabited land, half near cities.
    case mixed
    /// Cars that report once a second.
    case drive
    /// Within 200 m of a border between countries.
    case border
    /// On the high seas.
    case ocean

    /// As a table names it.
    package var title: String {
        switch self {
        case .land: "populated land"
        case .mixed: "half populated land, half near cities"
        case .drive: "along drives, one fix a second"
        case .border: "within 200 m of a border"
        case .ocean: "high seas"
        }
    }
}

/// Makes the point sets, all with the public interface and fixed seeds: what is measured is what a user gets.
package struct PointMaker {
    /// Meters in a degree of latitude, on a sphere: good enough for placing points.
    private static let metersPerDegree = 111_195.0

    private let atlas: Atlas
    /// Points of a set.
    private let count: Int

    package init(atlas: Atlas, count: Int) {
        self.atlas = atlas
        self.count = count
    }

    /// The points of a set, rounded to the seven decimals that text files carry, longitudes from -180 to 180.
    package func points(_ set: PointSet) -> [Coordinate] {
        let exact =
            switch set {
            case .land: land()
            case .mixed: mixed()
            case .drive: drive()
            case .border: border()
            case .ocean: ocean()
            }
        return exact.map { point in
            Coordinate(
                latitude: (point.latitude * 1e7).rounded() / 1e7,
                longitude: (point.longitude.remainder(dividingBy: 360) * 1e7).rounded() / 1e7)
        }
    }

    private func land() -> [Coordinate] {
        var random = SplitMix64(seed: 1)
        return uniform(count, &random) { promised(in: $0) > 0 }
    }

    private func mixed() -> [Coordinate] {
        var random = SplitMix64(seed: 2)
        let spread = uniform(count / 2, &random) { promised(in: $0) > 0 }
        var points = spread + nearCities(count - spread.count, &random, cityCenters())
        points.shuffle(using: &random)
        return points
    }

    private func ocean() -> [Coordinate] {
        var random = SplitMix64(seed: 3)
        return uniform(count, &random) { location(of: $0).country.code == "XZ" }
    }

    /// Ashore or not.
    private func border() -> [Coordinate] {
        var random = SplitMix64(seed: 4)
        var points: [Coordinate] = []
        var countries: [Region: String] = [:]
        while points.count < count {
            guard let place = borderPlace(&random, &countries) else { continue }
            // Several points around each place, since finding one takes some thousand look-ups.
            for _ in 0..<min(32, count - points.count) {
                points.append(moved(place, by: (random.unit() * 2 - 1) * 200, (random.unit() * 2 - 1) * 200))
            }
        }
        points.shuffle(using: &random)
        return points
    }

    /// 25 m/s, the course drifting, from one city after the other, an hour each.
    private func drive() -> [Coordinate] {
        var random = SplitMix64(seed: 5)
        let centers = cityCenters()
        var points: [Coordinate] = []
        points.reserveCapacity(count)
        while points.count < count {
            var place = nearCities(1, &random, centers)[0]
            var course = random.unit() * 2 * Double.pi
            for _ in 0..<min(3_600, count - points.count) {
                let (turn, _) = random.normalPair()
                course += turn * 0.02
                place = moved(place, by: 25 * cos(course), 25 * sin(course))
                points.append(place)
            }
        }
        return points
    }

    // MARK: Places

    /// Points uniform by area among those whose region passes.
    private func uniform(
        _ count: Int, _ random: inout SplitMix64, where isWanted: (Region) -> Bool
    ) -> [Coordinate] {
        var verdicts: [Region: Bool] = [:]
        var points: [Coordinate] = []
        points.reserveCapacity(count)
        while points.count < count {
            let latitude = asin(2 * random.unit() - 1) * 180 / Double.pi
            let point = Coordinate(latitude: latitude, longitude: random.unit() * 360 - 180)
            let region = region(point)
            let verdict = verdicts[region] ?? isWanted(region)
            verdicts[region] = verdict
            if verdict { points.append(point) }
        }
        return points
    }

    /// Points spread normally, 5 km each axis, around centers of regions that hold K residents at the smallest sizes.
    private func nearCities(
        _ count: Int, _ random: inout SplitMix64, _ centers: [Coordinate]
    ) -> [Coordinate] {
        (0..<count).map { _ in
            let center = centers[Int.random(in: 0..<centers.count, using: &random)]
            let (north, east) = random.normalPair()
            return moved(center, by: north * 5_000, east * 5_000)
        }
    }

    /// Centers of regions with an accuracy of up to 4 km and at least K residents; all centers where there are none.
    private func cityCenters() -> [Coordinate] {
        var centers: [Coordinate] = [], cities: [Coordinate] = []
        // Regions cannot be listed by number, so they are met by snapping: a lattice finds most, which is enough.
        var random = SplitMix64(seed: 6), seen = Set<Region>()
        for _ in 0..<max(20_000, min(count, 1_000_000) * 2) {
            let latitude = asin(2 * random.unit() - 1) * 180 / Double.pi
            let place = Coordinate(latitude: latitude, longitude: random.unit() * 360 - 180)
            guard let region = try? atlas.region(at: place),
                seen.insert(region).inserted
            else { continue }
            let location = location(of: region)
            guard location.country.code != "XZ" else { continue }
            centers.append(location.coordinate)
            if location.horizontalAccuracy <= 4_000, promised(in: region) >= atlas.limits.anonymity {
                cities.append(location.coordinate)
            }
        }
        return cities.isEmpty ? centers : cities
    }

    /// A place on a border: halfway, by repeated halving, between two places of different countries up to 60 km apart.
    private func borderPlace(_ random: inout SplitMix64, _ countries: inout [Region: String]) -> Coordinate? {
        let latitude = asin(2 * random.unit() - 1) * 180 / Double.pi
        var inside = Coordinate(latitude: latitude, longitude: random.unit() * 360 - 180)
        let country = self.country(inside, &countries)
        let (north, east) = random.normalPair()
        var beyond = moved(inside, by: north * 30_000, east * 30_000)
        let other = self.country(beyond, &countries)
        guard country != other, country != "XZ", other != "XZ", latitude.magnitude < 80,
            (beyond.longitude - inside.longitude).magnitude < 90
        else { return nil }
        for _ in 0..<24 {
            let middle = Coordinate(
                latitude: (inside.latitude + beyond.latitude) / 2, longitude: (inside.longitude + beyond.longitude) / 2)
            if self.country(middle, &countries) == country { inside = middle } else { beyond = middle }
        }
        return inside
    }

    private func country(_ place: Coordinate, _ known: inout [Region: String]) -> String {
        let region = region(place)
        if let country = known[region] { return country }
        let country = location(of: region).country.code
        known[region] = country
        return country
    }

    private func region(_ place: Coordinate) -> Region {
        guard let region = try? atlas.region(at: place) else { preconditionFailure("every generated point is valid") }
        return region
    }

    private func location(of region: Region) -> ReducedLocation {
        guard let location = try? atlas.reducedLocation(of: region) else {
            preconditionFailure("a region of the atlas")
        }
        return location
    }

    private func promised(in region: Region) -> Int {
        guard let promised = try? atlas.anonymityLowerBound(of: region) else {
            preconditionFailure("a region of the atlas")
        }
        return promised
    }

    /// A place some meters north and east of another, kept off the poles.
    private func moved(_ place: Coordinate, by north: Double, _ east: Double) -> Coordinate {
        let latitude = min(89.9, max(-89.9, place.latitude + north / Self.metersPerDegree))
        let meters = Self.metersPerDegree * cos(latitude * Double.pi / 180)
        return Coordinate(latitude: latitude, longitude: place.longitude + east / meters)
    }
}
