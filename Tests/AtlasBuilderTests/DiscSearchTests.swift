import FixedRandom
import Hereabouts
import Testing

@testable import AtlasBuilder

@Suite struct DiscSearchTests {
    /// Cells of several sizes, some left out, against a look at every part.
    @Test(arguments: [11, 12, 13], [900.0, 4_000, 15_745]) func `a disc holds what lies within its circle`(
        unitLevel: Int, reach: Double
    ) {
        var random = SplitMix64(seed: 41)
        var cells: [CellID] = []
        func divide(_ cell: CellID) {
            if cell.level >= 10, random.unit() < 0.15 { return }
            if cell.level == 14 || cell.level >= 10 && random.unit() < 0.3 {
                cells.append(cell)
            } else {
                for k in 0..<4 { divide(cell.child(k)) }
            }
        }
        for column in 0..<3 { divide(CellID.lattice(column, 0, level: 9)) }
        var parts = PartSet()
        for cell in cells.sorted() { parts.append(cell, residents: 100 * random.unit()) }
        var search = DiscSearch(parts, level: unitLevel, reach: reach)
        var runs = [Int32(7)..<8]
        for _ in 0..<200 {
            let part = Int.random(in: 0..<parts.count, using: &random)
            let point =
                parts.center[part] + 3_000 * SIMD3(random.unit() - 0.5, random.unit() - 0.5, random.unit() - 0.5)
            let start = runs.count
            let residents = search.append(around: point, to: &runs)
            let expected = (0..<parts.count).filter { parts.reach(from: point, to: $0) <= reach }
            #expect(Array(Disc(runs: runs[start...])) == expected)
            #expect(abs(residents - expected.reduce(0) { $0 + parts.population[$1] }) < 1e-6)
            #expect(zip(runs[start...], runs[start...].dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound })
        }
        #expect(runs[0] == 7..<8)
    }
}
