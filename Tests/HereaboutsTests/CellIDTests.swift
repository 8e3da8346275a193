import FixedRandom
import Testing

@testable import Hereabouts

/// Leaf cells of coordinates against the S2 library.
@Suite struct CellIDTests {
    /// Expects S2's leaf cells, but for so many points that lie on a line to within the rounding of the sines and
    /// cosines behind them; there the two leaf cells must touch.
    private func expectS2sLeaves(
        _ coordinates: [Coordinate], onLines limit: Int = 0, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let expected = CellOracle.leaves(coordinates)
        var differing = 0
        for (coordinate, leaf) in zip(coordinates, expected) {
            let ours = try CellID(latitude: coordinate.latitude, longitude: coordinate.longitude)
            if ours != leaf {
                differing += 1
                #expect(CellOracle.allNeighbors(ours, level: 30).contains(leaf), sourceLocation: sourceLocation)
            }
        }
        #expect(differing <= limit, sourceLocation: sourceLocation)
    }

    /// A point within rounding of a leaf's edge could differ; none of these fixed points, nor of 50 million tried
    /// once, does.
    @Test func `a million random points`() throws {
        var random = SplitMix64(seed: 1)
        try expectS2sLeaves((0..<1_000_000).map { _ in random.point() })
    }

    /// Coordinates as people write them: few decimals, and so often on lines of the grid.
    @Test func `half a million decimal points`() throws {
        var random = SplitMix64(seed: 2)
        try expectS2sLeaves(
            (0..<500_000).map { _ in
                let scale = [1.0, 10, 1e5, 1e7][Int(random.next() % 4)]
                return Coordinate(
                    latitude: (random.uniform(-90, 90) * scale).rounded() / scale,
                    longitude: (random.uniform(-180, 180) * scale).rounded() / scale)
            })
    }

    @Test func `half a million points of a city`() throws {
        var random = SplitMix64(seed: 3)
        try expectS2sLeaves(
            (0..<500_000).map { _ in
                Coordinate(latitude: random.uniform(31.6, 31.9), longitude: random.uniform(-106.7, -106.2))
            })
    }

    /// Faces 0, 1, 3 and 4 meet on the meridians 45°, 135°, -135°, -45°; all lines of level 1 are among the others.
    /// On the first four u is 1 to the last bit, which for one point in 15,000 falls the other way.
    @Test func `meridians of face edges and centers and antimeridian`() throws {
        var random = SplitMix64(seed: 4)
        var points: [Coordinate] = []
        for longitude in stride(from: -180.0, through: 180, by: 45) {
            for near in [longitude, longitude.nextUp, longitude.nextDown] where near.magnitude <= 180 {
                points += [-90.0, -45, 0, 45, 90].map { Coordinate(latitude: $0, longitude: near) }
                for _ in 0..<2_000 { points.append(Coordinate(latitude: random.uniform(-90, 90), longitude: near)) }
            }
        }
        try expectS2sLeaves(points, onLines: 5)
    }

    @Test func `poles and equator on every meridian`() throws {
        var random = SplitMix64(seed: 5)
        var points: [Coordinate] = []
        for _ in 0..<5_000 {
            for latitude in [90, 90.0.nextDown, 90 - 1e-9, 0, 1e-300, -0.0, -90, (-90.0).nextUp] {
                points.append(Coordinate(latitude: latitude, longitude: random.uniform(-180, 180)))
            }
        }
        try expectS2sLeaves(points)
    }

    @Test func `a pole is one leaf cell`() throws {
        var random = SplitMix64(seed: 6)
        for latitude in [90.0, -90] {
            let pole = try CellID(latitude: latitude, longitude: 0)
            for _ in 0..<1_000 {
                #expect(try CellID(latitude: latitude, longitude: random.uniform(-540, 540)) == pole)
            }
        }
    }

