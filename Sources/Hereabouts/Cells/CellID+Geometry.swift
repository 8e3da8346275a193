/// Where a cell lies on the sphere, and how large it is.
extension CellID {
    /// The center, where the four children meet, not the middle of the area. Within 8e-14 degrees of arc of S2's own.
    ///
    /// - Complexity: O(1).
    package var center: Coordinate {
        let corner = lowerLeft
        // Twice the leaf coordinates, so that the center of a leaf is a whole number too.
        let i = UInt64(corner.i) * 2 + UInt64(size)
        let j = UInt64(corner.j) * 2 + UInt64(size)
        return Self.coordinate(face: face, doubleI: i, doubleJ: j)
    }

    /// The four vertices, counterclockwise seen from outside, from the corner of least (i, j), as in S2. Edges between
    /// them are great circles. Within 8e-14 degrees of arc of S2's own.
    ///
    /// - Complexity: O(1).
    package var vertices: Quartet<Coordinate> {
        let corner = lowerLeft
        let (left, bottom) = (UInt64(corner.i) * 2, UInt64(corner.j) * 2)
        let (right, top) = (left + UInt64(size) * 2, bottom + UInt64(size) * 2)
        let face = self.face
        return Quartet(
            Self.coordinate(face: face, doubleI: left, doubleJ: bottom),
            Self.coordinate(face: face, doubleI: right, doubleJ: bottom),
            Self.coordinate(face: face, doubleI: right, doubleJ: top),
            Self.coordinate(face: face, doubleI: left, doubleJ: top))
    }

    /// Edge length in leaf cells: 2^(30 - level).
    package var size: UInt32 { 1 << UInt32(Self.maxLevel - level) }

    /// The leaf cell in the corner of least i and j.
    package var lowerLeft: FaceIJ {
        let position = faceIJ()
        return FaceIJ(
            face: UInt8(truncatingIfNeeded: position.face), i: position.i & (0 &- size), j: position.j & (0 &- size))
    }

    /// The place of a grid point of a face, in half leaf widths, each in 0 … 2³¹.
    package static func coordinate(face: Int, doubleI: UInt64, doubleJ: UInt64) -> Coordinate {
        let u = CubeProjection.stToUV(Double(doubleI) * 0x1p-31)
        let v = CubeProjection.stToUV(Double(doubleJ) * 0x1p-31)
        return CubeProjection.coordinate(of: CubeProjection.direction(face: face, u: u, v: v))
    }
}

/// Sizes of the cells of a level: S2's bounds (`s2metrics.h`, quadratic projection) on a sphere of 6,371,010 m.
///
/// The bounds hold for cells of every level; for whole faces and their children they may be generous.
extension CellID {
    /// The Earth's mean radius as S2 takes it, in meters.
    package static let earthRadiusMeters = 6_371_010.0

    /// An upper bound of the diameter of the cells of a level, in meters. It is a diagonal.
    package static func maximumDiagonal(level: Int) -> Double {
        2.438_654_594_434_021 * earthRadiusMeters * scale(level: level)
    }

    /// 2^-level, exact.
    static func scale(level: Int) -> Double { Double(sign: .plus, exponent: -level, significand: 1) }
}
