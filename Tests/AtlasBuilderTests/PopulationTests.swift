import FixedRandom
import Foundation
import Hereabouts
import SurfaceFixture
import Testing

@testable import AtlasBuilder

/// Where the builder puts people, against sums and positions found by brute force.
@Suite struct PopulationTests {
    private func read(_ bytes: [UInt8]) throws -> [Population] { try readAll(bytes).roots }

    private func readAll(_ bytes: [UInt8]) throws -> (roots: [Population], listed: [PopulationPoint]) {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("population-\(UUID().uuidString)")
        try Data(bytes).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        return try Population.read(url.path)
    }

    /// The leaf cells and residents of a cell, by the rule of data/SURFACE.md.
    private func points(_ face: Int, _ i: UInt32, _ j: UInt32, _ level: Int, _ residents: Double) -> [UInt64: Double] {
        let half = (UInt32(1) << UInt32(30 - level)) / 2
        guard residents > 400, level < 14 else {
            return [CellID(face: face, i: i + half, j: j + half, level: 30).rawValue: residents]
        }
        var all: [UInt64: Double] = [:]
        for (x, y) in [(0, 0), (half, 0), (0, half), (half, half)] as [(UInt32, UInt32)] {
            all.merge(points(face, i + x, j + y, level + 1, residents / 4)) { $0 + $1 }
        }
        return all
    }

    @Test func `a surface's residents live at the points of the rule`() throws {
        var random = SplitMix64(seed: 8)
        // Cells of all levels that do not overlap: one in each of some cells of level 2, which may be that cell.
        var surface = SurfaceFixture([])
        surface.shares[3] = 0.25
        var cell = CellID(face: 0, i: 0, j: 0, level: 2)
        for _ in 0..<6 * 16 {
            var place = cell
            while place.level < 15, Int.random(in: 0..<6, using: &random) > 0 {
                place = place.child(.random(in: 0..<4, using: &random))
            }
            surface.cells.append(
                SurfaceFixture.Cell(
                    place, value: .random(in: 1...254, using: &random),
                    certainty: Bool.random(using: &random) ? 3 : 0))
            cell = cell.next
        }
        var residents: [UInt64: Double] = [:], promised = 0.0
        for cell in surface.cells {
            let corner = cell.id.lowerLeft
            residents.merge(points(cell.id.face, corner.i, corner.j, cell.id.level, cell.residents)) { $0 + $1 }
            promised += cell.residents * Double(surface.shares[Int(cell.certainty)])
        }
        let roots = try read(surface.bytes)
        #expect(roots.map(\.cells).joined().elementsEqual(residents.keys.sorted()))
        var sum = Population.People()
        for root in roots {
            for (index, leaf) in root.cells.enumerated() {
                let people = root.people(index..<index + 1)
                #expect(abs(people.residents - residents[leaf]!) < 0.001 + 1e-6 * residents[leaf]!)
                sum += people
            }
            let all = root.people(root.cells.indices)
            #expect(all.residents == root.people(root.cells.indices) { _ in true }.residents)
        }
        // Each point's are rounded to 1/1024 of a person.
        let points = roots.reduce(0) { $0 + $1.cells.count }
        #expect(abs(sum.promised - promised) < Double(points) / 2_048 + 1e-6 * promised)
    }

    @Test func `all residents of rows are promised`() throws {
        let rows = "6.5 50.5 300\n5.5 50.5 20.25\n6.5 50.5 1\n-170 -80 7\n0 0 0\n"
        let roots = try read(Array(rows.utf8)), sums = roots.map { $0.people($0.cells.indices) }
        #expect(sums.reduce(0) { $0 + $1.residents } == 328.25 && sums.allSatisfy { $0.residents == $0.promised })
        #expect(roots.reduce(0) { $0 + $1.cells.count } == 4)
    }

    @Test func `listed settlements are read apart: no land is inhabited for them`() throws {
        let town = CellID(face: 1, i: 1 << 29 | 1 << 25, j: 1 << 28 | 1 << 25, level: 13)
        let village = CellID(face: 1, i: 1 << 29 | 1 << 27, j: 1 << 28 | 1 << 27, level: 15)
        var surface = SurfaceFixture([
            SurfaceFixture.Cell(town, residents: 300), SurfaceFixture.Cell(village, residents: 5_000, certainty: 1),
        ])
        surface.shares[1] = 0.5
        let residents = try #require(surface.cells.first { $0.id == village }).residents
        let (roots, listed) = try readAll(surface.bytes)
        let corner = village.lowerLeft, half = village.size / 2
        #expect(
            listed.map(\.cell)
                == [CellID(face: village.face, i: corner.i + half, j: corner.j + half, level: 30).rawValue])
        #expect(listed.allSatisfy { abs($0.people.residents - residents) < 1e-9 })
        #expect(listed.allSatisfy { abs($0.people.promised - residents / 2) < 1e-9 })
        #expect(roots.allSatisfy { $0.cells.allSatisfy { town.contains(CellID(rawValue: $0)) } })
        #expect(roots.reduce(0) { $0 + $1.cells.count } == 1)
        #expect(!(try InhabitedLand(roots).mayBeInhabited(village.parent(level: 9))))
        // Of any other class they make the land around inhabited.
        surface.cells = surface.cells.map { SurfaceFixture.Cell($0.id, value: $0.value) }
        #expect(try InhabitedLand(read(surface.bytes)).mayBeInhabited(village.parent(level: 9)))
    }

    @Test func `land is inhabited as far as 16 km from more than 1,608 people`() throws {
        let town = CellID(face: 1, i: 1 << 29 | 1 << 25, j: 1 << 28 | 1 << 25, level: 13)
        func land(_ residents: Double) throws -> InhabitedLand {
            try InhabitedLand(read(SurfaceFixture([SurfaceFixture.Cell(town, residents: residents)]).bytes))
        }
        let middle = Ellipsoid.position(town.center)
        let inhabited = try land(2_000), empty = try land(1_500)
        #expect(abs(inhabited.density(at: middle) - 2_000 / (256 * Double.pi)) < 0.1)
        var near = 0, far = 0
        var cell = town.parent(level: 4).rangeMin.parent(level: 9)
        while cell <= town.parent(level: 4).rangeMax {
            let shape = CellShape(cell)
            let least = ([Ellipsoid.position(cell.center)] + shape.corners).map { $0.distance(to: middle) }.min()!
            #expect(!empty.mayBeInhabited(cell))
            if cell.contains(town) || least < 14_000 {
                near += 1
                #expect(inhabited.mayBeInhabited(cell))
            }
            // A cell is at most 16 km from its middle, residents up to 4 km from where they are taken to live.
            if least > 16_000 + 3_900 * 2 + 16_000 {
                far += 1
                #expect(!inhabited.mayBeInhabited(cell))
            }
            cell = cell.next
        }
        #expect(near > 3 && far > 500)
    }
}
