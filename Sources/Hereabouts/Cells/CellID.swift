/// A cell of the S2 quadtree, by its 64-bit id.
///
/// Each of the six faces of a cube is a cell of level 0; each cell has four children of the next level, down to leaf
/// cells of level 30, about 1 cm wide. Ids follow one Hilbert curve over all six faces, so an interval of ids is a
/// connected piece of the Earth, and a cell's descendants are exactly one interval.
///
/// ```text
///  63 61 60                     2·(30 - k)                      0
/// ┌─────┬─────┬─────┬── ⋯ ──┬─────┬───┬───────────────────────────┐
/// │ fff │ p₁  │ p₂  │       │ pₖ  │ 1 │ 0 0 0 0 0 0 0 0 0 0 0 0 0 │
/// └─────┴─────┴─────┴── ⋯ ──┴─────┴───┴───────────────────────────┘
/// ```
///
/// - `fff`: the cube face, 0 … 5, bits 61 to 63;
/// - `p₁ … pₖ`: two bits a level, which of the four children, in the order the curve visits them;
/// - one set bit, which marks the level k: it is bit 2·(30 - k). The rest is zero.
///
/// The numbering, the projection and the tokens are those of the S2 geometry library (s2geometry.io), so ids may be
/// exchanged with anything that speaks S2. The frames between a coordinate and an id are in `CubeProjection`.
///
/// A value may hold any 64 bits; unless said otherwise, members need `isValid` to be true.
///
/// Public is what other programs need to look the cell of a `RegionID` up: its 64 bits, its token and its level.
public struct CellID: Hashable, Comparable, Sendable {
    /// The level of leaf cells.
    @usableFromInline package static let maxLevel = 30

    /// The id, laid out as above.
    public let rawValue: UInt64

    /// Takes any 64 bits; see `isValid`.
    @inlinable
    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The cell of a level that holds a coordinate.
    ///
    /// The same on every platform, and equal to S2's own answer unless the coordinate is on the line between two leaf
    /// cells to within the rounding of a `Double`, 1e-6 of a leaf's width; there the two answers touch. (S2's depends
    /// on the C library. No difference was seen in 50 million points; on the face edges at 45° it is one in 15,000,
    /// within two last places of the bent edges of the polar faces one in 350.) S2's cells are closed sets: on the
    /// antimeridian, 180 and -180 may give two leaf cells that touch there.
    ///
    /// - Parameters:
    ///   - latitude: degrees, in [-90, 90].
    ///   - longitude: degrees, in [-540, 540]; one outside [-180, 180] is first wrapped into [-180, 180), exactly.
    ///   - level: in 0 … 30; 30, a leaf cell, if not given.
    /// - Throws: `CoordinateError` if one of the two is out of range.
    /// - Complexity: O(1).
    package init(latitude: Double, longitude: Double, level: Int = CellID.maxLevel) throws(CoordinateError) {
        try FaceIJ.check(latitude: latitude, longitude: longitude)
        let inRange = longitude.magnitude <= 180 ? longitude : FaceIJ.wrappedLongitude(longitude)
        let leaf = FaceIJ(latitude: latitude, longitude: inRange)
        self.init(face: Int(leaf.face), i: leaf.i, j: leaf.j, level: level)
    }

    /// Whether cells are in this order along the Hilbert curve; a cell comes between its second and third child.
    @inlinable
    public static func < (left: CellID, right: CellID) -> Bool { left.rawValue < right.rawValue }

    /// Whether this is the id of a cell. Meaningful for any 64 bits.
    @inlinable
    package var isValid: Bool { face < 6 && lowestBit & 0x1555_5555_5555_5555 != 0 }

    /// The cube face, 0 … 5.
    @inlinable
    package var face: Int { Int(truncatingIfNeeded: rawValue >> 61) }

    /// The level, 0 (a whole face) … 30 (a leaf).
    @inlinable
    public var level: Int { Self.maxLevel - rawValue.trailingZeroBitCount / 2 }

    /// Whether the level is 30.
    @inlinable
    package var isLeaf: Bool { rawValue & 1 != 0 }

    /// The lowest bit that is set, which marks the level.
    @inlinable
    var lowestBit: UInt64 { rawValue & (0 &- rawValue) }

    /// The bit that marks a level.
    @inlinable
    static func lowestBit(level: Int) -> UInt64 { 1 &<< UInt64(truncatingIfNeeded: 2 * (maxLevel - level)) }
}

// MARK: - The tree

extension CellID {
    /// The ancestor of a level, which must be in 0 … `level`; at its own level the cell itself.
    @inlinable
    package func parent(level: Int) -> CellID {
        precondition(level >= 0 && level <= self.level, "a parent's level is at most the cell's own")
        let bit = Self.lowestBit(level: level)
        return CellID(rawValue: (rawValue & (0 &- bit)) | bit)
    }

    /// The cell that this one is a quarter of; the level must not be 0.
    @inlinable
    package var parent: CellID { parent(level: level - 1) }

    /// One of the four children, 0 … 3, in the order of the Hilbert curve. The cell must not be a leaf.
    @inlinable
    package func child(_ position: Int) -> CellID {
        precondition(!isLeaf && position >= 0 && position < 4, "a cell above the leaves has children 0 to 3")
        // The level's bit moves two places down, and `position` takes the place it leaves.
        let bit = lowestBit >> 2
        return CellID(rawValue: rawValue &- 3 &* bit &+ UInt64(position) &* 2 &* bit)
    }

    /// The first leaf cell within this one; a leaf's is itself.
    @inlinable
    package var rangeMin: CellID { CellID(rawValue: rawValue &- (lowestBit &- 1)) }

    /// The last leaf cell within this one; a leaf's is itself.
    @inlinable
    package var rangeMax: CellID { CellID(rawValue: rawValue &+ (lowestBit &- 1)) }

    /// Whether the other cell is this one or lies within it.
    @inlinable
    package func contains(_ other: CellID) -> Bool { other >= rangeMin && other <= rangeMax }

    /// The next cell of this level along the curve, from face to face. After the last one comes an invalid id.
    @inlinable
    package var next: CellID { CellID(rawValue: rawValue &+ lowestBit &* 2) }
}
