import Hereabouts

/// A table, or lines of two numbers.
final class CSVInput: TableInput {
    let identity: DeviceIdentity
    let layout: CSVLayout
    let firstLine: Int
    let isTimed: Bool
    /// What there is to say of columns that reach no output, or are not what their name may suggest.
    let notices: [Notice]
    private var reader: InputReader
    private var framing: RecordFraming
    private var isStarted = false

    private enum RecordFraming {
        case lines(LineFraming)
        case table(CSVFraming)
    }

    let keptForm = FieldForm.csv
    let reference: CoordinateReference?
    let mayHaveReference = true

    var file: String { reader.label }
    var bytesRead: Int { reader.bytesRead }
    let keptFields: [KeptField]
    let deviceField: Int?
    let timeStyle: TimeStyle

    /// Opens an input for `convert`.
    init(_ source: consuming InputReader, options: ConvertRun.Options) throws(TraceError) {
        reader = source
        (keptFields, deviceField, timeStyle) = ([], nil, options.timeStyle)
        let start = try CSVStart.read(&reader, options: options.csv)
        let bounds = TimeBounds(options)
        guard let (header, delimiter) = start.table else {
            reference = try reader.bareReference(options.csv)
            guard options.acceptsUntimed || reader.isEmpty else { throw .noTimes(file: reader.label) }
            (layout, identity, notices) = (CSVLayout(bareWith: .init(bounds: bounds)), .person, [])
            (framing, firstLine, isTimed) = (.lines(LineFraming()), start.firstLine, false)
            return
        }
        let columns = try CSVFixColumns(header, options: options, file: reader.label)
        let declared = try reader.declaredReference(options.csv, columns.position, delimiter)
        reference = declared.reference
        if let key = columns.key { try header.requireUnwritten(key, as: .key) }
        let kept = columns.all
        layout = CSVLayout(
            header: header, delimiter: delimiter, position: columns.position, kept: Set(kept),
            fix: CSVLayout.FixFields(
                key: columns.key.flatMap(kept.firstIndex), time: columns.time.flatMap(kept.firstIndex),
                date: columns.date.flatMap(kept.firstIndex), accuracy: columns.accuracy.flatMap(kept.firstIndex),
                timeStyle: options.timeStyle, metersPerAccuracy: columns.metersPerAccuracy, bounds: bounds),
            spatialReference: declared.identifier)
        identity = columns.key.map { .keyed(name: header.names[$0]) } ?? .person
        let dropped = header.notice(
            ofDropped: header.names.indices.filter { !columns.written.contains($0) }, file: reader.label)
        notices = [dropped].compactMap { $0 } + columns.notices
        framing = options.recordsAreLines ? .lines(LineFraming()) : .table(CSVFraming(delimiter: delimiter))
        firstLine = start.firstLine
        isTimed = columns.time != nil
    }

    /// Opens an input for `snap`.
    init(_ source: consuming InputReader, options: SnapRun.Options) throws(TraceError) {
        reader = source
        identity = .person
        timeStyle = options.timeStyle
        let start = try CSVStart.read(&reader, options: options.csv)
        guard let (header, delimiter) = start.table else {
            reference = try reader.bareReference(options.csv)
            (keptFields, deviceField) = ([], nil)
            if let name = (options.keep + [options.keyColumn, options.timeColumn].compactMap(\.self)).first {
                throw .unknownColumn(file: reader.label, name: name, columns: [])
            }
            (layout, notices) = (CSVLayout(bareWith: nil), [])
            (framing, firstLine, isTimed) = (.lines(LineFraming()), start.firstLine, false)
            return
        }
        let position = try header.position(options: options.csv, in: reader.label)
        let kept = try header.kept(options, besides: position, in: reader.label) { $0 }
        (keptFields, deviceField) = (kept.fields, kept.deviceField)
        let declared = try reader.declaredReference(options.csv, position, delimiter)
        reference = declared.reference
        let layout = CSVLayout(
            header: header, delimiter: delimiter, position: position, kept: Set(kept.columns),
            spatialReference: declared.identifier)
        self.layout = layout
        let dropped = header.notice(
            ofDropped: layout.roles.indices.filter { layout.roles[$0] == .dropped }, file: reader.label)
        notices = [dropped].compactMap { $0 }
        (framing, firstLine, isTimed) = (.table(CSVFraming(delimiter: delimiter)), start.firstLine, false)
    }

