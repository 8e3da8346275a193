import AtlasFixture
import AtlasFormat
import AtlasInspection
import FixedRandom
import Foundation
import Hereabouts
import PROJBridge
import Relay
import SmallWorld
import Testing

@Suite("Outlines near a region") struct NearbyRegionsTests {
    /// An atlas of a small world, in a file of its own.
    private final class World: Sendable {
        /// The small world as it is, for tests that leave it so.
        static let plain: Result<World, any Error> = Result {
            // Nothing else removes the file of what is static.
            atexit { try? FileManager.default.removeItem(atPath: World.plain.get().path) }
            return try World(SmallWorld().fixture.bytes)
        }

        let path: String
        let atlas: Atlas
        let nearby: NearbyRegions
        private let isTemporary: Bool

        /// The committed atlas.
        init() throws {
            path =
                URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().appendingPathComponent("data/world.atlas").path
            atlas = try Atlas(contentsOf: path)
            nearby = NearbyRegions(atlas, atlasPath: path)
            isTemporary = false
        }

        init(_ bytes: [UInt8]) throws {
            path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).atlas").path
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            atlas = try Atlas(contentsOf: path)
            nearby = NearbyRegions(atlas, atlasPath: path)
            isTemporary = true
        }

        deinit { if isTemporary { try? FileManager.default.removeItem(atPath: path) } }

        func id(_ region: Int) throws -> String {
            try atlas.reducedLocation(of: Region(index: UInt32(region))).region.description
        }

