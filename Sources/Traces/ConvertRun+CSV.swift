import Hereabouts

extension ConvertRun {
    mutating func convertCSV(_ reader: inout BlockReader, to output: borrowing OutputFile) throws(TraceError) {
        let file = reader.label
        let start = try CSVStart(&reader, options: options.csv)
        let columns = try FixColumns(start, options: options, file: file)
        try setKeyed(columns.key != nil, name: columns.keyName, file: file)
        if let notice = columns.dropped { observer.notice(notice) }
        let before = (records: summary.records, devices: reducer.deviceCount)
        let single = columns.key == nil ? addDevice(key: nil) : nil
        reportUnconfirmed(single: single)
        let (hash, chunkBytes) = (keys.hash, options.chunkBytes)
        var line = start.firstRecordLine
        try runLanes(threads: options.threads, stop: stop) {
            TableLane(columns, hash: hash, chunkBytes: chunkBytes)
        } take: { lane in
            lane.input.takeRecords(from: &reader)
        } work: { lane in
            lane.read()
        } settle: { (lane) throws(TraceError) in
            try settle(lane, single: single, line: &line, file: file)
            try flush(bytesRead: lane.input.bytesRead, to: output)
        }
        let records = summary.records - before.records
        if columns.key != nil, records >= 20, reducer.deviceCount - before.devices == records {
            observer.notice(.everyRecordItsOwnDevice(file: file))
        }
    }

    /// Paces the records of a lane's block, which starts at `line`, and moves `line` behind it.
    private mutating func settle(
        _ lane: borrowing TableLane, single: Int?, line: inout Int, file: String
    ) throws(TraceError) {
        if let failure = lane.input.failure { throw failure.at(line: line) }
        if lane.input.isAtEnd { return }
        let first = line
        let bytes = unsafe lane.input.block.bytes
        var problems = lane.problems.makeIterator()
        for fix in lane.fixes {
            summary.records += 1
            let reason = fix.isBad ? problems.next() : nil
            if let reason, reason.isOfShape {
                try refuse(reason, file: file, line: first + fix.line, device: single)
                continue
            }
            // SAFETY: the key lies within the block.
            let key = unsafe UnsafeBufferPointer(rebasing: bytes[fix.key])
            let device = unsafe single ?? self.device(of: key, hash: fix.keyHash)
            if let reason {
                try refuse(reason, file: file, line: first + fix.line, device: device)
                continue
            }
            let written = reducer.writer.written
            let outcome = reducer.take(
                fix.coordinate, at: fix.time, horizontalAccuracy: fix.horizontalAccuracy, of: device, to: &out)
            if case .taken(let recomputed) = outcome {
                if recomputed && journal != nil {
                    note(
                        device, key: single == nil ? unsafe Self.content(of: key) : nil,
                        isReported: reducer.writer.written > written)
                }
                continue
            }
            try settle(outcome, file: file, line: first + fix.line, device: device)
        }
        if let overlong = lane.overlongLine { throw .recordTooLong(file: file, line: first + overlong) }
        line += lane.lines
    }

    /// The device with this key, made when its first record comes.
    @inline(__always)
    private mutating func device(of key: UnsafeBufferPointer<UInt8>, hash: UInt64) -> Int {
        if unsafe key.first == UInt8(ascii: "\"") { return unsafe quotedDevice(key) }
        return unsafe device(ofContent: key, hash: hash)
    }

    /// A key without the quotes it may stand in.
    private static func content(of field: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        unsafe field.first == UInt8(ascii: "\"") ? unquoted(field) : Array(field)
    }

    @inline(never)
    private mutating func quotedDevice(_ field: UnsafeBufferPointer<UInt8>) -> Int {
        unsafe unquoted(field).withUnsafeBufferPointer { unsafe device(ofContent: $0) }
    }

    /// The device with this key, quotes taken off.
    private mutating func device(ofContent key: UnsafeBufferPointer<UInt8>) -> Int {
        unsafe device(ofContent: key, hash: keys.hash(key))
    }

