/// The header of an atlas file, checked.
struct AtlasHeader {
    let regionCount, countryCount, nameCount: Int
    let steadiness, anonymity, smallestAccuracy, largestAccuracy, largestEmptyAccuracy: UInt32
    let sections: [Range<Int>]

    init(_ file: AtlasFile) throws(AtlasError) {
        // SAFETY: the file is at least as long as a header.
        let bytes = unsafe AtlasBytes(start: file.bytes.baseAddress!, count: file.bytes.count)
        for (offset, byte) in AtlasLayout.magic.enumerated() where bytes.byte(offset) != byte { throw .notAnAtlas }
        let version = bytes.uint32(0x08)
        guard version == AtlasLayout.version else { throw .unsupportedVersion(version) }
        guard bytes.uint32(0x0c) == AtlasLayout.headerSize else { throw .malformedHeader }
        guard bytes.uint64(0x10) == UInt64(bytes.count), bytes.count % 8 == 0,
            file.contentEnd >= AtlasLayout.headerSize
        else { throw .wrongSize }
        guard file.tableChecksum() == file.checksum else { throw .checksumMismatch }
        try file.prove(AtlasLayout.chunkStart..<AtlasLayout.headerSize)
        regionCount = Int(bytes.uint32(0x20))
        countryCount = Int(bytes.uint32(0x24))
        nameCount = Int(bytes.uint32(0x28))
        steadiness = bytes.uint32(0x2c)
        anonymity = bytes.uint32(0x30)
        smallestAccuracy = bytes.uint32(0x34)
        largestAccuracy = bytes.uint32(0x38)
        largestEmptyAccuracy = bytes.uint32(0x3c)
        guard (1...AtlasLayout.maximumRegions).contains(regionCount),
            (1...AtlasLayout.maximumCountries).contains(countryCount), nameCount <= AtlasLayout.maximumNames,
            steadiness <= 10_000
        else { throw .malformedHeader }
        sections = try Self.sections(bytes, end: file.contentEnd)
        let least = [
            AtlasLayout.topCount * 4, 0, 0, regionCount * 8, regionCount * 4, regionCount * 2, (nameCount + 1) * 4,
            countryCount * 8,
        ]
        for (section, size) in zip(sections, least) where section.count < size { throw .malformedHeader }
        for section in [AtlasLayout.Section.blocks, .cuts] where sections[section.rawValue].count % 4 != 0 {
            throw .malformedHeader
        }
        guard sections[AtlasLayout.Section.blocks.rawValue].count <= AtlasLayout.maximumBlockBytes else {
            throw .malformedHeader
        }
    }

    private static func sections(_ bytes: AtlasBytes, end: Int) throws(AtlasError) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        var next = AtlasLayout.headerSize
        for section in AtlasLayout.Section.allCases {
            let at = 0x40 + section.rawValue * 16
            let offset = bytes.uint64(at), size = bytes.uint64(at + 8)
            guard offset == UInt64(next), size <= UInt64(end - next) else { throw .malformedHeader }
            ranges.append(next..<next + Int(size))
            next = (next + Int(size) + 7) & ~7
            guard next <= end else { throw .malformedHeader }
        }
        guard next == end else { throw .wrongSize }
        return ranges
    }
}

// Nothing of the file is used before it is proven: that its bytes match their checksum, and that no look-up can leave
// its table. What a level-7 cell leads to (a block, its cuts, their regions' places and labels) is proven as one, and
// its top entry is then known; texts are proven each time they are read.
extension Atlas {
    /// Proves all of the file. Linear in its size.
    func proveAll() throws(AtlasError) {
        try file.prove(AtlasLayout.chunkStart..<file.contentEnd)
        for cell in 0..<AtlasLayout.topCount {
            // Blocks are in the order of their cells along a curve, of which the table's is not.
            blocks.prefetch(Int(top.uint32(min(cell + 16, AtlasLayout.topCount - 1) * 4) & ~AtlasLayout.isUniform) * 4)
            _ = try prove(cell: cell)
        }
        for group in 0...(regionCount - 1) / AtlasLayout.groupSize { try prove(group: group) }
        guard names.uint32(0) == 0 else { throw .malformed(section: "names") }
        for name in 0..<nameCount { _ = try provenName(name) }
    }

