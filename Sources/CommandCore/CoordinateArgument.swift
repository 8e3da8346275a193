import Hereabouts

/// A position as an argument: `31.76,-106.49`.
package struct CoordinateArgument {
    package var coordinate: Coordinate

    /// Parses `LAT,LON`, with blanks at will; nil for anything else.
    package init?(_ text: String) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 2, let latitude = Self.number(parts[0]), let longitude = Self.number(parts[1]) else {
            return nil
        }
        coordinate = Coordinate(latitude: latitude, longitude: longitude)
    }

    private static func number(_ text: Substring) -> Double? {
        let body = text.drop { $0 == " " }
        let end = body.lastIndex { $0 != " " }.map { body.index(after: $0) } ?? body.startIndex
        let digits = body[..<end]
        guard digits.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }) else { return nil }
        return Double(digits)
    }

    /// The arguments with a blank before each position that starts with a minus sign (`-33.92,18.42`): it would be
    /// taken for an option otherwise.
    package static func shielded(_ arguments: [String]) -> [String] {
        arguments.map { argument in
            argument.hasPrefix("-") && CoordinateArgument(argument) != nil ? " " + argument : argument
        }
    }
}
