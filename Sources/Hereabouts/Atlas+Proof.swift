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
        guard file.checksum == bytes.uint64(0x18) else { throw .checksumMismatch }
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
        for cell in 0..<AtlasLayout.topCount { _ = try prove(cell: cell) }
        for region in 0..<regionCount { try prove(region: UInt32(region), of: .places) }
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
            try prove(block: Int(entry) * 4)
            entry |= AtlasLayout.isProven
        }
        entries[cell] = entry
        return entry
    }

    /// Proves that the bytes of a part of a section match their checksums.
    @inline(__always)
    private func prove(_ section: AtlasBytes, _ range: Range<Int>) throws(AtlasError) {
        let start = unsafe section.start - file.bytes.baseAddress!
        try file.prove(start &+ range.lowerBound..<start &+ range.upperBound)
    }

    private func prove(block at: Int) throws(AtlasError) {
        guard at + 8 <= blocks.count else { throw .malformed(section: "top") }
        try prove(blocks, at..<at + 4)
        let count = Int(blocks.uint16(at)), form = blocks.uint16(at + 2)
        let isIndexed = form & AtlasLayout.isIndexed != 0, width = form & AtlasLayout.isWide != 0 ? 2 : 1
        let valueCount = Int(form) & AtlasLayout.maximumValues
        let keys = at + 4 + (isIndexed ? AtlasLayout.indexCount * 2 : 0)
        let positions = keys + count * 2, values = positions + count * width
        let end = (values + valueCount * 3 + 4) & ~3
        guard count >= 2, valueCount >= 1, end <= blocks.count else { throw .malformed(section: "blocks") }
        try prove(blocks, at..<end)
        guard blocks.uint16(keys) == 0, areAscending(keys: keys, count),
            width == 2
                ? arePositions(UInt16.self, positions, count, below: valueCount)
                : arePositions(UInt8.self, positions, count, below: valueCount),
            !isIndexed || isIndex(at + 4, keys: keys, count: count)
        else { throw .malformed(section: "blocks") }
        for index in 0..<valueCount {
            let value = blocks.uint32(values &+ index &* 3) & 0xff_ffff
            if value & AtlasLayout.isCut == 0 {
                try prove(region: value, of: .blocks)
            } else {
                try prove(cut: Int(value & 0x7f_ffff) * 4)
            }
        }
    }

    // These loops look at everything and decide at the end, so that the compiler can take many entries at once: they
    // gather differences in one number, whose sign bit says whether all of them were negative.

    private func areAscending(keys: Int, _ count: Int) -> Bool {
        var negative = Int32.min
        for run in 1..<count {
            let at = keys &+ run &* 2
            negative &= Int32(blocks.uint16(at &- 2)) &- Int32(blocks.uint16(at))
        }
        return negative < 0
    }

    @inline(__always)
    private func arePositions<Number: FixedWidthInteger & UnsignedInteger>(
        _: Number.Type, _ positions: Int, _ count: Int, below limit: Int
    ) -> Bool {
        let limit = Int32(limit)
        var negative = Int32.min
        for run in 0..<count {
            let position = blocks.number(positions &+ run &* MemoryLayout<Number>.size, as: Number.self)
            negative &= Int32(truncatingIfNeeded: position) &- limit
        }
        return negative < 0
    }

    /// Whether every entry says how many keys are below its own: as keys ascend, the last of those and the next tell.
    private func isIndex(_ index: Int, keys: Int, count: Int) -> Bool {
        for cell in 0...64 {
            let below = Int(blocks.uint16(index + cell * 2))
            guard below <= count, below == 0 || Int(blocks.uint16(keys + below * 2 - 2)) < cell << 10,
                below == count || Int(blocks.uint16(keys + below * 2)) >= cell << 10
            else { return false }
        }
        return true
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
        let place = Int(region) &* 8, label = Int(region) &* 4
        try prove(places, place..<place &+ 8)
        let packed = places.uint64(place)
        guard packed & 0x1ff_ffff <= 18_000_000, packed >> 25 & 0x3ff_ffff <= 36_000_000, packed >> 51 > 0
        else { throw .malformed(section: "places") }
        try prove(labels, label..<label &+ 4)
        let names = labels.uint32(label)
        guard names & 0x3ffff <= nameCount, names >> 19 < countryCount else { throw .malformed(section: "labels") }
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
