/// A leaf cell by cube face and grid position: what a coordinate becomes before it becomes a `CellID`.
///
/// The cell of a level has the face and the upper `level` of the 30 bits of `i` and of `j`.
package struct FaceIJ: Hashable, Sendable {
    /// One past the largest leaf coordinate: 2³⁰.
    package static let limit: UInt32 = 1 << 30

    /// The leaf column, along u, in [0, 2³⁰).
    package var i: UInt32
    /// The leaf row, along v, in [0, 2³⁰).
    package var j: UInt32
    /// The cube face, 0 … 5.
    package var face: UInt8

    @inline(__always)
    package init(face: UInt8, i: UInt32, j: UInt32) {
        self.face = face
        self.i = i
        self.j = j
    }

    /// The leaf cell of a coordinate in degrees, without checks: S2's own answer (see `CellID`).
    ///
    /// No data-dependent branch, no table, no call into a C library.
    ///
    /// - Parameters:
    ///   - latitude: in [-90, 90].
    ///   - longitude: in [-180, 180]. On most latitudes 180 and -180 give two leaf cells that touch: pass the longitude
    ///     through `wrappedLongitude(_:)` where one meridian must have one answer.
    @inline(__always)
    package init(latitude: Double, longitude: Double) {
        let direction = CubeProjection.direction(latitude: latitude, longitude: longitude)
        let (face, u, v) = CubeProjection.faceUV(direction)
        self.init(
            face: UInt8(truncatingIfNeeded: face),
            i: CubeProjection.stToIJ(CubeProjection.uvToST(u)),
            j: CubeProjection.stToIJ(CubeProjection.uvToST(v)))
    }

    /// A finite longitude brought into [-180, 180), exactly: values within are unchanged, and 180 becomes -180.
    @inline(__always)
    package static func wrappedLongitude(_ longitude: Double) -> Double {
        longitude >= -180 && longitude < 180 ? longitude : foldedLongitude(longitude)
    }

    /// `wrappedLongitude` for the values outside [-180, 180): long division by 360 in binary, without a rounding.
    ///
    /// One step for each power of two by which the longitude exceeds 360, so at most 1016.
    @inline(never)
    private static func foldedLongitude(_ longitude: Double) -> Double {
        var rest = longitude.magnitude
        if rest >= 360 {
            // The largest 360·2ⁿ that is not above the rest, down to 360 itself. Each difference is a multiple of the
            // rest's last bit and smaller than the rest, so it is exact.
            var exponent = rest.exponent - 8
            while exponent >= 0 {
                let multiple = 360 * Double(sign: .plus, exponent: exponent, significand: 1)
                if rest >= multiple { rest -= multiple }
                exponent -= 1
            }
        }
        let signed = longitude < 0 ? -rest : rest
        if signed >= 180 { return signed - 360 }
        return signed < -180 ? signed + 360 : signed
    }

    /// Validates a coordinate.
    @inline(__always)
    package static func check(latitude: Double, longitude: Double) throws(CoordinateError) {
        guard latitude.magnitude <= 90 else { throw .latitudeOutOfRange }
        guard longitude.isFinite else { throw .longitudeNotFinite }
    }
}
