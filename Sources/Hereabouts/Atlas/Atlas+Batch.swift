internal import CKernels

extension Atlas {
    /// The circle published for a region: public information, which prints in full.
    public struct Circle: Hashable, Sendable, CustomStringConvertible {
        /// The center, to 1e-5 degrees; both not a number for `Region.invalid`.
        public var coordinate: Coordinate
        /// Meters; not a number for `Region.invalid`.
        public var horizontalAccuracy: Double

        /// Makes a circle of the two as they are.
        @inlinable
        public init(coordinate: Coordinate, horizontalAccuracy: Double) {
            self.coordinate = coordinate
            self.horizontalAccuracy = horizontalAccuracy
        }

        /// Latitude and longitude in degrees, accuracy in meters.
        public var description: String { "(\(coordinate.latitude), \(coordinate.longitude)) ± \(horizontalAccuracy) m" }
    }

    /// The regions of many positions, in order and without marks; `Region.invalid` for an invalid coordinate. For code
    /// inside the package; the public form is `regions(at:into:)`.
    ///
    /// - Precondition: `regions` is as long as `coordinates`.
    /// - Complexity: linear; no allocation, no lock.
    package func snap(
        _ coordinates: UnsafeBufferPointer<Coordinate>, into regions: UnsafeMutableBufferPointer<Region>
    ) {
        precondition(coordinates.count == regions.count, "a region for every coordinate")
        unsafe snap(coordinates, into: regions, with: .selected) { _, _ in }
    }

    /// The same regions, looking up cells in a cache of recent cells first: for interleaved devices, each of which
    /// mostly stays in its cell.
    package func snap(
        _ coordinates: UnsafeBufferPointer<Coordinate>, into regions: UnsafeMutableBufferPointer<Region>,
        cache: inout CellCache
    ) {
        precondition(coordinates.count == regions.count, "a region for every coordinate")
        precondition(cache.file === file, "a cache of this atlas")
        unsafe eachBlock(coordinates, regions) { coordinates, found, _, block in
            unsafe snap(coordinates, into: found, block, cache: &cache)
        }
    }

    /// Reads the circles of a block's regions.
    ///
    /// - Parameters:
    ///   - circles: as many as the batch has positions.
    ///   - start: the block's offset in the batch.
    @inline(__always)
    func readCircles(
        of block: UnsafeMutableBufferPointer<Region>, into circles: UnsafeMutableBufferPointer<Circle>, from start: Int
    ) {
        for point in 0..<block.count { unsafe places.prefetch(Int(block[point].index) &* 8) }
        // SAFETY: the block is the part of the batch from `start` on.
        for point in 0..<block.count { unsafe circles[start &+ point] = unsafe circle(at: block[point].index) }
    }

    /// How many regions `withPublished` takes at once.
    package static var blockSize: Int { CellKernel.blockSize }

    /// Calls `body` with what is published for each of up to `blockSize` regions, in order. The same as one by one, but
    /// cache misses overlap and cells are computed together. Allocates nothing.
    package func withPublished(_ regions: UnsafeBufferPointer<Region>, _ body: (Region, Published) -> Void) {
        unsafe regions.forEach {
            places.prefetch(checked($0) * 8)
            labels.prefetch(checked($0) * 4)
        }
        unsafe regions.forEach { prefetchName(of: $0, itself: false) }
        unsafe regions.forEach { prefetchName(of: $0, itself: true) }
        unsafe withCenters(regions) { region, packed, cell in body(region, published(region, packed, cell)) }
    }

    /// Calls `body` with the circle and the identifier of each of up to `blockSize` regions, in order, and reads no texts.
    package func withCircles(_ regions: UnsafeBufferPointer<Region>, _ body: (Region, Circle, RegionID) -> Void) {
        unsafe regions.forEach { places.prefetch(checked($0) * 8) }
        unsafe withCenters(regions) { region, packed, cell in body(region, circle(packed), RegionID(cell: cell)) }
    }

