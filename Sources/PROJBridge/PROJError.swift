/// Why PROJ gave no result. No case carries a coordinate.
package enum PROJError: Error, Hashable, Sendable {
    /// A latitude outside ±90 degrees, or a value that is not finite.
    case invalidCoordinate
    /// A flat coordinate array has an odd number of values.
    case oddCoordinateCount
    /// A text that names no coordinate reference system that PROJ knows.
    case unknownReferenceSystem
    /// A reference system without an easting and northing or a longitude and latitude.
    case notHorizontal
    /// PROJ knows no way from the system to WGS 84, or none with the grids that are installed.
    case noTransformation
}

extension PROJError: CustomStringConvertible {
    /// A sentence for people.
    package var description: String {
        switch self {
        case .invalidCoordinate: "a latitude is out of range or a value is not a finite number"
        case .unknownReferenceSystem: "not a coordinate reference system that PROJ knows"
        case .notHorizontal: "a coordinate reference system without easting and northing or longitude and latitude"
        case .noTransformation: "PROJ knows no transformation from this reference system to WGS 84"
        case .oddCoordinateCount: "a list of coordinates ends in the middle of a position"
        }
    }
}
