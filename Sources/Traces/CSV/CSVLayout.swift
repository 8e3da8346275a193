import Hereabouts

/// How to read one table's records.
struct CSVLayout: Sendable {
    /// The most columns of a table: those of a spreadsheet.
    static let maximumColumns = 1 << 14

    /// What becomes of a column.
    enum Role: UInt8, Sendable {
        case dropped, kept, latitude, longitude
        /// Of N or S, E or W: the sign of the latitude or longitude, which has none of its own.
        case latitudeHemisphere, longitudeHemisphere
        /// Of both coordinates.
        case position
    }

    /// Which of the kept columns make a fix of a position, by their number among these.
    struct FixFields: Sendable {
        var key, time, date, accuracy: Int?
        /// The field of what the clocks of times without an offset show.
        var offset: Int?
        var offsets = TimeOffsets.text
        /// Which keys are refused.
        var keyRule = KeyRule.found
        /// How the times are written.
        var timeStyle = TimeStyle()
        /// Meters per unit of the accuracy column: 1, or more for a dilution of precision.
        var metersPerAccuracy = 1.0
        /// The moments that a fix can have.
        var bounds: TimeBounds
    }

    /// The separator of fields; nil for bare lines of two numbers.
    let delimiter: UInt8?
    /// The names of the columns; empty for bare lines.
    var columnNames: [String]
    /// One role per column; empty for bare lines.
    var roles: [Role]
    /// Of each kept column its number among the kept fields of a record; -1 of others.
    var slots: [Int]
    /// How many fields are kept, and how many of these are copied, the first ones.
    let keptCount, copiedCount: Int
    /// Nil where kept columns are copied.
    let fix: FixFields?
    /// What the column of both coordinates holds; nil where there are two columns.
    let pairOrder: PairOrder?
    /// The identifier that may be before the position of such a column (`SRID=…;`).
    let spatialReference: SpatialReference
    /// How many fields a record has at least: those up to the last column with a name.
    var requiredFields: Int
    /// The fields by which a record may say that it has no fix, by their numbers.
    let validity: [(field: Int, validity: FixValidity)]
    /// The fields of a record's UTM zone; nil where they are not read.
    let utm: UTMFields?
    /// Degrees per unit of a number.
    let degreesPerUnit: Double
    /// Whether a record may have separators at its end, behind its last field.
    let allowsSeparatorsAtEnd: Bool
    /// For recognizing another header among the records; nil for bare lines.
    let names: CSVHeaderNames?
    /// Whether there are columns for the signs of latitudes and longitudes.
    let hasLatitudeHemisphere, hasLongitudeHemisphere: Bool

    var hasHemispheres: Bool { hasLatitudeHemisphere || hasLongitudeHemisphere }

    /// A table whose `kept` columns are of interest besides the position, in this order.
    ///
    /// - Parameter copied: how many of these are copied, the first ones.
    init(
        header: CSVHeader, delimiter: UInt8, position: PositionColumns, kept: [Int], copied: Int = 0,
        validity: [(column: Int, validity: FixValidity)] = [], unit: AngleUnit = .degrees, fix: FixFields? = nil,
        utm: (columns: UTMColumns, rule: UTMZoneRule)? = nil, spatialReference: SpatialReference = .wgs84,
        shape: CSVShape = .separators
    ) {
        self.delimiter = delimiter
        self.fix = fix
        columnNames = header.names
        let numbers = Dictionary(zip(kept, kept.indices)) { first, _ in first }
        var roles = header.names.indices.map { numbers[$0] != nil ? Role.kept : .dropped }
        for (column, role) in position.roles { roles[column] = role }
        self.roles = roles
        slots = header.names.indices.map { numbers[$0] ?? -1 }
        (keptCount, copiedCount) = (kept.count, copied)
        self.validity = validity.compactMap { column, validity in numbers[column].map { ($0, validity) } }
        self.utm = UTMFields(utm) { numbers[$0] }
        degreesPerUnit = unit.degreesPerUnit
        pairOrder = position.pairOrder
        self.spatialReference = spatialReference
        allowsSeparatorsAtEnd = shape == .separators
        names = CSVHeaderNames(header.names, delimiter: delimiter, hasRowNames: shape == .rowNames)
        requiredFields = 0
        hasLatitudeHemisphere = position.latitudeHemisphere != nil
        hasLongitudeHemisphere = position.longitudeHemisphere != nil
        requiredFields = fewestFields
    }

