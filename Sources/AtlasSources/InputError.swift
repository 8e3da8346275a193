import TextCoding

/// Why one of the builder's own input files cannot be used. Names file, line and feature; never a coordinate.
package enum InputError: Error, Hashable, Sendable {
    /// The file cannot be opened or read; the reason is the system's.
    case unreadable(file: String, reason: String)
    /// The text is not JSON, or not GeoJSON in its outline. `byte` counts from 0 at the start of the file, `line` from
    /// 1.
    case badJSON(file: String, line: Int, byte: Int, JSONProblem)
    /// A border feature cannot be used. `index` counts the file's features from 1; the code is nil if it has none.
    case badFeature(file: String, index: Int, code: String?, FeatureProblem)
    /// A row of a table cannot be used. `line` counts from 1, at the row's first line.
    case badRow(file: String, line: Int, RowProblem)
    /// A population surface cannot be used.
    case badSurface(file: String, SurfaceProblem)
}

/// What is wrong with a population surface.
package enum SurfaceProblem: String, Error, Hashable, Sendable {
    case notASurface = "not a population surface"
    case version = "a population surface of another version than 1"
    case levels = "its finest level is not 15, or its source level not 11"
    case sources = "it has more than 8 sources, or a source without a name of its own"
    case share = "the promised share of a class is not from 0 to 1"
    case tooLarge = "larger than 256 MiB"
    case lengths = "its streams are longer or shorter than the file, or too long"
    case checksum = "damaged: its checksum does not match"
    case corruptStream = "a stream is not zlib's, or has another length than the file says"
    case tooDeep = "a cell of level 15 is divided"
    case badClass = "a cell's class is above 15, or promises nothing"
    case tooManyResidents = "more than 20 billion residents"
}

/// What is wrong with a border feature.
package enum FeatureProblem: String, Hashable, Sendable {
    case missingCode = "it has no code property"
    case emptyCode = "its code is empty"
    case codeTooLong = "its code is longer than 8 bytes"
    case unprintableCode = "its code holds a blank, a comma, a quote or a control character"
    case badRank = "its rank is not a whole number"
    case notAPolygon = "its geometry is not a polygon or multipolygon"
    case badCoordinates = "its coordinates are not nested as its geometry's type asks"
    case notFinite = "a coordinate is not a finite number"
    case latitudeOutOfRange = "a latitude is outside -90 to 90 degrees"
    case longitudeOutOfRange = "a longitude is outside -180 to 180 degrees"
    case ringTooShort = "a ring has fewer than 4 positions"
    case noArea = "nothing of it encloses any area"
    case unrepairable = "it crosses itself in a way that cannot be repaired"
}

/// What is wrong with a row of a table.
package enum RowProblem: Hashable, Sendable {
    /// The file has no header, or the header lacks this column.
    case missingColumn(String)
    /// The header names this column twice.
    case repeatedColumn(String)
    /// The header puts latitude before longitude in a file of rows `longitude,latitude,population`.
    case columnsOutOfOrder
    /// The row has more or fewer fields than it should.
    case fieldCount
    /// This column's field is not a number.
    case badNumber(column: String)
    /// This column's field is empty.
    case empty(column: String)
    /// A latitude outside ±90 degrees.
    case latitudeOutOfRange
    /// A longitude outside ±180 degrees.
    case longitudeOutOfRange
    /// A negative, infinite or absurdly large population.
    case populationOutOfRange
    /// A code that is longer than 8 bytes or holds a blank, a comma, a quote or a control character.
    case badCode
    /// A quoted field is never closed.
    case unclosedQuote
    /// Text before an opening or after a closing quote.
    case strayQuote
    /// The row is not UTF-8.
    case notUTF8
    /// A carriage return that is not before a line feed, outside quotes: a file whose lines end with it would be one row.
    case returnAlone
    /// The line is longer than any such row can be (64 KiB).
    case tooLong
}

extension InputError: CustomStringConvertible {
    /// A sentence for people, the file first.
    package var description: String {
        switch self {
        case .unreadable(let file, let reason):
            "\(file): \(reason)"
        case .badJSON(let file, let line, let byte, let problem):
            "\(file):\(line): \(problem.rawValue) (byte \(byte))"
        case .badFeature(let file, let index, let code, let problem):
            "\(file): feature \(index)\(code.map { " (\($0))" } ?? ""): \(problem.rawValue)"
        case .badRow(let file, let line, let problem):
            "\(file):\(line): \(problem)"
        case .badSurface(let file, let problem):
            "\(file): \(problem.rawValue)"
        }
    }
}

extension RowProblem: CustomStringConvertible {
    /// Half a sentence for people.
    package var description: String {
        switch self {
        case .missingColumn(let name): "no column named \(name) in the header"
        case .repeatedColumn(let name):
            // A file without a header has data in its first line.
            name.contains(where: \.isNumber)
                ? "two columns of one name in the header; is the header missing?"
                : "two columns named \(name) in the header"
        case .columnsOutOfOrder: "the columns must be longitude, latitude, population, in this order"
        case .fieldCount: "too many or too few fields"
        case .badNumber(let column): "the \(column) is not a number"
        case .empty(let column): "the \(column) is empty"
        case .latitudeOutOfRange: "the latitude is outside -90 to 90 degrees"
        case .longitudeOutOfRange: "the longitude is outside -180 to 180 degrees"
        case .populationOutOfRange: "the population is negative or too large"
        case .badCode: "the code is longer than 8 bytes or holds a blank, a comma, a quote or a control character"
        case .unclosedQuote: "a quoted field is not closed"
        case .strayQuote: "text outside the quotes of a quoted field"
        case .notUTF8: "not UTF-8"
        case .returnAlone: "a carriage return without a line feed; lines end with CR LF or LF"
        case .tooLong: "the line is longer than 64 KiB"
        }
    }
}

/// Whether a text may be a border's code: it is printed in CSV columns and stored in eight bytes.
func isPlainCode(_ code: String) -> Bool {
    code.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7F && $0 != "," && $0 != "\"" }
}
