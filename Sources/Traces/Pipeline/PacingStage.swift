import Hereabouts

/// The pacing stage of the pipeline: all devices of a run, their pacers and the journal that carries these from run to run
/// have this one owner. It turns fixes into reports, few and steady, and hands them to the output's sink.
///
/// Devices with keys are answered as their fixes come, once the first 10,000 records of their input are there and say that
/// this is in order of time; else when the input has ended (see `SortedFixes`). Inputs without keys are a person's (see
/// `Person`), who is answered when the last of them has ended.
struct PacingStage: PipelineStage, ~Copyable {
    private let atlas: Atlas
    private let options: ConvertRun.Options
    private let observer: RunObserver
    private var output: OutputFile
    /// Whether the output appears when the run is done, and not before.
    private let isStaged: Bool
    private var journal: PaceJournal?
    /// The keys of the devices in `devices`, if these have keys.
    private var keys = DeviceKeys()
    /// Whether the inputs' devices have keys; nil before the first input.
    private var isKeyed: Bool?
    private var keyNames: KeyNames
    private var devices: PacedDevices
    private var out: ByteBuffer
    private(set) var summary = RunSummary()
    private var persons: PersonInputs
    private var unused: UnusedOptions
    /// Devices whose saved tick was in the future.
    private var repaired = 0

    // Of the current input.
    private var hasReportedUntimed = false
    private var before = (records: 0, devices: 0)
    private var late = 0
    /// Those of them that came after one of a later tick.
    private var outrun = 0
    /// Whether records with keys are answered as they come: they are neither held back nor sorted.
    private var isAnsweredAtOnce = false
    /// Records that are held back.
    private var first: FirstRecords?
    /// Where the records are in no order of time.
    private var sorted: SortedFixes?

    init(
        _ inputs: [InputName], to output: consuming OutputFile, atlas: Atlas, options: ConvertRun.Options,
        journal: consuming PaceJournal?, observer: RunObserver
    ) {
        guard let makeSink = options.format.makeSink else { preconditionFailure("a format that can be written") }
        self.atlas = atlas
        self.options = options
        self.observer = observer
        self.journal = journal
        isStaged = !output.isImmediate
        self.output = output
        var sink: any ReportSink & ~Copyable = makeSink(atlas)
        if options.disguise.dateShift != nil {
            sink = SortedSink(sink, hasBlankRecords: options.format.hasBlankRecords)
        }
        devices = PacedDevices(
            atlas: atlas, sink: sink, interval: options.interval, emission: options.emission,
            withheld: options.withheld,
            disguise: options.disguise)
        if options.wantsStatistics { devices.statistics = ReportStatistics() }
        out = ByteBuffer(capacity: 2 * options.readBytes)
        persons = PersonInputs(inputs, options: options)
        keyNames = KeyNames(options)
        unused = UnusedOptions(options.given, inputs: inputs.count)
    }

    // MARK: Inputs

    mutating func open(_ reader: consuming InputReader) throws(TraceError) -> any TraceInput {
        let input = try TraceFormat.open(reader, options: options)
        try input.requireReference(options.csv.reference)
        try unused.open(input)
        try begin(input)
        return input
    }

    private mutating func begin(_ input: any TraceInput) throws(TraceError) {
        (hasReportedUntimed, late, outrun) = (false, 0, 0)
        let isKeyed = input.identity.isKeyed && !options.isOneDevice
        guard self.isKeyed == nil || self.isKeyed == isKeyed else { throw .mixedKeys(file: input.file) }
        guard isKeyed || options.disguise.period == nil else { throw .noKeysToRename(file: input.file) }
        if isKeyed, case .keyed(let name) = input.identity {
            if self.isKeyed == nil { devices.sink.setKeyName(Array(name.utf8)) }
            try keyNames.take(name, file: input.file)
        }
        if self.isKeyed == nil, !isKeyed, options.devices == .files, persons.groupCount > 1 {
            observer.notice(.severalPersons(persons.groupCount))
        }
        self.isKeyed = isKeyed
        for notice in input.notices { observer.notice(notice) }
        if let refusal = input.refusal { throw refusal }
        before = (summary.records, devices.count)
        if !isKeyed { persons.begin() }
        reportUnconfirmed()
        isAnsweredAtOnce = false
        if isKeyed {
            first = FirstRecords(interval: options.interval)
            devices.forgetSteps()
        }
    }

