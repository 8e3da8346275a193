import AtlasFixture
import AtlasSources
import Hereabouts
import PROJBridge

/// A world as plain as the format allows: every level-7 cell a region, two countries divided by the meridian of
/// Greenwich, and in one of them a microstate of less than 6 km² in a cut cell.
package struct SmallWorld {
    package static let cellsPerSide = 128
    package static let west = 1, east = 2, micro = 3

    package var fixture: AtlasFixture
    package var borders: [BorderFeature]
    package var places: [Place]
    /// Land everywhere.
    package var land: [[[Double]]] = [[Self.box(-180, -90, 180, 90)]]

    /// The region around the microstate, and the microstate.
    package static let host = region(face: 0, column: 70, row: 80)
    package static let state = 6 * 128 * 128
    /// Regions at the corner of a face, where cells are small: the two fit into one circle.
    package static let corner = region(face: 3, column: 0, row: 0), neighbor = region(face: 3, column: 1, row: 0)

    package static func region(face: Int, column: Int, row: Int) -> Int { (face * 128 + column) * 128 + row }

    package static func box(_ west: Double, _ south: Double, _ east: Double, _ north: Double) -> [Double] {
        [west, south, east, south, east, north, west, north, west, south]
    }

    package init() throws {
        let top = (0..<6 * 16_384).map { cell in
            AtlasFixture.Top.value(
                .region(Self.region(face: cell / 16_384, column: cell / 128 % 128, row: cell % 128)))
        }
        fixture = AtlasFixture(top: top, regions: [])
        fixture.countries = ["XZ", "AA", "BB", "CC"]
        fixture.anonymity = 1_000
        (fixture.largestAccuracy, fixture.largestLeftoverAccuracy, fixture.largestEmptyAccuracy) = (
            80_000, 80_000, 80_000
        )
        borders = [
            BorderFeature(code: "AA", name: "West", polygons: [[Self.box(-180, -90, 0, 90)]]),
            BorderFeature(code: "BB", name: "East", polygons: [[Self.box(0, -90, 180, 90)]]),
        ]
        places = []
        for face in 0..<6 {
            for column in 0..<Self.cellsPerSide {
                for row in 0..<Self.cellsPerSide { fixture.regions.append(try Self.region(face, column, row)) }
            }
        }
        try addMicrostate()
        addPlaces()
    }

    private static func region(_ face: Int, _ column: Int, _ row: Int) throws -> AtlasFixture.Region {
        let side = 1 << 23
        let cell = CellID(face: face, i: UInt32(column * side), j: UInt32(row * side), level: 7)
        let middle = UInt32(side / 2)
        let center = CellID(
            face: face, i: UInt32(column * side) + middle, j: UInt32(row * side) + middle, level: 18
        ).center
        return try region(center, corners: Array(cell.vertices))
    }

    /// A region about a center, its circle as small as it may be.
    private static func region(_ center: Coordinate, corners: [Coordinate]) throws -> AtlasFixture.Region {
        let latitude = Int((center.latitude * 100_000).rounded())
        let longitude = Int((center.longitude * 100_000).rounded())
        let reach = try corners.map {
            try Geodesic.wgs84.distanceMeters(
                fromLatitude: Double(latitude) / 100_000, longitude: Double(longitude) / 100_000,
                toLatitude: $0.latitude, longitude: $0.longitude)
        }.max()!
        return AtlasFixture.Region(
            latitude: latitude, longitude: longitude, accuracy: max(2_000, (Int(reach + 251) / 10 + 1) * 10),
            country: longitude < 0 ? west : east, anonymity: AtlasFixture.packedAnonymity(1_000, of: 1_000))
    }

    /// A diamond in a cell of level 12, itself in a level-7 cell of the host; beside it a cut that divides nothing.
    private mutating func addMicrostate() throws {
        let i = 70 << 23 | 1 << 22, j = 80 << 23 | 1 << 22
        let diamond = [20, 128, 128, 20, 235, 128, 128, 235, 20, 128]
        fixture.cuts = [
            AtlasFixture.Cut(
                level: 12, regions: [Self.host, Self.state],
                chains: [AtlasFixture.Cut.Chain(code: 1, vertices: diamond)]),
            AtlasFixture.Cut(
                level: 10, regions: [Self.host, Self.host],
                closings: [AtlasFixture.Cut.Closing(x: 1_000, code: 1)],
                chains: [AtlasFixture.Cut.Chain(code: 1, vertices: [1_000, 0, 2_000, 2_000, 0, 3_000])]),
        ]
        // The cell's middle is where the level-7 cell's fourth quarter begins, key 0xC000; a level-12 cell has 64 keys.
        fixture.blocks = [
            AtlasFixture.Block([
                (0, .region(Self.host)), (0x4000, .cut(1)), (0x4400, .region(Self.host)), (0xC000, .cut(0)),
                (0xC040, .region(Self.host)),
            ])
        ]
        fixture.top[AtlasFixture.cell(face: 0, column: 70, row: 80)] = .block(0)
        func place(_ x: Int, _ y: Int) -> Coordinate {
            let size = Double(1 << 18) / 255
            let u = CubeProjection.stToUV((Double(i) + Double(x) * size) * 0x1p-30)
            let v = CubeProjection.stToUV((Double(j) + Double(y) * size) * 0x1p-30)
            return CubeProjection.coordinate(of: CubeProjection.direction(face: 0, u: u, v: v))
        }
        let corners = stride(from: 0, to: diamond.count, by: 2).map { place(diamond[$0], diamond[$0 + 1]) }
        let center = CellID(face: 0, i: UInt32(i + 1 << 17), j: UInt32(j + 1 << 17), level: 18).center
        var state = try Self.region(center, corners: corners)
        state.country = Self.micro
        state.anonymity = AtlasFixture.packedAnonymity(5, of: 1_000)
        fixture.regions.append(state)
        borders.append(
            BorderFeature(
                code: "CC", name: "Diamond", rank: 1, polygons: [[corners.flatMap { [$0.longitude, $0.latitude] }]]))
    }

    /// A town at the host's center, a village beside it, and a town in the microstate that lists no country.
    private mutating func addPlaces() {
        let host = fixture.regions[Self.host], state = fixture.regions[Self.state]
        fixture.names = ["Host", "Diamond"]
        let latitude = Double(host.latitude) / 100_000, longitude = Double(host.longitude) / 100_000
        places = [
            Place(name: "Village", latitude: latitude, longitude: longitude + 0.1, population: 600, country: "BB"),
            Place(name: "Host", latitude: latitude, longitude: longitude, population: 90_000, country: "BB"),
            Place(
                name: "Diamond", latitude: Double(state.latitude) / 100_000,
                longitude: Double(state.longitude) / 100_000, population: 800, country: nil),
        ]
        fixture.regions[Self.host].name = 0
        fixture.regions[Self.state].name = 1
        // The host's neighbors within 100 km are named for whichever of its places is nearer.
        fixture.names.append("Village")
        for index in fixture.regions.indices where index != Self.host && index != Self.state {
            let region = fixture.regions[index]
            guard abs(region.latitude - host.latitude) < 200_000, abs(region.longitude - host.longitude) < 200_000
            else { continue }
            let distances = places.prefix(2).map { place in
                (try? Geodesic.wgs84.distanceMeters(
                    fromLatitude: Double(region.latitude) / 100_000, longitude: Double(region.longitude) / 100_000,
                    toLatitude: place.latitude, longitude: place.longitude)) ?? .infinity
            }
            guard min(distances[0], distances[1]) < 100_000, region.country == Self.east else { continue }
            fixture.regions[index].name = distances[1] < distances[0] ? 0 : 2
            fixture.regions[index].isNear = true
        }
    }
}
