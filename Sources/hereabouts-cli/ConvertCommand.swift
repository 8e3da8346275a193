import ArgumentParser
import CommandCore
import Hereabouts
import Traces

/// `hereabouts convert`.
struct ConvertCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: "Reduce recorded traces: each device is answered at most every 15 minutes.",
        discussion: """
            Reads GPX 1.0 and 1.1 and CSV with a header, and writes GPX 1.1, CSV or GeoJSON:
              hereabouts convert ride.gpx -o around.gpx
              hereabouts convert monday.gpx tuesday.gpx -o week.geojson
              hereabouts convert --interval 30m --to csv fleet.csv > fleet-around.csv
              hereabouts convert --emit fixes ride.gpx -o every-fix.csv

            Each track is one device; in a CSV, each value of the column device_id, device, track or id (the first of \
            these there is), else the whole file. Times are ISO 8601, in UTC unless they say otherwise, or in a CSV \
            seconds or milliseconds since 1970. A fix that is not newer than its device's newest is never answered anew.

            A GPX file is one person's: a track that begins after those before it have ended keeps their pace, and \
            waypoints and routes get the answer that stands at their time. Only where no track answers within the \
            interval do they get one of their own. Without a time they are bad records beside points that have one.

            Nothing of the input reaches the output but its times, cut to whole seconds, and a CSV's device key; \
            tracks are numbered. In GPX the elements accuracy (meters), region, country and place of the namespace \
            urn:hereabouts:gpx:1 stand in each point's extensions.

            With --state the pace outlives the run: a device that was answered is not answered again before its interval \
            is over, however often the stream is stopped and started:
              hereabouts convert --state fleet.pace --to csv fleet.csv > fleet-around.csv
            Answers and state become known together. After a run that was killed, run it again: it gives the rest. On \
            standard output it begins with the last answers once more, since nobody knows whether they came out.

            A track without times cannot be paced: its regions are put out in their order, each change once.

            With --output the file appears when the whole input is converted, or not at all; on standard output what \
            was written before an error stays.
            """)

    @Argument(help: ArgumentHelp("GPX or CSV files; standard input when none is given, or for '-'.", valueName: "file"))
    var files: [String] = []

    @Option(name: .shortAndLong, help: ArgumentHelp("Write here instead of standard output.", valueName: "file"))
    var output: String?

    @Option(
        name: .long,
        help: ArgumentHelp("gpx, csv or geojson; told from the output's name otherwise.", valueName: "format"))
    var to: ReportFormat?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The least time between two answers for a device: a number and s, m or h; at least 1s.",
            valueName: "duration"))
    var interval = Interval(duration: .seconds(900), text: "15m")

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            What is written: changes of the answer, all recomputations, or all fixes, each with its own time and the \
            answer that stands.
            """, valueName: "what"))
    var emit = Emission.changes

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Keep the devices' paces in this file from run to run. It holds device keys, regions and times: keep it where \
            the fixes are kept. For tables with device keys, or a single one without.
            """, valueName: "file"))
    var state: String?

    @OptionGroup var csv: CSVArguments

    @Option(name: .long, help: ArgumentHelp("The column of a CSV that tells devices apart.", valueName: "name"))
    var keyColumn: String?

    @Option(
        name: .long,
        help: ArgumentHelp("The column of a CSV's times, where it is not named time or timestamp.", valueName: "name"))
    var timeColumn: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            A bad record ends the run (stop) or is left out (skip); with '--to csv --emit fixes' it can give a record \
            with empty columns (blank).
            """, valueName: "policy"))
    var onError = ErrorPolicy.skip

    @OptionGroup var threads: ThreadOptions

    @OptionGroup var atlas: AtlasOptions

    func validate() throws {
        guard format != nil else {
            throw ValidationError("Say what to write: --to gpx, csv or geojson, or an output file that ends so.")
        }
        if onError == .blank && (format != .csv || emit != .fixes) {
            throw ValidationError("'--on-error blank' needs a record per fix: --to csv --emit fixes.")
        }
    }

    func run() throws {
        var options = ConvertRun.Options()
        options.csv = csv.options
        options.keyColumn = keyColumn
        options.timeColumn = timeColumn
        options.format = format ?? .gpx
        options.interval = interval.duration
        options.emission = emit
        options.onError = onError
        options.state = state
        options.threads = threads.count
        let inputs = try InputName.inputs(files)
        let path = try AtlasSearch.path(option: atlas.atlas)
        let atlas = try AtlasSearch.openAtOnce(option: path)
        let used = [UsedFile(atlas: path)] + (state.map { [UsedFile(state: $0)] } ?? [])
        options.usedFiles = [UsedFile(atlas: path)]
        try Session(inputs: inputs, output: output, used: used).run { output, observer throws(TraceError) in
            try ConvertRun.run(inputs, to: output, atlas: atlas, options: options, observer: observer)
        }
    }

    /// The format asked for, or the one the output's name ends with.
    private var format: ReportFormat? {
        if let to { return to }
        guard let output, let dot = output.lastIndex(of: ".") else { return nil }
        return ReportFormat(rawValue: output[output.index(after: dot)...].lowercased())
    }
}

extension ReportFormat: ExpressibleByArgument {}
extension Emission: ExpressibleByArgument {}

/// A duration as people write it: `90s`, `15m`, `1h`, or `1.5h`.
struct Interval: ExpressibleByArgument, CustomStringConvertible {
    var duration: Duration
    /// As it was written.
    var text: String

    init(duration: Duration, text: String) {
        self.duration = duration
        self.text = text
    }

    /// From a second up to a year; nil for all else.
    init?(argument: String) {
        let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600]
        guard let unit = argument.last.flatMap({ units[$0] }), let number = Double(argument.dropLast()),
            number.isFinite, (1...31_536_000).contains(number * unit)
        else { return nil }
        duration = .milliseconds((number * unit * 1000).rounded(.up))
        text = argument
    }

    var description: String { text }
    var defaultValueDescription: String { text }
}