    /// Proves what a level-7 cell leads to.
    ///
    /// - Returns: the cell's entry, as it is from now on in `entries`.
    func prove(cell: Int) throws(AtlasError) -> UInt32 {
        try prove(top, cell * 4..<cell * 4 + 4)
        var entry = top.uint32(cell * 4)
        if entry & AtlasLayout.isUniform != 0 {
            try prove(region: entry & ~AtlasLayout.isUniform, of: .top)
        } else {
            // This bit is ours, and no part of an offset in a section of the largest size.
            guard entry & AtlasLayout.isProven == 0 else { throw .malformed(section: "top") }
            try prove(block: Int(entry) * 4)
            entry |= AtlasLayout.isProven
        }
        entries[cell] = entry
        return entry
    }

    /// Where in a section the chunk ends that an offset of it is in.
    private func chunkEnd(_ section: AtlasBytes, _ offset: Int) -> Int {
        let start = unsafe section.start - file.bytes.baseAddress!
        return file.chunkEnd(offset: start + offset) - start
    }

    /// Proves that the bytes of a part of a section match their checksums.
    @inline(__always)
    private func prove(_ section: AtlasBytes, _ range: Range<Int>) throws(AtlasError) {
        let start = unsafe section.start - file.bytes.baseAddress!
        try file.prove(start &+ range.lowerBound..<start &+ range.upperBound)
    }

    private func prove(block root: Int) throws(AtlasError) {
        guard root % AtlasLayout.nodeSize == 0, root < blocks.count else { throw .malformed(section: "top") }
        var room = BlockWalk()
        // SAFETY: used within the call only.
        unsafe try withUnsafeMutableBytes(of: &room) { room throws(AtlasError) in
            let nodes = unsafe room.baseAddress!.assumingMemoryBound(to: UInt64.self)
            let values = unsafe (room.baseAddress! + MemoryLayout<SIMD32<UInt64>>.size)
                .assumingMemoryBound(to: UInt32.self)
            unsafe try prove(block: root, nodes: nodes, values: values)
        }
    }

    /// For each quarter of each quarter of a node one more than its position in the list, or 0 where it has none.
    @inline(__always)
    private func quartetCounts(_ node: Int) -> SIMD16<UInt8> {
        let entries = blocks.fourUInt32(node)
        // From every seventh bit to every eighth.
        var bytes = entries & 0x7f | (entries & 0x3f80) &<< 1
        bytes |= (entries & 0x1f_c000) &<< 2 | (entries & 0xfe0_0000) &<< 3
        bytes = (bytes &+ 0x0101_0101).replacing(with: 0, where: entries &>> 30 .!= 1)
        return unsafe unsafeBitCast(bytes, to: SIMD16<UInt8>.self)
    }

    /// Room for the proof of a block: 32 nodes and 64 values.
    private struct BlockWalk {
        private var nodes = SIMD32<UInt64>()
        private var values = SIMD64<UInt32>()
    }

    /// What an entry of a node is cannot be guessed, so that all is done for each that would have to be done for any.
    ///
    /// - Parameters:
    ///   - nodes: nodes yet to be met, the next one last, each with its level above its number. At most three on each
    ///     level wait for the one that is gone through.
    ///   - values: values of leaves yet to be proven.
    private func prove(
        block root: Int, nodes: UnsafeMutablePointer<UInt64>, values: UnsafeMutablePointer<UInt32>
    ) throws(AtlasError) {
        // Where the next node must be: each has a place of its own, so that none is met twice.
        var next = root, matchingEnd = 0
        var waiting = 1, valueCount = 0
        // SAFETY: no node goes on below the eighth level, so that 3 × 8 + 1 wait at most; values are below 64.
        unsafe nodes[0] = UInt64(root / 4) | 1 << 32
        // One more than the largest positions in quartets, a byte for each position of a node.
        var listCounts = SIMD16<UInt8>()
        var isTooDeep: UInt32 = 0
        while waiting > 0 {
            waiting &-= 1
            let node = unsafe Int(nodes[waiting] & 0xffff_ffff) &* 4, level = unsafe nodes[waiting] &>> 32
            guard node == next, node &+ AtlasLayout.nodeSize <= blocks.count, level <= AtlasLayout.nodeLevels
            else { throw .malformed(section: "blocks") }
            if node >= matchingEnd {
                try prove(blocks, node..<node + AtlasLayout.nodeSize)
                matchingEnd = chunkEnd(blocks, node)
            }
            next = node &+ AtlasLayout.nodeSize
            let counts = quartetCounts(node)
            listCounts.replace(with: counts, where: counts .> listCounts)
            // On the last level every entry must be a leaf.
            let mustBeLeaf = level == AtlasLayout.nodeLevels ? AtlasLayout.isLeaf : 0
            for quarter in 0..<4 {
                // The last first, so that the first is the next to be met.
                let entry = blocks.uint32(node &+ (3 &- quarter) &* 4)
                isTooDeep |= ~entry & mustBeLeaf
                unsafe values[valueCount] = entry & 0xff_ffff
                valueCount &+= Int(entry &>> 31)
                unsafe nodes[waiting] = UInt64(entry) | (level &+ 1) &<< 32
                // One where neither bit is set.
                waiting &+= Int((entry | entry &<< 1) &>> 31 ^ 1)
            }
            if valueCount > 60 || waiting == 0 {
                for index in 0..<valueCount {
                    let value = unsafe values[index]
                    cuts.prefetch(value & AtlasLayout.isCut != 0 ? Int(value & 0x7f_ffff) &* 4 : 0)
                }
                for index in 0..<valueCount { try prove(value: unsafe values[index]) }
                valueCount = 0
            }
        }
        if isTooDeep != 0 { throw .malformed(section: "blocks") }
        let list = root - 3 * Int(listCounts.max())
        guard list >= 0 else { throw .malformed(section: "blocks") }
        try prove(blocks, list..<root)
        for item in stride(from: list, to: root, by: 3) { try prove(value: blocks.uint32(item) & 0xff_ffff) }
    }

