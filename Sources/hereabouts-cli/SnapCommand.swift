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
            Reads CSV with a header, or lines of a latitude and a longitude, and writes CSV:
              hereabouts snap visits.csv > reduced.csv
              hereabouts snap --keep species,count -o reduced.csv sightings.csv
              hereabouts snap --latitude-column breite --longitude-column laenge orte.csv
              hereabouts snap 31.7619 -106.4850
              printf '31.7619 -106.4850\\n31.6904,-106.4245\\n' | hereabouts snap

            The output columns latitude, longitude, horizontal_accuracy (meters), region, country and place are \
            identical for every position of a region. The input's key and time columns (id, device, device_id; time, \
            timestamp) and those named by --keep are copied in front of them; standard error lists the dropped \
            ones. Keep only columns that do not reveal the position themselves.

            \(CSVArguments.layouts)

            Each record is reduced on its own. The records of a moving device show when it crossed from region to \
            region: use 'hereabouts convert' for traces.
            """)

    @Argument(
        help: ArgumentHelp(
            "CSV files, or '-' for standard input (the default); or positions: LAT LON, or LAT,LON.",
            valueName: "file"))
    var files: [String] = []

    @Option(name: .shortAndLong, help: ArgumentHelp("The file to write. (default: standard output)", valueName: "file"))
    var output: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Columns to copy as well, separated by commas; may be repeated.", valueName: "names"))
    var keep: [String] = []

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
        options.onError = onError
        options.threads = threads.count
        let inputs = try InputName.inputs(files, takesPositions: true)
        let path = try AtlasSearch.path(option: atlas.atlas)
        let atlas = try AtlasSearch.openLazily(option: path)
        try Session(inputs: inputs, output: output, used: [UsedFile(atlas: path)], isVerbose: messages.verbose).run {
            output, observer throws(TraceError) in
            try SnapRun.run(inputs, to: output, atlas: atlas, options: options, observer: observer)
        }
    }
}

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
