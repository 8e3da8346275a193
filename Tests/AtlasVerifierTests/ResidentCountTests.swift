import AtlasFixture
import AtlasFormat
import AtlasSources
import FixedRandom
import Foundation
import Hereabouts
import SmallWorld
import SurfaceFixture
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

    private func withFile(_ bytes: [UInt8], _ body: (String) throws -> Void) throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).xyz")
        try Data(bytes).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        try body(url.path)
    }

    private func center(_ region: Int) -> String {
        let region = world.fixture.regions[region]
        return "\(Double(region.longitude) / 100_000) \(Double(region.latitude) / 100_000)"
    }

    @Test func `each row of a table counts where it lies`() throws {
        let rows = """
            x y z
            \(center(SmallWorld.host)) 700.5
            \(center(SmallWorld.state)) 20
            \(center(SmallWorld.host)) 300
            \(center(SmallWorld.corner)) -9999
            180 12.5 3
            -180 12.5 4

            """
        try withFile(Array(rows.utf8)) { path in
            let count = try ResidentCount(tables: tables).count(path)
            #expect(count.residents[SmallWorld.host] == 1_000.5 && count.residents[SmallWorld.state] == 20)
            // One meridian, one region.
            #expect(count.residents.filter { $0 > 0 }.sorted() == [7, 20, 1_000.5])
        }
    }

    @Test func `the residents of a surface's cell live at points`() throws {
        // 6,400 residents of level 11 are 4 × 4 points, one at the middle of each cell of level 13.
        let parent = CellID(face: 0, i: 70 << 23, j: 80 << 23, level: 11)
        // The state is in a level-12 cell at the middle of the host's: its diamond holds the point of that cell.
        let state = CellID(face: 0, i: 70 << 23 | 1 << 22, j: 80 << 23 | 1 << 22, level: 12)
        var surface = SurfaceFixture(
            [
                SurfaceFixture.Cell(parent, residents: 6_400, ratios: [136]),
                SurfaceFixture.Cell(state, residents: 200, ratios: [0]),
            ], sources: ["double"])
        surface.shares[0] = 0.5
        let large = try #require(surface.cells.first { $0.id == parent }).residents
        let small = try #require(surface.cells.first { $0.id == state }).residents
        try withFile(surface.bytes) { path in
            let count = try ResidentCount(tables: tables).count(path)
            #expect(abs(count.residents[SmallWorld.host] - large) < 1e-9)
            #expect(abs(count.promised[SmallWorld.host] - large / 2) < 1e-9)
            #expect(abs(count.residents[SmallWorld.state] - small) < 1e-9)
            #expect(count.sources == ["double"])
            #expect(abs(count.bySource[0][SmallWorld.host] - 2 * large) < 1e-9)
            #expect(count.bySource[0][SmallWorld.state] == 0)
            #expect(count.byCell.values.map { $0.rounded() }.sorted() == [small.rounded(), large.rounded()])
        }
    }

    @Test func `listed settlements count in their region, and settle no land`() throws {
        // One in the host's region and one in the state's; somebody else is in the neighbor's, where one is listed too.
        let host = CellID(face: 0, i: 70 << 23, j: 80 << 23, level: 15)
        let state = CellID(face: 0, i: 70 << 23 | 1 << 22, j: 80 << 23 | 1 << 22, level: 12)
        let other = CellID(face: 3, i: 1 << 23, j: 0, level: 15)
        let beside = CellID(face: 3, i: 1 << 23 | 1 << 15, j: 0, level: 15)
        var surface = SurfaceFixture(
            [
                SurfaceFixture.Cell(host, residents: 300, certainty: 1, ratios: [0]),
                SurfaceFixture.Cell(state, residents: 100, certainty: 1, ratios: [136]),
                SurfaceFixture.Cell(other, residents: 50, ratios: [136]),
                SurfaceFixture.Cell(beside, residents: 20, certainty: 1, ratios: [136]),
            ], sources: ["double"])
        surface.shares[1] = 0.5
        let residents = try [host, state, other, beside].map { cell in
            try #require(surface.cells.first { $0.id == cell }).residents
        }
        try withFile(surface.bytes) { path in
            let count = try ResidentCount(tables: tables).count(path)
            for (region, expected, listed, promised) in [
                (SmallWorld.host, residents[0], residents[0], residents[0] / 2),
                (SmallWorld.state, residents[1], residents[1], residents[1] / 2),
                (SmallWorld.neighbor, residents[2] + residents[3], residents[3], 0.8 * residents[2] + residents[3] / 2),
            ] {
                #expect(abs(count.residents[region] - expected) < 1e-9)
                #expect(abs(count.listed[region] - listed) < 1e-9)
                // The share of the others is a number of 32 bits.
                #expect(abs(count.promised[region] - promised) < 1e-5)
            }
            // No source has anything to say of them.
            #expect(count.bySource[0][SmallWorld.host] == 0 && count.bySource[0][SmallWorld.state] == 0)
            #expect(abs(count.bySource[0][SmallWorld.neighbor] - 2 * residents[2]) < 1e-9)
            #expect(count.points.count == 1 && count.listedPoints.count == 3)
            for (cell, isSettled) in [(host, false), (state, false), (other, true)] {
                let (corner, level) = CubeGeometry.cell(ofIdentifier: cell.parent(level: 11).rawValue)
                let quad = Quad(face: corner.face, i: corner.i, j: corner.j, level: level)
                #expect(count.inhabited.mayBeSettled(quad) == isSettled)
            }
        }
    }

    @Test func `the cell of an id is the one it was made of`() {
        var random = SplitMix64(seed: 5)
        for _ in 0..<10_000 {
            let level = Int.random(in: 0...30, using: &random), mask = ~((1 << (30 - level)) - 1)
            let leaf = Leaf(
                face: .random(in: 0..<6, using: &random), i: .random(in: 0..<1 << 30, using: &random),
                j: .random(in: 0..<1 << 30, using: &random))
            let found = CubeGeometry.cell(ofIdentifier: CubeGeometry.identifier(of: leaf, level: level))
            #expect(found.corner == Leaf(face: leaf.face, i: leaf.i & mask, j: leaf.j & mask) && found.level == level)
        }
    }

    @Test func `a file that promises more than the sources hold is found out`() throws {
        // Rows that give every region what the file says, then one region less.
        var rows = world.fixture.regions.indices.map { "\(center($0)) \(tables.anonymity($0))" }
        func clause() throws -> VerificationReport.Clause {
            var clause = VerificationReport.Clause("C6", "")
            try withFile(Array(rows.joined(separator: "\n").utf8)) { path in
                let verified = VerifiedAtlas(
                    tables: tables, engine: try EngineAnswers(bytes: tables.bytes),
                    cover: try RegionCover(tables) { _ in }, measures: [], isAshore: nil, land: nil)
                verified.verifyResidents(try ResidentCount(tables: tables).count(path), &clause)
            }
            return clause
        }
        let good = try clause()
        #expect(good.passed && good.skipped.isEmpty)
        #expect(
            good.notes[1] == "as estimate counts, 0.0 % of people live in regions of fewer than 1000, "
                + "0.0 % in regions of fewer than half of that")
        rows[SmallWorld.corner] = "\(center(SmallWorld.corner)) 900"
        let bad = try clause()
        #expect(!bad.passed)
        #expect(bad.offenders.map(\.region) == [tables.identifier(SmallWorld.corner)])
        #expect(bad.offenders.map(\.problem) == ["the file promises 1000 residents, the population 900"])
    }
}