        func answer(_ region: Int) throws -> Answer {
            try JSONDecoder().decode(Answer.self, from: Data(nearby.answer(near: id(region))))
        }
    }

    /// The answer as a client reads it.
    private struct Answer: Decodable {
        struct Properties: Decodable {
            var region: String?, country: String?, place: String?
            var center: [Double]?, horizontal_accuracy: Double?, border: Bool?
        }
        struct Feature: Decodable {
            var type: String, properties: Properties
            var areas: [[[[Double]]]] = [], lines: [[[Double]]] = []

            private enum Key: String, CodingKey { case type, properties, geometry, coordinates }

            init(from decoder: any Decoder) throws {
                let members = try decoder.container(keyedBy: Key.self)
                type = try members.decode(String.self, forKey: .type)
                properties = try members.decode(Properties.self, forKey: .properties)
                let geometry = try members.nestedContainer(keyedBy: Key.self, forKey: .geometry)
                switch try geometry.decode(String.self, forKey: .type) {
                case "MultiPolygon": areas = try geometry.decode([[[[Double]]]].self, forKey: .coordinates)
                default: lines = try geometry.decode([[[Double]]].self, forKey: .coordinates)
                }
            }
        }
        var type: String, attribution: String, features: [Feature]

        var regions: [Feature] { features.filter { $0.properties.region != nil } }
        var borders: [[[Double]]] { features.filter { $0.properties.border == true }.flatMap(\.lines) }
    }

    /// The gnomonic plane by the textbook's formulas (Snyder 1987, 22-4 and 22-5), in meters.
    private struct Plane {
        var latitude: Double, longitude: Double

        init(_ center: [Double]) { (longitude, latitude) = (center[0] * .pi / 180, center[1] * .pi / 180) }

        func point(_ position: [Double]) -> SIMD2<Double> {
            let phi = position[1] * .pi / 180, lambda = position[0] * .pi / 180 - longitude
            let height = sin(latitude) * sin(phi) + cos(latitude) * cos(phi) * cos(lambda)
            return SIMD2(
                cos(phi) * sin(lambda) / height,
                (cos(latitude) * sin(phi) - sin(latitude) * cos(phi) * cos(lambda)) / height) * 6_371_010
        }
    }

    /// Even-odd, over all rings.
    private static func holds(_ feature: Answer.Feature, _ point: SIMD2<Double>, _ plane: Plane) -> Bool {
        var isInside = false
        for ring in feature.areas.joined() {
            let points = ring.map(plane.point)
            for (a, b) in zip(points, points.dropFirst()) where (a.y > point.y) != (b.y > point.y) {
                if point.x < a.x + (point.y - a.y) / (b.y - a.y) * (b.x - a.x) { isInside.toggle() }
            }
        }
        return isInside
    }

    private static func distance(_ point: SIMD2<Double>, _ lines: [[[Double]]], _ plane: Plane) -> Double {
        var least = Double.infinity
        for line in lines {
            let points = line.map(plane.point)
            for (a, b) in zip(points, points.dropFirst()) {
                let along = b - a, t = min(1, max(0, ((point - a) * along).sum() / max((along * along).sum(), 1e-9)))
                let aside = point - a - along * t
                least = min(least, (aside * aside).sum().squareRoot())
            }
        }
        return least
    }

    /// What a position belongs to, by the answer and by the engine, at random positions within reach.
    private func check(_ world: World, _ region: Int, seed: UInt64, positions: Int = 400) throws {
        let answer = try world.answer(region), own = try #require(answer.regions.first)
        #expect(try own.properties.region == world.id(region))
        #expect(Set(answer.regions.map(\.properties.region)).count == answer.regions.count)
        let center = try #require(own.properties.center), accuracy = try #require(own.properties.horizontal_accuracy)
        let plane = Plane(center), reach = 3 * accuracy, step = reach / 2_000
        var random = SplitMix64(seed: seed), compared = 0
        for _ in 0..<positions {
            // Nearer to the reach than this, a region's nearest cell may be beyond it.
            let meters = reach * 0.99 * random.unit().squareRoot()
            let place = try Geodesic.wgs84.destination(
                fromLatitude: center[1], longitude: center[0], azimuthDegrees: random.uniform(0, 360),
                distanceMeters: meters)
            let point = plane.point([place.longitude, place.latitude])
            // Nearer to a side than two steps of the grid, rounding decides.
            guard Self.distance(point, answer.regions.flatMap { $0.areas.joined() }, plane) > 2 * step else { continue }
            let found = answer.regions.filter { Self.holds($0, point, plane) }
            let expected = try world.atlas.reducedLocation(
                at: Coordinate(latitude: place.latitude, longitude: place.longitude))
            #expect(found.map(\.properties.region) == [expected.region.description])
            #expect(found.first?.properties.country == expected.country.code)
            #expect(found.first?.properties.place == expected.place?.description)
            compared += 1
        }
        #expect(compared > positions / 2)
    }

    /// The area of the region itself, against `RegionOutline`. The plane is a sphere's, 0.6 % off in area, and stretches by
    /// 1.5 (d / R)², 0.2 % at 70 km.
    private func checkArea(_ world: World, _ region: Int) throws {
        let own = try world.answer(region).features[0], plane = Plane(try #require(own.properties.center))
        let outline = try RegionOutline(of: Region(index: UInt32(region)), atlasPath: world.path)
        #expect(
            abs(try Self.area(own, plane) / 1e6 / Geodesic.wgs84.areaSquareKilometers(polygons: outline.polygons) - 1)
                < 0.01)
    }

    /// Square meters: outer rings less their holes.
    private static func area(_ feature: Answer.Feature, _ plane: Plane) -> Double {
        feature.areas.reduce(0) { sum, rings in
            let areas = rings.map { ring in
                let points = ring.map(plane.point)
                return abs(zip(points, points.dropFirst()).reduce(0) { $0 + $1.0.x * $1.1.y - $1.1.x * $1.0.y }) / 2
            }
            return sum + areas[0] - areas.dropFirst().reduce(0, +)
        }
    }

    @Test(arguments: [SmallWorld.state, SmallWorld.host, SmallWorld.neighbor, SmallWorld.corner])
    func `every position within reach lies in the outline of its region`(region: Int) throws {
        try check(World.plain.get(), region, seed: UInt64(region))
        try checkArea(World.plain.get(), region)
    }

    @Test func `the committed atlas: rivers as borders, three countries, seas, the dateline, a pole`() throws {
        let world = try World()
        let places = [
            (31.738, -106.485), (47.559, 7.588), (50.755, 6.02), (-16.5, 179.95), (89.9, 0), (40.75, -73.98),
            (62.5, 6.2),
            (0, -150), (22.3, 114.17),
        ]
        for (index, place) in places.enumerated() {
            let region = try world.atlas.snap(Coordinate(latitude: place.0, longitude: place.1))
            try check(world, Int(region.index), seed: UInt64(index), positions: 60)
            let bytes = try world.nearby.answer(near: world.id(Int(region.index)))
            #expect(bytes.count < 300_000)
        }
    }

    @Test func `at a pole, at the antimeridian and over an edge of the cube`() throws {
        let world = try World.plain.get()
        for (face, column, row) in [(2, 64, 64), (5, 63, 64), (3, 40, 63), (0, 127, 50)] {
            try check(world, SmallWorld.region(face: face, column: column, row: row), seed: UInt64(face))
        }
    }

    @Test func `a region of more than a level-7 cell is whole`() throws {
        var fixture = try SmallWorld().fixture
        let regions = [
            SmallWorld.region(face: 0, column: 127, row: 50), SmallWorld.region(face: 1, column: 0, row: 50),
        ]
        for region in regions { fixture.top[region] = .value(.region(regions[0])) }
        fixture.regions[regions[0]].accuracy = 81_910
        let world = try World(fixture.bytes), answer = try world.answer(regions[0])
        try checkArea(world, regions[0])
        #expect(answer.features[0].areas.count == 1)
    }

    @Test func `borders are where countries meet, and only there`() throws {
        let world = try World.plain.get()
        // A microstate, and a region at the prime meridian, which divides the two large countries.
        for region in [SmallWorld.state, SmallWorld.region(face: 0, column: 63, row: 80)] {
            let answer = try world.answer(region), own = answer.features[0].properties
            let center = try #require(own.center), reach = 3 * (try #require(own.horizontal_accuracy))
            let plane = Plane(center), borders = answer.borders
            #expect(!borders.isEmpty && answer.features.last?.properties.border == true)
            func country(_ position: [Double]) throws -> String {
                try world.atlas.reducedLocation(
                    at: Coordinate(latitude: position[1], longitude: position[0])
                ).country.code
            }
            let near = reach / 500 / 111_320
            for position in borders.joined() {
                let around = try (0..<8).map { eighth in
                    let angle = Double(eighth) * .pi / 4
                    return try country([
                        position[0] + near * sin(angle) / cos(position[1] * .pi / 180),
                        position[1] + near * cos(angle),
                    ])
                }
                #expect(Set(around).count > 1)
            }
            var random = SplitMix64(seed: 7), crossings = 0
            for _ in 0..<4_000 {
                let place = try Geodesic.wgs84.destination(
                    fromLatitude: center[1], longitude: center[0], azimuthDegrees: random.uniform(0, 360),
                    distanceMeters: reach * 0.98 * random.unit())
                let position = [place.longitude, place.latitude]
                guard try country(position) != country([position[0] + near, position[1]]) else { continue }
                crossings += 1
                #expect(Self.distance(plane.point(position), borders, plane) < reach / 300)
            }
            #expect(crossings > 0)
        }
        #expect(try world.answer(SmallWorld.corner).borders.isEmpty)
    }

    @Test(arguments: [
        "", "r", "x", "r0", "r86e7", "86e758fdc", "r86e758fdcg", "R86E758FDC", "r\0", "é", "r86e758fdc&near=r",
        "r86e758fdc86e758fdc86e758fdc", "../../etc", String(repeating: "r1", count: 100_000),
    ])
    func `what is no region's id is an error`(text: String) throws {
        let world = try World.plain.get()
        #expect(throws: NearbyRegions.Failure.unknownRegion) { try world.nearby.answer(near: text) }
    }

    @Test func `an atlas that is gone or another is an error`() throws {
        let fixture = try SmallWorld().fixture, bytes = fixture.bytes
        let world = try World(bytes), id = try world.id(SmallWorld.corner)
        let url = URL(fileURLWithPath: world.path)
        try FileManager.default.removeItem(at: url)
        #expect(throws: NearbyRegions.Failure.atlasUnavailable) { try world.nearby.answer(near: id) }
        var other = fixture
        other.regions[5].accuracy += 10
        try Data(other.bytes).write(to: url)
        #expect(throws: NearbyRegions.Failure.atlasUnavailable) { try world.nearby.answer(near: id) }
        // The right one is read later, and then not again.
        try Data(bytes).write(to: url)
        let answer = try world.nearby.answer(near: id)
        try FileManager.default.removeItem(at: url)
        #expect(try world.nearby.answer(near: id) == answer)
    }

    @Test func `at most 256 regions are given, the nearest ones`() throws {
        var fixture = try SmallWorld().fixture
        // Its circle reaches over some 450 cells of level 7.
        fixture.regions[SmallWorld.corner].accuracy = 81_910
        fixture.regions[SmallWorld.region(face: 4, column: 64, row: 64)].accuracy = 81_910
        for region in [SmallWorld.corner, SmallWorld.region(face: 4, column: 64, row: 64)] {
            let answer = try World(fixture.bytes).answer(region)
            #expect((9...256).contains(answer.regions.count))
        }
    }
}
