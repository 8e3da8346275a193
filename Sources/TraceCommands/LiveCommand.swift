import ArgumentParser
import CommandCore
import Synchronization
import Traces

/// `hereabouts live`. `hereabouts` runs it without a state, `hereabouts-live` with one too; the others become that.
package struct LiveCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "live",
        abstract: "Reduce fixes as they come: from standard input to standard output, without an end.",
        discussion: """
            Each line in is a fix, each line out a report, written at the moment it is due:
              tail -f fixes.ndjson | hereabouts live | jq .
              gpspipe -w | hereabouts live --from gpsd --to ndjson
              mosquitto_sub -v -t 'owntracks/#' | hereabouts live --from owntracks --to owntracks | mosquitto_pub -l -t around
              hereabouts live --replay --from csv --to csv < log.csv

            A device is answered at ticks, the multiples of the interval in UTC (:00, :15, :30, :45), as by 'hereabouts \
            convert': the newest fix of the interval before the tick is reduced, and the report has the tick's time. The \
            reports of a tick are in order of the device keys. They come at the tick whether or not input does, and \
            nothing else decides what comes out, or when.

            --from csv takes a header first, and key, time and accuracy from the columns that 'convert' takes them from; \
            ndjson the same from members. In both a record is one line. gpsd takes TPV reports; all receivers are one \
            device. owntracks takes the JSON of locations, with the topic in front (mosquitto_sub -v) or not: the device \
            is the topic, else the member topic, else tid. nmea takes the sentences of one receiver. A fix without a time \
            has that of its arrival.

            --to csv and ndjson write key, time and the reduced location, as 'convert' does; gpsd a TPV of class, device, \
            mode, time, lat, lon and eph; owntracks _type, lat, lon, acc, tst and tid, the last two characters of the key. \
            Nothing else of the input is written.

            --replay has the input's own times for a clock: what a log would have given, at once. Records are in order of \
            time; one that is late for its tick counts as late.

            --state FILE (SQLite) keeps device keys, regions and ticks, and no positions. What a tick came to is in it \
            before its reports are written, so that no tick is answered twice and no answer is lost, whenever the run is \
            killed. After a run that may not have written the reports of its last tick, they are written again first. \
            Fixes that wait for their tick are in memory alone. One run at a time has a state.

            Bad lines are counted, the first of each reason is named by its number, and the run goes on. Lines beyond \
            64 KiB are bad, and devices beyond --max-devices are not answered. A device that was last answered \
            --forget-after ago, and has sent nothing since, is forgotten.

            SIGTERM, SIGINT and SIGHUP end the run with status 0: what waits for its tick is not answered ahead of time. A \
            second one ends it at once. Where the reader of the output goes away, it ends with status 0 as well. At the \
            end of the input --replay answers what is due; the clock on the wall is not waited for. The status is 1 then \
            if records were bad.
            """)

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The lines to read: \(LiveSource.allCases.map(\.rawValue).joined(separator: ", ")).", valueName: "format"))
    package var from = LiveSource.ndjson

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The lines to write: \(LiveTarget.allCases.map(\.rawValue).joined(separator: ", ")).", valueName: "format"))
    package var to = LiveTarget.ndjson

    @Flag(name: .long, help: "Go by the times of the input, not by the clock.")
    package var replay = false

    @OptionGroup var ticks: TickArguments

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            What to report: answers that differ from the last (changes), or the answer of every tick with a fix \
            (recomputations).
            """, valueName: "what"))
    var emit = LiveEmission.changes

    @Flag(name: .long, help: "Pad lines of ndjson to multiples of 256 bytes: their lengths tell of the regions.")
    package var pad = false

    @Option(
        name: .long,
        help: ArgumentHelp("Keep answers and their ticks in this file across runs.", valueName: "file"),
        completion: .file())
    package var state: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Forget devices after this time without a fix; at least two intervals.", valueName: "duration"))
    var forgetAfter = Interval(duration: .seconds(86_400), text: "24h")

    @Option(name: .long, help: ArgumentHelp("The most devices at a time.", valueName: "count"))
    package var maxDevices = 1_000_000

    @OptionGroup var csv: CSVArguments

    @OptionGroup var clock: ClockArguments

    @OptionGroup var notices: NoticeOptions

    @OptionGroup package var atlas: AtlasOptions

    package init() {}

    /// Whether notices are left out.
    package var isQuiet: Bool { notices.quiet }

    /// How columns are found and times are read.
    package func tableOptions() throws -> ConvertRun.Options {
        var options = ConvertRun.Options()
        options.csv = csv.options
        options.keyColumns = clock.keyColumn
        options.timeColumn = clock.timeColumn
        options.acceptsNumericKeys = clock.acceptNumericKeys
        options.acceptsNullIsland = clock.acceptNullIsland
        options.timeStyle = try clock.style()
        return options
    }

    /// The time between two ticks.
    package var tickInterval: Duration { ticks.duration }
    /// After how long a device is forgotten.
    package var lifetime: Duration { forgetAfter.duration }
    /// Whether every answer gives a report.
    package var reportsEveryAnswer: Bool { emit == .recomputations }

    package func validate() throws {
        guard !pad || to == .ndjson else { throw ValidationError("'--pad' is for '--to ndjson'.") }
        guard forgetAfter.duration >= ticks.duration * 2 else {
            throw ValidationError("'--forget-after' is at least twice '--interval'.")
        }
        guard (1...100_000_000).contains(maxDevices) else {
            throw ValidationError("'--max-devices' takes a number from 1 to 100000000.")
        }
    }

    package func run() throws {
        guard let run = LiveRunner.current.withLock({ $0 }) else {
            try Executable.become(.live, Array(CommandLine.arguments.dropFirst()))
        }
        try run(self)
    }
}

/// What runs `live` in the program that does; nil in the others.
package enum LiveRunner {
    package static let current = Mutex<(@Sendable (LiveCommand) throws -> Void)?>(nil)
}

/// What `live` reports of a device.
enum LiveEmission: String, CaseIterable, ExpressibleByArgument { case changes, recomputations }

extension LiveSource: ExpressibleByArgument {}
extension LiveTarget: ExpressibleByArgument {}

extension CommandFailure {
    /// The exit status and message for a failed run of `live`.
    package init(ofTrace error: TraceError) { self.init(error) }
}

/// Prints what there is to say of an input's columns on standard error.
package func printNotice(_ notice: Notice) { Session.Console.printNotice(notice) }
