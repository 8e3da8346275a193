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

    /// Names of a latitude and a longitude, by precedence: of a pair that is complete the full names go before the short
    /// ones. Of two names in one group neither is preferred. `x` and `y` are none: they also name accelerations, pixels and
    /// map coordinates.
    private static let axisNames: [(latitude: [String], longitude: [String])] = [
        (["latitude"], ["longitude"]),
        (["lat"], ["lon", "lng", "long"]),
        (["decimallatitude", "decimal_latitude"], ["decimallongitude", "decimal_longitude"]),
        (
            ["location_lat", "position_lat", "gps_lat"],
            ["location_long", "location_lon", "position_long", "gps_lon", "gps_long", "gps_lng"]
        ),
        (["gps_latitude", "gpslatitude"], ["gps_longitude", "gpslongitude"]),
        (["latitude_n/s"], ["longitude_e/w"]),
    ]
    /// Names of a northing and an easting, which are read where a reference system is named, before all others.
    private static let projectedNames: [(latitude: [String], longitude: [String])] = [
        (["northing", "northings"], ["easting", "eastings"]), (["y"], ["x"]),
    ]
    /// All of those in degrees.
    static let knownAxisNames = Set(axisNames.flatMap { $0.latitude + $0.longitude })
    /// Names of a column of `POINT(longitude latitude)`.
    private static let pointNames = ["wkt", "geom", "geometry", "the_geom", "wkt_geom", "geog", "geography", "point"]
    /// Names, without what is no letter, of a column of both coordinates, in the order that they say.
    private static let pairNames: [String: PairOrder] = [
        "latlon": .latitudeFirst, "latlng": .latitudeFirst, "latlong": .latitudeFirst,
        "latitudelongitude": .latitudeFirst, "lonlat": .longitudeFirst, "lnglat": .longitudeFirst,
        "longlat": .longitudeFirst, "longitudelatitude": .longitudeFirst,
    ]

    /// Whether a name may be that of a latitude, a longitude or both.
    static func isOfPosition(_ name: String) -> Bool { CSVHeader(names: [name]).isPosition(0) }

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

    /// Names of a key that may be of a device or of a record.
    private static let generalKeyNames: Set = ["id", "fid", "uuid", "rowid"]

    /// Whether a column's name is that of a key which may number the records.
    func hasGeneralKeyName(_ column: Int) -> Bool { Self.generalKeyNames.contains(folded[column]) }

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

    /// The columns of both axes, or the one of both.
    func position(options: CSVOptions, in file: String) throws(TraceError) -> PositionColumns {
        if let name = options.positionColumn {
            guard let column = try column(named: name, in: file) else { throw unknownColumn(name, in: file) }
            return PositionColumns(pair: column, Self.order(saidBy: letters[column]) ?? .unsaid)
        }
        let (latitude, longitude): (Int, Int)
        do throws(TraceError) {
            (latitude, longitude) = try axes(options, in: file)
        } catch {
            guard error.lacksPosition, options.latitudeColumn == nil, options.longitudeColumn == nil,
                let pair = try pair(in: file)
            else { throw error }
            return pair
        }
        guard latitude != longitude else { throw .ambiguousColumn(file: file, name: "longitude") }
        // A UTM zone's hemisphere is no sign of the northing.
        let hasSigns = options.reference?.isUTM != true
        let position = PositionColumns(
            latitude: latitude, longitude: longitude,
            latitudeHemisphere: hasSigns ? try latitudeHemisphere(besides: latitude, in: file) : nil,
            longitudeHemisphere: hasSigns
                ? try hemisphere(Self.longitudeHemisphereNames, besides: longitude, in: file) : nil)
        guard position.all.count == position.roles.count else { throw .ambiguousColumn(file: file, name: "hemisphere") }
        return position
    }

    /// Whether the header names a position.
    func hasPosition(_ options: CSVOptions) -> Bool {
        do throws(TraceError) {
            _ = try position(options: options, in: "")
            return true
        } catch {
            return false
        }
    }

    /// The order that a column's name says, wherever it says it: `start_latlng`.
    private static func order(saidBy letters: String) -> PairOrder? {
        if let order = pairNames[letters] { return order }
        let orders = Set(pairNames.filter { letters.contains($0.key) }.values)
        return orders.count == 1 ? orders.first : nil
    }

    /// Each name's letters, in lower case.
    private var letters: [String] { lowercased.map { String($0.unicodeScalars.filter(\.properties.isAlphabetic)) } }

    /// The column of both coordinates; nil where there is none.
    private func pair(in file: String) throws(TraceError) -> PositionColumns? {
        let letters = letters
        var matches = letters.indices.filter { Self.pairNames[letters[$0]] != nil }
        if matches.isEmpty { matches = columns(knownAs: Self.pointNames) }
        guard matches.count <= 1 else { throw .ambiguousColumn(file: file, name: "position") }
        return matches.first.map { PositionColumns(pair: $0, Self.pairNames[letters[$0]] ?? .pointOnly) }
    }

    /// Whether a column's name is one of positions, whatever column the positions are read from.
    func isPosition(_ column: Int) -> Bool {
        Self.knownAxisNames.contains(folded[column])
            || Self.projectedNames.contains { ($0.latitude + $0.longitude).contains(folded[column]) }
            || Self.pointNames.contains(folded[column])
            || Self.pairNames[letters[column]] != nil
    }

    /// Whether a position was found by names of degrees.
    func isOfDegrees(_ position: PositionColumns, _ options: CSVOptions) -> Bool {
        guard options.latitudeColumn == nil, options.longitudeColumn == nil, options.positionColumn == nil else {
            return false
        }
        return [position.latitude, position.longitude].allSatisfy {
            Self.knownAxisNames.contains(folded[$0]) || Self.pairNames[letters[$0]] != nil
        }
    }

    /// The column that says N or S; nil where there is none.
    func latitudeHemisphere(besides latitude: Int, in file: String) throws(TraceError) -> Int? {
        try hemisphere(Self.latitudeHemisphereNames, besides: latitude, in: file)
    }

    private func hemisphere(
        _ candidates: Set<String>, besides axis: Int, in file: String
    ) throws(TraceError) -> Int? {
        let letters = letters
        // `ns` alone may be nanoseconds.
        let isPair = letters.contains("ns") && letters.contains("ew")
        let matches = letters.indices.filter {
            $0 != axis && candidates.contains(letters[$0]) && (isPair || !["ns", "ew"].contains(lowercased[$0]))
        }
        guard matches.count <= 1 else { throw .ambiguousColumn(file: file, name: "hemisphere") }
        return matches.first
    }

    /// How many columns a message names.
    static let labelCount = 20

    /// What messages call the first of some columns.
    private func labels(_ columns: some Collection<Int>) -> [String] {
        columns.prefix(Self.labelCount).map(label)
    }

    /// What messages call a column: by its number where its name may be data.
    func label(_ column: Int) -> String {
        names[column].isEmpty ? "column \(column + 1)" : shownName(names[column]) ?? "column \(column + 1)"
    }

    /// How many columns there are up to the last one with a name.
    var namedCount: Int { (names.lastIndex { !$0.isEmpty } ?? -1) + 1 }

    /// What an error says of the columns that there are: the names of the first of them, if one is a known name. Else the
    /// line may be no header but a record, of which nothing is said.
    var shownColumns: [String] {
        let known = Self.knownAxisNames.union(CSVFixColumns.knownNames)
        guard folded.contains(where: known.contains) else { return [] }
        return labels(names.indices.prefix(namedCount)) + (namedCount > Self.labelCount ? ["…"] : [])
    }

    /// The error of an option that names no column.
    func unknownColumn(_ name: String, in file: String) -> TraceError {
        .unknownColumn(file: file, name: name, columns: shownColumns)
    }

    /// The columns of the latitude and the longitude: those that options name, or the first complete pair of known names,
    /// or else the first known name of each.
    private func axes(_ options: CSVOptions, in file: String) throws(TraceError) -> (latitude: Int, longitude: Int) {
        if options.latitudeColumn == nil && options.longitudeColumn == nil {
            let projected = options.reference == nil ? [] : Self.projectedNames
            for names in projected + Self.axisNames {
                let (latitude, longitude) = (columns(knownAs: names.latitude), columns(knownAs: names.longitude))
                guard !latitude.isEmpty && !longitude.isEmpty else { continue }
                guard latitude.count == 1 else { throw .ambiguousColumn(file: file, name: "latitude") }
                guard longitude.count == 1 else { throw .ambiguousColumn(file: file, name: "longitude") }
                return (latitude[0], longitude[0])
            }
            try requireNoBareAxes(options, in: file)
        }
        return (
            try axis(.latitude, options.latitudeColumn, options, in: file),
            try axis(.longitude, options.longitudeColumn, options, in: file)
        )
    }

    /// - Throws: `bareAxes` where the header has an `x` and a `y` and no other name of a coordinate.
    private func requireNoBareAxes(_ options: CSVOptions, in file: String) throws(TraceError) {
        guard options.reference == nil, let x = columns(knownAs: ["x"]).first, let y = columns(knownAs: ["y"]).first,
            !folded.contains(where: Self.knownAxisNames.contains)
        else { return }
        throw .bareAxes(file: file, x: names[x], y: names[y])
    }

    /// The column of an axis: the one the option names, or the one with a known name.
    private func axis(
        _ axis: TraceError.Axis, _ option: String?, _ options: CSVOptions, in file: String
    ) throws(TraceError) -> Int {
        if let option {
            guard let column = try column(named: option, in: file) else { throw unknownColumn(option, in: file) }
            return column
        }
        for names in options.reference == nil ? Self.axisNames : Self.projectedNames + Self.axisNames {
            let matches = columns(knownAs: axis == .latitude ? names.latitude : names.longitude)
            guard matches.count <= 1 else { throw .ambiguousColumn(file: file, name: axis.rawValue) }
            if let column = matches.first { return column }
        }
        throw .noColumn(file: file, axis: axis, columns: shownColumns)
    }
}

