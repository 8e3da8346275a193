import AtlasFixture
import CommandSupport
import FixedRandom
import Foundation
import Hereabouts
import SurfaceFixture
import Testing

/// Atlases built twice, on one thread and on all, and verified against what they were built from.
@Suite struct RebuildTests {
    let place = Workplace()

    private static let sources = projectFolder.appendingPathComponent(".build/sources")
    private static let names = ["borders.geojsonl", "land.geojsonl", "places.csv"]

    private static func areThere(_ names: [String]) -> ConditionTrait {
        .enabled(
            if: names.allSatisfy { FileManager.default.fileExists(atPath: sources.appendingPathComponent($0).path) },
            "skipped: no sources in .build/sources (data/fetch-sources.sh makes them)")
    }

    /// Builds an atlas twice, compares the two and verifies one; returns what the verifier prints.
    private func rebuiltAndVerified(_ build: [String], _ sources: [String]) throws -> String {
        let builds = [("all.atlas", ""), ("one.atlas", "taskset -c 0")].prefix(SampleSize.builds.count)
        for (name, prefix) in builds {
            #if !os(Linux)
                let prefix = ""
            #endif
            let line = "\(prefix) hereabouts atlas build -o \(name) \((build + sources).joined(separator: " "))"
            let built = try place.shell(line)
            #expect(built.status == 0, "\(built.errors)")
        }
        let files = builds.map { FileManager.default.contents(atPath: place.path($0.0)) }
        #expect(files[0] != nil && files.allSatisfy { $0 == files[0] })
        let verified = try place.shell("hereabouts atlas verify all.atlas \(sources.joined(separator: " "))")
        #expect(verified.status == 0, "\(verified.output)\(verified.errors)")
        return verified.output
    }

    @Test(areThere(["countries.csv"])) func `countries have as many people as GeoNames lists`() throws {
        let table = try String(contentsOf: Self.sources.appendingPathComponent("countries.csv"), encoding: .utf8)
        let listed = table.split(separator: "\n").dropFirst().compactMap { row -> (code: String, people: Double)? in
            guard let people = Double(row.split(separator: ",").last ?? "") else { return nil }
            return (String(row.prefix(2)), people)
        }
        let info = try place.hereabouts("atlas", "info", atlasPath, "--json")
        let summary = try JSONDecoder().decode(About.self, from: Data(info.output.utf8)).summary
        let residents = Dictionary(uniqueKeysWithValues: summary.countries.map { ($0.code, $0.residents) })
        let sum = listed.reduce(0) { $0 + $1.people }
        #expect(listed.count > 200 && abs(residents.values.reduce(0, +) / sum - 1) < 0.005)
        let large = listed.filter { $0.people > 1_000_000 }
        func errors(above limit: Double) -> [String] {
            large.filter { abs((residents[$0.code] ?? 0) / $0.people - 1) > limit }.map(\.code)
        }
        // Where people were counted after those lists; in Cyprus in the south only.
        #expect(errors(above: 0.03).sorted() == ["BG", "CY"] && errors(above: 0.2).isEmpty)
    }

