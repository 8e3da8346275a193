import FixedRandom
import PROJOracle
import Testing

@testable import Hereabouts

/// The cube's faces and the quadratic projection against PROJ's own `+proj=s2`, which was written apart from S2.
@Suite struct CellPROJTests {
    /// Where PROJ is told each face's center is.
    static let faceCenters = [(0, 0), (0, 90), (90, 0), (0, 180), (0, -90), (-90, 0)]

    @Test(arguments: 0..<6)
    func `face positions agree`(face: Int) throws {
        let (latitude, longitude) = Self.faceCenters[face]
        var random = SplitMix64(seed: 51)
        var flat: [Double] = []
        var expected: [Double] = []
        while expected.count < 40_000 {
            let point = random.point()
            let (ownFace, u, v) = CubeProjection.faceUV(
                CubeProjection.direction(latitude: point.latitude, longitude: point.longitude))
            guard ownFace == face else { continue }
            flat += [point.longitude, point.latitude]
            expected += [CubeProjection.uvToST(u), CubeProjection.uvToST(v)]
        }
        let operation = "+proj=s2 +lat_0=\(latitude) +lon_0=\(longitude) +R=1 +UVtoST=quadratic"
        for (theirs, ours) in zip(try #require(PROJOracle.transformed(flat, by: operation)), expected) {
            // PROJ takes longitudes from the face's center and goes by tangents: some last places of values up to π.
            #expect((theirs - ours).magnitude < 2e-15)
        }
    }
}
