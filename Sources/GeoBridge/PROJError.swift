/// Why a projection or geodesic gave no result. No case carries a coordinate; messages are PROJ's own with every number
/// replaced by `#`.
package enum PROJError: Error, Hashable, Sendable {
    /// PROJ could not make a context (out of memory).
    case contextUnavailable
    /// A latitude outside ±90 degrees, or a value that is not finite.
    case invalidCoordinate
    /// A flat coordinate array has an odd number of values.
    case oddCoordinateCount
    /// PROJ does not know one of the two reference systems, or no way between them.
    case unknownTransformation(message: String)
    /// A pipeline is not one PROJ understands.
    case invalidPipeline(message: String)
    /// The position at `index` of a batch has no image under the transformation.
    case transformFailed(index: Int, message: String)
}

extension PROJError: CustomStringConvertible {
    /// A sentence for people.
    package var description: String {
        switch self {
        case .contextUnavailable: "PROJ could not be started"
        case .invalidCoordinate: "a latitude is out of range or a value is not a finite number"
        case .oddCoordinateCount: "a list of coordinates ends in the middle of a position"
        case .unknownTransformation(let message): "no such coordinate transformation: \(message)"
        case .invalidPipeline(let message): "not a coordinate pipeline: \(message)"
        case .transformFailed(let index, let message): "position \(index) cannot be transformed: \(message)"
        }
    }
}
