import FixedRandom
import Hereabouts
import Testing
import Traces

@testable import Zones

/// Known attacks on privacy zones, on a commuter's recordings of twenty days: the fit of a circle to the ends of tracks
/// (Hassan et al., USENIX Security 2018), of the gates of a road network that tracks leave by (Dhondt et al., 2022 and 2024),
/// and of the hole that suppression leaves. Each runs on tracks that are clipped by a circle, where it finds homes to some
/// ten meters, so that it is shown to work; and on the output of `convert --zones`. There the fit and the hole do no better than who
/// knows nothing but which regions are withheld. Gates do no better than without zones, where all that is published is which
/// regions were crossed: roads far from the zone that depend on which part of its region somebody lives in say that.
///
/// The attack by hidden distance needs the length of the whole track, which no output has.
@Suite struct ZoneAttackTests {
    /// A city in a plane about a region's center.
    private struct City {
        /// Meters from street to street.
        static let block = 250.0
        /// Meters from arterial to arterial, which ways follow once they are on them; nil for ways straight to their end.
        let arterial: Double?
        let center: Coordinate
        /// Meters east and north.
        let destinations: [SIMD2<Double>]

        init(core: Region, arterial: Double?, _ random: inout SplitMix64) {
            self.arterial = arterial
            center = worldAtlas.center(of: core)
            destinations = (0..<5).map { index in
                let angle = Double(index) * 1.257 + random.uniform(-0.4, 0.4), distance = random.uniform(12_000, 18_000)
                let turn = Trigonometry.sineAndCosine(degrees: angle * 57.29578 - 180)
                let place = SIMD2(turn.sine, turn.cosine) * distance
                return arterial.map { Self.snapped(place, $0) } ?? place
            }
        }

        static func snapped(_ place: SIMD2<Double>, _ grid: Double) -> SIMD2<Double> {
            SIMD2((place.x / grid).rounded() * grid, (place.y / grid).rounded() * grid)
        }

        /// On the plane, which is near enough to the Earth for homes and roads that are made up.
        func coordinate(_ place: SIMD2<Double>) -> Coordinate {
            let cosine = Trigonometry.sineAndCosine(degrees: center.latitude).cosine
            return Coordinate(
                latitude: center.latitude + place.y / 111_200,
                longitude: center.longitude + place.x / (111_320 * cosine))
        }

        func place(_ coordinate: Coordinate) -> SIMD2<Double> {
            let cosine = Trigonometry.sineAndCosine(degrees: center.latitude).cosine
            return SIMD2(
                (coordinate.longitude - center.longitude) * 111_320 * cosine,
                (coordinate.latitude - center.latitude) * 111_200)
        }

        /// The corners of the way from a home on a street to a destination: along streets to the nearest crossing of
        /// arterials, and along these.
        func route(from home: SIMD2<Double>, to destination: SIMD2<Double>) -> [SIMD2<Double>] {
            guard let arterial else { return [home, destination] }
            let gate = Self.snapped(home, arterial)
            return [home, SIMD2(gate.x, home.y), gate, SIMD2(destination.x, gate.y), destination]
        }

        /// Points of a way every so many meters.
        func points(_ route: [SIMD2<Double>], every step: Double) -> [SIMD2<Double>] {
            var points: [SIMD2<Double>] = []
            for (from, to) in zip(route, route.dropFirst()) {
                let length = distance(from, to)
                for index in 0..<max(1, Int(length / step)) {
                    points.append(from + (to - from) * (Double(index) * step / max(length, 1)))
                }
            }
            return points + [route[route.count - 1]]
        }
    }

    private struct Trip {
        var destination: Int
        var isReturn: Bool
        var fixes: [(place: SIMD2<Double>, seconds: Int64)]
    }