    func next(_ buffer: inout InputBuffer, _ batch: inout FixBatch) throws(TraceError) -> Bool {
        if !isStarted {
            isStarted = true
            batch.lineCount = try CSVStart.skipUnits(&reader, layout: layout)
        }
        switch framing {
        case .lines(var lines):
            defer { framing = .lines(lines) }
            return try reader.nextRecords(into: &buffer, framing: &lines)
        case .table(var table):
            defer { framing = .table(table) }
            return try reader.nextRecords(into: &buffer, framing: &table)
        }
    }

    func makeReader(hash: KeyHash) -> (any RecordReader)? { CSVBufferReader(CSVRecordReader(layout, hash: hash)) }
}

/// A `CSVRecordReader` as the pipeline calls it.
private final class CSVBufferReader: RecordReader {
    private var reader: CSVRecordReader

    init(_ reader: consuming CSVRecordReader) { self.reader = reader }

    func begin(_ buffer: borrowing InputBuffer) { reader.begin(buffer) }

    func read(_ buffer: borrowing InputBuffer, into batch: inout FixBatch, limit: Int) -> Bool {
        reader.read(buffer, into: &batch, limit: limit)
    }
}

extension CSVHeader {
    /// Names of the keys and times that `snap` copies unasked.
    private static let copiedNames = ["id", "device", "device_id", "time", "timestamp"]

    /// Columns of a table that `snap` reads besides the position.
    struct Kept {
        /// In order of the input, and what they are.
        var columns: [Int]
        var fields: [KeptField]
        /// The number of the one with the device key.
        var deviceField: Int?
    }

    /// The columns that `snap` reads: keys, times, and those that `--keep` names, which it copies; and the device key, where
    /// clocks are moved.
    ///
    /// - Parameter named: what the column is called that an option names.
    func kept(
        _ options: SnapRun.Options, besides position: PositionColumns, in file: String, named: (String) -> String
    ) throws(TraceError) -> Kept {
        let key = options.keyColumn.map(named), time = options.timeColumn.map(named)
        let names = options.keep.map(named) + [key, time].compactMap { $0 }
        let copied = try copied(names, besides: position, in: file)
        let device = options.disguise.dateShift == nil ? nil : try CSVFixColumns.key(self, option: key, in: file)
        var keys: Set<Int> = [], times: Set<Int> = []
        if let key, let column = try column(named: key, in: file) { keys.insert(column) }
        if let time, let column = try column(named: time, in: file) { times.insert(column) }
        if let device { keys.insert(device) }
        let columns = copied.union(device.map { [$0] } ?? []).sorted()
        let fields = columns.map { column in
            let content: KeptField.Content =
                keys.contains(column) ? .key : times.contains(column) ? .time : content(of: column)
            return KeptField(name: self.names[column], content: content, isWritten: copied.contains(column))
        }
        return Kept(columns: columns, fields: fields, deviceField: device.flatMap(columns.firstIndex))
    }

    /// What the fields of a column are by its name.
    func content(of column: Int) -> KeptField.Content {
        let name = knownName(of: column)
        if CSVFixColumns.keysNames.contains(name) { return .key }
        return CSVFixColumns.timesNames.contains(name) ? .time : .other
    }

    /// The properties of features that are copied besides key and time.
    func kept(
        properties names: [String], besides columns: CSVFixColumns, in file: String
    ) throws(TraceError) -> [Int] {
        let written = [columns.key, columns.time]
        return try copied(names, of: [], besides: columns.position, in: file).filter { !written.contains($0) }.sorted()
    }

    private func copied(
        _ names: [String], of unasked: [String] = copiedNames, besides position: PositionColumns, in file: String
    ) throws(TraceError) -> Set<Int> {
        var kept = Set(columns(namedAnyOf: unasked))
        for name in names {
            guard let column = try column(named: name, in: file) else { throw unknownColumn(name, in: file) }
            guard !position.all.contains(column), !isPosition(column), !Self.isOfPosition(name) else {
                throw .keepsPosition(name: name)
            }
            try requireUnwritten(column, as: .kept)
            kept.insert(column)
        }
        return kept
    }

    /// A column that is copied must not have the name of one that is written.
    func requireUnwritten(_ column: Int, as use: TraceError.CopiedColumn) throws(TraceError) {
        guard !RegionForm.csvNames.contains(Self.lowercase(names[column])) else {
            throw .columnIsWritten(as: use, name: names[column])
        }
    }
}
