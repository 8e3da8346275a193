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

    /// Whether an argument is a number, as half of a position is.
    package static func isNumber(_ argument: String) -> Bool { number(argument[...]) != nil }

    /// The arguments with a blank before each position, or half of one, that starts with a minus sign (`-33.92,18.42`):
    /// it would be taken for an option otherwise.
    package static func shielded(_ arguments: [String]) -> [String] {
        arguments.map { argument in
            let isPosition = CoordinateArgument(argument) != nil || isNumber(argument)
            return argument.hasPrefix("-") && isPosition ? " " + argument : argument
        }
    }

    /// Lines of two numbers each, where the arguments are positions: `LAT,LON`, or a latitude and a longitude one after
    /// the other. Nil where they are anything else.
    package static func lines(_ arguments: [String]) -> String? {
        var lines = "", latitude: String?
        for argument in arguments {
            if let first = latitude {
                guard isNumber(argument) else { return nil }
                lines += "\(first) \(argument)\n"
                latitude = nil
            } else if CoordinateArgument(argument) != nil {
                lines += argument + "\n"
            } else {
                guard isNumber(argument) else { return nil }
                latitude = argument
            }
        }
        return latitude == nil && !lines.isEmpty ? lines : nil
    }

    /// A message without the arguments in it that may be positions, or parts of one: what has digits, and no letters but
    /// those of hemispheres and exponents.
    package static func redacted(_ message: String, arguments: [String]) -> String {
        let words = arguments.flatMap { argument in
            // The value of `--option=value` may be repeated by itself.
            [argument] + argument.split(separator: "=", maxSplits: 1).dropFirst().map(String.init)
        }.map { $0.trimmingBlanks }.filter(mayBePosition).sorted { $0.utf8.count > $1.utf8.count }
        return words.reduce(message) { $0.replacing($1, with: "…") }
    }

    private static func mayBePosition(_ word: String) -> Bool {
        let digits = word.unicodeScalars.count { $0.properties.numericType != nil }
        let isMeasured = digits > 0 && word.contains { ".,°".contains($0) } || digits >= 4
        return isMeasured && word.allSatisfy { $0.isNumber || !$0.isLetter || "NSEWnsewd".contains($0) }
    }
}

extension String {
    fileprivate var trimmingBlanks: String {
        let body = drop { $0 == " " }
        return String(body[..<(body.lastIndex { $0 != " " }.map { body.index(after: $0) } ?? body.startIndex)])
    }
}
