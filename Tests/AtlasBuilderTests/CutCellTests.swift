import FixedRandom
import GeoBridge
import Hereabouts
import Testing

@testable import AtlasBuilder

/// Cut cells against the lines that they were made from.
@Suite struct CutCellTests {
    /// A cell on face 0, divided by half planes whose edges cross it.
    private struct Divided {
        var view: CellView
        var walker: CellWalker

        /// - Parameter lines: of each, an angle in radians and a distance from the cell's middle in cell sides.
        init(level: Int, column: Int64, row: Int64, lines: [(angle: Double, offset: Double, code: UInt16)]) {
            let size: Int64 = 1 << Int64(30 - level)
            let i = column * size, j = row * size
            let x = Double(i + size / 2), y = Double(j + size / 2), side = Double(size)
            var edges: [FaceEdge] = []
            for line in lines {
                // A triangle, one of whose sides goes through the cell, the others far outside.
                let along = SIMD2(cosine(line.angle), sine(line.angle)), across = SIMD2(-along.y, along.x)
                let middle = SIMD2(x, y) + across * line.offset * side
                let corners = [middle - along * 9 * side, middle + along * 9 * side, middle + across * 9 * side]
                for k in 0..<3 {
                    let a = corners[k], b = corners[(k + 1) % 3]
                    edges.append(FaceEdge(x0: even(a.x), y0: even(a.y), x1: even(b.x), y1: even(b.y), code: line.code))
                }
            }
            let reference = SIMD2(x + 1, y + 1)
            var label: UInt16 = 1
            for line in lines {
                let across = SIMD2(-sine(line.angle), cosine(line.angle))
                if ((reference - SIMD2(x, y)) * across).sum() > line.offset * side { label ^= line.code }
            }
            view = CellView(
                cell: CellID(face: 0, i: UInt32(i), j: UInt32(j), level: level), face: 0, i: i, j: j, level: level,
                reference: Label(bits: label), edges: 0..<edges.count)
            walker = CellWalker(edges: edges)
        }

        func country(_ x: Int64, _ y: Int64) -> UInt16 { UInt16(walker.label(in: view, x: x | 1, y: y | 1).country) }
    }

    /// Leaf cells by which a faithful cut may move a border, 36 m or so: half a step of the grid is 1,030 each way, and
    /// the middle of what goes to its surroundings as dust some 2,700 from its sides.
    private static let tolerance = 4_000.0

    /// Points of the cell that the cut gives to a country that holds nothing within the tolerance.
    private func strays(in divided: Divided) throws -> (isFaithful: Bool, count: Int) {
        let view = divided.view
        let cut = try CutCellBuilder(view, context: GEOSContext()) {
            divided.walker.label(in: view, x: $0, y: $1)
        }.build(divided.walker.edges[...])
        var strays = 0
        let n: Int64 = 64
        for point in 0..<n * n {
            let x = view.i + view.size * (2 * (point / n) + 1) / (2 * n)
            let y = view.j + view.size * (2 * (point % n) + 1) / (2 * n)
            let answer = cut.country(atLeaf: FaceIJ(face: 0, i: UInt32(x), j: UInt32(y)))
            if answer == divided.country(x, y) { continue }
            let isNear = (0..<64).contains { direction in
                let angle = Double(direction) * .pi / 32
                return (1...16).contains { step in
                    let r = Self.tolerance * Double(step) / 16
                    return divided.country(x + Int64(r * cosine(angle)), y + Int64(r * sine(angle))) == answer
                }
            }
            if !isNear { strays += 1 }
        }
        return (cut.isFaithful, strays)
    }

    @Test func `a strip as narrow as the distance of samples from the side has its country`() throws {
        // Three hundred meters, between the cell's upper side and a border in parallel with it: all that a sample of
        // eight by eight points sees of the strip lies within rounding of the border.
        for thousandths in 50..<75 {
            let offset = 0.5 - Double(thousandths) / 1_000
            let divided = Divided(level: 11, column: 700, row: 900, lines: [(0.0005, offset, 3)])
            let (isFaithful, strays) = try strays(in: divided)
            #expect(isFaithful && strays == 0, "\(thousandths)")
        }
    }

    @Test func `countries of strips and wedges are where the borders say`() throws {
        var random = SplitMix64(seed: 0xc0_77)
        var unfaithful = 0
        let trials = 120
        for trial in 0..<trials {
            let level = Int.random(in: 9...14, using: &random)
            let angle = Double.random(in: 0..<2 * .pi, using: &random)
            let offset = Double.random(in: -0.5...0.5, using: &random)
            // Country 1, then 2, then 3, or all at one point.
            let gap = Double.random(in: 0...0.02, using: &random)
            let turn = Double.random(in: -0.05...0.05, using: &random)
            // In the middle of the face, which the triangles do not leave.
            let quarter: Int64 = 1 << Int64(level - 2)
            let divided = Divided(
                level: level, column: Int64.random(in: quarter..<3 * quarter, using: &random),
                row: Int64.random(in: quarter..<3 * quarter, using: &random),
                lines: [(angle, offset, 1 ^ 2), (angle + turn, offset + gap, 2 ^ 3)])
            let (isFaithful, strays) = try strays(in: divided)
            if isFaithful { #expect(strays == 0, "trial \(trial), level \(level)") } else { unfaithful += 1 }
        }
        // Those, whose lines all but coincide, would be divided into smaller cells.
        #expect(unfaithful < trials * 2 / 3)
    }
}

private func sine(_ angle: Double) -> Double { Trigonometry.sineAndCosine(degrees: angle * 180 / .pi).sine }
private func cosine(_ angle: Double) -> Double { Trigonometry.sineAndCosine(degrees: angle * 180 / .pi).cosine }
private func even(_ value: Double) -> Int32 { Int32((value / 2).rounded()) * 2 }
