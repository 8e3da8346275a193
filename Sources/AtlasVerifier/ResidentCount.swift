import AtlasFormat
import AtlasSources
import Foundation
import ParallelMap

/// Counts the residents of every region from the population's sources, by the regions of the file under verification.
///
/// From a gridded surface, a row's residents belong to the region at its position.
///
/// From places and country totals, the rule is that of `AtlasBuilder`'s population model, written anew here without
/// its cell map, prefix sums and grids. A point *counts for* a country where the file has that country and the land
/// polygons have land.
/// 1. A place of p residents stands for n = p / 400 points (at least 1, at most 20,000) in a disc of p residents at
///    1,500 (p / 10,000)^¼ a km²: point k at √(k / n) of the disc's radius, k times the golden angle (137.5°) from
///    north. Those that count for its country (for any, where it lists none) have equal shares of its residents; its
///    own point need not be on land.
/// 2. Where a country's places have more than nine tenths of its total, all are scaled down to nine tenths.
/// 3. The rest of the total is spread over the level-11 cells whose middle counts for the country, by area times
///    e^(-d / 15 km); d is the distance of the nearest place from the middle of the level-9 cell around, and beyond
///    30 km there is nobody. A cell with fewer than 8 residents has none. One with more than 400 is divided, down to
///    level 14, among its quarters, each of which has its share if its middle counts for the country.
///
/// Where builder and verifier may differ: a point within 42 m of a border (see `VerifiedAtlas.borderTolerance`), or 1 m
/// of a coast, may count for another country there. What hangs on one point is a place's share, or the scattered
/// residents of a level-11 cell; `Count.slack` allows two of each. On top, the builder's search for the nearest place
/// may find one 7.5 km away in place of one only 3.75 km away, so that it counts up to e^0.25 - 1 = 28 % fewer
/// scattered residents there than this rule, and correspondingly more elsewhere in the country.
struct ResidentCount {
    /// What was counted.
    struct Count {
        /// Residents by region, and those of them that belong to no place.
        var residents: [Double], scattered: [Double]
        /// Residents by region that two points in doubt could add or take.
        var slack: [Double]

        init(regionCount: Int) {
            residents = [Double](repeating: 0, count: regionCount)
            scattered = residents
            slack = residents
        }

        /// Adds residents who hang on a point for which there are `share` in all.
        mutating func add(_ residents: Double, to region: Int, share: Double, isScattered: Bool) {
            self.residents[region] += residents
            if isScattered { scattered[region] += residents }
            slack[region] = max(slack[region], 2 * share)
        }
    }

    let tables: AtlasTables
    /// Country of each region by its index in the file; 0 is no country.
    private let countries: [Int]
    private let countryIndex: [String: Int]

    init(_ tables: AtlasTables) {
        self.tables = tables
        countries = (0..<tables.regionCount).map { tables.country($0) }
        let codes = (0..<tables.countryCount).map { (tables.countryCode($0) ?? "", $0) }
        countryIndex = Dictionary(codes, uniquingKeysWith: { first, _ in first })
    }

    // MARK: A surface

