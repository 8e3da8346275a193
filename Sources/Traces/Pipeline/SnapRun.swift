import Hereabouts

/// `hereabouts snap`: the pipeline with the stateless stage.
package enum SnapRun {
    /// What the command's options say.
    package struct Options: Sendable {
        /// How columns are found.
        package var csv = CSVOptions()
        /// The format of the inputs; nil to recognize each.
        package var inputFormat: TraceFormat?
        /// The format to write; nil for that of the first input.
        package var format: TraceFormat?
        /// Columns to copy besides keys and times.
        package var keep: [String] = []
        /// The regions whose columns are empty.
        package var withheld: WithheldRegions?
        /// The columns or members of the device key, where it has no known name: of each input the first that is there.
        package var keyColumns: [String] = []
        /// The first of them, or the only one.
        package var keyColumn: String? {
            get { keyColumns.first }
            set { keyColumns = newValue.map { [$0] } ?? [] }
        }
        /// The column or member of the time, where it has no known name.
        package var timeColumn: String?
        /// Whether numbers with a part below one are device keys, in a column that was found by its name.
        package var acceptsNumericKeys = false
        /// Whether records at exactly 0, 0 have a position.
        package var acceptsNullIsland = false
        /// How a table's times are written.
        package var timeStyle = TimeStyle()
        /// What becomes of keys and times.
        package var disguise = Disguise()
        /// What happens to a bad record.
        package var onError = ErrorPolicy.blank
        /// Whether the regions that are written are counted.
        package var wantsStatistics = false
        /// How many threads may work at once. Changes nothing but speed.
        package var threads = 1
        /// Bytes read at a time. Changes nothing but speed.
        package var readBytes = 1 << 18
        /// The formats of inputs.
        var formats = TraceFormat.all
        /// The moment of the run; see `ConvertRun.Options`.
        package var now = Timestamp.systemClock()

        package init() {}

        /// The same for an input that is opened for its fixes, which need no times.
        var ofFixes: ConvertRun.Options {
            var options = ConvertRun.Options()
            options.csv = csv
            (options.keyColumns, options.timeColumn, options.timeStyle) = (keyColumns, timeColumn, timeStyle)
            options.acceptsNumericKeys = acceptsNumericKeys
            options.acceptsNullIsland = acceptsNullIsland
            (options.acceptsUntimed, options.acceptsMissingTimes) = (true, true)
            (options.now, options.readBytes) = (now, readBytes)
            return options
        }
    }

    /// Reads all of `inputs` in order, writes the records to `output`, and publishes it.
    ///
    /// The observer is called on any of the threads, by one at a time, in order of the input.
    ///
    /// - Complexity: O(bytes). Memory is at most 4 MiB per thread and 20 MiB (see `RegionTextCache`), however large the input;
    ///   10 MiB more per thread where a record is a mebibyte of separators.
    package static func run(
        _ inputs: [InputName], to output: consuming OutputFile, atlas: Atlas, options: Options, observer: RunObserver
    ) throws(TraceError) -> RunSummary {
        var writesRows: Bool?
        try UnusedOptions.lookAhead(options.given, inputs) { (reader) throws(TraceError) in
            var reader = reader
            let format = try TraceFormat.recognized(&reader, options: options)
            let opensRows = writesRows ?? (format.output(options).rowForm != nil)
            writesRows = opensRows
            return opensRows
                ? try format.openRows(reader, options: options) : try format.openFixes(reader, options: options)
        }
        var options = options
        options.withheld = options.withheld?.begun()
        var stage = SnappingStage(inputs, to: output, atlas: atlas, options: options, observer: observer)
        try runPipeline(
            inputs, through: &stage, threads: options.threads, readBytes: options.readBytes, observer: observer)
        return try stage.finish()
    }
}
