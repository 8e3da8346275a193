import CS2Oracle
import FixedRandom
import Testing

@testable import Hereabouts

/// Our sine, cosine and arc tangent: accuracy against the C library, and bits that must never change.
@Suite struct TrigonometryTests {
    /// Both are within 0.56 units in the last place of the truth, so they differ by one unit at most.
    @Test func `sine and cosine are within a unit of the C library`() {
        var random = SplitMix64(seed: 41)
        var differing = 0
        for k in 0..<200_000 {
            let near = Double(Int(random.next() % 9)) * 45 - 180
            let degrees = k % 2 == 0 ? random.uniform(-180, 180) : near + random.uniform(-1e-3, 1e-3)
            let ours = Trigonometry.sineAndCosine(degrees: degrees)
            var (sine, cosine) = (0.0, 0.0)
            // SAFETY: the oracle writes one double through each pointer.
            unsafe s2OracleSineCosine(degrees, &sine, &cosine)
            #expect((ours.sine - sine).magnitude <= sine.ulp && (ours.cosine - cosine).magnitude <= cosine.ulp)
            if ours.sine != sine || ours.cosine != cosine { differing += 1 }
        }
        #expect(differing < 2_000)
    }

    /// The angle of a direction made from an angle, to the rounding of both.
    @Test func `arc tangent undoes sine and cosine`() {
        var random = SplitMix64(seed: 42)
        for _ in 0..<100_000 {
            let degrees = random.uniform(-180, 180)
            let (sine, cosine) = Trigonometry.sineAndCosine(degrees: degrees)
            let length = random.uniform(0.01, 100)
            let angle = Trigonometry.arcTangentDegrees(y: sine * length, x: cosine * length)
            #expect((angle - degrees).magnitude < 6e-14)
        }
    }

    @Test func `arc tangent on the axes`() {
        #expect(Trigonometry.arcTangentDegrees(y: 0, x: 1) == 0)
        #expect(Trigonometry.arcTangentDegrees(y: 1, x: 0) == 90)
        #expect(Trigonometry.arcTangentDegrees(y: -2, x: 0) == -90)
        #expect(Trigonometry.arcTangentDegrees(y: 3, x: 3) == 45)
        #expect(Trigonometry.arcTangentDegrees(y: 0, x: -1) == 180)
        #expect(Trigonometry.arcTangentDegrees(y: -0.0, x: -1) == -180)
        #expect(Trigonometry.arcTangentDegrees(y: 0, x: 0) == 0)
    }

    /// One number that any change of any bit of 100,000 results would change, on any platform.
    @Test func `bits are the same everywhere`() {
        var random = SplitMix64(seed: 43)
        var digest: UInt64 = 0xcbf2_9ce4_8422_2325
        for _ in 0..<100_000 {
            let (sine, cosine) = Trigonometry.sineAndCosine(degrees: random.uniform(-180, 180))
            let angle = Trigonometry.arcTangentDegrees(y: sine, x: cosine)
            for bits in [sine.bitPattern, cosine.bitPattern, angle.bitPattern] {
                digest = (digest ^ bits) &* 0x0000_0100_0000_01b3
            }
        }
        #expect(digest == 14_258_389_713_999_182_536)
    }
}
