import AtlasFixture
import FixedRandom
import Foundation
import Testing

@testable import Hereabouts

private let model = AtlasModel(seed: 1)
private let modelFile = model.fixture.file()

/// Why the bytes are refused; nil if they are not.
private func refusal(_ bytes: [UInt8]) -> AtlasError? {
    do throws(AtlasError) {
        _ = try Atlas(bytes: bytes)
        return nil
    } catch {
        return error
    }
}

@Suite struct AtlasLookupTests {
    let atlas: Atlas

    init() throws { atlas = try Atlas(bytes: modelFile.bytes) }

    @Test func `every leaf cell has the region the format gives it`() {
        var random = SplitMix64(seed: 2)
        var mismatches = 0, cutLookups = 0
        for (face, column, row) in model.dividedCells {
            for _ in 0..<300 {
                let i = column << 23 | Int.random(in: 0..<1 << 23, using: &random)
                let j = row << 23 | Int.random(in: 0..<1 << 23, using: &random)
                let leaf = FaceIJ(face: UInt8(face), i: UInt32(i), j: UInt32(j))
                if Int(atlas.region(at: leaf).index) != model.region(face: face, i: i, j: j) { mismatches += 1 }
                cutLookups += 1
            }
        }
        #expect(mismatches == 0)
        #expect(cutLookups > 10_000)
    }

    @Test func `leaf cells beside edges and grid lines too`() {
        var mismatches = 0
        for (face, column, row) in model.dividedCells {
            let sides = [0, 1, 2, 1023, 1024, 1025, 1028, (1 << 22) - 1, 1 << 22, 3 << 21, (1 << 23) - 1]
            for x in sides {
                for y in sides {
                    let i = column << 23 | x, j = row << 23 | y
                    let leaf = FaceIJ(face: UInt8(face), i: UInt32(i), j: UInt32(j))
                    if Int(atlas.region(at: leaf).index) != model.region(face: face, i: i, j: j) { mismatches += 1 }
                }
            }
        }
        #expect(mismatches == 0)
    }

    @Test func `coordinates lead to the region of their leaf cell`() throws {
        var random = SplitMix64(seed: 3)
        for _ in 0..<5_000 {
            let place = Coordinate(latitude: random.uniform(-90, 90), longitude: random.uniform(-180, 180))
            let leaf = try CellID(latitude: place.latitude, longitude: place.longitude).faceIJ()
            let expected = model.region(face: leaf.face, i: Int(leaf.i), j: Int(leaf.j))
            #expect(try Int(atlas.snap(place).index) == expected)
        }
    }

    @Test func `longitudes wrap`() throws {
        var random = SplitMix64(seed: 4)
        for _ in 0..<2_000 {
            // A multiple of 2⁻⁴⁰, so that whole turns are added without rounding.
            let latitude = random.uniform(-90, 90), longitude = (random.uniform(-180, 180) * 0x1p40).rounded() * 0x1p-40
            let region = try atlas.snap(latitude: latitude, longitude: longitude)
            let turned = longitude + (longitude < 0 ? 360 : -360)
            #expect(try atlas.snap(latitude: latitude, longitude: turned) == region)
            let east = try atlas.snap(latitude: latitude, longitude: 180)
            #expect(try atlas.snap(latitude: latitude, longitude: -180) == east)
        }
    }

    @Test(arguments: [-90.0, 90]) func `a pole is one place`(latitude: Double) throws {
        let region = try atlas.snap(latitude: latitude, longitude: 0)
        for longitude in stride(from: -180.0, through: 180, by: 7.5) {
            #expect(try atlas.snap(latitude: latitude, longitude: longitude) == region)
        }
    }

    @Test func `an invalid coordinate is an error`() {
        for latitude in [90.000001, -90.000001, 1e300, .infinity, -.infinity, .nan] {
            #expect(throws: CoordinateError.latitudeOutOfRange) { try atlas.snap(latitude: latitude, longitude: 0) }
        }
        for longitude in [(540.0).nextUp, -541, 1e300, Double.nan, .infinity, -.infinity] {
            #expect(throws: CoordinateError.longitudeOutOfRange) { try atlas.snap(latitude: 0, longitude: longitude) }
        }
    }