    mutating func close(_ input: any TraceInput) throws(TraceError) {
        if isKeyed == true {
            try decide(input)
            try answerSorted()
            try flush()
            countOutOfOrder()
            let records = summary.records - before.records, added = devices.count - before.devices
            if records >= 20, added * 10 > records {
                observer.notice(.manyDevices(file: input.file, devices: added, records: records))
            }
        } else if let group = persons.end() {
            try judge(group, of: input)
            try answer(group, file: input.file)
            try flush()
        }
        if late > 0 { observer.notice(.lateFixes(file: input.file, count: late)) }
        if input.isOnFoot, options.isFastForWalkers { observer.notice(.onFoot(file: input.file)) }
    }

    // MARK: Pieces

    func workerFactory(for input: any TraceInput) -> () -> Worker {
        let hash = keys.hash, options = options
        return { Worker(input, hash: hash, options: options) }
    }

    /// Reads a piece's records, where the input has not.
    final class Worker: PieceWorker {
        private let reader: (any RecordReader)?
        private let transform: CoordinateReference.Transform?
        private let acceptsNullIsland: Bool

        init(_ input: any TraceInput, hash: KeyHash, options: ConvertRun.Options) {
            reader = input.makeReader(hash: hash)
            transform = input.reference?.makeTransform()
            acceptsNullIsland = options.acceptsNullIsland
        }

        func process(_ piece: inout Piece) {
            if let reader {
                reader.begin(piece.buffer)
                while reader.read(piece.buffer, into: &piece.batch, limit: .max) {}
            }
            if let transform { piece.batch.transform(from: 0, transform) }
            if !acceptsNullIsland { piece.batch.refuseNullIsland() }
        }
    }

    mutating func emit(
        _ piece: inout Piece, _ worker: Worker, from input: any TraceInput, firstLine: Int
    ) throws(TraceError) {
        let file = input.file
        options.withheld.look(at: piece.batch, 0..<piece.batch.count)
        var nextProblem = 0
        for index in 0..<piece.batch.count {
            var problem: RecordProblem.Reason?
            if nextProblem < piece.batch.problems.count, piece.batch.problems[nextProblem].index == index {
                problem = piece.batch.problems[nextProblem].reason
                nextProblem += 1
            }
            let line = firstLine + piece.batch.lines[index]
            summary.records += 1
            if isAnsweredAtOnce {
                if let problem {
                    try refuse(problem, file: file, line: line)
                    continue
                }
                // Part by part: a call that takes the piece copies its header for each record.
                let device = unsafe self.device(of: piece.key(index), hash: piece.batch.keys[index].hash)
                try take(
                    piece.batch.positions[index], at: piece.batch.times[index],
                    horizontalAccuracy: piece.batch.horizontalAccuracy(index), of: device, file: file, line: line)
            } else if isKeyed == true {
                try holdBack(piece, index, problem: problem, from: input, line: line)
            } else {
                try takeUnkeyed(piece.batch, index, problem: problem, from: input, line: line)
            }
        }
        if piece.failure != nil || piece.batch.overlongLine != nil || piece.batch.brokenLine != nil {
            try decide(input)
        }
        if let overlong = piece.batch.overlongLine {
            throw .recordTooLong(file: file, line: firstLine + overlong)
        }
        if let broken = piece.batch.brokenLine {
            throw .malformedJSON(file: file, line: firstLine + broken)
        }
        if piece.failure == nil && first == nil { try flush() }
    }

