import Hereabouts

/// Turns a piece of input into a piece of output, the same for the same piece: nothing is remembered from one piece
/// to the next but rendered text and cells that were looked up.
///
/// Records are done in batches: parse all, look all up, print all, each in a loop of its own with its data in cache.
@safe struct PieceSnapper: ~Copyable {
    private static let batchSize = 512
    /// Bytes of a piece from which on the text cache is prefaulted.
    private static let prefaultThresholdBytes = 1 << 14

    private let atlas: Atlas
    private var cache: CellCache
    private let reader: (any RecordReader)?
    private let transform: CoordinateReference.Transform?
    private let acceptsNullIsland: Bool
    private let onError: ErrorPolicy
    private let withheld: WithheldRegions?
    private var columns: RegionTextWriter
    private let conversion: FieldConversion
    private let isConverted: Bool
    private let disguise: RowDisguise?
    private let checks: FieldChecks?
    private let blank: StaticString
    // SAFETY: `batchSize` elements each, freed in deinit. Elements are trivial, and each is written before it is read.
    private let regions: UnsafeMutablePointer<Region>
    /// The batch's runs of records in the same region.
    private let runs: UnsafeMutablePointer<RegionTextWriter.Run>
    /// Room for the numbers of the runs whose regions' texts must be rendered.
    private let missing: UnsafeMutablePointer<Int32>

    var out: ByteBuffer
    /// The bad records, their lines counted from 0 at the piece's start.
    private(set) var problems: [RecordProblem] = []
    private(set) var records = 0
    private(set) var written = 0
    /// The regions of the records; nil where they are not counted.
    private(set) var statistics: ReportStatistics?
    /// Whether there was a bad record and the policy is to stop.
    private(set) var isStopped = false

    /// - Parameters:
    ///   - rows: what all workers write; they share the regions' texts.
    ///   - person: the name of the input's clock.
    init(_ rows: TableRows, input: any TableInput, person: String, options: SnapRun.Options) {
        atlas = rows.texts.atlas
        cache = CellCache(rows.texts.atlas)
        let disguise =
            options.disguise.isNone ? nil : RowDisguise(options.disguise, input, person: person)
        conversion = FieldConversion(from: input.keptForm, to: rows, disguise: disguise)
        isConverted = !conversion.isNone
        blank = rows.form.blank
        self.disguise = disguise
        checks = FieldChecks(input, options: options)
        reader = input.makeReader(hash: KeyHash())
        transform = input.reference?.makeTransform()
        acceptsNullIsland = options.acceptsNullIsland || input.arePairs
        (onError, withheld) = (options.onError, options.withheld)
        statistics = options.wantsStatistics ? ReportStatistics() : nil
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
    mutating func process(_ piece: inout Piece) {
        problems.removeAll(keepingCapacity: true)
        out.removeAll()
        (records, written, isStopped) = (0, 0, false)
        if statistics != nil { statistics = ReportStatistics() }
        guard let reader else { return reduceFixes(&piece.batch) }
        guard let base = unsafe piece.buffer.bytes.baseAddress else { return }
        if piece.buffer.count > Self.prefaultThresholdBytes { columns.prefault() }
        reader.begin(piece.buffer)
        while !isStopped, reader.read(piece.buffer, into: &piece.batch, limit: Self.batchSize) {
            if let transform { piece.batch.transform(from: 0, transform) }
            if !acceptsNullIsland { piece.batch.refuseNullIsland() }
            let base = piece.batch.kept?.isInText == true ? unsafe piece.batch.text.start : unsafe base
            if let checks { unsafe piece.batch.refuse(base, checks) }
            if let disguise { unsafe piece.batch.refuseTimes(base, disguise) }
            unsafe reduce(base, piece.batch, 0..<piece.batch.count)
            records += piece.batch.count
            piece.batch.removeRecords()
        }
    }

    /// Prints the records of an input that was read in order.
    private mutating func reduceFixes(_ batch: inout FixBatch) {
        if let transform { batch.transform(from: 0, transform) }
        if !acceptsNullIsland { batch.refuseNullIsland() }
        let base = unsafe batch.text.start
        if let checks { unsafe batch.refuse(base, checks) }
        if let disguise { unsafe batch.refuseTimes(base, disguise) }
        for start in stride(from: 0, to: batch.count, by: Self.batchSize) where !isStopped {
            let records = start..<min(start + Self.batchSize, batch.count)
            unsafe reduce(base, batch, records)
            self.records += records.count
        }
    }

    /// - Parameter all: at most `batchSize` records.
    private mutating func reduce(_ base: UnsafePointer<UInt8>, _ batch: borrowing FixBatch, _ all: Range<Int>) {
        guard let kept = batch.kept else { return }
        withheld.look(at: batch, all)
        // SAFETY: there is room for `batchSize` records.
        unsafe atlas.snap(
            UnsafeBufferPointer(rebasing: batch.positions.elements[all]),
            into: UnsafeMutableBufferPointer(start: regions, count: all.count), cache: &cache)
        let runCount = unsafe columns.findRuns(
            UnsafeBufferPointer(start: regions, count: all.count), into: runs, missing: missing)
        var start = all.lowerBound
        var problemsLeft = batch.problems(from: all.lowerBound)
        for run in 0..<runCount {
            let run = unsafe runs[run]
            let records = start..<all.lowerBound + Int(run.end)
            start = records.upperBound
            if run.region != .invalid {
                unsafe appendRun(base, kept, records, run)
                written += records.count
                statistics?.add(run.region, count: records.count)
                continue
            }
            for index in records {
                var reason = RecordProblem.Reason(outOfRange: batch.positions[index])
                if let problem = problemsLeft.first, problem.index == index {
                    reason = problemsLeft.removeFirst().reason
                }
                problems.append(RecordProblem(line: batch.lines[index], reason: reason))
                if onError == .stop {
                    isStopped = true
                    return
                }
                if onError == .blank {
                    unsafe appendBlank(base, kept, index)
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

    /// A bad record: nothing of it is copied, for its fields may stand in other columns than the header says.
    @inline(never)
    private mutating func appendBlank(_ base: UnsafePointer<UInt8>, _ kept: KeptFields, _ record: Int) {
        if isConverted {
            unsafe conversion.append(base, kept, record, isBlank: true, to: &out)
        } else {
            for _ in kept.entries { out.append(UInt8(ascii: ",")) }
        }
        out.append(blank)
    }
}

extension FixBatch {
    /// Takes the position from records whose times cannot be written.
    fileprivate mutating func refuseTimes(_ base: UnsafePointer<UInt8>, _ disguise: RowDisguise) {
        guard let kept else { return }
        refuse(0..<count) { unsafe disguise.hasReadableTimes(base, kept, $0) ? nil : .timeUnreadable }
    }
}

extension RecordProblem.Reason {
    /// Why the engine refused numbers that were parsed.
    init(outOfRange coordinate: Coordinate) {
        self = abs(coordinate.latitude) <= 90 ? .longitudeOutOfRange : .latitudeOutOfRange
    }
}
