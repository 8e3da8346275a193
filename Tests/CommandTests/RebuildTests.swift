import FixedRandom
import Foundation
import Testing

/// Atlases built twice, on one thread and on all, and verified against what they were built from.
@Suite struct RebuildTests {
    let place = Workplace()

    private static let isReleaseBuild = ConditionTrait.enabled(
        if: ProcessInfo.processInfo.environment["HEREABOUTS_COMMAND"] != nil,
        "a debug build takes minutes to divide the rest of the world")
    private static let sources = projectFolder.appendingPathComponent(".build/sources")
    private static let names = ["borders.geojsonl", "land.geojsonl", "places.csv"]

    /// Builds an atlas twice, compares the two and verifies one; returns what the verifier prints.
    private func rebuiltAndVerified(_ build: [String], _ sources: [String]) throws -> String {
        for (name, prefix) in [("one.atlas", "taskset -c 0"), ("all.atlas", "")] {
            #if !os(Linux)
                let prefix = ""
            #endif
            let line = "\(prefix) hereabouts atlas build -o \(name) \((build + sources).joined(separator: " "))"
            let built = try place.shell(line)
            #expect(built.status == 0, "\(built.errors)")
        }
        let (one, all) = (
            FileManager.default.contents(atPath: place.path("one.atlas")),
            FileManager.default.contents(atPath: place.path("all.atlas"))
        )
        #expect(one != nil && one == all)
        let verified = try place.shell("hereabouts atlas verify all.atlas \(sources.joined(separator: " "))")
        #expect(verified.status == 0, "\(verified.output)\(verified.errors)")
        return verified.output
    }

    @Test(
        isReleaseBuild,
        .enabled(
            if: names.allSatisfy {
                FileManager.default.fileExists(atPath: sources.appendingPathComponent($0).path)
            }, "skipped: no sources in .build/sources (data/fetch-sources.sh makes them)"))
    func `Liechtenstein comes out the same on one thread and on all`() throws {
        func lines(_ name: String) throws -> [Substring] {
            try String(contentsOf: Self.sources.appendingPathComponent(name), encoding: .utf8)
                .split(separator: "\n")
        }
        let borders = try lines("borders.geojsonl").filter { $0.contains(#""code":"LI""#) }
        place.write(borders.joined(separator: "\n"), as: "borders.geojsonl")
        // There is no coast near: land all around.
        place.write(
            """
            {"type":"Feature","properties":{"code":"land"},"geometry":{"type":"Polygon",\
            "coordinates":[[[9,46.5],[10.2,46.5],[10.2,47.8],[9,47.8],[9,46.5]]]}}
            """, as: "land.geojsonl")
        let places = try lines("places.csv"), rows = places.dropFirst().filter { $0.contains(",LI,") }
        #expect(!rows.isEmpty)
        place.write(([places[0]] + rows).joined(separator: "\n") + "\n", as: "places.csv")
        // Everybody at the middle of their place: name, latitude, longitude, population.
        let people = rows.map { row in
            let fields = row.split(separator: ",")
            return "\(fields[2]) \(fields[1]) \(fields[3])\n"
        }
        place.write(people.joined(), as: "people.xyz")
        let report = try rebuiltAndVerified(
            ["--anonymity", "2000", "--smallest-accuracy", "1000"],
            [
                "--borders", "borders.geojsonl", "--land", "land.geojsonl", "--places", "places.csv", "--population",
                "people.xyz",
            ])
        #expect(!report.contains("residents were read from the file"))
    }

    @Test(isReleaseBuild) func `people of a surface count once, beside a border too`() throws {
        let features = [("west", 5), ("east", 6)].map { code, x in
            """
            {"type":"Feature","properties":{"code":"\(code)"},"geometry":{"type":"Polygon",\
            "coordinates":[[[\(x),50],[\(x + 1),50],[\(x + 1),51],[\(x),51],[\(x),50]]]}}
            """
        }
        place.write(features.joined(separator: "\n"), as: "districts.json")
        var random = SplitMix64(seed: 0x5afe)
        var rows = "longitude,latitude,population\n"
        // Most of them near the border.
        for k in 0..<60_000 {
            let longitude = k % 3 == 0 ? random.uniform(5, 7) : random.uniform(5.98, 6.02)
            rows += "\(longitude),\(random.uniform(50, 51)),\(longitude < 6 ? 20 : 7)\n"
        }
        place.write(rows, as: "people.csv")
        let report = try rebuiltAndVerified(
            ["--anonymity", "3000", "--largest-accuracy", "12000"],
            ["--borders", "districts.json", "--population", "people.csv"])
        #expect(report.contains("people counted from the population, "), "\(report)")
    }
}
