import FixedRandom
import GeoBridge
import Testing

@Suite struct STRTreeTests {
    @Test func `search and nearest agree with looking at everything`() throws {
        let context = try GEOSContext()
        var random = SplitMix64(seed: 5)
        var boxes: [Bounds] = []
        var list = GeometryList(context)
        for _ in 0..<300 {
            let x = Double.random(in: 0...100, using: &random)
            let y = Double.random(in: 0...100, using: &random)
            let side = Double.random(in: 0.1...5, using: &random)
            boxes.append(Bounds(minX: x, minY: y, maxX: x + side, maxY: y + side))
            list.append(try context.polygon([square(x, y, side: side)]))
        }
        let tree = try STRTree(list)
        #expect(tree.count == 300)
        for _ in 0..<200 {
            let x = Double.random(in: -10...110, using: &random)
            let y = Double.random(in: -10...110, using: &random)
            let window = Bounds(minX: x, minY: y, maxX: x + 7, maxY: y + 9)
            let expected = boxes.indices.filter {
                boxes[$0].minX <= window.maxX && boxes[$0].maxX >= window.minX
                    && boxes[$0].minY <= window.maxY && boxes[$0].maxY >= window.minY
            }
            #expect(try tree.indices(touching: window) == expected)

            let point = try context.point(x: x, y: y)
            func distance(_ box: Bounds) -> Double {
                let dx = max(box.minX - x, 0, x - box.maxX)
                let dy = max(box.minY - y, 0, y - box.maxY)
                return (dx * dx + dy * dy).squareRoot()
            }
            let nearest = try #require(try tree.nearest(to: point))
            let best = boxes.map(distance).min() ?? .infinity
            // The two ways of computing a distance up to 160 differ by a few units in the last place.
            #expect(abs(distance(boxes[nearest]) - best) < 1e-12)
            #expect(abs(try tree.withGeometry(at: nearest) { try $0.distance(to: point) } - best) < 1e-12)
        }
    }

    @Test func `an empty tree finds nothing`() throws {
        let context = try GEOSContext()
        let tree = try STRTree(GeometryList(context))
        #expect(try tree.indices(touching: Bounds(minX: 0, minY: 0, maxX: 1, maxY: 1)) == [])
        #expect(try tree.nearest(to: context.point(x: 0, y: 0)) == nil)
        var one = GeometryList(context)
        one.append(try context.point(x: 3, y: 3))
        let small = try STRTree(one)
        #expect(try small.nearest(to: context.point(x: 0, y: 0)) == 0)
        #expect(try small.nearest(to: context.polygon([])) == nil)
        #expect(throws: GEOSError.nonFiniteCoordinate) {
            try small.indices(touching: Bounds(minX: .nan, minY: 0, maxX: 1, maxY: 1))
        }
    }
}
