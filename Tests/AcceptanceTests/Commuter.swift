import FixedRandom
import Foundation
import Hereabouts

/// Somebody who lives near a second region, and where they are for a month and a half.
struct Commuter: Sendable {
    /// How near a home is to other regions. Regions where nobody lives, such as the sea, are not counted.
    enum Neighborhood: String, CaseIterable, Sendable {
        /// Another region within 250 m, which is as far as any margin reaches.
        case edge
        /// Another region within 60 m, which is the margin of a receiver that claims 10 m or better.
        case brink
        /// Two other regions or more within 250 m.
        case corner
    }

    static let days = 45

    var neighborhood: Neighborhood
    var home: Coordinate
    /// Seconds since 1970 at which the recording begins, at any time of the day.
    var start: Double
    /// All stays and trips in order of time, without gaps, from before `start` on.
    var legs: [Leg]
    /// Each 03:00 local time (by longitude, whole hours) of the recording that finds the person at home.
    var nights: [Double]

    var end: Double { start + Double(Self.days) * 86_400 }

    /// A stay, or a straight stretch of a trip at constant speed.
    struct Leg: Sendable {
        /// Seconds since 1970.
        var start: Double, end: Double
        /// Meters east and north of the home.
        var from: SIMD2<Double>, to: SIMD2<Double>
        var isStay: Bool

        func position(at time: Double) -> SIMD2<Double> {
            end > start ? from + (to - from) * min(1, max(0, (time - start) / (end - start))) : to
        }
    }

    /// The coordinate so many meters from the home.
    func coordinate(_ offset: SIMD2<Double>) -> Coordinate {
        Device.offset(home, east: offset.x, north: offset.y)
    }

    /// Commuters of a kind, in the EU and in the US in turn.
    static func find(_ count: Int, _ neighborhood: Neighborhood, seed: UInt64) throws -> [Commuter] {
        let parts = ranges(count, parts: min(count, 40))
        return try onAllCores(parts.count) { part in
            var random = SplitMix64(seed: seed &+ UInt64(part))
            return try parts[part].map { index in
                let home = try Home.find(neighborhood, index % 2 == 0 ? .europeanUnion : .unitedStates, &random)
                var diary = try Diary(home, &random)
                return diary.month(neighborhood)
            }
        }.flatMap { $0 }
    }
}

/// Where people live: regions of some countries, by residents.
private struct Population: Sendable {
    static let europeanUnion = Population([
        "AT", "BE", "BG", "CY", "CZ", "DE", "DK", "EE", "ES", "FI", "FR", "GR", "HR", "HU", "IE", "IT", "LT", "LU",
        "LV",
        "MT", "NL", "PL", "PT", "RO", "SE", "SI", "SK",
    ])
    static let unitedStates = Population(["US"])

    private var regions: [Region] = []
    /// Residents of each region and all before it.
    private var sums: [Double] = []

    private init(_ codes: Set<String>) {
        let codes = Set(codes.map { CountryCode($0) })
        var sum = 0.0
        for index in 0..<atlas.regionCount {
            let region = Region(index: UInt32(index))
            guard codes.contains(RegionTable.world.code(region)), let residents = try? atlas.anonymity(of: region),
                residents > 0
            else { continue }
            sum += Double(residents)
            regions.append(region)
            sums.append(sum)
        }
    }

    func draw(_ random: inout SplitMix64) -> Region {
        let target = random.uniform(0, sums.last ?? 0)
        var (low, high) = (0, sums.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if sums[middle] > target { high = middle } else { low = middle + 1 }
        }
        return regions[low]
    }
}

/// Other regions near a point.
struct Surroundings {
    /// Those with residents, in order of their distance.
    var others: [Region] = []
    /// The direction in radians, clockwise from north, in which the nearest of them lies.
    var direction = 0.0

    /// - Parameter radii: meters, ascending: circles of sixteen probes each.
    init(_ point: Coordinate, in region: Region, radii: [Double]) throws {
        for radius in radii {
            var towards = SIMD2(0.0, 0.0)
            for step in 0..<16 {
                let angle = Double(step) * .pi / 8
                let probe = try atlas.snap(Device.offset(point, east: radius * sin(angle), north: radius * cos(angle)))
                guard try probe != region && atlas.anonymity(of: probe) > 0 else { continue }
                if others.isEmpty || others[0] == probe { towards += SIMD2(sin(angle), cos(angle)) }
                if !others.contains(probe) { others.append(probe) }
            }
            if towards != SIMD2(0, 0) && others.count == 1 { direction = atan2(towards.x, towards.y) }
        }
    }
}

private struct Home {
    var position: Coordinate
    var region: Region
    var surroundings: Surroundings

