import Hereabouts

/// The stateless stage of the pipeline: each record of a table is written again with the reduced location of its
/// position, in order, none remembered.
struct SnappingStage: PipelineStage, ~Copyable {
    private let options: SnapRun.Options
    private let observer: RunObserver
    private var output: OutputFile
    private let atlas: Atlas
    private(set) var summary = RunSummary()
    /// As the first input has it, whose kept columns all others must have; nil before.
    private var rows: TableRows?

    init(_ output: consuming OutputFile, atlas: Atlas, options: SnapRun.Options, observer: RunObserver) {
        self.output = output
        self.options = options
        self.observer = observer
        self.atlas = atlas
    }

    mutating func open(_ reader: consuming InputReader) throws(TraceError) -> any TraceInput {
        let (format, input) = try TraceFormat.openTable(reader, options: options)
        try input.requireReference(options.csv.reference)
        for notice in input.notices { observer.notice(notice) }
        if let rows {
            guard rows.keptNames == input.keptNames else { throw .headersDiffer(file: input.file) }
        } else {
            let form = (options.format ?? format) == .csv ? FieldForm.csv : .json
            let rows = TableRows(form, atlas: atlas, zones: options.zones, keptNames: input.keptNames)
            var out = ByteBuffer(capacity: 1 << 12)
            rows.appendHeader(to: &out)
            try output.write(&out)
            self.rows = rows
        }
        return input
    }

    func workerFactory(for input: any TraceInput) -> () -> Worker {
        guard let rows, let input = input as? any TableInput else { preconditionFailure("an input that was opened") }
        let options = options
        return { Worker(rows, input: input, options: options) }
    }

    mutating func emit(
        _ piece: inout Piece, _ worker: Worker, from input: any TraceInput, firstLine: Int
    ) throws(TraceError) {
        if piece.isAtEnd { return }
        if worker.results.out.count > 0 {
            try atlas.requireUnchanged()
            try output.write(&worker.results.out)
        }
        for problem in worker.results.problems {
            observer.problem(input.file, RecordProblem(line: firstLine + problem.line, reason: problem.reason))
        }
        summary.records += worker.results.records
        summary.written += worker.results.written
        summary.badRecords += worker.results.problems.count
        if let overlong = piece.batch.overlongLine {
            throw .recordTooLong(file: input.file, line: firstLine + overlong)
        }
        if let broken = piece.batch.brokenLine {
            throw .malformedJSON(file: input.file, line: firstLine + broken)
        }
        if worker.results.isStopped { throw .stopped }
    }

    mutating func close(_ input: any TraceInput) throws(TraceError) {}

    /// Publishes the output.
    mutating func finish() throws(TraceError) -> RunSummary {
        try atlas.requireUnchanged()
        try output.publish()
        return summary
    }
}

extension SnappingStage {
    /// A `PieceSnapper` as the pipeline calls it.
    final class Worker: PieceWorker {
        fileprivate var results: PieceSnapper

        init(_ rows: TableRows, input: any TableInput, options: SnapRun.Options) {
            results = PieceSnapper(rows, input: input, options: options)
        }

        func process(_ piece: inout Piece) { results.process(&piece) }
    }

