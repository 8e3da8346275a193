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

    /// A message without what may be a position, or a part of one, in the arguments that it repeats: numbers with two
    /// decimals and more, degrees and minutes, times, and arguments that are whole numbers of four digits and more.
    package static func redacted(_ message: String, arguments: [String]) -> String {
        let numbers = arguments.flatMap { argument in
            let isWhole =
                argument.utf8.count { (0x30...0x39).contains($0) } >= 4
                && argument.utf8.allSatisfy { " +-0123456789".utf8.contains($0) }
            return isWhole ? [argument.filter { $0 != " " }] : measurements(in: argument)
        }
        return Set(numbers).sorted { ($0.utf8.count, $0) > ($1.utf8.count, $1) }.reduce(message) {
            $0.replacing($1, with: "…")
        }
    }

    /// The parts of a text that are digits, a mark, and at least two digits more, perhaps several times.
    private static func measurements(in text: String) -> [String] {
        text.split { !$0.isNumber && !".,:°'′".contains($0) }.compactMap { part in
            guard let first = part.firstIndex(where: \.isNumber), let last = part.lastIndex(where: \.isNumber) else {
                return nil
            }
            let runs = part[first...last].split { !$0.isNumber }
            return runs.dropFirst().contains { $0.count >= 2 } ? String(part[first...last]) : nil
        }
    }
}
