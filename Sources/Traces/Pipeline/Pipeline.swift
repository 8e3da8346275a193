/// The pipeline of `snap` and `convert`:
///
///     ByteSource → InputReader (framing) → RecordReader → FixBatch → SnappingStage or PacingStage → output
///
/// What comes before the batch is the format's business, what comes after it the stage's. Pieces are taken and emitted in
/// order; in between they are processed on several threads.
protocol PipelineStage: ~Copyable {
    /// What one thread processes pieces with.
    associatedtype Worker: PieceWorker

    var summary: RunSummary { get }

    /// Opens an input, and reports what there is to say of it.
    mutating func open(_ reader: consuming InputReader) throws(TraceError) -> any TraceInput

    /// Makes the workers for an input.
    func workerFactory(for input: any TraceInput) -> () -> Worker

    /// Emits what came of a piece, in order.
    ///
    /// - Parameter firstLine: the line of the input that the piece begins on.
    mutating func emit(
        _ piece: inout Piece, _ worker: Worker, from input: any TraceInput, firstLine: Int
    ) throws(TraceError)

    /// Emits what is left of an input at its end.
    mutating func close(_ input: any TraceInput) throws(TraceError)
}

/// Does the part of a stage that needs nothing but a piece, and holds its results until they are emitted.
protocol PieceWorker: AnyObject {
    /// Processes a piece, on any thread; anew, if it was processed before.
    func process(_ piece: inout Piece)
}

/// Runs inputs through a stage, one after the other.
///
/// - Parameters:
///   - threads: how many threads may work at once. Changes nothing but speed.
///   - readBytes: bytes read at a time. Changes nothing but speed.
func runPipeline<Stage: PipelineStage & ~Copyable>(
    _ inputs: [InputName], through stage: inout Stage, threads: Int, readBytes: Int, observer: RunObserver
) throws(TraceError) {
    let cancellation = CancellationFlag()
    var finishedBytes = 0
    for name in inputs {
        let before = stage.summary.records
        let source = try ByteSource(name, cancellation: cancellation)
        let input = try stage.open(InputReader(source, readBytes: readBytes))
        let makeWorker = stage.workerFactory(for: input)
        var line = input.firstLine
        try runWorkers(threads: threads, cancellation: cancellation) {
            Job(piece: Piece(readBytes: readBytes), worker: makeWorker())
        } take: { job in
            job.piece.take(from: input)
        } work: { job in
            job.worker.process(&job.piece)
        } emit: { (job) throws(TraceError) in
            if !input.follow(job.piece.batch) {
                job.piece.restart()
                job.worker.process(&job.piece)
                _ = input.follow(job.piece.batch)
            }
            try stage.emit(&job.piece, job.worker, from: input, firstLine: line)
            if let other = job.piece.batch.otherHeaderLine {
                throw .otherHeader(file: input.file, line: line + other)
            }
            if let late = job.piece.batch.lateKey {
                throw .lateKey(file: input.file, line: line + late.line, name: late.name)
            }
            if let failure = job.piece.failure { throw failure.at(line: line) }
            line += job.piece.batch.lineCount
            observer.progress(finishedBytes + job.piece.bytesRead)
        }
        try stage.close(input)
        if stage.summary.records == before { observer.notice(.noPoints(file: input.file)) }
        finishedBytes += input.bytesRead
    }
}

/// A piece and the worker that processes it.
private struct Job<Worker: PieceWorker>: ~Copyable {
    var piece: Piece
    let worker: Worker
}
