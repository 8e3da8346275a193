import FixedRandom
import Testing

@testable import AtlasBuilder

/// How close together the residents of a region live.
@Suite struct ConcentrationTests {
    private func residents(_ meters: [Double], _ number: (Int) -> Double = { _ in 1 }) -> [Concentration.Residents] {
        meters.indices.map { Concentration.Residents(position: SIMD3(meters[$0], 0, 0), number: number($0)) }
    }

    @Test func `nine in ten are within a circle about one of them`() {
        #expect(Concentration.steps([]) == 0)
        #expect(Concentration.steps(residents([0])) == 1)
        // Ten on a line: nine of them are within 400 m of the fifth.
        #expect(Concentration.steps(residents((0..<10).map { 100 * Double($0) })) == 4)
        #expect(Concentration.steps(residents((0..<10).map { 101 * Double($0) })) == 5)
        // A village of ninety, and ten people far away: without them, and with eleven.
        #expect(Concentration.steps(residents([0, 15_000]) { $0 == 0 ? 90 : 10 }) == 1)
        #expect(Concentration.steps(residents([0, 15_000]) { $0 == 0 ? 90 : 11 }) == 150)
        #expect(Concentration.steps(residents([0, 40_000]) { $0 == 0 ? 90 : 11 }) == 255)
    }

    @Test func `no circle about a resident is smaller`() {
        var random = SplitMix64(seed: 0xc0c)
        for _ in 0..<200 {
            let people = (0..<Int.random(in: 1...60, using: &random)).map { _ in
                Concentration.Residents(
                    position: SIMD3(random.uniform(0, 20_000), random.uniform(0, 20_000), 0),
                    number: random.uniform(0.1, 90))
            }
            let all = people.reduce(0) { $0 + $1.number }
            let least = people.map { center in
                var held = 0.0
                let order = people.map { (meters: $0.position.distance(to: center.position), number: $0.number) }
                    .sorted { $0.meters < $1.meters }
                return order.first {
                    held += $0.number; return held >= 0.9 * all * (1 - 1e-12)
                }!.meters
            }.min()!
            #expect(Int(Concentration.steps(people)) == max(1, Int((least / 100).rounded(.up))))
        }
    }
}