    /// The residents of a gridded surface.
    /// - Throws: `InputError`, `FormatError`.
    func residents(ofSurface path: String) throws -> Count {
        var count = Count(regionCount: tables.regionCount)
        var failure: (any Error)?
        try PopulationReader(path: path).forEachChunk { samples in
            guard failure == nil else { return }
            do {
                let peopled = samples.filter { $0.population > 0 }, batch = 4_096
                let regions = try parallelMap(count: (peopled.count + batch - 1) / batch) { task in
                    try peopled[task * batch..<min(peopled.count, (task + 1) * batch)].map {
                        try tables.region(at: Position(latitude: $0.latitude, longitude: $0.longitude))
                    }
                }
                for (sample, region) in zip(peopled, regions.joined()) {
                    count.add(sample.population, to: region, share: 0, isScattered: false)
                }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return count
    }

    // MARK: Places and totals

    /// The residents of places and country totals.
    /// - Throws: `FormatError`, `GEOSError`.
    func residents(of places: [Place], totals given: [CountryTotal], land: [[[Double]]]) throws -> Count {
        var totals = [Double](repeating: 0, count: tables.countryCount), listed = totals
        for total in given { totals[index(of: total.code)] = Double(total.population) }
        totals[0] = 0
        for place in places { listed[index(of: place.country)] += Double(place.population) }
        let scales = zip(listed, totals).map { $1 > 0 && $0 > 0.9 * $1 ? 0.9 * $1 / $0 : 1 }
        var count = Count(regionCount: tables.regionCount)
        try addPlaces(places, scales, land, to: &count)
        let rest = totals.indices.map { max(0, totals[$0] - listed[$0] * scales[$0]) }
        try addScattered(rest, places, land, to: &count)
        return count
    }

    private func index(of code: String?) -> Int { code.flatMap { countryIndex[$0] } ?? 0 }

    /// A point that may have residents, and where it is in the file.
    private struct Point: Sendable {
        var position: Position
        var region: Int32
        /// The place or cell it belongs to.
        var owner: Int32
        var mustBeLand = true
    }

    private func addPlaces(
        _ places: [Place], _ scales: [Double], _ land: [[[Double]]], to count: inout Count
    ) throws {
        let batch = 64
        let found: [[Point]] = try parallelMap(count: (places.count + batch - 1) / batch) { task in
            try (task * batch..<min(places.count, (task + 1) * batch)).flatMap { try candidates(of: places[$0], $0) }
        }
        let points: [Point] = found.flatMap { $0 }
        let isLand = try PointsInPolygons(points.map(\.position)).areInside(land)
        let counts: [Bool] = points.indices.map { isLand[$0] || !points[$0].mustBeLand }
        var shares = [Int](repeating: 0, count: places.count)
        for (point, counts) in zip(points, counts) where counts { shares[Int(point.owner)] += 1 }
        for (point, counts) in zip(points, counts) where counts {
            let place = Int(point.owner)
            let share =
                Double(places[place].population) * scales[index(of: places[place].country)] / Double(shares[place])
            count.add(share, to: Int(point.region), share: share, isScattered: false)
        }
    }

    /// The points of a place that are in a country that they may count for.
    private func candidates(of place: Place, _ owner: Int) throws -> [Point] {
        let residents = Double(place.population), country = index(of: place.country)
        guard residents > 0 else { return [] }
        let radiusMeters = 1_000 * (residents / (1_500 * pow(residents / 10_000, 0.25)) / .pi).squareRoot()
        let count = min(20_000, max(1, Int(residents / 400)))
        let cosine = max(0.01, sineAndCosine(degrees: place.latitude).cosine)
        return try (0..<count).compactMap { k in
            let degrees = radiusMeters / 111_320 * (Double(k) / Double(count)).squareRoot()
            let (east, north) = sineAndCosine(degrees: 137.50776405003785 * Double(k))
            let position = Position(
                latitude: max(-90, min(90, place.latitude + degrees * north)),
                longitude: (place.longitude + degrees * east / cosine).remainder(dividingBy: 360))
            let region = try tables.region(at: position)
            guard countries[region] != 0, country == 0 || countries[region] == country else { return nil }
            return Point(position: position, region: Int32(region), owner: Int32(owner), mustBeLand: k > 0)
        }
    }

    /// A level-11 cell in a country, or a quarter of one.
    private struct Cell: Sendable {
        var face: Int, i: Int, j: Int, level: Int
        var country: Int
        /// Area times nearness, then residents.
        var weight: Double

        var size: Int { 1 << (30 - level) }
        var middle: Leaf { Leaf(face: face, i: i + size / 2, j: j + size / 2) }

        func position(_ x: Int, _ y: Int) -> Position {
            CubeGeometry.position(
                face: face, s: Double(i + x * size / 2) * 0x1p-30, t: Double(j + y * size / 2) * 0x1p-30)
        }

        /// Area of the flat quadrilateral, km²: within 0.001 % of a level-11 cell's.
        var area: Double {
            let corners = [(0, 0), (2, 0), (2, 2), (0, 2)].map { EarthCentered.position(position($0, $1)) }
            let a = corners[2] - corners[0], b = corners[3] - corners[1]
            let cross = SIMD3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
            return (cross * cross).sum().squareRoot() / 2e6
        }

        var quarters: [Cell] {
            [(0, 0), (0, 1), (1, 0), (1, 1)].map { x, y in
                Cell(
                    face: face, i: i + x * size / 2, j: j + y * size / 2, level: level + 1, country: country,
                    weight: weight / 4)
            }
        }
    }

    private func addScattered(
        _ rest: [Double], _ places: [Place], _ land: [[[Double]]], to count: inout Count
    ) throws {
        var cells = try onLand(try cellsNear(places), land)
        var weights = [Double](repeating: 0, count: rest.count)
        for cell in cells { weights[cell.country] += cell.weight }
        for index in cells.indices { cells[index].weight *= rest[cells[index].country] / weights[cells[index].country] }
        let peopled = cells.filter { $0.weight >= 8 }
        let divided = try onLand(peopled.filter { $0.weight > 400 }.flatMap { Self.quarters(of: $0) }, land)
        for cell in peopled.filter({ $0.weight <= 400 }) + divided {
            let share = cell.weight * Double(1 << (2 * (cell.level - 11)))
            count.add(cell.weight, to: try tables.region(at: cell.middle), share: share, isScattered: true)
        }
    }

    /// A cell, or the parts of it that hold no more than 400 or are of level 14.
    private static func quarters(of cell: Cell) -> [Cell] {
        cell.weight > 400 && cell.level < 14 ? cell.quarters.flatMap(quarters) : [cell]
    }

    /// The cells whose middle counts for their country.
    private func onLand(_ cells: [Cell], _ land: [[[Double]]]) throws -> [Cell] {
        let own = try cells.filter { countries[try tables.region(at: $0.middle)] == $0.country }
        let isLand = try PointsInPolygons(own.map { $0.position(1, 1) }).areInside(land)
        return zip(own, isLand).filter(\.1).map(\.0)
    }

    /// A cube of 100 km. What is 30 km away or less is in the same or a neighboring cube.
    private static func cube(_ position: SIMD3<Double>) -> SIMD3<Int32> {
        SIMD3((position / 100_000).rounded(.down))
    }

    /// The cubes of some positions, and their neighbors.
    private static func cubesAround(_ positions: [SIMD3<Double>]) -> Set<SIMD3<Int32>> {
        var cubes: Set<SIMD3<Int32>> = []
        for cube in Set(positions.map(cube)) {
            for x: Int32 in -1...1 {
                for y: Int32 in -1...1 {
                    for z: Int32 in -1...1 { cubes.insert(cube &+ SIMD3(x, y, z)) }
                }
            }
        }
        return cubes
    }

    /// Level-11 cells of countries within 30 km of a place, with area times nearness.
    private func cellsNear(_ places: [Place]) throws -> [Cell] {
        let farthest = 30_000.0
        let positions = places.filter { $0.population > 0 }.map { EarthCentered.position($0.position) }
        let grid = CenterGrid(positions: positions, regions: Array(positions.indices), side: farthest)
        let reached = Self.cubesAround(positions)
        let side = 1 << 9
        return try parallelMap(count: 6 * side) { task in
            var found: [Cell] = []
            for row in 0..<side {
                let cell = Cell(
                    face: task / side, i: (task % side) << 21, j: row << 21, level: 9, country: 0, weight: 0)
                let middle = EarthCentered.position(cell.position(1, 1))
                guard reached.contains(Self.cube(middle)) else { continue }
                let near = grid.regions(within: farthest, of: middle)
                guard let distance = near.map({ positions[$0].chord(to: middle) }).min() else { continue }
                for var cell in cell.quarters.flatMap(\.quarters) {
                    cell.country = countries[try tables.region(at: cell.middle)]
                    guard cell.country != 0 else { continue }
                    cell.weight = cell.area * exp(-distance / 15_000)
                    found.append(cell)
                }
            }
            return found
        }.flatMap { $0 }
    }
}
