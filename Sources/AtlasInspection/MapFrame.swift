import Hereabouts

/// The part of the Earth a map shows. Degrees; it does not cross the antimeridian.
package struct MapBounds: Hashable, Sendable {
    /// Degrees that a map may span each way: beyond, its flat projection would mislead.
    package static let largestSpan = 20.0

    package let west: Double, south: Double, east: Double, north: Double

    /// Nil unless west < east and south < north, both at most 20° apart, longitudes within ±180° and latitudes within
    /// ±85°.
    package init?(west: Double, south: Double, east: Double, north: Double) {
        guard west >= -180, east <= 180, south >= -85, north <= 85, west < east, south < north,
            east - west <= Self.largestSpan, north - south <= Self.largestSpan
        else { return nil }
        (self.west, self.south, self.east, self.north) = (west, south, east, north)
    }

    var middle: Coordinate { Coordinate(latitude: (south + north) / 2, longitude: (west + east) / 2) }
}

/// Where positions stand on a map: longitude and latitude are its axes, true to scale at the middle latitude.
///
/// Lengths on paper are *units*, tenths of a pixel, and all coordinates are whole units.
struct MapFrame: Sendable {
    static let unitsPerPixel = 10.0

    let bounds: MapBounds
    let width: Int, height: Int
    private let unitsPerLongitude: Double, unitsPerLatitude: Double

    init(_ bounds: MapBounds, widthInPixels: Int) {
        self.bounds = bounds
        width = widthInPixels * Int(Self.unitsPerPixel)
        let (sine, cosine) = Trigonometry.sineAndCosine(degrees: bounds.middle.latitude)
        // Meters in a degree along the meridian and along the parallel of the middle (WGS 84).
        let flattening = 1 / 298.257223563, semiMajorAxisMeters = 6_378_137.0
        let e2 = flattening * (2 - flattening), w2 = 1 - e2 * sine * sine
        let degree = Double.pi / 180 * semiMajorAxisMeters / w2.squareRoot()
        metersPerLatitude = degree * (1 - e2) / w2
        unitsPerLongitude = Double(width) / (bounds.east - bounds.west)
        metersPerUnit = degree * cosine / unitsPerLongitude
        unitsPerLatitude = metersPerLatitude / metersPerUnit
        height = Int((unitsPerLatitude * (bounds.north - bounds.south)).rounded())
    }

    private let metersPerLatitude: Double
    /// The scale, at the middle.
    let metersPerUnit: Double

    /// The whole unit nearest to a position; x to the right, y down.
    func point(_ place: Coordinate) -> SIMD2<Double> {
        var longitude = place.longitude - bounds.middle.longitude
        if longitude > 180 { longitude -= 360 }
        if longitude < -180 { longitude += 360 }
        let x = Double(width) / 2 + longitude * unitsPerLongitude
        return SIMD2(x.rounded(), ((bounds.north - place.latitude) * unitsPerLatitude).rounded())
    }

    func holds(_ point: SIMD2<Double>) -> Bool {
        point.x >= 0 && point.y >= 0 && point.x <= Double(width) && point.y <= Double(height)
    }

    /// Half axes of a circle on the ground: parallels are drawn longer than they are toward the pole.
    func halfAxes(ofCircleAt place: Coordinate, radiusMeters: Double) -> SIMD2<Double> {
        let here = Trigonometry.sineAndCosine(degrees: place.latitude).cosine
        let middle = Trigonometry.sineAndCosine(degrees: bounds.middle.latitude).cosine
        let radius = radiusMeters / metersPerUnit
        return SIMD2((radius * middle / here).rounded(), radius.rounded())
    }
}
