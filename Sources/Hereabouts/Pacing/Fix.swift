/// A precise position of a device at a moment: the input, which is never published.
///
/// Printing, interpolating, dumping or reflecting a fix shows none of its numbers, and it is not `Codable`.
public struct Fix: Hashable, Sendable {
    /// Where; validated when the fix is reported.
    public var coordinate: Coordinate
    /// When.
    public var time: Timestamp
    /// The receiver's own estimate of its error in meters: the radius that holds the truth about two times in three, as
    /// Core Location and Android give it. Nil, and any value that is not positive and finite, mean unknown.
    ///
    /// A fix whose accuracy is larger than the circle that would be published gives its tick no answer: the device may be
    /// outside of that circle. One of unknown accuracy is taken to be where it says.
    public var horizontalAccuracy: Double?

    /// The accuracy where it is known.
    var statedAccuracy: Double? { horizontalAccuracy.flatMap { $0 > 0 && $0.isFinite ? $0 : nil } }

    /// Makes a fix of its parts as they are.
    public init(coordinate: Coordinate, time: Timestamp, horizontalAccuracy: Double? = nil) {
        self.coordinate = coordinate
        self.time = time
        self.horizontalAccuracy = horizontalAccuracy
    }
}

extension Fix: CustomStringConvertible, CustomDebugStringConvertible {
    /// Shows no number.
    public var description: String { "Fix(redacted)" }
    /// Shows no number.
    public var debugDescription: String { description }
}
