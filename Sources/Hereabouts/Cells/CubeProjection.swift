/// The coordinate frames between a latitude and longitude and a cell, and the maps from each to the next.
///
/// These are the frames of the S2 geometry library (`s2coords.h`), and the same formulas in the same order, so that
/// the same cells come out.
///
/// - (latitude, longitude): degrees. The latitude is used as it is, as on a sphere, whatever ellipsoid it was
///   measured on; so do S2 and everything that speaks S2 cells.
/// - (x, y, z): a direction from the center. x points at (0°, 0°), y at (0°, 90° E), z at the north pole. Not
///   necessarily of unit length.
/// - (face, u, v): where the direction pierces the cube [-1, 1]³. Faces 0, 1, 2 are pierced by the positive x, y, z
///   axes and 3, 4, 5 by the negative ones. u and v lie in [-1, 1], right-handed seen from outside.
/// - (face, s, t): u and v through a quadratic that makes cells of one level more equal in area; s and t lie in [0, 1].
/// - (face, i, j): s and t in steps of 2⁻³⁰, the coordinates of leaf cells, integers in [0, 2³⁰). See `FaceIJ`.
/// - cell id: i and j interleaved along a Hilbert curve. See `CellID`.
package enum CubeProjection {
    /// A direction from the center of the sphere; any length but zero.
    package struct Direction: Hashable, Sendable {
        package var x: Double
        package var y: Double
        package var z: Double

        @inline(__always)
        package init(x: Double, y: Double, z: Double) {
            self.x = x
            self.y = y
            self.z = z
        }
    }

    /// The unit vector towards a latitude and longitude in degrees. Each component is within 6e-16 of the exact one.
    ///
    /// - Parameters:
    ///   - latitude: in [-90, 90].
    ///   - longitude: in [-180, 180].
    @inline(__always)
    package static func direction(latitude: Double, longitude: Double) -> Direction {
        let (sinLatitude, cosLatitude) = Trigonometry.sineAndCosine(degrees: latitude)
        let (sinLongitude, cosLongitude) = Trigonometry.sineAndCosine(degrees: longitude)
        return Direction(x: cosLongitude * cosLatitude, y: sinLongitude * cosLatitude, z: sinLatitude)
    }

    /// The latitude and longitude of a direction, in degrees; each within 3e-14 degrees of the exact one (measured).
    package static func coordinate(of direction: Direction) -> Coordinate {
        let (x, y, z) = (direction.x, direction.y, direction.z)
        return Coordinate(
            latitude: Trigonometry.arcTangentDegrees(y: z, x: (x * x + y * y).squareRoot()),
            longitude: Trigonometry.arcTangentDegrees(y: y, x: x))
    }

    /// The cube face a direction pierces, and where. Where two faces tie, the later axis wins, as in S2.
    ///
    /// Choices are masks of all ones or all zeros, not branches, which would be taken at random.
    @inline(__always)
    package static func faceUV(_ direction: Direction) -> (face: Int, u: Double, v: Double) {
        let signBit: UInt64 = 1 << 63
        let (x, y, z) = (direction.x.bitPattern, direction.y.bitPattern, direction.z.bitPattern)
        let (sizeX, sizeY, sizeZ) = (x & ~signBit, y & ~signBit, z & ~signBit)
        // The bits of two magnitudes compare as the magnitudes do, and their difference has a sign bit to spread.
        let xOverY = signMask(sizeY &- sizeX)
        let onX = xOverY & signMask(sizeZ &- sizeX)
        let onY = ~xOverY & signMask(sizeZ &- sizeY)
        let onZ = ~(onX | onY)

        // Positive faces have u = a/d and v = b/d, negative faces the two exchanged.
        let d = (x & onX) | (y & onY) | (z & onZ)
        let a = (y & onX) | ((x ^ signBit) & ~onX)
        let b = ((y ^ signBit) & onZ) | (z & ~onZ)
        let negative = signMask(d)
        let first = (Double(bitPattern: a) / Double(bitPattern: d)).bitPattern
        let second = (Double(bitPattern: b) / Double(bitPattern: d)).bitPattern
        let exchanged = (first ^ second) & negative
        let face = (onY & 1) | (onZ & 2)
        return (
            Int(truncatingIfNeeded: face &+ (negative & 3)), Double(bitPattern: first ^ exchanged),
            Double(bitPattern: second ^ exchanged)
        )
    }

    /// All ones if the highest bit is set, else all zeros.
    @inline(__always)
    private static func signMask(_ bits: UInt64) -> UInt64 {
        UInt64(bitPattern: Int64(bitPattern: bits) &>> 63)
    }

    /// The direction, not of unit length, of a point on a cube face.
    @inline(__always)
    package static func direction(face: Int, u: Double, v: Double) -> Direction {
        switch face {
        case 0: Direction(x: 1, y: u, z: v)
        case 1: Direction(x: -u, y: 1, z: v)
        case 2: Direction(x: -u, y: -v, z: 1)
        case 3: Direction(x: -1, y: -v, z: -u)
        case 4: Direction(x: v, y: -1, z: -u)
        default: Direction(x: v, y: u, z: -1)
        }
    }

    /// s from u (or t from v): the inverse of `stToUV`, up to rounding.
    @inline(__always)
    package static func uvToST(_ u: Double) -> Double {
        let s = 0.5 * (1 + 3 * u.magnitude).squareRoot()
        let exchanged = (s.bitPattern ^ (1 - s).bitPattern) & signMask(u.bitPattern)
        return Double(bitPattern: s.bitPattern ^ exchanged)
    }

    /// u from s (or v from t), by S2's quadratic projection.
    @inline(__always)
    package static func stToUV(_ s: Double) -> Double {
        // Written as S2 writes it: the order of the products decides the last bit.
        s >= 0.5 ? (1 / 3.0) * (4 * s * s - 1) : (1 / 3.0) * (1 - 4 * (1 - s) * (1 - s))
    }

    /// The leaf coordinate i of s (or j of t) in [0, 1]. On the line between two leaf cells the even one is taken.
    @inline(__always)
    package static func stToIJ(_ s: Double) -> UInt32 {
        let rounded = (0x1p30 * s - 0.5) + Trigonometry.integerRounder
        return min(UInt32(truncatingIfNeeded: rounded.bitPattern), FaceIJ.limit - 1)
    }
}
