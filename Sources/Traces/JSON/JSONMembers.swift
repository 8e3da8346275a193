/// The members of a file's records as the columns of a table: those of the first record, and those that options name, by
/// name or, beginning with a slash, by JSON pointer (RFC 6901). Later records may have them in any order, or lack them.
struct JSONMembers {
    let header: CSVHeader
    /// The path of each column.
    private(set) var paths: [[[UInt8]]]
    private let first: Int

    /// - Parameters:
    ///   - names: of the first record's members.
    ///   - named: what options name.
    init(_ names: [String], named options: [String]) {
        var all: [String] = [], paths: [[[UInt8]]] = []
        // Of members of one name the record is refused.
        for name in names where !all.contains(name) {
            all.append(name)
            paths.append([Array(name.utf8)])
        }
        first = all.count
        for option in options {
            let name = Self.name(option)
            let path = Self.path(name)
            let isThere = all.contains { $0 == name || CSVHeader.lowercase($0) == CSVHeader.lowercase(name) }
            // One value is one column, however it is spelled.
            if isThere || paths.contains(path) { continue }
            all.append(name)
            paths.append(path)
        }
        header = CSVHeader(names: all)
        self.paths = paths
    }

    /// The columns of the first record that are none of these, and that none of these is in.
    func others(than columns: Set<Int>) -> [Int] {
        let used = Set(columns.map { paths[$0][0] })
        return (0..<first).filter { !used.contains(paths[$0][0]) }
    }

    /// Names of device keys, as they are mostly written, none of which is among the first record's members.
    var lateKeys: [String] { CSVFixColumns.keysNames.sorted().filter { header.columns(knownAs: [$0]).isEmpty } }

    /// What an option names: a pointer of one step is a member's name.
    static func name(_ option: String) -> String {
        let path = path(option)
        return path.count == 1 ? String(decoding: path[0], as: UTF8.self) : option
    }

    private static func path(_ name: String) -> [[UInt8]] {
        guard name.utf8.first == UInt8(ascii: "/") else { return [Array(name.utf8)] }
        return name.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { step in
            var text: [UInt8] = []
            var isEscaped = false
            for byte in step {
                if isEscaped {
                    text.append(byte == UInt8(ascii: "1") ? UInt8(ascii: "/") : UInt8(ascii: "~"))
                    isEscaped = false
                } else if byte == UInt8(ascii: "~") {
                    isEscaped = true
                } else {
                    text.append(byte)
                }
            }
            return text
        }
    }

    /// The last name of the path that an option names.
    static func lastName(_ option: String) -> String { String(decoding: path(option).last ?? [], as: UTF8.self) }
}

/// How to read a file's records: which of their members are what, by number of the field.
struct JSONLayout {
    /// The paths of the fields.
    let paths: [[[UInt8]]]
    let latitude, longitude: Int
    /// What the field of both coordinates holds; nil where there are two.
    let pairOrder: PairOrder?
    /// Which spatial references a `POINT` may name.
    let spatialReference: SpatialReference
    let latitudeHemisphere, longitudeHemisphere: Int?
    /// The fields that are copied.
    let kept: [Int]
    /// The fields by which a record may say that it has no fix.
    let validity: [(field: Int, validity: FixValidity)]
    /// The fields of a record's UTM zone; nil where they are not read.
    let utm: UTMFields?
    /// Degrees per unit of a number.
    let degreesPerUnit: Double
    /// Nil where fields are copied.
    let fix: CSVLayout.FixFields?

    /// - Parameters:
    ///   - kept: columns to copy.
    ///   - validity: columns by which a record may say that it has no fix.
    ///   - utm: those of its UTM zone.
    ///   - fix: the columns that make a fix, by number of the column.
    init(
        _ members: JSONMembers, position: PositionColumns, options: CSVOptions, kept: Set<Int>,
        validity: [(column: Int, validity: FixValidity)], utm: (columns: UTMColumns, rule: UTMZoneRule)?,
        unit: AngleUnit, fix: CSVLayout.FixFields?
    ) {
        let fixColumns = [fix?.key, fix?.time, fix?.date, fix?.accuracy, fix?.offset].compactMap { $0 }
        let columns = position.all.union(kept).union(fixColumns).union(validity.map(\.column))
            .union(utm?.columns.all ?? []).sorted()
        func field(_ column: Int?) -> Int? { column.flatMap { columns.firstIndex(of: $0) } }
        paths = columns.map { members.paths[$0] }
        latitude = field(position.latitude) ?? 0
        longitude = field(position.longitude) ?? 0
        pairOrder = position.pairOrder
        spatialReference = options.reference?.isNamed == true ? .any : .wgs84
        latitudeHemisphere = field(position.latitudeHemisphere)
        longitudeHemisphere = field(position.longitudeHemisphere)
        self.kept = kept.sorted().compactMap(field)
        self.validity = validity.compactMap { column, validity in field(column).map { ($0, validity) } }
        self.utm = UTMFields(utm, field: field)
        degreesPerUnit = unit.degreesPerUnit
        self.fix = fix.map { fix in
            var fields = fix
            (fields.key, fields.time) = (field(fix.key), field(fix.time))
            (fields.date, fields.accuracy) = (field(fix.date), field(fix.accuracy))
            fields.offset = field(fix.offset)
            return fields
        }
    }

    var hasHemispheres: Bool { latitudeHemisphere != nil || longitudeHemisphere != nil }
}
