import FixedRandom
import Foundation
import Hereabouts
import SurfaceFixture
import Testing

@testable import AtlasSources

/// Population surfaces, well-formed and hostile.
@Suite struct SurfaceReaderTests {
    private typealias Cell = SurfaceFixture.Cell

    private func cell(_ face: Int, _ i: Int, _ j: Int, _ level: Int) -> CellID {
        CellID(face: face, i: UInt32(i << (30 - level)), j: UInt32(j << (30 - level)), level: level)
    }

    /// Cells of many levels on several faces, with two sources.
    private var sample: SurfaceFixture {
        let parent = cell(2, 700, 900, 10)
        var surface = SurfaceFixture(
            [
                Cell(cell(0, 0, 0, 0), value: 254, ratios: [128, 0]),
                Cell(parent.child(0), value: 1, certainty: 15, ratios: [255, 1]),
                Cell(parent.child(2).child(3), value: 49, ratios: [120, 136]),
                Cell(parent.child(3).child(0).child(1).child(2).child(3), value: 100, ratios: [0, 144]),
                Cell(parent.child(3).child(1), value: 61, ratios: [0, 144]),
                Cell(cell(5, 32_767, 32_767, 15), value: 73, ratios: [64, 192]),
            ], sources: ["worldpop", "sixteen-letters!"])
        surface.shares[15] = 0.25
        return surface
    }

    private func withFile<Result>(_ bytes: [UInt8], _ body: (String) throws -> Result) throws -> Result {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("surface-\(UUID().uuidString)")
        try Data(bytes).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        return try body(url.path)
    }

    private func cells(_ bytes: [UInt8]) throws -> [SurfaceCell] {
        try withFile(bytes) { path in
            var all: [SurfaceCell] = []
            try SurfaceReader(path: path).forEachChunk { all += $0 }
            return all
        }
    }

    /// What is wrong with a file; nil for nothing.
    private func problem(_ bytes: [UInt8]) throws -> SurfaceProblem? {
        try withFile(bytes) { path in
            do throws(InputError) {
                try SurfaceReader(path: path).forEachChunk { _ in }
                return nil
            } catch {
                guard case .badSurface(path, let problem) = error else { throw error }
                return problem
            }
        }
    }

    @Test func `what was written is read`() throws {
        let surface = sample, read = try cells(surface.bytes)
        #expect(read.map(\.id) == surface.cells.map(\.id.rawValue))
        for (cell, written) in zip(read, surface.cells) {
            #expect(abs(cell.residents / written.residents - 1) < 1e-14)
            #expect(cell.promised == cell.residents * Double(surface.shares[Int(written.certainty)]))
            for source in 0..<2 {
                let r = written.ratios[source]
                #expect(abs(Double(cell.ratios[source]) - (r == 0 ? 0 : exp2(Double(r) / 8 - 16))) <= 1e-6 * 4e4)
            }
            #expect(cell.ratios[2] == 0)
        }
        // 2^((49 - 49) / 12) is one resident, 61 is two.
        #expect(read[2].residents == 1 && read[4].residents == 2)
        try withFile(surface.bytes) { path in
            let sources = try SurfaceReader(path: path).sources, isSurface = try SurfaceReader.recognizes(path)
            #expect(sources == ["worldpop", "sixteen-letters!"] && isSurface)
        }
    }

    @Test func `many cells come in chunks without loss`() throws {
        var random = SplitMix64(seed: 12)
        let parent = cell(1, 3, 5, 6)
        var cells: [Cell] = []
        var next = parent.rangeMin.parent(level: 15)
        while next <= parent.rangeMax {
            if UInt8.random(in: 0...2, using: &random) > 0 {
                cells.append(
                    Cell(
                        next, value: .random(in: 1...100, using: &random),
                        ratios: [.random(in: 0...255, using: &random)]))
            }
            next = next.next
        }
        #expect(cells.count > 150_000)
        let surface = SurfaceFixture(cells, sources: ["one"])
        try withFile(surface.bytes) { path in
            var ids: [UInt64] = [], largest = 0, sum = 0.0
            try SurfaceReader(path: path).forEachChunk { chunk in
                ids += chunk.map(\.id)
                largest = max(largest, chunk.count)
                sum += chunk.reduce(0) { $0 + $1.residents }
            }
            #expect(ids == surface.cells.map(\.id.rawValue) && largest == 65_536)
            #expect(abs(sum / surface.cells.reduce(0) { $0 + $1.residents } - 1) < 1e-12)
        }
    }

    @Test func `nobody anywhere`() throws {
        #expect(try cells(SurfaceFixture([]).bytes).isEmpty)
    }

    @Test func `rows and pipes are not surfaces`() throws {
        for text in ["", "HBPEOPL", "1 2 3\n", "longitude,latitude,population\n"] {
            let isSurface = try withFile(Array(text.utf8)) { try SurfaceReader.recognizes($0) }
            #expect(!isSurface)
        }
        #expect(try !SurfaceReader.recognizes("/dev/null"))
        #expect(throws: InputError.self) { try SurfaceReader.recognizes("/nonexistent") }
    }

    // MARK: Hostile files