    /// Calls `body` with the record of the center of each of up to `blockSize` regions, and the cell that holds it.
    @inline(__always)
    private func withCenters(_ regions: UnsafeBufferPointer<Region>, _ body: (Region, UInt64, CellID) -> Void) {
        precondition(regions.count <= Self.blockSize, "a block of regions")
        var storage = CellBlock.Storage()
        // SAFETY: the block and the centers are used within the call only, and there are no more regions than a block
        // has.
        unsafe withUnsafeMutableBytes(of: &storage) { bytes in
            let block = unsafe CellBlock(bytes.baseAddress!)
            unsafe withUnsafeTemporaryAllocation(of: Coordinate.self, capacity: Self.blockSize) { centers in
                for index in 0..<regions.count {
                    unsafe centers.initializeElement(
                        at: index, to: center(places.uint64(checked(regions[index]) * 8)))
                }
                _ = unsafe CellKernel.selected.locate(
                    UnsafeBufferPointer(rebasing: centers[..<regions.count]), into: block)
            }
            for index in 0..<regions.count {
                let region = unsafe regions[index], leaf = block.leaf(index)
                let cell = CellID(face: Int(leaf.face), i: leaf.i, j: leaf.j, level: RegionID.level)
                body(region, places.uint64(checked(region) * 8), cell)
            }
        }
        withExtendedLifetime(file) {}
    }

    /// The circle of a region by its index from a lookup; not a number for `Region.noIndex`.
    @inline(__always)
    private func circle(at index: UInt32) -> Circle {
        guard index != Region.noIndex else {
            return Circle(coordinate: Coordinate(latitude: .nan, longitude: .nan), horizontalAccuracy: .nan)
        }
        return circle(places.uint64(Int(index) &* 8))
    }

    /// The circle in a record of the centers section.
    @inline(__always)
    func circle(_ packed: UInt64) -> Circle { Circle(coordinate: center(packed), horizontalAccuracy: accuracy(packed)) }

    /// The regions of many positions; calls `then` after each block with its offset and regions.
    @inline(__always)
    func snap(
        _ coordinates: UnsafeBufferPointer<Coordinate>, into regions: UnsafeMutableBufferPointer<Region>,
        with kernel: CellKernel, then: (Int, UnsafeMutableBufferPointer<Region>) -> Void
    ) {
        unsafe eachBlock(coordinates, regions) { coordinates, found, start, block in
            unsafe snap(coordinates, into: found, block, kernel)
            unsafe then(start, found)
        }
    }

    // MARK: A block

    /// Calls `body` for consecutive blocks of up to 64 positions, with the offset of the first.
    @inline(__always)
    private func eachBlock(
        _ coordinates: UnsafeBufferPointer<Coordinate>, _ regions: UnsafeMutableBufferPointer<Region>,
        _ body: (
            UnsafeBufferPointer<Coordinate>, UnsafeMutableBufferPointer<Region>, Int, borrowing CellBlock
        ) -> Void
    ) {
        var storage = CellBlock.Storage()
        // SAFETY: the block is used within the call only; the slices lie within buffers of equal length.
        unsafe withUnsafeMutableBytes(of: &storage) { bytes in
            let block = unsafe CellBlock(bytes.baseAddress!)
            var start = 0
            while start < coordinates.count {
                let range = start..<min(start &+ CellKernel.blockSize, coordinates.count)
                unsafe body(
                    UnsafeBufferPointer(rebasing: coordinates[range]),
                    UnsafeMutableBufferPointer(rebasing: regions[range]), start, block)
                start = range.upperBound
            }
        }
    }

    /// Each step runs for all positions before the next step, and prefetches what the next step reads.
    @inline(never)
    private func snap(
        _ coordinates: UnsafeBufferPointer<Coordinate>, into regions: UnsafeMutableBufferPointer<Region>,
        _ block: borrowing CellBlock, _ kernel: CellKernel
    ) {
        let invalid = unsafe kernel.locate(coordinates, into: block)
        readNodes(block, readTop(block, block.askAll(block.findLeaders(coordinates.count))))
        unsafe readCuts(block, regions, invalid)
    }

    @inline(never)
    private func snap(
        _ coordinates: UnsafeBufferPointer<Coordinate>, into regions: UnsafeMutableBufferPointer<Region>,
        _ block: borrowing CellBlock, cache: inout CellCache
    ) {
        let invalid = unsafe CellKernel.selected.locate(coordinates, into: block)
        let asked = cache.recall(block, block.findLeaders(coordinates.count))
        readNodes(block, readTop(block, asked))
        cache.learn(block, asked)
        unsafe readCuts(block, regions, invalid)
    }