    /// Takes a fix of a device with a key.
    @inline(__always)
    private mutating func take(
        _ coordinate: Coordinate, at time: Timestamp?, horizontalAccuracy: Double?, of device: Int, file: String,
        line: Int
    ) throws(TraceError) {
        let written = devices.written
        let outcome = devices.take(
            coordinate, at: time, horizontalAccuracy: horizontalAccuracy, of: device, to: &out)
        guard case .kept(let isAnswered) = outcome else {
            if case .late = outcome, let time, devices.isOutrun(device, at: time) { outrun += 1 }
            return try finish(outcome, file: file, line: line)
        }
        if isAnswered { note(device, isReported: devices.written > written) }
    }

    /// Takes a record of an input without device keys.
    @inline(__always)
    private mutating func takeUnkeyed(
        _ batch: borrowing FixBatch, _ index: Int, problem: RecordProblem.Reason?, from input: any TraceInput, line: Int
    ) throws(TraceError) {
        let track = persons.track(batch.tracks.count > 0 ? batch.tracks[index] : .only)
        if let problem { return try refuse(problem, from: input, line: line, track: track) }
        let coordinate = batch.positions[index], accuracy = batch.horizontalAccuracy(index)
        guard let time = batch.times[index] else {
            return try takeUntimed(coordinate, horizontalAccuracy: accuracy, from: input, line: line, track: track)
        }
        do throws(CoordinateError) {
            try persons.take(
                Fix(coordinate: coordinate, time: time, horizontalAccuracy: accuracy), track: track,
                record: summary.records - before.records - 1)
        } catch {
            try refuse(RecordProblem.Reason(error), from: input, line: line, track: track)
        }
    }

    /// Takes a record without a time. Where the input may have times, it waits for those.
    private mutating func takeUntimed(
        _ coordinate: Coordinate, horizontalAccuracy: Double?, from input: any TraceInput, line: Int, track: UInt32
    ) throws(TraceError) {
        if input.isTimed {
            persons.untimed.append(
                PersonInputs.Untimed(
                    file: input.file, line: line, track: track, coordinate: coordinate,
                    horizontalAccuracy: horizontalAccuracy))
        } else {
            let device = device(ofTrack: track)
            let outcome = devices.take(
                coordinate, at: nil, horizontalAccuracy: horizontalAccuracy, of: device, to: &out)
            try finish(outcome, file: input.file, line: line)
        }
    }

    /// Counts a bad record, whose blank one has its place among the records of its person.
    private mutating func refuse(
        _ reason: RecordProblem.Reason, from input: any TraceInput, line: Int, track: UInt32
    ) throws(TraceError) {
        try count(reason, file: input.file, line: line)
        guard options.onError == .blank else { return }
        if input.isTimed {
            persons.takeBlank(track: track)
        } else {
            devices.writeBlank(device: nil, at: nil, to: &out)
        }
    }

    /// Counts a bad record and does with it what the policy says.
    private mutating func refuse(
        _ reason: RecordProblem.Reason, file: String, line: Int
    ) throws(TraceError) {
        try count(reason, file: file, line: line)
        if options.onError == .blank { devices.writeBlank(device: nil, at: nil, to: &out) }
    }

    /// Counts a bad record and tells of it; ends the run where the policy says so.
    private mutating func count(_ reason: RecordProblem.Reason, file: String, line: Int) throws(TraceError) {
        summary.badRecords += 1
        observer.problem(file, RecordProblem(line: line, reason: reason))
        if options.onError == .stop { throw .stopped }
    }

    /// Reports what became of a fix.
    private mutating func finish(
        _ outcome: PacedDevices.Outcome, file: String, line: Int
    ) throws(TraceError) {
        switch outcome {
        case .kept: break
        case .late: late += 1
        case .secondUntimed:
            if !hasReportedUntimed { observer.notice(.untimed(file: file)) }
            hasReportedUntimed = true
        case .bad(let reason): try refuse(reason, file: file, line: line)
        }
    }