    /// Twenty days of two trips, at 8 m/s, each begun at another minute; a fix every ten seconds.
    private static func trips(_ city: City, home: SIMD2<Double>, _ random: inout SplitMix64) -> [Trip] {
        var trips: [Trip] = []
        for day in 0..<20 {
            let destination = Int(random.next() % UInt64(city.destinations.count))
            let way = city.points(city.route(from: home, to: city.destinations[destination]), every: 80)
            for isReturn in [false, true] {
                var seconds = Int64(day) * 86_400 + Int64(random.uniform(6, 9) * 3600) + (isReturn ? 36_000 : 0)
                var fixes: [(SIMD2<Double>, Int64)] = []
                // A while at rest before and after.
                let rest = [SIMD2<Double>](repeating: isReturn ? city.destinations[destination] : home, count: 90)
                let end = [SIMD2<Double>](repeating: isReturn ? home : city.destinations[destination], count: 90)
                for place in rest + (isReturn ? way.reversed() : way) + end {
                    fixes.append((place + SIMD2(random.uniform(-5, 5), random.uniform(-5, 5)), seconds))
                    seconds += 10
                }
                trips.append(Trip(destination: destination, isReturn: isReturn, fixes: fixes))
            }
        }
        return trips
    }

    /// What an observer has of a trip: published places in order.
    private struct Seen {
        var destination: Int
        var isReturn: Bool
        var places: [SIMD2<Double>]

        /// The one next to the hole.
        var end: SIMD2<Double>? { isReturn ? places.last : places.first }
    }

    private static let epoch: Int64 = 1_771_977_600

    // MARK: Attacks

    /// The center of the circle that fits points best (Kåsa's least squares); nil where they are on a line.
    private static func circleCenter(_ points: [SIMD2<Double>]) -> SIMD2<Double>? {
        guard points.count >= 3 else { return nil }
        let mean = points.reduce(SIMD2(), +) / Double(points.count)
        var (xx, xy, yy, xz, yz) = (0.0, 0.0, 0.0, 0.0, 0.0)
        for point in points {
            let p = point - mean, z = (p * p).sum()
            xx += p.x * p.x
            xy += p.x * p.y
            yy += p.y * p.y
            xz += p.x * z
            yz += p.y * z
        }
        let determinant = xx * yy - xy * xy
        guard determinant > 1e-6 * xx * yy else { return nil }
        return mean + SIMD2((xz * yy - yz * xy) / determinant, (yz * xx - xz * xy) / determinant) / 2
    }

    /// The hole: the middle of what the tracks' ends enclose.
    private static func hole(_ points: [SIMD2<Double>]) -> SIMD2<Double>? {
        guard let first = points.first else { return nil }
        var (least, most) = (first, first)
        for point in points {
            least = pointwiseMin(least, point)
            most = pointwiseMax(most, point)
        }
        return (least + most) / 2
    }

    /// All streets' points within the reach of where a home may be.
    private static func candidates(within radius: Double) -> [SIMD2<Double>] {
        let count = Int(radius / 125)
        return (-count...count).flatMap { column in
            (-count...count).map { SIMD2(Double(column) * 125, Double($0) * 125) }
        }.filter { candidate in
            // Homes are on streets that run east.
            distance(candidate, SIMD2()) <= radius
                && (candidate.y / City.block).rounded() * City.block == candidate.y
        }
    }

    /// The mean of the candidates with the least cost.
    private static func best(_ candidates: [SIMD2<Double>], _ cost: (SIMD2<Double>) -> Double) -> SIMD2<Double>? {
        let costs = candidates.map(cost)
        guard let least = costs.min() else { return nil }
        let best = zip(candidates, costs).filter { $0.1 <= least * (1 + 1e-9) + 1e-9 }.map(\.0)
        return best.reduce(SIMD2(), +) / Double(best.count)
    }

    // MARK: Positive control

    /// The same tracks without what lies within 600 m of a point that is up to 150 m from the home.
    private static func clipped(_ trips: [Trip], around zone: SIMD2<Double>, radius: Double) -> [Seen] {
        trips.map { trip in
            Seen(
                destination: trip.destination, isReturn: trip.isReturn,
                places: trip.fixes.map(\.place).filter { distance($0, zone) > radius })
        }
    }

