/// The working arrays of a batched lookup, structure of arrays, `CellKernel.blockSize` entries each.
///
/// A view of `CellBlock.Storage` on the caller's stack: a batch allocates nothing.
@safe struct CellBlock: ~Copyable {
    // SAFETY: every pointer is to `CellKernel.blockSize` entries of the storage, which outlives the view.

    /// Position of the level-7 cell in the top table, of every point.
    let cells: UnsafeMutablePointer<UInt32>
    /// Key within that cell (`AtlasLayout.key`).
    let keys: UnsafeMutablePointer<UInt32>
    /// i of the leaf cell.
    let columns: UnsafeMutablePointer<UInt32>
    /// j of the leaf cell.
    let rows: UnsafeMutablePointer<UInt32>
    /// The points that are in another finest cell than the point before: only these are looked up.
    let leaders: UnsafeMutablePointer<UInt32>
    /// The position in `leaders` of each point's leader.
    let leaderOf: UnsafeMutablePointer<UInt32>
    /// The leaders to look up, by position in `leaders`.
    let asked: UnsafeMutablePointer<UInt32>
    /// The table value of each leader: a region or a cut.
    let values: UnsafeMutablePointer<UInt32>
    /// Those that go on to the next level, by position in `descending`; later the points in cut cells.
    let pending: UnsafeMutablePointer<UInt32>
    /// The asked leaders in divided level-7 cells, by position in `leaders`: they descend a block's tree.
    let descending: UnsafeMutablePointer<UInt32>
    /// The key of each that descends.
    let paths: UnsafeMutablePointer<UInt32>
    /// The offset of its block's root, for each that descends.
    let roots: UnsafeMutablePointer<Int>
    /// The offset of the node to read next, or at last of the value, for each that descends.
    let nodes: UnsafeMutablePointer<Int>

    /// Memory for the thirteen arrays.
    struct Storage {
        // 64 entries each: `CellKernel.blockSize`.
        private var words: (W, W, W, W, W, W, W, W, W, W, W) = (
            W(), W(), W(), W(), W(), W(), W(), W(), W(), W(), W()
        )
        private var offsets: (SIMD64<Int>, SIMD64<Int>) = (SIMD64(), SIMD64())
        private typealias W = SIMD64<UInt32>
    }

    /// - Parameter storage: the start of a `Storage`.
    init(_ storage: UnsafeMutableRawPointer) {
        let words = unsafe storage.assumingMemoryBound(to: UInt32.self), count = CellKernel.blockSize
        unsafe cells = words
        unsafe keys = words + count
        unsafe columns = words + 2 * count
        unsafe rows = words + 3 * count
        unsafe leaders = words + 4 * count
        unsafe leaderOf = words + 5 * count
        unsafe values = words + 6 * count
        unsafe pending = words + 7 * count
        unsafe descending = words + 8 * count
        unsafe asked = words + 9 * count
        unsafe paths = words + 10 * count
        let offsets = unsafe (storage + MemoryLayout<SIMD64<UInt32>>.size * 11).assumingMemoryBound(to: Int.self)
        unsafe roots = offsets
        unsafe nodes = offsets + count
    }

    /// The leaf cell of a point.
    @inline(__always)
    func leaf(_ point: Int) -> FaceIJ {
        unsafe FaceIJ(face: UInt8(truncatingIfNeeded: cells[point] >> 14), i: columns[point], j: rows[point])
    }

    /// Sets the cell coordinates of a point.
    func put(_ leaf: FaceIJ, at point: Int) {
        unsafe cells[point] = UInt32(leaf.face) << 14 | (leaf.i >> 23) << 7 | leaf.j >> 23
        unsafe keys[point] = AtlasLayout.key(i: leaf.i, j: leaf.j)
        unsafe columns[point] = leaf.i
        unsafe rows[point] = leaf.j
    }

    /// Lists all leaders as asked; returns how many.
    @inline(__always)
    func askAll(_ leaderCount: Int) -> Int {
        for leader in 0..<leaderCount { unsafe asked[leader] = UInt32(truncatingIfNeeded: leader) }
        return leaderCount
    }

    /// Lists the leaders of the first `count` points; returns how many.
    @inline(__always)
    func findLeaders(_ count: Int) -> Int {
        var found = 0
        var cell = UInt32.max, key = UInt32.max
        for point in 0..<count {
            let (nextCell, nextKey) = unsafe (cells[point], keys[point])
            // Unpredictable, so branch-free: always written, and kept if the cell differs.
            unsafe leaders[found] = UInt32(truncatingIfNeeded: point)
            found &+= (cell ^ nextCell) | (key ^ nextKey) == 0 ? 0 : 1
            unsafe leaderOf[point] = UInt32(truncatingIfNeeded: found &- 1)
            (cell, key) = (nextCell, nextKey)
        }
        return found
    }
}
