import Foundation
import GeoBridge
import Hereabouts

/// Points by square degree, so that a polygon finds those in its bounding box.
struct PointSquares: Sendable {
    /// Flat longitude, latitude pairs in degrees.
    let points: [Double]
    private let order: [Int32]
    private let starts: [Int32]

    init(_ points: [Double]) {
        self.points = points
        let squares = stride(from: 0, to: points.count, by: 2).map { Self.square(points[$0], points[$0 + 1]) }
        var starts = [Int32](repeating: 0, count: 180 * 360 + 1)
        for square in squares { starts[square + 1] += 1 }
        for square in 0..<180 * 360 { starts[square + 1] += starts[square] }
        var next = starts
        var order = [Int32](repeating: 0, count: squares.count)
        for (index, square) in squares.enumerated() {
            order[Int(next[square])] = Int32(index)
            next[square] += 1
        }
        (self.order, self.starts) = (order, starts)
    }

    private static func column(_ longitude: Double) -> Int { min(359, max(0, Int(longitude + 180))) }
    private static func row(_ latitude: Double) -> Int { min(179, max(0, Int(latitude + 90))) }
    private static func square(_ longitude: Double, _ latitude: Double) -> Int {
        row(latitude) * 360 + column(longitude)
    }

    /// Calls `body` with the index of every point in a polygon's bounding box.
    func forEach(near polygon: SourcePolygon, _ body: (Int) throws -> Void) rethrows {
        let columns = Self.column(polygon.minX)...Self.column(polygon.maxX)
        for row in Self.row(polygon.minY)...Self.row(polygon.maxY) {
            let range = Int(starts[row * 360 + columns.lowerBound])..<Int(starts[row * 360 + columns.upperBound + 1])
            for index in order[range] {
                let x = points[2 * Int(index)]
                let y = points[2 * Int(index) + 1]
                if x >= polygon.minX, x <= polygon.maxX, y >= polygon.minY, y <= polygon.maxY { try body(Int(index)) }
            }
        }
    }
}

/// Which polygons of a source hold which points, by GEOS, polygon by polygon: brute force but for bounding boxes.
struct PolygonOracle: Sendable {
    let polygons: [SourcePolygon]
    /// Indices of the polygons of each rank, the highest first.
    private let ranks: [[Int]]

    static let borders = Result { PolygonOracle(try PolygonFile.read(.borders)) }
    static let land = Result { PolygonOracle(try PolygonFile.read(.land)) }

    init(_ polygons: [SourcePolygon]) {
        self.polygons = polygons
        ranks = Set(polygons.map(\.rank)).sorted(by: >).map { rank in
            polygons.indices.filter { polygons[$0].rank == rank }
        }
    }

    /// The country of every point (flat longitude, latitude pairs), by the rule of `data/SOURCES.md`: that of the
    /// polygon of highest rank that holds it, at equal rank the alphabetically smaller one. `CountryCode("")` where
    /// none does.
    func codes(of points: [Double]) throws -> [CountryCode] {
        let squares = PointSquares(points)
        var holders = [Int32](repeating: -1, count: points.count / 2)
        for rank in ranks {
            // What a higher rank holds is settled.
            let open = holders.map { $0 < 0 }
            for (polygon, members) in zip(rank, try members(of: rank, squares) { open[$0] }) {
                for member in members {
                    let old = Int(holders[Int(member)])
                    if old < 0 || polygons[polygon].code < polygons[old].code { holders[Int(member)] = Int32(polygon) }
                }
            }
        }
        return holders.map { $0 < 0 ? CountryCode("") : polygons[Int($0)].code }
    }

    /// Whether any polygon holds each point.
    func holds(_ points: [Double]) throws -> [Bool] {
        var inside = [Bool](repeating: false, count: points.count / 2)
        let all = try members(of: Array(polygons.indices), PointSquares(points)) { _ in true }
        for member in all.joined() { inside[Int(member)] = true }
        return inside
    }

    /// For each of the polygons, those of the points asked about that are in it or on its edge.
    private func members(
        of chosen: [Int], _ squares: PointSquares, where isAsked: @Sendable (Int) -> Bool
    ) throws -> [[Int32]] {
        let batch = max(1, min(64, chosen.count / 200))
        let tasks = (chosen.count + batch - 1) / batch
        let found: [[[Int32]]] = try onAllCores(tasks) { task in
            let context = try GEOSContext()
            var lists: [[Int32]] = []
            for index in chosen[task * batch..<min(chosen.count, (task + 1) * batch)] {
                var near: [Int32] = []
                squares.forEach(near: polygons[index]) { if isAsked($0) { near.append(Int32($0)) } }
                lists.append(try Self.inside(polygons[index], near, squares.points, context))
            }
            return lists
        }
        return found.flatMap { $0 }
    }

    private static func inside(
        _ polygon: SourcePolygon, _ near: [Int32], _ points: [Double], _ context: GEOSContext
    ) throws -> [Int32] {
        if near.isEmpty { return [] }
        let prepared = try context.polygon(polygon.rings).prepared()
        var inside: [Int32] = []
        for index in near where try prepared.intersects(x: points[2 * Int(index)], y: points[2 * Int(index) + 1]) {
            inside.append(index)
        }
        return inside
    }
}
