import Hereabouts

/// `hereabouts convert`: traces in, paced reports out.
package struct ConvertRun: ~Copyable {
    /// What the command's options say.
    package struct Options: Sendable {
        /// How a CSV's position is found.
        package var csv = CSVOptions()
        /// The CSV column that tells devices apart, where it is not the usual one.
        package var keyColumn: String?
        /// The CSV column of the time, where it is not the usual one.
        package var timeColumn: String?
        /// What to write.
        package var format = ReportFormat.gpx
        /// The least time between two recomputations of a device; at least a second.
        package var interval = Duration.seconds(900)
        /// Which fixes give a report.
        package var emission = Emission.changes
        /// What happens to a bad record. `blank` only with CSV output and `Emission.fixes`.
        package var onError = ErrorPolicy.skip
        /// Bytes read at a time. Changes nothing but speed.
        package var chunkBytes = 1 << 18

        package init() {}
    }

    private let options: Options
    private let observer: RunObserver
    private var reducer: FixReducer
    private var keys = DeviceKeys()
    /// Devices of the keys in `keys`, by their number there.
    private var keyedDevices: [Int] = []
    /// Whether the inputs' devices have keys; nil before the first input.
    private var isKeyed: Bool?
    private var out: ByteBuffer
    private var summary = RunSummary()
    private var finishedBytes = 0
    private var hasToldUntimed = false

    /// Reads all of `inputs` in order and writes their devices' reports to `output`, which it does not finish.
    ///
    /// - Complexity: O(bytes). Memory is a few MiB, some 200 bytes per device and, for GPX output, 24 per report.
    package static func run(
        _ inputs: [InputName], to output: borrowing OutputFile, atlas: Atlas, options: Options, observer: RunObserver
    ) throws(TraceError) -> RunSummary {
        precondition(options.interval >= .seconds(1), "the interval is at least a second")
        precondition(
            options.onError != .blank || options.format == .csv && options.emission == .fixes,
            "only a table with a record per fix has blank records")
        var run = ConvertRun(atlas: atlas, options: options, observer: observer)
        for input in inputs { try run.convert(ByteSource(input), to: output) }
        try run.reducer.writer.finish(&run.out, to: output)
        run.summary.written = run.reducer.writer.written
        return run.summary
    }

    private init(atlas: Atlas, options: Options, observer: RunObserver) {
        self.options = options
        self.observer = observer
        out = ByteBuffer(capacity: 2 * options.chunkBytes)
        reducer = FixReducer(
            atlas: atlas, format: options.format, interval: options.interval, emission: options.emission)
    }

    private mutating func convert(_ source: consuming ByteSource, to output: borrowing OutputFile) throws(TraceError) {
        var reader = BlockReader(source, chunkBytes: options.chunkBytes)
        hasToldUntimed = false
        if try reader.startsLikeXML() {
            try convertGPX(&reader, to: output)
        } else {
            try convertCSV(&reader, to: output)
        }
        finishedBytes += reader.bytesRead
    }

    /// Whether this file's devices have keys must be as for the files before it.
    private mutating func setKeyed(_ keyed: Bool, name: String?, file: String) throws(TraceError) {
        if let isKeyed {
            guard isKeyed == keyed else { throw .mixedKeys(file: file) }
            return
        }
        isKeyed = keyed
        if let name { reducer.writer.setKeyName(name) }
    }

    /// Writes out what a chunk gave, and tells how far the run is.
    private mutating func flush(_ reader: borrowing BlockReader, to output: borrowing OutputFile) throws(TraceError) {
        if out.count > 0 { try output.write(&out) }
        observer.progress(finishedBytes + reader.bytesRead)
    }

    /// Counts a bad record and does with it what the policy says.
    private mutating func refuse(
        _ reason: RecordProblem.Reason, file: String, line: Int, device: Int?
    ) throws(TraceError) {
        summary.badRecords += 1
        observer.problem(file, RecordProblem(line: line, reason: reason))
        switch options.onError {
        case .stop: throw .stopped
        case .skip: break
        case .blank: reducer.writer.writeBlank(device: device, to: &out)
        }
    }

    private mutating func settle(
        _ outcome: FixReducer.Outcome, file: String, line: Int, device: Int
    ) throws(TraceError) {
        switch outcome {
        case .taken: break
        case .takenUntimed:
            if !hasToldUntimed { observer.notice(.untimed(file: file)) }
            hasToldUntimed = true
        case .bad(let reason): try refuse(reason, file: file, line: line, device: device)
        }
    }
}

// MARK: GPX

/// The devices of one file's tracks (and of its waypoints, track 0), each made when its first point comes.
private struct TrackDevices {
    private var devices: [Int: Int] = [:]
    private var last = (track: -1, device: -1)

    mutating func device(of track: Int, make: () -> Int) -> Int {
        if track == last.track { return last.device }
        let device = devices[track] ?? make()
        devices[track] = device
        last = (track, device)
        return device
    }
}

