/// Points on or near the ellipsoid's surface (Earth-centered, meters) hashed into cubes, for queries by distance.
struct PointGrid {
    private let side: Double
    private var starts: [UInt64: Range<Int32>] = [:]
    private var order: [Int32] = []

    /// Indexes the points at the given positions of `points`; `side` in meters should be about the usual query radius.
    init(_ points: [SIMD3<Double>], indices: [Int32], side: Double) {
        self.side = side
        var keyed = indices.map { (key: PointGrid.key(points[Int($0)], side), index: $0) }
        keyed.sort { $0.key != $1.key ? $0.key < $1.key : $0.index < $1.index }
        order = keyed.map(\.index)
        var start = 0
        while start < keyed.count {
            var end = start
            while end < keyed.count && keyed[end].key == keyed[start].key { end += 1 }
            starts[keyed[start].key] = Int32(start)..<Int32(end)
            start = end
        }
    }

    private static func pack(_ x: Int, _ y: Int, _ z: Int) -> UInt64 {
        let bias = 1 << 20
        return UInt64(x + bias) << 42 | UInt64(y + bias) << 21 | UInt64(z + bias)
    }

    private static func key(_ p: SIMD3<Double>, _ side: Double) -> UInt64 {
        let q = (p / side).rounded(.down)
        return pack(Int(q.x), Int(q.y), Int(q.z))
    }

    /// Calls `body` with every indexed point whose cube meets the cube of half-side `radius` about `p`: a superset of
    /// those within `radius`, always in the same order.
    @inline(__always)
    func forEach(near p: SIMD3<Double>, within radius: Double, _ body: (Int) -> Void) {
        let low = ((p - radius) / side).rounded(.down), high = ((p + radius) / side).rounded(.down)
        for x in Int(low.x)...Int(high.x) {
            for y in Int(low.y)...Int(high.y) {
                for z in Int(low.z)...Int(high.z) {
                    guard let range = starts[PointGrid.pack(x, y, z)] else { continue }
                    for k in range { body(Int(order[Int(k)])) }
                }
            }
        }
    }
}

extension SIMD3<Double> {
    /// Straight-line distance in meters.
    @inline(__always)
    func distance(to other: SIMD3<Double>) -> Double {
        let d = self - other
        return (d * d).sum().squareRoot()
    }
}
