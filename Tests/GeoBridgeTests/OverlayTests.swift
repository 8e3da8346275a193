import FixedRandom
import GeoBridge
import Testing

@Suite struct OverlayTests {
    @Test func `set operations on two overlapping squares`() throws {
        let context = try GEOSContext()
        let left = try context.polygon([square(0, 0, side: 2)])
        let right = try context.polygon([square(1, 1, side: 2)])
        for gridSize in [nil, 0.001] {
            #expect(try left.union(right, gridSize: gridSize).area() == 7)
            #expect(try left.intersection(right, gridSize: gridSize).area() == 1)
        }
    }

    @Test func `set operations agree with counting random points`() throws {
        let context = try GEOSContext()
        var random = SplitMix64(seed: 3)
        var checked = 0
        for _ in 0..<20 {
            let ringA = star(0, 0, radius: 3, corners: 12, using: &random)
            let ringB = star(1, 0.5, radius: 3, corners: 17, using: &random)
            let a = try context.polygon([ringA])
            let b = try context.polygon([ringB])
            let union = try a.union(b).prepared()
            let intersection = try a.intersection(b).prepared()
            for _ in 0..<200 {
                let x = Double.random(in: -4...5, using: &random)
                let y = Double.random(in: -4...5, using: &random)
                let (inA, inB) = (isInside(x, y, ringA), isInside(x, y, ringB))
                #expect(try union.contains(x: x, y: y) == (inA || inB))
                #expect(try intersection.contains(x: x, y: y) == (inA && inB))
                checked += inA || inB ? 1 : 0
            }
        }
        #expect(checked > 500)
    }

    @Test func `a grid closes the gap between neighbors that do not quite meet`() throws {
        let context = try GEOSContext()
        let apart = try context.multiPolygon([[square(0, 0)], [square(1 + 1e-9, 0)]])
        #expect(try apart.unaryUnion().partCount == 2)
        let joined = try apart.unaryUnion(gridSize: 1e-6)
        #expect(joined.partCount == 1)
        #expect(try joined.area() == 2)
        for position in try joined.polygonRings().joined().joined() {
            let onGrid = (position * 1e6).rounded() / 1e6
            #expect(position == onGrid)
        }
        // 0.1234567 and 1.1234567 move to the nearest multiples of a hundredth.
        let aside = try context.polygon([square(0.1234567, 0)])
        let moved = try aside.intersection(context.polygon([square(0, 0, side: 5)]), gridSize: 0.01).bounds()
        #expect(moved == Bounds(minX: 0.12, minY: 0, maxX: 1.12, maxY: 1))
    }

    @Test func `arcs of two neighbors are cut, merged and built up again`() throws {
        let context = try GEOSContext()
        let pair = try context.multiPolygon([[square(0, 0)], [square(1, 0)]])
        // Outlines one by one, so that the side they share is there twice before the union and once after.
        let outlines = try context.multiLineString([square(0, 0), square(1, 0)])
        #expect(try outlines.lines().map(\.count) == [10, 10])
        let noded = try outlines.unaryUnion()
        let arcs = try noded.lineMerge()
        #expect(arcs.partCount == 3)
        let faces = try arcs.polygonized()
        #expect(faces.kind == .collection)
        #expect(faces.partCount == 2)
        let whole = try faces.unaryUnion().intersection(pair.unaryUnion())
        #expect(try whole.area() == 2 && faces.area() == 2)
    }

    @Test func `polygonize finds faces and holes and leaves dangles out`() throws {
        let context = try GEOSContext()
        let lines = try context.multiLineString([square(0, 0, side: 10), square(2, 2, side: 3), [20, 20, 30, 30]])
        let faces = try lines.polygonized().polygonRings()
        #expect(faces.map(\.count).sorted() == [1, 2])
        #expect(try context.multiPolygon(faces).area() == 100)
    }

    @Test func `crossing lines are cut where they cross`() throws {
        let context = try GEOSContext()
        let cross = try context.multiLineString([[0, 0, 2, 2], [0, 2, 2, 0]])
        #expect(try cross.unaryUnion().lines().count == 4)
    }

    @Test func `simplifying stays within the tolerance and keeps rings apart`() throws {
        let context = try GEOSContext()
        var random = SplitMix64(seed: 4)
        let ring = star(0, 0, radius: 1, corners: 400, using: &random)
        let line = try context.lineString(ring)
        let tolerance = 0.05
        let simple = try line.simplifiedKeepingTopology(tolerance: tolerance)
        #expect(simple.positionCount < line.positionCount)
        let corners = try simple.lines()[0]
        // Every corner left out lies within the tolerance of the simplified line.
        for index in stride(from: 0, to: ring.count, by: 2) {
            #expect(distance(from: SIMD2(ring[index], ring[index + 1]), to: corners) <= tolerance * (1 + 1e-12))
        }
        let nested = try context.polygon([square(0, 0, side: 10), [1, 1, 5, 0.9999, 9, 1, 9, 9, 1, 9, 1, 1]])
        #expect(try nested.simplifiedKeepingTopology(tolerance: 3).isValid())
    }

    /// From a point to the nearest point of a flat line.
    private func distance(from point: SIMD2<Double>, to line: [Double]) -> Double {
        stride(from: 0, to: line.count - 2, by: 2).map { k in
            let start = SIMD2(line[k], line[k + 1]), along = SIMD2(line[k + 2], line[k + 3]) - start
            let t = min(1, max(0, ((point - start) * along).sum() / (along * along).sum()))
            let aside = point - start - along * t
            return (aside * aside).sum().squareRoot()
        }.min() ?? .infinity
    }

    @Test func `predicates on boundaries`() throws {
        let context = try GEOSContext()
        let box = try context.polygon([square(0, 0)])
        let prepared = try context.polygon([square(0, 0)]).prepared()
        for (x, y, contained, touched) in [(0.5, 0.5, true, true), (0, 0.5, false, true), (2, 0.5, false, false)] {
            let point = try context.point(x: x, y: y)
            #expect(try box.intersects(point) == touched)
            #expect(try prepared.contains(point) == contained)
            #expect(try prepared.contains(x: x, y: y) == contained)
            #expect(try prepared.intersects(x: x, y: y) == touched)
        }
        #expect(throws: GEOSError.nonFiniteCoordinate) { try prepared.contains(x: .nan, y: 0) }
    }
}
