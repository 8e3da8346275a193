import ArgumentParser
import CommandCore
import Hereabouts
import Traces

/// `hereabouts snap`.
struct SnapCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "snap",
        abstract: "Reduce each position of a table: one record out per record in, in input order.",
        discussion: """
            Reads CSV with a header, lines of a latitude and a longitude, or JSON, and writes CSV or NDJSON:
              hereabouts snap visits.csv > reduced.csv
              hereabouts snap events.ndjson.gz --keep /sensor/name -o reduced.ndjson.gz
              hereabouts snap --keep species,count -o reduced.csv sightings.csv
              hereabouts snap --latitude-column breite --longitude-column laenge orte.csv
              hereabouts snap 31.7619 -106.4850
              printf '31.7619 -106.4850\\n31.6904,-106.4245\\n' | hereabouts snap

            The output columns latitude, longitude, horizontal_accuracy (meters), region, country and place are \
            identical for every position of a region. The input's key and time columns (id, device, device_id; time, \
            timestamp) and those named by --keep are copied in front of them; standard error lists the dropped \
            ones. Keep only columns that do not reveal the position themselves.

            \(CSVArguments.layouts)

            JSON is objects, one on each line, or over several lines, or in an array. Their members are columns, those of \
            the first object and those that an option names: by name, or beginning with a slash by JSON pointer \
            (--latitude-column /position/lat; /coordinates/1 is the second of an array). Only numbers, strings, true, \
            false and null are kept. Each object out has the same members, null where the input's has none.

            gzip and zstd are read by what the input starts with. A broken stream ends the run with status 2.

            Each record is reduced on its own. The records of a moving device show when it crossed from region to \
            region: use 'hereabouts convert' for traces.
            """)

    @Argument(
        help: ArgumentHelp(
            "CSV or NDJSON files, or '-' for standard input (the default); or positions: LAT LON, or LAT,LON.",
            valueName: "file"))
    var files: [String] = []

    @Option(name: .shortAndLong, help: ArgumentHelp("The file to write. (default: standard output)", valueName: "file"))
    var output: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Columns to copy as well, separated by commas; may be repeated.", valueName: "names"))
    var keep: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The format to write: csv or ndjson. (default: the extension of --output, else the input's format)",
            valueName: "format"))
    var to: TableFormat?

    @Option(
        name: .long,
        help: ArgumentHelp("The format of the inputs: csv or ndjson. (default: as each looks)", valueName: "format"))
    var from: TableFormat?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Compress the output: gzip or zstd. (default: as its extension says, .gz or .zst)", valueName: "how"))
    var compress: Compression?

    @OptionGroup var csv: CSVArguments

    @Option(
        name: .long,
        help: ArgumentHelp(
            "What to do with a bad record: end the run (stop), omit it (skip), or write it with empty columns (blank).",
            valueName: "policy"))
    var onError = ErrorPolicy.blank

    @OptionGroup var messages: MessageOptions

    @OptionGroup var threads: ThreadOptions

    @OptionGroup var atlas: AtlasOptions

    func run() throws {
        var options = SnapRun.Options()
        options.csv = csv.options
        options.keep = keep.flatMap { $0.split(separator: ",").map(String.init) }
        options.inputFormat = from?.format
        options.format = to?.format ?? output.flatMap(TableFormat.init(ofFile:))?.format
        options.onError = onError
        options.threads = threads.count
        let inputs = try InputName.inputs(files, takesPositions: true)
        let path = try AtlasSearch.path(option: atlas.atlas)
        let atlas = try AtlasSearch.openLazily(option: path)
        try Session(
            inputs: inputs, output: output, compression: compress, used: [UsedFile(atlas: path)],
            isVerbose: messages.verbose
        ).run {
            output, observer throws(TraceError) in
            try SnapRun.run(inputs, to: output, atlas: atlas, options: options, observer: observer)
        }
    }
}

/// A format that `snap` reads and writes.
struct TableFormat: ExpressibleByArgument {
    let format: TraceFormat

    init?(argument: String) {
        guard let format = TraceFormat.tables.first(where: { $0.name == argument }) else { return nil }
        self.format = format
    }

    /// That of a file name's extension; nil for one that is of no such format.
    init?(ofFile name: String) {
        guard let format = TraceFormat.output(ofFile: name), TraceFormat.tables.contains(format) else { return nil }
        self.format = format
    }

    static var allValueStrings: [String] { TraceFormat.tables.map(\.name) }
}

extension Compression: ExpressibleByArgument {}

/// The option for what standard error gets.
struct MessageOptions: ParsableArguments {
    @Flag(
        name: .long, help: "Name every bad record; else after ten of a file for the same reason they are only counted.")
    var verbose = false
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