    // MARK: Persons

    /// - Throws: `notOneDevice` where a person of the group jumps as none can.
    private func judge(_ group: PersonInputs.Group, of input: any TraceInput) throws(TraceError) {
        guard !options.acceptsJumps else { return }
        for person in group.persons {
            if let report = JumpReport(person.first, candidates: input.keyCandidates) {
                throw .notOneDevice(file: input.file, report)
            }
        }
    }

    /// Answers the persons of a group of inputs that have all ended.
    private mutating func answer(_ group: PersonInputs.Group, file: String) throws(TraceError) {
        try takeHeld(group.untimed, besideTimes: group.persons.contains { !$0.isEmpty })
        var outcomes: [Person.Outcome] = []
        for person in group.persons {
            var pacer = Pacer(interval: options.interval)
            let record = savedRecord(of: nil)
            if let record { pacer = Pacer(interval: options.interval, state: record.state, inValid: atlas) }
            var memory = devices.memory(record, pacer)
            outcomes.append(
                try person.answer(
                    &pacer, &memory, ReportRule(options.emission, interval: options.interval), atlas: atlas,
                    withheld: options.withheld, keepsStates: journal != nil, inOrderOfTime: options.joinsTracks
                ) {
                    (track, region, time) throws(TraceError) in
                    try write(region, at: time, ofTrack: track)
                })
        }
        try group.records.forEach(standing: outcomes.map(\.standing), person: { persons.person(ofTrack: $0) }) {
            (track, region, time) throws(TraceError) in
            try write(region, at: time, ofTrack: track)
        }
        for outcome in outcomes {
            for (state, isReported, memory) in outcome.states {
                let record = PaceRecord(
                    key: nil, state: state, isReported: isReported, lastReport: devices.lastReport(memory))
                journal?.note(record, isStaged: isStaged)
            }
            late += outcome.late
            devices.statistics?.tooFew += outcome.tooFew
        }
        summary.devices += group.persons.count
    }

    private mutating func write(_ region: Region?, at time: Timestamp?, ofTrack track: UInt32) throws(TraceError) {
        devices.write(region, at: time, of: device(ofTrack: track), to: &out)
        // What a state speaks of is written after it, where it appears at once.
        if out.count > 1 << 20 && (journal == nil || isStaged) { try flush() }
    }

    /// Takes the points without times, now that all times are known. Alone, they are answered one after the other. Beside
    /// times that would undo the pacing: those of tracks are bad records then, and waypoints and routes, which are mostly
    /// plans, are left out.
    private mutating func takeHeld(_ held: [PersonInputs.Untimed], besideTimes: Bool) throws(TraceError) {
        var plans: [String: Int] = [:]
        for point in held {
            if !besideTimes {
                let device = device(ofTrack: point.track)
                let outcome = devices.take(
                    point.coordinate, at: nil, horizontalAccuracy: point.horizontalAccuracy, of: device, to: &out)
                try finish(outcome, file: point.file, line: point.line)
            } else if persons.kind(ofTrack: point.track) == .track {
                try refuse(.timeMissing, file: point.file, line: point.line)
            } else {
                plans[point.file, default: 0] += 1
            }
        }
        for (file, count) in plans.sorted(by: { $0.key < $1.key }) {
            observer.notice(.untimedPlans(file: file, count: count))
        }
    }

    /// The device that stands for a track in the output, made for its first report.
    private mutating func device(ofTrack track: UInt32) -> Int {
        let (track, kind) = persons.writtenTrack(of: track)
        if let device = persons.device(ofTrack: track) { return device }
        let device = devices.add(key: nil, kind: kind, clock: persons.clock(ofTrack: track))
        persons.set(device: device, ofTrack: track)
        return device
    }

    // MARK: Devices with keys

