import Hereabouts

/// The stateless stage of the pipeline: each record is written again with the reduced location of its position, in order,
/// none remembered. As a row, with the fields that are kept, in formats of rows; in others as a report.
struct SnappingStage: PipelineStage, ~Copyable {
    private let options: SnapRun.Options
    private let observer: RunObserver
    private var output: OutputFile
    private let atlas: Atlas
    private(set) var summary = RunSummary()
    /// What is written; nil before the first input.
    private var written: Written?
    /// Whether a row was written.
    private var hasRows = false
    /// The name of each input's clock, and how many inputs were opened.
    private let persons: [String]
    private var opened = 0
    /// How many tracks the inputs had so far.
    private var tracks = 0
    private var unused: UnusedOptions
    /// What waits while the zones may be exchanged.
    private var held = ByteBuffer(capacity: 0)
    private static let mostHeldBytes = 64 << 20

    /// As the first input decides it.
    private enum Written {
        /// All inputs must have the same kept columns.
        case rows(TableRows)
        case reports(SnapReports)
    }

    init(
        _ inputs: [InputName], to output: consuming OutputFile, atlas: Atlas, options: SnapRun.Options,
        observer: RunObserver
    ) {
        persons = inputs.map(\.stem)
        unused = UnusedOptions(options.given, inputs: inputs.count)
        self.output = output
        self.options = options
        self.observer = observer
        self.atlas = atlas
        if options.wantsStatistics { summary.statistics = ReportStatistics() }
    }

    mutating func open(_ reader: consuming InputReader) throws(TraceError) -> any TraceInput {
        var reader = reader
        opened += 1
        let format = try TraceFormat.recognized(&reader, options: options)
        let target = format.output(options)
        switch written {
        case nil:
            guard let form = target.rowForm else { return try openFirst(reader, format, as: target) }
            let input = try format.openRows(reader, options: options)
            try unused.open(input)
            let rows = TableRows(form, atlas: atlas, withheld: options.withheld, keptNames: input.keptNames)
            var out = ByteBuffer(capacity: 1 << 12)
            rows.appendHeader(to: &out)
            try output.write(&out)
            written = .rows(rows)
            summary.keptNames = rows.keptNames
            return try begin(input)
        case .rows(let rows):
            let input = try format.openRows(reader, options: options)
            try unused.open(input)
            guard rows.keptNames == input.keptNames else { throw .headersDiffer(file: input.file) }
            return try begin(input)
        case .reports(let reports):
            let input = try format.openFixes(reader, options: options)
            try unused.open(input)
            try reports.begin(input, person: persons[opened - 1])
            return try begin(input)
        }
    }

    /// Opens the first input of an output without rows.
    private mutating func openFirst(
        _ reader: consuming InputReader, _ format: TraceFormat, as target: TraceFormat
    ) throws(TraceError) -> any TraceInput {
        guard options.keep.isEmpty else { throw .keepsNothing(format: target.name) }
        let input = try format.openFixes(reader, options: options)
        try unused.open(input)
        let reports = SnapReports(target, atlas: atlas, options: options)
        try reports.begin(input, person: persons[opened - 1])
        written = .reports(reports)
        return try begin(input)
    }

    private func begin(_ input: any TraceInput) throws(TraceError) -> any TraceInput {
        try input.requireReference(options.csv.reference)
        for notice in input.notices { observer.notice(notice) }
        (input as? FixRows)?.tracksBefore = tracks
        return input
    }

    func workerFactory(for input: any TraceInput) -> () -> SnapWorker {
        let options = options, person = persons[opened - 1]
        guard case .rows(let rows) = written, let input = input as? any TableInput else {
            let atlas = atlas
            return { ReportWorker(atlas, input: input, options: options) }
        }
        return { RowWorker(rows, input: input, person: person, options: options) }
    }