    @Test func `a region's record is what was written`() throws {
        for (index, region) in model.fixture.regions.enumerated() {
            let found = Region(index: UInt32(index))
            let published = try atlas.reducedLocation(of: found)
            #expect((published.coordinate.latitude * 100_000).rounded() == Double(region.latitude))
            #expect((published.coordinate.longitude * 100_000).rounded() == Double(region.longitude))
            #expect(published.horizontalAccuracy == Double(region.accuracy))
            #expect(published.country.code == model.fixture.countries[region.country])
            #expect(published.place?.name == region.name.map { model.fixture.names[$0] })
            #expect(published.place.map { !$0.isInside } == region.name.map { _ in region.isNear })
            // K = 20,000 has 15 bits.
            let (c, r) = (region.anonymity >> 7, region.anonymity & 127)
            func people(_ steps: Int) -> Double { 20_000 * exp2(Double(steps) / 16 - 16) }
            #expect(try atlas.anonymityLowerBound(of: found) == (c == 0 ? 0 : Int(people(c) + 1e-6)))
            #expect(try atlas.anonymity(of: found) == (c == 0 ? 0 : max(1, Int(people(c + r).rounded()))))
            #expect(
                try atlas.concentration(of: found)
                    == (region.concentration == 0 ? nil : 100 * Double(region.concentration)))
        }
        #expect(try atlas.aboutJSON == model.fixture.about)
        #expect(atlas.regionCount == AtlasModel.regionCount)
        #expect(atlas.steadinessMeters == 250)
        #expect(atlas.limits.largestEmptyAccuracyMeters == 60_000)
        #expect(atlas.limits.largestLeftoverAccuracyMeters == 20_000)
    }

    @Test func `an identifier leads back to a region that holds its own center`() throws {
        var fixture = model.fixture
        let cell = CellID(face: 3, i: 77 << 22 | 5 << 12, j: 99 << 22 | 9 << 12, level: 18)
        fixture.regions[3].latitude = Int((cell.center.latitude * 100_000).rounded())
        fixture.regions[3].longitude = Int((cell.center.longitude * 100_000).rounded())
        let atlas = try Atlas(bytes: fixture.bytes)
        let id = try #require(RegionID(cell.token))
        #expect(RegionID("r" + cell.token) == id && id.description == "r" + cell.token)
        #expect(atlas.region(id) == Region(index: 3))
        #expect(try atlas.reducedLocation(of: Region(index: 3)).region == id)
        #expect(atlas.region(try #require(RegionID("r" + cell.next.token))) == nil)
    }

    @Test func `a file on disk answers as the same bytes in memory`() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).atlas")
        try Data(modelFile.bytes).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        let mapped = try Atlas(contentsOf: url.path)
        var random = SplitMix64(seed: 6)
        for _ in 0..<1_000 {
            let place = Coordinate(latitude: random.uniform(-90, 90), longitude: random.uniform(-180, 180))
            #expect(try mapped.snap(place) == atlas.snap(place))
        }
    }
}

@Suite struct AtlasHeaderTests {
    @Test func `a path that is not an atlas is refused`() {
        func refusal(path: String) -> AtlasError? {
            do throws(AtlasFileError) {
                _ = try Atlas(contentsOf: path)
                return nil
            } catch {
                return error.reason
            }
        }
        #expect(refusal(path: "/nonexistent.atlas") == .unreadable(errorNumber: 2))
        #expect(refusal(path: "/dev/null") == .notAnAtlas)
        #expect(refusal(path: NSTemporaryDirectory()) == .notAnAtlas)
    }

    @Test func `truncated files are refused`() {
        let (bytes, layout) = modelFile
        var lengths = Set(layout.sections.flatMap { [$0.lowerBound, $0.upperBound] })
        for length in lengths { lengths.formUnion([length - 8, length - 1, length + 1, length + 8]) }
        lengths.formUnion(0...400)
        var random = SplitMix64(seed: 7)
        for _ in 0..<200 { lengths.insert(Int.random(in: 0..<bytes.count, using: &random)) }
        for length in lengths where length < bytes.count {
            let expected: AtlasError = length < 216 ? .notAnAtlas : .wrongSize
            #expect(refusal(Array(bytes[..<length])) == expected)
        }
        for extra in [1, 7, 8, 4096] {
            #expect(refusal(bytes + [UInt8](repeating: 0, count: extra)) == .wrongSize)
        }
    }

