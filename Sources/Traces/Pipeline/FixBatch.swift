import Hereabouts

/// The fixes of consecutive records of an input, as a structure of arrays: what every format's reader produces, and what
/// both stages consume.
///
/// A bad record has an entry in every column like a good one; `problems` says what is wrong with it, and its latitude is
/// not a number where its position cannot be used.
struct FixBatch: ~Copyable {
    /// Latitude and longitude in degrees, as the record has them: their range is validated by whoever uses them.
    var positions = Column<Coordinate>()
    /// The line that each record begins on, from 0 at the first line of the piece.
    var lines = Column<Int>()
    /// The bad records, by ascending index in the batch.
    var problems: [(index: Int, reason: RecordProblem.Reason)] = []
    /// Lines of the piece that were read so far.
    var lineCount = 0
    /// The line of a record that is too long to go on after, from 0 at the first line of the piece.
    var overlongLine: Int?
    /// The line from which on the piece is no JSON and cannot be read, likewise.
    var brokenLine: Int?

    /// The line of a header of other columns than the input's, likewise: the run cannot go on.
    var otherHeaderLine: Int?
    /// The line of a record with a device key, in an input that has none, likewise, and the key's name.
    var lateKey: (line: Int, name: String)?
    /// By which header the piece's first record was read, and the one in force behind its last, if that is another one.
    var header: (before: CSVHeaderInForce, after: CSVHeaderInForce?)?

    /// The code of each record's UTM zone, 0 for none; empty where records have no zones.
    var utmZones = Column<UInt8>()

    // What follows is filled for pacing alone.

    /// The times; nil where a record has none.
    var times = Column<Timestamp?>()
    /// Horizontal accuracies in meters, not numbers where unknown.
    var accuracies = Column<Double>()
    /// Each record's device key, in inputs with device keys.
    var keys = Column<DeviceKey>()
    /// The bytes of keys that had to be decoded.
    var decodedKeys = Column<UInt8>()
    /// Which track each record belongs to, in inputs with tracks.
    var tracks = Column<Track>()

    // What follows is filled for `snap` alone.

    /// Values of fields that an input read in order keeps, as JSON: their number of spans in `text` for each record.
    var members = Column<FieldSpan>()
    /// The bytes of `members`, and those of the rows that `FixRows` makes.
    var text = ByteBuffer(capacity: 64)
    /// Where the fields of these rows are.
    var rows = Column<UInt32>()
    /// The kept fields of the records read last.
    var kept: KeptFields?

    /// A record's horizontal accuracy in meters; nil where unknown.
    @inline(__always)
    func horizontalAccuracy(_ index: Int) -> Double? { accuracies[index].isNaN ? nil : accuracies[index] }

    /// How many records there are.
    var count: Int { positions.count }

    /// Forgets the records, and keeps the memory and the place in the piece.
    @inline(__always)
    mutating func removeRecords() {
        positions.removeAll()
        lines.removeAll()
        utmZones.removeAll()
        problems.removeAll(keepingCapacity: true)
        times.removeAll()
        accuracies.removeAll()
        keys.removeAll()
        decodedKeys.removeAll()
        tracks.removeAll()
        members.removeAll()
        text.removeAll()
        rows.removeAll()
        kept = nil
    }

    /// Empties the batch for the next piece.
    mutating func removeAll() {
        removeRecords()
        lineCount = 0
        overlongLine = nil
        brokenLine = nil
        otherHeaderLine = nil
        lateKey = nil
        header = nil
    }

    /// The bytes of a record's device key, until the batch or the buffer changes.
    @inline(__always)
    func key(_ index: Int, in buffer: borrowing InputBuffer) -> UnsafeBufferPointer<UInt8> {
        let key = keys[index], range = Int(key.span.start)..<Int(key.span.end)
        // SAFETY: spans lie within the buffer or the batch's bytes.
        return key.isDecoded
            ? unsafe UnsafeBufferPointer(UnsafeMutableBufferPointer(rebasing: decodedKeys.elements[range]))
            : unsafe UnsafeBufferPointer(rebasing: buffer.bytes[range])
    }

    /// The bytes of the key that was appended last, until the batch or the buffer changes.
    @inline(__always)
    func lastKey(_ base: UnsafePointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
        let key = keys[keys.count - 1], start = Int(key.span.start)
        // SAFETY: spans lie within the buffer or the batch's bytes.
        return key.isDecoded
            ? unsafe UnsafeBufferPointer(
                UnsafeMutableBufferPointer(rebasing: decodedKeys.elements[start..<Int(key.span.end)]))
            : unsafe UnsafeBufferPointer(start: base + start, count: key.span.count)
    }

    /// The bad records from number `index` on.
    func problems(from index: Int) -> ArraySlice<(index: Int, reason: RecordProblem.Reason)> {
        problems[((problems.lastIndex { $0.index < index } ?? -1) + 1)...]
    }
}

/// A device's key as its bytes in the piece, or among the batch's own where they had to be decoded.
struct DeviceKey {
    var span = FieldSpan()
    var isDecoded = false
    /// By the `KeyHash` of the run.
    var hash: UInt64 = 0
}

/// A track, route or the waypoints of an input.
struct Track {
    /// From 1 in order of the input; 0 for the waypoints.
    var number: UInt32
    var kind: ReportKind

    /// That of an input without tracks.
    static let only = Track(number: 0, kind: .track)
}

/// What a device's fixes were in the input, and its reports are in an output with tracks.
enum ReportKind: UInt8 {
    case waypoint, route, track
}

/// The fields of a batch's records that are copied to the output.
struct KeptFields {
    var table: FieldTable
    /// The fields' entries in a row of the table.
    var entries: [Int]
    /// The entries of the coordinates; nil where they are no fields.
    var position: (latitude: Int, longitude: Int)?
    /// Whether every field can be written as it stands: there is nothing in it to quote.
    var isVerbatim: Bool
    /// Whether the fields stand side by side in the order in which they are written.
    var isContiguous: Bool
    /// Whether they are among the batch's own `text`, rather than in the piece's buffer.
    var isInText = false
}