/// What a column of both coordinates may hold besides `POINT(longitude latitude)`.
enum PairOrder: Sendable {
    /// Nothing.
    case pointOnly
    /// `latitude,longitude`.
    case latitudeFirst
    /// The same, but `[longitude, latitude]` in brackets, as in GeoJSON: the column's name says no order.
    case unsaid
    /// `longitude,latitude`.
    case longitudeFirst
}

/// The columns that make a position.
struct PositionColumns {
    /// One and the same where a column has both.
    var latitude, longitude: Int
    /// What the column of both holds; nil where there are two.
    var pairOrder: PairOrder?
    /// The columns of the signs, where the position has them.
    var latitudeHemisphere, longitudeHemisphere: Int?

    init(latitude: Int, longitude: Int, latitudeHemisphere: Int?, longitudeHemisphere: Int?) {
        (self.latitude, self.longitude) = (latitude, longitude)
        (self.latitudeHemisphere, self.longitudeHemisphere) = (latitudeHemisphere, longitudeHemisphere)
    }

    /// A column of both.
    init(pair column: Int, _ order: PairOrder) { (latitude, longitude, pairOrder) = (column, column, order) }

    /// Each column with what it is.
    var roles: [(column: Int, role: CSVLayout.Role)] {
        if pairOrder != nil { return [(latitude, .position)] }
        return [(latitude, .latitude), (longitude, .longitude)]
            + (latitudeHemisphere.map { [($0, .latitudeHemisphere)] } ?? [])
            + (longitudeHemisphere.map { [($0, .longitudeHemisphere)] } ?? [])
    }

