import ArgumentParser
import CommandCore
import Hereabouts
import Traces

/// `hereabouts convert`.
struct ConvertCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: "Reduce recorded traces: at most one answer per device every 15 minutes, at :00, :15, :30 and :45.",
        discussion: """
            Reads GPX 1.0 and 1.1, KML, KMZ, TCX, GeoJSON, NDJSON, CSV with a header, NMEA 0183, IGC, Geolife's plt and \
            Google's location histories, through gpsbabel FIT and others, and writes GPX 1.1, KML, KMZ, GeoJSON, NDJSON or CSV:
              hereabouts convert ride.gpx -o around.gpx
              hereabouts convert monday.gpx tuesday.gpx -o week.geojson
              hereabouts convert ride.fit -o around.kmz
              hereabouts convert --interval 30m --to csv fleet.csv > fleet-around.csv
              hereabouts convert --emit fixes ride.gpx -o every-fix.csv
              hereabouts convert traces/ -o out/ --to gpx
              hereabouts convert --key-column /user/id log.ndjson.zst -o around.ndjson.gz

            In a CSV each value of the key column is one device: device_id, vehicle_id, icao24, mmsi, imei, user_id, uid, \
            tid, flight_id or id, the first that exists; blanks around a key do not count. Without a key column the whole \
            file is one device. A column named track may be a course or a lap: it is a key only where --key-column says so.

            \(CSVArguments.layouts)

            A CSV's times are in the column timestamp, datetime, tracked_at, recorded_at, time, utc, start_time or date, \
            the first that exists; times of the day in a column time get the date of a column date. Times are ISO 8601 \
            (2026-03-01T08:15:30Z, 20260301T081530Z, 2026/3/1 8:15 PM), in UTC unless they have an offset, or in a CSV \
            seconds, milli-, micro- or nanoseconds since 1970; --time-format names other numbers. Dates like 03/01/2026 \
            need --date-order. --time-zone says whose clock times without an offset are of, in GPX, KML and TCX too: a \
            time that a change of the clock repeats is the first of the two, one that it leaves out counts as before the change. A leap second (:60) counts as the first second of the next minute. Fixes from before 1990, or more \
            than a day ahead of the system's clock, are bad records. A table without times is refused, unless --untimed is \
            given.

            JSON (objects, one on each line, over several lines, or in an array) has members for columns: those of the \
            first object and those that an option names, by name or, beginning with a slash, by JSON pointer. GeoJSON is \
            features or geometries, in a collection, one after the other or an RFC 8142 sequence: Points with their \
            time in a property, and LineStrings, MultiLineStrings and MultiPoints with a time for each position in \
            coordTimes, times or coordinateProperties.times. Key, time and accuracy are properties of the first feature, \
            or named. An object with a position and, inside of it, an array of objects with positions is a summary beside its \
            samples: it is refused, with the jq command for these. Bad features have their number in place of a line. gzip and zstd are read by what the input starts \
            with.

            In KML, the Points, LineStrings and gx:Tracks of Placemarks are read. A TimeStamp is the time of all positions \
            of its Placemark, a TimeSpan has those of their first and last one; the positions of a Point were at both. \
            LineStrings are routes, since nothing says when each position was. A KMZ is all KML documents of the archive. \
            In TCX, the laps of an activity are one track and courses are routes; points without a position are no fixes. \
            FIT and other files that nothing else reads go through gpsbabel, if it is installed; its messages are not \
            repeated. It gets them by their content (FIT, OziExplorer, gdb, gtm, usr, upt), or by their extension (usr, sbp, \
            tes and the like) if they are no text and gpsbabel finds a point in them. A text that is none of these takes \
            --from gpsbabel:NAME, gpsbabel's name for its format: --from gpsbabel:mynav.

            NMEA: the sentences RMC, GGA and GLL of any talker; those of one time are one fix, its accuracy 5 m times GGA's \
            HDOP. Sentences that say they have no fix are none. A wrong checksum is a bad record, and so is a missing one \
            after a sentence that has one. Dates are those of RMC and ZDA, carried over midnight; --date says the first \
            where there is none. Other sentences, AIS, and what stands before a $ are dropped. IGC: the B records, 2D ones too, \
            with LAD, LOD and FXA; each flight is a track. NMEA and IGC are in UTC by definition, so that --time-zone is \
            not used for them. Geolife's plt is in GMT. Google: Records.json, Location History.json, the months of \
            Semantic Location History and the timelines that phones export: locations, raw signals, points of paths with \
            a time, and places at the start and the end of visits and activities. Way points without times, Wi-Fi scans, \
            activities and names are dropped; a bad entry has its number in place of a line.

            A device is answered at ticks, the multiples of the interval in UTC: with 15m at :00, :15, :30 and :45. At a \
            tick the newest fix of the interval before it is reduced, and the answer has the tick's time; a tick without a \
            fix has none. So nothing tells when a trip began. Publish one interval: a second output with another has ticks \
            between those of the first, and an interval that neither divides nor is a multiple of 15 minutes needs \
            --any-interval. A slower pace says less of a journey: when an answer changes, somebody on foot is found to 487 m in \
            Europe and 744 m in the US, and with --interval 60m to 1.2 km; a recording whose type says hike, walk or run gets a \
            notice. Who knows the roads finds a car to 1.0 to 1.2 km and names the right road in 71 to 92 %, and two answers \
            name the train for 84 to 88 %: see --emit stays. With device keys, output begins after the first 10,000 \
            records, or at the end of the input; endless input is for hereabouts live. Where more than a quarter of them come \
            after one of a later tick, the input is answered as if it were sorted by time; else such fixes are counted and \
            change nothing, and many give status 1.

            A recording that cannot be one device's ends the run: jumps of over 50 km that need more than 1,500 km/h, among \
            its first 10,000 fixes at least 3 that are more than a tenth of the steps over 1 km, or go to and fro between two \
            places. The message says what would explain them; --accept-jumps answers them.

            A GPX, KML, TCX or FIT file, and a table or GeoJSON without device keys, is one person's: its tracks, routes and waypoints are merged in \
            time before they are paced, and each answer comes out in the track whose fix it was given for (--one-track: all in \
            one). So laps, copies and the order of tracks change no answer. Files of one name (ride.gpx, old/ride.csv) belong together; \
            --one-device joins all files, and --devices tracks takes each track for a device. Waypoints and routes without \
            a time are left out of a file with times; track points without one are bad records.

            Nothing of the input is copied but the device key, and with --emit fixes the times, truncated to whole \
            seconds; tracks with answers are numbered. In GPX each point's extensions contain accuracy (meters), region, country and place, in the \
            namespace urn:hereabouts:gpx:1. In KML each point is a Placemark with the place's name, the time and these as \
            ExtendedData, in a Folder for its track or key.

            --state keeps the pace across runs: no tick of a device is answered twice, however often the stream is \
            stopped and started, and a home is answered with the region that it had before:
              hereabouts convert --state fleet.pace --to csv fleet.csv > fleet-around.csv
              hereabouts convert --state me.pace --to csv today.gpx >> around.csv
            A state is of one atlas; with --state-from OTHER one that was made with that atlas goes on in this one. \
            Without a state each run begins anew, and regions that differ from day to day say on which line a home is. After a \
            killed run, run it again for the rest. On standard output it begins by repeating the last answers, because \
            nobody can tell whether they were written.

            --emit fixes publishes the rhythm of the recording: when it began, stopped and lost its signal. Fixes before \
            the first tick have no answer: blank columns in a CSV, and no record elsewhere.

            --emit stays leaves of a ride without a stop only its ends: an answer is reported at a tick if the tick before had a \
            fix and the same answer, and if it differs from the last report. A tick without a fix, with a bad one or with one \
            that is withheld begins anew.

            --crs EPSG:32613 reads tables, JSON and GeoJSON in another coordinate reference system, from columns northing and \
            easting or y and x; --crs auto takes what each declares (a GeoJSON's crs, SRID=…; before a point, a .prj file \
            beside a CSV), and --crs utm each record's UTM zone from a column zone or utm_zone (30T, or 30 beside a column \
            hemisphere). Positions outside of its area are bad records.

            --zones withholds the answers around sensitive places, such as a home, a clinic or a shelter:
              hereabouts convert --zones places.geojson week.gpx -o around.gpx
              printf '48.2082,16.3738,200\\n' > zones.csv
            Not the zone is cut out but regions: the one that its middle is in, and all within reach of that. So what is \
            missing says no more of it than one answer there. A tick in them has no answer, and no record with \
            --emit fixes; the earlier answer stands. A state goes on with the same zones only. Where a zone lies within 100 km of the fixes with \
            its latitude and longitude exchanged, and none does as written, the run is refused; where nothing is withheld, a \
            notice says so.

            \(DisguiseArguments.discussion) --rename-every 30d gives each device a new name and new days after 30 days, on a day \
            that the key file decides; the first two days of each name have no answers, so that no two names are joined by a \
            region. That hides dates, which are found for 15 % then, and not people. Ticks are those of the true time, and the state has the true keys. Reports are \
            written at the end with --date-shift, device by device in the order of the written keys: theirs in time would \
            tell how the clocks differ.

            A track without times cannot be paced: all regions on the way are written in order.

            A folder is walked, and each of its files has an output with the same path below the one given by --output, and \
            with the extension of the format: that of --to, else the input's, or gpx where that is not written. Outputs \
            that would have one name keep the input's extension too: ride.gpx.csv, ride.tcx.csv. A file is taken for what \
            it contains, else for what its extension says; others are counted, and so are tables without coordinates. Hidden files and folders, symbolic links and \
            the folder of the output are not read. All files are one person's (see --devices), and a device key is one \
            device in whichever file: their fixes are merged in time, and no tick is answered twice. With '--emit changes' \
            each output begins with its first answer, even where the file before ended with the same. Points without a \
            time are answered only if their person has none with times. A file that cannot be read has no part in the \
            answers; the others are converted, and the exit status is 2. After an interrupted run, --skip-existing writes \
            what is missing. If the files changed since, outputs stay as they are, and ticks that they may have answered \
            are not answered in others.

            Of a folder with --zones, outputs are named by the UTC date of their first answer and a number (2026-03-02-1.gpx), in the \
            folder of their person with --devices subfolders, and an input without answers has none: names such as \
            2026-03-02_07-32-10_gym.gpx say when somebody left, and empty outputs that somebody was near a zone. The hidden file \
            .hereabouts-run beside them says which input each is of; it is for the next run, and not for publication. A folder \
            with outputs of no or other zones is refused. --keep-names keeps the names of the inputs.

            An option for how inputs are read (--key-column, --time-column, --time-format, --date-order, --time-zone, --date, \
            --delimiter and those for columns of positions) that no input of the run uses is an error. Of several inputs, \
            where one is a pipe, this shows when the last one is opened; standard output may have answers of others then.

            A file given by --output appears when the whole input is converted, or not at all. Standard output keeps \
            what was written before an error.
            """)

    @Argument(
        help: ArgumentHelp("Files, or '-' for standard input (the default), or a folder.", valueName: "file"),
        completion: .file())
    var files: [String] = []

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The file to write, or '-' for standard output, the default; of a folder the folder.", valueName: "file"),
        completion: .file())
    var output: String?

    @Option(
        name: .long,
        help: ArgumentHelp("The output format. (default: the extension of --output)", valueName: "format"))
    var to: TraceFormat?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The format of the inputs: \(InputFormat.allValueStrings.joined(separator: ", ")). (default: as each looks)",
            valueName: "format"))
    var from: InputFormat?

    @OptionGroup var ticks: TickArguments

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            What to write: changes of the answer; recomputations, the answer of each tick that had a fix; all fixes, \
            each with its own time and the answer that stood then; or stays, changes to an answer that stood at the tick \
            before as well.
            """, valueName: "what"))
    var emit = Emission.changes

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Keep the pace across runs in this file. It contains device keys, regions and ticks: store it where the \
            fixes are stored. All inputs without device keys are one person's then.
            """, valueName: "file"), completion: .file())
    var state: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The other atlas that the state was made with: paces go on, and so do the regions that this atlas has cell by cell. \
            The state is of this atlas then.
            """, valueName: "atlas"), completion: .file())
    var stateFrom: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            What is one device where there are no device keys: a file, whatever tracks it has (files), or each track \
            and route (tracks), for files of many people; or in a folder that is walked all files (folder), or those \
            below each folder in it (subfolders). (default: folder for a folder, else files)
            """, valueName: "what"))
    var devices: DevicesOfTracks?

    @Flag(
        name: .long,
        help: "Pace all inputs as one device, whatever files, tracks and keys they have.")
    var oneDevice = false

    @Flag(
        name: .long,
        help: """
            Write a person's answers in one track, in order of time; else each is in the track whose fix it was given for, \
            which tells how the recording was cut.
            """)
    var oneTrack = false

    @Flag(
        name: .long,
        help: "Answer recordings that cannot be one device's, since they jump, as they are.")
    var acceptJumps = false

    @Flag(
        name: .long,
        help: """
            Replace an output that has records by one without. Else such a run ends with status 2, and leaves output and \
            state as they were; with --zones or --least and in folders outputs are always replaced.
            """)
    var allowEmpty = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Compress the output: gzip or zstd. (default: as its extension says, .gz or .zst)", valueName: "how"))
    var compress: Compression?

    @Flag(
        name: .long,
        help: """
            Pad lines of ndjson to multiples of 256 bytes: where they are encrypted one by one, their lengths tell of the regions.
            """)
    var pad = false

    @OptionGroup var csv: CSVArguments

    @OptionGroup var geometry: GeometryOptions

    @OptionGroup var least: LeastArguments

    @OptionGroup var clock: ClockArguments

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The day of the first fix in UTC, as 2026-03-01, of inputs with times of day that say no date: NMEA without \
            RMC and ZDA, IGC without HFDTE.
            """, valueName: "day"))
    var date: Day?

    @Flag(
        name: .long,
        help: """
            Accept tables without times, and write every region on the way in order. This reveals the route and each \
            crossing.
            """)
    var untimed = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            What to do with a bad record: end the run (stop), omit it (skip) or, with '--emit fixes' to csv or ndjson, write it \
            with empty columns (blank).
            """, valueName: "policy"))
    var onError = ErrorPolicy.skip

    @OptionGroup var disguise: DisguiseArguments

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            With '--rename-ids', give each device another name, and with '--date-shift' other days, after this time: 7d or \
            more. The first two days of each name have no answers.
            """, valueName: "duration"))
    var renameEvery: TimePrecision?

    @Flag(
        name: .long,
        help: """
            Of a folder, leave outputs that are there as they are, as after an interrupted run. All files are read again, \
            since the pace goes over all of them.
            """)
    var skipExisting = false

    @Flag(
        name: .long,
        help: "Of a folder with '--zones', name outputs as their inputs, and not by date and number.")
    var keepNames = false

    @OptionGroup var runOptions: RunArguments

    @OptionGroup var messages: MessageOptions

    @OptionGroup var threads: ThreadOptions

    @OptionGroup var atlas: AtlasOptions

    mutating func validate() throws {
        if output == "-" { output = nil }
        try validateFolder()
        guard isOfFolder || format != nil else {
            throw ValidationError(
                "Name a format: --to gpx, kml, kmz, geojson, ndjson or csv, or an --output file with such an extension."
            )
        }
        if pad, (isOfFolder ? to : format) != .ndjson { throw ValidationError("'--pad' is for '--to ndjson'.") }
        if onError == .blank && (format?.hasBlankRecords != true || emit != .fixes) {
            throw ValidationError("'--on-error blank' writes a record per fix: add --to csv --emit fixes.")
        }
        if runOptions.dryRun && state != nil {
            throw ValidationError("A dry run does not know what a state would become: give either.")
        }
        if let precision = disguise.timePrecision, emit != .fixes, precision.duration < ticks.duration {
            throw ValidationError("Ticks are as coarse as '--interval': give '--time-precision' no less.")
        }
        if stateFrom != nil && state == nil {
            throw ValidationError("'--state-from' is for '--state': give both.")
        }
        try validateRenaming()
        if oneTrack && (devices == .tracks || emit == .fixes) {
            throw ValidationError(
                devices == .tracks
                    ? "Give either '--devices tracks' or '--one-track'."
                    : "'--emit fixes' has each fix in its track: give either that or '--one-track'.")
        }
        if devices == .tracks && (oneDevice || state != nil) {
            throw ValidationError(
                oneDevice
                    ? "Give either --devices tracks or --one-device."
                    : "A state is of one person, or of devices with keys: '--devices tracks' has neither.")
        }
    }

    private func validateRenaming() throws {
        guard let renameEvery else { return }
        guard renameEvery.duration >= Disguise.leastPeriod else {
            throw ValidationError("'--rename-every' takes 7d or more: the first two days have no answers.")
        }
        guard disguise.renameIds != nil else {
            throw ValidationError("'--rename-every' changes the names of '--rename-ids': give both.")
        }
        guard emit != .fixes, !untimed, !oneDevice else {
            throw ValidationError(
                "'--rename-every' goes with neither '--emit fixes' nor '--untimed' nor '--one-device'.")
        }
    }

    func run() throws {
        var options = ConvertRun.Options()
        options.devices = devices ?? (isOfFolder ? .folder : .files)
        options.wantsStatistics = runOptions.stats != nil
        options.isOneDevice = oneDevice
        options.joinsTracks = oneTrack
        options.acceptsJumps = acceptJumps
        options.allowsEmpty = allowEmpty
        options.dryOutput = runOptions.dryRun ? output : nil
        options.csv = csv.options
        options.csv.reference = try geometry.reference()
        options.keyColumns = clock.keyColumn
        options.timeColumn = clock.timeColumn
        options.acceptsNumericKeys = clock.acceptNumericKeys
        options.acceptsNullIsland = clock.acceptNullIsland
        options.timeStyle = try clock.style()
        options.disguise = try disguise.disguise()
        options.disguise.period = renameEvery?.duration
        options.firstDay = date?.daysSince1970
        options.acceptsUntimed = untimed
        options.inputFormat = from?.format
        options.format = pad ? .paddedNDJSON : format ?? .gpx
        options.interval = ticks.duration
        options.emission = emit
        options.onError = onError
        options.state = state
        options.threads = threads.count
        try runOptions.validateStats(besides: files, output: output)
        let inputs = isOfFolder ? [] : try InputName.inputs(files)
        let path = try AtlasSearch.path(option: atlas.atlas)
        let atlas = try AtlasSearch.openLazily(option: path)
        options.withheld = least.withheld(
            besides: try geometry.withheld(atlas, atlasPath: path, isQuiet: messages.notices.quiet), atlas)
        if let stateFrom {
            let other = try AtlasSearch.openLazily(option: stateFrom)
            options.stateOrigin = StateOrigin(
                other,
                withheld: least.withheld(
                    besides: try geometry.withheld(other, atlasPath: stateFrom, isQuiet: true), other))
            options.usedFiles.append(UsedFile(atlas: stateFrom))
        }
        options.usedFiles += [UsedFile(atlas: path)] + geometry.usedFiles + disguise.usedFiles
        if isOfFolder { return try runFolder(options, atlas: atlas) }
        let used = options.usedFiles + (state.map { [UsedFile(state: $0)] } ?? [])
        try Session(
            inputs: inputs, output: output, compression: compress, used: used, isVerbose: messages.verbose,
            isQuiet: messages.notices.quiet, isDry: runOptions.dryRun,
            finished: runOptions.finisher(
                inputs: inputs, output: output, atlas: atlas, least: least.least, pace: (options.interval, emit))
        ).run {
            output, observer throws(TraceError) in
            try ConvertRun.run(inputs, to: output, atlas: atlas, options: options, observer: observer)
        }
    }

    /// The format given by `--to`, else the one of the output's extension; nil for neither.
    private var format: TraceFormat? {
        if let to { return to }
        return output.flatMap(TraceFormat.output(ofFile:))
    }
}

extension TraceFormat: ExpressibleByArgument {
    /// The format of this name.
    public init?(argument: String) {
        guard let format = Self.outputs.first(where: { $0.name == argument }) else { return nil }
        self = format
    }

    /// The names.
    public static var allValueStrings: [String] { outputs.map(\.name) }
    /// The names.
    public static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
    /// The name.
    public var defaultValueDescription: String { name }
}
/// A format that `convert` reads.
struct InputFormat: ExpressibleByArgument {
    let format: TraceFormat

    init?(argument: String) {
        guard
            let format = TraceFormat.inputs.first(where: { $0.name == argument })
                ?? TraceFormat.gpsbabel(named: argument)
        else { return nil }
        self.format = format
    }

    static var allValueStrings: [String] { TraceFormat.inputs.map(\.name) + ["gpsbabel:NAME"] }
    static var defaultCompletionKind: CompletionKind { .list(TraceFormat.inputs.map(\.name)) }
}
extension Emission: ExpressibleByArgument {}
extension DevicesOfTracks: ExpressibleByArgument {}
extension TimeFormat: ExpressibleByArgument {}
extension DateOrder: ExpressibleByArgument {}

/// A day as people write it: `2026-03-01`.
struct Day: ExpressibleByArgument {
    let daysSince1970: Int64

    init?(argument: String) {
        guard let days = Timestamp.day(argument) else { return nil }
        daysSince1970 = days
    }
}

/// A duration as people write it: `90s`, `15m`, `1h`, or `1.5h`.
struct Interval: ExpressibleByArgument, CustomStringConvertible {
    var duration: Duration
    /// The argument itself.
    var text: String

    init(duration: Duration, text: String) {
        self.duration = duration
        self.text = text
    }

    /// Parses a duration from one second to a year; nil for anything else.
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

/// The options for when devices are answered.
struct TickArguments: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The time between two ticks: a number and s, m or h; from 1s to a year. Slow movers need more.",
            valueName: "duration"))
    var interval = Interval(duration: .seconds(900), text: "15m")

    @Flag(name: .long, help: "Take an interval that neither divides nor is a multiple of 15 minutes.")
    var anyInterval = false

    var duration: Duration { interval.duration }

    /// The interval of most outputs, in milliseconds, as all intervals are.
    private static let usual: Int64 = 900_000

    func validate() throws {
        let milliseconds = Int64(interval.duration / .milliseconds(1))
        guard !anyInterval, Self.usual % milliseconds != 0, milliseconds % Self.usual != 0 else { return }
        throw ValidationError(
            """
            '--interval \(interval.text)' neither divides nor is a multiple of 15 minutes: beside an output with another \
            interval it has ticks that the other has not, and both together say more than either. If this is the only \
            output, add '--any-interval'.
            """)
    }
}
