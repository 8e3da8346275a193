import Hereabouts

/// What a run needs of one file's fixes: of each device and interval the newest.
struct FileFixes {
    /// A track of the file, or a device with a key.
    struct Track {
        var kind: ReportKind
        /// Among the file's persons.
        var person: Int
        /// Nil of a device without a key.
        var key: [UInt8]?
    }

    /// One for all tracks, one for each, or one for each key.
    var persons: [Person] = []
    /// Where every fix has one.
    let records = FixRecords()
    var tracks: [Track] = []
    /// The name of the column or member of device keys; nil where there is none.
    var keyName: String?
    /// Points without a time.
    var untimed: [PersonInputs.Untimed] = []
    /// Whether the file's records may have times.
    var isTimed = true
    var summary = RunSummary()
    /// The options for how inputs are read that it used; nil of a file that could not be opened.
    var usedOptions: InputOptions?
    var keyCandidates: [KeyCandidate] = []
}

/// Reads one file of a folder into its fixes.
struct FileFixesStage: PipelineStage, ~Copyable {
    typealias Worker = PacingStage.Worker

    private let options: ConvertRun.Options
    private let observer: RunObserver
    private var file = ""
    private(set) var fixes = FileFixes()
    private var keys = DeviceKeys()
    /// The tracks by their number in the input.
    private var numbers: [UInt32: Int] = [:]
    private var last: (number: UInt32, track: Int)?
    /// Of the tracks, where these are devices with keys.
    private var steps = DeviceSteps()
    /// The track of records whose device is not known.
    private var unknown: Int?

    var summary: RunSummary { fixes.summary }

    init(options: ConvertRun.Options, observer: RunObserver) {
        self.options = options
        self.observer = observer
    }

    mutating func open(_ reader: consuming InputReader) throws(TraceError) -> any TraceInput {
        let input = try TraceFormat.open(reader, options: options)
        try input.requireReference(options.csv.reference)
        if case .keyed(let name) = input.identity, !options.isOneDevice { fixes.keyName = name }
        (fixes.isTimed, fixes.usedOptions) = (input.isTimed, input.usedOptions)
        file = input.file
        for notice in input.notices { observer.notice(notice) }
        if let refusal = input.refusal { throw refusal }
        return input
    }

    func workerFactory(for input: any TraceInput) -> () -> Worker {
        let hash = keys.hash, options = options
        return { Worker(input, hash: hash, options: options) }
    }

    mutating func emit(
        _ piece: inout Piece, _ worker: Worker, from input: any TraceInput, firstLine: Int
    ) throws(TraceError) {
        options.withheld.look(at: piece.batch, 0..<piece.batch.count)
        var nextProblem = 0
        for index in 0..<piece.batch.count {
            var problem: RecordProblem.Reason?
            if nextProblem < piece.batch.problems.count, piece.batch.problems[nextProblem].index == index {
                problem = piece.batch.problems[nextProblem].reason
                nextProblem += 1
            }
            try take(piece, index, problem: problem, line: firstLine + piece.batch.lines[index])
        }
        if let overlong = piece.batch.overlongLine {
            throw .recordTooLong(file: input.file, line: firstLine + overlong)
        }
        if let broken = piece.batch.brokenLine {
            throw .malformedJSON(file: input.file, line: firstLine + broken)
        }
    }

    mutating func close(_ input: any TraceInput) throws(TraceError) {
        fixes.keyCandidates = input.keyCandidates
        if input.isOnFoot, options.isFastForWalkers { observer.notice(.onFoot(file: file)) }
        if fixes.keyName != nil, fixes.summary.records > FirstFixes.most, !options.acceptsJumps, steps.areDoubtful {
            fixes.summary.jumps = steps.jumps
        }
    }

    @inline(__always)
    private mutating func take(
        _ piece: borrowing Piece, _ index: Int, problem: RecordProblem.Reason?, line: Int
    ) throws(TraceError) {
        fixes.summary.records += 1
        let track = self.track(of: piece, index, problem)
        if let problem { return try refuse(problem, line: line, track: track) }
        let coordinate = piece.batch.positions[index], accuracy = piece.batch.horizontalAccuracy(index)
        guard let time = piece.batch.times[index] else {
            if fixes.keyName != nil && fixes.isTimed { return try refuse(.timeMissing, line: line, track: track) }
            fixes.untimed.append(
                PersonInputs.Untimed(
                    file: "", line: line, track: UInt32(track), coordinate: coordinate, horizontalAccuracy: accuracy))
            return
        }
        // Devices with keys are judged by the file's first records, persons by their own.
        let isJudged = fixes.keyName == nil || fixes.summary.records <= FirstFixes.most
        do throws(CoordinateError) {
            try fixes.persons[fixes.tracks[track].person].take(
                Fix(coordinate: coordinate, time: time, horizontalAccuracy: accuracy), track: UInt32(track),
                kind: fixes.tracks[track].kind, record: isJudged ? fixes.summary.records - 1 : nil)
            if options.emission == .fixes { fixes.records.append(track: UInt32(track), at: time) }
        } catch {
            return try refuse(RecordProblem.Reason(error), line: line, track: track)
        }
        if fixes.keyName != nil {
            if fixes.summary.records == FirstFixes.most + 1 { steps.forget() }
            steps.count(to: coordinate, at: time, of: track)
        }
    }

    /// The number of a record's track, made where it is the first.
    @inline(__always)
    private mutating func track(of piece: borrowing Piece, _ index: Int, _ problem: RecordProblem.Reason?) -> Int {
        if fixes.keyName != nil {
            return problem?.isOfShape == true ? unknownTrack() : keyedTrack(piece, index)
        }
        let track = piece.batch.tracks.count > 0 ? piece.batch.tracks[index] : .only
        if let last, last.number == track.number { return last.track }
        let found = numbers[track.number] ?? add(kind: track.kind, key: nil, isOfNewPerson: options.devices == .tracks)
        numbers[track.number] = found
        last = (track.number, found)
        return found
    }

    private mutating func keyedTrack(_ piece: borrowing Piece, _ index: Int) -> Int {
        let key = unsafe piece.key(index)
        let found = unsafe keys.number(of: key, hash: piece.batch.keys[index].hash)
        if found.isNew {
            numbers[UInt32(found.number)] = add(kind: .track, key: unsafe Array(key), isOfNewPerson: true)
        }
        return numbers[UInt32(found.number)] ?? 0
    }

    private mutating func unknownTrack() -> Int {
        let track = unknown ?? add(kind: .track, key: nil, isOfNewPerson: true)
        unknown = track
        return track
    }

    private mutating func add(kind: ReportKind, key: [UInt8]?, isOfNewPerson: Bool) -> Int {
        if fixes.persons.isEmpty || isOfNewPerson {
            fixes.persons.append(Person(interval: options.interval))
        }
        steps.add()
        fixes.tracks.append(FileFixes.Track(kind: kind, person: fixes.persons.count - 1, key: key))
        return fixes.tracks.count - 1
    }

    /// Counts a bad record, whose blank one has its place among the records of its person.
    private mutating func refuse(
        _ reason: RecordProblem.Reason, line: Int, track: Int
    ) throws(TraceError) {
        fixes.summary.badRecords += 1
        observer.problem(file, RecordProblem(line: line, reason: reason))
        if options.onError == .stop { throw .stopped }
        if options.onError == .blank { fixes.records.append(track: UInt32(track), at: nil) }
    }
}
