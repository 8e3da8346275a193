/// The names of a CSV file's columns, in order.
struct CSVHeader {
    /// Names without quotes and surrounding blanks.
    let names: [String]

    /// The names in lower case (ASCII), for recognizing them.
    private let lowercased: [String]
    /// The names as known ones are written: see `folded(_:)`.
    private let folded: [String]

    init(names: [String]) {
        self.names = names
        lowercased = names.map(Self.lowercase)
        folded = lowercased.map(Self.folded)
    }

    /// Names of a latitude; the last is taken only where no other is there, since `x` and `y` also name map
    /// coordinates.
    static let latitudeNames = ["lat", "latitude", "y"]
    /// Names of a longitude, likewise.
    static let longitudeNames = ["lon", "lng", "long", "longitude", "x"]

    /// Whether a name may be that of a latitude or longitude, case aside.
    static func isOfPosition(_ name: String) -> Bool { (latitudeNames + longitudeNames).contains(lowercase(name)) }

    /// A name in lower case without a `#` before it, and with one underscore for blanks, underscores and hyphens that
    /// follow each other: `# Start Time` is `start_time`.
    private static func folded(_ lowercased: String) -> String {
        var bytes = Array(lowercased.utf8)[...]
        if bytes.first == UInt8(ascii: "#") { bytes = bytes.dropFirst() }
        let words = bytes.split { [0x20, 0x09, UInt8(ascii: "_"), UInt8(ascii: "-")].contains($0) }
        return String(decoding: Array(words.joined(separator: [UInt8(ascii: "_")])), as: UTF8.self)
    }

    static func lowercase(_ name: String) -> String {
        String(decoding: name.utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
    }

    /// The one column of this name: written alike, or else alike but for case. Nil where there is none.
    func column(named name: String, in file: String) throws(TraceError) -> Int? {
        let exact = names.indices.filter { names[$0] == name }
        let matches = exact.isEmpty ? columns(namedAnyOf: [name]) : exact
        guard matches.count <= 1 else { throw .ambiguousColumn(file: file, name: name) }
        return matches.first
    }

    /// All columns with one of these names, case aside.
    func columns(namedAnyOf candidates: [String]) -> [Int] {
        let wanted = Set(candidates.map(Self.lowercase))
        return lowercased.indices.filter { wanted.contains(lowercased[$0]) }
    }

    /// All columns with one of these names, which are known ones: case, a leading `#`, and whether blanks, underscores or
    /// hyphens divide words, aside.
    func columns(knownAs candidates: [String]) -> [Int] {
        folded.indices.filter { candidates.contains(folded[$0]) }
    }

    /// A column's name as known ones are written.
    func knownName(of column: Int) -> String { folded[column] }

    /// Names of a column that says N or S, as receivers and photographs have them, without what is no letter.
    private static let latitudeHemisphereNames: Set = [
        "ns", "nsindicator", "nshemisphere", "northsouth", "latitudens", "latns", "latref", "latituderef",
        "gpslatituderef", "gpsgpslatituderef", "exifgpslatituderef", "latdir", "latitudedir", "latdirection",
        "latitudedirection", "lathemisphere", "latitudehemisphere", "lathemi", "latitudehemi",
    ]
    /// Names of a column that says E or W, likewise.
    private static let longitudeHemisphereNames: Set = [
        "ew", "ewindicator", "ewhemisphere", "eastwest", "longitudeew", "lonew", "lonref", "longituderef",
        "gpslongituderef", "gpsgpslongituderef", "exifgpslongituderef", "londir", "longitudedir", "londirection",
        "longitudedirection", "lonhemisphere", "longitudehemisphere", "lonhemi", "longitudehemi", "longew", "longref",
    ]

    /// The columns of both axes.
    func position(options: CSVOptions, in file: String) throws(TraceError) -> PositionColumns {
        let latitude = try axis(.latitude, option: options.latitudeColumn, in: file)
        let longitude = try axis(.longitude, option: options.longitudeColumn, in: file)
        guard latitude != longitude else { throw .ambiguousColumn(file: file, name: "longitude") }
        let position = PositionColumns(
            latitude: latitude, longitude: longitude,
            latitudeHemisphere: try hemisphere(Self.latitudeHemisphereNames, in: file),
            longitudeHemisphere: try hemisphere(Self.longitudeHemisphereNames, in: file))
        guard position.all.count == position.roles.count else { throw .ambiguousColumn(file: file, name: "hemisphere") }
        return position
    }

    private func hemisphere(_ candidates: Set<String>, in file: String) throws(TraceError) -> Int? {
        let letters = lowercased.map { String($0.unicodeScalars.filter(\.properties.isAlphabetic)) }
        // `ns` alone may be nanoseconds.
        let isPair = letters.contains("ns") && letters.contains("ew")
        let matches = letters.indices.filter {
            candidates.contains(letters[$0]) && (isPair || !["ns", "ew"].contains(lowercased[$0]))
        }
        guard matches.count <= 1 else { throw .ambiguousColumn(file: file, name: "hemisphere") }
        return matches.first
    }

    /// How many columns a notice names.
    private static let labelCount = 20

    /// What a notice says of columns that reach no output: the names of the first of them, and how many there are.
    func notice(ofDropped columns: [Int], file: String) -> Notice? {
        guard !columns.isEmpty else { return nil }
        let labels = columns.prefix(Self.labelCount).map { shownName(names[$0]) ?? "column \($0 + 1)" }
        return .droppedColumns(file: file, names: labels, count: columns.count)
    }

    /// The column of an axis: the one the option names, or the one with a known name.
    private func axis(_ axis: TraceError.Axis, option: String?, in file: String) throws(TraceError) -> Int {
        if let option {
            guard let column = try column(named: option, in: file) else {
                throw .unknownColumn(file: file, name: option)
            }
            return column
        }
        let names = axis == .latitude ? Self.latitudeNames : Self.longitudeNames
        for candidates in [Array(names.dropLast()), [names[names.count - 1]]] {
            let matches = columns(knownAs: candidates)
            guard matches.count <= 1 else { throw .ambiguousColumn(file: file, name: axis.rawValue) }
            if let column = matches.first { return column }
        }
        throw .noColumn(file: file, axis: axis)
    }
}

/// The columns that make a position.
struct PositionColumns {
    var latitude, longitude: Int
    /// The columns of the signs, where the position has them.
    var latitudeHemisphere, longitudeHemisphere: Int?

