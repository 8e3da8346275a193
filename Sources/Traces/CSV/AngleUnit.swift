/// What the numbers of a position are in, where a column's name or a line of units says so.
enum AngleUnit: Sendable, Equatable {
    case degrees
    case radians
    /// 400 to a circle.
    case gradians
    /// Ten millionths of a degree.
    case degreesE7
    /// 2³¹ to half a circle, as in FIT.
    case semicircles
    /// Of a map's plane: these are no angles.
    case meters

    var degreesPerUnit: Double {
        switch self {
        case .degrees, .meters: 1
        case .radians: 180 / .pi
        case .gradians: 0.9
        case .degreesE7: 1e-7
        case .semicircles: 180 / 2_147_483_648
        }
    }

    private static let words: [String: AngleUnit] = [
        "rad": .radians, "rads": .radians, "radian": .radians, "radians": .radians, "grad": .gradians,
        "grads": .gradians, "gon": .gradians, "gradian": .gradians, "gradians": .gradians, "e7": .degreesE7,
        "1e7": .degreesE7, "1e-7": .degreesE7, "10^-7": .degreesE7, "semicircle": .semicircles,
        "semicircles": .semicircles, "m": .meters, "meter": .meters, "meters": .meters, "metre": .meters,
        "metres": .meters,
    ]

    /// The unit that a name says behind its first word, or a text of units anywhere; nil where it says none. Other words say
    /// nothing.
    init?(saidBy text: String, isName: Bool) {
        let lower = CSVHeader.lowercase(text)
        let parts = lower.unicodeScalars.split {
            !$0.properties.isAlphabetic && !"0123456789-^".unicodeScalars.contains($0)
        }
        let words = parts.dropFirst(isName ? 1 : 0).map { String(String.UnicodeScalarView($0)).trimmingHyphens }
        let found = words.compactMap { Self.words[$0] }
        // A line of units has nothing else.
        guard isName || found.count == words.count || words.last == "deg" && found.count + 1 == words.count else {
            return nil
        }
        if let unit = found.first {
            self = unit
        } else if isName, lower.hasSuffix("e7"), lower.count > 2 {
            self = .degreesE7
        } else {
            return nil
        }
    }

    /// The unit of a position's columns by their names, else by the line of units.
    ///
    /// - Throws: `unitOfPosition` where it is one that cannot be used, or the two differ.
    static func unit(
        _ position: PositionColumns, _ header: CSVHeader, line: AngleUnit?, hasReference: Bool, in file: String
    ) throws(TraceError) -> AngleUnit {
        let names = [position.latitude, position.longitude].map { AngleUnit(saidBy: header.names[$0], isName: true) }
        let unit = names[0] ?? line
        guard names[0] == names[1], unit != .meters || hasReference else {
            throw .unitOfPosition(file: file, name: header.names[position.latitude])
        }
        return hasReference ? .degrees : unit ?? .degrees
    }
}

extension String {
    fileprivate var trimmingHyphens: String {
        String(self[(firstIndex { $0 != "-" } ?? endIndex)...])
    }
}
