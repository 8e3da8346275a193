import AtlasInspection
import FixedRandom
import Foundation
#if canImport(FoundationXML)
    import FoundationXML
#endif
import Hereabouts
import Testing

/// `hereabouts atlas map`: the drawing shows what the atlas answers.
extension Acceptance {
    @Suite struct RegionMapTests {
        /// Bounds as west, south, east, north, each over a border; the second over the edge of a cube face.
        private static let maps = [[-107.2, 31.0, -105.4, 32.6], [6.8, 44.6, 8.4, 46.4], [103.5, 1.1, 104.1, 1.6]]

        @Test(arguments: maps.prefix(SampleSize.maps.count))
        func `every point has the color of its accuracy`(_ sides: [Double]) throws {
            let bounds = try #require(MapBounds(west: sides[0], south: sides[1], east: sides[2], north: sides[3]))
            let drawing = try Drawing(
                RegionMap(bounds, of: atlas, atlasPath: atlasPath, widthInPixels: 1_000).svg(showsCircles: true))
            var random = SplitMix64(seed: 3)
            var fills: [Double: String] = [:]
            var uncovered = 0, wrong = 0
            let count = 2_000
            for _ in 0..<count {
                let x = Double.random(in: 0..<1, using: &random), y = Double.random(in: 0..<1, using: &random)
                let region = try atlas.snap(
                    latitude: bounds.north - y * (bounds.north - bounds.south),
                    longitude: bounds.west + x * (bounds.east - bounds.west))
                let found = drawing.fills(x: x * drawing.width, y: y * drawing.height)
                guard found.count == 1 else {
                    uncovered += 1
                    continue
                }
                let accuracy = try atlas.reducedLocation(of: region).horizontalAccuracy
                if fills[accuracy, default: found[0]] != found[0] { wrong += 1 }
                fills[accuracy] = fills[accuracy] ?? found[0]
            }
            // A point within a tenth of a pixel of an outline may fall on either side.
            #expect(uncovered <= count / 200)
            #expect(wrong <= count / 200)
        }

        @Test func `bounds that name no area are refused`() {
            #expect(MapBounds(west: 1, south: 1, east: 1, north: 2) == nil)
            #expect(MapBounds(west: 0, south: 0, east: 21, north: 1) == nil)
            #expect(MapBounds(west: 179, south: 0, east: 181, north: 1) == nil)
            #expect(MapBounds(west: .nan, south: 0, east: 1, north: 1) == nil)
            #expect(MapBounds(west: 179, south: -85, east: 180, north: -84) != nil)
        }
    }
}

/// The filled paths of an SVG, read back.
private struct Drawing {
    private struct Shape {
        let fill: String
        let rings: [[SIMD2<Double>]]
        /// The least and the largest y.
        let heights: ClosedRange<Double>
    }

    private var shapes: [Shape] = []
    let width: Double, height: Double

    init(_ svg: String) throws {
        #expect(XMLParser(data: Data(svg.utf8)).parse())
        let frame = try #require(svg.firstMatch(of: /<clipPath id="frame"><rect width="(\d+)" height="(\d+)"/))
        width = try #require(Double(frame.1))
        height = try #require(Double(frame.2))
        for match in svg.matches(of: /<path fill="(#\w+)" d="([^"]*)"/) {
            let rings = match.2.split(separator: "z").map(Self.ring), heights = rings.joined().map(\.y)
            shapes.append(Shape(fill: String(match.1), rings: rings, heights: heights.min()!...heights.max()!))
        }
        try #require(!shapes.isEmpty)
    }

    /// A ring of `Mx yl` and relative steps.
    private static func ring(_ data: Substring) -> [SIMD2<Double>] {
        let numbers = data.matches(of: /-?\d+/).compactMap { Double($0.0) }
        var points = [SIMD2(numbers[0], numbers[1])]
        for k in stride(from: 2, to: numbers.count - 1, by: 2) {
            points.append(points[points.count - 1] + SIMD2(numbers[k], numbers[k + 1]))
        }
        return points
    }

    /// The fills at a point, by the even-odd rule.
    func fills(x: Double, y: Double) -> [String] {
        shapes.filter { shape in
            shape.heights.contains(y)
                && shape.rings.reduce(false) { inside, ring in
                    var inside = inside
                    for (a, b) in zip(ring, ring.dropFirst() + ring.prefix(1)) where (a.y > y) != (b.y > y) {
                        if x < a.x + (y - a.y) / (b.y - a.y) * (b.x - a.x) { inside.toggle() }
                    }
                    return inside
                }
        }.map(\.fill)
    }
}
