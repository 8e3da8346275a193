import FixedRandom
import Foundation
import Hereabouts
import Testing

/// The articles quote files that are compiled here, and what they say of them holds with the world's atlas.
@Suite struct DocumentationTests {
    private static let project = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let worldPath = project.appendingPathComponent("data/world.atlas").path
    private let elPaso = Coordinate(latitude: 31.7587, longitude: -106.4869)

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Self.project.appendingPathComponent(path), encoding: .utf8)
    }

    /// How many cases the suites have that `make test` takes a sample of.
    @Test func `the cases of each sampled suite are those of the table`() throws {
        let table = try text("CONTRIBUTING.md").components(separatedBy: "| cases |")[1].components(separatedBy: "\n\n")[
            0]
        let rows = table.split(separator: "\n").dropFirst(2).map { row in
            row.split(separator: "|").prefix(3).map { $0.trimmingCharacters(in: .whitespaces) }
        }
        #expect(rows == SampleSize.allCases.map { ["`\($0)`", "\($0.sampled)", "\($0.full)"] })
    }

    private func swiftBlocks(_ article: String) throws -> [String] {
        try text("Sources/Hereabouts/Hereabouts.docc/\(article).md").components(separatedBy: "```swift\n").dropFirst()
            .map {
                $0.components(separatedBy: "```")[0]
            }
    }

    @Test(arguments: [
        ("ReducingALocation", "ReducingExample"), ("PacingAMovingDevice", "PacingExample"),
        ("ManagingAnAtlas", "AtlasExample"),
    ]) func `articles quote the compiled examples`(article: String, example: String) throws {
        #expect(try swiftBlocks(article) == [text("Tests/HereaboutsTests/Examples/\(example).swift")])
    }

    /// They are built and run by `scripts/check-examples`.
    @Test func `the library's page quotes the programs of Examples`() throws {
        let blocks = try text("docs/library.md").components(separatedBy: "```swift\n").dropFirst().map {
            $0.components(separatedBy: "```\n")[0]
        }
        let programs = try ["lines", "fleet", "consumers"].map { try text("Examples/Sources/\($0)/main.swift") }
        #expect(Array(blocks.dropFirst()) == programs)
        #expect(programs.allSatisfy { $0.split(separator: "\n", omittingEmptySubsequences: false).count <= 81 })
    }

    @Test func `the page on C quotes its example`() throws {
        let block = try text("docs/c.md").components(separatedBy: "```c\n")[1].components(separatedBy: "```")[0]
        #expect(try block == text("Examples/c/lines.c"))
    }

    @Test func `the landing page prints what it says`() throws {
        let block = try #require(swiftBlocks("Hereabouts").first)
        let comment = try #require(block.components(separatedBy: "print(here)  // ").last)
        let atlas = try Atlas(contentsOf: Self.worldPath, validation: .onFirstUse)
        #expect("\(try atlas.reducedLocation(at: elPaso))\n" == comment)
    }

    @Test func `the example of reducing`() throws {
        let atlas = try Atlas(contentsOf: Self.worldPath, validation: .onFirstUse)
        #expect(try line(for: elPaso, in: atlas) == "El Paso, US: within 4.11 km (r86e759b06f)")
        let nowhere = Coordinate(latitude: .nan, longitude: 0)
        let counts = try regionCounts(of: [elPaso, elPaso, nowhere], in: atlas)
        #expect(counts == [try #require(RegionID("r86e759b06f")): 2])
    }

    @Test func `the example of pacing`() throws {
        let atlas = try Atlas(contentsOf: Self.worldPath, validation: .onFirstUse)
        func fix(_ second: Int64, _ latitude: Double) throws -> Fix {
            Fix(
                coordinate: Coordinate(latitude: latitude, longitude: -106.4869),
                time: try #require(Timestamp(secondsSince1970: second)))
        }
        var dispatcher = try Dispatcher(atlas: atlas, saved: nil)
        func time(_ second: Int64) throws -> Timestamp { try #require(Timestamp(secondsSince1970: second)) }
        #expect(try dispatcher.take(fix(10, 32.9), from: "bus 12") == nil)
        #expect(try dispatcher.take(fix(60, 31.7587), from: "bus 12") == nil)
        #expect(try dispatcher.tick(time(899)).isEmpty)
        #expect(try dispatcher.tick(time(900))["bus 12"]?.place?.name == "El Paso")
        dispatcher = try Dispatcher(atlas: atlas, saved: dispatcher.saved())
        #expect(try dispatcher.take(fix(899, 32.9), from: "bus 12") == nil)
        #expect(try dispatcher.tick(time(1_800)).isEmpty)
        #expect(try dispatcher.take(fix(1_801, 32.9), from: "bus 12") == nil)
        #expect(try dispatcher.take(fix(2_701, 32.9), from: "bus 12") != nil)
        #expect(try dispatcher.tick(time(3_600)).isEmpty)
        dispatcher.tidy(now: try time(40 * 86_400))
        #expect(try dispatcher.take(fix(4_000, 31.7587), from: "bus 12") == nil)
        #expect(try dispatcher.tick(time(4_500)).isEmpty)
        #expect(try dispatcher.take(fix(40 * 86_400, 31.7587), from: "bus 12") == nil)
        #expect(try dispatcher.tick(time(40 * 86_400)).count == 1)
    }

    @Test func `the example of opening`() throws {
        #expect(try answerOnce(elPaso, atlasPath: Self.worldPath).country.code == "US")
        #expect(throws: AtlasFileError(path: "/dev/null", reason: .notAnAtlas)) { try openForService("/dev/null") }
        let atlas = try openForService(Self.worldPath)
        #expect(try credits(of: atlas).hasPrefix("© OpenStreetMap contributors (ODbL 1.0)\n"))
        #expect(try atlas.attribution.count == 6)
    }
}