    /// The device with this key, made when its first record comes. It goes on at the pace it had in the run before.
    @inline(__always)
    private mutating func device(of key: UnsafeBufferPointer<UInt8>, hash: UInt64) -> Int {
        let found = unsafe keys.number(of: key, hash: hash)
        if found.isNew {
            let key = unsafe Array(key)
            let device = devices.add(key: key, kind: .track, clock: .device(key))
            if let record = savedRecord(of: key) { devices.restore(record, as: device) }
        }
        return found.number
    }

    // MARK: Order

    /// Takes a record with a device key while records are held back or sorted.
    @inline(never)
    private mutating func holdBack(
        _ piece: borrowing Piece, _ index: Int, problem: RecordProblem.Reason?, from input: any TraceInput, line: Int
    ) throws(TraceError) {
        guard let keys = first?.keys ?? sorted?.keys else { preconditionFailure("records are held back or sorted") }
        var record = FirstRecords.Record(
            coordinate: piece.batch.positions[index], time: piece.batch.times[index],
            horizontalAccuracy: piece.batch.horizontalAccuracy(index), device: nil, problem: problem, line: line)
        if problem == nil {
            record.device = unsafe keys.table.number(of: piece.key(index), hash: piece.batch.keys[index].hash).number
            do throws(CoordinateError) {
                try record.coordinate.validate()
            } catch {
                record.problem = RecordProblem.Reason(error)
            }
        }
        // Where the run ends at it, what came before it is answered first.
        let endsRun = first != nil && options.onError == .stop
        if let problem = record.problem, !endsRun { try count(problem, file: input.file, line: line) }
        guard let first else { return try sort(record, file: input.file) }
        first.append(record)
        if first.isFull || record.problem != nil && options.onError == .stop { try decide(input) }
    }

    /// Decides how the input's records are answered, by those that are held back, and takes these.
    ///
    /// - Throws: `notOneDevice` where a device jumps as none can.
    private mutating func decide(_ input: any TraceInput) throws(TraceError) {
        guard let first else { return }
        self.first = nil
        if !options.acceptsJumps, let report = first.jumpReport(candidates: input.keyCandidates) {
            throw .notOneDevice(file: input.file, report)
        }
        if first.isOutOfOrder {
            sorted = SortedFixes(keys: first.keys, interval: options.interval)
            try first.forEach { record throws(TraceError) in
                if let problem = record.problem, options.onError == .stop {
                    try count(problem, file: input.file, line: record.line)
                }
                try sort(record, file: input.file)
            }
        } else {
            isAnsweredAtOnce = true
            try replay(first, file: input.file)
        }
        try flush()
    }

    /// Takes the records that were held back as if they came now.
    private mutating func replay(_ first: FirstRecords, file: String) throws(TraceError) {
        var numbers = [Int?](repeating: nil, count: first.keys.table.count)
        try first.forEach { record throws(TraceError) in
            var device: Int?
            if let number = record.device {
                device = numbers[number] ?? self.device(ofKey: number, in: first.keys)
                numbers[number] = device
            }
            if let problem = record.problem {
                if options.onError == .stop {
                    try flush()
                    try count(problem, file: file, line: record.line)
                }
                if options.onError == .blank { devices.writeBlank(device: nil, at: nil, to: &out) }
            } else if let device {
                try take(
                    record.coordinate, at: record.time, horizontalAccuracy: record.horizontalAccuracy, of: device,
                    file: file, line: record.line)
            }
        }
        devices.forgetSteps()
    }

    /// The device with a key of another table, which has this stage's hashes.
    private mutating func device(ofKey number: Int, in numbers: KeyNumbers) -> Int {
        let hash = numbers.table.hash(number)
        return unsafe numbers.table.withKey(number) { key in unsafe device(of: key, hash: hash) }
    }

    private mutating func device(ofKey key: [UInt8]) -> Int {
        unsafe key.withUnsafeBufferPointer { unsafe device(of: $0, hash: keys.hash($0)) }
    }

