import FixedRandom
import Foundation
import Hereabouts
import Testing

@testable import AtlasBuilder

/// A country of which everything is known: who lives where, and how far off the estimate is that its regions are cut by.
@Suite struct PromiseTests {
    /// Cells of level 12 (about 5 km²) along each side.
    private static let side = 48
    private static let towns = 12

    private struct Country {
        var parts = PartSet()
        /// The people of each part who truly live there.
        var truth: [Double] = []
    }

    /// Towns, villages and fields. The estimate of a cell is wrong by a factor whose logarithm has the deviation `error`, and
    /// so once more is that of the 16 cells around.
    private static func country(error: Double, share: Double, seed: UInt64) -> Country {
        var random = SplitMix64(seed: seed)
        let level = 12, size = 1 << (30 - level)
        let centers = (0..<towns).map { _ in SIMD2(random.unit(), random.unit()) * Double(side) }
        func truth(_ column: Int, _ row: Int, _ random: inout SplitMix64) -> Double {
            let here = SIMD2(Double(column), Double(row))
            let town = centers.enumerated().reduce(0.0) { sum, center in
                let away = here - center.element
                return sum + 20_000 / Double(center.offset + 1) * exp(-(away * away).sum() / 4)
            }
            return town + 300 * random.unit() + (random.unit() < 0.2 ? 1_500 * random.unit() : 0)
        }
        /// The sum of twelve even deviates, less six: nearly normal.
        func normal(_ random: inout SplitMix64) -> Double { (0..<12).reduce(-6.0) { sum, _ in sum + random.unit() } }
        let errorsAround = (0..<(side / 4) * (side / 4)).map { _ in error * normal(&random) }
        var country = Country()
        var cells: [(cell: CellID, truth: Double, estimate: Double)] = []
        for column in 0..<side {
            for row in 0..<side {
                let people = truth(column, row, &random)
                let wrong = error * normal(&random) + errorsAround[column / 4 * (side / 4) + row / 4]
                let cell = CellID(
                    face: 0, i: UInt32((1_900 + column) * size), j: UInt32((2_100 + row) * size), level: level)
                cells.append((cell, people, people * exp(wrong - error * error)))
            }
        }
        for (cell, truth, estimate) in cells.sorted(by: { $0.cell < $1.cell }) {
            let corner = cell.lowerLeft
            country.parts.append(
                corners: CellShape(cell).corners, site: SIMD2(corner.i, corner.j) &+ UInt32(size / 2), isOpen: true,
                isLand: true, isSettled: true,
                people: Population.People(residents: estimate, promised: estimate * share), area: CellShape(cell).area,
                cell: cell)
            country.truth.append(truth)
        }
        return country
    }

    /// The share of people who live in regions that promise K and truly hold fewer, or fewer than half.
    private static func falselyAssured(error: Double, share: Double, seed: UInt64) -> (fewer: Double, half: Double) {
        let country = country(error: error, share: share, seed: seed), limits = RegionLimits()
        let groups = Partition(dividing: country.parts, limits: limits, isEmpty: false).groups
        var fewer = 0.0, half = 0.0
        for group in groups where group.population >= limits.anonymity {
            let people = group.parts.reduce(0) { $0 + country.truth[Int($1)] }
            if people < limits.anonymity { fewer += people }
            if people < limits.anonymity / 2 { half += people }
        }
        let all = country.truth.reduce(0, +)
        return (fewer / all, half / all)
    }

    @Test func `a builder cuts where the estimate is too high, and the promised share makes up for it`() {
        let seeds: [UInt64] = [1, 2]
        for seed in seeds {
            let exact = Self.falselyAssured(error: 0, share: 1, seed: seed)
            #expect(exact.fewer == 0)
            let believed = Self.falselyAssured(error: 0.3, share: 1, seed: seed)
            let promised = Self.falselyAssured(error: 0.3, share: 0.6, seed: seed)
            print(
                "synthetic country \(seed): falsely assured \(believed.fewer) where all are promised,",
                "\(promised.fewer) where 0.6 are")
            #expect(believed.fewer > 0.04)
            #expect(promised.fewer < 0.02)
            #expect(promised.half == 0)
        }
    }
}
