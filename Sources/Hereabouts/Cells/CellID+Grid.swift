/// Between cell ids and positions in the grid of a face, along the Hilbert curve.
///
/// At each level the curve visits a cell's four quarters in the order of an upright or turned "U". In the canonical
/// orientation it is (i, j) = (0,0), (0,1), (1,1), (1,0). An orientation is two bits: bit 0, *swap*, exchanges i and j;
/// bit 1, *invert*, complements both. From a quarter to the next level the orientation changes by the quarter's
/// position: 0 toggles swap, 1 and 2 nothing, 3 both. Odd faces start swapped.
extension CellID {
    /// The cell of a level that holds a leaf position of a face.
    ///
    /// - Parameters:
    ///   - face: 0 … 5.
    ///   - i: the leaf column, below 2³⁰.
    ///   - j: the leaf row, below 2³⁰.
    ///   - level: 0 … 30.
    package init(face: Int, i: UInt32, j: UInt32, level: Int) {
        precondition(face >= 0 && face < 6 && i < FaceIJ.limit && j < FaceIJ.limit, "a leaf position is on a face")
        precondition(level >= 0 && level <= Self.maxLevel, "levels are 0 to 30")
        let (high, low) = Self.curvePosition(i: i, j: j, swapped: face & 1 != 0)
        let position = Self.spread(high) &<< 1 | Self.spread(low)
        let bit = Self.lowestBit(level: level)
        let leaf = UInt64(truncatingIfNeeded: face) &<< 61 | position &<< 1 | 1
        self.init(rawValue: (leaf & (0 &- bit)) | bit)
    }

    /// A leaf cell inside this one, as a position in its face, and the curve's orientation within this cell.
    ///
    /// Of a leaf it is the cell itself; of a larger cell, one of the two leaves nearest the center that the curve
    /// passes. Clear the low 30 - `level` bits of i and j for the cell's lower left corner.
    package func faceIJ() -> (face: Int, i: UInt32, j: UInt32, orientation: Int) {
        let position = (rawValue & 0x1fff_ffff_ffff_ffff) &>> 1
        let high = Self.gather(position &>> 1)
        let low = Self.gather(position)
        // The orientation at each level is the start's, toggled by every position above it: an exclusive prefix XOR.
        let togglesSwap = ~(high ^ low) & (FaceIJ.limit - 1)
        let togglesInvert = high & low
        let faceSwap = UInt32(truncatingIfNeeded: face & 1)
        let allSwap = Self.prefixXOR(togglesSwap)
        let allInvert = Self.prefixXOR(togglesInvert)
        let swap = (allSwap ^ togglesSwap) ^ (0 &- faceSwap)
        let invert = allInvert ^ togglesInvert
        // Position 2·i' + (i' ^ j') of the canonical order, then i' and j' undone by the orientation.
        let first = high ^ invert
        let second = high ^ low ^ invert
        let exchanged = (first ^ second) & swap
        let mask = FaceIJ.limit - 1
        // Below this cell's level the id reads 1 0 0 …; those positions say nothing of the cell itself.
        let ownLevel = UInt32(truncatingIfNeeded: Self.maxLevel - level)
        let swapHere = (allSwap &>> ownLevel ^ faceSwap) & 1
        let invertHere = (allInvert &>> ownLevel) & 1
        return (face, (first ^ exchanged) & mask, (second ^ exchanged) & mask, Int(swapHere | invertHere &<< 1))
    }

    /// The two bits per level of a position along the curve, high bits and low bits apart.
    ///
    /// Let V be invert and W be swap ^ invert. A quarter with i ≠ j has the high bit i ^ W, leaves W alone, and toggles
    /// V if i ^ W. A quarter with i = j has the high bit i ^ V, leaves V alone, and toggles W unless i ^ V. So each
    /// level maps (V, W) affinely over two bits, and the state at every level is a prefix product of affine maps, taken
    /// for all 30 levels at once in five doubling steps.
    static func curvePosition(i: UInt32, j: UInt32, swapped: Bool) -> (high: UInt32, low: UInt32) {
        let mask = FaceIJ.limit - 1
        let differ = i ^ j
        // (V, W) → (aV ^ bW ^ e, cV ^ dW ^ f), one bit of each word per level.
        var (a, b, c, d) = (~UInt32(0), differ, ~differ, ~UInt32(0))
        var (e, f) = (differ & i, ~differ & ~i)
        var step: UInt32 = 1
        while step < 32 {
            // The maps of the levels above; where there is none, the identity.
            let none = ~(mask &>> step)
            let (a1, b1, c1, d1) = (
                (a & mask) &>> step | none, (b & mask) &>> step, (c & mask) &>> step, (d & mask) &>> step | none
            )
            let (e1, f1) = ((e & mask) &>> step, (f & mask) &>> step)
            (e, f) = (e ^ (a & e1) ^ (b & f1), f ^ (c & e1) ^ (d & f1))
            (a, b, c, d) = ((a & a1) ^ (b & c1), (a & b1) ^ (b & d1), (c & a1) ^ (d & c1), (c & b1) ^ (d & d1))
            step <<= 1
        }
        // The state *before* each level, from V = 0 and W = swapped at the top.
        let start: UInt32 = swapped ? ~0 : 0
        let v = ((e ^ (b & start)) & mask) &>> 1
        let w = ((f ^ (d & start)) & mask) &>> 1 | (start & (1 &<< 29))
        let high = (i ^ (differ & w) ^ (~differ & v)) & mask
        return (high, differ)
    }

    /// For every bit, the XOR of it and all bits above.
    static func prefixXOR(_ bits: UInt32) -> UInt32 {
        var x = bits
        x ^= x &>> 1
        x ^= x &>> 2
        x ^= x &>> 4
        x ^= x &>> 8
        x ^= x &>> 16
        return x
    }

    /// The bits of a word moved to the even places of a word twice as wide.
    static func spread(_ bits: UInt32) -> UInt64 {
        var x = UInt64(bits)
        x = (x | x &<< 16) & 0x0000_ffff_0000_ffff
        x = (x | x &<< 8) & 0x00ff_00ff_00ff_00ff
        x = (x | x &<< 4) & 0x0f0f_0f0f_0f0f_0f0f
        x = (x | x &<< 2) & 0x3333_3333_3333_3333
        x = (x | x &<< 1) & 0x5555_5555_5555_5555
        return x
    }

    /// The bits in the even places of a word, the inverse of `spread`.
    static func gather(_ bits: UInt64) -> UInt32 {
        var x = bits & 0x5555_5555_5555_5555
        x = (x | x &>> 1) & 0x3333_3333_3333_3333
        x = (x | x &>> 2) & 0x0f0f_0f0f_0f0f_0f0f
        x = (x | x &>> 4) & 0x00ff_00ff_00ff_00ff
        x = (x | x &>> 8) & 0x0000_ffff_0000_ffff
        x = (x | x &>> 16) & 0x0000_0000_ffff_ffff
        return UInt32(truncatingIfNeeded: x)
    }
}