    /// Turns a piece of input into a piece of output, the same for the same piece: nothing is remembered from one piece
    /// to the next but rendered text and cells that were looked up.
    ///
    /// Records are done in batches: parse all, look all up, print all, each in a loop of its own with its data in cache.
    @safe fileprivate struct PieceSnapper: ~Copyable {
        private static let batchSize = 512
        /// Bytes of a piece from which on the text cache is prefaulted.
        private static let prefaultThresholdBytes = 1 << 14

        private let atlas: Atlas
        private var cache: CellCache
        private let reader: (any RecordReader)?
        private let transform: CoordinateReference.Transform?
        private let onError: ErrorPolicy
        private var columns: RegionTextWriter
        private let conversion: FieldConversion
        private let isConverted: Bool
        private let blank: StaticString
        // SAFETY: `batchSize` elements each, freed in deinit. Elements are trivial, and each is written before it is read.
        private let regions: UnsafeMutablePointer<Region>
        /// The batch's runs of records in the same region.
        private let runs: UnsafeMutablePointer<RegionTextWriter.Run>
        /// Room for the numbers of the runs whose regions' texts must be rendered.
        private let missing: UnsafeMutablePointer<Int32>

        fileprivate var out: ByteBuffer
        /// The bad records, their lines counted from 0 at the piece's start.
        fileprivate private(set) var problems: [RecordProblem] = []
        fileprivate private(set) var records = 0
        fileprivate private(set) var written = 0
        /// Whether there was a bad record and the policy is to stop.
        fileprivate private(set) var isStopped = false

        /// - Parameter rows: what all workers write; they share the regions' texts.
        init(_ rows: TableRows, input: any TableInput, options: SnapRun.Options) {
            atlas = rows.texts.atlas
            cache = CellCache(rows.texts.atlas)
            conversion = FieldConversion(from: input.keptForm, to: rows)
            isConverted = !conversion.isNone
            blank = rows.blank
            reader = input.makeReader(hash: KeyHash())
            transform = input.reference?.makeTransform()
            onError = options.onError
            columns = RegionTextWriter(rows.texts)
            out = ByteBuffer(capacity: 2 * options.readBytes)
            unsafe regions = .allocate(capacity: Self.batchSize)
            unsafe regions.initialize(repeating: .invalid, count: Self.batchSize)
            unsafe runs = .allocate(capacity: Self.batchSize)
            unsafe missing = .allocate(capacity: Self.batchSize)
        }

        deinit {
            unsafe regions.deallocate()
            unsafe runs.deallocate()
            unsafe missing.deallocate()
        }

        /// Prints the piece's records to `out`.
        fileprivate mutating func process(_ piece: inout Piece) {
            problems.removeAll(keepingCapacity: true)
            (records, written) = (0, 0)
            guard let reader, let base = unsafe piece.buffer.bytes.baseAddress else { return }
            if piece.buffer.count > Self.prefaultThresholdBytes { columns.prefault() }
            reader.begin(piece.buffer)
            while !isStopped, reader.read(piece.buffer, into: &piece.batch, limit: Self.batchSize) {
                if let transform { piece.batch.transform(from: 0, transform) }
                unsafe reduce(base, piece.batch)
                records += piece.batch.count
                piece.batch.removeRecords()
            }
        }

        private mutating func reduce(_ base: UnsafePointer<UInt8>, _ batch: borrowing FixBatch) {
            guard let kept = batch.kept else { return }
            // SAFETY: a batch has at most `batchSize` records.
            unsafe atlas.snap(
                UnsafeBufferPointer(batch.positions.elements),
                into: UnsafeMutableBufferPointer(start: regions, count: batch.count), cache: &cache)
            let runCount = unsafe columns.findRuns(
                UnsafeBufferPointer(start: regions, count: batch.count), into: runs, missing: missing)
            var start = 0, nextProblem = 0
            for run in 0..<runCount {
                let run = unsafe runs[run]
                let records = start..<Int(run.end)
                start = records.upperBound
                if run.region != .invalid {
                    unsafe appendRun(base, kept, records, run)
                    written += records.count
                    continue
                }
                for index in records {
                    var reason = Self.rangeProblem(batch.positions[index])
                    if nextProblem < batch.problems.count, batch.problems[nextProblem].index == index {
                        reason = batch.problems[nextProblem].reason
                        nextProblem += 1
                    }
                    problems.append(RecordProblem(line: batch.lines[index], reason: reason))
                    if onError == .stop {
                        isStopped = true
                        return
                    }
                    if onError == .blank {
                        unsafe appendBlank(base, kept, index, reason: reason)
                        written += 1
                    }
                }
            }
        }

        /// Prints records that are in the same region.
        @inline(__always)
        private mutating func appendRun(
            _ base: UnsafePointer<UInt8>, _ kept: KeptFields, _ records: Range<Int>, _ run: RegionTextWriter.Run
        ) {
            let text = unsafe columns.text(run.slot)
            if !isConverted, kept.isVerbatim, kept.isContiguous, run.slot != .empty {
                let first = kept.entries[0], last = kept.entries[kept.entries.count - 1]
                for record in records {
                    let start = kept.table.span(record, first).start, end = kept.table.span(record, last).end
                    // SAFETY: spans lie within the buffer, whose padding may be read, as may what follows a text.
                    unsafe out.append(
                        short: base + Int(start), count: Int(end) &- Int(start), UInt8(ascii: ","),
                        short: text.baseAddress!, count: text.count)
                }
                return
            }
            for record in records {
                unsafe appendKept(base, kept, record)
                if run.slot == .empty {
                    columns.appendRendered(run.region, to: &out)
                } else {
                    unsafe out.append(short: text.baseAddress!, count: text.count)
                }
            }
        }

        /// Why the engine refused numbers that were parsed.
        private static func rangeProblem(_ coordinate: Coordinate) -> RecordProblem.Reason {
            abs(coordinate.latitude) <= 90 ? .longitudeOutOfRange : .latitudeOutOfRange
        }

        @inline(__always)
        private mutating func appendKept(_ base: UnsafePointer<UInt8>, _ kept: KeptFields, _ record: Int) {
            if isConverted { return unsafe conversion.append(base, kept, record, to: &out) }
            // SAFETY: spans lie within the buffer, whose padding `append(short:)` may read.
            for entry in kept.entries {
                let span = kept.table.span(record, entry)
                if kept.isVerbatim {
                    unsafe out.append(short: base + Int(span.start), count: span.count)
                } else {
                    unsafe appendField(UnsafeBufferPointer(start: base + Int(span.start), count: span.count))
                }
                out.append(UInt8(ascii: ","))
            }
        }

        /// A kept field that may need other quotes than it came with: a well-quoted one is copied as it is.
        @inline(never)
        private mutating func appendField(_ field: UnsafeBufferPointer<UInt8>) {
            if unsafe field.first == CSVQuote.byte {
                unsafe out.append(field)
            } else {
                unsafe out.append(csv: field)
            }
        }

        /// A record without reduced location. Where the record's shape is not the header's, its fields may stand in the
        /// wrong columns, the position in a kept one: then those stay empty too.
        @inline(never)
        private mutating func appendBlank(
            _ base: UnsafePointer<UInt8>, _ kept: KeptFields, _ record: Int, reason: RecordProblem.Reason
        ) {
            if reason.isOfShape, isConverted {
                unsafe conversion.append(base, kept, record, isBlank: true, to: &out)
            } else if reason.isOfShape {
                for _ in kept.entries { out.append(UInt8(ascii: ",")) }
            } else {
                var kept = kept
                kept.isVerbatim = false
                unsafe appendKept(base, kept, record)
            }
            out.append(blank)
        }
    }
}
