import Hereabouts

/// WGS 84 as the builder needs it: positions whose straight-line distances stand for geodesics (see `PartSet`).
enum Ellipsoid {
    static let semiMajorAxisMeters = 6_378_137.0
    static let flattening = 1 / 298.257223563

    /// Earth-centered position of a point of the ellipsoid, meters.
    static func position(latitude: Double, longitude: Double) -> SIMD3<Double> {
        let eccentricitySquared = flattening * (2 - flattening)
        let (sinLatitude, cosLatitude) = Trigonometry.sineAndCosine(degrees: latitude)
        let (sinLongitude, cosLongitude) = Trigonometry.sineAndCosine(degrees: FaceIJ.wrappedLongitude(longitude))
        let n = semiMajorAxisMeters / (1 - eccentricitySquared * sinLatitude * sinLatitude).squareRoot()
        return SIMD3(
            n * cosLatitude * cosLongitude, n * cosLatitude * sinLongitude, n * (1 - eccentricitySquared) * sinLatitude)
    }

    static func position(_ coordinate: Coordinate) -> SIMD3<Double> {
        position(latitude: coordinate.latitude, longitude: coordinate.longitude)
    }

    /// The direction of the normal of the ellipsoid below or above a point near it: that of its latitude and longitude.
    static func normal(at point: SIMD3<Double>) -> CubeProjection.Direction {
        let ratio = (1 - flattening) * (1 - flattening)
        return CubeProjection.Direction(x: point.x, y: point.y, z: point.z / ratio)
    }

    /// The latitude and longitude of a point near the ellipsoid, to a centimeter (Bowring 1976).
    static func coordinate(at point: SIMD3<Double>) -> Coordinate {
        let a = semiMajorAxisMeters, b = a * (1 - flattening)
        let radius = (point.x * point.x + point.y * point.y).squareRoot()
        let (x, y) = (radius * b, point.z * a)
        let norm = max((x * x + y * y).squareRoot(), 1)
        let (cosine, sine) = (x / norm, y / norm)
        let up = (a * a - b * b) / b * sine * sine * sine, out = (a * a - b * b) / a * cosine * cosine * cosine
        return Coordinate(
            latitude: Trigonometry.arcTangentDegrees(y: point.z + up, x: radius - out),
            longitude: Trigonometry.arcTangentDegrees(y: point.y, x: point.x))
    }

    /// An upper bound of the geodesic over a chord, meters: the arc over it on the most curved circle the ellipsoid has
    /// (radius 6,335 km). Good to 1 cm up to 100 km.
    static func geodesic(overChord chord: Double) -> Double {
        let ratio = chord / 6_335_000
        return chord * (1 + ratio * ratio / 24 * 1.001)
    }
}

/// The plane that touches the ellipsoid at a position, with axes to the east and the north, meters.
struct TangentFrame {
    private let origin: SIMD3<Double>
    private let east: SIMD3<Double>, north: SIMD3<Double>

    init(at position: Coordinate) {
        origin = Ellipsoid.position(position)
        let (sinLatitude, cosLatitude) = Trigonometry.sineAndCosine(degrees: position.latitude)
        let (sinLongitude, cosLongitude) = Trigonometry.sineAndCosine(degrees: position.longitude)
        east = SIMD3(-sinLongitude, cosLongitude, 0)
        north = SIMD3(-sinLatitude * cosLongitude, -sinLatitude * sinLongitude, cosLatitude)
    }

    /// An Earth-centered point, seen from straight above the position.
    func plane(_ point: SIMD3<Double>) -> SIMD2<Double> {
        let d = point - origin
        return SIMD2((d * east).sum(), (d * north).sum())
    }

    /// The point of the ellipsoid below or above a point of the plane.
    func surfacePoint(_ point: SIMD2<Double>) -> SIMD3<Double> {
        Ellipsoid.position(Ellipsoid.coordinate(at: origin + east * point.x + north * point.y))
    }
}

/// A cell's corners and area on the ellipsoid.
struct CellShape {
    let corners: [SIMD3<Double>]

    init(_ cell: CellID) {
        // The compiler does not specialize `map` of another module's collection: an array's own is many times as fast.
        let vertices = cell.vertices
        corners = [vertices[0], vertices[1], vertices[2], vertices[3]].map { Ellipsoid.position($0) }
    }

    /// Area in km², of the flat quadrilateral: 0.01 % short at level 8, less below.
    var area: Double {
        let a = corners[2] - corners[0], b = corners[3] - corners[1]
        return a.cross(b).distance(to: .zero) / 2 / 1_000_000
    }
}

extension SIMD3<Double> {
    /// Straight-line distance in meters.
    @inline(__always)
    func distance(to other: SIMD3<Double>) -> Double {
        let d = self - other
        return (d * d).sum().squareRoot()
    }

    func cross(_ other: SIMD3<Double>) -> SIMD3<Double> {
        SIMD3(y * other.z - z * other.y, z * other.x - x * other.z, x * other.y - y * other.x)
    }

    /// The vector of the same direction and of length 1.
    var unit: SIMD3<Double> { self / distance(to: .zero) }
}

/// e^(-x) the same on every platform.
enum Exponential {
    /// e^(-x) for x ≥ 0, within 1e-12 of it.
    static func decay(_ x: Double) -> Double {
        // e^(-x) = (e^(-x / 2^k))^(2^k), the inner one by its series.
        var halvings = 0, small = x
        while small > 0.01 {
            small /= 2
            halvings += 1
        }
        var value = 1 - small * (1 - small / 2 * (1 - small / 3 * (1 - small / 4 * (1 - small / 5))))
        for _ in 0..<halvings { value *= value }
        return value
    }
}
