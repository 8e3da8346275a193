/// A cell of level 7 to 15 by its place on its face, in eight bytes.
///
/// Bits 0–15 j and 16–31 i in cells of level 15, 32–36 the level, 37–39 the face.
package struct Quad: Hashable, Sendable {
    package let bits: UInt64

    package init(bits: UInt64) { self.bits = bits }

    /// The cell of a level that holds a leaf cell.
    package init(face: Int, i: Int, j: Int, level: Int) {
        let mask = ~((1 << (30 - level)) - 1)
        bits = UInt64(face << 37 | level << 32 | (i & mask) << 1 | (j & mask) >> 15)
    }

    package var face: Int { Int(bits >> 37) }
    package var level: Int { Int(bits >> 32 & 31) }
    /// Leaf column of the lower left corner.
    package var i: Int { Int(bits >> 16 & 0x7fff) << 15 }
    /// Leaf row of the lower left corner.
    package var j: Int { Int(bits & 0x7fff) << 15 }
    /// Edge in leaf cells.
    package var size: Int { 1 << (30 - level) }
    /// Area in cells of level 15.
    package var weight: Int { 1 << (2 * (15 - level)) }

    package func ancestor(level: Int) -> Quad { Quad(face: face, i: i, j: j, level: level) }

    /// The largest aligned cells that make up the keys `first ..< end` of a level-7 cell.
    package static func cells(face: Int, column: Int, row: Int, keys: Range<Int>, _ body: (Quad) throws -> Void)
        rethrows
    {
        var key = keys.lowerBound
        while key < keys.upperBound {
            var side = 8
            while key % (1 << (2 * side)) != 0 || key + 1 << (2 * side) > keys.upperBound { side -= 1 }
            var i = column << 23, j = row << 23
            for bit in 0..<8 {
                i |= (key >> (2 * bit + 1) & 1) << (15 + bit)
                j |= (key >> (2 * bit) & 1) << (15 + bit)
            }
            try body(Quad(face: face, i: i, j: j, level: 15 - side))
            key += 1 << (2 * side)
        }
    }
}
