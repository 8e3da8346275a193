/// How to read one table's records.
struct CSVLayout {
    /// The most columns of a table: those of a spreadsheet.
    static let maximumColumns = 1 << 14

    /// What becomes of a column.
    enum Role: UInt8 {
        case dropped, kept, latitude, longitude
        /// Of N or S, E or W: the sign of the latitude or longitude, which has none of its own.
        case latitudeHemisphere, longitudeHemisphere
        /// Of both coordinates.
        case position
    }

    /// Which of the kept columns make a fix of a position, by their number among these.
    struct FixFields {
        var key, time, date, accuracy: Int?
        /// How the times are written.
        var timeStyle = TimeStyle()
        /// Meters per unit of the accuracy column: 1, or more for a dilution of precision.
        var metersPerAccuracy = 1.0
        /// The moments that a fix can have.
        var bounds: TimeBounds
    }

    /// The separator of fields; nil for bare lines of two numbers.
    let delimiter: UInt8?
    /// One role per column; empty for bare lines.
    let roles: [Role]
    /// Nil where kept columns are copied.
    let fix: FixFields?
    /// What the column of both coordinates holds; nil where there are two columns.
    let pairOrder: PairOrder?
    /// The identifier that may be before the position of such a column (`SRID=…;`).
    let spatialReference: SpatialReference
    /// How many fields a record has at least: those up to the last column with a name.
    let requiredFields: Int
    /// Whether there are columns for the signs of latitudes and longitudes.
    let hasLatitudeHemisphere, hasLongitudeHemisphere: Bool

    var hasHemispheres: Bool { hasLatitudeHemisphere || hasLongitudeHemisphere }

    /// A table whose `kept` columns are of interest besides the position.
    init(
        header: CSVHeader, delimiter: UInt8, position: PositionColumns, kept: Set<Int>, fix: FixFields? = nil,
        spatialReference: SpatialReference = .wgs84
    ) {
        self.delimiter = delimiter
        self.fix = fix
        var roles = header.names.indices.map { kept.contains($0) ? Role.kept : .dropped }
        for (column, role) in position.roles { roles[column] = role }
        self.roles = roles
        pairOrder = position.pairOrder
        self.spatialReference = spatialReference
        requiredFields = max(header.namedCount, (position.all.max() ?? 0) + 1)
        hasLatitudeHemisphere = position.latitudeHemisphere != nil
        hasLongitudeHemisphere = position.longitudeHemisphere != nil
    }

    /// Lines of two numbers, without a header.
    init(bareWith fix: FixFields?) {
        (delimiter, roles, self.fix) = (nil, [], fix)
        (pairOrder, requiredFields, spatialReference) = (nil, 2, .wgs84)
        (hasLatitudeHemisphere, hasLongitudeHemisphere) = (false, false)
    }
}

/// What may be before a position as its spatial reference identifier.
enum SpatialReference: Hashable {
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
