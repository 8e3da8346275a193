internal import CSimdjson
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
        rowForm: .ndjson, makeSink: { NDJSONSink(atlas: $0) })
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
        let named = options.csv.positionColumns + [options.keyColumn, options.timeColumn].compactMap { $0 }
        let members = try reader.members(named: named, most: Self.maximumNames)
        var byName = options
        byName.csv = options.csv.ofMembers
        byName.keyColumn = options.keyColumn.map(JSONMembers.name)
        byName.timeColumn = options.timeColumn.map(JSONMembers.name)
        let columns: CSVFixColumns
        do throws(TraceError) {
            columns = try CSVFixColumns(members.header, options: byName, file: reader.label)
        } catch {
            throw error.ofMembers
        }
        if let key = columns.key { try members.header.requireUnwritten(key, as: .key) }
        layout = JSONLayout(
            members, position: columns.position, options: options.csv, kept: [],
            fix: CSVLayout.FixFields(
                key: columns.key, time: columns.time, date: columns.date, accuracy: columns.accuracy,
                keyRule: KeyRule(options), timeStyle: options.timeStyle, metersPerAccuracy: columns.metersPerAccuracy,
                bounds: TimeBounds(options)))
        identity = columns.key.map { .keyed(name: members.header.names[$0]) } ?? .person
        let dropped = members.header.notice(ofDropped: members.others(than: columns.written), file: reader.label)
        notices = [dropped].compactMap { $0 } + columns.notices
        isTimed = columns.time != nil
        firstLine = 1
        isInArray = try reader.kindOfJSON() == .array
        framing = try Self.framing(&reader)
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
            options.csv.positionColumns + [options.keyColumn, options.timeColumn].compactMap { $0 } + options.keep
        let members = try reader.members(named: named, most: Self.maximumNames)
        let position: PositionColumns
        let kept: CSVHeader.Kept
        do throws(TraceError) {
            position = try members.header.position(options: options.csv.ofMembers, in: reader.label)
            kept = try members.header.kept(options, besides: position, in: reader.label, named: JSONMembers.name)
        } catch {
            throw error.ofMembers
        }
        (keptFields, deviceField) = (kept.fields, kept.deviceField)
        layout = JSONLayout(
            members, position: position, options: options.csv, kept: Set(kept.columns), fix: nil)
        let dropped = members.header.notice(
            ofDropped: members.others(than: position.all.union(kept.columns)), file: reader.label)
        notices = [dropped].compactMap { $0 }
        isTimed = false
        firstLine = 1
        isInArray = try reader.kindOfJSON() == .array
        framing = try Self.framing(&reader)
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
        return JSONBufferReader(JSONRecordReader(layout, areLines: areLines, isInArray: isInArray, hash: hash))
    }
}

extension InputReader {
    /// The members of the first record, as columns. Nothing is consumed.
    fileprivate mutating func members(named options: [String], most: Int) throws(TraceError) -> JSONMembers {
        let kind = try kindOfJSON() ?? .lines
        let parser = JSONParser(paths: [])
        var found = FirstNames()
        unsafe try peek { bytes, isAtEnd in
            if kind == .lines {
                unsafe found.findInLines(bytes, isAtEnd: isAtEnd, parser, most: most)
            } else {
                unsafe found.findInValues(bytes, isArray: kind == .array, parser, most: most)
            }
            return found.names != nil
        }
        // Without a record any names will do.
        let names = found.names ?? (found.hasValue ? [] : ["latitude", "longitude", "time"])
        return JSONMembers(names, named: options)
    }
}

/// The names of the members of the first object among values.
private struct FirstNames {
    private(set) var names: [String]?
    /// Whether there is any value.
    private(set) var hasValue = false

    mutating func findInLines(
        _ bytes: UnsafeBufferPointer<UInt8>, isAtEnd: Bool, _ parser: JSONParser, most: Int
    ) {
        var start = 0
        // SAFETY: both are at most the count.
        while start < bytes.count, names == nil {
            let feed = unsafe bytes[start...].firstIndex(of: 10)
            guard let end = feed ?? (isAtEnd ? bytes.count : nil) else { return }
            let line = unsafe UnsafeBufferPointer(rebasing: bytes[start..<end])
            if unsafe line.contains(where: { $0 > 0x20 }) { hasValue = true }
            names = unsafe parser.memberNames(of: line, most: most)
            start = end + 1
        }
    }

    mutating func findInValues(
        _ bytes: UnsafeBufferPointer<UInt8>, isArray: Bool, _ parser: JSONParser, most: Int
    ) {
        guard let base = bytes.baseAddress else { return }
        var splitter = json_splitter()
        splitter.element_depth = isArray ? 1 : 0
        var at = 0, start = 0
        while names == nil {
            // SAFETY: the splitter reads up to the count.
            switch unsafe hereabouts_json_split(&splitter, base, bytes.count, &at) {
            case json_split_start:
                hasValue = true
                start = at
            case json_split_end:
                names = unsafe parser.memberNames(
                    of: UnsafeBufferPointer(rebasing: bytes[start..<at]), most: most)
            default: return
            }
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
