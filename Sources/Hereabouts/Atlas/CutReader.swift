/// Reads the record of a cell that borders cut (`data/FORMAT.md`, "Cut").
///
/// Reads up to six bytes past the record's end. Those are in the file, as the section of places follows.
struct CutReader {
    private let bytes: AtlasBytes
    private let offset: Int
    let level: Int
    let rank: Int
    private let closingCount: Int
    private let chainCount: Int
    /// Bytes of a coordinate.
    private let width: Int
    private let firstClosing: Int

    @inline(__always)
    init(bytes: AtlasBytes, offset: Int) {
        self.bytes = bytes
        self.offset = offset
        let head = bytes.uint32(offset)
        level = Int(head & 0xff)
        rank = Int(head >> 8 & 0xff)
        closingCount = Int(head >> 16 & 0xff)
        chainCount = Int(head >> 24)
        width = level >= AtlasLayout.fineCutLevel ? 1 : 2
        firstClosing = offset + 4 + 4 << rank
    }

    @inline(__always)
    private func coordinate(_ at: Int) -> Int {
        // Two bytes are read in any case: a choice between two loads would be a branch.
        Int(bytes.uint16(at)) & (width == 1 ? 0xff : 0xffff)
    }

    /// The exclusive or of the codes of all edges and closings below a leaf cell.
    @inline(__always)
    func code(of leaf: FaceIJ) -> UInt8 {
        // In the units of the format a grid line v is at v·2^shift.
        let isFine = width == 1
        let mask = UInt32(1) &<< UInt32(30 &- level) &- 1, shift = isFine ? 31 - level : 19 - level
        let scale = isFine ? Int(AtlasLayout.fineGrid) : 1
        let x = (2 &* Int(leaf.i & mask) &+ 1) &* scale, y = (2 &* Int(leaf.j & mask) &+ 1) &* scale
        // v·2^shift < x if and only if v < column.
        let column = (x &+ (1 &<< shift) &- 1) &>> shift
        var code: UInt8 = 0
        var at = firstClosing
        for _ in 0..<closingCount {
            code ^= coordinate(at) < column ? bytes.byte(at &+ width) : 0
            at &+= width &+ 1
        }
        for _ in 0..<chainCount {
            let edgeCount = Int(bytes.byte(at)) &- 1, chainCode = bytes.byte(at &+ 1)
            let isOdd = isBelow(chain: at &+ 2, edgeCount, x: x, y: y, column: column, shift: shift)
            code ^= isOdd ? chainCode : 0
            at &+= 2 &+ (edgeCount &+ 1) &* 2 &* width
        }
        return code
    }

    /// Whether an odd number of a chain's edges are below a position.
    ///
    /// Few edges have the position's column between their ends, and only those are looked at closely. They are found
    /// by comparing the vertices of a word, four or two of them, at once: a lane for each vertex with its x in the
    /// lower half, and above it a flag that outlives the subtraction of the column if x is not less.
    @inline(__always)
    private func isBelow(chain: Int, _ edgeCount: Int, x: Int, y: Int, column: Int, shift: Int) -> Bool {
        let xs: UInt64 = width == 1 ? 0x00ff_00ff_00ff_00ff : 0x0000_ffff_0000_ffff
        let flags: UInt64 = width == 1 ? 0x0100_0100_0100_0100 : 0x0001_0000_0001_0000
        let columns = (width == 1 ? 0x0001_0001_0001_0001 : 0x0000_0001_0000_0001) &* UInt64(column)
        let laneCount = 4 / width, laneBits = 16 &* width, vertexSize = 2 &* width
        var isOdd = false
        var first = 0
        while first < edgeCount {
            let at = chain &+ first &* vertexSize
            let starts = ((bytes.uint64(at) & xs) | flags) &- columns
            let ends = ((bytes.uint64(at &+ vertexSize) & xs) | flags) &- columns
            let left = min(laneCount, edgeCount &- first)
            var crossing = (starts ^ ends) & flags & (UInt64.max &>> UInt64(64 &- left &* laneBits))
            while crossing != 0 {
                let edge = at &+ crossing.trailingZeroBitCount / laneBits &* vertexSize
                isOdd = isOdd != isBelow(edge: edge, x: x, y: y, shift: shift)
                crossing &= crossing &- 1
            }
            first &+= laneCount
        }
        return isOdd
    }

    /// Whether an edge, whose ends have the position between them, is below it.
    @inline(__always)
    private func isBelow(edge: Int, x: Int, y: Int, shift: Int) -> Bool {
        let x0 = coordinate(edge), y0 = coordinate(edge &+ width)
        let dx = coordinate(edge &+ 2 &* width) &- x0, dy = coordinate(edge &+ 3 &* width) &- y0
        let side = dx &* (y &- y0 &<< shift) &- dy &* (x &- x0 &<< shift)
        return (dx > 0 ? side : 0 &- side) >= 0
    }

    /// Where the record ends, before padding; nil where it breaks the format's rules or leaves the section.
    func checkedEnd() -> Int? {
        guard (AtlasLayout.topLevel...AtlasLayout.finestLevel).contains(level), (1...3).contains(rank) else {
            return nil
        }
        var at = firstClosing
        guard at <= bytes.count else { return nil }
        for _ in 0..<closingCount {
            guard at + width + 1 <= bytes.count, isValid(code: bytes.byte(at + width)) else { return nil }
            at += width + 1
        }
        for _ in 0..<chainCount {
            guard at + 2 <= bytes.count else { return nil }
            let count = Int(bytes.byte(at))
            guard count >= 2, isValid(code: bytes.byte(at + 1)) else { return nil }
            at += 2 + count * 2 * width
            guard at <= bytes.count else { return nil }
        }
        return at
    }

    private func isValid(code: UInt8) -> Bool { code != 0 && Int(code) < 1 << rank }
}
