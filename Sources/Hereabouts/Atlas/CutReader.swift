/// Reads the record of a cell that borders cut (`data/FORMAT.md`, "Cut").
///
/// Positions and products are `Int64` on every target. Bounds: coordinates are below 2¹⁶ and shifts at most 20 (one
/// byte) or 12 (two bytes), so positions are below 2²⁸ and the difference of two products below 2⁴⁶: it would not fit
/// the `Int` of a 32-bit target.
///
/// Reads up to six bytes past the record's end; those are in the file, as the section of centers follows.
struct CutReader {
    private let bytes: AtlasBytes
    private let offset: Int
    let level: Int
    let rank: Int
    private let closingCount: Int
    private let chainCount: Int
    /// Bytes per coordinate.
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
    private func coordinate(_ at: Int) -> Int64 {
        // Loads two bytes for either width: a choice of loads would be a branch.
        Int64(bytes.uint16(at)) & (width == 1 ? 0xff : 0xffff)
    }

    /// The index of the region of a code.
    @inline(__always)
    func region(ofCode code: Int) -> UInt32 { bytes.uint32(offset &+ 4 &+ code &* 4) }

    /// Whether a code is of a region: leaf cells of the cell may be of it then.
    func lists(_ region: UInt32) -> Bool { (0..<1 << rank).contains { self.region(ofCode: $0) == region } }

    /// Whether the same part of the cell is in a region as is in another of another atlas: the same lines, in the same bytes, and
    /// the same codes.
    func hasPart(of region: UInt32, as other: UInt32, of reader: CutReader) -> Bool {
        guard level == reader.level, rank == reader.rank, let end = validatedEnd(),
            let otherEnd = reader.validatedEnd(),
            end - firstClosing == otherEnd - reader.firstClosing,
            closingCount == reader.closingCount, chainCount == reader.chainCount
        else { return false }
        return (firstClosing..<end).allSatisfy {
            bytes.byte($0) == reader.bytes.byte($0 - firstClosing + reader.firstClosing)
        }
            && (0..<1 << rank).allSatisfy {
                (self.region(ofCode: $0) == region) == (reader.region(ofCode: $0) == other)
            }
    }

    /// The exclusive or of the codes of all edges and closings below a leaf cell.
    @inline(__always)
    func code(of leaf: FaceIJ) -> UInt8 {
        // In the units of the format a grid line v is at v·2^shift.
        let isFine = width == 1
        let mask = UInt32(1) &<< UInt32(30 &- level) &- 1, shift = Int64(isFine ? 31 - level : 19 - level)
        let scale: Int64 = isFine ? Int64(AtlasLayout.fineGrid) : 1
        let x = (2 &* Int64(leaf.i & mask) &+ 1) &* scale, y = (2 &* Int64(leaf.j & mask) &+ 1) &* scale
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
    /// Only edges whose ends have the position's column between them need the exact test, and those are few. SWAR finds
    /// them, four or two vertices to a word: each lane holds a vertex's x in its lower half and a flag above it, which
    /// survives the subtraction of the column if x is not less.
    @inline(__always)
    private func isBelow(chain: Int, _ edgeCount: Int, x: Int64, y: Int64, column: Int64, shift: Int64) -> Bool {
        let xs: UInt64 = width == 1 ? 0x00ff_00ff_00ff_00ff : 0x0000_ffff_0000_ffff
        let flags: UInt64 = width == 1 ? 0x0100_0100_0100_0100 : 0x0001_0000_0001_0000
        let columns = (width == 1 ? 0x0001_0001_0001_0001 : 0x0000_0001_0000_0001) &* UInt64(bitPattern: column)
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
    private func isBelow(edge: Int, x: Int64, y: Int64, shift: Int64) -> Bool {
        let x0 = coordinate(edge), y0 = coordinate(edge &+ width)
        let dx = coordinate(edge &+ 2 &* width) &- x0, dy = coordinate(edge &+ 3 &* width) &- y0
        let side = dx &* (y &- y0 &<< shift) &- dy &* (x &- x0 &<< shift)
        return (dx > 0 ? side : 0 &- side) >= 0
    }

    /// Steps of the grid along the cell's side.
    var gridSize: Double { Double(width == 1 ? AtlasLayout.fineGrid : AtlasLayout.coarseGrid) }

    /// Calls with the ends of each edge, in steps of the grid, and its code; and with the column and the code of each closing.
    func forEachEdge(
        _ body: (_ x0: Double, _ y0: Double, _ x1: Double, _ y1: Double, _ code: UInt8) -> Void,
        closing: (_ x: Double, _ code: UInt8) -> Void
    ) {
        var at = firstClosing
        for _ in 0..<closingCount {
            closing(Double(coordinate(at)), bytes.byte(at + width))
            at += width + 1
        }
        for _ in 0..<chainCount {
            let count = Int(bytes.byte(at)), code = bytes.byte(at + 1)
            at += 2
            for _ in 1..<count {
                let x = at, y = at + width, next = at + 2 * width
                body(
                    Double(coordinate(x)), Double(coordinate(y)), Double(coordinate(next)),
                    Double(coordinate(next + width)),
                    code)
                at = next
            }
            at += 2 * width
        }
    }

    /// Validates the record: its end before padding; nil if it breaks the format's rules or leaves the section.
    func validatedEnd() -> Int? {
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
