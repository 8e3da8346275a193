/// The points within some hundred meters of a fix, tried out one by one: is a region near?
///
/// 128 probes, on circles of a quarter, a half, three quarters and the whole of the radius, 32 directions on each. A
/// region that comes within the radius in a strip or a wedge narrower than the gaps (a fifth of the radius at most
/// along the circles, a quarter across them) can be missed, never one taken for near that is not.
struct Vicinity {
    /// Degrees, in [-90, 90].
    let latitude: Double
    /// Degrees, in [-180, 180).
    let longitude: Double
    /// How far to look, as an arc of a meridian in degrees, never longer than the meters asked for.
    let radiusDegrees: Double
    /// The cosine of the probes' latitude nearest the equator, the largest: no step east is longer than it claims.
    private let cosine: Double

    /// Meters in a degree, taken a little large: on WGS 84 a degree of a meridian, and of a parallel divided by the
    /// cosine of the latitude, is at most a²/b · π/180 = 111,693.9 m. So a probe is never farther than it claims.
    private static let metersPerDegree = 111_700.0

    /// From here to the pole (111 km), longitudes are too crowded for steps of equal length.
    private static let polarLatitude = 89.0

    init(latitude: Double, longitude: Double, radiusMeters: Double) {
        self.latitude = latitude
        self.longitude = longitude
        radiusDegrees = radiusMeters / Self.metersPerDegree
        cosine = Trigonometry.sineAndCosine(degrees: max(0, latitude.magnitude - radiusDegrees)).cosine
    }

    /// Whether a probe lies in the region. Stops at the first that does; at most 128 calls of `snap`.
    func touches(
        _ region: Region, snap: (_ latitude: Double, _ longitude: Double) throws(CoordinateError) -> Region
    ) throws(CoordinateError) -> Bool {
        // A region that comes near usually takes a good part of the outer circle, so that one goes first.
        for fraction in Quartet(1, 0.5, 0.75, 0.25) {
            // Each direction is the one before turned by 13/32 of a circle: successive probes lie far apart, and all 32
            // come once. Constants of the standard angle 146.25°, so that no function is called.
            let (cosine, sine) = (-0.831_469_612_302_545_2, 0.555_570_233_019_602_2)
            var (east, north) = (0.0, radiusDegrees * fraction)
            for _ in 0..<32 {
                let point = probe(east: east, north: north)
                if try snap(point.latitude, point.longitude) == region { return true }
                (east, north) = (east * cosine - north * sine, east * sine + north * cosine)
            }
        }
        return false
    }

    /// A point so many degrees of arc to the east and to the north.
    private func probe(east: Double, north: Double) -> Coordinate {
        if latitude.magnitude > Self.polarLatitude { return polarProbe(east: east, north: north) }
        return Coordinate(latitude: latitude + north, longitude: longitude + east / cosine)
    }

    /// The same near a pole, in a plane that touches it: distances from the pole are true there, and others too long
    /// rather than too short.
    private func polarProbe(east: Double, north: Double) -> Coordinate {
        let (sine, cosine) = Trigonometry.sineAndCosine(degrees: longitude)
        let fromPole = 90 - latitude.magnitude
        let x = fromPole * cosine + east
        let y = fromPole * sine + north
        let distance = (x * x + y * y).squareRoot()
        let magnitude = 90 - distance
        return Coordinate(
            latitude: latitude < 0 ? -magnitude : magnitude, longitude: Trigonometry.arcTangentDegrees(y: y, x: x))
    }
}