    @inline(__always)
    private func prove(value: UInt32) throws(AtlasError) {
        if value & AtlasLayout.isCut == 0 {
            try prove(region: value, of: .blocks)
        } else {
            try prove(cut: Int(value & 0x7f_ffff) * 4)
        }
    }

    private func prove(cut at: Int) throws(AtlasError) {
        guard at + 8 <= cuts.count else { throw .malformed(section: "blocks") }
        try prove(cuts, at..<at + 8)
        let reader = CutReader(bytes: cuts, offset: at)
        guard let end = reader.checkedEnd() else { throw .malformed(section: "cuts") }
        try prove(cuts, at..<end)
        for code in 0..<1 << reader.rank { try prove(region: cuts.uint32(at + 4 + code * 4), of: .cuts) }
    }

    /// - Parameter section: where the region is named.
    @inline(__always)
    private func prove(region: UInt32, of section: AtlasLayout.Section) throws(AtlasError) {
        guard region < regionCount else { throw .malformed(section: section.name) }
        let group = Int(region) / AtlasLayout.groupSize
        if file.groups[group] == 0 { try prove(group: group) }
    }

    /// Proves the places and labels of regions that are numbered one after the other, as many as are worth one look.
    @inline(never)
    private func prove(group: Int) throws(AtlasError) {
        let first = group * AtlasLayout.groupSize, end = min(first + AtlasLayout.groupSize, regionCount)
        try prove(places, first * 8..<end * 8)
        try prove(labels, first * 4..<end * 4)
        // What is out of range makes a difference negative, and the sign stays.
        var place: Int64 = 0, label: Int32 = 0
        let nameCount = Int32(nameCount), lastCountry = Int32(countryCount - 1)
        for region in first..<end {
            let packed = places.uint64(region &* 8), names = labels.uint32(region &* 4)
            place |= 18_000_000 &- Int64(bitPattern: packed & 0x1ff_ffff)
            place |= 36_000_000 &- Int64(bitPattern: packed &>> 25 & 0x3ff_ffff)
            place |= Int64(bitPattern: packed &>> 51) &- 1
            label |= nameCount &- Int32(bitPattern: names & 0x3ffff)
            label |= lastCountry &- Int32(bitPattern: names &>> 19)
        }
        guard place >= 0 else { throw .malformed(section: "centers") }
        guard label >= 0 else { throw .malformed(section: "labels") }
        file.groups[group] = 1
    }

    /// Where a name is in its section.
    func provenName(_ name: Int) throws(AtlasError) -> Range<Int> {
        try prove(names, name * 4..<name * 4 + 8)
        let base = (nameCount + 1) * 4
        let start = Int(names.uint32(name * 4)), end = Int(names.uint32(name * 4 + 4))
        guard start <= end, end - start <= 255, end <= names.count - base else { throw .malformed(section: "names") }
        try prove(names, base + start..<base + end)
        return base + start..<base + end
    }

    /// Does what needs the bytes of a part of a section to match their checksums.
    @inline(__always)
    func proven(_ section: AtlasBytes, _ range: Range<Int>) {
        do throws(AtlasError) {
            try prove(section, range)
        } catch {
            file.stop(error)
        }
    }

    /// The entry of a level-7 cell that no look-up met before.
    @inline(never)
    func firstEntry(_ cell: Int) -> UInt32 {
        do throws(AtlasError) {
            return try prove(cell: cell)
        } catch {
            file.stop(error)
        }
    }
}
