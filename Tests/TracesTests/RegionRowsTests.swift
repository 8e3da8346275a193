import FixedRandom
import Foundation
import Hereabouts
import Testing

@testable import Traces

/// The library's rows are those that `snap` and `convert` write.
@Suite struct RegionRowsTests {
    private func bytes(_ buffer: borrowing ByteBuffer) -> [UInt8] {
        unsafe buffer.withBytes { bytes in unsafe Array(bytes) }
    }

    @Test func `rows are the command's, byte by byte`() throws {
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("data/world.atlas").path
        // Validated as it is used, as any atlas may be.
        let atlas = try Atlas(contentsOf: path, validation: .onFirstUse)
        var random = SplitMix64(seed: 61)
        var csv = RegionRows(of: atlas, as: .csv), json = RegionRows(of: atlas, as: .json)
        // Each again, from the text that was kept.
        let indices = (0..<20_000).map { _ in UInt32.random(in: 0..<UInt32(atlas.regionCount), using: &random) }
        let quoted = atlas.regions.enumerated().filter { offset, region in
            (try? atlas.reducedLocation(of: region).place?.name.contains(where: { ",\"\\".contains($0) })) == true
        }.map { UInt32($0.offset) }
        for index in indices + quoted + indices.prefix(1_000) {
            let region = Region(index: index), marked = atlas.regions[Int(index)]
            var expected = ByteBuffer(capacity: 256), found: [UInt8] = []
            RegionForm.csv.append(region, of: atlas, to: &expected)
            try csv.append(marked, to: &found)
            #expect(found == bytes(expected))
            found = []
            expected.removeAll()
            expected.append("{")
            RegionForm.ndjson.append(region, of: atlas, to: &expected)
            try json.append(marked, to: &found)
            #expect(found == bytes(expected))
        }
        #expect(!quoted.isEmpty)
        var blank: [UInt8] = []
        try csv.append(.invalid, to: &blank)
        try json.append(.invalid, to: &blank)
        let expected = "\(RegionForm.csvBlank){\(RegionForm.ndjsonBlank)"
        #expect(String(decoding: blank, as: UTF8.self) == expected)
        #expect(RowFormat.csvHeader + "\n" == "\(RegionForm.csvHeader)")
    }
}
