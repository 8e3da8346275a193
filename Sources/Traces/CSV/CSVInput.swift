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
    /// Whether lines are read as they come.
    private let isLive: Bool
    /// The header by which records are read.
    private let shared: SharedCSVHeader
    /// The lines between the header and the records; nil where they are not read yet.
    private let linesPassed: Int?
    /// The first records of an input of `convert`, with their header and the columns that have a meaning.
    private let sampled: (sample: CSVSample, header: CSVHeader, used: Set<Int>)?

    let refusal: TraceError?

    var keyCandidates: [KeyCandidate] {
        sampled.map { $0.sample.keyCandidates($0.header, besides: $0.used) } ?? []
    }

    private enum RecordFraming {
        case lines(LineFraming)
        case table(CSVFraming)
    }

    let keptForm = FieldForm.csv
    let reference: CoordinateReference?
    let hasColonsInPositions: Bool
    let arePairs: Bool
    let mayHaveReference = true
    let usedOptions: InputOptions

    var file: String { reader.label }
    var bytesRead: Int { reader.bytesRead }
    let keptFields: [KeptField]
    let deviceField: Int?
    let timeStyle: TimeStyle

    /// Opens an input for `convert`.
    init(_ source: consuming InputReader, options: ConvertRun.Options) throws(TraceError) {
        reader = source
        (keptFields, deviceField, timeStyle) = ([], nil, options.timeStyle)
        isLive = options.recordsAreLines
        let start = try CSVStart.read(&reader, options: options.csv)
        let bounds = TimeBounds(options)
        guard let (header, delimiter) = start.table else {
            reference = try reader.bareReference(options.csv)
            usedOptions = reader.isEmpty ? .all : []
            guard options.acceptsUntimed || reader.isEmpty else { throw .noTimes(file: reader.label) }
            let layout = CSVLayout(bareWith: .init(bounds: bounds))
            (self.layout, identity, notices) = (layout, .person, [])
            (framing, firstLine, isTimed) = (.lines(LineFraming()), start.firstLine, false)
            (shared, linesPassed, hasColonsInPositions) = (SharedCSVHeader(layout), nil, false)
            (arePairs, sampled, refusal) = (true, nil, nil)
            return
        }
        usedOptions = InputOptions.position.union(.keysAndTimes).union(.delimiter)
        let opening = try CSVOpening(
            &reader, header, delimiter, options.csv, lookAhead: isLive ? .none : .whole)
        let columns = try CSVFixColumns(opening.header, options: options, file: reader.label)
        let declared = try reader.declaredReference(options.csv, columns.position, delimiter)
        reference = declared.reference
        if let key = columns.key { try opening.header.requireUnwritten(key, as: .key) }
        try Datum.requireWGS84(opening.header, opening.sample, reference: reference, file: reader.label)
        let utm = try UTMColumns.columns(
            opening.header, opening.sample, columns.position, options.csv, reference: reference, file: reader.label)
        let kept = Set(columns.all + (utm?.columns.all ?? [])).sorted()
        layout = CSVLayout(
            header: opening.header, delimiter: delimiter, position: columns.position, kept: kept,
            validity: columns.validity, unit: opening.unit,
            fix: CSVLayout.FixFields(
                key: columns.key.flatMap(kept.firstIndex), time: columns.time.flatMap(kept.firstIndex),
                date: columns.date.flatMap(kept.firstIndex), accuracy: columns.accuracy.flatMap(kept.firstIndex),
                offset: columns.offsets.flatMap { kept.firstIndex(of: $0.column) },
                offsets: columns.offsets?.offsets ?? .text, keyRule: KeyRule(options), timeStyle: options.timeStyle,
                metersPerAccuracy: columns.metersPerAccuracy,
                bounds: bounds),
            utm: utm, spatialReference: declared.identifier, shape: opening.shape)
        identity = columns.key.map { .keyed(name: opening.header.names[$0]) } ?? .person
        var findings: SampleFindings?
        if let sample = opening.sample {
            findings = SampleFindings(
                sample, opening.header, columns, unit: opening.unit, options: options, file: reader.label)
            sampled = (sample, opening.header, Set(kept).union(columns.position.all))
        } else {
            sampled = nil
        }
        let used = columns.position.all.union(kept)
        let reading = InputReading(
            opening.header, columns, unit: opening.unit, options: options, sample: opening.sample,
            dropped: opening.header.names.indices.filter { !used.contains($0) })
        notices =
            [.readAs(file: reader.label, reading)] + declared.notices + opening.notices + columns.notices
            + (findings?.notices ?? [])
        refusal = findings?.refusal
        framing = isLive ? .lines(LineFraming()) : .table(CSVFraming(delimiter: delimiter))
        firstLine = start.firstLine
        isTimed = columns.time != nil
        (shared, linesPassed) = (SharedCSVHeader(layout), opening.linesPassed)
        (hasColonsInPositions, arePairs) = (opening.hasColonsInPositions, false)
    }

    /// Opens an input for `snap`.
    init(_ source: consuming InputReader, options: SnapRun.Options) throws(TraceError) {
        reader = source
        identity = .person
        timeStyle = options.timeStyle
        isLive = false
        let start = try CSVStart.read(&reader, options: options.csv)
        guard let (header, delimiter) = start.table else {
            reference = try reader.bareReference(options.csv)
            (keptFields, deviceField) = ([], nil)
            usedOptions = reader.isEmpty ? .all : []
            if let name = (options.keep + options.keyColumns + [options.timeColumn].compactMap(\.self)).first {
                throw .unknownColumn(file: reader.label, name: name, columns: [])
            }
            (layout, notices) = (CSVLayout(bareWith: nil), [])
            (framing, firstLine, isTimed) = (.lines(LineFraming()), start.firstLine, false)
            (shared, linesPassed, hasColonsInPositions) = (SharedCSVHeader(layout), nil, false)
            (arePairs, sampled, refusal) = (true, nil, nil)
            return
        }
        usedOptions = options.usedByTable.union(.delimiter)
        let opening = try CSVOpening(
            &reader, header, delimiter, options.csv, lookAhead: reader.isOfFile ? .whole : .firstBuffer)
        let position = opening.position
        let kept = try opening.header.kept(options, besides: position, in: reader.label) { $0 }
        (keptFields, deviceField) = (kept.fields, kept.deviceField)
        let declared = try reader.declaredReference(options.csv, position, delimiter)
        reference = declared.reference
        let used = position.all.union(kept.columns)
        let validity = FixValidity.columns(opening.header).filter { !position.all.contains($0.column) }
        try Datum.requireWGS84(opening.header, opening.sample, reference: reference, file: reader.label)
        let utm = try UTMColumns.columns(
            opening.header, opening.sample, position, options.csv, reference: reference, file: reader.label)
        let others = Set(validity.map(\.column) + (utm?.columns.all ?? [])).subtracting(used).sorted()
        let layout = CSVLayout(
            header: opening.header, delimiter: delimiter, position: position, kept: kept.columns + others,
            copied: kept.columns.count, validity: validity, unit: opening.unit, utm: utm,
            spatialReference: declared.identifier, shape: opening.shape)
        self.layout = layout
        let reading = InputReading(
            opening.header, position, unit: opening.unit, kept: kept, validity: validity, sample: opening.sample,
            dropped: opening.header.names.indices.filter { !used.contains($0) && layout.roles[$0] == .dropped })
        let hasFewDecimals = opening.sample?.hasFewDecimals(position, unit: opening.unit, options.csv) == true
        notices =
            [.readAs(file: reader.label, reading)] + declared.notices + opening.notices
            + (hasFewDecimals ? [.fewDecimals(file: reader.label)] : [])
        (framing, firstLine, isTimed) = (.table(CSVFraming(delimiter: delimiter)), start.firstLine, false)
        (shared, linesPassed) = (SharedCSVHeader(layout), opening.linesPassed)
        (hasColonsInPositions, arePairs) = (opening.hasColonsInPositions, false)
        (sampled, refusal) = (nil, nil)
    }

    func next(_ buffer: inout InputBuffer, _ batch: inout FixBatch) throws(TraceError) -> Bool {
        if !isStarted {
            isStarted = true
            if let linesPassed {
                batch.lineCount = linesPassed
            } else {
                let passed = try CSVStart.skipUnits(
                    &reader, layout.delimiter, layout.columnNames.count, layout.unitColumns)
                guard passed.unit == nil || passed.unit == .degrees || reference != nil else {
                    throw .unitOfPosition(file: file, name: layout.columnNames[layout.latitudeColumn])
                }
                batch.lineCount = passed.lines
            }
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

    func makeReader(hash: KeyHash) -> (any RecordReader)? {
        CSVBufferReader(CSVRecordReader(shared.current, isLive: isLive, hash: hash), shared)
    }

    func follow(_ batch: borrowing FixBatch) -> Bool { shared.follow(batch) }
}

/// A `CSVRecordReader` as the pipeline calls it.
private final class CSVBufferReader: RecordReader {
    private var reader: CSVRecordReader
    private let shared: SharedCSVHeader

    init(_ reader: consuming CSVRecordReader, _ shared: SharedCSVHeader) {
        self.reader = reader
        self.shared = shared
    }

    func begin(_ buffer: borrowing InputBuffer) { reader.begin(buffer, shared.current) }

    func read(_ buffer: borrowing InputBuffer, into batch: inout FixBatch, limit: Int) -> Bool {
        reader.read(buffer, into: &batch, limit: limit)
    }
}

/// What is known of a table before its records are read: from its header, and from the first of them.
private struct CSVOpening {
    /// How much is read before the first record is handed out.
    enum LookAhead {
        /// Nothing: the lines of an endless input are read as they come.
        case none
        /// What a pipe has sent.
        case firstBuffer
        /// A whole sample.
        case whole
    }

    /// The header; of a table whose records have a field more, with a first column without a name.
    let header: CSVHeader
    let position: PositionColumns
    let shape: CSVShape
    /// The lines between the header and the records; nil where they were not read yet.
    let linesPassed: Int?
    let hasColonsInPositions: Bool
    let unit: AngleUnit
    let notices: [Notice]
    let sample: CSVSample?

    init(
        _ reader: inout InputReader, _ header: CSVHeader, _ delimiter: UInt8, _ options: CSVOptions,
        lookAhead: LookAhead
    ) throws(TraceError) {
        let position = try header.position(options: options, in: reader.label)
        guard lookAhead != .none else {
            (self.header, self.position, shape) = (header, position, .separators)
            (linesPassed, hasColonsInPositions, notices, sample) = (nil, false, [], nil)
            unit = try AngleUnit.unit(
                position, header, line: nil, hasReference: options.reference != nil, in: reader.label)
            return
        }
        let unitOfLine: AngleUnit?
        // What cannot be read fails in its turn, with the first records.
        do throws(TraceError) {
            (linesPassed, unitOfLine) = try CSVStart.skipUnits(
                &reader, delimiter, header.names.count, position.unitColumns)
        } catch {
            (linesPassed, unitOfLine) = (nil, nil)
        }
        let buffer = reader.lookAhead(
            lines: RecordSamples.most, waits: lookAhead == .whole, framing: CSVFraming(delimiter: delimiter))
        let sample = CSVSample(buffer, delimiter: delimiter, header: header, position: position)
        self.sample = sample
        shape = CSVShape(sample, columns: header.names.count, position: position)
        if shape == .rowNames {
            self.header = CSVHeader(names: [""] + header.names)
            self.position = try self.header.position(options: options, in: reader.label)
            notices = [.rowNames(file: reader.label)]
        } else {
            (self.header, self.position, notices) = (header, position, [])
        }
        unit = try AngleUnit.unit(
            self.position, self.header, line: unitOfLine, hasReference: options.reference != nil, in: reader.label)
        let columns = self.position.pairOrder == nil ? [self.position.latitude, self.position.longitude] : []
        hasColonsInPositions = (0..<sample.count).contains { record in
            columns.contains { unsafe sample.withField(record, $0) { unsafe $0.contains(UInt8(ascii: ":")) } }
        }
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
        let key = try keyName(options.keyColumns.map(named), in: file), time = options.timeColumn.map(named)
        let names = options.keep.map(named) + [key, time].compactMap { $0 }
        let copied = try copied(names, besides: position, in: file)
        let device =
            options.disguise.dateShift == nil
            ? nil : try CSVFixColumns.key(self, options: options.keyColumns.map(named), in: file)
        let namedKey = key == nil ? nil : try column(named: key ?? "", in: file)
        let namedTime = time == nil ? nil : try column(named: time ?? "", in: file)
        let unasked = Set(self.columns(namedAnyOf: Self.copiedNames))
        let columns = copied.union(device.map { [$0] } ?? []).sorted()
        let fields = columns.map { column in
            var field = KeptField(name: self.names[column], content: content(of: column))
            if column == namedTime { field.content = .time }
            if column == namedKey || column == device { field.content = .key }
            field.isWritten = copied.contains(column)
            switch field.content {
            case .key:
                let isFound = unasked.contains(column) && column != namedKey && !options.acceptsNumericKeys
                field.check = .key(isFound ? .found : .named)
            case .time: field.check = .time
            case .other: break
            }
            return field
        }
        return Kept(columns: columns, fields: fields, deviceField: device.flatMap(columns.firstIndex))
    }

    /// The first of some names of keys that is there, else the first.
    func keyName(_ names: [String], in file: String) throws(TraceError) -> String? {
        for name in names where try column(named: name, in: file) != nil { return name }
        return names.first
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
