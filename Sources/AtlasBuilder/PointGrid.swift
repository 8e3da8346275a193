/// Points on or near the ellipsoid's surface (Earth-centered, meters) sorted into cubes, for queries by distance.
struct PointGrid {
    private let side: Double
    /// The cubes that hold points, ascending, and where the points of each begin in `order`; one more start than cubes.
    private var cubes: [UInt64] = []
    private var starts: [Int32] = []
    private var order: [Int32] = []

    /// Indexes the points at the given positions of `points`; `side` in meters should be about the usual query radius.
    init(_ points: [SIMD3<Double>], indices: [Int32], side: Double) {
        self.side = side
        var keyed = indices.map { (key: PointGrid.key(points[Int($0)], side), index: $0) }
        keyed.sort { $0.key != $1.key ? $0.key < $1.key : $0.index < $1.index }
        order = keyed.map(\.index)
        for (position, point) in keyed.enumerated() where cubes.last != point.key {
            cubes.append(point.key)
            starts.append(Int32(position))
        }
        starts.append(Int32(keyed.count))
    }

    private static func pack(_ x: Int, _ y: Int, _ z: Int) -> UInt64 {
        let bias = 1 << 20
        return UInt64(x + bias) << 42 | UInt64(y + bias) << 21 | UInt64(z + bias)
    }

    private static func key(_ p: SIMD3<Double>, _ side: Double) -> UInt64 {
        let q = (p / side).rounded(.down)
        return pack(Int(q.x), Int(q.y), Int(q.z))
    }

    /// The first cube not before a key; none before `start` is. Found in steps that double: the next column's is not far.
    private func position(of key: UInt64, from start: Int) -> Int {
        var low = start, step = 1
        while low + step <= cubes.count, cubes[low + step - 1] < key {
            low += step
            step *= 2
        }
        var high = min(low + step, cubes.count)
        while low < high {
            let middle = (low + high) / 2
            if cubes[middle] < key { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Calls `body` with every indexed point whose cube meets the cube of half-side `radius` about `p`: a superset of
    /// those within `radius`, always in the same order.
    @inline(__always)
    func forEach(near p: SIMD3<Double>, within radius: Double, _ body: (Int) -> Void) {
        let low = ((p - radius) / side).rounded(.down), high = ((p + radius) / side).rounded(.down)
        var cube = 0
        for x in Int(low.x)...Int(high.x) {
            for y in Int(low.y)...Int(high.y) {
                // The cubes above one another are neighbors in the order too.
                let last = PointGrid.pack(x, y, Int(high.z))
                cube = position(of: PointGrid.pack(x, y, Int(low.z)), from: cube)
                while cube < cubes.count, cubes[cube] <= last {
                    for k in starts[cube]..<starts[cube + 1] { body(Int(order[Int(k)])) }
                    cube += 1
                }
            }
        }
    }
}
