import Hereabouts
import TextCoding

extension TraceFormat {
    /// Objects, one on each line; also an array of objects, or objects over several lines. Written one on each line.
    package static let ndjson = TraceFormat(
        name: "ndjson", otherNames: ["jsonl", "json"], hasBlankRecords: true,
        recognizes: { (reader) throws(TraceError) in
            guard let kind = try reader.kindOfJSON() else { return false }
            return kind != .geoJSON
        },
        open: { (reader, options) throws(TraceError) in try JSONInput(reader, options: options) },
        openTable: { (reader, options) throws(TraceError) in try JSONInput(reader, options: options) },
        rowForm: .ndjson, makeSink: { NDJSONSink(atlas: $0, isPadded: false) })

    /// The same with lines that are padded where reports are written.
    package static let paddedNDJSON: TraceFormat = {
        var format = ndjson
        format.makeSink = { NDJSONSink(atlas: $0, isPadded: true) }
        return format
    }()
}

extension InputReader {
    /// What kind of JSON the input is; nil where it is none. Nothing is consumed.
    mutating func kindOfJSON() throws(TraceError) -> JSONKind? {
        var kind: JSONKind?
        unsafe try peek { bytes, _ in
            var needsMore = false
            kind = unsafe JSONKind.detect(bytes, needsMore: &needsMore)
            return !needsMore
        }
        return kind
    }
}

/// Records that are JSON objects.
final class JSONInput: TableInput {
    let identity: DeviceIdentity
    let firstLine: Int
    let isTimed: Bool
    let notices: [Notice]
    let keptForm = FieldForm.json
    let reference: CoordinateReference?
    let mayHaveReference = true
    let usedOptions: InputOptions
    private let layout: JSONLayout
    private var reader: InputReader
    private var framing: RecordFraming
    private let isInArray: Bool

    private enum RecordFraming {
        case lines(LineFraming)
        case values(JSONFraming)
    }

    var file: String { reader.label }
    var bytesRead: Int { reader.bytesRead }
    /// The first records of an input of `convert`, with their columns and those that have a meaning.
    private let sampled: (sample: JSONSample, header: CSVHeader, used: Set<Int>)?
    let refusal: TraceError?
    /// Names of device keys that the first record lacks, where a later one must not have any; nil where that may be.
    private let lateKeys: [String]?
    let keptFields: [KeptField]
    let deviceField: Int?
    let timeStyle: TimeStyle

    /// The most members of a record that are looked at for their names.
    private static let maximumNames = 1 << 10

    /// Opens an input for `convert`.
    init(_ source: consuming InputReader, options: ConvertRun.Options) throws(TraceError) {
        reader = source
        reference = try options.csv.reference?.reference(declaring: nil, file: reader.label)
        (keptFields, deviceField, timeStyle) = ([], nil, options.timeStyle)
        usedOptions = InputOptions.position.union(.keysAndTimes)
        let named = options.csv.positionColumns + [options.timeColumn].compactMap { $0 }
        let members = try reader.members(
            named: named, keys: options.keyColumns, wantsTime: !options.acceptsUntimed, most: Self.maximumNames)
        var byName = options
        byName.csv = options.csv.ofMembers
        byName.keyColumns = options.keyColumns.map(JSONMembers.name)
        byName.timeColumn = options.timeColumn.map(JSONMembers.name)
        let columns: CSVFixColumns
        do throws(TraceError) {
            columns = try CSVFixColumns(members.header, options: byName, file: reader.label)
        } catch {
            throw error.ofMembers
        }
        // What comes line by line, without an end, is not looked into.
        if !options.recordsAreLines { try reader.requireNoSamples(options.csv) }
        if let key = columns.key { try members.header.requireUnwritten(key, as: .key) }
        let unit = try AngleUnit.unit(
            columns.position, members.header, line: nil, hasReference: options.csv.reference != nil, in: reader.label)
        isInArray = try reader.kindOfJSON() == .array
        framing = try Self.framing(&reader)
        let sample =
            options.recordsAreLines
            ? nil : Self.sample(&reader, framing, members, isInArray: isInArray, waits: true)
        try Datum.requireWGS84(members.header, sample, reference: reference, file: reader.label)
        let utm = try UTMColumns.columns(
            members.header, sample, columns.position, byName.csv, reference: reference, file: reader.label)
        layout = JSONLayout(
            members, position: columns.position, options: options.csv, kept: [], validity: columns.validity,
            utm: utm, unit: unit,
            fix: CSVLayout.FixFields(
                key: columns.key, time: columns.time, date: columns.date, accuracy: columns.accuracy,
                offset: columns.offsets?.column, offsets: columns.offsets?.offsets ?? .text,
                keyRule: KeyRule(options), timeStyle: options.timeStyle, metersPerAccuracy: columns.metersPerAccuracy,
                bounds: TimeBounds(options)))
        identity = columns.key.map { .keyed(name: members.header.names[$0]) } ?? .person
        isTimed = columns.time != nil
        firstLine = 1
        var findings: SampleFindings?
        let usedByUTM = Set(utm?.columns.all ?? [])
        if let sample {
            findings = SampleFindings(
                sample, members.header, columns, unit: unit, options: options, file: reader.label)
            sampled = (sample, members.header, Set(columns.all).union(columns.position.all).union(usedByUTM))
        } else {
            sampled = nil
        }
        let used = columns.position.all.union(columns.all).union(usedByUTM)
        let reading = InputReading(
            members.header, columns, unit: unit, options: options, sample: sample, dropped: members.others(than: used))
        notices = [.readAs(file: reader.label, reading)] + columns.notices + (findings?.notices ?? [])
        refusal = findings?.refusal
        lateKeys = columns.key == nil && !options.isOneDevice ? members.lateKeys : nil
    }