    /// Writes the values of leaders in cells of one region; the others descend from their blocks' roots.
    ///
    /// - Returns: how many descend.
    @inline(__always)
    private func readTop(_ block: borrowing CellBlock, _ askedCount: Int) -> Int {
        var descending = 0
        for index in 0..<askedCount {
            // SAFETY: leaders are points of the block, and no more of them descend than there are.
            let leader = unsafe Int(block.asked[index]), point = unsafe Int(block.leaders[leader])
            let cell = unsafe Int(block.cells[point])
            var entry = entries[cell]
            if entry == 0 { entry = firstEntry(cell) }
            unsafe block.values[leader] = entry & 0xff_ffff
            if entry & AtlasLayout.isUniform != 0 { continue }
            let root = Int(entry & ~AtlasLayout.isValidated) &* 4
            unsafe block.descending[descending] = UInt32(truncatingIfNeeded: leader)
            unsafe block.paths[descending] = block.keys[point]
            unsafe block.pending[descending] = UInt32(truncatingIfNeeded: descending)
            unsafe block.roots[descending] = root
            unsafe block.nodes[descending] = root
            prefetch(node: root)
            descending &+= 1
        }
        return descending
    }

    /// Writes the values of the leaders that descend, level by level: one is done when it reaches one value or four.
    @inline(__always)
    private func readNodes(_ block: borrowing CellBlock, _ descendingCount: Int) {
        var pendingCount = descendingCount
        var shift = UInt32(AtlasLayout.nodeLevels) &* 2 &- 2
        while pendingCount > 0 {
            var next = 0
            for index in 0..<pendingCount {
                // SAFETY: what is pending descends, and no more stays pending than is. The entry kind is unpredictable, so
                // the loop is branch-free: it computes where all three outcomes are read, and keeps one.
                let pending = unsafe Int(block.pending[index])
                let (key, node) = unsafe (block.paths[pending], block.nodes[pending])
                let quarter = blocks.byte(node &+ Int(key &>> shift & 3))
                let (entry, place) = entry(of: quarter, inNode: node)
                // Each 1 or 0, and at most one of the last two is 1.
                let isPlace = UInt32(quarter &>> 7)
                let isLeaf = isPlace & entry &>> 31
                let isDivided = isPlace & ((entry | entry &<< 1) &>> 31 ^ 1)
                let item = unsafe listed(
                    in: block.roots[pending],
                    chosen(UInt32(quarter), position(in: entry, key &>> (shift &- 2)), isPlace))
                let read = chosen(chosen(item, place, Int(isLeaf)), Int(entry) &* 4, Int(isDivided))
                unsafe block.nodes[pending] = read
                unsafe block.pending[next] = UInt32(truncatingIfNeeded: pending)
                prefetch(node: read)
                next &+= Int(isDivided)
            }
            pendingCount = next
            shift &-= 2
        }
        for index in 0..<descendingCount {
            // SAFETY: who descends is a leader.
            unsafe block.values[Int(block.descending[index])] = blocks.uint32(block.nodes[index]) & 0xff_ffff
        }
    }

    /// Prefetches a node with all its entries, which may lie in two cache lines: random land takes 20 % less time
    /// where neighbors share the cache.
    @inline(__always)
    private func prefetch(node: Int) {
        blocks.prefetch(node)
        blocks.prefetch(node &+ AtlasLayout.largestNode &- 4)
    }

    /// Writes the regions of all points from their leaders' values; `Region.invalid` where a bit is set in `invalid`.
    @inline(__always)
    private func readCuts(
        _ block: borrowing CellBlock, _ regions: UnsafeMutableBufferPointer<Region>, _ invalid: UInt64
    ) {
        var cut = 0
        for point in 0..<regions.count {
            // SAFETY: `leaderOf` holds leaders; there are as many regions as points and at most as many cuts.
            let value = unsafe block.values[Int(block.leaderOf[point])]
            unsafe regions[point] = Region(index: value)
            unsafe block.pending[cut] = UInt32(truncatingIfNeeded: point)
            let isCut = value & AtlasLayout.isCut != 0
            cut &+= isCut ? 1 : 0
        }
        for index in 0..<cut {
            // SAFETY: points are below the number of regions. Most records fit in two cache lines.
            let record = unsafe cutOffset(regions[Int(block.pending[index])].bits)
            cuts.prefetch(record)
            cuts.prefetch(record &+ 64)
        }
        for index in 0..<cut {
            // SAFETY: points are below the number of regions.
            let point = unsafe Int(block.pending[index])
            let record = unsafe cutOffset(regions[point].bits)
            unsafe regions[point] = Region(index: region(inCut: record, block.leaf(point)))
        }
        var rest = invalid
        while rest != 0 {
            // SAFETY: the kernel sets bits of points it was given.
            unsafe regions[rest.trailingZeroBitCount] = .invalid
            rest &= rest &- 1
        }
    }
}
