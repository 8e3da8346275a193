import FixedRandom
import Foundation
import Hereabouts

/// Meters in a degree of latitude, on a sphere: for laying out points, never for judging distances.
let metersPerDegree = 111_195.0

/// A point some meters east and north of another, flat longitude and latitude, wrapped into ±180 and kept off the
/// poles.
func shifted(_ longitude: Double, _ latitude: Double, east: Double, north: Double) -> (x: Double, y: Double) {
    let y = min(90, max(-90, latitude + north / metersPerDegree))
    var x = longitude + east / metersPerDegree / max(1e-4, cos(latitude * .pi / 180))
    if x > 180 { x -= 360 }
    if x < -180 { x += 360 }
    return (x, y)
}

/// Positions spread evenly along the edges of the source polygons: by length, at sea as on land.
struct BorderWalk: Sendable {
    /// Flat longitude, latitude pairs of each: a point of an edge, one 2 m to its left, one 2 m to its right, and one
    /// up to `reach` meters off in a random direction.
    var left: [Double] = [], right: [Double] = [], near: [Double] = []

    init(_ polygons: [SourcePolygon], count: Int, reach: Double, seed: UInt64) throws {
        let lengths = try onAllCores(polygons.count) { index in
            var sum = 0.0
            Self.forEachEdge(of: polygons[index]) { _, _, _, _, length in sum += length }
            return sum
        }
        let spacing = lengths.reduce(0, +) / Double(count)
        let walks = try onAllCores(polygons.count) { index in
            Self(polygons[index], spacing: spacing, reach: reach, seed: seed &+ UInt64(index))
        }
        for walk in walks {
            left += walk.left
            right += walk.right
            near += walk.near
        }
    }

    private init(_ polygon: SourcePolygon, spacing: Double, reach: Double, seed: UInt64) {
        var random = SplitMix64(seed: seed)
        // One in every stretch of the spacing, anywhere in it.
        var walked = 0.0
        var stretch = 0.0
        var target = random.unit() * spacing
        Self.forEachEdge(of: polygon) { x0, y0, x1, y1, length in
            while target < walked + length {
                let t = (target - walked) / length
                add(x0 + t * (x1 - x0), y0 + t * (y1 - y0), (x0, y0), (x1, y1), reach, &random)
                stretch += spacing
                target = stretch + random.unit() * spacing
            }
            walked += length
        }
    }

    private mutating func add(
        _ x: Double, _ y: Double, _ start: (x: Double, y: Double), _ end: (x: Double, y: Double), _ reach: Double,
        _ random: inout SplitMix64
    ) {
        let east = (end.x - start.x) * cos(y * .pi / 180)
        let north = end.y - start.y
        let length = max(1e-12, (east * east + north * north).squareRoot())
        let (sideways, along) = (2 * north / length, 2 * east / length)
        let (angle, distance) = (random.uniform(0, 2 * .pi), random.uniform(0, reach))
        for (list, (east, north)) in [
            (\Self.left, (-sideways, along)), (\.right, (sideways, -along)),
            (\.near, (distance * cos(angle), distance * sin(angle))),
        ] {
            let point = shifted(x, y, east: east, north: north)
            self[keyPath: list].append(point.x)
            self[keyPath: list].append(point.y)
        }
    }

    private static func forEachEdge(
        of polygon: SourcePolygon,
        _ body: (_ x0: Double, _ y0: Double, _ x1: Double, _ y1: Double, _ length: Double) -> Void
    ) {
        for ring in polygon.rings {
            for k in stride(from: 0, to: ring.count - 2, by: 2) {
                let (x0, y0, x1, y1) = (ring[k], ring[k + 1], ring[k + 2], ring[k + 3])
                let east = (x1 - x0) * cos((y0 + y1) * .pi / 360)
                let north = y1 - y0
                body(x0, y0, x1, y1, metersPerDegree * (east * east + north * north).squareRoot())
            }
        }
    }
}
