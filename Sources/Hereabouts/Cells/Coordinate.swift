/// A position on the WGS 84 ellipsoid, in degrees.
///
/// Names follow Core Location's `CLLocationCoordinate2D`. Latitude is geodetic, positive north; longitude is positive
/// east and may be up to one turn beyond ±180, so in [-540, 540]: the engine wraps it.
///
/// A coordinate may be somebody's precise position. Printing, interpolating, dumping or reflecting one shows no number,
/// and it is not `Codable`; its two members are plain numbers for those who mean to use them.
public struct Coordinate: Hashable, Sendable {
    /// Geodetic latitude in degrees, -90 … 90.
    public var latitude: Double
    /// Longitude in degrees, -540 … 540, wrapped where it is used.
    public var longitude: Double

    /// Makes a coordinate of the two values as they are; they are validated where they are used.
    @inlinable
    public init(latitude: Double, longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }
}

extension Coordinate: CustomStringConvertible, CustomDebugStringConvertible {
    /// Shows no number.
    public var description: String { "Coordinate(redacted)" }
    /// Shows no number.
    public var debugDescription: String { description }
}

/// Why a coordinate is invalid. Never carries the values.
public enum CoordinateError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The latitude is NaN or outside [-90, 90].
    case latitudeOutOfRange
    /// The longitude is NaN or outside [-540, 540].
    case longitudeOutOfRange

    /// A sentence for people.
    public var description: String {
        switch self {
        case .latitudeOutOfRange: "the latitude is not between -90 and 90 degrees"
        case .longitudeOutOfRange: "the longitude is not between -540 and 540 degrees"
        }
    }
}
