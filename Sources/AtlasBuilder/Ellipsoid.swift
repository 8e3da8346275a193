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

    /// An upper bound of the geodesic over a chord, meters: the arc over it on the most curved circle the ellipsoid has
    /// (radius 6,335 km). Good to 1 cm up to 100 km.
    static func geodesic(overChord chord: Double) -> Double {
        let ratio = chord / 6_335_000
        return chord * (1 + ratio * ratio / 24 * 1.001)
    }
}

/// A cell's corners and area on the ellipsoid.
struct CellShape {
    let corners: [SIMD3<Double>]

    init(_ cell: CellID) {
        corners = cell.vertices.map { Ellipsoid.position($0) }
    }

    /// Area in km², of the flat quadrilateral: 0.01 % short at level 8, less below.
    var area: Double {
        let a = corners[2] - corners[0], b = corners[3] - corners[1]
        let cross = SIMD3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
        return (cross * cross).sum().squareRoot() / 2 / 1_000_000
    }
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
