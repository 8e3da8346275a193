import Files
import Hereabouts

/// An answer as the journal keeps it.
struct PaceRecord: Hashable {
    /// Nil for the person of inputs without keys.
    var key: [UInt8]?
    /// After the answer, whose region and time it has.
    var state: Pacer.State
    /// Whether the answer was reported, rather than left out for being equal to the last.
    var isReported: Bool
    /// The region of the last report, of `Emission.stays` alone: of others it is that of the last answer.
    var lastReport: RegionID?
}

/// The bytes of a `PaceJournal`, whose comment specifies them.
enum PaceFormat {
    private static let magic = Array("HEREPACE".utf8)
    private static let version: UInt32 = 4
    /// That of states which do not say what was reported: any but stays.
    private static let versionBefore: UInt32 = 3
    private static let headerBytes = 56
    private static let frameBytes = 32
    static let leastRecordBytes = 8 + Pacer.State.byteCount
    private static let noKey = UInt32.max

    enum FrameKind: UInt32 {
        case answers = 1
        case staged, written
    }

    // MARK: Writing

    /// The header's first 32 bytes, which say what the journal is for.
    static func header(fingerprint: UInt64, interval: Duration, emission: Emission) -> [UInt8] {
        magic + little(version) + little(emission.number) + little(fingerprint)
            + little(Pacer.nanoseconds(in: interval))
    }

    /// A whole journal without frames.
    static func sealed(_ header: [UInt8], _ snapshot: [UInt8]) -> [UInt8] {
        let head = header + little(UInt64(snapshot.count)) + little(XXH64.hash(snapshot))
        return head + little(XXH64.hash(head)) + snapshot
    }

    static func frame(_ kind: FrameKind, _ content: [UInt8]) -> [UInt8] {
        let head =
            little(kind.rawValue) + little(UInt32(0)) + little(UInt64(content.count))
            + little(XXH64.hash(content))
        return head + little(XXH64.hash(head)) + content
    }

    /// The content of a staged frame before its records.
    static func staged(_ file: StagedFile) -> [UInt8] {
        let (path, destination) = (Array(file.path.utf8), Array(file.destination.utf8))
        return little(file.identity.device) + little(file.identity.inode) + little(UInt32(path.count))
            + little(UInt32(destination.count)) + path + destination
    }

    static func record(_ record: PaceRecord) -> [UInt8] {
        var flags: UInt32 = record.isReported ? reportedFlag : 0, region: [UInt8] = []
        if let last = record.lastReport {
            flags |= last == record.state.region ? sameFlag : otherFlag
            if last != record.state.region { region = little(last.cell.rawValue) }
        }
        return little(record.key.map { UInt32($0.count) } ?? noKey) + little(flags) + record.state.bytes + region
            + (record.key ?? [])
    }

    /// Flags of a record: its answer was reported; the last report is of the answer's region; it is of another.
    private static let reportedFlag: UInt32 = 1, sameFlag: UInt32 = 2, otherFlag: UInt32 = 4

