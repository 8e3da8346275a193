import AtlasFixture
import AtlasFormat
import Foundation
import GeoBridge
import Hereabouts
import PROJBridge
import SmallWorld
import Testing

@testable import AtlasInspection

@Suite struct RegionOutlineTests {
    private let world: SmallWorld
    /// Regions of four cells around the poles, and of two across the antimeridian and across an edge of the cube.
    private let joined: [[Int]] = [
        [63, 64].flatMap { column in [63, 64].map { SmallWorld.region(face: 2, column: column, row: $0) } },
        [63, 64].flatMap { column in [63, 64].map { SmallWorld.region(face: 5, column: column, row: $0) } },
        [63, 64].map { SmallWorld.region(face: 3, column: 40, row: $0) },
        [SmallWorld.region(face: 0, column: 127, row: 50), SmallWorld.region(face: 1, column: 0, row: 50)],
    ]

    init() throws {
        var world = try SmallWorld()
        for regions in joined {
            for region in regions { world.fixture.top[region] = .value(.region(regions[0])) }
            // The outline looks as far as the circle reaches.
            world.fixture.regions[regions[0]].accuracy = 81_910
        }
        self.world = world
    }

    private func isValid(_ outline: RegionOutline) throws -> Bool {
        let context = try GEOSContext()
        return try context.multiPolygon(outline.polygons).isValid()
    }

    /// The area by the cells' own corners, km².
    private func area(_ regions: [Int]) throws -> Double {
        try regions.reduce(0) { sum, region in
            let cell = CellID(
                face: region >> 14, i: UInt32(region >> 7 & 127) << 23, j: UInt32(region & 127) << 23, level: 7)
            let ring = cell.vertices.flatMap { [$0.longitude, $0.latitude] }
            return sum + abs(try Geodesic.wgs84.signedAreaSquareMeters(ring: ring)) / 1e6
        }
    }

    @Test func `a plain cell is one ring of its size`() throws {
        let outline = try RegionOutline(of: SmallWorld.neighbor, AtlasTables(bytes: world.fixture.bytes))
        #expect(outline.polygons.count == 1 && outline.polygons[0].count == 1)
        #expect(try isValid(outline))
        let expected = try area([SmallWorld.neighbor])
        #expect(abs(try Geodesic.wgs84.areaSquareKilometers(polygons: outline.polygons) / expected - 1) < 1e-4)
    }

    @Test func `a region with a state inside has a hole of its size`() throws {
        let tables = try AtlasTables(bytes: world.fixture.bytes)
        let host = try RegionOutline(of: SmallWorld.host, tables)
        let state = try RegionOutline(of: SmallWorld.state, tables)
        #expect(host.polygons.map(\.count) == [2] && state.polygons.map(\.count) == [1])
        #expect(try isValid(host) && isValid(state))
        let whole =
            try Geodesic.wgs84.areaSquareKilometers(polygons: host.polygons)
            + Geodesic.wgs84.areaSquareKilometers(polygons: state.polygons)
        #expect(abs(try whole / area([SmallWorld.host]) - 1) < 1e-4)
        #expect(try (1...6).contains(Geodesic.wgs84.areaSquareKilometers(polygons: state.polygons)))
    }

    @Test(arguments: 0..<4) func `poles, antimeridian and edges of the cube`(index: Int) throws {
        let regions = joined[index]
        let outline = try RegionOutline(of: regions[0], AtlasTables(bytes: world.fixture.bytes))
        #expect(try isValid(outline))
        #expect(abs(try Geodesic.wgs84.areaSquareKilometers(polygons: outline.polygons) / area(regions) - 1) < 1e-4)
        let positions = outline.polygons.joined().joined()
        #expect(positions.allSatisfy { abs($0) <= 180 })
        // Whole around a pole and across an edge of the cube; in two where the antimeridian divides it.
        #expect(outline.polygons.count == (index == 2 ? 2 : 1))
    }

    @Test func `text is well-known or GeoJSON`() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).atlas")
        try Data(world.fixture.bytes).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        let outline = try RegionOutline(of: Region(index: UInt32(joined[2][0])), atlasPath: url.path)
        #expect(try outline.wkt().hasPrefix("MULTIPOLYGON ((("))
        let json = try JSONSerialization.jsonObject(with: Data(outline.geoJSON().utf8)) as? [String: Any]
        #expect(json?["type"] as? String == "MultiPolygon")
        #expect(throws: FormatError.malformed("no such region")) {
            try RegionOutline(of: Region(index: 1 << 22), atlasPath: url.path)
        }
    }
}