    private static func sample(
        _ reader: inout InputReader, _ framing: RecordFraming, _ members: JSONMembers, isInArray: Bool, waits: Bool
    ) -> JSONSample {
        switch framing {
        case .lines(let lines):
            let buffer = reader.lookAhead(lines: RecordSamples.most, waits: waits, framing: lines)
            return JSONSample(unsafe Array(buffer.bytes), paths: members.paths, areLines: true, isInArray: false)
        case .values(let values):
            // Values are on several lines, or none.
            let buffer = reader.lookAhead(lines: 50 * RecordSamples.most, waits: waits, framing: values)
            return JSONSample(unsafe Array(buffer.bytes), paths: members.paths, areLines: false, isInArray: isInArray)
        }
    }

    var keyCandidates: [KeyCandidate] {
        sampled.map { $0.sample.keyCandidates($0.header, besides: $0.used) } ?? []
    }

    /// Opens an input for `snap`.
    init(_ source: consuming InputReader, options: SnapRun.Options) throws(TraceError) {
        reader = source
        reference = try options.csv.reference?.reference(declaring: nil, file: reader.label)
        identity = .person
        (timeStyle, usedOptions) = (options.timeStyle, options.usedByTable)
        for name in options.keep where CSVHeader.isOfPosition(JSONMembers.lastName(name)) {
            throw .keepsPosition(name: name)
        }
        let named =
            options.csv.positionColumns + [options.timeColumn].compactMap { $0 } + options.keep
        let members = try reader.members(
            named: named, keys: options.keyColumns, wantsTime: false, most: Self.maximumNames)
        let position: PositionColumns
        let kept: CSVHeader.Kept
        do throws(TraceError) {
            position = try members.header.position(options: options.csv.ofMembers, in: reader.label)
            kept = try members.header.kept(options, besides: position, in: reader.label, named: JSONMembers.name)
        } catch {
            throw error.ofMembers
        }
        try reader.requireNoSamples(options.csv)
        (keptFields, deviceField) = (kept.fields, kept.deviceField)
        let validity = FixValidity.columns(members.header).filter { !position.all.contains($0.column) }
        let unit = try AngleUnit.unit(
            position, members.header, line: nil, hasReference: options.csv.reference != nil, in: reader.label)
        isInArray = try reader.kindOfJSON() == .array
        framing = try Self.framing(&reader)
        let sample =
            reader.isOfFile || reference != nil
            ? Self.sample(&reader, framing, members, isInArray: isInArray, waits: reader.isOfFile) : nil
        try Datum.requireWGS84(members.header, sample, reference: reference, file: reader.label)
        let utm = try UTMColumns.columns(
            members.header, sample, position, options.csv.ofMembers, reference: reference, file: reader.label)
        layout = JSONLayout(
            members, position: position, options: options.csv, kept: Set(kept.columns), validity: validity, utm: utm,
            unit: unit, fix: nil)
        isTimed = false
        firstLine = 1
        (sampled, lateKeys, refusal) = (nil, nil, nil)
        let used = position.all.union(kept.columns).union(validity.map(\.column)).union(utm?.columns.all ?? [])
        let reading = InputReading(
            members.header, position, unit: unit, kept: kept, validity: validity, sample: sample,
            dropped: members.others(than: used))
        let hasFewDecimals = sample?.hasFewDecimals(position, unit: unit, options.csv) == true
        notices = [.readAs(file: reader.label, reading)] + (hasFewDecimals ? [.fewDecimals(file: reader.label)] : [])
    }

    private static func framing(_ reader: inout InputReader) throws(TraceError) -> RecordFraming {
        switch try reader.kindOfJSON() {
        case .array:
            reader.dropFirst(through: UInt8(ascii: "["))
            return .values(JSONFraming(isInArray: true))
        case .values, .geoJSON: return .values(JSONFraming(isInArray: false))
        case .lines, nil: return .lines(LineFraming())
        }
    }

    func next(_ buffer: inout InputBuffer, _ batch: inout FixBatch) throws(TraceError) -> Bool {
        switch framing {
        case .lines(var lines):
            defer { framing = .lines(lines) }
            return try reader.nextRecords(into: &buffer, framing: &lines)
        case .values(var values):
            defer { framing = .values(values) }
            if !values.isBroken, try reader.nextRecords(into: &buffer, framing: &values) { return true }
            guard values.isComplete else { throw .malformedJSON(file: file, line: 0) }
            return false
        }
    }

