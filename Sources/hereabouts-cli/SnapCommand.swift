import ArgumentParser
import CommandCore
import Hereabouts
import Traces

/// `hereabouts snap`.
struct SnapCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "snap",
        abstract: "Reduce each position of a table: one record out per record in, in order.",
        discussion: """
            Reads CSV with a header, or bare lines of a latitude and a longitude, and writes CSV:
              hereabouts snap visits.csv > reduced.csv
              hereabouts snap --keep species,count -o reduced.csv sightings.csv
              hereabouts snap --latitude-column breite --longitude-column laenge orte.csv
              hereabouts snap 31.7619 -106.4850
              printf '31.7619 -106.4850\\n31.6904,-106.4245\\n' | hereabouts snap

            The output has the columns latitude, longitude, horizontal_accuracy (meters), region, country and place, \
            the same for every position within a region. Before them come the input's key and time columns (id, \
            device, device_id, track; time, timestamp) and those named by --keep. All \
            others are dropped, and a line on \
            standard error says which. Keep only columns that do not give the position away themselves.

            Columns named N/S and E/W (or lat_ref, latitude_hemisphere and the like) give the position its signs. Lines \
            may end with a line feed, a carriage return or both.

            Records are taken one by one, without memory: for a moving device 'hereabouts convert' gives away less.
            """)

    @Argument(
        help: ArgumentHelp(
            "CSV files; standard input when none is given, or for '-'. Or positions: LAT LON, or LAT,LON.",
            valueName: "file"))
    var files: [String] = []

    @Option(name: .shortAndLong, help: ArgumentHelp("Write here instead of standard output.", valueName: "file"))
    var output: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Further columns to copy, separated by commas; may be repeated.", valueName: "names"))
    var keep: [String] = []

    @OptionGroup var csv: CSVArguments

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A bad record ends the run (stop), is left out (skip), or gives a record with empty columns (blank).",
            valueName: "policy"))
    var onError = ErrorPolicy.blank

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
        let atlas = try AtlasSearch.openAtOnce(option: path)
        try Session(inputs: inputs, output: output, used: [UsedFile(atlas: path)]).run {
            output, observer throws(TraceError) in
            try SnapRun.run(inputs, to: output, atlas: atlas, options: options, observer: observer)
        }
    }
}

/// How many threads a run may use.
struct ThreadOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "How many threads work at once; the output is the same for any number. (default: one per core)",
            valueName: "count"))
    var threads: Int?

    /// More than any machine at hand needs, and no way to ask for a million by mistake.
    private static let most = 256

    var count: Int { threads ?? min(availableCores, Self.most) }

    func validate() throws {
        guard let threads, !(1...Self.most).contains(threads) else { return }
        throw ValidationError("'--threads' takes a number from 1 to \(Self.most).")
    }
}
