import FixedRandom
import Foundation
import Testing

@testable import Hereabouts

@Suite struct ReachTests {
    /// The atlas without its quick test: every probe is looked up.
    private struct ProbedAtlas: RegionLookup {
        var steadinessMeters: Double { worldAtlas.steadinessMeters }

        func region(latitude: Double, longitude: Double) throws(Never) -> Region {
            ValidLookup(atlas: worldAtlas).region(latitude: latitude, longitude: longitude)
        }
    }

    /// The point some degrees of arc from another, nearly.
    private static func point(_ start: Coordinate, _ arc: Double, _ angle: Double) -> Coordinate {
        let latitude = min(90, max(-90, start.latitude + arc * sin(angle)))
        let east = arc * cos(angle) / max(0.001, cos(start.latitude * .pi / 180))
        let longitude = FaceIJ.wrappedLongitude(start.longitude + east.remainder(dividingBy: 360))
        return Coordinate(latitude: latitude, longitude: longitude)
    }

    /// A point in or before an edge of the region of another, by some degrees of arc at most, and the region beyond it.
    private static func edge(
        of start: Coordinate, within arc: Double, _ random: inout SplitMix64
    ) throws -> (Coordinate, Region)? {
        let home = try worldAtlas.snap(start)
        let angle = Double.random(in: 0..<2 * .pi, using: &random)
        for step in 1...2_000 {
            let beyond = point(start, Double(step) * 0.000_2, angle)
            let region = try worldAtlas.snap(beyond)
            guard region != home else { continue }
            let distance = Double.random(in: 0...arc, using: &random)
            return (point(beyond, -distance, angle), region)
        }
        return nil
    }

    /// The quick test of a pacer says no only where the long one would find nothing either: the answers are the same, beside
    /// the edges of regions all over the world, in corners of the cube, at the antimeridian and at the poles.
    @Test func `a region that is near is never ruled out`() throws {
        var random = SplitMix64(seed: 18)
        var (near, far, ruledOut) = (0, 0, 0)
        for round in 0..<12_000 {
            let start: Coordinate
            switch round % 6 {
            case 0: start = Coordinate(latitude: Double.random(in: -90...90, using: &random), longitude: 180)
            case 1: start = Coordinate(latitude: round % 4 < 2 ? 89.99 : -89.99, longitude: Double(round % 360))
            case 2:
                start = Coordinate(latitude: round % 4 < 2 ? 35.264 : -35.264, longitude: Double(round % 8 * 45 + 45))
            default:
                let index = UInt32.random(in: 0..<UInt32(worldAtlas.regionCount), using: &random)
                start = worldAtlas.center(of: Region(index: index))
            }
            let radius = exp(Double.random(in: log(20)...log(2_000), using: &random))
            guard let (fix, region) = try Self.edge(of: start, within: radius / 37_000, &random) else { continue }
            let probe = HysteresisProbe(latitude: fix.latitude, longitude: fix.longitude, radiusMeters: radius)
            let isNear = probe.reaches(region, ProbedAtlas())
            #expect(probe.reaches(region, ValidLookup(atlas: worldAtlas)) == isNear)
            if isNear { near += 1 } else { far += 1 }
            if !probe.mayReach(region, ValidLookup(atlas: worldAtlas)) { ruledOut += 1 }
        }
        print("reach: near \(near), far \(far), ruled out \(ruledOut)")
        #expect(near > 3_000 && far > 3_000 && ruledOut > far / 2)
    }
}