    /// Each column with what it is.
    var roles: [(column: Int, role: CSVLayout.Role)] {
        [(latitude, .latitude), (longitude, .longitude)]
            + (latitudeHemisphere.map { [($0, .latitudeHemisphere)] } ?? [])
            + (longitudeHemisphere.map { [($0, .longitudeHemisphere)] } ?? [])
    }

    /// All of them.
    var all: Set<Int> { Set(roles.map(\.column)) }
}

extension CSVHeader {
    /// Reads the header of a table; nil for an input without one: lines of two numbers, or nothing at all. A header is
    /// consumed.
    static func read(
        _ reader: inout InputReader, options: CSVOptions
    ) throws(TraceError) -> (header: CSVHeader, delimiter: UInt8)? {
        let line = unsafe try reader.firstLine()
        if unsafe line.isEmpty && reader.isEmpty || BareLine.matches(line) { return nil }
        let delimiter = unsafe options.delimiter ?? separator(in: line)
        let header = unsafe CSVHeader(names: try names(in: line, delimiter: delimiter, file: reader.label))
        reader.dropFirstLine()
        return (header, delimiter)
    }

    /// The most frequent of comma, semicolon and tab, the earlier where they tie.
    private static func separator(in line: UnsafeBufferPointer<UInt8>) -> UInt8 {
        let candidates = [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t")]
        var best = candidates[0]
        var bestCount = 0
        for candidate in candidates {
            let count = unsafe line.count { $0 == candidate }
            if count > bestCount { (best, bestCount) = (candidate, count) }
        }
        return best
    }

    /// The fields of the header line. A name with a line end in it is not supported: where an open quote would end
    /// is unknown.
    private static func names(
        in line: UnsafeBufferPointer<UInt8>, delimiter: UInt8, file: String
    ) throws(TraceError) -> [String] {
        guard let base = line.baseAddress else { return [""] }
        var names: [String] = []
        var at = 0
        // SAFETY: `at` is at most the count.
        while true {
            var name: [UInt8] = []
            if at < line.count, unsafe line[at] == CSVQuote.byte {
                guard let end = unsafe CSVQuote.end(base, from: at + 1, count: line.count) else {
                    throw .headerQuote(file: file)
                }
                name = unsafe CSVQuote.content(UnsafeBufferPointer(rebasing: line[at..<end]))
                at = end
            }
            let end = unsafe line[at...].firstIndex(of: delimiter) ?? line.count
            unsafe name += line[at..<end]
            names.append(trimmed(name))
            if end == line.count { return names }
            guard names.count < CSVLayout.maximumColumns else { throw .tooManyColumns(file: file) }
            at = end + 1
        }
    }

    /// Without blanks around it (and the carriage return of a CRLF).
    private static func trimmed(_ field: [UInt8]) -> String {
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0d }
        let body = field.drop(while: isSpace)
        let end = body.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? body.startIndex
        return String(decoding: body[body.startIndex..<end], as: UTF8.self)
    }
}

/// A column's name as a message may have it; nil for one that looks like data, since a file's first line need not be a
/// header: one that is long, or has a date's, a time's or a coordinate's digits.
func shownName(_ name: String) -> String? {
    let digits = name.unicodeScalars.count { $0.properties.numericType != nil }
    return name.unicodeScalars.count <= 40 && digits < 4 ? name : nil
}