    @Test(.optimized, areThere(names)) func `Liechtenstein comes out the same on one thread and on all`() throws {
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

    @Test(.optimized, .full) func `people of a surface count once, beside a border too`() throws {
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

    /// The first number of a build's report: how many regions are those of the atlas before.
    private func keptAndAll(_ output: String) throws -> (kept: Int, all: Int) {
        let line = try #require(output.split(separator: "\n").first { $0.contains("of the atlas before") })
        let numbers = line.split(separator: " ").compactMap { Int($0) }
        return (numbers[0], numbers[1])
    }

    @Test(.optimized) func `an atlas like an earlier one keeps its regions, and comes out the same twice`() throws {
        place.write(
            """
            {"type":"Feature","properties":{"code":"land"},"geometry":{"type":"Polygon",\
            "coordinates":[[[5,50],[6,50],[6,51],[5,51],[5,50]]]}}
            """, as: "districts.json")
        var random = SplitMix64(seed: 0x11ce)
        func rows(_ count: Int) -> String {
            (0..<count).map { _ in "\(random.uniform(5, 6)),\(random.uniform(50, 51)),20\n" }.joined()
        }
        let people = rows(20_000)
        place.write("longitude,latitude,population\n" + people, as: "old.csv")
        place.write("longitude,latitude,population\n" + people + rows(400), as: "new.csv")
        let build = "hereabouts atlas build --borders districts.json --anonymity 3000 --largest-accuracy 12000"
        #expect(try place.shell("\(build) --population old.csv -o old.atlas").status == 0)
        let same = try place.shell("\(build) --population old.csv --like old.atlas -o same.atlas")
        let (kept, all) = try keptAndAll(same.output)
        #expect(same.status == 0 && kept == all && all > 20)
        let regions = try ["old.atlas", "same.atlas"].map { try place.hereabouts("atlas", "list", $0).output }
        #expect(regions[0] == regions[1])
        for name in ["one.atlas", "two.atlas"] {
            let next = try place.shell("\(build) --population new.csv --like old.atlas -o \(name)")
            let (kept, all) = try keptAndAll(next.output)
            #expect(next.status == 0 && kept * 10 > all * 9, "\(kept) of \(all)")
        }
        let bytes = ["one.atlas", "two.atlas"].map { FileManager.default.contents(atPath: place.path($0)) }
        #expect(bytes[0] != nil && bytes[0] == bytes[1])
        let verified = try place.shell(
            "hereabouts atlas verify one.atlas --borders districts.json --population new.csv")
        #expect(verified.status == 0, "\(verified.output)")
    }

    /// Two districts with a surface of known truth: 10,000 cells of level 13 or 15, promised at two rates, one source.
    private func surface(movedEast: Bool = false) -> SurfaceFixture {
        var random = SplitMix64(seed: 0x50f7)
        var cells: [UInt64: SurfaceFixture.Cell] = [:]
        while cells.count < 10_000 {
            let longitude = random.uniform(5.05, 6.95), latitude = random.uniform(50.05, 50.95)
            // Cells that the border may cross are of the finest level, with their middles on one side or the other; the
            // coarser ones keep away from them.
            let isFine = abs(longitude - 6) < 0.05
            guard isFine || abs(longitude - 6) > 0.08,
                var id = try? CellID(latitude: latitude, longitude: longitude, level: isFine ? 15 : 13),
                abs(id.center.longitude - 6) > 0.0005
            else { continue }
            let isWest = id.center.longitude < 6
            if movedEast, isFine, isWest {
                guard
                    let mirrored = try? CellID(
                        latitude: latitude, longitude: 12 - longitude, level: id.level)
                else { continue }
                id = mirrored
            }
            cells[id.rawValue] = SurfaceFixture.Cell(
                id, residents: isWest ? 90 : 40, certainty: isWest ? 0 : 2, ratios: [isWest ? 136 : 0])
        }
        var surface = SurfaceFixture(Array(cells.values), sources: ["double-or-none"])
        surface.shares[2] = 0.5
        return surface
    }

    @Test(.optimized) func `a listed settlement counts, settles no land and makes no circle smaller`() throws {
        place.write(
            """
            {"type":"Feature","properties":{"code":"land"},"geometry":{"type":"Polygon",\
            "coordinates":[[[5,50],[8,50],[8,51],[5,51],[5,50]]]}}
            """, as: "districts.json")
        // People in the west, and a village listed in the empty east.
        var random = SplitMix64(seed: 0x0ba7)
        var cells: [UInt64: SurfaceFixture.Cell] = [:]
        while cells.count < 1_000 {
            let id = try CellID(
                latitude: random.uniform(50.05, 50.95), longitude: random.uniform(5.05, 5.6), level: 13)
            cells[id.rawValue] = SurfaceFixture.Cell(id, residents: 90)
        }
        let east = Coordinate(latitude: 50.5, longitude: 7.2)
        let village = try SurfaceFixture.Cell(
            CellID(latitude: east.latitude, longitude: east.longitude, level: 15), residents: 400, certainty: 1)
        let sources = ["--borders", "districts.json", "--population"]
        let lists: [(name: String, cells: [SurfaceFixture.Cell])] = [("without", []), ("with", [village])]
        for (name, listed) in lists {
            var surface = SurfaceFixture(Array(cells.values) + listed)
            surface.shares[1] = 0.95
            try Data(surface.bytes).write(to: URL(fileURLWithPath: place.path("\(name).surface")))
            let built = try place.hereabouts(
                "atlas", "build", "--anonymity", "3000", "--largest-accuracy", "12000", "-o", "\(name).atlas",
                sources[0], sources[1], sources[2], "\(name).surface")
            #expect(built.status == 0, "\(built.errors)")
            let verified = try place.hereabouts(
                "atlas", "verify", "\(name).atlas", sources[0], sources[1], sources[2], "\(name).surface")
            #expect(verified.status == 0, "\(verified.output)\(verified.errors)")
        }
        let atlases = try ["without", "with"].map { name in
            let bytes = try #require(FileManager.default.contents(atPath: place.path("\(name).atlas")))
            return try Atlas(bytes: Array(bytes))
        }
        #expect(atlases[0].regionCount == atlases[1].regionCount)
        let holder = try atlases[1].region(at: east)
        for index in 0..<atlases[0].regionCount {
            let region = Region(index: UInt32(index)), isHolder = region.index == holder.index
            let circles = try atlases.map { try $0.circle(of: region) }
            #expect(circles[0] == circles[1])
            let residents = try atlases.map { try $0.anonymity(of: region) }
            let promised = try atlases.map { try $0.anonymityLowerBound(of: region) }
            #expect((residents[0] == residents[1] && promised[0] == promised[1]) != isHolder)
            if isHolder {
                #expect(circles[1].horizontalAccuracy > 12_000)
                #expect(residents[0] == 0 && abs(Double(residents[1]) / village.residents - 1) < 0.05)
                #expect(promised[0] == 0 && promised[1] > 0 && Double(promised[1]) <= 0.95 * village.residents)
            }
        }
        // Without the list the atlas holds more than there is.
        let noticed = try place.hereabouts(
            "atlas", "verify", "with.atlas", sources[0], sources[1], sources[2], "without.surface")
        #expect(noticed.status == 1 && noticed.output.contains("the file promises "))
    }

    private struct About: Decodable {
        struct Country: Decodable { var code: String, residents: Double, short: Double }
        struct Count: Decodable { var source: String, residents: Double, shortShare: Double }
        struct Summary: Decodable {
            var residents: Double, promised: Double, shortShare: Double
            var countries: [Country], counts: [Count]
        }
        var summary: Summary
    }

    @Test(.optimized) func `a surface of known truth: what is promised is counted, and lies are noticed`() throws {
        let features = [("west", 5), ("east", 6)].map { code, x in
            """
            {"type":"Feature","properties":{"code":"\(code)"},"geometry":{"type":"Polygon",\
            "coordinates":[[[\(x),50],[\(x + 1),50],[\(x + 1),51],[\(x),51],[\(x),50]]]}}
            """
        }
        place.write(features.joined(separator: "\n"), as: "districts.json")
        let surface = surface()
        try Data(surface.bytes).write(to: URL(fileURLWithPath: place.path("people.surface")))
        let report = try rebuiltAndVerified(
            ["--anonymity", "3000", "--largest-accuracy", "12000"],
            ["--borders", "districts.json", "--population", "people.surface"])
        #expect(report.contains("as double-or-none counts, "), "\(report)")

        let west = surface.cells.filter { $0.certainty == 0 }, east = surface.cells.filter { $0.certainty == 2 }
        let sums = [west, east].map { $0.reduce(0) { $0 + $1.residents } }
        let info = try place.hereabouts("atlas", "info", "all.atlas", "--json")
        let summary = try JSONDecoder().decode(About.self, from: Data(info.output.utf8)).summary
        func residents(_ code: String) -> Double { summary.countries.first { $0.code == code }?.residents ?? 0 }
        #expect(abs(residents("west") - sums[0]) < 30 && abs(residents("east") - sums[1]) < 30)
        #expect(abs(summary.promised - 0.8 * sums[0] - 0.5 * sums[1]) < 60)
        #expect(summary.counts.map(\.source) == ["estimate", "promise", "double-or-none"])
        // The source has nobody in the east; a source cell on the border has what its first cell has.
        let doubled = Dictionary(grouping: surface.cells) { $0.id.parent(level: 11) }.values.reduce(0) { sum, cells in
            cells[0].certainty == 0 ? cells.reduce(sum) { $0 + 2 * $1.residents } : sum
        }
        #expect(abs(summary.counts[2].residents - doubled) < 60)
        #expect(abs(summary.counts[2].shortShare - sums[1] / (sums[0] + sums[1])) < 0.02)
        #expect(summary.counts[1].shortShare == summary.shortShare && summary.shortShare < 0.2)

        // The records add up to the same.
        let bytes = try #require(FileManager.default.contents(atPath: place.path("all.atlas"))).map(\.self)
        let atlas = try Atlas(bytes: bytes)
        let regions = (0..<atlas.regionCount).map { Region(index: UInt32($0)) }
        let estimate = try regions.reduce(0) { $0 + Double(try atlas.anonymity(of: $1)) }
        #expect(abs(estimate / (sums[0] + sums[1]) - 1) < 0.01)

        // A region that promises more than there are.
        let region = try #require(regions.firstIndex { (try? atlas.anonymityLowerBound(of: $0)) ?? 0 >= 3_000 })
        var forged = bytes
        var section = 0
        for k in 0..<8 { section |= Int(bytes[0x48 + 16 * 5 + k]) << (8 * k) }
        forged[section + 2 * region + 1] += 1
        AtlasFixture.seal(&forged)
        try Data(forged).write(to: URL(fileURLWithPath: place.path("forged.atlas")))
        let noticed = try place.hereabouts("atlas", "verify", "forged.atlas", "--population", "people.surface")
        #expect(noticed.status == 1 && noticed.output.contains("the file promises "))

        // Some hundred people on the other side of the border.
        try Data(self.surface(movedEast: true).bytes).write(to: URL(fileURLWithPath: place.path("moved.surface")))
        let moved = try place.hereabouts("atlas", "verify", "all.atlas", "--population", "moved.surface")
        #expect(moved.status == 1 && moved.output.contains("the file promises "))
    }
}
