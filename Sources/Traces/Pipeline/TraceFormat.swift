import Hereabouts

/// A format of traces. Each has a folder of its own, with its reader, its writer and an extension that describes it here;
/// to add one is to add such a folder and a name to `all`.
package struct TraceFormat: Sendable {
    /// The name of `--to` and the extension of file names.
    package let name: String
    /// Other extensions of file names.
    var otherNames: [String] = []
    /// Whether an input of such an extension is of this format where nothing in its first lines says otherwise.
    var isNamedByFile = false
    /// Whether a table with a record per fix can have blank ones.
    package let hasBlankRecords: Bool
    /// Whether an input that begins so is of this format; nothing is consumed. Nil for one that takes what no other does.
    let recognizes: (@Sendable (inout InputReader) throws(TraceError) -> Bool)?
    /// Opens an input; nil for a format that is only written.
    let open: (@Sendable (consuming InputReader, ConvertRun.Options) throws(TraceError) -> any TraceInput)?
    /// Opens an input whose records `snap` writes as rows, with fields that are kept; nil for a format that has none. Its
    /// rows are key or track and time then.
    var openTable: (@Sendable (consuming InputReader, SnapRun.Options) throws(TraceError) -> any TableInput)?
    /// How `snap` writes rows in this format; nil for one that has reports alone.
    var rowForm: RowForm?
    /// Makes what writes an output; nil for a format that is only read.
    var makeSink: (@Sendable (Atlas) -> any ReportSink & ~Copyable)?

    /// All formats.
    static let all: [TraceFormat] = [
        .gpsbabel, .gpx, .kml, .kmz, .tcx, .geojson, .takeout, .nmea, .igc, .geolife, .ndjson, .csv,
    ]

    /// The formats that can be written.
    package static let outputs = all.filter { $0.makeSink != nil }
    /// The formats that can be read.
    package static let inputs = all.filter { $0.open != nil }

    /// The format of an input: the first that recognizes it, else the one that its file's name says, of those that are read
    /// line by line, else the one that takes what no other does.
    ///
    /// - Throws: `TraceError.notRead` for a kind of file that none of them reads.
    static func recognized(
        _ reader: inout InputReader, among formats: [TraceFormat]
    ) throws(TraceError) -> TraceFormat {
        for format in formats {
            if let recognizes = format.recognizes, try recognizes(&reader) { return format }
        }
        let kind = try reader.kind()
        // What a recorder was switched on with may come before its first sentence.
        if kind == nil || kind == .binary, let format = named(byFile: reader.label, among: formats) { return format }
        if let kind { throw .notRead(file: reader.label, kind) }
        guard let format = formats.first(where: { $0.recognizes == nil && $0.open != nil }) else {
            preconditionFailure("a format takes what no other does")
        }
        return format
    }

    /// The format that the name of a file says, of those of recorders: a table may be called anything.
    private static func named(byFile name: String, among formats: [TraceFormat]) -> TraceFormat? {
        guard let last = fileExtension(name)?.lowercased() else { return nil }
        return formats.first { $0.isNamedByFile && ($0.name == last || $0.otherNames.contains(last)) }
    }

    /// Opens an input in the format that the options name, or else the one that it is in.
    static func open(
        _ reader: consuming InputReader, options: ConvertRun.Options
    ) throws(TraceError) -> any TraceInput {
        var reader = reader
        let format: TraceFormat
        if let named = options.inputFormat {
            format = named
        } else {
            format = try recognized(&reader, among: options.formats)
        }
        guard let open = format.open else { throw .notReadable(file: reader.label, format: format.name) }
        return try open(reader, options)
    }

    /// The format of an input for `snap`: the one that the options name, or else the one that it is in.
    static func recognized(
        _ reader: inout InputReader, options: SnapRun.Options
    ) throws(TraceError) -> TraceFormat {
        if let named = options.inputFormat { return named }
        return try recognized(&reader, among: options.formats)
    }

    /// The format that `snap` writes where its first input is of this format.
    func output(_ options: SnapRun.Options) -> TraceFormat { options.format ?? (makeSink == nil ? .csv : self) }

    /// Opens an input of this format for rows.
    func openRows(
        _ reader: consuming InputReader, options: SnapRun.Options
    ) throws(TraceError) -> any TableInput {
        if let openTable { return try openTable(reader, options) }
        if !options.keep.isEmpty { throw .nothingToKeep(file: reader.label, format: name) }
        return FixRows(try openFixes(reader, options: options))
    }

    /// Opens an input of this format for its fixes.
    func openFixes(
        _ reader: consuming InputReader, options: SnapRun.Options
    ) throws(TraceError) -> any TraceInput {
        guard let open else { throw .notReadable(file: reader.label, format: name) }
        return try open(reader, options.ofFixes)
    }

    /// The format of an output with this name, or file name extension, in any case.
    package static func output(named name: String) -> TraceFormat? {
        let name = name.lowercased()
        return outputs.first { $0.name == name || $0.otherNames.contains(name) }
    }
}

extension TraceFormat {
    /// The format of an output by the extension of its file's name, that of a compression aside; nil for an unknown one.
    package static func output(ofFile name: String) -> TraceFormat? {
        fileExtension(name).flatMap(output(named:))
    }

