/// Sine, cosine and arc tangent that give the same bits on every platform.
///
/// C libraries differ in the last bits of `sin` and `cos`, and a last bit can decide which cell a point lies in. The
/// functions here use only `+ - * /` and `squareRoot()`, which IEEE 754 rounds correctly everywhere, in a fixed order.
/// Nothing is fused (no `addingProduct`), so a processor with FMA computes the same value as one without.
///
/// No function here branches on its argument, so that the same operations can be written eight lanes at a time.
///
/// The coefficients are minimax polynomials (Remez exchange in 50 digits, then rounded to `Double`).
package enum Trigonometry {
    /// 2⁵² + 2⁵¹. Adding it to a value below 2⁵⁰ in magnitude rounds the value to an integer, ties to even, and leaves
    /// that integer in the low bits of the sum.
    package static let integerRounder = 0x1.8p52

    /// The factor from degrees to radians, rounded to nearest; the same value as the `M_PI / 180` of the S2 library.
    package static let radiansPerDegree = 0x1.1df46a2529d39p-6

    /// The sine and cosine of an angle in degrees.
    ///
    /// The angle is first turned into radians by one rounded product, as the S2 library does it, and the result is the
    /// sine or cosine *of that product*: within 0.56 units in the last place of the exact value (measured). Doing this
    /// step as S2 does it is what makes cells equal to S2's on the lines and corners of the cube. Against the sine and
    /// cosine of the angle itself the absolute error was at most 3e-16.
    ///
    /// - Parameter degrees: in [-180, 180].
    @inline(__always)
    package static func sineAndCosine(degrees: Double) -> (sine: Double, cosine: Double) {
        // π/2 as the sum of two doubles, exact to 2⁻¹⁰⁸.
        let halfPi = 0x1.921fb54442d18p+0
        let halfPiTail = 0x1.1a62633145c07p-54
        let twoOverPi = 0x1.45f306dc9c883p-1

        let radians = degrees * radiansPerDegree
        let rounded = radians * twoOverPi + integerRounder
        let turns = rounded - integerRounder
        // The low bits count quarter turns.
        let quadrant = rounded.bitPattern

        // The remainder is x + y, |x| ≤ π/4. The first difference is exact: its operands are within a factor of two.
        let coarse = radians - turns * halfPi
        let correction = turns * halfPiTail
        let x = coarse - correction
        let y = (coarse - x) - correction

        // Odd quarter turns exchange the two; the second bit of the count (for the cosine, of the count plus one) is
        // the sign. Done on bits, since a branch here would be taken at random.
        let (sine, cosine) = kernel(x, y)
        let exchanged = (sine.bitPattern ^ cosine.bitPattern) & (0 &- (quadrant & 1))
        let sineSign = (quadrant & 2) &<< 62
        let cosineSign = ((quadrant &+ 1) & 2) &<< 62
        return (
            Double(bitPattern: sine.bitPattern ^ exchanged ^ sineSign),
            Double(bitPattern: cosine.bitPattern ^ exchanged ^ cosineSign)
        )
    }

    /// Sine and cosine of x + y radians, |x| ≤ π/4 and y at most half a unit in the last place of x.
    ///
    /// The two largest terms of each series are summed with the rounding errors of the sums and products kept, so that
    /// little but the last rounding is left. That matters on the edges of the cube, where a last bit decides the face.
    @inline(__always)
    static func kernel(_ x: Double, _ y: Double) -> (sine: Double, cosine: Double) {
        let z = x * x
        // x is a head of 13 bits, whose powers are exact, and a tail.
        let head = Double(bitPattern: x.bitPattern & 0xffff_ff00_0000_0000)
        let tail = x - head
        let headSquared = head * head
        let headCubed = headSquared * head

        // sin x = x - x³/6 + x⁵·p(x²), |error| < 2⁻⁶⁸ of x.
        var p = -0x1.aad12689effd9p-41
        p = p * z + 0x1.6120f4aded2a2p-33
        p = p * z + -0x1.ae6453453a399p-26
        p = p * z + 0x1.71de3a53d1f81p-19
        p = p * z + -0x1.a01a01a019396p-13
        p = p * z + 0x1.111111111110fp-7
        // x³ = head³ + tail·(x² + x·head + head²), and 1/6 is 13 bits and a rest: their product is exact.
        let cubic = headCubed * 0x1.555p-3
        let cubicTail = headCubed * 0x1.5555555555555p-17 + (tail * (z + (x * head + headSquared))) * (1 / 6.0)
        let sineLeading = x - cubic
        let sineError = (x - sineLeading) - cubic

        // cos x = 1 - x²/2 + x⁴·q(x²), |error| < 2⁻⁶⁴.
        var q = -0x1.8faece4721c45p-37
        q = q * z + 0x1.1ee9ec4620c08p-29
        q = q * z + -0x1.27e4f80a746acp-22
        q = q * z + 0x1.a01a019cb26d0p-16
        q = q * z + -0x1.6c16c16c15184p-10
        q = q * z + 0x1.555555555554cp-5
        let half = 0.5 * headSquared
        let halfTail = 0.5 * (tail * (x + head))
        let cosineLeading = 1 - half
        let cosineError = (1 - cosineLeading) - half

        // y moves the sine by y·cos x and the cosine by -y·sin x.
        let sine = sineLeading + (sineError + (((x * z) * (z * p) - cubicTail) + y * cosineLeading))
        let cosine = cosineLeading + (cosineError + ((z * z * q - y * sineLeading) - halfTail))
        return (sine, cosine)
    }

    /// The angle from the positive x axis to the direction (x, y), in degrees, in [-180, 180].
    ///
    /// The absolute error is at most 3e-14 degrees (measured; a unit in the last place of 180 is 2.8e-14), and at most
    /// 2.5 units in the last place for results below 45 degrees in magnitude. `atan2` semantics for signed zeros.
    package static func arcTangentDegrees(y: Double, x: Double) -> Double {
        let absoluteX = x.magnitude
        let absoluteY = y.magnitude
        let steep = absoluteY > absoluteX
        let larger = steep ? absoluteY : absoluteX
        let smaller = steep ? absoluteX : absoluteY

        // Above tan(π/8) the angle is measured from 45 degrees: atan(s/l) = 45° + atan((s - l)/(s + l)).
        let fromDiagonal = smaller > larger * 0x1.a827999fcef32p-2
        let numerator = fromDiagonal ? smaller - larger : smaller
        let denominator = fromDiagonal ? smaller + larger : larger
        let ratio = denominator == 0 ? 0 : numerator / denominator
        let offset = smallArcTangentDegrees(ratio)

        let octant = fromDiagonal ? 45 + offset : offset
        let quadrant = steep ? 90 - octant : octant
        let half = x.sign == .minus ? 180 - quadrant : quadrant
        return y.sign == .minus ? -half : half
    }

    /// The arc tangent in degrees of a ratio within tan(π/8) of zero.
    @inline(__always)
    static func smallArcTangentDegrees(_ ratio: Double) -> Double {
        let z = ratio * ratio
        // atan x = x + x³·p(x²), |error| < 2⁻⁵⁹ of x.
        var p = -0x1.25a31e4d31110p-6
        p = p * z + 0x1.37efdc661e3e5p-5
        p = p * z + -0x1.9cdd2818410e2p-5
        p = p * z + 0x1.df119f3220a59p-5
        p = p * z + -0x1.10ebe156fb1edp-4
        p = p * z + 0x1.3b111cb59e7acp-4
        p = p * z + -0x1.745cf90f7ba6ap-4
        p = p * z + 0x1.c71c70e7c759ap-4
        p = p * z + -0x1.24924922b1797p-3
        p = p * z + 0x1.99999999958f8p-3
        p = p * z + -0x1.555555555553dp-2
        let radians = ratio + (ratio * z) * p
        return radians * 0x1.ca5dc1a63c1f8p+5
    }
}
