import FixedRandom
import GeoBridge
import Hereabouts
import Testing

@testable import AtlasBuilder

@Suite struct EnclosingCircleTests {
    /// Parts with three corners each, in a plane.
    private static func parts(_ corners: [SIMD3<Double>]) -> PartSet {
        let cell = CellID(face: 0, i: 1 << 29, j: 1 << 29, level: 12), site = SIMD2<UInt32>(repeating: 1 << 29)
        var parts = PartSet()
        for start in stride(from: 0, to: corners.count, by: 3) {
            parts.append(
                corners: Array(corners[start..<start + 3]), site: site, isOpen: false, isLand: true,
                isSettled: true, people: Population.People(residents: 1, promised: 1), area: 1, cell: cell)
        }
        return parts
    }

    private static func expectSameAsGEOS(_ corners: [SIMD3<Double>]) throws {
        let parts = parts(corners), all = Array(0..<Int32(parts.count))
        let circle = try GEOSContext().multiPoint(corners.flatMap { [$0.x, $0.y] }).minimumBoundingCircle()
        let reach = parts.reach(from: parts.enclosingCenter(of: all), to: all)
        #expect(abs(reach - circle.radius) < 0.011, "\(reach) m, \(circle.radius) m by GEOS")
    }

    @Test func `the circle about parts is that of GEOS`() throws {
        var random = SplitMix64(seed: 29)
        for count in [1, 2, 3, 5, 20, 200] {
            for width in [100.0, 4_000, 60_000] {
                try Self.expectSameAsGEOS(
                    (0..<3 * count).map { _ in SIMD3(width * random.unit(), width * random.unit() * random.unit(), 0) })
            }
        }
    }

    /// Corners of neighbors coincide, and many lie in one line or on one circle.
    @Test func `corners that coincide, or lie on a line or a circle, change nothing`() throws {
        let square = (0..<21).flatMap { x in (0..<21).map { SIMD3(Double(x) * 500, Double($0) * 500, 0) } }
        try Self.expectSameAsGEOS(square + square)
        try Self.expectSameAsGEOS((0..<30).map { SIMD3(Double($0) * 100, 0, 0) })
        // GEOS has no center for points that all coincide.
        let one = SIMD3(3.0, 4, 0), parts = Self.parts([SIMD3](repeating: one, count: 6))
        #expect(parts.enclosingCenter(of: [0, 1]) == one)
        // Of the unit circle, by tangents of half the angles.
        try Self.expectSameAsGEOS(
            (1...60).map { k in
                let t = Double(k) / 20 - 1.5
                return 8_000 / (1 + t * t) * SIMD3(1 - t * t, 2 * t, 0)
            })
    }
}

@Suite struct PointGridTests {
    @Test func `a query meets every point within its radius, none twice, and none far outside`() {
        var random = SplitMix64(seed: 31)
        let points = (0..<3_000).map { _ in
            SIMD3(20_000 * random.unit() - 9_000, 20_000 * random.unit() - 9_000, 3_000 * random.unit() - 1_500)
        }
        let indices = points.indices.filter { $0 % 3 > 0 }.map { Int32($0) }
        for side in [400.0, 1_500, 30_000] {
            let grid = PointGrid(points, indices: indices, side: side)
            for radius in [0.0, 300, 2_000, 50_000] {
                for _ in 0..<40 {
                    let query = points[Int(random.next() % 3_000)]
                    var met: [Int] = []
                    grid.forEach(near: query, within: radius) { met.append($0) }
                    let within = indices.map { Int($0) }.filter { points[$0].distance(to: query) <= radius }
                    #expect(Set(met).isSuperset(of: within))
                    #expect(Set(met).count == met.count)
                    #expect(met.allSatisfy { points[$0].distance(to: query) <= 3.0.squareRoot() * (radius + side) })
                }
            }
        }
    }

    @Test func `a grid of no points has none`() {
        PointGrid([], indices: [], side: 10).forEach(near: .zero, within: 1_000) { _ in Issue.record("a point") }
    }
}
