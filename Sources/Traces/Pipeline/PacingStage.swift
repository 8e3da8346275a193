import Hereabouts

/// The pacing stage of the pipeline: all devices of a run, their pacers and the journal that carries these from run to run
/// have this one owner. It turns fixes into reports, few and steady, and hands them to the output's sink.
struct PacingStage: PipelineStage, ~Copyable {
    private let atlas: Atlas
    private let options: ConvertRun.Options
    private let observer: RunObserver
    private var output: OutputFile
    /// Whether the output appears when the run is done, and not before.
    private let isStaged: Bool
    private var journal: PaceJournal?
    private var keys = DeviceKeys()
    /// Devices of the keys in `keys`, by their number there.
    private var keyedDevices: [Int] = []
    /// Whether the inputs' devices have keys; nil before the first input.
    private var isKeyed: Bool?
    private var hasReportedUntimed = false
    var devices: PacedDevices
    var out: ByteBuffer
    private(set) var summary = RunSummary()

    // Of the current input.
    private var single: Int?
    var tracks = InputTracks()
    private var before = (records: 0, devices: 0)

    init(
        _ output: consuming OutputFile, atlas: Atlas, options: ConvertRun.Options, journal: consuming PaceJournal?,
        observer: RunObserver
    ) {
        guard let makeSink = options.format.makeSink else { preconditionFailure("a format that can be written") }
        self.atlas = atlas
        self.options = options
        self.observer = observer
        self.journal = journal
        isStaged = !output.isImmediate
        self.output = output
        devices = PacedDevices(
            atlas: atlas, sink: makeSink(atlas), interval: options.interval, emission: options.emission)
        out = ByteBuffer(capacity: 2 * options.readBytes)
    }

    // MARK: Inputs

    mutating func open(_ reader: consuming InputReader) throws(TraceError) -> any TraceInput {
        let input = try TraceFormat.open(reader, options: options)
        try begin(input)
        return input
    }

    private mutating func begin(_ input: any TraceInput) throws(TraceError) {
        hasReportedUntimed = false
        (tracks, single) = (InputTracks(), nil)
        switch input.identity {
        case .keyed(let name): try setKeyed(true, name: name, file: input.file)
        case .single: try setKeyed(false, name: nil, file: input.file)
        case .tracks:
            if options.state != nil { throw .stateNeedsTable(file: input.file) }
            try setKeyed(false, name: nil, file: input.file)
        }
        if let notice = input.dropped { observer.notice(notice) }
        before = (summary.records, devices.count)
        if case .single = input.identity { single = add(key: nil) }
        reportUnconfirmed()
    }

    /// Whether this input's devices have keys must be as for the inputs before it.
    private mutating func setKeyed(_ keyed: Bool, name: String?, file: String) throws(TraceError) {
        if let isKeyed {
            if options.state != nil && !keyed { throw .stateNeedsTable(file: file) }
            guard isKeyed == keyed else { throw .mixedKeys(file: file) }
            return
        }
        isKeyed = keyed
        if let name { devices.sink.setKeyName(Array(name.utf8)) }
    }

    mutating func close(_ input: any TraceInput) throws(TraceError) {
        switch input.identity {
        case .tracks:
            try takeHeld(file: input.file)
            try flush()
        case .keyed:
            let records = summary.records - before.records
            if records >= 20, devices.count - before.devices == records {
                observer.notice(.everyRecordItsOwnDevice(file: input.file))
            }
        case .single: break
        }
    }

    // MARK: Pieces

    func workerFactory(for input: any TraceInput) -> () -> Worker {
        let hash = keys.hash
        return { Worker(reader: input.makeReader(hash: hash)) }
    }

    /// Reads a piece's records, where the input has not.
    final class Worker: PieceWorker {
        private let reader: (any RecordReader)?

        init(reader: (any RecordReader)?) { self.reader = reader }

        func process(_ piece: inout Piece) {
            guard let reader else { return }
            reader.begin(piece.buffer)
            while reader.read(piece.buffer, into: &piece.batch, limit: .max) {}
        }
    }

    mutating func emit(
        _ piece: inout Piece, _ worker: Worker, from input: any TraceInput, firstLine: Int
    ) throws(TraceError) {
        let file = input.file, hasTracks = if case .tracks = input.identity { true } else { false }
        var nextProblem = 0
        for index in 0..<piece.batch.count {
            var problem: RecordProblem.Reason?
            if nextProblem < piece.batch.problems.count, piece.batch.problems[nextProblem].index == index {
                problem = piece.batch.problems[nextProblem].reason
                nextProblem += 1
            }
            let line = firstLine + piece.batch.lines[index]
            summary.records += 1
            if hasTracks {
                try takeTrackFix(piece.batch, index, problem: problem, file: file, line: line)
            } else {
                try takeRecord(piece, index, problem: problem, file: file, line: line)
            }
        }
        if let overlong = piece.batch.overlongLine {
            throw .recordTooLong(file: file, line: firstLine + overlong)
        }
        if piece.failure == nil { try flush() }
    }

