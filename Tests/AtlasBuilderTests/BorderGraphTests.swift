import AtlasSources
import FixedRandom
import GeoBridge
import Hereabouts
import Testing

@testable import AtlasBuilder

/// The border graph against the polygons it is made from, whose owner at a point is found by looking at each.
@Suite struct BorderGraphTests {
    /// Overlapping features of four countries with three ranks: rectangles on a lattice, so that many edges coincide.
    private static func features(seed: UInt64) -> [BorderFeature] {
        var random = SplitMix64(seed: seed)
        return (0..<14).map { _ in
            let country = Int.random(in: 1...4, using: &random)
            let west = Double(Int.random(in: 0..<12, using: &random))
            let south = Double(Int.random(in: 0..<12, using: &random))
            let east = west + Double(Int.random(in: 1...5, using: &random))
            let north = south + Double(Int.random(in: 1...5, using: &random))
            return BorderFeature(
                code: "\(country)", name: "\(country)", rank: Int.random(in: 0...2, using: &random),
                polygons: [[[west, south, east, south, east, north, west, north, west, south]]])
        }
    }

    /// The country at a point: of the features around it, the one of highest rank, then of the first code; 0 for none.
    private static func owner(_ features: [BorderFeature], _ x: Double, _ y: Double) -> Int {
        features.filter { feature in
            let ring = feature.polygons[0][0]
            return ring[0] < x && x < ring[2] && ring[1] < y && y < ring[5]
        }.min { ($1.rank, $0.code) < ($0.rank, $1.code) }.map { Int($0.code)! } ?? 0
    }

    private static func graph(_ features: [BorderFeature], toleranceDegrees: Double = 0) throws -> BorderGraph {
        try BorderGraphBuilder(
            features: features, countries: features.map { Int($0.code)! }, toleranceDegrees: toleranceDegrees
        ).build(references: [(0.5, 0.5), (8.5, 8.5), (-5, -5)])
    }

    @Test(arguments: 0..<20) func `every edge has the right countries on its sides`(seed: UInt64) throws {
        let features = Self.features(seed: seed)
        let graph = try Self.graph(features)
        #expect(!graph.arcs.isEmpty)
        #expect(
            graph.references
                == [Self.owner(features, 0.5, 0.5), Self.owner(features, 8.5, 8.5), Self.owner(features, -5, -5)])
        var length = 0.0
        for arc in graph.arcs {
            for k in stride(from: 0, to: arc.line.count - 2, by: 2) {
                let dx = arc.line[k + 2] - arc.line[k], dy = arc.line[k + 3] - arc.line[k + 1]
                let edge = abs(dx) + abs(dy)
                #expect(dx == 0 || dy == 0)
                length += edge
                // At the middle of every unit of its length, a little to the left and to the right.
                for step in 0..<Int(edge.rounded()) {
                    let t = (Double(step) + 0.5) / edge
                    let x = arc.line[k] + dx * t, y = arc.line[k + 1] + dy * t
                    let left = Self.owner(features, x - dy / edge * 0.1, y + dx / edge * 0.1)
                    let right = Self.owner(features, x + dy / edge * 0.1, y - dx / edge * 0.1)
                    #expect(left != right && Int(arc.code) == left ^ right)
                    #expect(arc.touchesNone == (left == 0 || right == 0))
                }
            }
        }
        // And no border is missing: between unit squares of different owners there is one.
        var expected = 0.0
        for x in -1..<19 {
            for y in -1..<19 {
                let own = Self.owner(features, Double(x) + 0.5, Double(y) + 0.5)
                if Self.owner(features, Double(x) + 1.5, Double(y) + 0.5) != own { expected += 1 }
                if Self.owner(features, Double(x) + 0.5, Double(y) + 1.5) != own { expected += 1 }
            }
        }
        #expect(abs(length - expected) < 1e-6)
    }

    @Test(arguments: 0..<20) func `its faces are the countries that went in`(seed: UInt64) throws {
        let features = Self.features(seed: seed)
        let graph = try Self.graph(features)
        let context = try GEOSContext()
        let faces = try context.multiLineString(graph.arcs.map(\.line)).unaryUnion().polygonized()
        var polygons = [[[[Double]]]](repeating: [], count: 5)
        for index in 0..<faces.partCount {
            let (rings, point) = try faces.withPart(index) { (face: borrowing Geometry) throws(GEOSError) in
                (try face.polygonRings()[0], try face.pointOnSurface())
            }
            // Off the lattice, on whose lines features have no inside.
            polygons[Self.owner(features, point.x + 0.01, point.y + 0.02)].append(rings)
        }
        for country in 1...4 {
            var squares: [[[Double]]] = []
            for x in stride(from: 0.0, to: 19, by: 1) {
                for y in stride(from: 0.0, to: 19, by: 1) where Self.owner(features, x + 0.5, y + 0.5) == country {
                    squares.append([[x, y, x + 1, y, x + 1, y + 1, x, y + 1, x, y]])
                }
            }
            guard !squares.isEmpty else {
                #expect(polygons[country].isEmpty)
                continue
            }
            let found = try context.multiPolygon(polygons[country]).unaryUnion()
            let expected = try context.multiPolygon(squares).unaryUnion()
            let area = try found.area()
            #expect(abs(area - Double(squares.count)) < 1e-6)
            // The symmetric difference has no area.
            #expect(abs(try area + expected.area() - 2 * found.intersection(expected).area()) < 1e-6)
        }
    }

    /// Simplified together, arcs move by no more than the tolerance and keep their countries: a wavy border.
    @Test func `simplification moves a border by its tolerance at most`() throws {
        var wave: [Double] = []
        for step in 0...200 {
            wave += [Double(step) / 100, 1 + 0.01 * sine(Double(step) / 5)]
        }
        let shore = (0...200).reversed().flatMap { [wave[2 * $0], wave[2 * $0 + 1]] }
        let features = [
            BorderFeature(code: "1", name: "1", polygons: [[[0, 0, 2, 0] + shore + [0, 0]]]),
            BorderFeature(code: "2", name: "2", polygons: [[wave + [2, 2, 0, 2, wave[0], wave[1]]]]),
        ]
        let exact = try Self.graph(features), simple = try Self.graph(features, toleranceDegrees: 0.002)
        func between(_ graph: BorderGraph) -> [[Double]] { graph.arcs.filter { $0.code == 3 }.map(\.line) }
        let (before, after) = (between(exact).joined(), between(simple).joined())
        #expect(before.count == 2 * 201 && after.count < before.count / 2 && after.count > 20)
        // Each old vertex is within the tolerance of the new line.
        let line = Array(after)
        for k in stride(from: 0, to: wave.count, by: 2) {
            let distances = stride(from: 0, to: line.count - 2, by: 2).map { m -> Double in
                let a = SIMD2(line[m], line[m + 1]), along = SIMD2(line[m + 2], line[m + 3]) - a
                let offset = SIMD2(wave[k], wave[k + 1]) - a
                let t = min(1, max(0, (offset * along).sum() / (along * along).sum()))
                let aside = offset - along * t
                return (aside * aside).sum().squareRoot()
            }
            #expect(distances.min()! <= 0.002 + 1e-9)
        }
    }

    private func sine(_ x: Double) -> Double {
        Trigonometry.sineAndCosine(degrees: (x * 57.3).remainder(dividingBy: 360)).sine
    }
}
