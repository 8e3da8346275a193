/// Which cells a circle reaches, on a sphere.
struct CellReach {
    private let middle: Coordinate
    /// On the ellipsoid distances differ by less than 1 %.
    private let radius: Double

    init(_ middle: Coordinate, meters: Double) {
        self.middle = middle
        radius = meters * 1.02
    }

    /// Whether a cell, given by its leaf of least i and j, may have a point in the circle.
    func meets(_ cell: FaceIJ, level: Int) -> Bool {
        let center = Self.center(of: cell, size: FaceIJ.limit >> UInt32(level))
        return Self.meters(middle, center) <= radius + CellID.maximumDiagonal(level: level) / 2
    }

    /// The length of the chord: at most the distance.
    static func meters(_ a: Coordinate, _ b: Coordinate) -> Double {
        let (sineA, cosineA) = Trigonometry.sineAndCosine(degrees: a.latitude)
        let (sineB, cosineB) = Trigonometry.sineAndCosine(degrees: b.latitude)
        let east = Trigonometry.sineAndCosine(degrees: (b.longitude - a.longitude) / 2).sine
        let (north, outward) = (sineA - sineB, cosineA - cosineB)
        let square = north * north + outward * outward + 4 * cosineA * cosineB * east * east
        return square.squareRoot() * CellID.earthRadiusMeters
    }

    /// - Parameters:
    ///   - cell: its leaf of least i and j.
    ///   - size: its edge in leaves.
    private static func center(of cell: FaceIJ, size: UInt32) -> Coordinate {
        CellID.coordinate(
            face: Int(cell.face), doubleI: UInt64(cell.i) * 2 + UInt64(size), doubleJ: UInt64(cell.j) * 2 + UInt64(size)
        )
    }

    static func children(of cell: FaceIJ, size: UInt32) -> [FaceIJ] {
        [(0, 0), (size / 2, 0), (0, size / 2), (size / 2, size / 2)].map {
            FaceIJ(face: cell.face, i: cell.i + $0.0, j: cell.j + $0.1)
        }
    }
}
