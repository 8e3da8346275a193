/// The validated header of an atlas file.
struct AtlasHeader {
    let regionCount, countryCount, nameCount: Int
    let steadiness, anonymity, smallestAccuracy, largestAccuracy, largestEmptyAccuracy, largestLeftoverAccuracy: UInt32
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
        try file.validate(AtlasLayout.chunkStart..<AtlasLayout.headerSize)
        regionCount = Int(clamping: bytes.uint32(0x20))
        countryCount = Int(clamping: bytes.uint32(0x24))
        nameCount = Int(clamping: bytes.uint32(0x28))
        steadiness = bytes.uint32(0x2c)
        anonymity = bytes.uint32(0x30)
        smallestAccuracy = bytes.uint32(0x34)
        largestAccuracy = bytes.uint32(0x38)
        largestEmptyAccuracy = bytes.uint32(0x3c)
        largestLeftoverAccuracy = bytes.uint32(0x40)
        guard (1...AtlasLayout.maximumRegions).contains(regionCount),
            (1...AtlasLayout.maximumCountries).contains(countryCount), nameCount <= AtlasLayout.maximumNames,
            steadiness <= 10_000, bytes.uint32(0x44) == 0
        else { throw .malformedHeader }
        sections = try Self.sections(bytes, end: file.contentEnd)
        let minimumSizes = [
            AtlasLayout.topCount * 4, 0, 0, regionCount * 8, regionCount * 4, regionCount * 2, regionCount,
            (nameCount + 1) * 4, countryCount * 8,
        ]
        for (section, size) in zip(sections, minimumSizes) where section.count < size { throw .malformedHeader }
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
            let at = AtlasLayout.sectionTable + section.rawValue * 16
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

// Lazy validation. A part of the file is used only after its bytes match their checksum and every offset in it stays
// within its table. The unit is a level-7 cell with all it leads to (a block, its cuts, the records of their regions);
// its top entry then goes into the once-table. Texts are validated each time they are read.
extension Atlas {
    /// Validates the whole file, or what is left of it: an atlas opened with `Validation.onFirstUse` finds no damage
    /// afterwards.
    ///
    /// - Throws: `AtlasError`, the first damage found.
    /// - Complexity: linear in the file.
    public func validate() throws(AtlasError) {
        try file.validate(AtlasLayout.chunkStart..<file.contentEnd)
        for cell in 0..<AtlasLayout.topCount {
            // Blocks are stored in curve order and the table is not, so the next accesses are unpredictable.
            blocks.prefetch(Int(top.uint32(min(cell + 16, AtlasLayout.topCount - 1) * 4) & ~AtlasLayout.isUniform) * 4)
            _ = try validate(cell: cell)
        }
        for group in 0...(regionCount - 1) / AtlasLayout.groupSize { try validate(group: group) }
        guard names.uint32(0) == 0 else { throw .malformed(section: "names") }
        for name in 0..<nameCount { _ = try validatedName(name) }
        file.noteValidated()
    }

    /// The same, unless it was done before.
    func validateOnce() throws(AtlasError) {
        if !file.isValidated { try validate() }
    }

    /// Validates a level-7 cell and everything it leads to, and fills its entry in the once-table.
    ///
    /// - Returns: that entry.
    func validate(cell: Int) throws(AtlasError) -> UInt32 {
        try validate(top, cell * 4..<cell * 4 + 4)
        var entry = top.uint32(cell * 4)
        if entry & AtlasLayout.isUniform != 0 {
            try validate(region: entry & ~AtlasLayout.isUniform, of: .top)
        } else {
            // The bit is used in memory only; no offset within the largest section sets it.
            guard entry & AtlasLayout.isValidated == 0, Int(entry) < blocks.count / 4 else {
                throw .malformed(section: "top")
            }
            try validate(block: Int(entry) * 4)
            entry |= AtlasLayout.isValidated
        }
        entries[cell] = entry
        return entry
    }

