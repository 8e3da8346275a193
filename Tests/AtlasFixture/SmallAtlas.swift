#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension AtlasFixture {
    /// An atlas with a little of everything: a region per face, two level-7 cells divided by a block, one of them with
    /// cuts of both coordinate widths, names, a name of a place nearby, and three countries.
    package static let small: AtlasFixture = {
        var atlas = AtlasFixture(
            top: (0..<6 * 16_384).map { .value(.region($0 / 16_384)) },
            regions: faceCenters.map {
                Region(latitude: $0.latitude * 100_000, longitude: $0.longitude * 100_000, accuracy: 60_000)
            })
        atlas.countries = ["XZ", "AA", "BB"]
        atlas.names = ["Alpha", "Bêta", "Gamma, the third"]
        atlas.about = #"{"builder":"fixture","sources":[]}"#
        for (index, place) in places.enumerated() {
            atlas.regions.append(
                Region(
                    latitude: Int(place.latitude * 100_000), longitude: Int(place.longitude * 100_000), accuracy: 2_000,
                    country: 1 + index % 2, name: index < 3 ? index : nil, isNear: index == 2,
                    anonymity: packedAnonymity(20_000 + index)))
        }
        let chain = Cut.Chain(code: 1, vertices: [0, 100, 120, 140, 255, 60])
        let wide = Cut.Chain(code: 1, vertices: [0, 2_000, 2_500, 2_600, 4_096, 1_000])
        atlas.cuts = [
            Cut(level: 11, regions: [6, 7], chains: [chain]),
            Cut(level: 9, regions: [7, 8, 9, 6], closings: [.init(x: 2_048, code: 2)], chains: [wide]),
        ]
        atlas.blocks = [
            Block([
                (0, .region(6)), (0x4000, .region(7)), (0x8000, .cut(0)), (0x8100, .region(8)), (0xC000, .cut(1)),
                (0xFFF0, .region(8)),
            ]),
            Block([(0, .region(9)), (1, .region(8)), (0x0F00, .region(9)), (0xFFFF, .region(6))]),
        ]
        for (place, block) in zip(places, atlas.blocks.indices) { atlas.top[cell(place)] = .block(block) }
        return atlas
    }()

    /// Where the regions of `small` lie that are no whole face: those of the first two divide their cells.
    package static let places: [(latitude: Double, longitude: Double)] = [
        (31.76, -106.49), (47.56, 7.59), (-33.92, 18.42), (35.68, 139.69),
    ]

    /// The middle of each face of the cube.
    private static let faceCenters = [(0, 0), (0, 90), (90, 0), (0, 180), (0, -90), (-90, 0)]
        .map { (latitude: $0.0, longitude: $0.1) }

    /// The position in `top` of the level-7 cell that a place is in, by the formulas of `data/FORMAT.md`.
    package static func cell(_ place: (latitude: Double, longitude: Double)) -> Int {
        let (latitude, longitude) = (place.latitude * .pi / 180, place.longitude * .pi / 180)
        let (x, y, z) = (cos(latitude) * cos(longitude), cos(latitude) * sin(longitude), sin(latitude))
        let (face, u, v): (Int, Double, Double)
        switch max(abs(x), abs(y), abs(z)) {
        case abs(x): (face, u, v) = x > 0 ? (0, y / x, z / x) : (3, z / x, y / x)
        case abs(y): (face, u, v) = y > 0 ? (1, -x / y, z / y) : (4, z / y, -x / y)
        default: (face, u, v) = z > 0 ? (2, -x / z, -y / z) : (5, -y / z, -x / z)
        }
        func grid(_ u: Double) -> Int {
            let s = u >= 0 ? 0.5 * (1 + 3 * u).squareRoot() : 1 - 0.5 * (1 - 3 * u).squareRoot()
            return min(127, Int(s * 128))
        }
        return cell(face: face, column: grid(u), row: grid(v))
    }
}