extension ConvertRun {
    private mutating func convertGPX(
        _ reader: inout BlockReader, to output: borrowing OutputFile
    ) throws(TraceError) {
        let file = reader.label
        var gpx = GPXReader(file: file)
        var devices = TrackDevices()
        try setKeyed(false, name: nil, file: file)
        while let bytes = unsafe try reader.nextBytes() {
            unsafe try gpx.parse(bytes)
            for fix in gpx.fixes { try take(fix, devices: &devices, file: file) }
            gpx.forgetFixes()
            try flush(reader, to: output)
        }
        try gpx.finish()
        for fix in gpx.fixes { try take(fix, devices: &devices, file: file) }
        try flush(reader, to: output)
    }

    private mutating func take(_ fix: GPXFix, devices: inout TrackDevices, file: String) throws(TraceError) {
        summary.records += 1
        let device = devices.device(of: fix.track) { reducer.addDevice(key: nil, kind: fix.kind) }
        if let problem = fix.problem { return try refuse(problem, file: file, line: fix.line, device: device) }
        let outcome = reducer.take(
            fix.coordinate, at: fix.time, horizontalAccuracy: fix.horizontalAccuracy, of: device, to: &out)
        try settle(outcome, file: file, line: fix.line, device: device)
    }
}

// MARK: CSV

extension ConvertRun {
    private mutating func convertCSV(
        _ reader: inout BlockReader, to output: borrowing OutputFile
    ) throws(TraceError) {
        let file = reader.label
        let start = try CSVStart(&reader, options: options.csv)
        let columns = try FixColumns(start, options: options, file: file)
        try setKeyed(columns.key != nil, name: columns.keyName, file: file)
        if !columns.droppedNames.isEmpty {
            observer.notice(.droppedColumns(file: file, names: columns.droppedNames))
        }
        let before = (records: summary.records, devices: reducer.deviceCount)
        let single = columns.key == nil ? reducer.addDevice(key: nil, kind: .track) : nil
        let parser = FixParser(columns)
        var line = 1
        var isHeader = start.header != nil
        while var block = unsafe try reader.next(line: line) {
            if isHeader {
                isHeader = false
                line += 1
                unsafe block = afterFirstLine(block)
            }
            line = unsafe try take(block, parser: parser, single: single, line: line, file: file)
            try flush(reader, to: output)
        }
        let records = summary.records - before.records
        if columns.key != nil, records >= 20, reducer.deviceCount - before.devices == records {
            observer.notice(.everyRecordItsOwnDevice(file: file))
        }
    }

    /// Takes the records of a block; returns the line after it.
    private mutating func take(
        _ block: UnsafeBufferPointer<UInt8>, parser: borrowing FixParser, single: Int?, line firstLine: Int,
        file: String
    ) throws(TraceError) -> Int {
        guard let base = block.baseAddress else { return firstLine }
        var line = firstLine
        var at = 0
        while at < block.count {
            // SAFETY: `at` is below the count, and the block is as `BlockReader` makes them.
            let row = unsafe parser.row(base, at: at, count: block.count)
            if row.end - at > CSVLayout.maximumRecordBytes { throw .recordTooLong(file: file, line: line) }
            at = row.end
            if !row.isEmpty { unsafe try take(row, base, parser: parser, single: single, line: line, file: file) }
            line += row.lines
        }
        return line
    }

    @inline(__always)
    private mutating func take(
        _ row: Row, _ base: UnsafePointer<UInt8>, parser: borrowing FixParser, single: Int?, line: Int, file: String
    ) throws(TraceError) {
        summary.records += 1
        if let problem = row.problem, problem.isOfShape {
            return try refuse(problem, file: file, line: line, device: single)
        }
        let device = unsafe single ?? self.device(of: parser.key(base))
        if let problem = row.problem { return try refuse(problem, file: file, line: line, device: device) }
        guard let time = unsafe parser.time(base) else {
            return try refuse(.timeUnreadable, file: file, line: line, device: device)
        }
        let outcome = unsafe reducer.take(
            Coordinate(latitude: row.latitude, longitude: row.longitude), at: time,
            horizontalAccuracy: parser.horizontalAccuracy(base), of: device, to: &out)
        if case .taken = outcome { return }
        try settle(outcome, file: file, line: line, device: device)
    }

    /// The device with this key, made when its first record comes.
    private mutating func device(of field: UnsafeBufferPointer<UInt8>) -> Int {
        let found: (number: Int, isNew: Bool)
        if unsafe field.first == UInt8(ascii: "\"") {
            let key = unsafe unquoted(field)
            found = unsafe key.withUnsafeBufferPointer { unsafe keys.number(of: $0) }
            if found.isNew { keyedDevices.append(reducer.addDevice(key: key, kind: .track)) }
        } else {
            found = unsafe keys.number(of: field)
            if found.isNew { keyedDevices.append(unsafe reducer.addDevice(key: Array(field), kind: .track)) }
        }
        return keyedDevices[found.number]
    }
}