    /// Takes a record of a table.
    @inline(__always)
    private mutating func takeRecord(
        _ piece: borrowing Piece, _ index: Int, problem: RecordProblem.Reason?, file: String, line: Int
    ) throws(TraceError) {
        if let problem, problem.isOfShape {
            return try refuse(problem, file: file, line: line, device: single)
        }
        let key = single == nil ? unsafe piece.key(index) : nil
        let device = unsafe single ?? self.device(of: key!, hash: piece.batch.keys[index].hash)
        if let problem { return try refuse(problem, file: file, line: line, device: device) }
        let written = devices.written
        let accuracy = piece.batch.accuracies[index]
        let outcome = devices.take(
            piece.batch.positions[index], at: piece.batch.times[index],
            horizontalAccuracy: accuracy.isNaN ? nil : accuracy, of: device, to: &out)
        guard case .taken(let recomputed) = outcome else {
            return try finish(outcome, file: file, line: line, device: device)
        }
        if recomputed && journal != nil {
            note(
                device, key: unsafe key.map { unsafe Array($0) },
                isReported: devices.written > written)
        }
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
        case .blank: devices.writeBlank(device: device, to: &out)
        }
    }

    /// Reports what became of a fix.
    mutating func finish(
        _ outcome: PacedDevices.Outcome, file: String, line: Int, device: Int
    ) throws(TraceError) {
        switch outcome {
        case .taken: break
        case .takenUntimed:
            if !hasReportedUntimed { observer.notice(.untimed(file: file)) }
            hasReportedUntimed = true
        case .bad(let reason): try refuse(reason, file: file, line: line, device: device)
        }
    }

    // MARK: Devices

    /// The device with this key, made when its first record comes.
    @inline(__always)
    private mutating func device(of key: UnsafeBufferPointer<UInt8>, hash: UInt64) -> Int {
        let found = unsafe keys.number(of: key, hash: hash)
        if found.isNew { keyedDevices.append(add(key: unsafe Array(key))) }
        return keyedDevices[found.number]
    }

    /// Adds a device, which goes on at the pace it had in the run before.
    private mutating func add(key: [UInt8]?) -> Int {
        let device = devices.add(key: key, kind: .track)
        if let state = journal?.state(of: key) { devices.restore(state, as: device) }
        return device
    }

    // MARK: Journal

    /// Notes in the journal that a device was answered.
    @inline(never)
    private mutating func note(_ device: Int, key: [UInt8]?, isReported: Bool) {
        guard let state = devices.state(of: device) else { return }
        journal?.note(PaceRecord(key: key, state: state, isReported: isReported), isStaged: isStaged)
    }

    /// Reports again what the run before noted and may not have written, byte for byte.
    private mutating func reportUnconfirmed() {
        for record in journal?.takeUnconfirmed() ?? [] {
            let device =
                if let key = record.key {
                    unsafe key.withUnsafeBufferPointer { unsafe self.device(of: $0, hash: keys.hash($0)) }
                } else {
                    single ?? add(key: nil)
                }
            if record.isReported { devices.report(record.state, of: device, to: &out) }
            devices.restore(record.state, as: device)
            journal?.note(record, isStaged: isStaged)
        }
    }

    // MARK: Output

    /// Writes what there is to write.
    private mutating func flush() throws(TraceError) {
        try atlas.requireUnchanged()
        let isCommitted = isStaged || devices.sink.holdsReports ? false : try journal?.commit() ?? false
        if out.count > 0 { try output.write(&out) }
        if isCommitted { try journal?.confirm() }
    }

    /// Writes what is left, and publishes all that did not appear when it was written. Answers and paces become known
    /// together: see `PaceJournal`.
    mutating func finish() throws(TraceError) -> RunSummary {
        let isCommitted = isStaged ? false : try journal?.commit() ?? false
        try atlas.requireUnchanged()
        try devices.sink.finish(&out, to: output)
        if isCommitted { try journal?.confirm() }
        if journal != nil, let staged = try output.stage() {
            try publish(staged)
        } else {
            try output.publish()
        }
        if journal?.seal() == false { observer.notice(.stateNotSealed(file: options.state ?? "")) }
        summary.written = devices.written
        return summary
    }

    private mutating func publish(_ staged: StagedFile) throws(TraceError) {
        do throws(TraceError) {
            try journal?.stage(staged)
            try output.publish()
        } catch {
            // What nobody saw was not answered. If the journal cannot be written, the next run finds the file.
            if journal?.unstage() == true { output.unstage() }
            throw error
        }
    }
}
