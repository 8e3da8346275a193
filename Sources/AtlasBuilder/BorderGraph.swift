import AtlasSources
import GeoBridge

/// Countries as one planar graph: arcs, each with the country on either side, so that no gap or overlap can open.
struct BorderGraph: Sendable {
    /// A border between two countries, or between a country and none. Flat longitude, latitude pairs in degrees.
    struct Arc: Sendable {
        var line: [Double]
        /// Exclusive or of the two country indices.
        var code: UInt16
        /// Whether there is no country on one side.
        var touchesNone: Bool
    }
    var arcs: [Arc]
    /// The country at each of the six face reference points.
    var references: [Int]
}

/// Dissolves border features into a `BorderGraph`.
///
/// Edges that two features of one country share are dropped, the rest is noded by GEOS on a grid of 1e-7 degrees and
/// polygonized; each face belongs to the feature of highest rank that covers it (then that of the first code), and to no country where none does. Arcs with the same country on both sides are dropped, the others
/// simplified once, together, so that they still do not cross.
struct BorderGraphBuilder {
    /// Coordinates are kept to this many degrees (about 1 cm).
    static let gridDegrees = 1e-7

    let features: [BorderFeature]
    /// Index of each feature's country, 1 and up.
    let countries: [Int]
    /// Largest distance a border may move, degrees.
    let toleranceDegrees: Double

    func build(references: [(longitude: Double, latitude: Double)]) throws -> BorderGraph {
        let context = try GEOSContext()
        let noded = try context.multiLineString(openLines()).unaryUnion(gridSize: Self.gridDegrees).lineMerge()
        let faces = try noded.polygonized()
        let lines = try noded.lines()
        let faceRings = try rings(of: faces)
        let owners = try owners(of: faces, context)
        var sides = Sides(lines: lines)
        for (face, polygon) in faceRings.enumerated() {
            for (index, ring) in polygon.enumerated() {
                let isInteriorLeft = (Ring.signedArea(ring) > 0) == (index == 0)
                sides.record(ring: ring, isInteriorLeft: isInteriorLeft, owner: owners[face])
            }
        }
        let borders = lines.indices.filter { sides.left[$0] != sides.right[$0] }
        let simplified = try context.multiLineString(borders.map { lines[$0] })
            .simplifiedKeepingTopology(tolerance: toleranceDegrees).lines()
        precondition(simplified.count == borders.count, "simplification keeps every arc")
        let arcs = zip(borders, simplified).map {
            BorderGraph.Arc(
                line: $1, code: UInt16(sides.left[$0] ^ sides.right[$0]),
                touchesNone: sides.left[$0] == 0 || sides.right[$0] == 0)
        }
        return BorderGraph(arcs: arcs, references: try references.map { try owner(at: $0, faces, owners, context) })
    }

    // MARK: Edges

    private struct Edge {
        var low: UInt64, high: UInt64
        /// Country times two, plus one where the ring runs from high to low.
        var side: UInt32
        var position: Int32
    }

    /// All edges as lines, without those that lie inside one country, each once.
    private func openLines() -> [[Double]] {
        var edges: [Edge] = []
        var position: Int32 = 0
        forEachRing { ring, country in
            for k in 0..<(ring.count / 2 - 1) {
                let a = key(ring, k), b = key(ring, k + 1)
                if a != b {
                    let side = UInt32(country) << 1 | (a < b ? 0 : 1)
                    edges.append(Edge(low: min(a, b), high: max(a, b), side: side, position: position))
                }
                position += 1
            }
        }
        edges.sort {
            if $0.low != $1.low { return $0.low < $1.low }
            if $0.high != $1.high { return $0.high < $1.high }
            return $0.side != $1.side ? $0.side < $1.side : $0.position < $1.position
        }
        var isKept = [Bool](repeating: false, count: Int(position))
        var start = 0
        while start < edges.count {
            var end = start + 1
            while end < edges.count, edges[end].low == edges[start].low, edges[end].high == edges[start].high {
                end += 1
            }
            if Self.isOpen(edges[start..<end]) { isKept[Int(edges[start].position)] = true }
            start = end
        }
        return lines(isKept)
    }

    /// Whether equal edges do not simply cancel: within each country, as many run one way as the other.
    private static func isOpen(_ same: ArraySlice<Edge>) -> Bool {
        var balance = 0, country = same[same.startIndex].side >> 1
        for edge in same {
            if edge.side >> 1 != country {
                if balance != 0 { return true }
                country = edge.side >> 1
            }
            balance += edge.side & 1 == 0 ? 1 : -1
        }
        return balance != 0
    }

    private func lines(_ isKept: [Bool]) -> [[Double]] {
        var lines: [[Double]] = []
        var position = 0
        forEachRing { ring, _ in
            var line: [Double] = []
            for k in 0..<(ring.count / 2 - 1) {
                if isKept[position] {
                    if line.isEmpty { line = [ring[2 * k], ring[2 * k + 1]] }
                    line.append(ring[2 * k + 2])
                    line.append(ring[2 * k + 3])
                } else if !line.isEmpty {
                    lines.append(line)
                    line = []
                }
                position += 1
            }
            if !line.isEmpty { lines.append(line) }
        }
        return lines
    }

