import Foundation

/// Why a file is no atlas: it cannot be read, or it is not laid out as `data/FORMAT.md` says.
package enum FormatError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file cannot be opened or read.
    case unreadable(path: String)
    /// A rule of the format is broken, in words.
    case malformed(String)

    /// A sentence for people.
    package var description: String {
        switch self {
        case .unreadable(let path): "\(path): cannot be read"
        case .malformed(let rule): "not an atlas of version 7: \(rule)"
        }
    }
}

/// The tables of an atlas file, read as `data/FORMAT.md` says. This module shares no code with the engine.
///
/// Each record is validated whenever it is read, at some cost in speed; the verifier reads each about once.
package struct AtlasTables: Sendable {
    /// What the header says the regions were made for. Meters, but for `anonymity`.
    package struct Limits: Hashable, Sendable {
        package var steadiness: Double, anonymity: Int
        package var smallestAccuracy: Double, largestAccuracy: Double, largestLeftoverAccuracy: Double
        package var largestEmptyAccuracy: Double
    }

    package let bytes: [UInt8]
    /// Of the format: 7, or 6 for an atlas that another is to be like.
    package let version: Int
    package let regionCount: Int, countryCount: Int, nameCount: Int
    package let limits: Limits
    /// Offsets in the file of top, blocks, cuts, places, labels, anonymity, concentration, names and about.
    private let sections: [Range<Int>]

    package static let levelOfTop = 7
    /// The finest level a run tells apart.
    package static let levelOfKeys = 15

    package init(path: String) throws(FormatError) {
        guard let data = FileManager.default.contents(atPath: path) else { throw .unreadable(path: path) }
        try self.init(bytes: [UInt8](data))
    }

    package init(bytes: [UInt8]) throws(FormatError) {
        self.bytes = bytes
        guard bytes.count >= 216, bytes.starts(with: Array("HEREATL\n".utf8)) else { throw .malformed("magic") }
        let reader = LittleEndian(bytes: bytes)
        version = reader.number(0x08, 4)
        guard version == 7 || version == 6 else { throw .malformed("version") }
        let headerSize = version == 6 ? 192 : 216
        guard reader.number(0x0C, 4) == headerSize else { throw .malformed("header size") }
        guard reader.number(0x10, 8) == bytes.count else { throw .malformed("file size") }
        // Chunks of 16,384 bytes from 0x20 on, then 8 bytes for each of them.
        let chunks = (bytes.count - 0x20 + 16_391) / 16_392, end = bytes.count - 8 * chunks
        guard end >= headerSize, bytes.count % 8 == 0 else { throw .malformed("file size") }
        guard reader.checksum(end..<bytes.count) == reader.word(0x18) else { throw .malformed("checksum") }
        for chunk in 0..<chunks {
            let start = 0x20 + chunk * 16_384
            guard reader.checksum(start..<min(start + 16_384, end)) == reader.word(end + 8 * chunk)
            else { throw .malformed("checksum of a chunk") }
        }
        regionCount = reader.number(0x20, 4)
        countryCount = reader.number(0x24, 4)
        nameCount = reader.number(0x28, 4)
        limits = Limits(
            steadiness: Double(reader.number(0x2C, 4)), anonymity: reader.number(0x30, 4),
            smallestAccuracy: Double(reader.number(0x34, 4)), largestAccuracy: Double(reader.number(0x38, 4)),
            largestLeftoverAccuracy: Double(reader.number(version == 6 ? 0x38 : 0x40, 4)),
            largestEmptyAccuracy: Double(reader.number(0x3C, 4)))
        guard (1...(1 << 23) - 1).contains(regionCount), (1...8191).contains(countryCount), nameCount <= (1 << 18) - 2,
            version == 6 || reader.number(0x44, 4) == 0
        else { throw .malformed("counts") }
        sections = try Self.sections(reader, headerSize: headerSize, end: end)
        let sizes = sections.map(\.count)
        guard sizes[0] == 6 << 16, sizes[1] % 4 == 0, sizes[2] % 4 == 0, sizes[3] == regionCount * 8,
            sizes[4] == regionCount * 4, sizes[5] == regionCount * 2, sizes[6] == (version == 6 ? 0 : regionCount),
            sizes[7] >= (nameCount + 1) * 4,
            sizes[8] >= countryCount * 8
        else { throw .malformed("section sizes") }
    }

    private static func sections(_ reader: LittleEndian, headerSize: Int, end: Int) throws(FormatError) -> [Range<Int>]
    {
        var sections: [Range<Int>] = []
        var next = headerSize
        // Version 6 has no concentrations, and its table lies 8 bytes before that of version 7.
        let isOld = headerSize == 192, table = isOld ? 0x40 : 0x48
        for section in 0..<(isOld ? 8 : 9) {
            if isOld, section == 6 { sections.append(next..<next) }
            let offset = reader.number(table + section * 16, 8), size = reader.number(table + 8 + section * 16, 8)
            guard offset == next, size >= 0, size <= end - offset else { throw .malformed("sections") }
            sections.append(offset..<offset + size)
            next = (offset + size + 7) / 8 * 8
            guard next <= end, reader.bytes[(offset + size)..<next].allSatisfy({ $0 == 0 })
            else { throw .malformed("padding of a section") }
        }
        guard next == end else { throw .malformed("bytes after the last section") }
        return sections
    }

    /// The header's checksum of the chunks' checksums, which identifies the content.
    package var fingerprint: UInt64 { reader.word(0x18) }

    // MARK: Tables of regions

    private var reader: LittleEndian { LittleEndian(bytes: bytes) }

    /// The published center of a region, degrees.
    package func center(_ region: Int) -> (latitude: Double, longitude: Double) {
        let packed = reader.word(sections[3].lowerBound + region * 8)
        return (
            Double(Int(packed % (1 << 25)) - 9_000_000) / 100_000,
            Double(Int(packed >> 25 % (1 << 26)) - 18_000_000) / 100_000
        )
    }

    /// The published accuracy of a region, meters.
    package func accuracy(_ region: Int) -> Double {
        Double(reader.word(sections[3].lowerBound + region * 8) >> 51) * 10
    }

    private func label(_ region: Int) -> Int { reader.number(sections[4].lowerBound + region * 4, 4) }

    package func country(_ region: Int) -> Int { label(region) >> 19 }

    /// Index of the region's name; nil where it has none, or one there is not.
    package func name(_ region: Int) -> Int? {
        let number = label(region) % (1 << 18)
        return number == 0 ? nil : number - 1
    }

    package func isNameOfNeighbor(_ region: Int) -> Bool { label(region) >> 18 % 2 == 1 }

    private func anonymityRecord(_ region: Int) -> (promised: Int, more: Int) {
        let packed = reader.number(sections[5].lowerBound + region * 2, 2)
        return (packed / 128, packed % 128)
    }

    /// K × 2^(steps / 16 - b) residents; b is one more than the number of bits of K.
    private func residents(atStep steps: Double) -> Double {
        let bits = String(limits.anonymity, radix: 2).count
        return Double(limits.anonymity) * exp2(steps / 16 - Double(bits) - 1)
    }

    /// Whether anybody lives in a region.
    package func isInhabited(_ region: Int) -> Bool { anonymityRecord(region).promised > 0 }

    /// Residents that the file promises of a region: the lowest number that is stored so.
    package func promised(_ region: Int) -> Int { Int(promisedRange(region).lowerBound + 1e-6) }

    /// Residents that the file says are estimated of a region.
    package func anonymity(_ region: Int) -> Int {
        let record = anonymityRecord(region)
        let estimate = residents(atStep: Double(record.promised + record.more))
        return isInhabited(region) ? max(1, Int(estimate.rounded())) : 0
    }

    /// The numbers of promised residents that the file stores as the region's.
    package func promisedRange(_ region: Int) -> Range<Double> {
        let steps = Double(anonymityRecord(region).promised)
        if steps == 0 { return 0..<0 }
        // The first step is for all that is less, the last for all that is more.
        return (steps == 1 ? 0 : residents(atStep: steps))..<(steps == 511 ? .infinity : residents(atStep: steps + 1))
    }

    /// The estimates that the file stores as the region's: those nearer to its step than to another, and not below the
    /// promise's.
    package func residentsRange(_ region: Int) -> Range<Double> {
        let record = anonymityRecord(region), steps = Double(record.promised + record.more)
        if record.promised == 0 { return 0..<0 }
        let high = record.more == 127 ? .infinity : residents(atStep: steps + 0.5)
        return (record.more == 0 ? residents(atStep: steps) : residents(atStep: steps - 0.5))..<high
    }

    /// What the file says of how close together a region's residents live: the radius of a circle, meters; nil where it does not.
    package func concentration(_ region: Int) -> Double? {
        guard version > 6 else { return nil }
        let steps = reader.number(sections[6].lowerBound + region, 1)
        return steps == 0 ? nil : 100 * Double(steps)
    }

    /// A name; nil where the table is wrong.
    package func name(at index: Int) -> String? {
        guard index < nameCount else { return nil }
        let table = sections[7].lowerBound, start = table + (nameCount + 1) * 4
        let from = reader.number(table + index * 4, 4), to = reader.number(table + index * 4 + 4, 4)
        guard from <= to, to - from <= 255, start + to <= sections[7].upperBound else { return nil }
        return String(validating: bytes[(start + from)..<(start + to)], as: UTF8.self)
    }

    /// The code of a country; nil where there is no such country.
    package func countryCode(_ country: Int) -> String? {
        guard country < countryCount else { return nil }
        let start = sections[8].lowerBound + country * 8
        return String(validating: bytes[start..<start + 8].prefix { $0 != 0 }, as: UTF8.self)
    }

    /// The JSON object at the end.
    package var about: Data { Data(bytes[(sections[8].lowerBound + countryCount * 8)..<sections[8].upperBound]) }

    // MARK: Tables of cells

    /// What a top entry or a run leads to.
    package enum Value: Hashable, Sendable {
        case region(UInt32)
        /// Offset in the cuts section.
        case cut(Int)
    }

    /// What the table says of a level-7 cell: one value, or the runs of a block.
    package enum Top {
        case value(Value)
        case block(Block)
    }

    package func top(face: Int, column: Int, row: Int) throws(FormatError) -> Top {
        let entry = reader.number(sections[0].lowerBound + (face << 14 + column << 7 + row) * 4, 4)
        if entry >= 1 << 31 {
            guard entry & 0x7f00_0000 == 0 else { throw .malformed("top entry") }
            return .value(try value(entry % (1 << 24)))
        }
        return .block(try block(at: entry * 4))
    }

    private func value(_ packed: Int) throws(FormatError) -> Value {
        if packed >= 1 << 23 { return .cut((packed - 1 << 23) * 4) }
        guard packed < regionCount else { throw .malformed("a region beyond the last") }
        return .region(UInt32(packed))
    }

    /// The runs of a level-7 cell: the first key and the value of each.
    package struct Block {
        package var keys: [Int]
        package var values: [Value]

        /// Adds what begins at a key, unless it is what the key before it has.
        mutating func add(_ value: Value, at key: Int) {
            guard values.last != value else { return }
            keys.append(key)
            values.append(value)
        }
    }

    private func block(at root: Int) throws(FormatError) -> Block {
        var block = Block(keys: [], values: [])
        var next = root
        try addRuns(to: &block, node: root, root: root, key: 0, size: 1 << 14, &next)
        return block
    }

    /// Adds the runs of a node, whose quarters have `size` keys each. Its entries must be numbered in the quarters' order, its
    /// first divided quarter must have none, and nodes must follow each other in the order they are met, the next at `next`.
    private func addRuns(
        to block: inout Block, node: Int, root: Int, key: Int, size: Int, _ next: inout Int
    ) throws(FormatError) {
        guard node == next, node + 4 <= sections[1].count else { throw .malformed("node of a block") }
        let start = sections[1].lowerBound + node, quarters = (0..<4).map { reader.number(start + $0, 1) }
        let entries = quarters.filter { (128..<132).contains($0) }
        guard entries == Array(128..<128 + entries.count), node + 4 + 4 * entries.count <= sections[1].count
        else { throw .malformed("entries of a node") }
        next += 4 + 4 * entries.count
        let divided = quarters.filter { $0 >= 132 }
        guard divided.isEmpty || divided == [132 + entries.count] else { throw .malformed("quarters of a node") }
        var isFirst = true
        for (index, quarter) in quarters.enumerated() {
            let first = key + index * size
            guard quarter >= 128 else {
                block.add(try listed(quarter, root: root), at: first)
                continue
            }
            if quarter >= 132 {
                guard size > 1 else { throw .malformed("level of a block") }
                let child = node + 4 + 4 * (quarter - 132)
                try addRuns(to: &block, node: child, root: root, key: first, size: size / 4, &next)
                isFirst = false
                continue
            }
            let entry = reader.number(start + 4 + 4 * (quarter - 128), 4)
            switch entry >> 30 {
            case 2, 3:
                guard entry & 0x7f00_0000 == 0 else { throw .malformed("leaf of a block") }
                block.add(try value(entry % (1 << 24)), at: first)
            case 1:
                guard size > 1 else { throw .malformed("level of a block") }
                for k in 0..<4 { block.add(try listed(entry >> (7 * k) % 128, root: root), at: first + k * size / 4) }
            default:
                guard !isFirst else { throw .malformed("an entry for the first divided quarter") }
                guard size > 1 else { throw .malformed("level of a block") }
                try addRuns(to: &block, node: entry * 4, root: root, key: first, size: size / 4, &next)
            }
        }
    }

    /// A value in the list that ends where the root begins.
    private func listed(_ position: Int, root: Int) throws(FormatError) -> Value {
        let offset = root - 3 * (position + 1)
        guard offset >= 0 else { throw .malformed("list of a block") }
        return try value(reader.number(sections[1].lowerBound + offset, 3))
    }

    /// What the tables say of a key in a level-7 cell. The tables must have been listed before: nothing is validated.
    package func value(face: Int, column: Int, row: Int, key: Int) throws(FormatError) -> Value {
        let entry = reader.number(sections[0].lowerBound + (face << 14 + column << 7 + row) * 4, 4)
        if entry >= 1 << 31 { return try value(entry % (1 << 24)) }
        var node = entry * 4, size = 1 << 14
        while true {
            let start = sections[1].lowerBound + node, quarter = reader.number(start + key / size % 4, 1)
            if quarter < 128 { return try listed(quarter, root: entry * 4) }
            if quarter >= 132 {
                node += 4 + 4 * (quarter - 132)
                size /= 4
                continue
            }
            let below = reader.number(start + 4 + 4 * (quarter - 128), 4)
            if below >= 1 << 31 { return try value(below % (1 << 24)) }
            size /= 4
            if below >= 1 << 30 { return try listed(below >> (7 * (key / size % 4)) % 128, root: entry * 4) }
            node = below * 4
        }
    }

    /// The region of a leaf cell. The tables must have been listed before: nothing but the cut record is validated.
    package func region(at leaf: Leaf) throws(FormatError) -> Int {
        var key = 0
        for bit in stride(from: 22, through: 15, by: -1) {
            key = key << 2 | (leaf.i >> bit & 1) << 1 | leaf.j >> bit & 1
        }
        switch try value(face: leaf.face, column: leaf.i >> 23, row: leaf.j >> 23, key: key) {
        case .region(let region): return Int(region)
        case .cut(let offset):
            let record = try cut(at: offset)
            let mask = (1 << (30 - record.level)) - 1
            return Int(record.region(column: leaf.i & mask, row: leaf.j & mask))
        }
    }

    /// The record of a cell that borders cut.
    package func cut(at offset: Int) throws(FormatError) -> CutRecord {
        try CutRecord(reader, offset: offset, in: sections[2], regionCount: regionCount)
    }
}

