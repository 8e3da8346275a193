/// Why a geodesic gave no result. No case carries a coordinate.
package enum PROJError: Error, Hashable, Sendable {
    /// A latitude outside ±90 degrees, or a value that is not finite.
    case invalidCoordinate
    /// A flat coordinate array has an odd number of values.
    case oddCoordinateCount
}

extension PROJError: CustomStringConvertible {
    /// A sentence for people.
    package var description: String {
        switch self {
        case .invalidCoordinate: "a latitude is out of range or a value is not a finite number"
        case .oddCoordinateCount: "a list of coordinates ends in the middle of a position"
        }
    }
}