    /// The end of the chunk that holds an offset, relative to the section.
    private func chunkEnd(_ section: AtlasBytes, _ offset: Int) -> Int {
        let start = unsafe section.start - file.bytes.baseAddress!
        return file.chunkEnd(offset: start + offset) - start
    }

    /// Validates the checksums of the chunks that a part of a section lies in.
    @inline(__always)
    private func validate(_ section: AtlasBytes, _ range: Range<Int>) throws(AtlasError) {
        let start = unsafe section.start - file.bytes.baseAddress!
        try file.validate(start &+ range.lowerBound..<start &+ range.upperBound)
    }

    private func validate(block root: Int) throws(AtlasError) {
        var scratch = BlockScratch()
        // SAFETY: used within the call only.
        unsafe try withUnsafeMutableBytes(of: &scratch) { scratch throws(AtlasError) in
            let nodes = unsafe scratch.baseAddress!.assumingMemoryBound(to: UInt64.self)
            let values = unsafe (scratch.baseAddress! + MemoryLayout<SIMD32<UInt64>>.size)
                .assumingMemoryBound(to: UInt32.self)
            unsafe try validate(block: root, nodes: nodes, values: values)
        }
    }

    /// For each of the 16 values of up to four entries, its list position plus one, or 0 if the entry is not a quartet.
    @inline(__always)
    private func quartetCounts(_ entries: SIMD4<UInt32>) -> SIMD16<UInt8> {
        // Widens the four 7-bit positions of an entry to bytes.
        var bytes = entries & 0x7f | (entries & 0x3f80) &<< 1
        bytes |= (entries & 0x1f_c000) &<< 2 | (entries & 0xfe0_0000) &<< 3
        bytes = (bytes &+ 0x0101_0101).replacing(with: 0, where: entries &>> 30 .!= 1)
        return unsafe unsafeBitCast(bytes, to: SIMD16<UInt8>.self)
    }

    /// Scratch space for validating a block: a stack of 32 nodes and a queue of 64 values.
    private struct BlockScratch {
        private var nodes = SIMD32<UInt64>()
        private var values = SIMD64<UInt32>()
    }

    /// What the bytes of a node's four quarters say of its entries: four sums at once, one in each byte of a word.
    private struct NodeNumbers {
        let entryCount: Int
        /// How many entries are of quarters before the one that is divided without an entry; all, if none is.
        let earlyCount: Int
        /// How many quarters are divided without an entry: 0 or 1 where `mismatch` is 0.
        let followedCount: Int
        /// Not 0 if a byte is not the one that its quarter must have, or a second quarter is divided without an entry.
        let mismatch: UInt32

        @inline(__always)
        init(_ bytes: UInt32) {
            let ones: UInt32 = 0x0101_0101
            let places = bytes &>> 7 & ones, followed = places & bytes &>> 2, entries = places ^ followed
            // In each byte: how many entries are of the quarters before.
            let numbers = entries &* 0x0101_0100, count = (entries &* ones) &>> 24
            let followedMask = followed &* 0xff
            mismatch =
                (bytes ^ (0x8080_8080 | numbers)) & (entries &* 0xff)
                | (bytes ^ (0x8484_8484 | count &* ones)) & followedMask | followed & (followed &- 1)
            let early = ((numbers & followedMask) &* ones) &>> 24
            entryCount = Int(count)
            earlyCount = Int(followed == 0 ? count : early)
            followedCount = followed == 0 ? 0 : 1
        }
    }