    @inline(__always)
    private mutating func device(ofContent key: UnsafeBufferPointer<UInt8>, hash: UInt64) -> Int {
        let found = unsafe keys.number(of: key, hash: hash)
        if found.isNew { keyedDevices.append(addDevice(key: unsafe Array(key))) }
        return keyedDevices[found.number]
    }

    /// Adds a device, which goes on at the pace it had in the run before.
    private mutating func addDevice(key: [UInt8]?) -> Int {
        let device = reducer.addDevice(key: key, kind: .track)
        if let state = journal?.state(of: key) { reducer.restore(state, as: device) }
        return device
    }

    /// Notes in the journal that a device was answered.
    @inline(never)
    private mutating func note(_ device: Int, key: [UInt8]?, isReported: Bool) {
        guard let state = reducer.state(of: device) else { return }
        journal?.note(PaceRecord(key: key, state: state, isReported: isReported), isStaged: isStaged)
    }

    /// Reports again what the run before noted and may not have got out, in the same words.
    private mutating func reportUnconfirmed(single: Int?) {
        for record in journal?.takeUnconfirmed() ?? [] {
            let device =
                if let key = record.key {
                    unsafe key.withUnsafeBufferPointer { unsafe self.device(ofContent: $0) }
                } else {
                    single ?? addDevice(key: nil)
                }
            if record.isReported { reducer.report(record.state, of: device, to: &out) }
            reducer.restore(record.state, as: device)
            journal?.note(record, isStaged: isStaged)
        }
    }
}

/// A record of a table as a lane read it.
struct TableFix {
    var coordinate: Coordinate
    var time: Timestamp?
    var horizontalAccuracy: Double?
    /// Where in the block the device's key stands, quotes included.
    var key: Range<Int>
    var keyHash: UInt64
    /// From 0 at the block's start.
    var line: Int
    /// Whether the next of the lane's problems is this record's.
    var isBad: Bool
}

/// What one thread works with: a block of records, and what it reads from it. Only pacing is left to be done in order.
struct TableLane: ~Copyable {
    var input: LaneInput
    private var parser: FixParser
    private let hash: KeyHash
    private(set) var fixes: [TableFix] = []
    private(set) var problems: [RecordProblem.Reason] = []
    /// Lines of the block.
    private(set) var lines = 0
    /// The line of a record that is too long to go on after, from 0 at the block's start.
    private(set) var overlongLine: Int?

    init(_ columns: FixColumns, hash: KeyHash, chunkBytes: Int) {
        input = LaneInput(chunkBytes: chunkBytes)
        parser = FixParser(columns)
        self.hash = hash
    }

    /// Reads the block's records.
    mutating func read() {
        fixes.removeAll(keepingCapacity: true)
        problems.removeAll(keepingCapacity: true)
        lines = 0
        overlongLine = nil
        let bytes = unsafe input.block.bytes
        guard let base = bytes.baseAddress else { return }
        unsafe parser.begin(bytes)
        var at = 0
        while at < bytes.count {
            // SAFETY: `at` is below the count, and the block is as `BlockReader` makes them.
            let row = unsafe parser.row(base, at: at, count: bytes.count)
            if row.end - at > CSVLayout.maximumRecordBytes {
                overlongLine = lines
                return
            }
            at = row.end
            if !row.isEmpty { unsafe append(row, base) }
            lines += row.lines
        }
    }

    @inline(__always)
    private mutating func append(_ row: Row, _ base: UnsafePointer<UInt8>) {
        var fix = TableFix(
            coordinate: Coordinate(latitude: row.latitude, longitude: row.longitude), key: 0..<0, keyHash: 0,
            line: lines, isBad: row.problem != nil)
        var problem = row.problem
        if problem?.isOfShape != true {
            // SAFETY: the record has the header's shape, so its fields are where the parser says.
            let key = unsafe parser.key(base)
            let start = unsafe key.baseAddress! - base
            fix.key = start..<start + key.count
            fix.keyHash = unsafe hash(key)
            if let time = unsafe parser.time(base) { fix.time = time } else { problem = problem ?? .timeUnreadable }
            fix.horizontalAccuracy = unsafe parser.horizontalAccuracy(base)
        }
        if let problem {
            fix.isBad = true
            problems.append(problem)
        }
        fixes.append(fix)
    }
}
