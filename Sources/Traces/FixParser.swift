import Hereabouts

/// Which columns of a CSV make a fix.
struct FixColumns {
    /// The columns as `RowParser` needs them: key, time and accuracy are its kept ones.
    let layout: CSVLayout
    /// The name of the device's column; nil where the file is one device.
    let keyName: String?
    /// Which of the kept columns is the device's, the time, the accuracy.
    let key, time, accuracy: Int?
    /// Meters per unit of the accuracy column: 1, or more for a dilution of precision.
    let metersPerAccuracy: Double
    /// What there is to say of the columns that reach no output.
    let dropped: Notice?

    /// Names of the device's column, by precedence: a table that names a device may number its rows by `id`.
    private static let keyNames = [["device_id", "device"], ["track"], ["id"]]
    private static let accuracyNames = ["horizontal_accuracy", "accuracy"]

    init(_ start: CSVStart, options: ConvertRun.Options, file: String) throws(TraceError) {
        guard let header = start.header, let delimiter = start.delimiter else {
            (layout, keyName, dropped) = (.bare, nil, nil)
            (key, time, accuracy, metersPerAccuracy) = (nil, nil, nil, 1)
            return
        }
        let position = try header.position(options: options.csv, in: file)
        let key = try Self.column(header, option: options.keyColumn, names: Self.keyNames, in: file)
        let time = try Self.column(header, option: options.timeColumn, names: [CSVHeader.timeNames], in: file)
        let meters = try Self.column(header, option: nil, names: [Self.accuracyNames], in: file)
        let dilution = try Self.column(header, option: nil, names: [["hdop"]], in: file)
        let accuracy = meters ?? dilution
        metersPerAccuracy = meters == nil ? GPXReader.metersPerDilution : 1
        keyName = key.map { header.names[$0] }

        let chosen = [key, time, accuracy].compactMap { $0 }
        guard position.all.union(chosen).count == chosen.count + position.all.count else {
            throw .ambiguousColumn(file: file, name: "key, time or position")
        }
        let kept = chosen.sorted()
        layout = CSVLayout(header: header, delimiter: delimiter, position: position, kept: Set(kept))
        self.key = key.flatMap { kept.firstIndex(of: $0) }
        self.time = time.flatMap { kept.firstIndex(of: $0) }
        self.accuracy = accuracy.flatMap { kept.firstIndex(of: $0) }
        let read = position.all.union([key, time].compactMap { $0 })
        dropped = header.notice(ofDropped: header.names.indices.filter { !read.contains($0) }, file: file)
    }

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

/// Reads fixes out of CSV blocks.
@safe struct FixParser: ~Copyable {
    private let columns: FixColumns
    private var parser: RowParser
    private let spans: UnsafeMutablePointer<FieldSpan>

    /// A column that the file does not have.
    private static let nothing = FieldSpan(start: 0, end: 0)

    init(_ columns: FixColumns) {
        self.columns = columns
        parser = RowParser(columns.layout)
        // SAFETY: freed in deinit; `row` writes as many spans as there are kept columns.
        unsafe spans = .allocate(capacity: max(parser.keptCount, 1))
        unsafe spans.initialize(repeating: Self.nothing, count: max(parser.keptCount, 1))
    }

    deinit {
        unsafe spans.deallocate()
    }

    /// Makes ready to read the records of a block, from the first on.
    mutating func begin(_ block: UnsafeBufferPointer<UInt8>) { unsafe parser.begin(block) }

    /// The record at offset `start`, as `RowParser.row`. The fields of `key`, `time` and `horizontalAccuracy` are those
    /// of the last record read.
    @inline(__always)
    mutating func row(_ base: UnsafePointer<UInt8>, at start: Int, count: Int) -> Row {
        unsafe parser.row(base, at: start, count: count, spans: spans)
    }

    /// The device's key as it stands, quotes included.
    @inline(__always)
    func key(_ base: UnsafePointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
        unsafe field(columns.key, base)
    }

    /// The time; `.some(nil)` where the record has none, nil where it cannot be read.
    @inline(__always)
    func time(_ base: UnsafePointer<UInt8>) -> Timestamp?? {
        let text = unsafe unquotedEnds(field(columns.time, base))
        if let time = unsafe Timestamp(text, allowingUnix: true) { return .some(time) }
        return unsafe text.allSatisfy(Decimal.isBlank) ? .some(nil) : nil
    }

    /// The accuracy in meters, where there is one that can be read.
    @inline(__always)
    func horizontalAccuracy(_ base: UnsafePointer<UInt8>) -> Double? {
        guard columns.accuracy != nil else { return nil }
        let text = unsafe unquotedEnds(field(columns.accuracy, base))
        return unsafe (Decimal.usual(text) ?? Decimal.parse(text)).map { $0 * columns.metersPerAccuracy }
    }

    @inline(__always)
    private func field(_ index: Int?, _ base: UnsafePointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
        // SAFETY: spans lie within the block; `index` is one of the kept columns.
        guard let index else { return unsafe UnsafeBufferPointer(start: base, count: 0) }
        let span = unsafe spans[index]
        return unsafe UnsafeBufferPointer(start: base + Int(span.start), count: Int(span.end - span.start))
    }

    /// Without the quotes around it.
    private func unquotedEnds(_ field: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
        guard field.count >= 2, unsafe field[0] == UInt8(ascii: "\"") else { return unsafe field }
        return unsafe UnsafeBufferPointer(rebasing: field[1..<field.count - 1])
    }
}

/// The content of a well-quoted CSV field: without the quotes around it, and each pair of quotes in it made one.
func unquoted(_ field: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    var content: [UInt8] = []
    var isSecond = false
    for byte in unsafe Array(field.dropFirst().dropLast()) {
        isSecond = byte == UInt8(ascii: "\"") && !isSecond
        if !isSecond { content.append(byte) }
    }
    return content
}
