import Foundation

/// A small writer of atlas files for tests, made from `data/FORMAT.md` alone: it shares no code with the engine, the
/// builder or the verifier, and checks nothing, so that it can write files that lie.
package struct AtlasFixture: Sendable {
    /// What a top entry or a run leads to.
    package enum Value: Hashable, Sendable {
        case region(Int)
        /// A cut by its position in `cuts`.
        case cut(Int)
    }

    /// What a level-7 cell is.
    package enum Top: Hashable, Sendable {
        case value(Value)
        /// A block by its position in `blocks`.
        case block(Int)
    }

    package struct Block: Hashable, Sendable {
        package var keys: [Int]
        package var values: [Value]
        /// How many values the block's list may have.
        package var listLimit: Int

        /// A block of runs, each from its key up to the next one's.
        package init(_ runs: [(key: Int, value: Value)], listLimit: Int = 128) {
            keys = runs.map(\.key)
            values = runs.map(\.value)
            self.listLimit = listLimit
        }
    }

    package struct Cut: Hashable, Sendable {
        package struct Closing: Hashable, Sendable {
            package var x: Int, code: Int
            package init(x: Int, code: Int) { (self.x, self.code) = (x, code) }
        }
        package struct Chain: Hashable, Sendable {
            package var code: Int
            /// x and y of every vertex, flat.
            package var vertices: [Int]
            package init(code: Int, vertices: [Int]) { (self.code, self.vertices) = (code, vertices) }
        }

        package var level: Int
        /// Two to the power of the rank of them, by code.
        package var regions: [Int]
        package var closings: [Closing]
        package var chains: [Chain]

        package init(level: Int, regions: [Int], closings: [Closing] = [], chains: [Chain]) {
            (self.level, self.regions, self.closings, self.chains) = (level, regions, closings, chains)
        }
    }

    package struct Region: Hashable, Sendable {
        /// 1e-5 degrees.
        package var latitude: Int, longitude: Int
        /// Meters, a multiple of 10.
        package var accuracy: Int
        package var country: Int
        /// Index of the name.
        package var name: Int?
        package var isNear: Bool
        /// The two bytes as they are written: see `packedAnonymity`.
        package var anonymity: Int
        /// Steps of 100 m.
        package var concentration: Int

        package init(
            latitude: Int, longitude: Int, accuracy: Int, country: Int = 0, name: Int? = nil, isNear: Bool = false,
            anonymity: Int = 0, concentration: Int = 0
        ) {
            (self.latitude, self.longitude, self.accuracy) = (latitude, longitude, accuracy)
            (self.country, self.name, self.isNear, self.anonymity) = (country, name, isNear, anonymity)
            self.concentration = concentration
        }
    }

    /// Residents as the format packs them, in an atlas made for K: those promised, rounded down, and the estimate.
    package static func packedAnonymity(promised: Int, residents: Int, of anonymity: Int = 20_000) -> Int {
        guard residents > 0 else { return 0 }
        let bits = String(anonymity, radix: 2).count
        func steps(_ people: Int) -> Double {
            16 * (log2(Double(people) / Double(anonymity)) + Double(bits) + 1)
        }
        // Of exactly K the steps are a whole number, but for rounding.
        let c = promised == 0 ? 1 : min(511, max(1, Int((steps(promised) + 1e-9).rounded(.down))))
        return c << 7 | min(127, max(0, Int(steps(residents).rounded()) - c))
    }

    /// All of the residents promised.
    package static func packedAnonymity(_ residents: Int, of anonymity: Int = 20_000) -> Int {
        packedAnonymity(promised: residents, residents: residents, of: anonymity)
    }

    /// 6 × 128 × 128 level-7 cells, by face, column and row.
    package var top: [Top]
    package var blocks: [Block] = []
    package var cuts: [Cut] = []
    package var regions: [Region]
    package var names: [String] = []
    package var countries = ["XZ"]
    package var about = "{}"
    package var steadiness = 250, anonymity = 20_000
    package var smallestAccuracy = 2_000, largestAccuracy = 16_000, largestEmptyAccuracy = 60_000
    package var largestLeftoverAccuracy = 20_000

    package init(top: [Top], regions: [Region]) { (self.top, self.regions) = (top, regions) }

    /// Position of a level-7 cell in `top`.
    package static func cell(face: Int, column: Int, row: Int) -> Int { face * 16_384 + column * 128 + row }

    // MARK: Writing

    /// Where each section begins and ends.
    package struct Layout: Hashable, Sendable {
        package var sections: [Range<Int>]
    }

    /// The file, and where its sections are.
    package func file() -> (bytes: [UInt8], layout: Layout) {
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
            topBytes, blockBytes, cutBytes, places(), labels(), anonymities(), regions.map { UInt8($0.concentration) },
            nameSection(), aboutSection(),
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
    package var bytes: [UInt8] { file().bytes }

    private func header(_ sizes: [Int]) -> [UInt8] {
        var bytes: [UInt8] = [0x48, 0x45, 0x52, 0x45, 0x41, 0x54, 0x4C, 0x0A]
        bytes.append(7, 4)
        bytes.append(216, 4)
        bytes.append(0, 8)
        bytes.append(0, 8)
        for number in [
            regions.count, countries.count, names.count, steadiness, anonymity, smallestAccuracy, largestAccuracy,
            largestEmptyAccuracy, largestLeftoverAccuracy, 0,
        ] { bytes.append(number, 4) }
        var offset = 216
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
            // What each of the 65,536 cells of the finest level has, by key.
            var values: [Int] = []
            for (run, value) in block.values.enumerated() {
                let end = run + 1 < block.keys.count ? block.keys[run + 1] : 65_536
                values += [Int](repeating: packed(value, cutOffsets), count: max(0, end - values.count))
            }
            let list = Self.list(values, limit: block.listLimit)
            while (bytes.count + 3 * list.count) % 4 != 0 { bytes.append(0, 1) }
            for value in list.reversed() { bytes.append(value, 3) }
            offsets.append(bytes.count)
            Self.appendNode(values[...], list, to: &bytes)
        }
        return (bytes, offsets)
    }

    /// The first values of a block, up to the limit.
    private static func list(_ values: [Int], limit: Int) -> [Int] {
        var list: [Int] = []
        for (index, value) in values.enumerated() where index == 0 || value != values[index - 1] {
            if list.count == limit { break }
            if !list.contains(value) { list.append(value) }
        }
        return list
    }

    private static func isUniform(_ values: ArraySlice<Int>) -> Bool { values.allSatisfy { $0 == values.first } }

    private static func appendNode(_ values: ArraySlice<Int>, _ list: [Int], to bytes: inout [UInt8]) {
        let size = values.count / 4
        let quarters = (0..<4).map { values.dropFirst($0 * size).prefix(size) }
        func position(_ quarter: ArraySlice<Int>) -> Int? {
            isUniform(quarter) ? list.firstIndex(of: quarter.first!) : nil
        }
        /// The entry of a quarter that is not divided.
        func entry(_ quarter: ArraySlice<Int>) -> Int? {
            if isUniform(quarter) { return 1 << 31 | quarter.first! }
            let fourths = (0..<4).map { quarter.dropFirst($0 * size / 4).prefix(size / 4) }
            let positions = fourths.compactMap(position)
            return positions.count < 4 ? nil : 1 << 30 | (0..<4).reduce(0) { $0 | positions[$1] << (7 * $1) }
        }
        let first = quarters.firstIndex { position($0) == nil && entry($0) == nil }
        let others = quarters.indices.filter { position(quarters[$0]) == nil && $0 != first }
        for (index, quarter) in quarters.enumerated() {
            let number = others.firstIndex(of: index).map { 128 + $0 } ?? 132 + others.count
            bytes.append(position(quarter) ?? number, 1)
        }
        let entries = bytes.count
        bytes += [UInt8](repeating: 0, count: 4 * others.count)
        for (index, quarter) in quarters.enumerated() where position(quarter) == nil {
            let known = entry(quarter), node = bytes.count / 4
            if known == nil { appendNode(quarter, list, to: &bytes) }
            guard let number = others.firstIndex(of: index) else { continue }
            bytes.replace(at: entries + 4 * number, known ?? node, 4)
        }
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
    package static func seal(_ bytes: inout [UInt8]) {
        guard bytes.count >= 0xD8 + 8 else { return }
        let end = bytes.count - 8 * chunkCount(of: bytes.count)
        for (chunk, start) in stride(from: 0x20, to: end, by: 16_384).enumerated() {
            bytes.replace(at: end + 8 * chunk, checksum(bytes[start..<min(start + 16_384, end)]), 8)
        }
        bytes.replace(at: 0x18, checksum(bytes[end...]), 8)
    }

    /// How many chunks a file of a size has: 16,384 bytes each, and 8 bytes for the checksum of each.
    private static func chunkCount(of size: Int) -> Int { (size - 0x20 + 16_391) / 16_392 }

    /// XXH64 with seed 0.
    package static func checksum(_ bytes: ArraySlice<UInt8>) -> Int {
        let (one, two): (UInt64, UInt64) = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F)
        let (three, four): (UInt64, UInt64) = (0x165667B19E3779F9, 0x85EBCA77C2B2AE63)
        let five: UInt64 = 0x27D4EB2F165667C5
        func turned(_ x: UInt64, _ by: UInt64) -> UInt64 { x << by | x >> (64 - by) }
        func step(_ x: UInt64, _ word: UInt64) -> UInt64 { turned(x &+ word &* two, 31) &* one }
        var lanes = [one &+ two, two, 0, 0 &- one]
        let stripes = bytes.count / 32
        var sum = five
        // SAFETY: every load is within the slice.
        unsafe bytes.withUnsafeBytes { raw in
            func word(_ index: Int) -> UInt64 {
                UInt64(littleEndian: unsafe raw.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self))
            }
            for index in 0..<4 * stripes { lanes[index % 4] = step(lanes[index % 4], word(index)) }
            if stripes > 0 {
                sum = turned(lanes[0], 1) &+ turned(lanes[1], 7) &+ turned(lanes[2], 12) &+ turned(lanes[3], 18)
                for lane in lanes { sum = (sum ^ step(0, lane)) &* one &+ four }
            }
            sum &+= UInt64(raw.count)
            for index in 4 * stripes..<raw.count / 8 { sum = turned(sum ^ step(0, word(index)), 27) &* one &+ four }
            var rest = raw.count / 8 * 8
            if raw.count - rest >= 4 {
                let half = UInt32(littleEndian: unsafe raw.loadUnaligned(fromByteOffset: rest, as: UInt32.self))
                sum = turned(sum ^ UInt64(half) &* one, 23) &* two &+ three
                rest += 4
            }
            for index in rest..<raw.count { sum = turned(sum ^ UInt64(unsafe raw[index]) &* five, 11) &* one }
        }
        sum = (sum ^ sum >> 33) &* two
        sum = (sum ^ sum >> 29) &* three
        return Int(truncatingIfNeeded: sum ^ sum >> 32)
    }
}

extension [UInt8] {
    /// Appends a number of some bytes, little-endian.
    package mutating func append(_ number: Int, _ size: Int) {
        for k in 0..<size { append(UInt8(truncatingIfNeeded: number >> (8 * k))) }
    }

    /// Writes a number over what is there.
    package mutating func replace(at offset: Int, _ number: Int, _ size: Int) {
        for k in 0..<size { self[offset + k] = UInt8(truncatingIfNeeded: number >> (8 * k)) }
    }

    mutating func pad(to multiple: Int) { while count % multiple != 0 { append(0) } }
}