    /// Every ring, shells counterclockwise and holes clockwise.
    private func forEachRing(_ body: ([Double], Int) -> Void) {
        for (feature, country) in zip(features, countries) {
            for polygon in feature.polygons {
                for (index, ring) in polygon.enumerated() {
                    let isForward = (Ring.signedArea(ring) > 0) == (index == 0)
                    body(isForward ? ring : Ring.reversed(ring), country)
                }
            }
        }
    }

    private func key(_ ring: [Double], _ k: Int) -> UInt64 { Ring.key(ring[2 * k], ring[2 * k + 1]) }

    // MARK: Faces

    private func rings(of faces: borrowing Geometry) throws -> [[[Double]]] {
        var result: [[[Double]]] = []
        for index in 0..<faces.partCount {
            result.append(contentsOf: try faces.withPart(index) { (part) throws(GEOSError) in try part.polygonRings() })
        }
        return result
    }

    private func owners(of faces: borrowing Geometry, _ context: GEOSContext) throws -> [Int] {
        var points: [(x: Double, y: Double)] = []
        for index in 0..<faces.partCount {
            points.append(try faces.withPart(index) { (part) throws(GEOSError) in try part.pointOnSurface() })
        }
        var best = [(rank: Int, country: Int)?](repeating: nil, count: points.count)
        for (feature, country) in zip(features, countries) {
            for polygon in feature.polygons {
                let geometry = try context.polygon(polygon)
                let bounds = try geometry.bounds()
                let inside = points.indices.filter {
                    bounds.minX <= points[$0].x && points[$0].x <= bounds.maxX && bounds.minY <= points[$0].y
                        && points[$0].y <= bounds.maxY
                }
                if inside.isEmpty { continue }
                let prepared = try geometry.prepared()
                for index in inside where try prepared.contains(x: points[index].x, y: points[index].y) {
                    if let old = best[index] {
                        if (-old.rank, old.country) <= (-feature.rank, country) { continue }
                    }
                    best[index] = (feature.rank, country)
                }
            }
        }
        return best.map { $0?.country ?? 0 }
    }

    private func owner(
        at point: (longitude: Double, latitude: Double), _ faces: borrowing Geometry, _ owners: [Int],
        _ context: GEOSContext
    ) throws -> Int {
        let question = try context.point(x: point.longitude, y: point.latitude)
        for index in 0..<faces.partCount {
            let isInside = try faces.withPart(index) { (part) throws(GEOSError) in try part.intersects(question) }
            if isInside { return owners[index] }
        }
        return 0
    }
}

/// Which country lies on either side of each line, found by following the rings of the faces.
private struct Sides {
    var left: [Int], right: [Int]
    private var line: [Key: Int32] = [:]

    private struct Key: Hashable {
        var from: UInt64, to: UInt64
    }

    init(lines: [[Double]]) {
        left = [Int](repeating: 0, count: lines.count)
        right = left
        for (index, line) in lines.enumerated() {
            self.line[Key(from: Ring.key(line[0], line[1]), to: Ring.key(line[2], line[3]))] = Int32(index)
        }
    }

    mutating func record(ring: [Double], isInteriorLeft: Bool, owner: Int) {
        for k in stride(from: 0, to: ring.count - 2, by: 2) {
            let a = Ring.key(ring[k], ring[k + 1]), b = Ring.key(ring[k + 2], ring[k + 3])
            if let index = line[Key(from: a, to: b)] { set(Int(index), isLeft: isInteriorLeft, owner) }
            if let index = line[Key(from: b, to: a)] { set(Int(index), isLeft: !isInteriorLeft, owner) }
        }
    }

    private mutating func set(_ index: Int, isLeft: Bool, _ owner: Int) {
        if isLeft { left[index] = owner } else { right[index] = owner }
    }
}

/// Closed rings as flat longitude, latitude pairs in degrees.
private enum Ring {
    static func signedArea(_ ring: [Double]) -> Double {
        var sum = 0.0
        for k in stride(from: 0, to: ring.count - 2, by: 2) {
            sum += (ring[k] - ring[0]) * (ring[k + 3] - ring[1]) - (ring[k + 2] - ring[0]) * (ring[k + 1] - ring[1])
        }
        return sum
    }

    static func reversed(_ ring: [Double]) -> [Double] {
        var result: [Double] = []
        result.reserveCapacity(ring.count)
        for k in stride(from: ring.count - 2, through: 0, by: -2) {
            result.append(ring[k])
            result.append(ring[k + 1])
        }
        return result
    }

    static func key(_ longitude: Double, _ latitude: Double) -> UInt64 {
        let scale = 1 / BorderGraphBuilder.gridDegrees
        let x = Int64((longitude * scale).rounded()) + 2_000_000_000,
            y = Int64((latitude * scale).rounded()) + 1_000_000_000
        return UInt64(x) << 32 | UInt64(y)
    }
}