    @Test func `a wrong header is refused`() {
        let count = modelFile.bytes.count
        var cases: [(offset: Int, number: Int, size: Int, expected: AtlasError)] = [
            (0x00, 0x47, 1, .notAnAtlas), (0x07, 0x0D, 1, .notAnAtlas),
            (0x08, 0, 4, .unsupportedVersion(0)), (0x08, 1, 4, .unsupportedVersion(1)),
            (0x08, 2, 4, .unsupportedVersion(2)), (0x08, 3, 4, .unsupportedVersion(3)),
            (0x08, 4, 4, .unsupportedVersion(4)), (0x08, 5, 4, .unsupportedVersion(5)),
            (0x08, 6, 4, .unsupportedVersion(6)), (0x08, 8, 4, .unsupportedVersion(8)),
            (0x08, 0x0100_0000, 4, .unsupportedVersion(0x0100_0000)),
            (0x0C, 215, 4, .malformedHeader), (0x0C, 0, 4, .malformedHeader),
            (0x10, count - 8, 8, .wrongSize), (0x10, count + 8, 8, .wrongSize), (0x10, -1, 8, .wrongSize),
            (0x20, 0, 4, .malformedHeader), (0x20, 1 << 23, 4, .malformedHeader), (0x20, -1, 4, .malformedHeader),
            (0x20, AtlasModel.regionCount + 8, 4, .malformedHeader),
            (0x24, 0, 4, .malformedHeader), (0x24, 8192, 4, .malformedHeader), (0x24, 100, 4, .malformedHeader),
            (0x28, 1 << 18, 4, .malformedHeader), (0x28, 1 << 17, 4, .malformedHeader),
            (0x2C, -1, 4, .malformedHeader), (0x44, 1, 4, .malformedHeader),
        ]
        for section in 0..<9 {
            let offset = 0x48 + 16 * section, range = modelFile.layout.sections[section]
            for shift in [-8, -1, 8, 1 << 40, -(1 << 62)] {
                cases.append((offset, range.lowerBound + shift, 8, .malformedHeader))
            }
            for size in [range.count + 8, range.count &+ 1 << 40, -1, -8, Int.max] {
                cases.append((offset + 8, size, 8, .malformedHeader))
            }
        }
        for section in [1, 2] {
            // Beside the whole words that blocks and cuts are made of.
            cases.append((0x50 + 16 * section, modelFile.layout.sections[section].count - 1, 8, .malformedHeader))
        }
        for (offset, number, size, expected) in cases {
            var bytes = modelFile.bytes
            bytes.replace(at: offset, number, size)
            AtlasFixture.seal(&bytes)
            #expect(refusal(bytes) == expected, "\(number) in \(size) bytes at \(offset)")
        }
    }

    @Test func `a flipped bit is noticed`() {
        var random = SplitMix64(seed: 8)
        let sums = modelFile.layout.sections.last!.upperBound..<modelFile.bytes.count
        for section in modelFile.layout.sections + [0x18..<0xC0, sums] {
            for _ in 0..<6 {
                var bytes = modelFile.bytes
                let offset = Int.random(in: section, using: &random)
                bytes[offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                #expect(refusal(bytes) == .checksumMismatch, "byte \(offset)")
            }
        }
    }
}

extension AtlasHeaderTests {
    /// Two flips of the highest bit of words a multiple of 32 bytes apart: the checksum of format 2 did not see them.
    @Test func `two flipped high bits are noticed`() {
        let section = modelFile.layout.sections[3]
        for distance in stride(from: 32, through: 32 * 40, by: 32)
        where section.lowerBound + 7 + distance < section.upperBound {
            var bytes = modelFile.bytes
            for offset in [section.lowerBound + 7, section.lowerBound + 7 + distance] { bytes[offset] ^= 0x80 }
            #expect(refusal(bytes) == .checksumMismatch)
        }
    }
}

/// Atlases validated on first use.
@Suite struct FirstUseTests {
    private func atlas(_ bytes: [UInt8]) throws -> Atlas {
        try Atlas(file: AtlasFile(copying: bytes))
    }

