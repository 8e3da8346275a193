import FixedRandom
import Foundation
import Testing

@testable import Traces

@Suite struct CompressionTests {
    private let table = Array(
        ("id,lat,lon\n"
            + (0..<20_000).map { "d\($0 % 7),\(Double($0 % 900) / 10 - 45),\(Double($0 % 1700) / 10)\n" }.joined())
            .utf8)

    /// Compresses with our own writer.
    private func compressed(_ bytes: [UInt8], _ compression: Compression, pieces: Int = 1) throws -> [UInt8] {
        let scratch = Scratch()
        var output = try OutputFile.file(scratch.path("out"), compression: compression)
        let length = (bytes.count + pieces - 1) / pieces
        for start in stride(from: 0, to: bytes.count, by: max(length, 1)) {
            var buffer = ByteBuffer(capacity: 1 << 10)
            buffer.append(bytes: Array(bytes[start..<min(start + length, bytes.count)]))
            try output.write(&buffer)
        }
        try output.publish()
        return try #require(scratch.read("out"))
    }

    /// Decompresses with the tool of the format.
    private func decompressed(_ bytes: [UInt8], _ compression: Compression) throws -> [UInt8]? {
        let scratch = Scratch()
        let file = scratch.write(bytes, as: "packed")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [compression == .gzip ? "gzip" : "zstd", "-dc"]
        process.standardInput = FileHandle(forReadingAtPath: file)
        _ = FileManager.default.createFile(atPath: scratch.path("plain"), contents: nil)
        process.standardOutput = FileHandle(forWritingAtPath: scratch.path("plain"))
        try process.run()
        process.waitUntilExit()
        // 127: there is no such tool.
        return process.terminationStatus == 127 ? nil : scratch.read("plain")
    }

    @Test(arguments: Compression.allCases) func `what is written reads back, here and elsewhere`(
        compression: Compression
    ) throws {
        let plain = snap(table)
        for pieces in [1, 2, 100] {
            let packed = try compressed(table, compression, pieces: pieces)
            #expect(packed.count < table.count / 3)
            if let text = try decompressed(packed, compression) { #expect(text == table) }
            for (threads, readBytes) in [(1, 1 << 18), (2, 1000), (1, 3)] {
                #expect(snap(packed) { ($0.threads, $0.readBytes) = (threads, readBytes) } == plain)
            }
        }
        #expect(snap(try compressed([], compression)).error == nil)
    }

    @Test(arguments: Compression.allCases) func `members and frames one after the other are one text`(
        compression: Compression
    ) throws {
        let middle = table.count / 2 + 3
        let packed =
            try compressed(Array(table[..<middle]), compression) + compressed(Array(table[middle...]), compression)
        #expect(snap(packed) == snap(table))
        #expect(snap(packed) { $0.readBytes = 10 } == snap(table))
        if compression == .gzip { #expect(snap(packed + [UInt8](repeating: 0, count: 1000)) == snap(table)) }
        if compression == .zstd { #expect(snap([0x5a, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 7, 7] + packed) == snap(table)) }
    }

    @Test(arguments: Compression.allCases) func `a stream that breaks off or is damaged leaves no output`(
        compression: Compression
    ) throws {
        let packed = try compressed(table, compression)
        for length in [4, 5, 9, 11, 30, packed.count / 2, packed.count - 5, packed.count - 1] {
            let outcome = snap(Array(packed[..<length]))
            guard case .truncatedStream? = outcome.error else {
                Issue.record("\(length) bytes: \(String(describing: outcome.error))")
                continue
            }
            #expect(outcome.output.isEmpty)
        }
        var random = SplitMix64(seed: 14)
        for _ in 0..<40 {
            var damaged = packed
            damaged[Int.random(in: 4..<packed.count, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
            let outcome = snap(damaged)
            switch outcome.error {
            // A header has bytes that mean nothing for us.
            case nil: #expect(outcome == snap(table))
            case .truncatedStream?, .damagedStream?, .windowTooLarge?: #expect(outcome.output.isEmpty)
            default: Issue.record("\(String(describing: outcome.error))")
            }
        }
        guard case .damagedStream? = snap(packed + [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]).error else {
            Issue.record("what follows is not read")
            return
        }
    }

    /// Inputs that the fuzzer found: a member whose checksum is wrong, and a frame with a wrong block header.
    @Test(arguments: ["damaged.csv.gz", "damaged.csv.zst"])
    func `what comes before damage is the same however it is read`(name: String) throws {
        let seed = projectFolder.appendingPathComponent("Fuzz/Seeds/compressed/\(name)")
        let packed = Array(try Data(contentsOf: seed))
        let outcome = snap(packed) { $0.onError = .skip }
        for (threads, readBytes) in [(1, 1 << 10), (2, 7), (2, 1 << 18), (1, 7)] {
            #expect(snap(packed) { ($0.threads, $0.readBytes, $0.onError) = (threads, readBytes, .skip) } == outcome)
        }
    }

    @Test func `other files are read as they are`() {
        // A table may start as a frame of zstd does.
        #expect(snap("P\u{2a},lat,lon\n1,2,3\n").error == nil)
        #expect(snap("(,lat,lon\n1,2,3\n").error == nil)
        #expect(snap("P").error != nil)
        #expect(snap("1 2\n").rows.count == 2)
    }

    @Test func `names say how to compress, and what`() {
        #expect(TraceFormat.output(ofFile: "a.b/x.csv.gz") == .csv)
        #expect(TraceFormat.output(ofFile: "x.ndjson.ZST") == .ndjson)
        #expect(TraceFormat.output(ofFile: "x.jsonl") == .ndjson)
        #expect(TraceFormat.output(ofFile: "x.gz") == nil)
        #expect(TraceFormat.output(ofFile: "csv") == nil)
        #expect(Compression(ofFile: "x.csv.gz") == .gzip && Compression(ofFile: "x.csv") == nil)
    }
}
