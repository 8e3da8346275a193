/// The smallest circle around points on the ellipsoid (Earth-centered, meters), as it grows. Within the 60 km of the widest region its
/// center lies at most 300 m below the surface.
struct EnclosingCircle {
    private(set) var center: SIMD3<Double>
    /// Zero until a point is in it.
    private(set) var radius = 0.0
    /// The points that it rests on, at most three.
    private var support: [SIMD3<Double>] = []

    init(center: SIMD3<Double>) { self.center = center }

    /// Makes it the smallest around the points that it rests on and another, which lies outside. So it becomes larger each time.
    mutating func grow(to point: SIMD3<Double>) {
        var choices = [[point]]
        for (index, first) in support.enumerated() {
            choices.append([point, first])
            for second in support[..<index] { choices.append([point, first, second]) }
        }
        let all = support + [point]
        var best = (center: point, radius: Double.infinity, support: [point])
        for choice in choices {
            guard let center = Self.center(of: choice) else { continue }
            let radius = all.map { $0.distance(to: center) }.max()!
            if radius < best.radius { best = (center, radius, choice) }
        }
        (center, radius, support) = best
    }

    /// The point at the same distance from one, two or three others, in their plane; nil where three lie in a line.
    private static func center(of points: [SIMD3<Double>]) -> SIMD3<Double>? {
        guard points.count == 3 else { return points.reduce(.zero, +) / Double(points.count) }
        let b = points[1] - points[0], c = points[2] - points[0]
        let normal = b.cross(c), squared = (normal * normal).sum()
        guard squared > 1e-9 else { return nil }
        return points[0] + (normal.cross(b) * (c * c).sum() + c.cross(normal) * (b * b).sum()) / (2 * squared)
    }
}
