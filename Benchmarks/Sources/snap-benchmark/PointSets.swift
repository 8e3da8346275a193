import Foundation
import Hereabouts

/// A named list of positions to snap.
struct PointSet {
    var name: String
    var coordinates: [Coordinate]
}

/// Makes the point sets, all with the public interface and fixed seeds: what is measured is what a user gets.
struct PointSets {
    /// Meters in a degree of latitude, on a sphere: good enough for placing points.
    private static let metersPerDegree = 111_195.0

    let atlas: Atlas
    /// Points of every set but the sample drive's.
    let count: Int

    /// Positions spread evenly over the Earth's inhabited land: those of regions with residents.
    func land() -> PointSet {
        var random = SplitMix64(seed: 1)
        return PointSet(
            name: "populated land", coordinates: uniform(count, &random) { atlas.anonymity(of: $0) > 0 })
    }

    /// Half of the points spread over populated land, half near cities, shuffled.
    func mixed() -> PointSet {
        var random = SplitMix64(seed: 2)
        let spread = uniform(count / 2, &random) { atlas.anonymity(of: $0) > 0 }
        var points = spread + nearCities(count - spread.count, &random)
        points.shuffle(using: &random)
        return PointSet(name: "half populated land, half near cities", coordinates: points)
    }

    /// Positions on the high seas.
    func ocean() -> PointSet {
        var random = SplitMix64(seed: 3)
        let points = uniform(count, &random) { atlas.reducedLocation(of: $0).country.code == "XZ" }
        return PointSet(name: "high seas", coordinates: points)
    }

    /// Positions within 200 m of a border between countries, ashore or not.
    func border() -> PointSet {
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
        return PointSet(name: "within 200 m of a border", coordinates: points)
    }

    /// A car that reports once a second: 25 m/s, its course drifting, from one city after the other, an hour each.
    func drive() -> PointSet {
        var random = SplitMix64(seed: 5)
        var points: [Coordinate] = []
        points.reserveCapacity(count)
        while points.count < count {
            var place = nearCities(1, &random)[0]
            var course = random.unit() * 2 * Double.pi
            for _ in 0..<min(3_600, count - points.count) {
                let (turn, _) = random.normalPair()
                course += turn * 0.02
                place = moved(place, by: 25 * cos(course), 25 * sin(course))
                points.append(place)
            }
        }
        return PointSet(name: "along drives, one fix a second", coordinates: points)
    }

    /// The fixes of a GPX file, again and again until there are `count`; nil where there are none.
    func sampleDrive(_ path: String) -> PointSet? {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
        let fixes = text.components(separatedBy: "<trkpt ").dropFirst().compactMap { point -> Coordinate? in
            let quoted = point.components(separatedBy: "\"")
            guard quoted.count > 3, let latitude = Double(quoted[1]), let longitude = Double(quoted[3]) else {
                return nil
            }
            return Coordinate(latitude: latitude, longitude: longitude)
        }
        guard !fixes.isEmpty else { return nil }
        let points = (0..<count).map { fixes[$0 % fixes.count] }
        return PointSet(name: "sample drive, one fix a second", coordinates: points)
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

    /// Points spread normally, 5 km each axis, around centres of regions that hold K residents at the smallest sizes.
    private func nearCities(_ count: Int, _ random: inout SplitMix64) -> [Coordinate] {
        (0..<count).map { _ in
            let center = cityCenters[Int.random(in: 0..<cityCenters.count, using: &random)]
            let (north, east) = random.normalPair()
            return moved(center, by: north * 5_000, east * 5_000)
        }
    }

    /// Centres of regions with an accuracy of up to 4 km and at least K residents; all centres where there are none.
    private let cityCenters: [Coordinate]

    init(atlas: Atlas, count: Int) {
        self.atlas = atlas
        self.count = count
        var centers: [Coordinate] = [], cities: [Coordinate] = []
        // Regions cannot be listed by number, so they are met by snapping: a lattice finds most, which is enough.
        var random = SplitMix64(seed: 6), seen = Set<Region>()
        for _ in 0..<max(20_000, count * 2) {
            let latitude = asin(2 * random.unit() - 1) * 180 / Double.pi
            guard let region = try? atlas.snap(latitude: latitude, longitude: random.unit() * 360 - 180),
                seen.insert(region).inserted
            else { continue }
            let location = atlas.reducedLocation(of: region)
            guard location.country.code != "XZ" else { continue }
            centers.append(location.coordinate)
            if location.horizontalAccuracy <= 4_000, atlas.anonymity(of: region) >= atlas.limits.anonymity {
                cities.append(location.coordinate)
            }
        }
        cityCenters = cities.isEmpty ? centers : cities
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
        let country = atlas.reducedLocation(of: region).country.code
        known[region] = country
        return country
    }

    private func region(_ place: Coordinate) -> Region {
        guard let region = try? atlas.snap(place) else { preconditionFailure("every generated point is valid") }
        return region
    }

    /// A place some meters north and east of another, kept off the poles.
    private func moved(_ place: Coordinate, by north: Double, _ east: Double) -> Coordinate {
        let latitude = min(89.9, max(-89.9, place.latitude + north / Self.metersPerDegree))
        let meters = Self.metersPerDegree * cos(latitude * Double.pi / 180)
        return Coordinate(latitude: latitude, longitude: place.longitude + east / meters)
    }
}
