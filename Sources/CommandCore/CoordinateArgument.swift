import Hereabouts

/// A position given as an argument: `31.76,-106.49`.
package struct CoordinateArgument {
    package var coordinate: Coordinate

    /// Parses `LAT,LON`, blanks around the numbers allowed; nil for anything else.
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

    /// Whether an argument is a number: half of a position given as two arguments.
    package static func isNumber(_ argument: String) -> Bool { number(argument[...]) != nil }

    /// The arguments with a blank before each number or position that starts with a minus sign (`-33.92,18.42`), which
    /// the parser would take for an option.
    package static func escapingNegatives(_ arguments: [String]) -> [String] {
        arguments.map { argument in
            let isPosition = CoordinateArgument(argument) != nil || isNumber(argument)
            return argument.hasPrefix("-") && isPosition ? " " + argument : argument
        }
    }

    /// The arguments as lines of two numbers, if all are positions: `LAT,LON`, or a latitude followed by a longitude. Nil
    /// otherwise.
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

    /// A message in which everything that may be part of a position in the arguments is replaced by an ellipsis: numbers
    /// with two or more decimals, degrees and minutes, times, and whole numbers of four or more digits.
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

    /// The parts of a text that match digits, a mark and at least two more digits, such as `31.76` and `106°29'06`.
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
