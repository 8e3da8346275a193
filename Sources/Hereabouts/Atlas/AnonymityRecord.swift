/// A region's record in the anonymity section: the residents that can be promised, and how many more are estimated, in
/// steps of 2^(1/16).
///
/// ```text
///  15            7 6          0
/// ┌───────────────┬────────────┐
/// │       c       │     r      │
/// └───────────────┴────────────┘
/// ```
///
/// - `c`: K × 2^(c / 16 - b) residents, rounded down, are promised; b is one more than the number of bits of K. So c =
///   16 b stands for exactly K, and c = 1 for less than one. 0 where nobody lives.
/// - `r`: K × 2^((c + r) / 16 - b) residents are estimated.
package struct AnonymityRecord: Hashable, Sendable {
    package let bits: UInt16

    package init(bits: UInt16) { self.bits = bits }

    /// The record of a region; `residents` is at least `promised`.
    ///
    /// What is promised is rounded down, by less than 4.5 % unless it is beyond what a record can say; the estimate is
    /// rounded to the nearest step, by at most 2.2 % unless it is more than 245 times the promise.
    package init(promised: Double, residents: Double, anonymity: Int) {
        guard residents > 0 else {
            bits = 0
            return
        }
        var c = 1, r = 0
        while c < 511, Self.value(c + 1, anonymity) <= promised { c += 1 }
        // Nearer to the next step than to this one, as ratios.
        while r < 127,
            residents * residents >= Self.value(c + r, anonymity) * Self.value(c + r + 1, anonymity)
        {
            r += 1
        }
        bits = UInt16(c) << 7 | UInt16(r)
    }

    /// Residents that can be promised.
    package func lowerBound(anonymity: Int) -> Int {
        bits >> 7 == 0 ? 0 : Int(Self.value(Int(bits >> 7), anonymity).rounded(.down))
    }

    /// Estimated residents; 0 only where nobody lives.
    package func residents(anonymity: Int) -> Int {
        bits >> 7 == 0 ? 0 : max(1, Int(Self.value(Int(bits >> 7 + bits & 127), anonymity).rounded()))
    }

    /// K × 2^(steps / 16 - b), below 2⁴⁰ for up to 638 steps. Scaling by a power of two is exact, so that every platform
    /// has the same numbers.
    private static func value(_ steps: Int, _ anonymity: Int) -> Double {
        let sixteenths = SIMD16<Double>(
            1, 1.0442737824274138, 1.0905077326652577, 1.1387886347566916, 1.189207115002721, 1.241857812073484,
            1.2968395546510096, 1.3542555469368927, 1.4142135623730951, 1.4768261459394993, 1.5422108254079407,
            1.6104903319492543, 1.681792830507429, 1.7562521603732995, 1.8340080864093424, 1.9152065613971474
        )
        let bits = Int.bitWidth - anonymity.leadingZeroBitCount
        return Double(anonymity) * sixteenths[steps % 16]
            * Double(sign: .plus, exponent: steps / 16 - bits - 1, significand: 1)
    }
}
