import Hereabouts

/// An input of fixes as a table for `snap`, whatever its format: each fix is a record of its key, or the number of its
/// track, and its time, and the members that the input keeps.
final class FixRows: TableInput {
    private let input: any TraceInput
    private let memberCount: Int
    /// How many tracks the inputs before this one have.
    var tracksBefore = 0
    /// The numbers of the input's tracks, from 1 in order of their first record, and the track found last.
    private var numbers: [UInt32: UInt32] = [:]
    private var last: (track: UInt32, number: UInt32)?
    /// How many tracks the input has so far.
    var trackCount: Int { max(numbers.count, 1) }

    let keptFields: [KeptField]
    let keptForm = FieldForm.json
    let deviceField: Int?
    let timeStyle = TimeStyle(format: .iso)

    var file: String { input.file }
    var identity: DeviceIdentity { input.identity }
    var firstLine: Int { input.firstLine }
    var isTimed: Bool { input.isTimed }
    var notices: [Notice] { input.notices }
    var bytesRead: Int { input.bytesRead }
    var usedOptions: InputOptions { input.usedOptions }
    var reference: CoordinateReference? { input.reference }
    var mayHaveReference: Bool { input.mayHaveReference }

    /// - Parameter members: the fields that the input adds to a batch's `members`.
    init(_ input: any TraceInput, members: [KeptField] = []) {
        self.input = input
        memberCount = members.count
        var label = KeptField(name: "track")
        if case .keyed(let name) = input.identity { label = KeptField(name: name, content: .key) }
        deviceField = input.identity.isKeyed ? 0 : nil
        keptFields = [label, KeptField(name: "time", content: .time)] + members
    }

    func next(_ buffer: inout InputBuffer, _ batch: inout FixBatch) throws(TraceError) -> Bool {
        // What was read before a failure counts.
        defer {
            for index in 0..<batch.tracks.count {
                batch.tracks[index].number = number(ofTrack: batch.tracks[index].number)
            }
            makeRows(buffer, &batch)
        }
        return try input.next(&buffer, &batch)
    }

    private func number(ofTrack track: UInt32) -> UInt32 {
        if let last, last.track == track { return last.number }
        let number = numbers[track] ?? UInt32(numbers.count) + 1
        numbers[track] = number
        last = (track, number)
        return number
    }

    func makeReader(hash: KeyHash) -> (any RecordReader)? {
        guard let reader = input.makeReader(hash: hash) else { return nil }
        return Reader(reader, rows: self)
    }

    /// Reads the records of an input of any order, and makes rows of them.
    private final class Reader: RecordReader {
        private let reader: any RecordReader
        private let rows: FixRows

        init(_ reader: any RecordReader, rows: FixRows) { (self.reader, self.rows) = (reader, rows) }

        func begin(_ buffer: borrowing InputBuffer) { reader.begin(buffer) }

        func read(_ buffer: borrowing InputBuffer, into batch: inout FixBatch, limit: Int) -> Bool {
            guard reader.read(buffer, into: &batch, limit: limit) else { return false }
            rows.makeRows(buffer, &batch)
            return true
        }
    }

    /// Makes rows of a batch's fixes.
    private func makeRows(_ buffer: borrowing InputBuffer, _ batch: inout FixBatch) {
        batch.refuseProblems()
        batch.rows.removeAll()
        let stride = 2 * keptFields.count, isKeyed = identity.isKeyed
        for index in 0..<batch.count {
            var start = batch.text.count
            if isKeyed {
                let key = unsafe batch.key(index, in: buffer)
                if key.count > 0 { unsafe batch.text.append(json: key) }
            } else {
                let track = batch.tracks.count > 0 ? Int(batch.tracks[index].number) : 1
                batch.text.append(decimal: tracksBefore + track)
            }
            batch.appendRowField(from: start)
            start = batch.text.count
            if batch.times.count > 0, let time = batch.times[index] {
                batch.text.append(UInt8(ascii: "\""))
                time.append(to: &batch.text)
                batch.text.append(UInt8(ascii: "\""))
            }
            batch.appendRowField(from: start)
            for member in 0..<memberCount {
                let span = batch.members[index * memberCount + member]
                batch.rows.append(span.start &- 1)
                batch.rows.append(span.end)
            }
        }
        guard batch.count > 0 else { return }
        batch.text.reserve(ByteBuffer.shortStep)
        // SAFETY: used until the batch is emptied.
        let table = unsafe FieldTable(entries: UnsafePointer(batch.rows.elements.baseAddress!), stride: stride)
        batch.kept = KeptFields(
            table: table, entries: keptFields.indices.map { 2 * $0 }, isVerbatim: false, isContiguous: false,
            isInText: true)
    }
}

extension FixBatch {
    /// Appends a field of a row, the end of `text`.
    @inline(__always)
    fileprivate mutating func appendRowField(from start: Int) {
        rows.append(UInt32(truncatingIfNeeded: start) &- 1)
        rows.append(UInt32(truncatingIfNeeded: text.count))
    }

    /// Gives bad records no position, and takes those that merely lack a time for good ones: nothing is paced here.
    mutating func refuseProblems() {
        problems.removeAll { problem in problem.reason == .timeMissing && !positions[problem.index].latitude.isNaN }
        for problem in problems { positions[problem.index].latitude = .nan }
    }
}
