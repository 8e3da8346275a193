/// East and north at a place: Earth-centered positions seen from straight above it.
///
/// Seen so, things only come nearer to each other: a circle too small in the plane is too small on the ground.
struct TangentFrame: Sendable {
    let origin: SIMD3<Double>
    let east: SIMD3<Double>, north: SIMD3<Double>

    init(latitude: Double, longitude: Double) {
        origin = EarthCentered.position(Position(latitude: latitude, longitude: longitude))
        let (sinLatitude, cosLatitude) = sineAndCosine(degrees: latitude)
        let (sinLongitude, cosLongitude) = sineAndCosine(degrees: longitude)
        east = SIMD3(-sinLongitude, cosLongitude, 0)
        north = SIMD3(-sinLatitude * cosLongitude, -sinLatitude * sinLongitude, cosLatitude)
    }

    func plane(_ position: SIMD3<Double>) -> SIMD2<Double> {
        let d = position - origin
        return SIMD2((d * east).sum(), (d * north).sum())
    }

    func place(_ point: SIMD2<Double>) -> Position {
        EarthCentered.place(origin + east * point.x + north * point.y)
    }

    /// The positions that are corners of the convex hull in the plane (Andrew's monotone chain). O(n log n).
    func hull(of positions: [SIMD3<Double>]) -> [SIMD3<Double>] {
        let points = positions.map { (plane: plane($0), position: $0) }
            .sorted { ($0.plane.x, $0.plane.y) < ($1.plane.x, $1.plane.y) }
        guard points.count > 2 else { return positions }
        func half(_ points: some Sequence<(plane: SIMD2<Double>, position: SIMD3<Double>)>)
            -> [(plane: SIMD2<Double>, position: SIMD3<Double>)]
        {
            var chain: [(plane: SIMD2<Double>, position: SIMD3<Double>)] = []
            for point in points {
                while chain.count >= 2 {
                    let a = chain[chain.count - 1].plane - chain[chain.count - 2].plane
                    let b = point.plane - chain[chain.count - 2].plane
                    if a.x * b.y - a.y * b.x > 0 { break }
                    chain.removeLast()
                }
                chain.append(point)
            }
            return chain
        }
        return (half(points).dropLast() + half(points.reversed()).dropLast()).map(\.position)
    }
}

extension SIMD3<Double> {
    /// Length of the straight line to another position.
    func chord(to other: SIMD3<Double>) -> Double {
        let d = self - other
        return (d * d).sum().squareRoot()
    }
}
