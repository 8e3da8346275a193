/// Which columns of a table make a fix.
struct CSVFixColumns {
    var position: PositionColumns
    /// Nil where the file is one device.
    let key: Int?
    /// Nil in a table without times.
    let time: Int?
    /// The column of the date where the time is one of the day.
    let date: Int?
    let accuracy: Int?
    /// The column of what the clocks of times without an offset show, and how it says so; nil where an option says it.
    let offsets: (column: Int, offsets: TimeOffsets)?
    /// The columns by which a record may say that it has no fix.
    let validity: [(column: Int, validity: FixValidity)]
    /// Meters per unit of the accuracy column: 1, or more for a dilution of precision.
    let metersPerAccuracy: Double
    /// What there is to say of columns that might have been meant.
    let notices: [Notice]

    /// Names of the device's column, by precedence: a table that names a device may number its rows by `id`. Of two names
    /// in one group neither is preferred. `track` is none: in the data of flights and ships it is the course over ground,
    /// elsewhere the number of a lap.
    private static let keyNames = [
        ["device_id", "deviceid", "device"],
        ["vehicle_id", "vehicleid", "icao24", "mmsi", "imei"],
        ["user_id", "userid", "uid"],
        ["tid"],
        ["flight_id", "flightid"],
        ["id"],
    ]
    /// Names of the column of times, by precedence: those of a date and time first.
    private static let timeNames = [
        ["timestamp", "datetime", "date_time", "iso_datetime", "utc_datetime", "datetime_utc", "timestamp_utc"],
        ["tracked_at", "recorded_at"],
        ["time"],
        ["utc_time", "time_utc"],
        ["utc"],
        ["start_time"],
        ["date"],
    ]
    /// Names of the column of dates that belongs to a column of times of the day.
    private static let dateNames = [
        "time": ["date"], "utc_time": ["utc_date", "date"], "time_utc": ["date_utc", "date"], "utc": ["date"],
    ]
    private static let accuracyNames = ["horizontal_accuracy", "accuracy"]
    /// All names of keys, times, dates and accuracies.
    static let knownNames = Set(
        (keyNames + timeNames + dateNames.values + [accuracyNames, ["hdop"]]).flatMap(\.self))

    /// Names of columns of times, and of the dates of those.
    static let timesNames = Set((timeNames + dateNames.values).flatMap(\.self))
    /// Names of columns of device keys.
    static let keysNames = Set(keyNames.flatMap(\.self))

    /// The column of the device key: the first that options name and that is there, or else the first of known name.
    static func key(_ header: CSVHeader, options: [String], in file: String) throws(TraceError) -> Int? {
        for option in options {
            if let column = try header.column(named: option, in: file) { return column }
        }
        return try column(header, option: options.first, names: keyNames, in: file)
    }

    init(_ header: CSVHeader, options: ConvertRun.Options, file: String) throws(TraceError) {
        position = try header.position(options: options.csv, in: file)
        key = try Self.key(header, options: options.keyColumns, in: file)
        time = try Self.column(header, option: options.timeColumn, names: Self.timeNames, in: file)
        guard time != nil || options.acceptsUntimed else {
            throw .noTimeColumn(file: file, columns: header.shownColumns)
        }
        // Numbers are whole times, whatever stands beside them.
        let mayHaveDate = options.timeStyle.format == nil || options.timeStyle.format == .iso
        date = mayHaveDate ? try Self.date(header, of: time, in: file) : nil
        let meters = try Self.column(header, option: nil, names: [Self.accuracyNames], in: file)
        let dilution = try Self.column(header, option: nil, names: [["hdop"]], in: file)
        accuracy = meters ?? dilution
        let used = position.all.union([key, time, date, accuracy].compactMap { $0 })
        let known = header.names.indices.filter { !used.contains($0) }.compactMap { column in
            TimeOffsets(name: header.names[column]).map { (column: column, offsets: $0) }
        }
        offsets = time == nil || options.timeStyle.zone != nil ? nil : known.first
        validity = FixValidity.columns(header).filter { !used.contains($0.column) }
        metersPerAccuracy = meters == nil ? GPXFix.metersPerDilution : 1
        let chosen = [key, time, date, accuracy].compactMap { $0 }
        guard position.all.union(chosen).count == chosen.count + position.all.count else {
            throw .ambiguousColumn(file: file, name: "key, time or position")
        }
        var notices: [Notice] = []
        if key == nil, let track = header.columns(knownAs: ["track"]).first {
            notices.append(.trackIsNoKey(file: file, column: header.names[track]))
        }
        if let time, options.timeColumn == nil {
            let used = [time, date]
            let others = header.columns(knownAs: Self.timeNames.flatMap(\.self)).filter { !used.contains($0) }
            if !others.isEmpty {
                notices.append(
                    .timeColumns(file: file, taken: header.names[time], others: others.map { header.names[$0] }))
            }
        }
        self.notices = notices
    }

    /// The columns besides the position, in order of the input.
    var all: [Int] {
        ([key, time, date, accuracy, offsets?.column].compactMap { $0 } + validity.map(\.column)).sorted()
    }

    /// The columns of which something reaches the output.
    var written: Set<Int> { position.all.union([key, time, date].compactMap { $0 }) }

    /// The column of dates that belongs to a column of times.
    private static func date(_ header: CSVHeader, of time: Int?, in file: String) throws(TraceError) -> Int? {
        guard let time, let names = dateNames[header.knownName(of: time)] else { return nil }
        return try column(header, option: nil, names: names.map { [$0] }, in: file)
    }

    /// The column the option names, or else the one with a name of the first group that is there.
    private static func column(
        _ header: CSVHeader, option: String?, names groups: [[String]], in file: String
    ) throws(TraceError) -> Int? {
        if let option {
            guard let column = try header.column(named: option, in: file) else {
                throw header.unknownColumn(option, in: file)
            }
            return column
        }
        for names in groups {
            let matches = header.columns(knownAs: names)
            guard matches.count <= 1 else { throw .ambiguousColumn(file: file, name: names[0]) }
            if let column = matches.first { return column }
        }
        return nil
    }
}