    /// Takes the next record of an input in no order of time.
    private mutating func sort(_ record: FirstRecords.Record, file: String) throws(TraceError) {
        guard let sorted else { return }
        // Without a time it has no place in their order.
        if record.problem == nil, record.time == nil { try count(.timeMissing, file: file, line: record.line) }
        guard record.problem == nil, let time = record.time, let device = record.device else {
            guard options.onError == .blank else { return }
            return sorted.note(.blank)
        }
        sorted.take(record.coordinate, at: time, horizontalAccuracy: record.horizontalAccuracy, device: device)
        if options.emission == .fixes {
            sorted.note(.init(nanoseconds: time.nanosecondsSince1970, device: Int32(device)))
        }
    }

    /// Answers the devices of an input in no order of time, which has ended, as if it were in order.
    private mutating func answerSorted() throws(TraceError) {
        guard let sorted else { return }
        self.sorted = nil
        if options.emission == .fixes { return try writeSorted(sorted) }
        var numbers = [Int?](repeating: nil, count: sorted.keys.table.count)
        try sorted.forEachInterval { interval throws(TraceError) in
            let device =
                numbers[Int(interval.device)] ?? self.device(ofKey: Int(interval.device), in: sorted.keys)
            numbers[Int(interval.device)] = device
            let fix = interval.fix, written = devices.written
            let outcome = devices.take(
                fix.coordinate, at: fix.time, horizontalAccuracy: fix.horizontalAccuracy, of: device, to: &out)
            if case .kept(let isAnswered) = outcome {
                if isAnswered { note(device, isReported: devices.written > written) }
            } else {
                noteLate(interval, of: device)
            }
            if out.count > 1 << 20 { try flush() }
        }
        for number in numbers.indices where numbers[number] == nil {
            _ = device(ofKey: number, in: sorted.keys)
        }
    }

    /// The same with a record for each fix, in the order in which these came.
    private mutating func writeSorted(_ sorted: SortedFixes) throws(TraceError) {
        let numbers = (0..<sorted.keys.table.count).map { device(ofKey: $0, in: sorted.keys) }
        var answers = StandingAnswers()
        try sorted.forEachInterval { interval throws(TraceError) in
            let device = numbers[Int(interval.device)]
            let standing = devices.standing(of: device)
            answers.open(Int(interval.device), tick: standing.tick, region: standing.region)
            guard let given = devices.takeSilently(interval.fix, of: device) else {
                return noteLate(interval, of: device)
            }
            for answer in given {
                answers.add(answer, of: Int(interval.device))
                note(device, isReported: true)
            }
        }
        try sorted.forEachRecord { record throws(TraceError) in
            let time = Timestamp(nanosecondsSince1970: record.nanoseconds)
            if record == .blank {
                devices.writeBlank(device: nil, at: nil, to: &out)
            } else if let region = answers.standing(Int(record.device), at: time) {
                devices.writeFix(at: time, standing: region, of: numbers[Int(record.device)], to: &out)
            }
            if out.count > 1 << 20 { try flush() }
        }
    }

    /// Counts fixes that changed nothing, since inputs before had later ones.
    private mutating func noteLate(_ interval: SortedFixes.Interval, of device: Int) {
        late += Int(interval.count)
        if devices.isOutrun(device, at: interval.fix.time) { outrun += Int(interval.count) }
    }

    /// Counts what makes an input with keys doubtful at its end, though it was answered: records that came too late, and
    /// jumps after its first records.
    private mutating func countOutOfOrder() {
        let records = summary.records - before.records
        if outrun > 10, 100 * outrun > records { summary.lateRecords += outrun }
        if records > FirstRecords.most, !options.acceptsJumps, devices.steps.areDoubtful {
            summary.jumps += devices.steps.jumps
        }
    }

    // MARK: Journal

