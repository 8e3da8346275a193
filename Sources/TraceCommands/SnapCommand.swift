import ArgumentParser
import CommandCore
import Hereabouts
import Traces

/// `hereabouts snap`.
struct SnapCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "snap",
        abstract: "Reduce each position of a file: one record out per record in, in input order.",
        discussion: """
            Reads tables (CSV with a header, lines of a latitude and a longitude, JSON) and every format that convert \
            reads, and writes every format that convert writes:
              hereabouts snap visits.csv > reduced.csv
              hereabouts snap events.ndjson.gz --keep /sensor/name -o reduced.ndjson.gz
              hereabouts snap --keep species,count -o reduced.csv sightings.csv
              hereabouts snap --latitude-column breite --longitude-column laenge orte.csv
              hereabouts snap 31.7619 -106.4850
              printf '31.7619 -106.4850\\n31.6904,-106.4245\\n' | hereabouts snap
            Positions given as arguments stand in the shell's history and in the system's list of processes; those of a file \
            do not.

              hereabouts snap ride.gpx --to csv > every-point.csv
              hereabouts snap stations.geojson --keep name -o reduced.geojson

            The output columns latitude, longitude, horizontal_accuracy (meters), region, country and place are \
            identical for every position of a region. The input's key and time columns (id, device, device_id; time, \
            timestamp) and those named by --keep are copied in front of them; standard error lists the dropped \
            ones. Keep only columns that do not reveal the position themselves.

            \(CSVArguments.layouts)

            JSON is objects, one on each line, or over several lines, or in an array. Their members are columns, those of \
            the first object and those that an option names: by name, or beginning with a slash by JSON pointer \
            (--latitude-column /position/lat; /coordinates/1 is the second of an array). Only numbers, strings, true, \
            false and null are kept. Each object out has the same members, null where the input's has none.

            Of GPX, GeoJSON and the like each point is a record: its device key, or the number of its track, and its time, \
            in whole seconds of UTC. --keep names properties of GeoJSON features (numbers, strings, true, false), as members \
            of JSON are named. CSV, NDJSON and GeoJSON have kept columns; a bad record is a feature without geometry in \
            GeoJSON. Other formats have key or track, and time, in columns as convert finds them (--key-column, \
            --time-column); they leave bad records out. GPX and KML are written at the end: what is more than half a million records waits in a \
            temporary file without a name (TMPDIR, or /tmp), 16 bytes for each.

            \(DisguiseArguments.discussion) The keys of a table are the kept columns of the names that convert knows, and \
            --key-column; its times those of such names, --time-column, and whatever a kept column has that reads as a date \
            (text, not a number). They are written in ISO 8601 then; a record with a time that cannot be read is bad. Rows \
            keep their order: where those of several devices are mixed by time, it tells how their clocks differ.

            An option for how inputs are read that no input of the run uses is an error. --date-order and --time-zone are \
            used where times are written anew: of GPX and the like, and of tables with the options above.

            gzip and zstd are read by what the input starts with. A broken stream ends the run with status 2.

            --zones withholds the regions around sensitive places: their columns are empty, as are \
            those of regions that promise fewer residents than --least. See 'hereabouts convert --help'.

            Each record is reduced on its own. The records of a moving device show when it crossed from region to \
            region: use 'hereabouts convert' for traces.
            """)

    @Argument(
        help: ArgumentHelp(
            "CSV or NDJSON files, or '-' for standard input (the default); or positions: LAT LON, or LAT,LON.",
            valueName: "file"), completion: .file())
    var files: [String] = []

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The file to write, or '-' for standard output, the default.", valueName: "file"),
        completion: .file())
    var output: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Columns to copy as well, separated by commas; may be repeated.", valueName: "names"))
    var keep: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The format to write. (default: the extension of --output, else the input's format if it is written, else csv)",
            valueName: "format"))
    var to: TraceFormat?

    @Option(
        name: .long,
        help: ArgumentHelp("The format of the inputs. (default: as each looks)", valueName: "format"))
    var from: InputFormat?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Compress the output: gzip or zstd. (default: as its extension says, .gz or .zst)", valueName: "how"))
    var compress: Compression?

    @OptionGroup var csv: CSVArguments

    @OptionGroup var geometry: GeometryOptions

    @OptionGroup var least: LeastArguments

    @OptionGroup var clock: ClockArguments

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            What to do with a bad record: end the run (stop), omit it (skip), or write it without a position (blank; where \
            the format has no such records, omit it).
            """,
            valueName: "policy"))
    var onError = ErrorPolicy.blank

    @OptionGroup var disguise: DisguiseArguments

    @OptionGroup var runOptions: RunArguments

    @OptionGroup var messages: MessageOptions

    @OptionGroup var threads: ThreadOptions

    @OptionGroup var atlas: AtlasOptions

    mutating func validate() { if output == "-" { output = nil } }

    func run() throws {
        var options = SnapRun.Options()
        options.csv = csv.options
        options.csv.reference = try geometry.reference()
        options.keep = keep.flatMap { $0.split(separator: ",").map(String.init) }
        options.keyColumns = clock.keyColumn
        options.timeColumn = clock.timeColumn
        options.acceptsNumericKeys = clock.acceptNumericKeys
        options.acceptsNullIsland = clock.acceptNullIsland
        options.timeStyle = try clock.style()
        options.disguise = try disguise.disguise()
        options.inputFormat = from?.format
        options.format = to ?? output.flatMap(TraceFormat.output(ofFile:))
        options.onError = onError
        options.threads = threads.count
        options.wantsStatistics = runOptions.stats != nil
        try runOptions.validateStats(besides: files, output: output)
        let inputs = try InputName.inputs(files, takesPositions: true)
        let path = try AtlasSearch.path(option: atlas.atlas)
        let atlas = try AtlasSearch.openLazily(option: path)
        options.withheld = least.withheld(
            besides: try geometry.withheld(atlas, atlasPath: path, isQuiet: messages.notices.quiet), atlas)
        try Session(
            inputs: inputs, output: output, compression: compress,
            used: [UsedFile(atlas: path)] + geometry.usedFiles + disguise.usedFiles,
            isVerbose: messages.verbose, isQuiet: messages.notices.quiet, isDry: runOptions.dryRun,
            finished: runOptions.finisher(inputs: inputs, output: output, atlas: atlas, least: least.least)
        ).run {
            output, observer throws(TraceError) in
            try SnapRun.run(inputs, to: output, atlas: atlas, options: options, observer: observer)
        }
    }
}

extension Compression: ExpressibleByArgument {}

/// The option for what standard error gets.
struct MessageOptions: ParsableArguments {
    @Flag(
        name: .long, help: "Name every bad record; else after ten of a file for the same reason they are only counted.")
    var verbose = false

    @OptionGroup var notices: NoticeOptions
}

/// The option for whether notices are shown.
struct NoticeOptions: ParsableArguments {
    @Flag(
        name: .long,
        help: "Leave out notices, such as dropped columns. Bad records and errors are named all the same.")
    var quiet = false
}

/// The option for the number of threads.
struct ThreadOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "Number of threads; the output does not depend on it. (default: one per core)",
            valueName: "count"))
    var threads: Int?

    /// An upper bound against mistyped numbers; more threads than this gain nothing.
    private static let most = 256

    var count: Int { threads ?? min(availableCores, Self.most) }

    func validate() throws {
        guard let threads, !(1...Self.most).contains(threads) else { return }
        throw ValidationError("'--threads' takes a number from 1 to \(Self.most).")
    }
}
