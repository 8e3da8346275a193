import ArgumentParser
import CommandCore
import Traces

/// The options for what becomes of keys and times before they are written.
struct DisguiseArguments: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "Round the written times down to multiples of this in UTC: a number and s, m, h or d; from 1s to 365d.",
            valueName: "duration"))
    var timePrecision: TimePrecision?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Move each device's written times by a secret number of whole days, which the file's bytes and the device key \
            decide.
            """, valueName: "key-file"), completion: .file())
    var dateShift: String?

    @Option(
        name: .long,
        help: ArgumentHelp("The most days that --date-shift moves, either way; up to 3650.", valueName: "days"))
    var dateShiftDays = 365

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Write in place of each device key 32 hexadecimal digits, which the file's bytes and the key decide.",
            valueName: "key-file"), completion: .file())
    var renameIds: String?

    func validate() throws {
        guard (1...Disguise.DateShift.mostDaysEver).contains(dateShiftDays) else {
            throw ValidationError("'--date-shift-days' takes a number from 1 to \(Disguise.DateShift.mostDaysEver).")
        }
    }

    /// Reads the key files.
    func disguise() throws(CommandFailure) -> Disguise {
        var disguise = Disguise()
        disguise.timePrecision = timePrecision?.duration
        do throws(TraceError) {
            if let dateShift {
                disguise.dateShift = .init(key: try SecretKey(contentsOf: dateShift), mostDays: dateShiftDays)
            }
            if let renameIds { disguise.renaming = try SecretKey(contentsOf: renameIds) }
        } catch {
            throw CommandFailure(error)
        }
        return disguise
    }

    /// The key files, which no output may replace.
    var usedFiles: [UsedFile] { [dateShift, renameIds].compactMap(\.self).map { UsedFile(key: $0) } }

    /// What the help of both commands says of these options.
    static let discussion = """
        --rename-ids and --date-shift take a key file of at least 32 bytes that only its owner may read: \
        (umask 077; head -c 32 /dev/urandom > ids.key). The same file gives the same names and days in every run and in \
        both commands; who has it can test guesses of keys, so keep it as secret as the input, or delete it. \
        --date-shift moves a device without key by its file's name, and all together with --one-device or --state. It \
        leaves the time of day and what lies between a device's times. Of a commuter that gives the true dates, by workdays, \
        holidays and the change of the clock: for 15 % from 30 days, 72 % from 90 and 98 % from 180; and one date that is known \
        gives all. Names hide no habits: of 1,000 people renamed and moved, 90 % are matched to earlier outputs from two \
        weeks of each. Keys are HMAC-SHA256 \
        under the key file; among a billion devices, two get one name with a probability below 2e-21.
        """
}

/// The options for keys and times of the input.
struct ClockArguments: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The column of a CSV with the device key; repeated, of each input the first that is there. (default: device_id, \
            user_id, id and the like)
            """, valueName: "name"))
    var keyColumn: [String] = []

    @Flag(
        name: .long,
        help: """
            Take numbers such as 48.21 for device keys in a column that is found by its name; else a record with one is bad, \
            for it could be a coordinate.
            """)
    var acceptNumericKeys = false

    @Flag(name: .long, help: "Take records at exactly 0, 0 for positions; else they are bad, for most mean no fix.")
    var acceptNullIsland = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The column of a CSV with the times. (default: timestamp, time, date and the like)", valueName: "name"))
    var timeColumn: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            How a CSV's times are written: iso; seconds since 1970 (unix), or milli-, micro- or nanoseconds (unix-ms, \
            unix-us, unix-ns); days of a spreadsheet, since 1899-12-30 (excel); seconds since 1980-01-06 with leap seconds (gps); seconds \
            since 2001 (cocoa). (default: iso or unix to unix-ns, as each time looks)
            """, valueName: "format"))
    var timeFormat: TimeFormat?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "What dates like 03/01/2026 begin with: their day (dmy) or their month (mdy).", valueName: "order"))
    var dateOrder: DateOrder?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The time zone of times without an offset, as Europe/Vienna. (default: UTC)", valueName: "name"))
    var timeZone: String?

    /// How times are written.
    func style() throws(CommandFailure) -> TimeStyle {
        TimeStyle(format: timeFormat, dateOrder: dateOrder, zone: try zone())
    }

    /// The clock of `--time-zone`.
    private func zone() throws(CommandFailure) -> TimeZoneRules? {
        guard let timeZone else { return nil }
        do throws(TraceError) {
            return try TimeZoneRules(named: timeZone)
        } catch {
            throw CommandFailure(.unusable, "--time-zone \(error)")
        }
    }
}

/// What times are rounded down to multiples of: `90s`, `15m`, `1h`, or `1d`.
struct TimePrecision: ExpressibleByArgument {
    var duration: Duration

    /// Parses a whole number of seconds, minutes, hours or days, up to 365 days; nil for anything else.
    init?(argument: String) {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        guard let unit = argument.last.flatMap({ units[$0] }), let number = Int64(argument.dropLast()),
            (1...31_536_000).contains(number), (1...31_536_000).contains(number * unit)
        else { return nil }
        duration = .seconds(number * unit)
    }
}