    /// What the runs before left of a device; nil of one they did not answer. A tick that no fix of this run can reach,
    /// of a clock that was wrong once, would silence it: the next tick is put in its place.
    private mutating func savedRecord(of key: [UInt8]?) -> PaceRecord? {
        guard var record = journal?.record(of: key) else { return nil }
        let interval = Pacer.nanoseconds(in: options.interval)
        guard record.state.tick > Pacer.tick(for: TimeBounds(options).latest, intervalNanoseconds: interval) else {
            return record
        }
        record.state = record.state.moved(to: Pacer.tick(for: options.now, intervalNanoseconds: interval))
        record.isReported = false
        journal?.note(record, isStaged: isStaged)
        repaired += 1
        return record
    }

    /// Notes in the journal that a device was answered.
    @inline(__always)
    private mutating func note(_ device: Int, isReported: Bool) {
        if journal != nil { noteState(of: device, isReported: isReported) }
    }

    @inline(never)
    private mutating func noteState(of device: Int, isReported: Bool) {
        guard let record = devices.record(of: device, key: keys.key(device), isReported: isReported) else { return }
        journal?.note(record, isStaged: isStaged)
    }

    /// Reports again what the run before noted and may not have written, byte for byte.
    private mutating func reportUnconfirmed() {
        for record in journal?.takeUnconfirmed() ?? [] {
            if let key = record.key {
                let device = device(ofKey: key)
                if record.isReported { devices.report(record.state, of: device, to: &out) }
                devices.restore(record, as: device)
            } else if record.isReported {
                devices.report(record.state, of: device(ofTrack: persons.track(.only)), to: &out)
            }
            journal?.note(record, isStaged: isStaged)
        }
    }

    // MARK: Output

    /// Bytes that wait while the zones may be exchanged, at most.
    private static let mostHeldBytes = 64 << 20

    /// Writes what there is to write. While the zones may be exchanged, nothing does that cannot be taken back.
    private mutating func flush() throws(TraceError) {
        if !isStaged, options.withheld.mayBeExchanged {
            if out.count > Self.mostHeldBytes { throw .zonesExchanged }
            return
        }
        try atlas.requireUnchanged()
        let isCommitted = isStaged || devices.sink.holdsReports ? false : try journal?.commit() ?? false
        if out.count > 0 { try output.write(&out) }
        if isCommitted { try journal?.confirm() }
    }

    /// - Throws: `replacesRecords` where the run has none and its output would replace one that has. With zones it does: what
    ///   stands there may be what is to be withheld.
    private func requireRecords() throws(TraceError) {
        guard devices.written == 0, !options.allowsEmpty, options.withheld == nil,
            let path = options.dryOutput ?? output.destination, ExistingOutput.hasRecords(path)
        else { return }
        throw .replacesRecords(file: path)
    }

    /// Writes what is left, and publishes all that did not appear when it was written. Answers and paces become known
    /// together: see `PaceJournal`.
    mutating func finish() throws(TraceError) -> RunSummary {
        try options.withheld.requireOrder()
        for device in 0..<keys.count {
            let written = devices.written
            if devices.answerTick(of: device, to: &out) { note(device, isReported: devices.written > written) }
            if out.count > 1 << 20 { try flush() }
        }
        try requireRecords()
        let isCommitted = isStaged ? false : try journal?.commit() ?? false
        try atlas.requireUnchanged()
        try devices.sink.finish(&out, to: output)
        if isCommitted { try journal?.confirm() }
        if journal != nil, let staged = try output.stage() {
            try publish(staged)
        } else {
            try output.publish()
        }
        if repaired > 0 { observer.notice(.stateRepaired(file: options.state ?? "", devices: repaired)) }
        if options.withheld.areIdle { observer.notice(.nothingWithheld) }
        if devices.longNames > 0 { observer.notice(.longNames(devices.longNames)) }
        if journal?.seal() == false { observer.notice(.stateNotSealed(file: options.state ?? "")) }
        summary.written = devices.written
        summary.devices += keys.count
        summary.statistics = devices.statistics
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
