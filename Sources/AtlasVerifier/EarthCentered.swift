import Foundation

/// Earth-centered positions on WGS 84, meters.
enum EarthCentered {
    private static let a = 6_378_137.0, b = 6_356_752.314245179

    static func position(_ place: Position) -> SIMD3<Double> {
        let (sinLatitude, cosLatitude) = sineAndCosine(degrees: place.latitude)
        let (sinLongitude, cosLongitude) = sineAndCosine(degrees: place.longitude)
        let p = a * cosLatitude, q = b * sinLatitude
        let scale = 1 / (p * p + q * q).squareRoot()
        return SIMD3(a * p * scale * cosLongitude, a * p * scale * sinLongitude, b * q * scale)
    }

    /// The place above or below a position near the ellipsoid (Bowring 1976), good to a centimeter.
    static func place(_ p: SIMD3<Double>) -> Position {
        let radius = (p.x * p.x + p.y * p.y).squareRoot()
        let (x, y) = (radius * b, p.z * a)
        let norm = max((x * x + y * y).squareRoot(), 1)
        let (cosine, sine) = (x / norm, y / norm)
        let up = (a * a - b * b) / b * sine * sine * sine, out = (a * a - b * b) / a * cosine * cosine * cosine
        return Position(
            latitude: atan2(p.z + up, radius - out) * 180 / .pi,
            longitude: atan2(p.y, p.x) * 180 / .pi)
    }
}
