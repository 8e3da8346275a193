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

    /// A longitude in [-540, 540] brought into [-180, 180), exactly: values within are unchanged, and 180 becomes -180.
    /// Not a number for any other, which `check` refuses.
    @inline(__always)
    package static func wrappedLongitude(_ longitude: Double) -> Double {
        longitude >= -180 && longitude < 180 ? longitude : foldedLongitude(longitude)
    }

    /// `wrappedLongitude` for the values outside [-180, 180). One turn is enough, and the difference is exact: the two
    /// numbers are within a factor of two of each other (Sterbenz).
    @inline(never)
    private static func foldedLongitude(_ longitude: Double) -> Double {
        guard longitude.magnitude <= longitudeLimit else { return .nan }
        let turned = longitude < 0 ? longitude + 360 : longitude - 360
        return turned == 180 ? -180 : turned
    }

    /// The largest longitude that is accepted, in degrees either way: one turn beyond [-180, 180], for tracks that are
    /// written on across the antimeridian. A larger one is no longitude in degrees.
    package static let longitudeLimit = 540.0

    /// Validates a coordinate.
    @inline(__always)
    package static func check(latitude: Double, longitude: Double) throws(CoordinateError) {
        guard latitude.magnitude <= 90 else { throw .latitudeOutOfRange }
        guard longitude.magnitude <= longitudeLimit else { throw .longitudeOutOfRange }
    }
}
