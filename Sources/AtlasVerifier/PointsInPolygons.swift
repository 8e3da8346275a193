import AtlasSources
import GeoBridge
import ParallelMap

/// Which of many polygons hold which of many points, by GEOS and without an index that could share a mistake with the
/// builder's.
struct PointsInPolygons: Sendable {
    let points: [Position]
    /// Points by square degree, row after row from the south.
    private var order: [Int32]
    private var start: [Int32]

    init(_ points: [Position]) {
        self.points = points
        start = [Int32](repeating: 0, count: 180 * 360 + 1)
        for point in points { start[Self.square(point) + 1] += 1 }
        for square in 0..<180 * 360 { start[square + 1] += start[square] }
        var next = start
        order = [Int32](repeating: 0, count: points.count)
        for (index, point) in points.enumerated() {
            let square = Self.square(point)
            order[Int(next[square])] = Int32(index)
            next[square] += 1
        }
    }

    private static func row(_ latitude: Double) -> Int { min(179, max(0, Int(latitude + 90))) }
    private static func column(_ longitude: Double) -> Int { min(359, max(0, Int(longitude + 180))) }
    private static func square(_ point: Position) -> Int {
        row(point.latitude) * 360 + column(point.longitude)
    }

    /// For every polygon (flat rings, outer first) the points in it or on its edge.
    func members(of polygons: [[[Double]]]) throws -> [[Int32]] {
        let batch = 32
        let found = try parallelMap(count: (polygons.count + batch - 1) / batch) { task in
            let context = try GEOSContext()
            return try polygons[task * batch..<min(polygons.count, (task + 1) * batch)].map {
                try members(of: $0, context)
            }
        }
        return found.flatMap { $0 }
    }

    private func members(of rings: [[Double]], _ context: GEOSContext) throws -> [Int32] {
        let shell = rings[0]
        var bounds = Bounds(minX: .infinity, minY: .infinity, maxX: -.infinity, maxY: -.infinity)
        for k in stride(from: 0, to: shell.count, by: 2) {
            (bounds.minX, bounds.maxX) = (min(bounds.minX, shell[k]), max(bounds.maxX, shell[k]))
            (bounds.minY, bounds.maxY) = (min(bounds.minY, shell[k + 1]), max(bounds.maxY, shell[k + 1]))
        }
        var near: [Int32] = []
        let columns = Self.column(bounds.minX)...Self.column(bounds.maxX)
        for row in Self.row(bounds.minY)...Self.row(bounds.maxY) {
            let range = Int(start[row * 360 + columns.lowerBound])..<Int(start[row * 360 + columns.upperBound + 1])
            for index in order[range] {
                let point = points[Int(index)]
                if point.longitude >= bounds.minX, point.longitude <= bounds.maxX, point.latitude >= bounds.minY,
                    point.latitude <= bounds.maxY
                {
                    near.append(index)
                }
            }
        }
        if near.isEmpty { return [] }
        let polygon = try context.polygon(rings).prepared()
        return try near.filter { try polygon.intersects(x: points[Int($0)].longitude, y: points[Int($0)].latitude) }
            .sorted()
    }

    /// Which points are in any of the polygons.
    func areInside(_ polygons: [[[Double]]]) throws -> [Bool] {
        var inside = [Bool](repeating: false, count: points.count)
        for member in try members(of: polygons).joined() { inside[Int(member)] = true }
        return inside
    }

    /// The code of the border feature that holds each point: the one of highest rank, then that of the first code.
    func codes(_ features: [BorderFeature]) throws -> [String?] {
        let polygons = features.flatMap { feature in feature.polygons.map { (feature, $0) } }
        var best = [(rank: Int, code: String)?](repeating: nil, count: points.count)
        for ((feature, _), members) in zip(polygons, try members(of: polygons.map(\.1))) where !members.isEmpty {
            for member in members {
                if let old = best[Int(member)], (-old.rank, old.code) <= (-feature.rank, feature.code) {
                    continue
                }
                best[Int(member)] = (feature.rank, feature.code)
            }
        }
        return best.map { $0?.code }
    }
}
