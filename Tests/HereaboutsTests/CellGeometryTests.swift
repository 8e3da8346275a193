import CS2Oracle
import FixedRandom
import Testing

@testable import Hereabouts

/// Centers, vertices and sizes against the S2 library.
@Suite struct CellGeometryTests {
    /// The two libraries round apart: a unit vector's error of 1.5 · 2⁻⁵² rad in S2's center, an arc tangent and a
    /// product on both sides, 2.8e-14° each where longitudes near 180° have their last place.
    private func expectSamePlace(
        _ left: Coordinate, _ right: Coordinate, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let cosine = Trigonometry.sineAndCosine(degrees: left.latitude).cosine
        #expect((left.latitude - right.latitude).magnitude < 8e-14, sourceLocation: sourceLocation)
        // A turn apart is the same; and near the poles a longitude means little.
        let east = (left.longitude - right.longitude).remainder(dividingBy: 360).magnitude
        #expect(east * cosine < 8e-14, sourceLocation: sourceLocation)
    }

    @Test func `centers and vertices`() {
        var random = SplitMix64(seed: 34)
        for k in 0..<20_000 {
            let cell = k % 2 == 0 ? random.cell(level: k / 2 % 31) : random.cellOnFaceEdge(level: k / 2 % 31)
            expectSamePlace(cell.center, CellOracle.center(cell))
            let expected = CellOracle.vertices(cell)
            for (ours, theirs) in zip(cell.vertices, expected) { expectSamePlace(ours, theirs) }
        }
    }

    /// A center lies in its own cell, as far down as a leaf's edge is well above rounding.
    @Test func `centers lie in their cells`() throws {
        var random = SplitMix64(seed: 35)
        for k in 0..<20_000 {
            let cell = random.cell(level: k % 31)
            let center = cell.center
            #expect(try cell.contains(CellID(latitude: center.latitude, longitude: center.longitude)))
        }
    }

    @Test(arguments: 0...30)
    func `sizes`(level: Int) {
        let radius = s2OracleEarthRadiusMeters()
        #expect(radius == CellID.earthRadiusMeters)
        // The factors multiply in another order: a few last places.
        func close(_ ours: Double, _ theirs: Double) -> Bool { (ours / theirs - 1).magnitude < 1e-15 }
        #expect(close(CellID.maximumDiagonal(level: level), s2OracleMaximumDiagonal(Int32(level)) * radius))
    }
}
