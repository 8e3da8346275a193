import Hereabouts

/// `hereabouts snap`: CSV records in, the same records with the position reduced out, in order, none remembered.
package struct SnapRun {
    /// What the command's options say.
    package struct Options: Sendable {
        /// How columns are found.
        package var csv = CSVOptions()
        /// Columns to copy besides keys and times.
        package var keep: [String] = []
        /// What happens to a bad record.
        package var onError = ErrorPolicy.blank
        /// How many threads may work at once. Changes nothing but speed.
        package var threads = 1
        /// Bytes read at a time. Changes nothing but speed.
        package var chunkBytes = 1 << 18

        package init() {}
    }

    private let options: Options
    private let observer: RunObserver
    private let texts: RegionTexts
    private let stop = StopSign()
    private var summary = RunSummary()
    private var finishedBytes = 0
    /// The kept columns of the first file, which all others must have.
    private var keptNames: [String]?

    /// Reads all of `inputs` in order, writes the records to `output`, and publishes it.
    ///
    /// The observer is called on any of the threads, by one at a time, in order of the input.
    ///
    /// - Complexity: O(bytes). Memory is at most 4 MiB per thread and 20 MiB (see `RegionTexts`), however large the input;
    ///   10 MiB more per thread where a record is a mebibyte of separators.
    package static func run(
        _ inputs: [InputName], to output: consuming OutputFile, atlas: Atlas, options: Options, observer: RunObserver
    ) throws(TraceError) -> RunSummary {
        var run = SnapRun(atlas: atlas, options: options, observer: observer)
        for input in inputs { try run.reduce(ByteSource(input, stop: run.stop), to: output) }
        try atlas.requireUnchanged()
        try output.publish()
        return run.summary
    }

    private init(atlas: Atlas, options: Options, observer: RunObserver) {
        self.options = options
        self.observer = observer
        texts = RegionTexts(atlas: atlas, form: .csv)
    }

    private mutating func reduce(_ source: consuming ByteSource, to output: borrowing OutputFile) throws(TraceError) {
        var reader = BlockReader(source, chunkBytes: options.chunkBytes)
        let start = try CSVStart(&reader, options: options.csv)
        let before = summary.records
        let layout = try layout(start, file: reader.label)
        try writeHeader(layout, file: reader.label, to: output)
        let (options, texts, file) = (options, texts, reader.label)
        var line = start.firstRecordLine
        try runLanes(threads: options.threads, stop: stop) {
            SnapLane(texts: texts, layout: layout, options: options)
        } take: { lane in
            lane.input.takeRecords(from: &reader)
        } work: { lane in
            lane.reduce()
        } settle: { (lane) throws(TraceError) in
            try settle(&lane, line: &line, file: file, to: output)
        }
        if summary.records == before { observer.notice(.noPoints(file: reader.label)) }
        finishedBytes += reader.bytesRead
    }

    /// Writes out what came of a lane's block, which starts at `line`, and moves `line` behind it.
    private mutating func settle(
        _ lane: inout SnapLane, line: inout Int, file: String, to output: borrowing OutputFile
    ) throws(TraceError) {
        if let failure = lane.input.failure { throw failure.at(line: line) }
        if lane.input.isAtEnd { return }
        if lane.out.count > 0 {
            try texts.atlas.requireUnchanged()
            try output.write(&lane.out)
        }
        for problem in lane.problems {
            observer.problem(file, RecordProblem(line: line + problem.line, reason: problem.reason))
        }
        let tally = lane.tally
        summary.records += tally.records
        summary.written += tally.written
        summary.badRecords += lane.problems.count
        if let overlong = tally.overlongLine { throw .recordTooLong(file: file, line: line + overlong) }
        line += tally.lines
        observer.progress(finishedBytes + lane.input.bytesRead)
        if tally.isStopped { throw .stopped }
    }

    /// Finds the columns, and says which are dropped.
    private func layout(_ start: CSVStart, file: String) throws(TraceError) -> CSVLayout {
        guard let header = start.header, let delimiter = start.delimiter else {
            if let name = options.keep.first { throw .unknownColumn(file: file, name: name) }
            return .bare
        }
        let position = try header.position(options: options.csv, in: file)
        var kept = Set(header.columns(namedAnyOf: CSVHeader.keyNames + CSVHeader.timeNames))
        for name in options.keep {
            guard let column = try header.column(named: name, in: file) else {
                throw .unknownColumn(file: file, name: name)
            }
            let usualNames = CSVHeader.latitudeNames + CSVHeader.longitudeNames
            guard !position.all.contains(column), !usualNames.contains(CSVHeader.lowercase(name)) else {
                throw .keepsPosition(name: name)
            }
            kept.insert(column)
        }
        let layout = CSVLayout(header: header, delimiter: delimiter, position: position, kept: kept)
        let dropped = layout.roles.indices.filter { layout.roles[$0] == .dropped }
        if let notice = header.notice(ofDropped: dropped, file: file) { observer.notice(notice) }
        return layout
    }

    /// Writes the header before the first file's records; checks that each further file has the same columns.
    private mutating func writeHeader(
        _ layout: CSVLayout, file: String, to output: borrowing OutputFile
    ) throws(TraceError) {
        if let keptNames {
            guard keptNames == layout.keptNames else { throw .headersDiffer(file: file) }
            return
        }
        keptNames = layout.keptNames
        var out = ByteBuffer(capacity: 1 << 12)
        for name in layout.keptNames {
            out.append(csv: Array(name.utf8))
            out.append(UInt8(ascii: ","))
        }
        out.append(RegionForm.csvHeader)
        try output.write(&out)
    }
}

/// What one thread works with: a block of records, and what came of it.
private struct SnapLane: ~Copyable {
    var input: LaneInput
    private var snapper: BlockSnapper
    var out: ByteBuffer
    private(set) var problems: [RecordProblem] = []
    private(set) var tally = BlockTally()

    init(texts: RegionTexts, layout: CSVLayout, options: SnapRun.Options) {
        input = LaneInput(chunkBytes: options.chunkBytes)
        snapper = BlockSnapper(texts: texts, layout: layout, onError: options.onError)
        out = ByteBuffer(capacity: 2 * options.chunkBytes)
    }

    mutating func reduce() {
        problems.removeAll(keepingCapacity: true)
        tally = unsafe snapper.reduce(input.block.bytes, into: &out, problems: &problems)
    }
}
