import Hereabouts

/// What is one device in inputs without device keys.
package enum DevicesOfTracks: String, CaseIterable, Sendable {
    /// A file, whatever tracks it has; or several whose names differ in their folders and extensions alone.
    case files
    /// A track or route.
    case tracks
    /// All files of a folder that is walked.
    case folder
    /// The files below each folder in that folder; those that are in none are one more device's.
    case subfolders
}

/// `hereabouts convert`: the pipeline with the pacing stage.
package enum ConvertRun {
    /// What the command's options say.
    package struct Options: Sendable {
        /// How a CSV's position is found.
        package var csv = CSVOptions()
        /// The columns or members of the device key, where it has no known name: of each input the first that is there.
        package var keyColumns: [String] = []
        /// The first of them, or the only one.
        package var keyColumn: String? {
            get { keyColumns.first }
            set { keyColumns = newValue.map { [$0] } ?? [] }
        }
        /// The CSV column of the time, where it has no known name.
        package var timeColumn: String?
        /// Whether numbers with a part below one are device keys, in a column that was found by its name.
        package var acceptsNumericKeys = false
        /// Whether records at exactly 0, 0 have a position.
        package var acceptsNullIsland = false
        /// How a CSV's times are written.
        package var timeStyle = TimeStyle()
        /// The date (UTC) of the first fix, as days since 1970, for inputs of times of day that say none.
        package var firstDay: Int64?
        /// Whether a table may have no column of times: its fixes are answered in order of the way, unpaced.
        package var acceptsUntimed = false
        /// Whether a record may lack the time that others of its input have.
        var acceptsMissingTimes = false
        /// Whether each record is a line, so that a quote left open ends with it.
        var recordsAreLines = false
        /// The moment of the run: fixes of more than a day later are bad records.
        package var now = Timestamp.systemClock()
        /// What becomes of keys and times.
        package var disguise = Disguise()
        /// The format of the inputs; nil to recognize each.
        package var inputFormat: TraceFormat?
        /// How gpsbabel is run, for who tests that.
        var gpsbabel = GPSBabelProgram()
        /// What to write.
        package var format = TraceFormat.gpx
        /// The time between two ticks; at least a second.
        package var interval = Duration.seconds(900)
        /// What is reported.
        package var emission = Emission.changes
        /// What is one device in inputs without device keys.
        package var devices = DevicesOfTracks.files
        /// Whether all inputs are one device's, whatever keys or tracks they have.
        package var isOneDevice = false
        /// Whether the answers of a person without a key are one track's, in order of time. Not with a record per fix.
        package var joinsTracks = false
        /// Whether fixes are answered whose steps no one device can have made.
        package var acceptsJumps = false
        /// What happens to a bad record. `blank` only with CSV output and `Emission.fixes`.
        package var onError = ErrorPolicy.skip
        /// The file that carries paces from run to run; nil where each run begins anew. All inputs without device keys are
        /// one person's then.
        package var state: String?
        /// The other atlas that the state may be of; nil where it must be of this one.
        package var stateOrigin: StateOrigin?
        /// The regions of which nothing is published. A state is of one such set: where it changes, old and new answers
        /// together would say more than either.
        package var withheld: WithheldRegions?
        /// The files besides the inputs that the state must not replace.
        package var usedFiles: [UsedFile] = []
        /// Whether an output that has records may be replaced by one without.
        package var allowsEmpty = false
        /// The output that a dry run would replace; nil where the run's output is what it seems.
        package var dryOutput: String?
        /// Whether the summary is to say what the reports come to.
        package var wantsStatistics = false
        /// How many threads may work at once. Changes nothing but speed.
        package var threads = 1
        /// Bytes read at a time. Changes nothing but speed.
        package var readBytes = 1 << 18
        /// Fixes before this moment are bad records.
        var earliest = TimeBounds.earliest
        /// The formats of inputs.
        var formats = TraceFormat.all

        package init() {}

        /// Whether somebody on foot is found more closely when an answer changes than with an interval of an hour.
        var isFastForWalkers: Bool { interval < .seconds(3600) && emission != .stays }
    }

    /// Reads all of `inputs` in order, writes their devices' reports to `output`, and publishes it.
    ///
    /// The observer is called on any of the threads, by one at a time, in order of the input.
    ///
    /// - Complexity: O(bytes). Memory is at most 4 MiB per thread and 20 MiB, some 250 bytes per device, for GPX and KML 16 MiB
    ///   for reports, and for inputs without device keys 240 KB and some 150 bytes per tick that has fixes, 64 per point
    ///   without a time, and 16 MiB for fixes if each gives a record.
    package static func run(
        _ inputs: [InputName], to output: consuming OutputFile, atlas: Atlas, options: Options, observer: RunObserver
    ) throws(TraceError) -> RunSummary {
        precondition(options.interval >= .seconds(1), "the interval is at least a second")
        precondition(
            options.onError != .blank || options.format.hasBlankRecords && options.emission == .fixes,
            "only a table with a record per fix has blank records")
        try UnusedOptions.lookAhead(options.given, inputs) { (reader) throws(TraceError) in
            try TraceFormat.open(reader, options: options)
        }
        var options = options
        options.withheld = options.withheld?.begun()
        var journal: PaceJournal?
        if let state = options.state {
            try UsedFile.check(state, besides: inputs.map { UsedFile($0) } + options.usedFiles)
            journal = try .opened(
                at: state, fingerprint: atlas.fingerprint ^ (options.withheld?.fingerprint ?? 0),
                interval: options.interval, emission: options.emission, from: options.stateOrigin.map { ($0, atlas) })
            if let move = journal?.move {
                observer.notice(.stateMoved(file: state, regions: move.regions, dropped: move.dropped))
            }
            for file in journal?.missing ?? [] { observer.notice(.outputMissing(file: file.destination)) }
        }
        var stage = PacingStage(
            inputs, to: output, atlas: atlas, options: options, journal: journal, observer: observer)
        try runPipeline(
            inputs, through: &stage, threads: options.threads, readBytes: options.readBytes, observer: observer)
        return try stage.finish()
    }
}