    /// All of them.
    var all: Set<Int> { Set(roles.map(\.column)) }

    /// The columns that a line of units has degrees in; nil where one has both coordinates.
    var unitColumns: [Int]? { pairOrder == nil ? [latitude, longitude] : nil }
}

extension CSVHeader {
    /// The fields of a header.
    init(
        _ line: UnsafeBufferPointer<UInt8>, _ delimiter: UInt8, file: String, line number: Int
    ) throws(TraceError) {
        self.init(names: unsafe try Self.names(in: line, delimiter: delimiter, file: file, line: number))
    }

    /// The same of a line that may be none; without names then.
    init(_ line: UnsafeBufferPointer<UInt8>, _ delimiter: UInt8) {
        do throws(TraceError) {
            unsafe try self.init(line, delimiter, file: "", line: 1)
        } catch {
            self.init(names: [])
        }
    }

    /// The fields of the header line. A name with a line end in it is not supported: where an open quote would end
    /// is unknown.
    private static func names(
        in line: UnsafeBufferPointer<UInt8>, delimiter: UInt8, file: String, line number: Int
    ) throws(TraceError) -> [String] {
        guard let base = line.baseAddress else { return [""] }
        var names: [String] = []
        var at = 0
        // SAFETY: `at` is at most the count.
        while true {
            var name: [UInt8] = []
            if at < line.count, unsafe line[at] == CSVQuote.byte {
                guard let end = unsafe CSVQuote.end(base, from: at + 1, count: line.count) else {
                    throw .headerQuote(file: file, line: number)
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
