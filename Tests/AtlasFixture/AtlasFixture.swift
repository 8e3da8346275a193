/// A small writer of atlas files for tests, made from `data/FORMAT.md` alone: it shares no code with the engine, the
/// builder or the verifier, and checks nothing, so that it can write files that lie.
public struct AtlasFixture: Sendable {
    /// What a top entry or a run leads to.
    public enum Value: Hashable, Sendable {
        case region(Int)
        /// A cut by its position in `cuts`.
        case cut(Int)
    }

    /// What a level-7 cell is.
    public enum Top: Hashable, Sendable {
        case value(Value)
        /// A block by its position in `blocks`.
        case block(Int)
    }

    public struct Block: Hashable, Sendable {
        public var keys: [Int]
        public var values: [Value]
        public var isIndexed: Bool

        /// A block of runs, with an index where there are more than 128.
        public init(_ runs: [(key: Int, value: Value)]) {
            keys = runs.map(\.key)
            values = runs.map(\.value)
            isIndexed = runs.count > 128
        }
    }

    public struct Cut: Hashable, Sendable {
        public struct Closing: Hashable, Sendable {
            public var x: Int, code: Int
            public init(x: Int, code: Int) { (self.x, self.code) = (x, code) }
        }
        public struct Chain: Hashable, Sendable {
            public var code: Int
            /// x and y of every vertex, flat.
            public var vertices: [Int]
            public init(code: Int, vertices: [Int]) { (self.code, self.vertices) = (code, vertices) }
        }

        public var level: Int
        /// Two to the power of the rank of them, by code.
        public var regions: [Int]
        public var closings: [Closing]
        public var chains: [Chain]

        public init(level: Int, regions: [Int], closings: [Closing] = [], chains: [Chain]) {
            (self.level, self.regions, self.closings, self.chains) = (level, regions, closings, chains)
        }
    }

    public struct Region: Hashable, Sendable {
        /// 1e-5 degrees.
        public var latitude: Int, longitude: Int
        /// Meters, a multiple of 10.
        public var accuracy: Int
        public var country: Int
        /// Index of the name.
        public var name: Int?
        public var isNear: Bool
        /// The two bytes as they are written: see `packedAnonymity`.
        public var anonymity: Int

        public init(
            latitude: Int, longitude: Int, accuracy: Int, country: Int = 0, name: Int? = nil, isNear: Bool = false,
            anonymity: Int = 0
        ) {
            (self.latitude, self.longitude, self.accuracy) = (latitude, longitude, accuracy)
            (self.country, self.name, self.isNear, self.anonymity) = (country, name, isNear, anonymity)
        }
    }

    /// Residents as the format packs them, rounded down.
    public static func packedAnonymity(_ residents: Int) -> Int {
        var mantissa = residents, exponent = 0
        while mantissa > 2047 { (mantissa, exponent) = (mantissa / 2, exponent + 1) }
        return exponent << 11 | mantissa
    }

    /// 6 × 128 × 128 level-7 cells, by face, column and row.
    public var top: [Top]
    public var blocks: [Block] = []
    public var cuts: [Cut] = []
    public var regions: [Region]
    public var names: [String] = []
    public var countries = ["XZ"]
    public var about = "{}"
    public var steadiness = 250, anonymity = 20_000
    public var smallestAccuracy = 2_000, largestAccuracy = 16_000, largestEmptyAccuracy = 60_000

    public init(top: [Top], regions: [Region]) { (self.top, self.regions) = (top, regions) }

    /// Position of a level-7 cell in `top`.
    public static func cell(face: Int, column: Int, row: Int) -> Int { face * 16_384 + column * 128 + row }

    // MARK: Writing

    /// Where each section begins and ends.
    public struct Layout: Hashable, Sendable {
        public var sections: [Range<Int>]
    }

