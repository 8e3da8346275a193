import Foundation

/// A small seeded generator, so that every run measures the same points (Steele, Lea and Flood 2014).
package struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Uniform in [0, 1), in steps of 2⁻⁵³.
    package mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// Two independent normal deviates of mean 0 and standard deviation 1 (Box and Muller 1958).
    package mutating func normalPair() -> (Double, Double) {
        let radius = (-2 * log(1 - unit())).squareRoot(), angle = 2 * Double.pi * unit()
        return (radius * cos(angle), radius * sin(angle))
    }
}