    private static func little(_ value: some FixedWidthInteger) -> [UInt8] {
        (0..<value.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

    // MARK: Reading

    /// What a journal says.
    struct Content {
        /// Answers that came out, in order.
        var confirmed: [PaceRecord] = []
        /// Answers after those that may have come out.
        var unconfirmed: [PaceRecord] = []
        /// Outputs that were never published, with answers that are in neither list.
        var dropped: [StagedFile] = []
        /// Outputs that are gone, whose answers count as confirmed.
        var missing: [StagedFile] = []
        var hasFrames = false
    }

    /// Whether a whole header names another atlas than one that is expected.
    static func isOfOtherAtlas(_ bytes: [UInt8], than header: [UInt8]) -> Bool {
        bytes.count >= headerBytes && bytes[16..<24] != header[16..<24]
    }

    /// - Parameter header: what the first 32 bytes are to be.
    static func read(_ bytes: [UInt8], expecting header: [UInt8]) throws(TraceError.StateProblem) -> Content {
        guard !bytes.isEmpty else { throw .empty }
        guard magic.starts(with: bytes.prefix(magic.count)) else { throw .notAState }
        guard bytes.count >= 12 else { throw .damaged }
        let isBefore = bytes[8..<12].elementsEqual(little(versionBefore))
        guard isBefore || bytes[8..<12].elementsEqual(little(version)) else { throw .version }
        guard bytes.count >= headerBytes, Array(bytes[48..<56]) == little(XXH64.hash(Array(bytes[..<48]))) else {
            throw .damaged
        }
        guard bytes[16..<24] == header[16..<24] else { throw .otherAtlas }
        guard bytes[24..<32] == header[24...] else { throw .otherInterval }
        if isBefore, bytes[12..<16].contains(where: { $0 != 0 }) { throw .damaged }
        let isSame =
            isBefore ? header[12..<16] != little(Emission.stays.number)[...] : bytes[12..<16] == header[12..<16]
        guard isSame else { throw .otherEmission }
        var sizes = Reader(bytes[32..<48]), reader = Reader(bytes[headerBytes...])
        let snapshot = try reader.take(try sizes.length(UInt64.self))
        guard try sizes.integer(UInt64.self) == XXH64.hash(Array(snapshot)) else { throw .damaged }
        var content = Content()
        content.confirmed = try records(snapshot)
        content.hasFrames = !reader.rest.isEmpty
        while let frame = try frame(&reader) { try take(frame, into: &content) }
        return content
    }

    private typealias Frame = (kind: FrameKind, content: ArraySlice<UInt8>)

    /// The next frame; nil where there is none, or the file breaks off in it.
    private static func frame(_ reader: inout Reader) throws(TraceError.StateProblem) -> Frame? {
        guard reader.rest.count >= frameBytes else { return nil }
        let head = try reader.take(frameBytes - 8)
        guard try reader.integer(UInt64.self) == XXH64.hash(Array(head)) else { throw .damaged }
        var fields = Reader(head)
        guard let kind = FrameKind(rawValue: try fields.integer(UInt32.self)), try fields.integer(UInt32.self) == 0
        else { throw .damaged }
        let length = try fields.length(UInt64.self)
        guard reader.rest.count >= length else { return nil }
        let content = try reader.take(length)
        guard try fields.integer(UInt64.self) == XXH64.hash(Array(content)) else { throw .damaged }
        return (kind, content)
    }

    private static func take(_ frame: Frame, into content: inout Content) throws(TraceError.StateProblem) {
        switch frame.kind {
        case .answers:
            content.confirmed += content.unconfirmed
            content.unconfirmed = try records(frame.content)
        case .written:
            content.confirmed += content.unconfirmed
            content.unconfirmed = []
        case .staged:
            let (file, answers) = try stagedFile(frame.content)
            if file.isThere { return content.dropped.append(file) }
            if !file.isPublished { content.missing.append(file) }
            content.confirmed += content.unconfirmed + (try records(answers))
            content.unconfirmed = []
        }
    }

    private static func records(_ bytes: ArraySlice<UInt8>) throws(TraceError.StateProblem) -> [PaceRecord] {
        var reader = Reader(bytes)
        var records: [PaceRecord] = []
        while !reader.rest.isEmpty {
            let length = try reader.integer(UInt32.self), flags = try reader.integer(UInt32.self)
            let isSame = flags & sameFlag != 0, isOther = flags & otherFlag != 0
            guard let state = try? Pacer.State(bytes: try reader.take(Pacer.State.byteCount)),
                flags <= reportedFlag | sameFlag | otherFlag, !(isSame && isOther)
            else { throw .damaged }
            let lastReport = isOther ? try region(try reader.integer(UInt64.self)) : isSame ? state.region : nil
            let key = length == noKey ? nil : Array(try reader.take(Int(length)))
            records.append(
                PaceRecord(key: key, state: state, isReported: flags & reportedFlag != 0, lastReport: lastReport))
        }
        return records
    }

    private static func region(_ bits: UInt64) throws(TraceError.StateProblem) -> RegionID {
        let cell = CellID(rawValue: bits)
        guard cell.isValid, cell.level == RegionID.level else { throw .damaged }
        return RegionID(cell: cell)
    }

    private static func stagedFile(
        _ bytes: ArraySlice<UInt8>
    ) throws(TraceError.StateProblem) -> (file: StagedFile, answers: ArraySlice<UInt8>) {
        var reader = Reader(bytes)
        let identity = FileIdentity(
            device: try reader.integer(UInt64.self), inode: try reader.integer(UInt64.self))
        let lengths = (try reader.length(UInt32.self), try reader.length(UInt32.self))
        let path = String(decoding: try reader.take(lengths.0), as: UTF8.self)
        let destination = String(decoding: try reader.take(lengths.1), as: UTF8.self)
        return (StagedFile(path: path, destination: destination, identity: identity), reader.rest)
    }

    /// Takes numbers and bytes off the front; what is not there is damage.
    private struct Reader {
        private(set) var rest: ArraySlice<UInt8>

        init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

        mutating func take(_ count: Int) throws(TraceError.StateProblem) -> ArraySlice<UInt8> {
            guard count <= rest.count else { throw .damaged }
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }

        mutating func integer<Number: FixedWidthInteger>(_: Number.Type) throws(TraceError.StateProblem) -> Number {
            try take(Number.bitWidth / 8).reversed().reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
        }

        mutating func length<Number: FixedWidthInteger>(_ type: Number.Type) throws(TraceError.StateProblem) -> Int {
            guard let length = Int(exactly: try integer(type)) else { throw .damaged }
            return length
        }
    }
}

extension Emission {
    /// As a header has it.
    fileprivate var number: UInt32 {
        switch self {
        case .changes: 0
        case .recomputations: 1
        case .fixes: 2
        case .stays: 3
        }
    }
}
