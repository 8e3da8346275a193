import AtlasFixture
import AtlasFormat
import AtlasSources
import Foundation
import SmallWorld
import Testing

@testable import AtlasVerifier

/// Residents counted from sources, against sums that can be done by hand.
@Suite struct ResidentCountTests {
    private let world: SmallWorld
    private let tables: AtlasTables

    init() throws {
        world = try SmallWorld()
        tables = try AtlasTables(bytes: world.fixture.bytes)
    }

    private func withSurface(_ rows: String, _ body: (String) throws -> Void) throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).xyz")
        try Data(rows.utf8).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        try body(url.path)
    }

    private func center(_ region: Int) -> String {
        let region = world.fixture.regions[region]
        return "\(Double(region.longitude) / 100_000) \(Double(region.latitude) / 100_000)"
    }

    @Test func `each row of a surface counts where it lies`() throws {
        let rows = """
            x y z
            \(center(SmallWorld.host)) 700.5
            \(center(SmallWorld.state)) 20
            \(center(SmallWorld.host)) 300
            \(center(SmallWorld.corner)) -9999
            180 12.5 3
            -180 12.5 4

            """
        try withSurface(rows) { path in
            let count = try ResidentCount(tables).residents(ofSurface: path)
            #expect(count.residents[SmallWorld.host] == 1_000.5 && count.residents[SmallWorld.state] == 20)
            // One meridian, one region.
            #expect(count.residents.filter { $0 > 0 }.sorted() == [7, 20, 1_000.5])
        }
    }

    @Test func `places and totals are shared out as the rule says`() throws {
        let totals = [
            CountryTotal(code: "BB", name: "East", population: 91_600),
            CountryTotal(code: "QQ", name: "Unknown", population: 5_000_000),
        ]
        let count = try ResidentCount(tables).residents(of: world.places, totals: totals, land: world.land)
        // Host and Village have 90,600 of the 91,600, more than nine tenths, and are scaled down to that; the other
        // tenth, 9,160 people, is scattered within 30 km. The microstate has no total: its 800 are as listed.
        #expect(abs(count.residents.reduce(0, +) - 92_400) < 1)
        #expect(abs(count.scattered.reduce(0, +) - 9_160) < 0.01)
        #expect(abs(count.residents[SmallWorld.state] - 800) < 1e-6)
        // Level-7 cells are 70 km wide: the host has nearly all, and its neighbors the rest.
        #expect(count.residents[SmallWorld.host] > 0.95 * 91_600)
        let peopled = count.residents.indices.filter { count.residents[$0] > 0 }
        #expect(peopled.allSatisfy { [SmallWorld.host, SmallWorld.state].contains($0) || tables.isNameOfNeighbor($0) })
    }

    @Test func `where there is no land lives only the place's own point`() throws {
        let none = try ResidentCount(tables).residents(of: world.places, totals: [], land: [])
        #expect(abs(none.residents[SmallWorld.host] - 90_600) < 1e-6)
        #expect(none.scattered.allSatisfy { $0 == 0 })
    }

    @Test func `a file that promises more than the sources hold is found out`() throws {
        // A surface that gives every region what the file says, then one region less.
        var rows = world.fixture.regions.indices.map { "\(center($0)) \(tables.anonymity($0))" }
        func clause() throws -> VerificationReport.Clause {
            var clause = VerificationReport.Clause("C6", "")
            try withSurface(rows.joined(separator: "\n")) { path in
                var sources = AtlasVerifier.Sources()
                sources.population = path
                let verified = VerifiedAtlas(
                    tables: tables, engine: try EngineAnswers(bytes: tables.bytes),
                    cover: try RegionCover(tables) { _ in }, measures: [], isAshore: nil, land: nil)
                verified.verifyResidents(try verified.residents(sources), &clause)
            }
            return clause
        }
        let good = try clause()
        #expect(good.passed && good.skipped.isEmpty)
        #expect(good.notes.first?.contains(" 0 regions differ") == true)
        rows[SmallWorld.corner] = "\(center(SmallWorld.corner)) 900"
        let bad = try clause()
        #expect(!bad.passed)
        #expect(bad.offenders.map(\.region) == [tables.identifier(SmallWorld.corner)])
        #expect(bad.offenders.map(\.problem) == ["the file gives it 1000 residents, the sources 900"])
        #expect(bad.notes.last == "1 regions that should hold 1000 were counted short, by 100 at most")
    }
}