/// A leaf cell (level 30) by its face and its column and row on it, each below 2³⁰.
package struct Leaf: Hashable, Sendable {
    package var face: Int
    package var i: Int
    package var j: Int

    package init(face: Int, i: Int, j: Int) { (self.face, self.i, self.j) = (face, i, j) }
}

/// Little-endian numbers at offsets of a byte array.
struct LittleEndian {
    let bytes: [UInt8]

    /// The unsigned number of `size` bytes; negative if it does not fit.
    @inline(__always)
    func number(_ offset: Int, _ size: Int) -> Int {
        var value = 0
        for k in 0..<size { value |= Int(bytes[offset + k]) << (8 * k) }
        return value
    }

    @inline(__always)
    func word(_ offset: Int) -> UInt64 { UInt64(bitPattern: Int64(number(offset, 8))) }

    /// The checksum of the format, of a whole number of words: XXH64 with seed 0, step by step as its authors describe it.
    func checksum(_ range: Range<Int>) -> UInt64 {
        let p: [UInt64] = [
            11_400_714_785_074_694_791, 14_029_467_366_897_019_727, 1_609_587_929_392_839_161,
            9_650_029_242_287_828_579, 2_870_177_450_012_600_261,
        ]
        func left(_ x: UInt64, _ r: UInt64) -> UInt64 { x << r | x >> (64 - r) }
        func mixed(_ x: UInt64, _ input: UInt64) -> UInt64 { left(x &+ input &* p[1], 31) &* p[0] }
        let words = stride(from: range.lowerBound, to: range.upperBound, by: 8).map(word)
        let striped = words.count / 4 * 4
        var sum = p[4]
        if striped > 0 {
            var lanes = [p[0] &+ p[1], p[1], 0, 0 &- p[0]]
            for index in 0..<striped { lanes[index % 4] = mixed(lanes[index % 4], words[index]) }
            sum = zip(lanes, [1, 7, 12, 18]).reduce(0) { $0 &+ left($1.0, $1.1) }
            for lane in lanes { sum = (sum ^ mixed(0, lane)) &* p[0] &+ p[3] }
        }
        sum &+= UInt64(range.count)
        for word in words[striped...] { sum = left(sum ^ mixed(0, word), 27) &* p[0] &+ p[3] }
        sum = (sum ^ sum >> 33) &* p[1]
        sum = (sum ^ sum >> 29) &* p[2]
        return sum ^ sum >> 32
    }
}