    /// The extension of a file's name, that of a compression aside; nil where it has none.
    fileprivate static func fileExtension(_ name: String) -> String? {
        var parts = name.split(separator: ".", omittingEmptySubsequences: false).dropFirst()
        if let last = parts.last, Compression(extension: String(last)) != nil { parts.removeLast() }
        return parts.last.map(String.init)
    }
}

extension TraceFormat: Hashable {
    package static func == (left: TraceFormat, right: TraceFormat) -> Bool { left.name == right.name }
    package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// How an input distinguishes devices.
enum DeviceIdentity {
    /// By the keys of a column or member of this name.
    case keyed(name: String)
    /// Not at all: it is one person's, in tracks and routes if its fixes name such.
    case person

    var isKeyed: Bool { if case .keyed = self { true } else { false } }
}

/// An input of some format, from which pieces are taken in order.
protocol TraceInput: AnyObject {
    /// The name for messages.
    var file: String { get }
    var identity: DeviceIdentity { get }
    /// The line of the input that the first piece begins on.
    var firstLine: Int { get }
    /// Whether its records may have times.
    var isTimed: Bool { get }
    /// What there is to say of how the input is read: columns or members that reach no output, or are not what their name
    /// may suggest.
    var notices: [Notice] { get }
    /// Why it cannot be read as its names say, which is said behind the notices.
    var refusal: TraceError? { get }
    /// The coordinate reference system that its positions are in; nil for WGS 84.
    var reference: CoordinateReference? { get }
    /// Whether its positions may be in another one than WGS 84.
    var mayHaveReference: Bool { get }
    /// Bytes read so far.
    var bytesRead: Int { get }
    /// The options for how inputs are read that it has a use for.
    var usedOptions: InputOptions { get }
    /// Whether it says that somebody went on foot, as far as it was read.
    var isOnFoot: Bool { get }
    /// What may tell devices apart in an input that seems to have none, or other ones, as far as it was read.
    var keyCandidates: [KeyCandidate] { get }

    /// Takes the next piece; false at the end. A format that must be read in order reads its fixes here, one whose pieces
    /// can be read on any thread leaves that to `makeReader`. Where this throws, the fixes before the failure are in the
    /// batch.
    func next(_ buffer: inout InputBuffer, _ batch: inout FixBatch) throws(TraceError) -> Bool

    /// What reads the records of a piece on one of several threads; nil where `next` does.
    ///
    /// - Parameter hash: the hash of device keys.
    func makeReader(hash: KeyHash) -> (any RecordReader)?

    /// Called for each piece in order, before it is emitted: whether it was read by the header that those before it leave in
    /// force. If not, it is to be read anew.
    func follow(_ batch: borrowing FixBatch) -> Bool
}

extension TraceInput {
    func follow(_ batch: borrowing FixBatch) -> Bool { true }
    var isTimed: Bool { true }
    var refusal: TraceError? { nil }
    var reference: CoordinateReference? { nil }
    var mayHaveReference: Bool { false }
    var usedOptions: InputOptions { [] }
    var isOnFoot: Bool { false }
    var keyCandidates: [KeyCandidate] { [] }

    /// - Throws: `needlessReference` where a reference system is named and the format has none.
    func requireReference(_ choice: ReferenceChoice?) throws(TraceError) {
        if let choice, choice.isNamed, !mayHaveReference { throw .needlessReference(file: file) }
    }
}

/// An input whose records `snap` writes again.
protocol TableInput: TraceInput {
    /// The fields that are read besides the position, in order.
    var keptFields: [KeptField] { get }
    /// How these fields are written in the input.
    var keptForm: FieldForm { get }
    /// The field whose key says which device a record is of; nil where all are one person's.
    var deviceField: Int? { get }
    /// How the times among them are written.
    var timeStyle: TimeStyle { get }
    /// Whether its coordinates are written with colons, as times of the day are.
    var hasColonsInPositions: Bool { get }
    /// Whether it is lines of two numbers, which mean what they say.
    var arePairs: Bool { get }
}

extension TableInput {
    var hasColonsInPositions: Bool { false }
    var arePairs: Bool { false }
}

/// A field of a table's records.
struct KeptField: Equatable {
    /// What is in a field.
    enum Content {
        /// A device key.
        case key
        /// A time, or the date of one.
        case time
        /// Anything else.
        case other
    }

    var name: String
    var content = Content.other
    /// Whether it is written, rather than read for the device key alone.
    var isWritten = true
    /// What it must not be; nil where anything is copied.
    var check: FieldCheck?
}

extension TableInput {
    /// The names of the columns that are written.
    var keptNames: [String] { keptFields.filter(\.isWritten).map(\.name) }
}

/// How a table's fields are written.
enum FieldForm {
    /// Quoted or not, as RFC 4180 has it.
    case csv
    /// As JSON; empty where there is none.
    case json
}

/// Reads the records of pieces, on one thread.
protocol RecordReader: AnyObject {
    /// Starts to read the records of a buffer.
    func begin(_ buffer: borrowing InputBuffer)

    /// Appends the next records of the buffer, at most `limit`, to the batch; false at the end of the buffer.
    func read(_ buffer: borrowing InputBuffer, into batch: inout FixBatch, limit: Int) -> Bool
}
