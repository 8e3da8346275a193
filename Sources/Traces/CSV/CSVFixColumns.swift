/// Which columns of a table make a fix.
struct CSVFixColumns {
    let position: PositionColumns
    /// Nil where the file is one device.
    let key: Int?
    let time, accuracy: Int?
    /// Meters per unit of the accuracy column: 1, or more for a dilution of precision.
    let metersPerAccuracy: Double

    /// Names of the device's column, by precedence: a table that names a device may number its rows by `id`.
    private static let keyNames = [["device_id", "device"], ["track"], ["id"]]
    private static let accuracyNames = ["horizontal_accuracy", "accuracy"]

    init(_ header: CSVHeader, options: ConvertRun.Options, file: String) throws(TraceError) {
        position = try header.position(options: options.csv, in: file)
        key = try Self.column(header, option: options.keyColumn, names: Self.keyNames, in: file)
        time = try Self.column(header, option: options.timeColumn, names: [CSVHeader.timeNames], in: file)
        let meters = try Self.column(header, option: nil, names: [Self.accuracyNames], in: file)
        let dilution = try Self.column(header, option: nil, names: [["hdop"]], in: file)
        accuracy = meters ?? dilution
        metersPerAccuracy = meters == nil ? GPXReader.metersPerDilution : 1
        let chosen = [key, time, accuracy].compactMap { $0 }
        guard position.all.union(chosen).count == chosen.count + position.all.count else {
            throw .ambiguousColumn(file: file, name: "key, time or position")
        }
    }

    /// The columns besides the position, in order of the input.
    var all: [Int] { [key, time, accuracy].compactMap { $0 }.sorted() }

    /// The columns of which something reaches the output.
    var written: Set<Int> { position.all.union([key, time].compactMap { $0 }) }

    /// The column the option names, or else the one with a name of the first group that is there.
    private static func column(
        _ header: CSVHeader, option: String?, names groups: [[String]], in file: String
    ) throws(TraceError) -> Int? {
        if let option {
            guard let column = try header.column(named: option, in: file) else {
                throw .unknownColumn(file: file, name: option)
            }
            return column
        }
        for names in groups {
            let matches = header.columns(namedAnyOf: names)
            guard matches.count <= 1 else { throw .ambiguousColumn(file: file, name: names[names.count - 1]) }
            if let column = matches.first { return column }
        }
        return nil
    }
}
