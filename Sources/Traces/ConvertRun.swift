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
        /// The file that carries paces from run to run; nil where each run begins anew. For tables with device keys, or a
        /// single one without.
        package var state: String?
        /// The files besides the inputs that the state must not replace.
        package var usedFiles: [UsedFile] = []
        /// How many threads may work at once. Changes nothing but speed.
        package var threads = 1
        /// Bytes read at a time. Changes nothing but speed.
        package var chunkBytes = 1 << 18

        package init() {}
    }

    private let atlas: Atlas
    let options: Options
    let observer: RunObserver
    /// Whether the output appears when the run is done, and not before.
    private(set) var isStaged = false
    let stop = StopSign()
    var reducer: FixReducer
    var journal: PaceJournal?
    var keys = DeviceKeys()
    /// Devices of the keys in `keys`, by their number there.
    var keyedDevices: [Int] = []
    /// Whether the inputs' devices have keys; nil before the first input.
    private var isKeyed: Bool?
    var out: ByteBuffer
    var summary = RunSummary()
    private var finishedBytes = 0
    private var hasToldUntimed = false

    /// Reads all of `inputs` in order, writes their devices' reports to `output`, and publishes it. The observer is called on any of the threads, by one at a time, in order of the input.
    ///
    /// - Complexity: O(bytes). Memory is at most 4 MiB per thread and 20 MiB, some 200 bytes per device, 16 per report of
    ///   a GPX output, and for a GPX input 88 per waypoint and route point of a file and 24 per answer of its tracks.
    package static func run(
        _ inputs: [InputName], to output: consuming OutputFile, atlas: Atlas, options: Options, observer: RunObserver
    ) throws(TraceError) -> RunSummary {
        precondition(options.interval >= .seconds(1), "the interval is at least a second")
        precondition(
            options.onError != .blank || options.format == .csv && options.emission == .fixes,
            "only a table with a record per fix has blank records")
        var run = ConvertRun(atlas: atlas, options: options, observer: observer)
        if let state = options.state {
            try UsedFile.check(state, besides: inputs.map { UsedFile($0) } + options.usedFiles)
            run.journal = try .opened(
                at: state, fingerprint: atlas.fingerprint, interval: options.interval)
            for file in run.journal?.missing ?? [] { observer.notice(.outputMissing(file: file.destination)) }
        }
        run.isStaged = !output.isImmediate
        for input in inputs { try run.convert(ByteSource(input, stop: run.stop), to: output) }
        try run.finish(&output)
        run.summary.written = run.reducer.writer.written
        return run.summary
    }

    /// Writes what is left, and publishes all that did not appear when it was written. Answers and paces become known
    /// together: see `PaceJournal`.
    private mutating func finish(_ output: inout OutputFile) throws(TraceError) {
        let isCommitted = isStaged ? false : try journal?.commit() ?? false
        try atlas.requireUnchanged()
        try reducer.writer.finish(&out, to: output)
        if isCommitted { try journal?.confirm() }
        if journal != nil, let staged = try output.stage() {
            try publish(&output, staged)
        } else {
            try output.publish()
        }
        if journal?.seal() == false { observer.notice(.stateNotSealed(file: options.state ?? "")) }
    }

    private mutating func publish(_ output: inout OutputFile, _ staged: StagedFile) throws(TraceError) {
        do throws(TraceError) {
            try journal?.stage(staged)
            try output.publish()
        } catch {
            // What nobody saw was not answered. If the journal cannot be told, the next run finds the file.
            if journal?.unstage() == true { output.unstage() }
            throw error
        }
    }

    private init(atlas: Atlas, options: Options, observer: RunObserver) {
        self.atlas = atlas
        self.options = options
        self.observer = observer
        out = ByteBuffer(capacity: 2 * options.chunkBytes)
        reducer = FixReducer(
            atlas: atlas, format: options.format, interval: options.interval, emission: options.emission)
    }

    private mutating func convert(_ source: consuming ByteSource, to output: borrowing OutputFile) throws(TraceError) {
        var reader = BlockReader(source, chunkBytes: options.chunkBytes)
        hasToldUntimed = false
        let before = summary.records
        if try reader.startsLikeXML() {
            if options.state != nil { throw .stateNeedsTable(file: reader.label) }
            try convertGPX(&reader, to: output)
        } else {
            try convertCSV(&reader, to: output)
        }
        if summary.records == before { observer.notice(.noPoints(file: reader.label)) }
        finishedBytes += reader.bytesRead
    }

    /// Whether this file's devices have keys must be as for the files before it.
    mutating func setKeyed(_ keyed: Bool, name: String?, file: String) throws(TraceError) {
        if let isKeyed {
            if options.state != nil && !keyed { throw .stateNeedsTable(file: file) }
            guard isKeyed == keyed else { throw .mixedKeys(file: file) }
            return
        }
        isKeyed = keyed
        if let name { reducer.writer.setKeyName(name) }
    }

    /// Writes out what a lane gave, and tells how far the run is.
    mutating func flush(bytesRead: Int, to output: borrowing OutputFile) throws(TraceError) {
        try atlas.requireUnchanged()
        let isCommitted = isStaged || reducer.writer.holdsReports ? false : try journal?.commit() ?? false
        if out.count > 0 { try output.write(&out) }
        if isCommitted { try journal?.confirm() }
        observer.progress(finishedBytes + bytesRead)
    }

    /// Counts a bad record and does with it what the policy says.
    mutating func refuse(
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

    mutating func settle(
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
