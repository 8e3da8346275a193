/// Why a GEOS operation gave no result. No case carries a coordinate.
package enum GEOSError: Error, Hashable, Sendable {
    /// GEOS could not make a context (out of memory).
    case contextUnavailable
    /// A flat coordinate array has an odd number of values, so its last position lacks a y.
    case oddCoordinateCount
    /// A coordinate is NaN or infinite.
    case nonFiniteCoordinate
    /// A ring's last position differs from its first.
    case ringNotClosed
    /// A ring has fewer than four positions, the repeated last one included.
    case ringTooShort
    /// A line has fewer than two positions.
    case lineTooShort
    /// A sequence has more positions than the C API can count (2^32 - 1).
    case tooManyCoordinates
    /// A geometry is of another kind than the operation takes.
    case wrongKind(GEOSOperation)
    /// The operation has no answer for an empty geometry.
    case emptyGeometry(GEOSOperation)
    /// GEOS itself refused; the message is GEOS's own with every number replaced by `#`.
    case failed(GEOSOperation, message: String)
}

extension GEOSError: CustomStringConvertible {
    /// A sentence for people.
    package var description: String {
        switch self {
        case .contextUnavailable: "GEOS could not be started"
        case .oddCoordinateCount: "a list of coordinates ends in the middle of a position"
        case .nonFiniteCoordinate: "a coordinate is not a finite number"
        case .ringNotClosed: "a ring does not end where it starts"
        case .ringTooShort: "a ring has fewer than four positions"
        case .lineTooShort: "a line has fewer than two positions"
        case .tooManyCoordinates: "a ring or line has too many positions"
        case .wrongKind(let operation): "\(operation.rawValue): the geometry is of the wrong kind"
        case .emptyGeometry(let operation): "\(operation.rawValue): the geometry is empty"
        case .failed(let operation, let message): "\(operation.rawValue): \(message)"
        }
    }
}

/// The operations of `GeoBridge` that can fail, by the name shown to people.
package enum GEOSOperation: String, Hashable, Sendable {
    case area
    case boundary
    case bounds
    case collection
    case contains
    case coordinates
    case distance
    case geoJSON = "GeoJSON"
    case intersection
    case intersects
    case isEmpty = "is empty"
    case lineMerge = "line merge"
    case lineString = "line string"
    case makeValid = "make valid"
    case minimumBoundingCircle = "minimum bounding circle"
    case part
    case point
    case pointOnSurface = "point on surface"
    case polygon
    case polygonize
    case prepare
    case simplify
    case union
    case validity
    case wkt = "WKT"
}

/// Replaces every number in a library's message by `#`, since any of them may be a coordinate.
///
/// A number is a digit with the digits, points, signs and exponent letters that touch it, in either direction; `1e-7`,
/// `-31.75` and `.5` each become one `#`. Words keep their letters. O(length).
func withoutNumbers(_ message: String) -> String {
    var result = ""
    var pending = ""  // signs, points and exponent letters seen, dropped if a digit follows
    var isInNumber = false
    for character in message {
        if character.isNumber {
            if !isInNumber { result.append("#") }
            isInNumber = true
            pending = ""
        } else if "+-.".contains(character) || isInNumber && "eE".contains(character) {
            pending.append(character)
        } else {
            result += pending
            result.append(character)
            pending = ""
            isInNumber = false
        }
    }
    return result + pending
}