    /// On the edges of the polar faces and at the cube's corners the last bits of sines and cosines decide the face.
    /// All points are within two last places of the line.
    @Test func `edges and corners of the polar faces`() throws {
        var random = SplitMix64(seed: 7)
        var points: [Coordinate] = []
        for k in 0..<40_000 {
            let offset = k % 5 == 0 ? 45 : random.uniform(-45, 45)
            let cosine = Trigonometry.sineAndCosine(degrees: offset).cosine
            var latitude = Trigonometry.arcTangentDegrees(y: cosine, x: 1)
            for _ in 0..<(random.next() % 3) { latitude = latitude.nextUp }
            for _ in 0..<(random.next() % 3) { latitude = latitude.nextDown }
            let meridian = Double(Int(random.next() % 4)) * 90 - 90
            var longitude = meridian + offset
            if longitude > 180 { longitude -= 360 }
            points.append(Coordinate(latitude: k % 2 == 0 ? latitude : -latitude, longitude: longitude))
        }
        // The C library rounds one sine or cosine in 700 the wrong way, we one in 400, and each point has four.
        try expectS2sLeaves(points, onLines: points.count / 200)
    }

    @Test func `longitudes wrap exactly`() throws {
        var random = SplitMix64(seed: 8)
        for _ in 0..<20_000 {
            // A multiple of 2⁻³⁰ keeps its value when whole turns are added.
            let longitude = Double(Int(random.next() % (360 << 30))) * 0x1p-30 - 180
            let latitude = random.uniform(-90, 90)
            let turned = longitude + (longitude < 0 ? 360 : -360)
            let cell = try CellID(latitude: latitude, longitude: longitude)
            #expect(try CellID(latitude: latitude, longitude: turned) == cell)
            #expect(FaceIJ.wrappedLongitude(turned) == longitude)
        }
    }

    /// The oracle is the IEEE remainder of the C library, which is exact as well.
    @Test func `wrapping agrees with the remainder`() {
        var random = SplitMix64(seed: 9)
        for _ in 0..<5_000 {
            let value = random.uniform(-540, 540)
            let remainder = value.remainder(dividingBy: 360)
            #expect(FaceIJ.wrappedLongitude(value) == (remainder == 180 ? -180 : remainder))
        }
        for value in [180.0, -180, 540, -540] { #expect(FaceIJ.wrappedLongitude(value) == -180) }
        for value in [0.0, 360, -360] { #expect(FaceIJ.wrappedLongitude(value) == 0) }
        for value in [(540.0).nextUp, (-540.0).nextDown, 900, 1e300, .infinity, .nan] {
            #expect(FaceIJ.wrappedLongitude(value).isNaN)
        }
    }

    @Test func `refuses what is no place`() {
        for latitude in [Double.nan, 90.0.nextUp, (-90.0).nextDown, .infinity, -.infinity] {
            #expect(throws: CoordinateError.latitudeOutOfRange) { try CellID(latitude: latitude, longitude: 0) }
        }
        for longitude in [(540.0).nextUp, -1e300, Double.nan, .infinity, -.infinity] {
            #expect(throws: CoordinateError.longitudeOutOfRange) { try CellID(latitude: 0, longitude: longitude) }
        }
    }

    /// The level given at once is the leaf's ancestor.
    @Test func `levels are ancestors of the leaf`() throws {
        var random = SplitMix64(seed: 10)
        for _ in 0..<300 {
            let point = random.point()
            let leaf = try CellID(latitude: point.latitude, longitude: point.longitude)
            for level in 0...30 {
                let cell = try CellID(latitude: point.latitude, longitude: point.longitude, level: level)
                #expect(cell.level == level && cell.isValid && cell.contains(leaf))
            }
        }
    }

    /// s and t themselves, to the last bits: the frames before the grid.
    @Test func `face positions agree`() {
        var random = SplitMix64(seed: 11)
        for _ in 0..<50_000 {
            let point = random.point()
            let expected = CellOracle.faceST(point)
            let (face, u, v) = CubeProjection.faceUV(
                CubeProjection.direction(latitude: point.latitude, longitude: point.longitude))
            #expect(face == expected.face)
            // A last bit of each sine and cosine (three of 2⁻⁵³), the quotient and the root.
            #expect((CubeProjection.uvToST(u) - expected.s).magnitude < 8 * 0x1p-53)
            #expect((CubeProjection.uvToST(v) - expected.t).magnitude < 8 * 0x1p-53)
        }
    }
}