    /// The file, and where its sections are.
    public func file() -> (bytes: [UInt8], layout: Layout) {
        let (cutBytes, cutOffsets) = cutSection()
        let (blockBytes, blockOffsets) = blockSection(cutOffsets)
        var topBytes: [UInt8] = []
        topBytes.reserveCapacity(top.count * 4)
        for entry in top {
            switch entry {
            case .value(let value): topBytes.append(1 << 31 | packed(value, cutOffsets), 4)
            case .block(let index): topBytes.append(blockOffsets[index] / 4, 4)
            }
        }
        let sections = [
            topBytes, blockBytes, cutBytes, places(), labels(), anonymities(), nameSection(), aboutSection(),
        ]
        var bytes = header(sections.map(\.count))
        var layout = Layout(sections: [])
        for section in sections {
            layout.sections.append(bytes.count..<bytes.count + section.count)
            bytes += section
            bytes.pad(to: 8)
        }
        let chunkCount = (bytes.count - 0x20 + 16_383) / 16_384
        bytes += [UInt8](repeating: 0, count: 8 * chunkCount)
        bytes.replace(at: 0x10, bytes.count, 8)
        Self.seal(&bytes)
        return (bytes, layout)
    }

    /// The file.
    public var bytes: [UInt8] { file().bytes }

    private func header(_ sizes: [Int]) -> [UInt8] {
        var bytes: [UInt8] = [0x48, 0x45, 0x52, 0x45, 0x41, 0x54, 0x4C, 0x0A]
        bytes.append(2, 4)
        bytes.append(192, 4)
        bytes.append(0, 8)
        bytes.append(0, 8)
        for number in [
            regions.count, countries.count, names.count, steadiness, anonymity, smallestAccuracy, largestAccuracy,
            largestEmptyAccuracy,
        ] { bytes.append(number, 4) }
        var offset = 192
        for size in sizes {
            bytes.append(offset, 8)
            bytes.append(size, 8)
            offset += (size + 7) / 8 * 8
        }
        return bytes
    }

    private func packed(_ value: Value, _ cutOffsets: [Int]) -> Int {
        switch value {
        case .region(let region): region
        case .cut(let index): 1 << 23 | cutOffsets[index] / 4
        }
    }

    private func blockSection(_ cutOffsets: [Int]) -> (bytes: [UInt8], offsets: [Int]) {
        var bytes: [UInt8] = [], offsets: [Int] = []
        for block in blocks {
            offsets.append(bytes.count)
            bytes.append(block.keys.count, 2)
            var distinct: [Value] = [], positions: [Value: Int] = [:]
            for value in block.values where positions[value] == nil {
                positions[value] = distinct.count
                distinct.append(value)
            }
            let isWide = distinct.count > 256
            bytes.append(distinct.count | (isWide ? 1 << 14 : 0) | (block.isIndexed ? 1 << 15 : 0), 2)
            if block.isIndexed {
                for s in 0...64 { bytes.append(block.keys.filter { $0 < s * 1024 }.count, 2) }
                bytes.append(0, 2)
            }
            for key in block.keys { bytes.append(key, 2) }
            for value in block.values { bytes.append(positions[value]!, isWide ? 2 : 1) }
            for value in distinct { bytes.append(packed(value, cutOffsets), 3) }
            bytes.append(0, 1)
            bytes.pad(to: 4)
        }
        return (bytes, offsets)
    }

    private func cutSection() -> (bytes: [UInt8], offsets: [Int]) {
        var bytes: [UInt8] = [], offsets: [Int] = []
        for cut in cuts {
            offsets.append(bytes.count)
            let width = cut.level >= 11 ? 1 : 2
            var rank = 0
            while 1 << rank < cut.regions.count { rank += 1 }
            for number in [cut.level, rank, cut.closings.count, cut.chains.count] { bytes.append(number, 1) }
            for region in cut.regions { bytes.append(region, 4) }
            for closing in cut.closings {
                bytes.append(closing.x, width)
                bytes.append(closing.code, 1)
            }
            for chain in cut.chains {
                bytes.append(chain.vertices.count / 2, 1)
                bytes.append(chain.code, 1)
                for number in chain.vertices { bytes.append(number, width) }
            }
            bytes.pad(to: 4)
        }
        return (bytes, offsets)
    }