    /// A region by its residents, a point anywhere in it, again and again until one is near enough to another region: so
    /// homes lie on either side of a line.
    static func find(
        _ neighborhood: Commuter.Neighborhood, _ population: Population, _ random: inout SplitMix64
    ) throws -> Home {
        let radii: [Double] = neighborhood == .brink ? [20, 40, 60] : [40, 80, 120, 160, 200, 250]
        while true {
            let region = population.draw(&random)
            guard let position = try point(in: region, &random) else { continue }
            // Few of the regions near a point are missed by the outer circle alone.
            guard try !Surroundings(position, in: region, radii: radii.suffix(1)).others.isEmpty else { continue }
            let surroundings = try Surroundings(position, in: region, radii: radii)
            if neighborhood == .corner && surroundings.others.count < 2 { continue }
            return Home(position: position, region: region, surroundings: surroundings)
        }
    }

    private static func point(in region: Region, _ random: inout SplitMix64) throws -> Coordinate? {
        let circle = RegionTable.world[region]
        for _ in 0..<1_000 {
            let (radius, angle) = (circle.horizontalAccuracy * random.unit().squareRoot(), random.uniform(0, 2 * .pi))
            let point = Device.offset(circle.coordinate, east: radius * sin(angle), north: radius * cos(angle))
            if try atlas.snap(point) == region { return point }
        }
        return nil
    }
}

extension SplitMix64 {
    /// A normal deviate, by Box and Muller.
    mutating func normal(_ mean: Double = 0, _ sigma: Double = 1) -> Double {
        mean + sigma * (-2 * log(1 - unit())).squareRoot() * cos(uniform(0, 2 * .pi))
    }

    mutating func chance(_ probability: Double) -> Bool { unit() < probability }
}

/// Writes the legs of a month and a half.
private struct Diary {
    /// Somewhere to go from home, and the ways there: the points that each passes, from home on.
    private struct Destination {
        var place: SIMD2<Double>
        var ways: [[SIMD2<Double>]]
    }

    private let home: Home
    private var random: SplitMix64
    private let work: Destination
    private let haunts: [Destination]
    /// Takes a walk from home, and back to it, every morning and evening.
    private let walksDaily: Bool
    /// Seconds since 1970 of the first day's midnight, local time.
    private let midnight: Double
    private let firstWeekday: Int

    private var legs: [Commuter.Leg] = []
    private var now: Double
    private var here = SIMD2(0.0, 0.0)

    init(_ home: Home, _ random: inout SplitMix64) throws {
        self.home = home
        work = try Self.workplace(home, &random)
        haunts = try (0..<5).map { _ in
            let meters = min(20_000, max(400, exp(random.normal(log(2_500), 0.8))))
            return Self.destination(try Self.settled(home, meters: meters, &random), home, &random)
        }
        walksDaily = random.chance(0.1)
        let hours = (home.position.longitude / 15).rounded()
        midnight = (20_000 + random.uniform(0, 28).rounded(.down)) * 86_400 - hours * 3_600
        firstWeekday = Int(random.next() % 7)
        now = midnight
        self.random = SplitMix64(seed: random.next())
    }

    /// At 10 km in the middle and 1 to 60 km; a fifth work in the region next to their home's, and a tenth near an edge
    /// of regions: half of them near that of their home.
    private static func workplace(_ home: Home, _ random: inout SplitMix64) throws -> Destination {
        let meters = min(60_000, max(1_000, exp(random.normal(log(10_000), 0.8))))
        let share = random.unit()
        if share < 0.3 {
            let next = home.surroundings.others[0]
            for _ in 0..<400 {
                let distance = share < 0.25 ? random.uniform(500, 8_000) : meters
                let angle = random.uniform(0, 2 * .pi)
                let place = distance * SIMD2(sin(angle), cos(angle))
                let point = Device.offset(home.position, east: place.x, north: place.y)
                let region = try atlas.snap(point)
                guard try atlas.anonymity(of: region) > 0 else { continue }
                if share < 0.2 {
                    if region == next { return destination(place, home, &random) }
                    continue
                }
                let others = try Surroundings(point, in: region, radii: [125, 250]).others
                let pair = [home.region, next]
                if share < 0.25
                    ? pair.contains(region) && others.contains(where: { $0 != region && pair.contains($0) })
                    : !others.isEmpty
                {
                    return destination(place, home, &random)
                }
            }
        }
        return destination(try settled(home, meters: meters, &random), home, &random)
    }

    /// A place at a distance from home in a random direction, where somebody lives if that is found.
    private static func settled(_ home: Home, meters: Double, _ random: inout SplitMix64) throws -> SIMD2<Double> {
        var place = SIMD2(0.0, 0.0)
        for _ in 0..<20 {
            let angle = random.uniform(0, 2 * .pi)
            place = meters * SIMD2(sin(angle), cos(angle))
            let region = try atlas.snap(Device.offset(home.position, east: place.x, north: place.y))
            if try atlas.anonymity(of: region) > 0 { break }
        }
        return place
    }