    @Test func `the attacks find homes behind clipped circles`() {
        var random = SplitMix64(seed: 2018)
        var errors: [String: [Double]] = [:]
        let core = region(at: Coordinate(latitude: 48.2082, longitude: 16.3738))
        for _ in 0..<8 {
            let home = City.snapped(SIMD2(random.uniform(-1500, 1500), random.uniform(-1500, 1500)), City.block)
            let open = City(core: core, arterial: nil, &random)
            let ends = Self.clipped(Self.trips(open, home: home, &random), around: home, radius: 600).compactMap(\.end)
            if let center = Self.circleCenter(ends) { errors["circle", default: []].append(distance(center, home)) }
            if let center = Self.hole(ends) { errors["hole", default: []].append(distance(center, home)) }
            for arterial in [2000.0, 8000] {
                let city = City(core: core, arterial: arterial, &random)
                let seen = Self.clipped(Self.trips(city, home: home, &random), around: home, radius: 600)
                // The gate of a candidate is where its way leaves the circle around it.
                let estimate = Self.best(Self.candidates(within: 2500)) { candidate in
                    let gates = city.destinations.map { destination in
                        city.points(city.route(from: candidate, to: destination), every: 20)
                            .first { distance($0, candidate) > 600 } ?? candidate
                    }
                    return seen.reduce(0) { $0 + distance($1.end ?? SIMD2(), gates[$1.destination]) }
                }
                if let estimate { errors["gates", default: []].append(distance(estimate, home)) }
            }
        }
        for (attack, errors) in errors { #expect(Self.median(errors) < 150, "\(attack)") }
        #expect(errors.count == 3)
    }

    private static func median(_ values: [Double]) -> Double {
        values.isEmpty ? .infinity : values.sorted()[values.count / 2]
    }

    // MARK: Zones

    /// How far from homes an attack's estimates are, in meters.
    private struct Errors {
        var distances: [Double] = []
        /// Homes that are found: to less than 300 m.
        var found: Double { Double(distances.count { $0 < Self.near }) }
        static let near = 300.0
        var median: Double { ZoneAttackTests.median(distances) }
    }

    /// What chance makes of a count once in a thousand times or so: three standard deviations more.
    private static func most(_ expected: Double) -> Double { expected + 3 * expected.squareRoot() }

    @Test func `they do no better than who knows the regions`() throws {
        var random = SplitMix64(seed: 2024)
        var errors: [String: Errors] = [:]
        // Homes that somebody finds who names any place of the region.
        var foundByChance = 0.0
        for start in [(48.2082, 16.3738), (51.5072, -0.1276), (52.52, 13.405), (40.4168, -3.7038), (39.74, -104.99)] {
            let core = region(at: Coordinate(latitude: start.0, longitude: start.1))
            let frame = City(core: core, arterial: nil, &random)
            let places = (0..<1_000).map { _ in frame.place(random.place(in: core)) }
            let mean = places.reduce(SIMD2(), +) / Double(places.count)
            // Where in the region the zone is changes nothing: see ZoneRegionsTests.
            let zone = Zone(middle: random.place(in: core), reachMeters: 150)
            let regions = try ZoneRegions([zone], atlas: worldAtlas, atlasPath: atlasPath)
            let withheld = WithheldRegions(regions.all), noZones = WithheldRegions([])
            for _ in 0..<32 {
                let home = Self.home(in: core, frame, &random)
                foundByChance += Double(places.count { distance($0, home) < Errors.near }) / Double(places.count)
                func note(_ attack: String, _ estimate: SIMD2<Double>?) {
                    // An estimate that cannot be true is given up for the mean of the region.
                    let place = estimate.flatMap { region(at: frame.coordinate($0)) == core ? $0 : nil }
                    errors[attack, default: Errors()].distances.append(distance(place ?? mean, home))
                }
                note("mean", mean)
                let open = City(core: core, arterial: nil, &random)
                let ends = try Self.published(Self.trips(open, home: home, &random), open, withheld).compactMap(\.end)
                note("circle", Self.circleCenter(ends))
                note("hole", Self.hole(ends))
                // Roads that nearly all of the region takes, and roads that part of it takes.
                for (name, arterial) in [("gates", 8000.0), ("gates apart", 2000)] {
                    let city = City(core: core, arterial: arterial, &random)
                    let trips = Self.trips(city, home: home, &random)
                    for (name, withheld) in [(name, withheld), ("\(name), no zones", noZones)] {
                        note(name, Self.gates(try Self.published(trips, city, withheld), city, core, withheld))
                    }
                }
            }
        }
        for (attack, errors) in errors.sorted(by: { $0.key < $1.key }) {
            print(
                "\(attack): median \(Int(errors.median)) m, \(Int(errors.found)) of \(errors.distances.count) found; "
                    + "\(Int(foundByChance.rounded())) by chance")
        }
        let mean = try #require(errors["mean"])
        for attack in ["circle", "hole"] {
            let attacked = try #require(errors[attack])
            #expect(attacked.median > 0.85 * mean.median, "\(attack)")
            #expect(attacked.found <= Self.most(foundByChance), "\(attack)")
        }
        for attack in ["gates", "gates apart"] {
            let attacked = try #require(errors[attack]), withoutZones = try #require(errors["\(attack), no zones"])
            #expect(attacked.median > 0.85 * withoutZones.median, "\(attack)")
            #expect(attacked.found <= Self.most(withoutZones.found), "\(attack)")
        }
        // As far as the roads are apart, however large the region.
        #expect(try #require(errors["gates"]).median > 0.85 * mean.median)
        #expect(try #require(errors["gates apart"]).median > min(0.6 * mean.median, 0.35 * 2000))
    }

    private static func home(in core: Region, _ city: City, _ random: inout SplitMix64) -> SIMD2<Double> {
        while true {
            let place = city.place(random.place(in: core))
            let home = SIMD2((place.x / 125).rounded() * 125, (place.y / City.block).rounded() * City.block)
            if region(at: city.coordinate(home)) == core { return home }
        }
    }

    /// What `convert --emit recomputations` writes of each trip, which says most.
    private static func published(_ trips: [Trip], _ city: City, _ withheld: WithheldRegions) throws -> [Seen] {
        let fixes = trips.flatMap { trip in
            trip.fixes.map {
                Fix(
                    coordinate: city.coordinate($0.place),
                    time: Timestamp(nanosecondsSince1970: (epoch + $0.seconds) * 1_000_000_000))
            }
        }
        let text = try convert([csv(fixes)], zones: withheld) { $0.emission = .recomputations }
        let rows = text.split(separator: "\n").dropFirst().map { $0.split(separator: ",") }
        return trips.map { trip in
            let first = trip.fixes[0].seconds, last = trip.fixes[trip.fixes.count - 1].seconds + 900
            let places = rows.filter { row in
                let time = Self.seconds(row[1]) - epoch
                return time > first && time <= last
            }.compactMap { row -> SIMD2<Double>? in
                guard let latitude = Double(row[2]), let longitude = Double(row[3]) else { return nil }
                return city.place(Coordinate(latitude: latitude, longitude: longitude))
            }
            return Seen(destination: trip.destination, isReturn: trip.isReturn, places: places)
        }
    }

    /// Seconds since 1970 of `2026-02-25T06:15:00Z`; all are in February and March of 2026.
    private static func seconds(_ text: Substring) -> Int64 {
        let numbers = text.split { !$0.isNumber }.compactMap { Int64($0) }
        let day = numbers[1] == 2 ? numbers[2] : 28 + numbers[2]
        return 1_769_904_000 + (day - 1) * 86_400 + numbers[3] * 3600 + numbers[4] * 60 + numbers[5]
    }

    /// Gates: the homes in the region whose ways to all destinations pass most of the regions that were published.
    private static func gates(
        _ seen: [Seen], _ city: City, _ core: Region, _ withheld: WithheldRegions
    ) -> SIMD2<Double>? {
        let candidates = candidates(within: worldAtlas.horizontalAccuracy(of: core)).filter {
            region(at: city.coordinate($0)) == core
        }
        // The regions on the way from each crossing of arterials, and the centers that stand for them.
        var known: [SIMD2<Double>: [Set<Region>]] = [:]
        return best(candidates) { candidate in
            let gate = city.arterial.map { City.snapped(candidate, $0) } ?? candidate
            let ways =
                known[gate]
                ?? city.destinations.map { destination in
                    Set(
                        city.points(city.route(from: gate, to: destination), every: 200)
                            .map { region(at: city.coordinate($0)) }.filter { !withheld.contains($0) })
                }
            known[gate] = ways
            return Double(
                seen.reduce(0) { sum, trip in
                    sum
                        + trip.places.count { place in
                            !ways[trip.destination].contains(region(at: city.coordinate(place)))
                        }
                })
        }
    }
}

private func distance(_ a: SIMD2<Double>, _ b: SIMD2<Double>) -> Double {
    let d = a - b
    return (d * d).sum().squareRoot()
}
