/// The header of an atlas file, checked.
struct AtlasHeader {
    let regionCount, countryCount, nameCount: Int
    let steadiness, anonymity, smallestAccuracy, largestAccuracy, largestEmptyAccuracy: UInt32
    let sections: [Range<Int>]

    init(_ file: UnsafeRawBufferPointer) throws(AtlasError) {
        // SAFETY: the caller has made sure that the file is at least as long as a header.
        let bytes = unsafe AtlasBytes(start: file.baseAddress!, count: file.count)
        for (offset, byte) in AtlasLayout.magic.enumerated() where bytes.byte(offset) != byte { throw .notAnAtlas }
        let version = bytes.uint32(0x08)
        guard version == AtlasLayout.version else { throw .unsupportedVersion(version) }
        guard bytes.uint32(0x0c) == AtlasLayout.headerSize else { throw .malformedHeader }
        guard bytes.uint64(0x10) == UInt64(file.count), file.count % 8 == 0 else { throw .wrongSize }
        let content = unsafe UnsafeRawBufferPointer(rebasing: file[AtlasLayout.checksumStart...])
        guard unsafe AtlasLayout.checksum(content) == bytes.uint64(0x18) else { throw .checksumMismatch }
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
        sections = try Self.sections(bytes)
        let least = [
            AtlasLayout.topCount * 4, 0, 0, regionCount * 8, regionCount * 4, regionCount * 2, (nameCount + 1) * 4,
            countryCount * 8,
        ]
        for (section, size) in zip(sections, least) where section.count < size { throw .malformedHeader }
    }

    private static func sections(_ bytes: AtlasBytes) throws(AtlasError) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        var next = AtlasLayout.headerSize
        for section in AtlasLayout.Section.allCases {
            let at = 0x40 + section.rawValue * 16
            let offset = bytes.uint64(at), size = bytes.uint64(at + 8)
            guard offset == UInt64(next), size <= UInt64(bytes.count - next) else { throw .malformedHeader }
            ranges.append(next..<next + Int(size))
            next = (next + Int(size) + 7) & ~7
            guard next <= bytes.count else { throw .malformedHeader }
        }
        guard next == bytes.count else { throw .wrongSize }
        return ranges
    }
}

extension Atlas {
    /// Checks every table, so that no lookup can leave it. Linear in the file.
    func check() throws(AtlasError) {
        guard blocks.count % 4 == 0, cuts.count % 4 == 0 else { throw .malformedHeader }
        let cutStarts = try checkCuts()
        let blockStarts = try checkBlocks(cutStarts)
        for cell in 0..<AtlasLayout.topCount {
            let entry = top.uint32(cell * 4)
            if entry & AtlasLayout.isUniform != 0 {
                guard entry & 0x7fff_ffff < regionCount else { throw .malformed(section: "top") }
            } else {
                guard blockStarts.contains(Int(entry)) else { throw .malformed(section: "top") }
            }
        }
        try checkPlaces()
        try checkLabels()
        try checkNames()
    }

    /// Walks the records one after another; where each begins, in units of four bytes.
    private func checkCuts() throws(AtlasError) -> StartSet {
        var starts = StartSet(count: cuts.count / 4)
        var at = 0
        while at < cuts.count {
            starts.insert(at / 4)
            guard at + 8 <= cuts.count,
                let end = CutReader(bytes: cuts, offset: at).checkedEnd(regionCount: regionCount)
            else { throw .malformed(section: "cuts") }
            at = (end + 3) & ~3
        }
        return starts
    }

    private func checkBlocks(_ cutStarts: StartSet) throws(AtlasError) -> StartSet {
        var starts = StartSet(count: blocks.count / 4)
        var at = 0
        while at < blocks.count {
            starts.insert(at / 4)
            guard at + 8 <= blocks.count else { throw .malformed(section: "blocks") }
            let count = Int(blocks.uint16(at)), form = blocks.uint16(at + 2)
            let isIndexed = form & AtlasLayout.isIndexed != 0, width = form & AtlasLayout.isWide != 0 ? 2 : 1
            let valueCount = Int(form) & AtlasLayout.maximumValues
            let keys = at + 4 + (isIndexed ? AtlasLayout.indexCount * 2 : 0)
            let positions = keys + count * 2, values = positions + count * width
            let end = (values + valueCount * 3 + 4) & ~3
            guard count >= 2, valueCount >= 1, end <= blocks.count, blocks.uint16(keys) == 0,
                areAscending(keys: keys, count),
                width == 2
                    ? arePositions(UInt16.self, positions, count, below: valueCount)
                    : arePositions(UInt8.self, positions, count, below: valueCount),
                areValues(values, valueCount, cutStarts),
                !isIndexed || isIndex(at + 4, keys: keys, count: count)
            else { throw .malformed(section: "blocks") }
            at = end
        }
        return starts
    }

    // These loops look at everything and decide at the end, so that the compiler can take many entries at once: they
    // gather differences in one number, whose sign bit says whether all of them, or any of them, were negative.

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

    private func areValues(_ values: Int, _ count: Int, _ cutStarts: StartSet) -> Bool {
        var isValid = true
        for index in 0..<count {
            let value = blocks.uint32(values &+ index &* 3) & 0xff_ffff
            let isCut = value & AtlasLayout.isCut != 0
            let isRegion = value < UInt32(truncatingIfNeeded: regionCount)
            let isStart = cutStarts.contains(isCut ? Int(value & 0x7f_ffff) : 0)
            isValid = isValid && (isCut ? isStart : isRegion)
        }
        return isValid
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

    private func checkPlaces() throws(AtlasError) {
        var negative: Int64 = 0
        for region in 0..<regionCount {
            let packed = Int64(bitPattern: places.uint64(region &* 8))
            let accuracy = Int64(bitPattern: places.uint64(region &* 8) &>> 51)
            negative |= 18_000_000 &- (packed & 0x1ff_ffff)
            negative |= 36_000_000 &- (packed &>> 25 & 0x3ff_ffff)
            negative |= accuracy &- 1
        }
        guard negative >= 0 else { throw .malformed(section: "places") }
    }

    private func checkLabels() throws(AtlasError) {
        let nameCount = Int32(nameCount), lastCountry = Int32(countryCount - 1)
        var negative: Int32 = 0
        for region in 0..<regionCount {
            let label = labels.uint32(region &* 4)
            negative |= nameCount &- Int32(label & 0x3ffff)
            negative |= lastCountry &- Int32(label &>> 19)
        }
        guard negative >= 0 else { throw .malformed(section: "labels") }
    }

    private func checkNames() throws(AtlasError) {
        var last: UInt32 = 0
        for name in 0...nameCount {
            let offset = names.uint32(name * 4)
            guard name == 0 ? offset == 0 : offset >= last && offset - last <= 255
            else { throw .malformed(section: "names") }
            last = offset
        }
        guard Int(last) <= names.count - (nameCount + 1) * 4 else { throw .malformed(section: "names") }
    }
}

/// A set of small numbers, one bit each.
private struct StartSet {
    private var words: [UInt64]

    /// - Parameter count: one more than the largest number.
    init(count: Int) { words = Array(repeating: 0, count: count / 64 + 1) }

    mutating func insert(_ start: Int) { words[start >> 6] |= 1 << UInt64(start & 63) }

    @inline(__always)
    func contains(_ start: Int) -> Bool {
        start >> 6 < words.count && words[start >> 6] >> UInt64(start & 63) & 1 == 1
    }
}
