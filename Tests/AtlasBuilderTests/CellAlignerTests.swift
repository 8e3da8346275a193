import Hereabouts
import Testing

@testable import AtlasBuilder

/// Which regions get whole cells: of four cells of level 12 beside each other, in one of level 11, one or two are land.
@Suite struct CellAlignerTests {
    private enum Kind { case settled, empty, sea }

    /// Four cells of level 12 in one of level 11, of those kinds; west of it is settled land, a cell of level 11, and east of it
    /// the sea, a cell of level 10 that holds its region's center.
    private struct Shore {
        var parts = PartSet()
        var kinds: [Kind] = []

        init(_ kinds: [Kind], hasWest: Bool = true) {
            let middle = CellID.lattice(2, 0, level: 11)
            var cells = kinds.enumerated().map { (middle.child($0), $1) }
            if hasWest { cells.append((CellID.lattice(0, 0, level: 11), .settled)) }
            cells.append((CellID.lattice(2, 0, level: 10), .sea))
            for (cell, kind) in cells.sorted(by: { $0.0 < $1.0 }) {
                let residents = kind == .settled ? 30_000.0 : 0
                parts.append(cell, residents: residents, isLand: kind != .sea, isSettled: kind == .settled)
                self.kinds.append(kind)
            }
        }

        /// The regions of each kind, after cells were aligned: how many parts of each kind they have.
        func aligned(reach: Double) -> [[Kind: Int]] {
            var limits = RegionLimits()
            limits.smallestArea = 1
            let groups = [Kind.settled, .empty, .sea].compactMap { kind -> Group? in
                let members = kinds.indices.filter { kinds[$0] == kind }.map { Int32($0) }
                return members.isEmpty ? nil : Group(parts: members, in: parts)
            }
            let aligned = CellAligner(parts: parts, limits: limits, groups: groups) { _ in reach }.aligned()
            #expect(Partition.brokenInvariant(aligned, of: parts, reachLimit: { _ in .infinity }) == nil)
            return aligned.map { group in
                group.parts.reduce(into: [:]) { $0[kinds[Int($1)], default: 0] += 1 }
            }
        }
    }

    @Test func `water beside a shore goes to the region of the shore`() {
        let shore = Shore([.settled, .sea, .sea, .sea])
        #expect(shore.aligned(reach: 16_000) == [[.settled: 2, .sea: 3], [.sea: 1]])
    }

    @Test func `no circle grows past what it may`() {
        let shore = Shore([.settled, .sea, .sea, .sea])
        #expect(shore.aligned(reach: 2_000) == [[.settled: 2], [.sea: 4]])
    }

    @Test func `empty land goes to settled land, and not to the sea`() {
        #expect(
            Shore([.empty, .empty, .settled, .sea]).aligned(reach: 16_000) == [
                [.settled: 2, .empty: 2, .sea: 1], [.sea: 1],
            ])
        let shore = Shore([.empty, .sea, .sea, .sea], hasWest: false)
        #expect(shore.aligned(reach: 8_000) == [[.empty: 1, .sea: 3], [.sea: 1]])
        // A region of water ends where all of it goes.
        #expect(shore.aligned(reach: 16_000) == [[.empty: 1, .sea: 4]])
    }
}
