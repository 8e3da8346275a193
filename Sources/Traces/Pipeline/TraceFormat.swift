import Hereabouts

/// A format of traces. Each has a folder of its own, with its reader, its writer and an extension that describes it here;
/// to add one is to add such a folder and a name to `all`.
package struct TraceFormat: Sendable {
    /// The name of `--to` and the extension of file names.
    package let name: String
    /// Whether a table with a record per fix can have blank ones.
    package let hasBlankRecords: Bool
    /// Whether an input that begins so is of this format; nothing is consumed. Nil for one that takes what no other does.
    let recognizes: (@Sendable (inout InputReader) throws(TraceError) -> Bool)?
    /// Opens an input; nil for a format that is only written.
    let open: (@Sendable (consuming InputReader, ConvertRun.Options) throws(TraceError) -> any TraceInput)?
    /// Makes what writes an output; nil for a format that is only read.
    let makeSink: (@Sendable (Atlas) -> any ReportSink & ~Copyable)?

    /// All formats.
    static let all: [TraceFormat] = [.gpx, .csv, .geojson]

    /// The formats that can be written.
    package static let outputs = all.filter { $0.makeSink != nil }

    /// Opens an input in the first format that recognizes it.
    ///
    /// - Throws: `TraceError.notRead` for a kind of file that none does.
    static func open(
        _ reader: consuming InputReader, options: ConvertRun.Options
    ) throws(TraceError) -> any TraceInput {
        var reader = reader
        for format in options.formats {
            guard let recognizes = format.recognizes, let open = format.open, try recognizes(&reader) else { continue }
            return try open(reader, options)
        }
        if let kind = try reader.kind() { throw .notRead(file: reader.label, kind) }
        guard let open = options.formats.first(where: { $0.recognizes == nil && $0.open != nil })?.open else {
            preconditionFailure("a format takes what no other does")
        }
        return try open(reader, options)
    }

    /// The format of an output with this name, or file name extension, in any case.
    package static func output(named name: String) -> TraceFormat? {
        let name = name.lowercased()
        return outputs.first { $0.name == name }
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
    /// Bytes read so far.
    var bytesRead: Int { get }

    /// Takes the next piece; false at the end. A format that must be read in order reads its fixes here, one whose pieces
    /// can be read on any thread leaves that to `makeReader`. Where this throws, the fixes before the failure are in the
    /// batch.
    func next(_ buffer: inout InputBuffer, _ batch: inout FixBatch) throws(TraceError) -> Bool

    /// What reads the records of a piece on one of several threads; nil where `next` does.
    ///
    /// - Parameter hash: the hash of device keys.
    func makeReader(hash: KeyHash) -> (any RecordReader)?
}

extension TraceInput {
    var isTimed: Bool { true }
}

/// Reads the records of pieces, on one thread.
protocol RecordReader: AnyObject {
    /// Starts to read the records of a buffer.
    func begin(_ buffer: borrowing InputBuffer)

    /// Appends the next records of the buffer, at most `limit`, to the batch; false at the end of the buffer.
    func read(_ buffer: borrowing InputBuffer, into batch: inout FixBatch, limit: Int) -> Bool
}