    /// Those up to the last column with a name, and those of the position.
    var fewestFields: Int {
        let last = roles.indices.last { !columnNames[$0].isEmpty || ![.dropped, .kept].contains(roles[$0]) }
        return (last ?? -1) + 1
    }

    /// The columns that a line of units has degrees in; nil where one has both coordinates.
    var unitColumns: [Int]? { pairOrder == nil ? [latitudeColumn, longitudeColumn] : nil }

    /// The columns of the coordinates; one and the same where a column has both.
    var latitudeColumn: Int { roles.firstIndex { $0 == .latitude || $0 == .position } ?? 0 }
    var longitudeColumn: Int { roles.firstIndex { $0 == .longitude || $0 == .position } ?? 0 }

    /// The column of each kept field, by its number.
    var columnsOfFields: [Int] {
        var columns = [Int](repeating: 0, count: keptCount)
        for (column, slot) in slots.enumerated() where slot >= 0 { columns[slot] = column }
        return columns
    }

    /// Lines of two numbers, without a header.
    init(bareWith fix: FixFields?) {
        (delimiter, roles, slots, columnNames, self.fix) = (nil, [], [], [], fix)
        (keptCount, copiedCount, allowsSeparatorsAtEnd, names) = (0, 0, false, nil)
        (validity, utm, degreesPerUnit) = ([], nil, 1)
        (pairOrder, requiredFields, spatialReference) = (nil, 2, .wgs84)
        (hasLatitudeHemisphere, hasLongitudeHemisphere) = (false, false)
    }
}

/// What may be before a position as its spatial reference identifier.
enum SpatialReference: Hashable, Sendable {
    /// 4326.
    case wgs84
    /// This one, in all records.
    case declared(Int)
    /// Any: an option says what positions are in.
    case any
}

/// How a CSV file's columns are found: from the command's options.
package struct CSVOptions: Sendable {
    /// The latitude's column where it has no known name.
    package var latitudeColumn: String?
    /// The longitude's column where it has no known name.
    package var longitudeColumn: String?
    /// The column of both coordinates: `POINT(longitude latitude)`, or `latitude,longitude` unless its name says the other
    /// order.
    package var positionColumn: String?
    /// The separator of fields; nil to infer it from the header: comma, semicolon, tab or vertical bar.
    package var delimiter: UInt8?
    /// The coordinate reference system of positions; nil for WGS 84. With one, columns of eastings and northings have known
    /// names, too.
    package var reference: ReferenceChoice?

    package init(
        latitudeColumn: String? = nil, longitudeColumn: String? = nil, positionColumn: String? = nil,
        delimiter: UInt8? = nil, reference: ReferenceChoice? = nil
    ) {
        self.latitudeColumn = latitudeColumn
        self.longitudeColumn = longitudeColumn
        self.positionColumn = positionColumn
        self.delimiter = delimiter
        self.reference = reference
    }
}

extension CSVLayout.FixFields {
    /// Why a fix cannot have been taken at a time, or the time is not known well enough; nil where it can.
    @inline(__always)
    func problem(ofTime time: Timestamp, _ text: UnsafeBufferPointer<UInt8>) -> RecordProblem.Reason? {
        if text.count != 20, unsafe Timestamp.isRounded(text, timeStyle) { return .timeRounded }
        return bounds.problem(time)
    }
}

extension Timestamp {
    /// The moment so many seconds later; the first or last one there is where it lies outside of 64 bits.
    func advanced(bySeconds seconds: Int64) -> Timestamp {
        let (sum, overflow) = nanosecondsSince1970.addingReportingOverflow(seconds * 1_000_000_000)
        return Timestamp(nanosecondsSince1970: overflow ? (seconds < 0 ? .min : .max) : sum)
    }
}

extension FixBatch {
    /// Turns positions, from a record on, into degrees.
    mutating func scale(from first: Int, by factor: Double) {
        for index in first..<count {
            positions[index].latitude *= factor
            positions[index].longitude *= factor
        }
    }
}
