import FixedRandom
import Foundation
import Testing

@testable import Hereabouts

@Suite struct ReachTests {
    /// The quick test of a pacer says no only where the long one would find nothing either: the answers are the same.
    @Test func aRegionThatIsNearIsNeverRuledOut() throws {
        var random = SplitMix64(seed: 18)
        var near = 0
        var mistakes = 0
        var ruledOut = 0
        for _ in 0..<3000 {
            let region = Region(index: UInt32.random(in: 0..<UInt32(worldAtlas.regionCount), using: &random))
            let center = worldAtlas.center(of: region)
            // About the published circle's edge, where the two could differ.
            let reach =
                worldAtlas.horizontalAccuracy(of: region) / 111_000 * Double.random(in: 0.5...1.2, using: &random)
            let angle = Double.random(in: 0..<2 * .pi, using: &random)
            let latitude = min(90, max(-90, center.latitude + reach * sin(angle)))
            let east = reach * cos(angle) / max(0.01, cos(center.latitude * .pi / 180))
            let longitude = FaceIJ.wrappedLongitude(center.longitude + east)
            let probe = HysteresisProbe(
                latitude: latitude, longitude: longitude, radiusMeters: worldAtlas.steadinessMeters)
            let mayReach = worldAtlas.mayReach(region, latitude: latitude, longitude: longitude)
            let touches = probe.reaches(region, ValidLookup(atlas: worldAtlas))
            if touches { near += 1 }
            if !mayReach { ruledOut += 1 }
            if touches && !mayReach { mistakes += 1 }
        }
        #expect(mistakes == 0 && near > 300 && ruledOut > 300)
    }
}
