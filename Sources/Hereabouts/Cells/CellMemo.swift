/// What look-ups found in the cells met last, for one thread: input of many devices in turn meets each one's cell again
/// and again, with the others' between.
@safe package struct CellMemo: ~Copyable {
    /// Cells remembered: each has one place, which it loses to the next that comes there. 64 KiB are still near.
    private static let count = 8192
    /// Blocks after which it is decided whether it helps, and for how many to do without where it does not.
    private static let trial = 128, rest = 1024

    let file: AtlasFile
    // SAFETY: `count` words, initialized, freed in deinit. A cell and its key within the cell (33 bits) above the value
    // of a block's leader (24 bits); all ones for none.
    private let words: UnsafeMutablePointer<UInt64>
    private var blocks = 0
    private var asked = 0, known = 0

    package init(_ atlas: Atlas) {
        file = atlas.file
        unsafe words = .allocate(capacity: Self.count)
        unsafe words.initialize(repeating: .max, count: Self.count)
    }

    deinit {
        unsafe words.deallocate()
    }

    /// Gives the leaders whose cells are known their values, and lists the others.
    ///
    /// - Returns: how many others there are.
    mutating func recall(_ block: borrowing CellBlock, _ leaderCount: Int) -> Int {
        blocks &+= 1
        if blocks > Self.trial { blocks = asked > 8 * known ? -Self.rest : 0; (asked, known) = (0, 0) }
        if blocks < 0 { return block.askAll(leaderCount) }
        var unknown = 0
        for leader in 0..<leaderCount {
            // SAFETY: leaders are points of the block, and no more are unknown than there are.
            let tag = unsafe Self.tag(block, block.leaders[leader])
            let word = unsafe words[Self.place(tag)]
            unsafe block.values[leader] = UInt32(truncatingIfNeeded: word & 0xff_ffff)
            unsafe block.asked[unknown] = UInt32(truncatingIfNeeded: leader)
            unknown &+= word &>> 24 == tag ? 0 : 1
        }
        asked &+= leaderCount
        known &+= leaderCount &- unknown
        return unknown
    }

    /// Remembers the values of the leaders that were not known.
    func learn(_ block: borrowing CellBlock, _ askedCount: Int) {
        if blocks < 0 { return }
        for index in 0..<askedCount {
            // SAFETY: as in `recall`.
            let leader = unsafe Int(block.asked[index])
            let tag = unsafe Self.tag(block, block.leaders[leader])
            unsafe words[Self.place(tag)] = tag &<< 24 | UInt64(block.values[leader])
        }
    }

    @inline(__always)
    private static func tag(_ block: borrowing CellBlock, _ point: UInt32) -> UInt64 {
        unsafe UInt64(block.cells[Int(point)]) &<< 16 | UInt64(block.keys[Int(point)])
    }

    /// Where a cell's word is: neighbors far apart.
    @inline(__always)
    private static func place(_ tag: UInt64) -> Int {
        Int((tag &* 0x9e37_79b9_7f4a_7c15) &>> UInt64(64 - count.trailingZeroBitCount))
    }
}