    @Test func `every truncation and every flipped bit is refused`() throws {
        let bytes = sample.bytes
        for count in 0..<bytes.count { #expect(try problem(Array(bytes.prefix(count))) != nil) }
        // Bits of the shares are not covered by the checksum: what they say may be as well-formed.
        for offset in bytes.indices where !(24..<88 + 32).contains(offset) {
            var flipped = bytes
            flipped[offset] ^= 1 << UInt8(offset % 8)
            #expect(try problem(flipped) != nil, "at \(offset)")
        }
        #expect(try problem(bytes + [0]) == .checksum)
    }

    @Test func `a header that lies is refused`() throws {
        func problem(at offset: Int, _ bytes: [UInt8]) throws -> SurfaceProblem? {
            var header = sample.header
            header.replaceSubrange(offset..<offset + bytes.count, with: bytes)
            return try self.problem(SurfaceFixture.file(header: header, streams: sample.streams))
        }
        #expect(try problem(at: 0, [0]) == .notASurface)
        #expect(try problem(at: 8, [2]) == .version)
        #expect(try problem(at: 12, [16]) == .levels)
        #expect(try problem(at: 16, [12]) == .levels)
        #expect(try problem(at: 20, [9]) == .sources)
        for share in [Float.nan, -0.5, 1.5, .infinity] {
            #expect(try problem(at: 24 + 4 * 7, SurfaceFixture.little(share.bitPattern)) == .share)
        }
        // The class of some cell promises nothing.
        #expect(try problem(at: 24 + 4 * 15, [0, 0, 0, 0]) == .badClass)
        for name in ["", "a b", "a\u{1}", "a\0b", "\u{e9}"] {
            let field = Array((name + String(repeating: "\0", count: 16)).utf8.prefix(16))
            #expect(try problem(at: 88, field) == .sources)
        }
        #expect(try problem(at: 88, Array(sample.header[104..<120])) == .sources)
    }

    @Test func `streams that lie are refused`() throws {
        func problem(_ change: (inout [[UInt8]]) -> Void, lengths: [Int: UInt64] = [:]) throws -> SurfaceProblem? {
            var streams = sample.streams
            change(&streams)
            return try self.problem(SurfaceFixture.file(header: sample.header, streams: streams, lengths: lengths))
        }
        #expect(try problem { _ in } == nil)
        for stream in 0..<4 {
            #expect(try problem { $0[stream].removeLast() } == .corruptStream, "\(stream) is short")
            #expect(try problem { $0[stream].append(0) } == .corruptStream, "\(stream) is long")
            let count = UInt64(sample.streams[stream].count)
            for length in [0, count - 1, count + 1] {
                #expect(try problem({ _ in }, lengths: [stream: length]) == .corruptStream, "\(stream): \(length)")
            }
            for length: UInt64 in [1 << 27 + 1, 1 << 63, .max] {
                #expect(try problem({ _ in }, lengths: [stream: length]) == .lengths)
            }
        }
        #expect(try problem { $0.removeLast() } == .lengths)
        #expect(try problem { $0.append([]) } == .lengths)
        #expect(try problem { $0[1][0] = 16 } == .badClass)
        #expect(try problem { $0[0] = [UInt8](repeating: 255, count: 1_000) } == .tooDeep)
    }

    @Test func `packed bytes that are no stream are refused`() throws {
        let streams = sample.streams
        func problem(_ change: (inout [UInt8]) -> Void) throws -> SurfaceProblem? {
            var body: [UInt8] = []
            for (index, stream) in streams.enumerated() {
                var packed = SurfaceFixture.packed(stream)
                if index == 1 { change(&packed) }
                body += SurfaceFixture.little(UInt64(stream.count)) + SurfaceFixture.little(UInt64(packed.count))
                body += packed
            }
            return try self.problem(sample.header + SurfaceFixture.little(XXH64.hash(body)) + body)
        }
        #expect(try problem { _ in } == nil)
        #expect(try problem { $0 = [] } == .corruptStream)
        #expect(try problem { $0[0] = 0 } == .corruptStream)
        #expect(try problem { $0[$0.count - 1] ^= 1 } == .corruptStream)
        #expect(try problem { $0.removeLast(4) } == .corruptStream)
        #expect(try problem { $0.append(0) } == .corruptStream)
    }

    @Test func `a bomb is refused before it goes off`() throws {
        // 100 MB of empty faces in 100 KB: only six bytes of them are read.
        var streams = SurfaceFixture([]).streams
        streams[0] = [UInt8](repeating: 0, count: 100_000_000)
        let bytes = SurfaceFixture.file(header: SurfaceFixture([]).header, streams: streams)
        #expect(bytes.count < 200_000)
        #expect(try problem(bytes) == .corruptStream)
    }

    @Test func `more people than can be are refused`() throws {
        let parent = cell(4, 0, 0, 5)
        var cells: [Cell] = []
        var next = parent.rangeMin.parent(level: 14)
        while next <= parent.rangeMax {
            cells.append(Cell(next, value: 254))
            next = next.next
        }
        #expect(try problem(SurfaceFixture(Array(cells.prefix(140_000))).bytes) == nil)
        #expect(try problem(SurfaceFixture(cells).bytes) == .tooManyResidents)
    }
}
