import Hereabouts

/// What is published for points, in buffers that are made once: the regions, and center and accuracy in hand.
package struct Reduction {
    package private(set) var regions: [Region]
    package private(set) var circles: [Atlas.Circle]

    package init(count: Int) {
        regions = Array(repeating: .invalid, count: count)
        circles = Array(
            repeating: Atlas.Circle(coordinate: Coordinate(latitude: 0, longitude: 0), horizontalAccuracy: 0),
            count: count)
    }

    /// Reduces as many points as there is room for, by the batch form.
    @inline(never)
    package mutating func reduce(_ points: [Coordinate], in atlas: Atlas) throws {
        try Self.reduce(points, in: atlas, into: &regions, &circles)
    }

    private static func reduce(
        _ points: [Coordinate], in atlas: Atlas, into regions: inout [Region], _ circles: inout [Atlas.Circle]
    ) throws {
        var found = regions.mutableSpan, around = circles.mutableSpan
        try atlas.regions(at: points.span, into: &found, circles: &around)
    }

    /// Whether all is what single calls give.
    package func agreesWithSingleCalls(_ points: [Coordinate], in atlas: Atlas) -> Bool {
        points.indices.allSatisfy { index in
            guard let region = try? atlas.region(at: points[index]) else { return false }
            return regions[index] == region && circles[index] == (try? atlas.circle(of: region))
        }
    }
}

/// The sum of what single calls give for points: center and accuracy in hand, nothing stored.
@inline(never)
package func sumOfSingleCalls(_ points: [Coordinate], in atlas: Atlas) throws -> Double {
    var sum = 0.0
    for point in points {
        let circle = try atlas.circle(of: atlas.region(at: point))
        sum += circle.coordinate.latitude + circle.coordinate.longitude + circle.horizontalAccuracy
    }
    return sum
}
