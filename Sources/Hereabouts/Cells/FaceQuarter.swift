/// A quarter of a cube face. Its edges through the middle of the face are meridians or the equator, so nothing within crosses the
/// antimeridian or goes around a pole.
package struct FaceQuarter: Hashable, Comparable, Sendable {
    private let face: Int
    private let isRight: Bool, isUpper: Bool

    /// The quarter that holds a position, in leaf coordinates.
    package init(face: Int, x: Double, y: Double) {
        self.face = face
        isRight = x >= 0x1p29
        isUpper = y >= 0x1p29
    }

    private var order: Int { face * 4 + (isRight ? 2 : 0) + (isUpper ? 1 : 0) }

    /// By face, column and row.
    package static func < (left: FaceQuarter, right: FaceQuarter) -> Bool { left.order < right.order }

    /// The longitude of the quarter's middle: all its points are less than 180° away.
    private var middleLongitude: Double { place(isRight ? 0x3p28 : 0x1p28, isUpper ? 0x3p28 : 0x1p28).longitude }

    private func place(_ x: Double, _ y: Double) -> Coordinate {
        let u = CubeProjection.stToUV(x * 0x1p-30), v = CubeProjection.stToUV(y * 0x1p-30)
        return CubeProjection.coordinate(of: CubeProjection.direction(face: face, u: u, v: v))
    }

    /// A closed ring as longitudes and latitudes, flat, in degrees.
    ///
    /// - Parameters:
    ///   - ring: leaf coordinates, flat, the first position once more at the end. All within the quarter.
    ///   - tolerance: how far, in degrees, a side may run from what is drawn between two positions.
    package func project(_ ring: [Double], tolerance: Double) -> [Double] {
        let middle = middleLongitude
        var result: [Double] = []
        for k in stride(from: 0, to: ring.count - 2, by: 2) {
            let (x0, y0, x1, y1) = (ring[k], ring[k + 1], ring[k + 2], ring[k + 3])
            var a = position(x0, y0, middle), b = position(x1, y1, middle)
            // A pole has every longitude: that of the other end, so that the edge is a meridian.
            if a.y.magnitude == 90 { a.x = b.x }
            if b.y.magnitude == 90 { b.x = a.x }
            append(SIMD2(x0, y0), a, SIMD2(x1, y1), b, middle, tolerance, depth: 0, &result)
            if b.y.magnitude == 90 {
                result.append(b.x)
                result.append(b.y)
            }
        }
        return result + result.prefix(2)
    }

    private func position(_ x: Double, _ y: Double, _ middle: Double) -> SIMD2<Double> {
        let place = place(x, y)
        var longitude = place.longitude
        if longitude - middle > 180 { longitude -= 360 }
        if longitude - middle < -180 { longitude += 360 }
        return SIMD2(longitude, place.latitude)
    }

    /// Appends the start of an edge, and points along it until they are near the straight line.
    private func append(
        _ p: SIMD2<Double>, _ a: SIMD2<Double>, _ q: SIMD2<Double>, _ b: SIMD2<Double>, _ middle: Double,
        _ tolerance: Double, depth: Int, _ result: inout [Double]
    ) {
        let half = (p + q) / 2
        var m = position(half.x, half.y, middle)
        if m.y.magnitude == 90 { m.x = a.x }
        let along = b - a, aside = m - a
        let error = (along.x * aside.y - along.y * aside.x) / max((along * along).sum().squareRoot(), 1e-12)
        if depth == 12 || error.magnitude <= tolerance {
            result.append(a.x)
            result.append(a.y)
            return
        }
        append(p, a, half, m, middle, tolerance, depth: depth + 1, &result)
        append(half, m, q, b, middle, tolerance, depth: depth + 1, &result)
    }
}