    /// Walks a block's nodes depth first. Entry kinds are unpredictable, so what is done for an entry is branch-free: it is
    /// written to both the stack and the queue, and the counters keep what applies.
    ///
    /// - Parameters:
    ///   - nodes: a stack of pending nodes, each its level above its offset divided by 4. At most three are pending per
    ///     level.
    ///   - values: a queue of leaf values to validate.
    private func validate(
        block root: Int, nodes: UnsafeMutablePointer<UInt64>, values: UnsafeMutablePointer<UInt32>
    ) throws(AtlasError) {
        // Nodes are contiguous in depth-first order, so each must begin where the one before ends: no cycles.
        var next = root, validatedEnd = 0
        var pending = 1, valueCount = 0
        // SAFETY: a node of one of eight levels is replaced by at most four, so at most 3 × 8 + 1 are pending; values
        // stay below 64.
        unsafe nodes[0] = UInt64(root / 4) | 1 << 32
        // The maxima over all nodes of `quartetCounts`, and of the same for quarters of one listed value.
        var listCounts = SIMD16<UInt8>(), singleCounts = SIMD4<UInt8>()
        var isTooDeep: UInt32 = 0, isMisplaced: UInt32 = 0, isMisnumbered: UInt32 = 0, isPadded: UInt32 = 0
        while pending > 0 {
            pending &-= 1
            let node = unsafe Int(nodes[pending] & 0xffff_ffff) &* 4, level = unsafe nodes[pending] &>> 32
            guard node == next, node &+ 4 <= blocks.count, level <= AtlasLayout.nodeLevels
            else { throw .malformed(section: "blocks") }
            let largestEnd = min(node &+ AtlasLayout.largestNode, blocks.count)
            if largestEnd > validatedEnd {
                try validate(blocks, node..<largestEnd)
                validatedEnd = chunkEnd(blocks, largestEnd - 1)
            }
            let word = blocks.uint32(node), numbers = NodeNumbers(word)
            isMisnumbered |= numbers.mismatch
            next = node &+ 4 &+ 4 &* numbers.entryCount
            guard next <= blocks.count else { throw .malformed(section: "blocks") }
            let quarters = unsafe unsafeBitCast(word, to: SIMD4<UInt8>.self)
            let singles = (quarters &+ 1).replacing(with: 0, where: quarters .>= AtlasLayout.isPlace)
            singleCounts.replace(with: singles, where: singles .> singleCounts)
            let isBeyond = SIMD4<UInt32>(0, 1, 2, 3) .>= UInt32(truncatingIfNeeded: numbers.entryCount)
            let counts = quartetCounts(blocks.fourUInt32(node &+ 4).replacing(with: 0, where: isBeyond))
            listCounts.replace(with: counts, where: counts .> listCounts)
            // On the last level every entry must be a leaf.
            let mustBeLeaf = level == AtlasLayout.nodeLevels ? AtlasLayout.isLeaf : 0
            // In reverse, so that the first entry is popped first. No divided quarter comes before the one without an entry.
            var at = next
            let early = node &+ 4 &+ 4 &* numbers.earlyCount
            while at > node &+ 4 {
                at &-= 4
                let entry = blocks.uint32(at)
                isTooDeep |= ~entry & mustBeLeaf
                unsafe values[valueCount] = entry & 0xff_ffff
                valueCount &+= Int(entry &>> 31)
                isPadded |= entry & 0x7f00_0000 & (0 &- entry &>> 31)
                unsafe nodes[pending] = UInt64(entry) | (level &+ 1) &<< 32
                // 1 for a divided quarter (bits 31 and 30 clear), else 0.
                let isDivided = (entry | entry &<< 1) &>> 31 ^ 1
                pending &+= Int(isDivided)
                isMisplaced |= at < early ? isDivided : 0
            }
            // The node that follows is popped before them.
            unsafe nodes[pending] = UInt64(next / 4) | (level &+ 1) &<< 32
            pending &+= numbers.followedCount
            if valueCount > 60 || pending == 0 {
                for index in 0..<valueCount {
                    let value = unsafe values[index]
                    cuts.prefetch(value & AtlasLayout.isCut != 0 ? cutOffset(value) : 0)
                }
                for index in 0..<valueCount { try validate(value: unsafe values[index]) }
                valueCount = 0
            }
        }
        if isTooDeep | isMisplaced | isMisnumbered | isPadded != 0 { throw .malformed(section: "blocks") }
        let list = root - 3 * Int(max(listCounts.max(), singleCounts.max()))
        guard list >= 0 else { throw .malformed(section: "blocks") }
        try validate(blocks, list..<root)
        for item in stride(from: list, to: root, by: 3) { try validate(value: blocks.uint32(item) & 0xff_ffff) }
    }

