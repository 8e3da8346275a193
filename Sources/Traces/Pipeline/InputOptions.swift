/// Options for how inputs are read that some formats have a use for and others have not.
///
/// An option that no input of a run uses is an error: whoever gives `--time-zone` believes that the times are read by it.
/// Permissions, such as `--untimed`, are none of these: unused, they make nothing untrue.
package struct InputOptions: OptionSet, Hashable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    static let latitudeColumn = InputOptions(rawValue: 1 << 0)
    static let longitudeColumn = InputOptions(rawValue: 1 << 1)
    static let positionColumn = InputOptions(rawValue: 1 << 2)
    static let delimiter = InputOptions(rawValue: 1 << 3)
    static let keyColumn = InputOptions(rawValue: 1 << 4)
    static let timeColumn = InputOptions(rawValue: 1 << 5)
    static let timeFormat = InputOptions(rawValue: 1 << 6)
    static let dateOrder = InputOptions(rawValue: 1 << 7)
    static let timeZone = InputOptions(rawValue: 1 << 8)
    static let firstDay = InputOptions(rawValue: 1 << 9)

    /// Those for columns of positions, or members.
    static let position: InputOptions = [.latitudeColumn, .longitudeColumn, .positionColumn]
    /// Those for columns of keys and times, or members, and for how times are written.
    static let keysAndTimes: InputOptions = [.keyColumn, .timeColumn, .timeFormat, .dateOrder, .timeZone]
    static let all = InputOptions(rawValue: (1 << 10) - 1)

    /// Each with its name, and the formats that use it.
    private static let descriptions: [(option: InputOptions, name: String, formats: String)] = [
        (.latitudeColumn, "--latitude-column", "tables and JSON"),
        (.longitudeColumn, "--longitude-column", "tables and JSON"),
        (.positionColumn, "--position-column", "tables and JSON"),
        (.delimiter, "--delimiter", "tables"),
        (.keyColumn, "--key-column", "tables, JSON and GeoJSON"),
        (.timeColumn, "--time-column", "tables, JSON and GeoJSON"),
        (.timeFormat, "--time-format", "tables, JSON and GeoJSON"),
        (.dateOrder, "--date-order", "tables, JSON and GeoJSON whose times are read"),
        (.timeZone, "--time-zone", "GPX, KML, TCX, and tables, JSON and GeoJSON whose times are read"),
        (.firstDay, "--date", "NMEA and IGC"),
    ]

    /// The options with the formats that use them: `--date (for NMEA and IGC)`.
    package var words: String {
        Self.descriptions.filter { contains($0.option) }.map { "\($0.name) (for \($0.formats))" }
            .joined(separator: ", ")
    }
}

extension ConvertRun.Options {
    /// Those that were given.
    var given: InputOptions {
        var given = csv.given(keyColumn: keyColumn, timeColumn: timeColumn, timeStyle)
        if firstDay != nil { given.insert(.firstDay) }
        return given
    }
}

extension SnapRun.Options {
    /// Those that were given.
    var given: InputOptions { csv.given(keyColumn: keyColumn, timeColumn: timeColumn, timeStyle) }

    /// Those that a table uses, but for its delimiter. Times are copied as they stand, unless they are to be written anew.
    var usedByTable: InputOptions {
        let all = InputOptions.position.union(.keysAndTimes)
        return disguise.isNone ? all.subtracting([.dateOrder, .timeZone]) : all
    }
}

extension CSVOptions {
    fileprivate func given(keyColumn: String?, timeColumn: String?, _ style: TimeStyle) -> InputOptions {
        var given: InputOptions = []
        for (option, isGiven) in [
            (InputOptions.latitudeColumn, latitudeColumn != nil), (.longitudeColumn, longitudeColumn != nil),
            (.positionColumn, positionColumn != nil), (.delimiter, delimiter != nil), (.keyColumn, keyColumn != nil),
            (.timeColumn, timeColumn != nil), (.timeFormat, style.format != nil),
            (.dateOrder, style.dateOrder != nil), (.timeZone, style.zone != nil),
        ] where isGiven {
            given.insert(option)
        }
        return given
    }
}

/// The options of a run that no input has used so far.
///
/// What an input is shows when it is opened. So a run is refused when its last input is opened, before that is read; and,
/// where all inputs are files, before the first is, because standard output keeps what came of the earlier ones.
struct UnusedOptions {
    private var options: InputOptions
    private var inputsLeft: Int

    init(_ given: InputOptions, inputs: Int) { (options, inputsLeft) = (given, inputs) }

    /// Takes note of an opened input.
    ///
    /// - Throws: `unusedOptions` where it is the last one, and there are options that none has used.
    mutating func open(_ input: any TraceInput) throws(TraceError) {
        options.subtract(input.usedOptions)
        inputsLeft -= 1
        if inputsLeft == 0, !options.isEmpty { throw .unusedOptions(options) }
    }

    /// Looks ahead into the inputs, if there are several and all are files. What cannot be opened is for the run to refuse.
    ///
    /// - Parameter open: opens an input as the run will.
    /// - Throws: `unusedOptions`.
    static func lookAhead(
        _ given: InputOptions, _ inputs: [InputName],
        open: (consuming InputReader) throws(TraceError) -> any TraceInput
    ) throws(TraceError) {
        let areFiles = inputs.allSatisfy { if case .file = $0 { $0.size != nil } else { false } }
        guard !given.isEmpty, inputs.count > 1, areFiles else { return }
        var unused = UnusedOptions(given, inputs: inputs.count)
        for name in inputs {
            let input: any TraceInput
            do throws(TraceError) {
                input = try open(InputReader(try ByteSource(name), readBytes: 1 << 16))
            } catch {
                return
            }
            try unused.open(input)
            if unused.options.isEmpty { return }
        }
    }
}