    @Test func `answers are those of an atlas validated as a whole`() throws {
        let whole = try Atlas(bytes: modelFile.bytes)
        var random = SplitMix64(seed: 11)
        let places = (0..<20_000).map { _ in
            Coordinate(latitude: random.uniform(-90, 90), longitude: random.uniform(-180, 180))
        }
        let expected = try places.map { try whole.snap($0) }
        let single = try atlas(modelFile.bytes)
        #expect(try places.map { try single.snap($0) } == expected)
        let batch = try atlas(modelFile.bytes)
        var regions = [Region](repeating: .invalid, count: places.count)
        // SAFETY: both buffers are used within the call.
        unsafe places.withUnsafeBufferPointer { places in
            unsafe regions.withUnsafeMutableBufferPointer { regions in unsafe batch.snap(places, into: regions) }
        }
        #expect(regions == expected)
        for region in Set(expected) {
            #expect(try single.reducedLocation(of: region) == whole.reducedLocation(of: region))
            #expect(try single.anonymity(of: region) == whole.anonymity(of: region))
        }
        #expect(try single.aboutJSON == whole.aboutJSON)
        #expect(single.fingerprint == whole.fingerprint)
    }

    @Test func `threads that validate the same parts at once get the same answers`() async throws {
        let whole = try Atlas(bytes: modelFile.bytes), shared = try atlas(modelFile.bytes)
        let agree = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    var random = SplitMix64(seed: 12)
                    return (0..<20_000).allSatisfy { _ in
                        let place = Coordinate(latitude: random.uniform(-90, 90), longitude: random.uniform(-180, 180))
                        return (try? shared.snap(place)) == (try? whole.snap(place))
                    }
                }
            }
            return await group.reduce(true) { $0 && $1 }
        }
        #expect(agree)
    }

    /// What a level-7 cell's lookups and their regions' records say; nil where it is refused.
    private func answers(_ atlas: Atlas, _ cell: (face: Int, column: Int, row: Int)) -> [String]? {
        guard (try? atlas.validate(cell: cell.face << 14 | cell.column << 7 | cell.row)) != nil else { return nil }
        var random = SplitMix64(seed: 13)
        return (0..<50).map { _ in
            let region = atlas.region(
                at: FaceIJ(
                    face: UInt8(cell.face), i: UInt32(cell.column << 23 | Int.random(in: 0..<1 << 23, using: &random)),
                    j: UInt32(cell.row << 23 | Int.random(in: 0..<1 << 23, using: &random))))
            return "\(region) \(atlas.center(of: region)) \(atlas.horizontalAccuracy(of: region))"
        }
    }

    @Test func `damage is found before use`() throws {
        let sound = try atlas(modelFile.bytes)
        let expected = model.dividedCells.map { answers(sound, $0) }
        let soundNames = try (0..<sound.nameCount).map { try sound.validatedName($0) }
        var random = SplitMix64(seed: 14)
        var refused = 0, unharmed = 0
        for section in modelFile.layout.sections.dropLast(1) {
            for _ in 0..<8 {
                var bytes = modelFile.bytes
                bytes[Int.random(in: max(section.lowerBound, 0x20 + 1 << 14)..<section.upperBound, using: &random)] ^= 4
                let damaged = try atlas(bytes)
                for (cell, expected) in zip(model.dividedCells, expected) {
                    let found = answers(damaged, cell)
                    if found == nil { refused += 1 } else { unharmed += 1 }
                    #expect(found == nil || found == expected)
                }
                let names = (0..<damaged.nameCount).map { try? damaged.validatedName($0) }
                #expect(zip(names, soundNames).allSatisfy { $0 == nil || $0 == $1 })
                #expect(section != modelFile.layout.sections[7] || names.contains(nil))
            }
        }
        #expect(refused > 20 && unharmed > 20)
    }

    @Test func `damage in use ends the process`() async throws {
        await #expect(processExitsWith: .exitCode(7)) {
            var bytes = modelFile.bytes
            for offset in modelFile.layout.sections[1] { bytes[offset] ^= 1 }
            let atlas = try Atlas(file: AtlasFile(copying: bytes) { exit($0 == .checksumMismatch ? 7 : 8) })
            let (face, column, row) = model.dividedCells[0]
            _ = atlas.region(at: FaceIJ(face: UInt8(face), i: UInt32(column << 23), j: UInt32(row << 23)))
        }
    }
}

@Suite struct HostileAtlasTests {
    /// One change to a section, and the file sealed again.
    private func refusal(_ section: Int, _ offset: Int, _ number: Int, _ size: Int) -> AtlasError? {
        var bytes = modelFile.bytes
        bytes.replace(at: modelFile.layout.sections[section].lowerBound + offset, number, size)
        AtlasFixture.seal(&bytes)
        return HereaboutsTests.refusal(bytes)
    }

