import Foundation
import Testing

@testable import Hereabouts

private let model = AtlasModel(seed: 1)
private let modelFile = model.fixture.file()

/// Files that are changed while an atlas is open.
@Suite struct AtlasInUseTests {
    private final class Scratch {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("hereabouts-\(UUID().uuidString)")
        var path: String { folder.appendingPathComponent("file.atlas").path }

        init(_ bytes: [UInt8]) throws {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try write(bytes)
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        /// Writes the file in place, from an offset on.
        func write(_ bytes: [UInt8], at offset: UInt64 = 0) throws {
            if !FileManager.default.fileExists(atPath: path) {
                _ = FileManager.default.createFile(atPath: path, contents: nil)
            }
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            try file.seek(toOffset: offset)
            try file.write(contentsOf: Data(bytes))
            try file.close()
            usleep(20_000)  // The clock of inodes ticks every few milliseconds.
        }
    }

    private func opened(_ scratch: Scratch) throws -> Atlas {
        try Atlas(contentsOf: scratch.path, validation: .onFirstUse)
    }

    @Test func `a file left alone is unchanged`() throws {
        let scratch = try Scratch(modelFile.bytes)
        let atlas = try opened(scratch)
        try atlas.checkUnchanged()
        _ = try atlas.snap(latitude: 1, longitude: 2)
        try atlas.checkUnchanged()
        try Atlas(bytes: modelFile.bytes).checkUnchanged()
    }

    @Test func `a file written over is noticed`() throws {
        let scratch = try Scratch(modelFile.bytes)
        let atlas = try opened(scratch)
        let region = try atlas.snap(latitude: 1, longitude: 2)
        _ = try atlas.reducedLocation(of: region)
        // Another atlas, which is sound.
        var other = model.fixture
        other.about = "{\"another\": true}"
        try scratch.write(other.bytes)
        #expect(throws: AtlasError.changedInUse) { try atlas.checkUnchanged() }
        // And even if the file's time is set back.
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: scratch.path)
        #expect(throws: AtlasError.changedInUse) { try atlas.checkUnchanged() }
    }

    @Test func `bytes that were used and then changed are noticed`() throws {
        let scratch = try Scratch(modelFile.bytes)
        let atlas = try opened(scratch)
        _ = try atlas.reducedLocation(of: try atlas.snap(latitude: 1, longitude: 2))
        try scratch.write([UInt8](repeating: 0xff, count: 64), at: UInt64(modelFile.layout.sections[3].lowerBound))
        #expect(throws: AtlasError.changedInUse) { try atlas.checkUnchanged() }
    }

    @Test func `a file cut short is noticed`() throws {
        let scratch = try Scratch(modelFile.bytes)
        let atlas = try opened(scratch)
        #expect(unsafe truncate(scratch.path, 4096) == 0)
        #expect(throws: AtlasError.changedInUse) { try atlas.checkUnchanged() }
    }

    @Test func `a file may be renamed, linked and replaced by renaming`() throws {
        let scratch = try Scratch(modelFile.bytes)
        let atlas = try opened(scratch)
        let region = try atlas.snap(latitude: 1, longitude: 2)
        let files = FileManager.default
        try files.linkItem(atPath: scratch.path, toPath: scratch.path + ".link")
        usleep(20_000)
        try atlas.checkUnchanged()
        _ = files.createFile(atPath: scratch.path + ".new", contents: Data([1, 2, 3]))
        #expect(unsafe rename(scratch.path + ".new", scratch.path) == 0)
        usleep(20_000)
        try atlas.checkUnchanged()
        #expect(try atlas.snap(latitude: 1, longitude: 2) == region)
    }

    /// Offsets of blocks have 30 bits, in units of 4 bytes.
    @Test func `more blocks than offsets reach are refused`() throws {
        let more = 1 << 32, sections = modelFile.layout.sections
        // The header's chunk and the table of checksums are as they should be; all between them is a hole.
        var start = Array(modelFile.bytes[..<(0x20 + 16_384)])
        let contentEnd = (sections[8].upperBound + 7) / 8 * 8 + more
        let chunks = (contentEnd - 0x20 + 16_383) / 16_384
        start.replace(at: 0x10, contentEnd + 8 * chunks, 8)
        start.replace(at: 0x60, sections[1].count + more, 8)
        for section in 2..<9 { start.replace(at: 0x48 + 16 * section, sections[section].lowerBound + more, 8) }
        var table = [UInt8](repeating: 0, count: 8 * chunks)
        table.replace(at: 0, Int(truncatingIfNeeded: XXH64.hash(Array(start[0x20...]))), 8)
        start.replace(at: 0x18, Int(truncatingIfNeeded: XXH64.hash(table)), 8)
        let scratch = try Scratch(start)
        try scratch.write(table, at: UInt64(contentEnd))
        let error = #expect(throws: AtlasFileError.self) { _ = try self.opened(scratch) }
        #expect(error?.reason == .malformedHeader)
    }
}
