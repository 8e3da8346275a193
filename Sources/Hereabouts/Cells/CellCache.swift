/// A direct-mapped cache of recent cells' values, for one thread. Interleaved devices return to their own cells again
/// and again: with a thousand of them in turn, this takes 11 % off the time of `snap`.
@safe package struct CellCache: ~Copyable {
    /// Slots; 8 bytes each, so 64 KiB, which fits the L2 cache.
    private static let count = 8192
    /// The hit rate is measured over `trial` blocks; below 1 in 8 the cache is bypassed for `bypass` blocks.
    private static let trial = 128, bypass = 1024

    let file: AtlasFile
    // SAFETY: `count` words, initialized, freed in deinit. A cell and its key within the cell (33 bits) above the value
    // of a block's leader (24 bits); all ones for none.
    private let words: UnsafeMutablePointer<UInt64>
    private var blocks = 0
    private var asked = 0, hits = 0

    package init(_ atlas: Atlas) {
        file = atlas.file
        unsafe words = .allocate(capacity: Self.count)
        unsafe words.initialize(repeating: .max, count: Self.count)
    }

    deinit {
        unsafe words.deallocate()
    }

    /// Writes the cached values of leaders and lists the misses as asked.
    ///
    /// - Returns: how many misses there are.
    mutating func recall(_ block: borrowing CellBlock, _ leaderCount: Int) -> Int {
        blocks &+= 1
        if blocks > Self.trial { blocks = asked > 8 * hits ? -Self.bypass : 0; (asked, hits) = (0, 0) }
        if blocks < 0 { return block.askAll(leaderCount) }
        var misses = 0
        for leader in 0..<leaderCount {
            // SAFETY: leaders are points of the block, and no more are misses than there are.
            let tag = unsafe Self.tag(block, block.leaders[leader])
            let word = unsafe words[Self.slot(tag)]
            unsafe block.values[leader] = UInt32(truncatingIfNeeded: word & 0xff_ffff)
            unsafe block.asked[misses] = UInt32(truncatingIfNeeded: leader)
            misses &+= word &>> 24 == tag ? 0 : 1
        }
        asked &+= leaderCount
        hits &+= leaderCount &- misses
        return misses
    }

    /// Stores the values of the misses.
    func learn(_ block: borrowing CellBlock, _ askedCount: Int) {
        if blocks < 0 { return }
        for index in 0..<askedCount {
            // SAFETY: as in `recall`.
            let leader = unsafe Int(block.asked[index])
            let tag = unsafe Self.tag(block, block.leaders[leader])
            unsafe words[Self.slot(tag)] = tag &<< 24 | UInt64(block.values[leader])
        }
    }

    @inline(__always)
    private static func tag(_ block: borrowing CellBlock, _ point: UInt32) -> UInt64 {
        unsafe UInt64(block.cells[Int(point)]) &<< 16 | UInt64(block.keys[Int(point)])
    }

    /// A cell's slot, by Fibonacci hashing.
    @inline(__always)
    private static func slot(_ tag: UInt64) -> Int {
        Int((tag &* 0x9e37_79b9_7f4a_7c15) &>> UInt64(64 - count.trailingZeroBitCount))
    }
}
