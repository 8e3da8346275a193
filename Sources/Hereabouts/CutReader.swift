/// Reads the record of a cell that borders cut (`data/FORMAT.md`, "Cut").
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
    private func coordinate(_ at: Int) -> Int64 {
        width == 1 ? Int64(bytes.byte(at)) : Int64(bytes.uint16(at))
    }

    /// The exclusive or of the codes of all edges and closings below a leaf cell.
    @inline(__always)
    func code(of leaf: FaceIJ) -> UInt8 {
        let mask = UInt32(1) << UInt32(30 - level) &- 1
        let scale = width == 1 ? Int64(AtlasLayout.fineGrid) : 1
        let unit = width == 1 ? Int64(2) << Int64(30 - level) : Int64(2) << Int64(30 - level) / Int64(AtlasLayout.coarseGrid)
        let x = (2 * Int64(leaf.i & mask) + 1) * scale, y = (2 * Int64(leaf.j & mask) + 1) * scale
        var code: UInt8 = 0
        var at = firstClosing
        for _ in 0..<closingCount {
            if coordinate(at) &* unit < x { code ^= bytes.byte(at + width) }
            at += width + 1
        }
        for _ in 0..<chainCount {
            let count = Int(bytes.byte(at)), chainCode = bytes.byte(at + 1)
            at += 2
            var x0 = coordinate(at) &* unit, y0 = coordinate(at + width) &* unit
            for _ in 1..<count {
                at += 2 * width
                let x1 = coordinate(at) &* unit, y1 = coordinate(at + width) &* unit
                if (x0 < x) != (x1 < x) {
                    let side = (x1 &- x0) &* (y &- y0) &- (y1 &- y0) &* (x &- x0)
                    if x1 > x0 ? side >= 0 : side <= 0 { code ^= chainCode }
                }
                (x0, y0) = (x1, y1)
            }
            at += 2 * width
        }
        return code
    }

    /// Where the record ends, before padding; nil where it breaks the format's rules or leaves the section.
    func checkedEnd(regionCount: Int) -> Int? {
        guard (AtlasLayout.topLevel...AtlasLayout.finestLevel).contains(level), (1...3).contains(rank) else { return nil }
        var at = firstClosing
        guard at <= bytes.count else { return nil }
        for code in 0..<(1 << rank) where bytes.uint32(offset + 4 + code * 4) >= regionCount { return nil }
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
