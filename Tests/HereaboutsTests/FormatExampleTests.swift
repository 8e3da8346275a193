import AtlasFixture
import Foundation
import Testing

@testable import Hereabouts

/// The example of data/FORMAT.md is a file that the engine reads, and its lookups give the answers stated there.
@Suite struct FormatExampleTests {
    private let page: String
    private let bytes: [UInt8]

    init() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../data/FORMAT.md")
        page = try String(contentsOf: file, encoding: .utf8)
        bytes = try Self.bytes(ofDumpIn: page)
    }

    /// The bytes of the `hexdump -C` in a page: an offset and up to 16 bytes a line, `*` for repetitions of the line
    /// above, the size at the end.
    private static func bytes(ofDumpIn page: String) throws -> [UInt8] {
        let start = try #require(page.range(of: "\n```text\n00000000  "))
        let end = try #require(page.range(of: "\n```", range: start.upperBound..<page.endIndex))
        var bytes: [UInt8] = []
        var last: [UInt8] = []
        for line in ("00000000  " + page[start.upperBound..<end.lowerBound]).split(separator: "\n") where line != "*" {
            let offset = try #require(Int(line.prefix(8), radix: 16))
            while bytes.count < offset { bytes += last }
            try #require(bytes.count == offset)
            last = try line.dropFirst(8).prefix(51).split(separator: " ").map { try #require(UInt8($0, radix: 16)) }
            bytes += last
        }
        return bytes
    }

    /// The cells of each row of the table whose first column has this title.
    private func rows(under title: String) throws -> [[String]] {
        let lines = page.components(separatedBy: "\n")
        let head = try #require(lines.firstIndex { $0.hasPrefix("| \(title) |") })
        return lines[(head + 2)...].prefix { $0.hasPrefix("|") }.map { line in
            line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
                .map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    @Test func `the dump is what the description says`() {
        var fixture = AtlasFixture(
            top: Array(repeating: .value(.region(0)), count: 6 * 16_384),
            regions: [
                AtlasFixture.Region(latitude: 0, longitude: 0, accuracy: 81_910),
                AtlasFixture.Region(
                    latitude: 3_176_397, longitude: -10_649_525, accuracy: 2_900, country: 1, name: 0,
                    anonymity: AtlasFixture.packedAnonymity(promised: 67_000, residents: 85_000), concentration: 31),
                AtlasFixture.Region(
                    latitude: 3_172_989, longitude: -10_649_378, accuracy: 2_070, country: 2, name: 1, isNear: true,
                    anonymity: AtlasFixture.packedAnonymity(promised: 20_000, residents: 25_000), concentration: 24),
            ])
        fixture.top[AtlasFixture.cell(face: 4, column: 18, row: 40)] = .block(0)
        // By Morton code: quarter 0 of the root, its quarter 2, and of that quarter 0, which ends with the cut.
        fixture.blocks = [
            AtlasFixture.Block([
                (0, .region(1)), (0x2200, .region(2)), (0x2300, .cut(0)), (0x2400, .region(1)), (0x2800, .region(2)),
                (0x4000, .region(1)), (0x8000, .region(2)), (0xC000, .region(0)),
            ])
        ]
        fixture.cuts = [
            AtlasFixture.Cut(
                level: 11, regions: [1, 2], closings: [.init(x: 100, code: 1)],
                chains: [.init(code: 1, vertices: [100, 0, 140, 90, 110, 170, 150, 255])])
        ]
        fixture.names = ["El Paso", "Ciudad Juárez"]
        fixture.countries = ["XZ", "US", "MX"]
        fixture.about = #"{"sources":[{"name":"Example","licence":"CC0-1.0"}]}"#
        #expect(bytes.count == 393_864)
        #expect(bytes == fixture.bytes)
    }

    @Test func `the engine gives the answers that the table states`() throws {
        let atlas = try Atlas(bytes: bytes)
        let rows = try rows(under: "latitude")
        #expect(rows.count > 10)
        for row in rows {
            let latitude = try #require(Double(row[0])), longitude = try #require(Double(row[1]))
            let leaf = FaceIJ(latitude: latitude, longitude: FaceIJ.wrappedLongitude(longitude))
            #expect([String(leaf.face), String(leaf.i), String(leaf.j)] == Array(row[2...4]), "\(row)")
            let region = try atlas.snap(latitude: latitude, longitude: longitude)
            #expect(String(region.index) == row[6], "\(row)")
            let location = try atlas.reducedLocation(of: region)
            #expect(location.coordinate.latitude == Double(row[7]), "\(row)")
            #expect(location.coordinate.longitude == Double(row[8]), "\(row)")
            #expect(location.horizontalAccuracy == Double(row[9]), "\(row)")
            #expect(location.region.cell.token == row[10], "\(row)")
            #expect(location.country.code == row[11], "\(row)")
            #expect(location.place?.description ?? "" == row[12], "\(row)")
        }
        let elPaso = try atlas.snap(latitude: 31.7463, longitude: -106.47)
        #expect(try atlas.anonymity(of: elPaso) == 83_542 && atlas.anonymityLowerBound(of: elPaso) == 64_419)
        let juarez = try atlas.snap(latitude: 31.738, longitude: -106.485)
        #expect(try atlas.concentration(of: elPaso) == 3_100 && atlas.concentration(of: juarez) == 2_400)
        #expect(try atlas.anonymity(of: juarez) == 24_837 && atlas.anonymityLowerBound(of: juarez) == 20_000)
        #expect(try atlas.aboutJSON.contains(#""licence":"CC0-1.0""#))
    }

    /// The text's own rules, followed on the dump without the engine, lead the same way.
    @Test func `the rules lead along the path that the table states`() throws {
        for row in try rows(under: "latitude") {
            let (face, i, j) = (try #require(Int(row[2])), try #require(Int(row[3])), try #require(Int(row[4])))
            let (path, region) = walk(face, i, j)
            #expect([path, String(region)] == Array(row[5...6]), "\(row)")
        }
    }

    /// A number of some bytes in the dump.
    private func number(_ offset: Int, _ size: Int) -> Int {
        (0..<size).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
    }

    private func walk(_ face: Int, _ i: Int, _ j: Int) -> (path: String, region: Int) {
        let (top, blocks) = (number(0x48, 8), number(0x58, 8))
        let topEntry = number(top + 4 * (face * 16_384 + (i >> 23) * 128 + (j >> 23)), 4)
        if topEntry >> 31 == 1 { return ("top", topEntry & 0xff_ffff) }
        let root = blocks + 4 * topEntry
        var path: [String] = []
        var node = root
        var value: Int?
        for bit in stride(from: 22, through: 15, by: -1) where value == nil {
            func quarter(_ bit: Int) -> Int { (i >> bit & 1) * 2 + (j >> bit & 1) }
            path.append(String(quarter(bit)))
            let byte = number(node + quarter(bit), 1), entry = byte < 128 ? 0 : number(node + 4 + 4 * (byte % 4), 4)
            if byte < 128 {
                value = number(root - 3 * (byte + 1), 3)
            } else if byte >= 132 {
                node += 4 + 4 * (byte - 132)
            } else if entry >> 31 == 1 {
                value = entry & 0xff_ffff
            } else if entry >> 30 == 1 {
                path.append(String(quarter(bit - 1)))
                value = number(root - 3 * ((entry >> (7 * quarter(bit - 1)) & 0x7f) + 1), 3)
            } else {
                node = blocks + 4 * entry
            }
        }
        guard let value, value >> 23 == 1 else { return (path.joined(separator: " "), value ?? -1) }
        return ((path + ["cut"]).joined(separator: " "), regionInCut(number(0x68, 8) + 4 * (value & 0x7f_ffff), i, j))
    }

    /// Cuts of one-byte coordinates, as the example's is.
    private func regionInCut(_ cut: Int, _ i: Int, _ j: Int) -> Int {
        let side = 1 << (30 - number(cut, 1)), unit = 2 * side
        let (x, y) = ((2 * (i % side) + 1) * 255, (2 * (j % side) + 1) * 255)
        var at = cut + 4 + 4 << number(cut + 1, 1), code = 0
        for _ in 0..<number(cut + 2, 1) {
            if number(at, 1) * unit < x { code ^= number(at + 1, 1) }
            at += 2
        }
        for _ in 0..<number(cut + 3, 1) {
            let count = number(at, 1)
            for edge in 0..<count - 1 {
                let ends = (0..<4).map { number(at + 2 + 2 * edge + $0, 1) * unit }
                guard (ends[0] < x) != (ends[2] < x) else { continue }
                let cross = (ends[2] - ends[0]) * (y - ends[1]) - (ends[3] - ends[1]) * (x - ends[0])
                if ends[2] > ends[0] ? cross >= 0 : cross <= 0 { code ^= number(at + 1, 1) }
            }
            at += 2 + 2 * count
        }
        return number(cut + 4 + 4 * code, 4)
    }
}