    /// Two or three ways to a place, which leave home in different directions; a quarter of them along the line between
    /// home's region and the next.
    private static func destination(
        _ place: SIMD2<Double>, _ home: Home, _ random: inout SplitMix64
    ) -> Destination {
        let meters = (place * place).sum().squareRoot()
        let straight = atan2(place.x, place.y)
        let ways = (0..<(random.chance(0.5) ? 2 : 3)).map { _ in
            let isAlong = random.chance(0.25)
            let angle =
                isAlong
                ? home.surroundings.direction + (random.chance(0.5) ? 1 : -1) * .pi / 2 + random.normal(0, 0.1)
                : straight + random.normal(0, 0.9)
            let gate = min(0.6 * meters, random.uniform(150, isAlong ? 2_500 : 1_200))
            let first = gate * SIMD2(sin(angle), cos(angle))
            let rest = place - first
            let bend = random.normal(0, 0.12)
            return [first, first + rest / 2 + bend * SIMD2(rest.y, -rest.x)]
        }
        return Destination(place: place, ways: ways)
    }

    mutating func month(_ neighborhood: Commuter.Neighborhood) -> Commuter {
        for day in 0...Commuter.days {
            let dawn = midnight + Double(day) * 86_400
            if walksDaily && now < dawn + 6 * 3_600 { walk(at: dawn + random.normal(6.5, 0.25) * 3_600) }
            if (firstWeekday + day) % 7 < 5 { workday(dawn) } else { dayOff(dawn) }
            if walksDaily && here == SIMD2(0, 0) { walk(at: dawn + random.normal(21.5, 0.5) * 3_600) }
        }
        stay(until: midnight + Double(Commuter.days + 2) * 86_400)
        let start = midnight + random.uniform(0, 86_400)
        let nights = (0...Commuter.days).map { midnight + Double($0) * 86_400 + 3 * 3_600 }.filter { night in
            guard night > start && night < start + Double(Commuter.days) * 86_400 else { return false }
            let leg = legs.first { $0.end > night }
            return leg.map { $0.isStay && $0.to == SIMD2(0, 0) } ?? false
        }
        return Commuter(neighborhood: neighborhood, home: home.position, start: start, legs: legs, nights: nights)
    }

    private mutating func workday(_ dawn: Double) {
        if !random.chance(0.15) {
            stay(until: dawn + random.normal(7.75, 0.6) * 3_600)
            go(to: work)
            stay(until: dawn + random.normal(17, 0.7) * 3_600)
            if random.chance(0.25), let shop = haunts.randomElement(using: &random) {
                travel([shop.place])
                stay(until: now + random.uniform(900, 3_600))
                goHome(from: shop)
            } else {
                goHome(from: work)
            }
        }
        if random.chance(0.35) { errand(at: dawn + random.uniform(18.5, 20) * 3_600) }
    }

    /// One weekend in twenty or so is spent far away.
    private mutating func dayOff(_ dawn: Double) {
        if random.chance(0.03) {
            stay(until: dawn + random.uniform(8, 12) * 3_600)
            let angle = random.uniform(0, 2 * .pi)
            let far = Self.destination(
                random.uniform(40_000, 100_000) * SIMD2(sin(angle), cos(angle)), home, &random)
            go(to: far)
            stay(until: dawn + 86_400 + random.uniform(14, 20) * 3_600)
            goHome(from: far)
        } else {
            if random.chance(0.7) { errand(at: dawn + random.uniform(9, 12) * 3_600) }
            if random.chance(0.6) { errand(at: dawn + random.uniform(13, 19) * 3_600) }
        }
    }

    private mutating func errand(at time: Double) {
        guard let haunt = haunts.randomElement(using: &random) else { return }
        stay(until: time)
        go(to: haunt)
        stay(until: now + random.uniform(0.3, 2.5) * 3_600)
        goHome(from: haunt)
    }

    /// A round of 600 m to 2 km on foot.
    private mutating func walk(at time: Double) {
        stay(until: time)
        let (angle, meters) = (random.uniform(0, 2 * .pi), random.uniform(200, 600))
        let corners = [-0.5, 0.5].map { turn in meters * SIMD2(sin(angle + turn), cos(angle + turn)) }
        travel(corners + [SIMD2(0, 0)], speed: 1.3)
    }

    private mutating func stay(until time: Double) {
        guard time > now else { return }
        legs.append(Commuter.Leg(start: now, end: time, from: here, to: here, isStay: true))
        now = time
    }

    private mutating func go(to destination: Destination) {
        travel(way(of: destination) + [destination.place])
    }

    private mutating func goHome(from destination: Destination) {
        travel(way(of: destination).reversed() + [SIMD2(0, 0)])
    }

    /// The first way on most days.
    private mutating func way(of destination: Destination) -> [SIMD2<Double>] {
        destination.ways[random.chance(0.6) ? 0 : Int(random.next() % UInt64(destination.ways.count))]
    }

    /// On foot where it is near, else by bicycle or car.
    private mutating func travel(_ points: [SIMD2<Double>], speed: Double? = nil) {
        let length = zip([here] + points, points).map { (($1 - $0) * ($1 - $0)).sum().squareRoot() }.reduce(0, +)
        let speed = speed ?? (length < 1_500 && random.chance(0.6) ? 1.3 : random.uniform(4, length < 8_000 ? 9 : 18))
        for point in points {
            let meters = ((point - here) * (point - here)).sum().squareRoot()
            legs.append(Commuter.Leg(start: now, end: now + meters / speed, from: here, to: point, isStay: false))
            (now, here) = (now + meters / speed, point)
        }
    }
}