    private func places() -> [UInt8] {
        var bytes: [UInt8] = []
        for region in regions {
            let latitude = region.latitude + 9_000_000, longitude = region.longitude + 18_000_000
            bytes.append(latitude | longitude << 25 | (region.accuracy / 10) << 51, 8)
        }
        return bytes
    }

    private func labels() -> [UInt8] {
        var bytes: [UInt8] = []
        for region in regions {
            bytes.append((region.name.map { $0 + 1 } ?? 0) | (region.isNear ? 1 << 18 : 0) | region.country << 19, 4)
        }
        return bytes
    }

    private func anonymities() -> [UInt8] {
        var bytes: [UInt8] = []
        for region in regions { bytes.append(region.anonymity, 2) }
        return bytes
    }

    private func nameSection() -> [UInt8] {
        var bytes: [UInt8] = [], offset = 0
        bytes.append(0, 4)
        for name in names {
            offset += name.utf8.count
            bytes.append(offset, 4)
        }
        for name in names { bytes += Array(name.utf8) }
        return bytes
    }

    private func aboutSection() -> [UInt8] {
        countries.flatMap { code in Array(code.utf8) + [UInt8](repeating: 0, count: 8 - code.utf8.count) }
            + Array(about.utf8)
    }

    // MARK: Checksum

    /// Writes the checksums that fit what is there, for a file of the size it has.
    public static func seal(_ bytes: inout [UInt8]) {
        guard bytes.count >= 0xC0 + 8 else { return }
        let end = bytes.count - 8 * chunkCount(of: bytes.count)
        for (chunk, start) in stride(from: 0x20, to: end, by: 16_384).enumerated() {
            bytes.replace(at: end + 8 * chunk, checksum(bytes[start..<min(start + 16_384, end)]), 8)
        }
        bytes.replace(at: 0x18, checksum(bytes[end...]), 8)
    }

    /// How many chunks a file of a size has: 16,384 bytes each, and 8 bytes for the checksum of each.
    private static func chunkCount(of size: Int) -> Int { (size - 0x20 + 16_391) / 16_392 }

    /// FNV-1a of 64-bit words in four lanes; the bytes are a whole number of words.
    private static func checksum(_ bytes: ArraySlice<UInt8>) -> Int {
        let prime: UInt64 = 0x100_0000_01B3, basis: UInt64 = 0xCBF2_9CE4_8422_2325
        var lanes = [basis, basis + 1, basis + 2, basis + 3]
        // SAFETY: every load is within the slice.
        unsafe bytes.withUnsafeBytes { raw in
            for offset in stride(from: 0, to: raw.count, by: 8) {
                let word = UInt64(littleEndian: unsafe raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                lanes[offset / 8 % 4] = (lanes[offset / 8 % 4] ^ word) &* prime
            }
        }
        let sum = lanes.dropFirst().reduce(lanes[0]) { ($0 ^ $1) &* prime }
        return Int(truncatingIfNeeded: sum ^ sum >> 32)
    }
}

extension [UInt8] {
    /// Appends a number of some bytes, little-endian.
    public mutating func append(_ number: Int, _ size: Int) {
        for k in 0..<size { append(UInt8(truncatingIfNeeded: number >> (8 * k))) }
    }

    /// Writes a number over what is there.
    public mutating func replace(at offset: Int, _ number: Int, _ size: Int) {
        for k in 0..<size { self[offset + k] = UInt8(truncatingIfNeeded: number >> (8 * k)) }
    }

    mutating func pad(to multiple: Int) { while count % multiple != 0 { append(0) } }
}