    private func number(_ section: Int, _ offset: Int, _ size: Int) -> Int {
        let start = modelFile.layout.sections[section].lowerBound + offset
        return (0..<size).reduce(0) { $0 | Int(modelFile.bytes[start + $1]) << (8 * $1) }
    }

    @Test func `corrupt top entries are refused`() {
        let corruptions = [
            1 << 31 | AtlasModel.regionCount, 1 << 31 | 0x00ff_ffff, 1 << 31 | 1 << 24, 0xffff_ffff,
            modelFile.layout.sections[1].count / 4, 0x3fff_fffc, 0x7fff_ffff,
        ]
        for corruption in corruptions {
            #expect(refusal(0, 4 * 1000, corruption, 4) == .malformed(section: "top"), "\(corruption)")
        }
        // Within a list or a node, not at a root.
        for corruption in [0, 1, 3, modelFile.layout.sections[1].count / 4 - 1] {
            #expect(refusal(0, 4 * 1000, corruption, 4) == .malformed(section: "blocks"), "\(corruption)")
        }
    }

    /// A block that stands alone in its file, and what leads to it: the file, the offset of its root, its nodes.
    private func parts(
        ofBlock index: Int
    ) -> (bytes: [UInt8], root: Int, nodes: [(offset: Int, level: Int, entries: [Int])]) {
        var single = model.fixture
        single.blocks = [single.blocks[index]]
        single.top = single.top.map {
            if case .block(let other) = $0 { other == index ? .block(0) : .value(.region(0)) } else { $0 }
        }
        let (bytes, layout) = single.file(), section = layout.sections[1].lowerBound
        func entry(_ offset: Int) -> Int { (0..<4).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) } }
        var nodes: [(offset: Int, level: Int, entries: [Int])] = []
        func walk(_ node: Int, _ level: Int) {
            let count = bytes[node..<node + 4].count { $0 >> 2 == 32 }
            let entries = (0..<count).map { entry(node + 4 + 4 * $0) }
            nodes.append((node, level, entries))
            if bytes[node..<node + 4].contains(where: { $0 >= 132 }) { walk(node + 4 + 4 * count, level + 1) }
            for entry in entries where entry >> 30 == 0 { walk(section + entry * 4, level + 1) }
        }
        let cell = single.top.firstIndex(of: .block(0))!
        let root = section + entry(layout.sections[0].lowerBound + 4 * cell) * 4
        walk(root, 1)
        return (bytes, root - section, nodes)
    }

    /// Of two values, of many without a list and with a short one, and of more than a list has.
    @Test(arguments: [0, 2, 3, 4]) func `a corrupt node anywhere in a block is refused`(index: Int) {
        let (bytes, root, nodes) = parts(ofBlock: index)
        #expect(HereaboutsTests.refusal(bytes) == nil)
        let expected = AtlasError.malformed(section: "blocks")
        var kinds: Set<Int> = []
        func refusal(_ offset: Int, _ number: Int, _ size: Int) -> AtlasError? {
            var bytes = bytes
            bytes.replace(at: offset, number, size)
            AtlasFixture.seal(&bytes)
            return HereaboutsTests.refusal(bytes)
        }
        // The root, a node that leads to others and has quartets, and the last of all.
        let mixed = nodes.first { node in (0...1).allSatisfy { kind in node.entries.contains { $0 >> 30 == kind } } }
        for (offset, level, entries) in [nodes[0], mixed, nodes.last].compactMap({ $0 }) {
            for quarter in offset..<offset + 4 {
                // An entry out of its order, one too many, a node that follows too early, too late or a second time, and
                // numbers that none can have. As an entry, the node of the only divided quarter may mean something.
                let isOnly = bytes[quarter] == 132
                for corruption in [128, 128 + entries.count, 132, 133, 134, 135, 136, 255]
                where corruption != bytes[quarter] && !(corruption == 128 && isOnly) {
                    #expect(refusal(quarter, corruption, 1) == expected, "\(corruption) for \(bytes[quarter])")
                }
            }
            for (number, entry) in entries.enumerated() {
                let at = offset + 4 + 4 * number, node = (offset - nodes[0].offset + root) / 4
                kinds.insert(entry >> 30)
                // A region too many; nodes before, at, beside and beyond their place; a tree that never ends.
                #expect(refusal(at, 1 << 31 | AtlasModel.regionCount, 4) == expected)
                for corruption in [0, node, node + 1, node + 5 * nodes.count, 0x3fff_ffff] where corruption != entry {
                    #expect(refusal(at, corruption, 4) == expected, "\(corruption) for \(entry)")
                }
                if entry >> 30 == 0 {
                    for change in [-5, -1, 1, 5] { #expect(refusal(at, entry + change, 4) == expected) }
                }
                // One value, and bits that mean nothing.
                if entry >> 31 == 1 {
                    for bit in [24, 27, 30] { #expect(refusal(at, entry | 1 << bit, 4) == expected) }
                }
                // Cells below the finest.
                if level == 8 { #expect(refusal(at, 1 << 30, 4) == expected) }
            }
        }
        #expect(index < 4 || kinds.isSuperset(of: [0, 1, 2]))
    }

    /// Those whose other rules are kept, too: an entry for the first divided quarter, or one before it.
    @Test func `every hostile block is refused`() {
        let files = HostileFiles.atlases.filter { $0.name.hasPrefix("node-") }
        #expect(files.count > 10 && HereaboutsTests.refusal(HostileFiles.sound.bytes) == nil)
        for (name, bytes) in files {
            #expect(HereaboutsTests.refusal(bytes) == .malformed(section: "blocks"), "\(name)")
        }
    }

    @Test func `a corrupt list is refused`() {
        let (bytes, root, nodes) = parts(ofBlock: 4), expected = AtlasError.malformed(section: "blocks")
        func refusal(_ change: (inout [UInt8]) -> Void) -> AtlasError? {
            var bytes = bytes
            change(&bytes)
            AtlasFixture.seal(&bytes)
            return HereaboutsTests.refusal(bytes)
        }
        let start = nodes[0].offset, length = root / 3
        #expect(length > 100)
        for position in [0, 1, 2, length / 2, length - 2] {
            for value in [AtlasModel.regionCount, 0x7f_ffff, 0xff_ffff] {
                #expect(refusal { $0.replace(at: start - 3 * (position + 1), value, 3) } == expected)
            }
        }
        // A position that no list of this block could have, as the section begins before it.
        func quartet(_ nodes: [(offset: Int, level: Int, entries: [Int])]) -> (offset: Int, entry: Int) {
            nodes.flatMap { node in node.entries.enumerated().map { (node.offset + 4 + 4 * $0, $1) } }
                .first { $0.1 >> 30 == 1 }!
        }
        let (short, shortRoot, shortNodes) = parts(ofBlock: 1)
        #expect(shortRoot < 3 * 127)
        let single = (shortNodes[0].offset..<shortNodes[0].offset + 4).first { short[$0] < 128 }!
        for (at, number, size) in [(quartet(shortNodes).offset, 1 << 30 | 127 << 21, 4), (single, 127, 1)] {
            var corrupt = short
            corrupt.replace(at: at, number, size)
            AtlasFixture.seal(&corrupt)
            #expect(HereaboutsTests.refusal(corrupt) == expected)
        }
        let (offset, entry) = quartet(nodes)
        #expect(refusal { $0.replace(at: offset, entry | 1 << 31, 4) } != nil)
    }

    @Test func `corrupt cuts are refused`() {
        // The first cut has level 7 and rank 1: head, two regions, closings of three bytes, chains.
        let expected = AtlasError.malformed(section: "cuts")
        for level in [0, 6, 16, 255] { #expect(refusal(2, 0, level, 1) == expected) }
        for rank in [0, 4, 63, 64, 255] { #expect(refusal(2, 1, rank, 1) == expected) }
        for region in [AtlasModel.regionCount, -1] {
            #expect(refusal(2, 4, region, 4) == expected)
            #expect(refusal(2, 8, region, 4) == expected)
        }
        let closings = model.fixture.cuts[0].closings.count, chain = 12 + 3 * closings
        for count in [0, 1] { #expect(refusal(2, chain, count, 1) == expected, "a chain of too few vertices") }
        for code in [0, 2, 255] { #expect(refusal(2, chain + 1, code, 1) == expected) }
    }

    @Test func `the last cut cannot reach beyond its section`() {
        let size = modelFile.layout.sections[2].count
        var offset = 0
        for cut in model.fixture.cuts.dropLast() {
            var single = model.fixture
            single.cuts = [cut]
            single.blocks = []
            single.top = single.top.map { if case .block = $0 { .value(.region(0)) } else { $0 } }
            offset += single.file().layout.sections[2].count
        }
        #expect(offset < size && number(2, offset, 1) == 15)
        for (at, what) in [(2, "closings"), (3, "chains")] {
            #expect(refusal(2, offset + at, 255, 1) == .malformed(section: "cuts"), "\(what)")
        }
    }

    @Test func `corrupt region records are refused`() {
        let places = AtlasError.malformed(section: "centers"), labels = AtlasError.malformed(section: "labels")
        let sound = 9_000_000 | 18_000_000 << 25 | 100 << 51
        #expect(refusal(3, 8, sound, 8) == nil)
        #expect(refusal(3, 8, sound + 9_000_001, 8) == places, "latitude")
        #expect(refusal(3, 8, sound + 18_000_001 << 25, 8) == places, "longitude")
        #expect(refusal(3, 8, sound - 100 << 51, 8) == places, "accuracy")
        for region in [0, 1, 2, 3, 4, 5, 7, 8, 15, 16, AtlasModel.regionCount - 2, AtlasModel.regionCount - 1] {
            #expect(refusal(3, 8 * region, sound - 100 << 51, 8) == places, "region \(region)")
            #expect(refusal(4, 4 * region, 5, 4) == labels, "region \(region)")
        }
        for name in [5, 0x3ffff] { #expect(refusal(4, 8, name, 4) == labels) }
        for country in [3, 8191] { #expect(refusal(4, 8, country << 19, 4) == labels) }
    }

    @Test func `corrupt names are refused`() {
        let expected = AtlasError.malformed(section: "names")
        #expect(refusal(7, 0, 1, 4) == expected, "the first offset")
        #expect(refusal(7, 4, 100_000, 4) == expected)
        #expect(refusal(7, 4, -1, 4) == expected)
        #expect(refusal(7, 8, 3, 4) == expected, "descending")
        #expect(refusal(7, 16, 200, 4) == expected, "beyond the section")
    }

    @Test func `text that is not UTF-8 is repaired`() throws {
        var bytes = modelFile.bytes
        for section in [7, 8] {
            let range = modelFile.layout.sections[section]
            for offset in max(range.lowerBound, range.upperBound - 15)..<range.upperBound { bytes[offset] = 0xff }
        }
        AtlasFixture.seal(&bytes)
        let atlas = try Atlas(bytes: bytes)
        #expect(try !atlas.aboutJSON.isEmpty)
        for region in 0..<UInt32(atlas.regionCount) {
            #expect(try atlas.reducedLocation(of: Region(index: region)).horizontalAccuracy > 0)
        }
    }

    @Test func `an accepted file answers every question`() {
        var random = SplitMix64(seed: 9)
        var accepted = 0, refused = 0
        for _ in 0..<200 {
            var bytes = modelFile.bytes
            // Small sections as often as large ones, and the header's counts and offsets too.
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let section = (modelFile.layout.sections.dropFirst() + [0x20..<0xC0]).randomElement(using: &random)!
                let offset = Int.random(in: section, using: &random)
                let flipped = bytes[offset] ^ 1 << UInt8.random(in: 0..<8, using: &random)
                bytes[offset] = Bool.random(using: &random) ? flipped : UInt8.random(in: 0...255, using: &random)
            }
            AtlasFixture.seal(&bytes)
            guard let atlas = try? Atlas(bytes: bytes) else {
                refused += 1
                continue
            }
            accepted += 1
            #expect(answersSoundly(atlas, &random))
        }
        #expect(accepted > 20 && refused > 20)
    }

    private func answersSoundly(_ atlas: Atlas, _ random: inout SplitMix64) -> Bool {
        for (face, column, row) in model.dividedCells {
            for _ in 0..<20 {
                let leaf = FaceIJ(
                    face: UInt8(face), i: UInt32(column << 23 | Int.random(in: 0..<1 << 23, using: &random)),
                    j: UInt32(row << 23 | Int.random(in: 0..<1 << 23, using: &random)))
                if atlas.region(at: leaf).index >= UInt32(atlas.regionCount) { return false }
            }
        }
        for _ in 0..<10 {
            let region = Region(index: UInt32.random(in: 0..<UInt32(atlas.regionCount), using: &random))
            guard let published = try? atlas.reducedLocation(of: region),
                let residents = try? atlas.anonymity(of: region)
            else { return false }
            if published.coordinate.latitude.magnitude > 90 || published.horizontalAccuracy <= 0 { return false }
            if residents < 0 { return false }
            _ = atlas.region(published.region)
        }
        return (try? atlas.attribution) != nil
    }
}