    func makeReader(hash: KeyHash) -> (any RecordReader)? {
        let areLines = if case .lines = framing { true } else { false }
        return JSONBufferReader(
            JSONRecordReader(layout, areLines: areLines, isInArray: isInArray, lateKeys: lateKeys, hash: hash))
    }
}

extension InputReader {
    /// The members of the first record, as columns. Nothing is consumed.
    ///
    /// - Parameters:
    ///   - keys: what options name as device keys: the first that is there counts, or else the first.
    ///   - wantsTime: whether a time is looked for, in later records too.
    fileprivate mutating func members(
        named options: [String], keys: [String], wantsTime: Bool, most: Int
    ) throws(TraceError) -> JSONMembers {
        let kind = try kindOfJSON() ?? .lines
        let parser = JSONParser(paths: [])
        var found = FirstNames(named: options, wantsTime: wantsTime)
        unsafe try peek { bytes, isAtEnd in
            if kind == .lines {
                unsafe found.findInLines(bytes, isAtEnd: isAtEnd, parser, most: most)
            } else {
                unsafe found.findInValues(bytes, isArray: kind == .array, parser, most: most)
            }
            return found.isComplete
        }
        // Without a record any names will do.
        let names = found.names ?? (found.hasValue ? [] : ["latitude", "longitude", "time"])
        let key = keys.first { names.contains(JSONMembers.name($0)) } ?? keys.first
        return JSONMembers(names, named: options + [key].compactMap { $0 })
    }
}

/// The names of the members of the first object among values; and, if it lacks a position or a time, of those behind it up to
/// one that has them, since telemetry may begin with a status.
private struct FirstNames {
    /// Nil before there is an object.
    private(set) var names: [String]?
    /// Whether there is any value.
    private(set) var hasValue = false
    /// Whether the names are all that are needed.
    private(set) var isComplete = false
    private let hasPosition: Bool
    private let wantsTime: Bool
    /// The first object's names, and how many objects were looked at.
    private var first: [String]?
    private var objects = 0
    /// The objects are looked at once.
    private var start = 0
    private static let mostObjects = 1000

    /// - Parameter named: what options name: they may name anything.
    init(named: [String], wantsTime: Bool) {
        hasPosition = !named.isEmpty
        self.wantsTime = wantsTime && named.isEmpty
    }

    mutating func findInLines(
        _ bytes: UnsafeBufferPointer<UInt8>, isAtEnd: Bool, _ parser: JSONParser, most: Int
    ) {
        // SAFETY: both are at most the count.
        while start < bytes.count, !isComplete {
            let feed = unsafe bytes[start...].firstIndex(of: 10)
            guard let end = feed ?? (isAtEnd ? bytes.count : nil) else { return }
            let line = unsafe UnsafeBufferPointer(rebasing: bytes[start..<end])
            if unsafe line.contains(where: { $0 > 0x20 }) { hasValue = true }
            add(unsafe parser.memberNames(of: line, most: most), most: most)
            start = end + 1
        }
    }

    mutating func findInValues(
        _ bytes: UnsafeBufferPointer<UInt8>, isArray: Bool, _ parser: JSONParser, most: Int
    ) {
        var values = JSONValues(isInArray: isArray, isOpen: false)
        (names, first, objects) = (nil, nil, 0)
        while !isComplete, let value = unsafe values.next(bytes) {
            add(unsafe parser.memberNames(of: UnsafeBufferPointer(rebasing: bytes[value]), most: most), most: most)
        }
        if values.hasBegun { hasValue = true }
    }

    /// Adds the names of an object; nil of any other value.
    private mutating func add(_ found: [String]?, most: Int) {
        guard let found else { return }
        objects += 1
        if first == nil { first = found }
        var all = names ?? []
        let known = Set(all)
        all += found.filter { !known.contains($0) }
        names = all
        let header = CSVHeader(names: all)
        let hasTime = !wantsTime || !header.columns(knownAs: Array(CSVFixColumns.timesNames)).isEmpty
        if (hasPosition || header.hasPosition(CSVOptions())) && hasTime {
            isComplete = true
        } else if objects == Self.mostObjects || all.count >= most {
            (names, isComplete) = (first, true)
        }
    }
}

extension CSVOptions {
    /// What names the columns of a position.
    fileprivate var positionColumns: [String] { [latitudeColumn, longitudeColumn, positionColumn].compactMap { $0 } }

    /// The same for members, which pointers may name.
    fileprivate var ofMembers: CSVOptions {
        var options = self
        options.latitudeColumn = latitudeColumn.map(JSONMembers.name)
        options.longitudeColumn = longitudeColumn.map(JSONMembers.name)
        options.positionColumn = positionColumn.map(JSONMembers.name)
        return options
    }
}

extension TraceError {
    /// The same, of a file whose columns are the members of records.
    var ofMembers: TraceError {
        switch self {
        case .noColumn(let file, let axis, _): .noMember(file: file, axis: axis)
        case .noTimeColumn(let file, _): .noTimeMember(file: file)
        default: self
        }
    }
}