    mutating func emit(
        _ piece: inout Piece, _ worker: SnapWorker, from input: any TraceInput, firstLine: Int
    ) throws(TraceError) {
        if piece.isAtEnd {
            // Of an input that is read in order, what came before a failure.
            guard piece.batch.count > 0 else { return }
            worker.process(&piece)
        }
        if let worker = worker as? RowWorker {
            try emit(worker, from: input, firstLine: firstLine)
        } else if let worker = worker as? ReportWorker, case .reports(let reports) = written {
            try emit(&piece, worker, to: reports, from: input, firstLine: firstLine)
        }
        if let overlong = piece.batch.overlongLine {
            throw .recordTooLong(file: input.file, line: firstLine + overlong)
        }
        if let broken = piece.batch.brokenLine {
            throw .malformedJSON(file: input.file, line: firstLine + broken)
        }
    }

    private mutating func emit(
        _ worker: RowWorker, from input: any TraceInput, firstLine: Int
    ) throws(TraceError) {
        if worker.results.out.count > 0 {
            if !hasRows, case .rows(let rows) = written, rows.form.separatesRows { worker.results.out.removeFirst() }
            hasRows = true
            try write(&worker.results.out)
        }
        for problem in worker.results.problems {
            observer.problem(input.file, RecordProblem(line: firstLine + problem.line, reason: problem.reason))
        }
        summary.records += worker.results.records
        summary.written += worker.results.written
        summary.badRecords += worker.results.problems.count
        if let statistics = worker.results.statistics { summary.statistics?.add(statistics) }
        if worker.results.isStopped { throw .stopped }
    }

    /// Emits a piece's fixes as reports.
    private mutating func emit(
        _ piece: inout Piece, _ worker: ReportWorker, to reports: SnapReports, from input: any TraceInput,
        firstLine: Int
    ) throws(TraceError) {
        options.withheld.look(at: piece.batch, 0..<piece.batch.count)
        var problems = piece.batch.problems[...]
        for index in 0..<piece.batch.count {
            summary.records += 1
            var problem: RecordProblem.Reason?
            if let next = problems.first, next.index == index { problem = problems.removeFirst().reason }
            let region = worker.region(index)
            if problem == nil, region == .invalid { problem = .init(outOfRange: piece.batch.positions[index]) }
            if let problem {
                summary.badRecords += 1
                observer.problem(
                    input.file, RecordProblem(line: firstLine + piece.batch.lines[index], reason: problem))
                if options.onError == .stop { throw .stopped }
                if options.onError == .blank, reports.writeBlank() {
                    summary.written += 1
                }
            } else {
                if reports.write(region, piece, index) { summary.written += 1 }
                summary.statistics?.add(region, count: 1)
            }
        }
        if reports.out.count > 0 { try write(&reports.out) }
    }

    /// Writes what came of a piece. While the zones may be exchanged, nothing does that cannot be taken back.
    private mutating func write(_ out: inout ByteBuffer) throws(TraceError) {
        if output.isImmediate, options.withheld.mayBeExchanged {
            unsafe out.withBytes { unsafe held.append($0) }
            out.removeAll()
            if held.count > Self.mostHeldBytes { throw .zonesExchanged }
            return
        }
        try atlas.requireUnchanged()
        if held.count > 0 { try output.write(&held) }
        try output.write(&out)
    }

    mutating func close(_ input: any TraceInput) throws(TraceError) {
        if let rows = input as? FixRows { tracks += rows.trackCount }
    }

    /// Publishes the output.
    mutating func finish() throws(TraceError) -> RunSummary {
        try options.withheld.requireOrder()
        try atlas.requireUnchanged()
        if held.count > 0 { try output.write(&held) }
        switch written {
        case .rows(let rows):
            var out = ByteBuffer(capacity: 16)
            out.append(rows.form.end)
            if out.count > 0 { try output.write(&out) }
        case .reports(let reports): try reports.finish(to: output)
        case nil: break
        }
        try output.publish()
        if options.withheld.areIdle { observer.notice(.nothingWithheld) }
        summary.statistics = summary.statistics?.published(options.withheld)
        return summary
    }
}

/// What one thread of `snap` does with a piece.
class SnapWorker: PieceWorker {
    func process(_ piece: inout Piece) {}
}

/// Makes rows of a piece's records.
private final class RowWorker: SnapWorker {
    var results: PieceSnapper

    init(_ rows: TableRows, input: any TableInput, person: String, options: SnapRun.Options) {
        results = PieceSnapper(rows, input: input, person: person, options: options)
    }

    override func process(_ piece: inout Piece) { results.process(&piece) }
}
