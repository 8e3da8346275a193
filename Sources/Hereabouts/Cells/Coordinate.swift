/// A position on the WGS 84 ellipsoid, in degrees.
///
/// Names follow Core Location's `CLLocationCoordinate2D`. Latitude is geodetic, positive north; longitude is positive
/// east and may be any finite value: the engine wraps it.
public struct Coordinate: Hashable, Sendable {
    /// Geodetic latitude in degrees, -90 … 90.
    public var latitude: Double
    /// Longitude in degrees; any finite value, wrapped where it is used.
    public var longitude: Double

    /// Makes a coordinate of the two values as they are; they are validated where they are used.
    @inlinable
    public init(latitude: Double, longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }
}

/// Why a coordinate is invalid. Never carries the values.
public enum CoordinateError: Error, Hashable, Sendable {
    /// The latitude is NaN or outside [-90, 90].
    case latitudeOutOfRange
    /// The longitude is NaN or infinite.
    case longitudeNotFinite
}
