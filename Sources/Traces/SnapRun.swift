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
        /// Bytes read at a time. Changes nothing but speed.
        package var chunkBytes = 1 << 18

        package init() {}
    }

    private let atlas: Atlas
    private let options: Options
    private let observer: RunObserver
    private var summary = RunSummary()
    private var finishedBytes = 0
    /// The kept columns of the first file, which all others must have.
    private var keptNames: [String]?

    /// Reads all of `inputs` in order and writes the records to `output`, which it does not finish.
    ///
    /// - Complexity: O(bytes); memory is a few MiB, however large the input.
    package static func run(
        _ inputs: [InputName], to output: borrowing OutputFile, atlas: Atlas, options: Options, observer: RunObserver
    ) throws(TraceError) -> RunSummary {
        var run = SnapRun(atlas: atlas, options: options, observer: observer)
        for input in inputs { try run.reduce(ByteSource(input), to: output) }
        return run.summary
    }

    private init(atlas: Atlas, options: Options, observer: RunObserver) {
        self.atlas = atlas
        self.options = options
        self.observer = observer
    }

    private mutating func reduce(_ source: consuming ByteSource, to output: borrowing OutputFile) throws(TraceError) {
        var reader = BlockReader(source, chunkBytes: options.chunkBytes)
        let start = try CSVStart(&reader, options: options.csv)
        let layout = try layout(start, file: reader.label)
        var snapper = BlockSnapper(atlas: atlas, layout: layout, onError: options.onError)
        var out = ByteBuffer(capacity: 4 * options.chunkBytes)
        var problems: [RecordProblem] = []
        var line = 1
        var isHeader = start.header != nil
        try writeHeader(layout, file: reader.label, to: &out)
        while var block = unsafe try reader.next(line: line) {
            if isHeader {
                isHeader = false
                line += 1
                unsafe block = afterFirstLine(block)
            }
            let tally = unsafe snapper.reduce(block, into: &out, problems: &problems)
            try output.write(&out)
            if let overlong = tally.overlongLine { throw .recordTooLong(file: reader.label, line: line + overlong) }
            report(&problems, of: reader.label, from: line)
            line += tally.lines
            summary.records += tally.records
            summary.written += tally.written
            observer.progress(finishedBytes + reader.bytesRead)
            if tally.isStopped { throw .stopped }
        }
        try output.write(&out)
        finishedBytes += reader.bytesRead
    }

    /// Tells the observer of a block's bad records, with their lines in the file.
    private mutating func report(_ problems: inout [RecordProblem], of file: String, from line: Int) {
        for problem in problems {
            observer.problem(file, RecordProblem(line: line + problem.line, reason: problem.reason))
        }
        summary.badRecords += problems.count
        problems.removeAll(keepingCapacity: true)
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
            guard column != position.latitude, column != position.longitude,
                !usualNames.contains(CSVHeader.lowercase(name))
            else { throw .keepsPosition(name: name) }
            kept.insert(column)
        }
        let layout = CSVLayout(
            header: header, delimiter: delimiter, latitude: position.latitude, longitude: position.longitude,
            kept: kept.subtracting([position.latitude, position.longitude]))
        if !layout.droppedNames.isEmpty {
            observer.notice(.droppedColumns(file: file, names: layout.droppedNames))
        }
        return layout
    }

    /// Writes the header before the first file's records; checks that each further file has the same columns.
    private mutating func writeHeader(
        _ layout: CSVLayout, file: String, to out: inout ByteBuffer
    ) throws(TraceError) {
        if let keptNames {
            guard keptNames == layout.keptNames else { throw .headersDiffer(file: file) }
            return
        }
        keptNames = layout.keptNames
        for name in layout.keptNames {
            out.append(csv: Array(name.utf8))
            out.append(UInt8(ascii: ","))
        }
        out.append(RegionForm.csvHeader)
    }
}

/// What follows a block's first line, the header, which `CSVStart` has read.
func afterFirstLine(_ block: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
    // SAFETY: the rest of the block lies within it; its slack is the block's.
    guard let feed = unsafe block.firstIndex(of: 10) else { return unsafe block }
    return unsafe UnsafeBufferPointer(rebasing: block[(feed + 1)...])
}