    @inline(__always)
    private func validate(value: UInt32) throws(AtlasError) {
        if value & AtlasLayout.isCut == 0 {
            try validate(region: value, of: .blocks)
        } else {
            try validate(cut: cutOffset(value))
        }
    }

    private func validate(cut at: Int) throws(AtlasError) {
        guard at + 8 <= cuts.count else { throw .malformed(section: "blocks") }
        try validate(cuts, at..<at + 8)
        let reader = CutReader(bytes: cuts, offset: at)
        guard let end = reader.validatedEnd() else { throw .malformed(section: "cuts") }
        try validate(cuts, at..<end)
        for code in 0..<1 << reader.rank { try validate(region: reader.region(ofCode: code), of: .cuts) }
    }

    /// - Parameter section: the section that refers to the region.
    @inline(__always)
    private func validate(region: UInt32, of section: AtlasLayout.Section) throws(AtlasError) {
        guard region < regionCount else { throw .malformed(section: section.name) }
        let group = Int(region) / AtlasLayout.groupSize
        if groups[group] == 0 { try validate(group: group) }
    }

    /// Validates the center and label records of `AtlasLayout.groupSize` consecutive regions.
    @inline(never)
    private func validate(group: Int) throws(AtlasError) {
        let first = group * AtlasLayout.groupSize, end = min(first + AtlasLayout.groupSize, regionCount)
        try validate(places, first * 8..<end * 8)
        try validate(labels, first * 4..<end * 4)
        // Branch-free: a value out of range makes a difference negative, and the sign bit is sticky.
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
        groups[group] = 1
    }

    /// Validates a name and returns its byte range in the names section.
    func validatedName(_ name: Int) throws(AtlasError) -> Range<Int> {
        try validate(names, name * 4..<name * 4 + 8)
        let base = (nameCount + 1) * 4
        let start = Int(clamping: names.uint32(name * 4)), end = Int(clamping: names.uint32(name * 4 + 4))
        guard start <= end, end - start <= 255, end <= names.count - base, name > 0 || start == 0 else {
            throw .malformed(section: "names")
        }
        try validate(names, base + start..<base + end)
        return base + start..<base + end
    }

    /// Validates the checksums of all chunks that a part of a section lies in, for texts.
    func validateText(_ section: AtlasBytes, _ range: Range<Int>) throws(AtlasError) { try validate(section, range) }

    /// Validates a handle from outside.
    ///
    /// - Returns: its index, the records of which are validated.
    @inline(__always)
    func validIndex(of region: Region) throws(LookupError) -> Int {
        // With this atlas's mark only the index remains; with another one the number is too large.
        let index = Int(truncatingIfNeeded: region.bits ^ mark)
        if UInt(bitPattern: index) < UInt(bitPattern: regionCount), groups[index &>> AtlasLayout.groupBits] != 0 {
            return index
        }
        return try validatedIndex(of: region)
    }

    @inline(never)
    private func validatedIndex(of region: Region) throws(LookupError) -> Int {
        let index = Int(region.index)
        guard region.mark == mark || region.mark == 0, index < regionCount else { throw .foreignRegion }
        do throws(AtlasError) {
            if groups[index / AtlasLayout.groupSize] == 0 { try validate(group: index / AtlasLayout.groupSize) }
        } catch {
            throw .atlas(error)
        }
        return index
    }

    /// Validates a level-7 cell on its first lookup.
    ///
    /// - Returns: its entry; where the atlas is damaged, that of a uniform cell of the region `Region.noIndex`, which
    ///   is not stored.
    @inline(never)
    func firstEntry(_ cell: Int) -> UInt32 {
        do throws(AtlasError) {
            return try validate(cell: cell)
        } catch {
            file.report(error)
            return AtlasLayout.isUniform | Region.noIndex
        }
    }
}
