import AtlasFormat
import FixedRandom
import Hereabouts
import Testing

@testable import AtlasVerifier

/// The verifier's own geometry against the engine's, with which it has nothing in common.
@Suite struct CubeGeometryTests {
    @Test func `leaves, ids and middles agree with the engine's`() throws {
        var random = SplitMix64(seed: 0xc0be)
        var moved = 0
        for index in 0..<40_000 {
            var position = Position(latitude: random.uniform(-90, 90), longitude: random.uniform(-180, 180))
            // Lines and corners of the cube, the antimeridian and the poles as well.
            if index % 10 == 0 { position.longitude = (position.longitude / 45).rounded() * 45 }
            if index % 11 == 0 { position.latitude = (position.latitude / 45).rounded() * 45 }
            let leaf = CubeGeometry.leaf(at: position)
            let theirs = FaceIJ(
                latitude: position.latitude, longitude: FaceIJ.wrappedLongitude(position.longitude))
            if (leaf.face, leaf.i, leaf.j) != (Int(theirs.face), Int(theirs.i), Int(theirs.j)) {
                // On the line between two leaves rounding decides: the two positions are one to a centimeter or two.
                moved += 1
                let back = CellID(face: Int(theirs.face), i: theirs.i, j: theirs.j, level: 30).center
                let own = EarthCentered.position(
                    CubeGeometry.position(
                        face: leaf.face, s: (Double(leaf.i) + 0.5) * 0x1p-30, t: (Double(leaf.j) + 0.5) * 0x1p-30))
                let other = EarthCentered.position(Position(latitude: back.latitude, longitude: back.longitude))
                #expect(own.chord(to: other) < 0.04)
                continue
            }
            let level = index % 31
            let cell = CellID(face: leaf.face, i: UInt32(leaf.i), j: UInt32(leaf.j), level: level)
            #expect(CubeGeometry.identifier(of: leaf, level: level) == cell.rawValue)
            let identifying = CellID(face: leaf.face, i: UInt32(leaf.i), j: UInt32(leaf.j), level: 18).center
            let middle = CubeGeometry.middleOfIdentifyingCell(leaf)
            #expect(abs(middle.latitude - identifying.latitude) < 1e-12)
            #expect(abs((middle.longitude - identifying.longitude).remainder(dividingBy: 360)) < 1e-12)
        }
        // Only positions on the lines themselves.
        #expect(moved < 400)
        print("cube geometry: \(moved) of 40,000 positions are in a neighboring leaf")
    }
}
