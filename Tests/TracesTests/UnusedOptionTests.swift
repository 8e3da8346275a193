import Files
import Foundation
import Hereabouts
import Testing

@testable import Traces

/// An option for how inputs are read is used, or the run is refused.
@Suite struct UnusedOptionTests {
    private static func zone(_ name: String) throws -> TimeZoneRules { try TimeZoneRules(named: name) }

    /// The times of the answers, which are ticks.
    private static func times(_ outcome: Outcome) -> [String] {
        outcome.rows.dropFirst().map { String($0.split(separator: ",", omittingEmptySubsequences: false)[1]) }
    }

    private static func gpx(_ times: [String]) -> String {
        "<gpx version=\"1.1\" creator=\"t\" xmlns=\"http://www.topografix.com/GPX/1/1\"><trk><trkseg>"
            + times.enumerated().map { index, time in
                "\n<trkpt lat=\"\(48 + index).2082\" lon=\"16.3738\"><time>\(time)</time></trkpt>"
            }.joined() + "</trkseg></trk></gpx>"
    }

    private static let nmea = """
        $GPRMC,081836,A,4812.492,N,01622.428,E,000.0,360.0,010526,011.3,E
        $GPGGA,081836,4812.492,N,01622.428,E,1,08,0.9,171,M,43,M,,

        """

    // MARK: Used

    @Test func `times of XML without an offset are of the time zone`() throws {
        let berlin = try Self.zone("Europe/Berlin")
        let times = ["2026-03-11T14:14:17", "2026-03-11T14:34:17"]
        let gpx = Self.gpx(times)
        let tcx = """
            <TrainingCenterDatabase xmlns="http://www.garmin.com/xmlschemas/TrainingCenterDatabase/v2"><Activities>\
            <Activity><Lap><Track>
            """
            + times.enumerated().map { index, time in
                """
                <Trackpoint><Time>\(time)</Time><Position><LatitudeDegrees>\(48 + index).2082</LatitudeDegrees>\
                <LongitudeDegrees>16.3738</LongitudeDegrees></Position></Trackpoint>
                """
            }.joined() + "</Track></Lap></Activity></Activities></TrainingCenterDatabase>"
        let kml =
            "<kml xmlns=\"http://www.opengis.net/kml/2.2\">"
            + times.enumerated().map { index, time in
                """
                <Placemark><TimeStamp><when>\(time)</when></TimeStamp><Point><coordinates>16.3738,\(48 + index).2082\
                </coordinates></Point></Placemark>
                """
            }.joined() + "</kml>"
        for input in [gpx, tcx, kml] {
            let local = convert(input) { ($0.format, $0.timeStyle.zone) = (.csv, berlin) }
            #expect(local.error == nil)
            #expect(Self.times(local) == ["2026-03-11T13:15:00Z", "2026-03-11T13:45:00Z"])
            let utc = convert(input) { $0.format = .csv }
            #expect(Self.times(utc) == ["2026-03-11T14:15:00Z", "2026-03-11T14:45:00Z"])
        }
    }

    /// What has an offset keeps it, and the two kinds may stand in one file.
    @Test func `times with an offset are not moved`() throws {
        let vienna = try Self.zone("Europe/Vienna")
        let input = Self.gpx(["2026-07-11T14:14:17Z", "2026-07-11T16:34:17+02:00", "2026-07-11T16:54:17"])
        #expect(
            Self.times(convert(input) { ($0.format, $0.timeStyle.zone) = (.csv, vienna) })
                == ["2026-07-11T14:15:00Z", "2026-07-11T14:45:00Z", "2026-07-11T15:00:00Z"])
    }

    @Test func `snap reads them so too`() throws {
        let zone = try Self.zone("America/Denver")
        let outcome = snap(Self.gpx(["2026-01-11T01:14:17"])) { ($0.format, $0.timeStyle.zone) = (.csv, zone) }
        #expect(outcome.error == nil && outcome.rows[1].hasPrefix("1,2026-01-11T08:14:17Z,"))
    }

    // MARK: Not used

    private typealias Change = @Sendable (inout ConvertRun.Options) throws -> Void

    private static let changes: [(InputOptions, Change)] = [
        (.keyColumn, { $0.keyColumn = "id" }), (.timeColumn, { $0.timeColumn = "when" }),
        (.timeFormat, { $0.timeStyle.format = .unix }), (.dateOrder, { $0.timeStyle.dateOrder = .dayFirst }),
        (.timeZone, { $0.timeStyle.zone = try zone("Asia/Tokyo") }), (.firstDay, { $0.firstDay = 20_000 }),
        (.delimiter, { $0.csv.delimiter = 9 }), (.latitudeColumn, { $0.csv.latitudeColumn = "a" }),
        (.longitudeColumn, { $0.csv.longitudeColumn = "b" }), (.positionColumn, { $0.csv.positionColumn = "c" }),
    ]

    private static let feature = """
        {"type":"Feature","properties":{"time":"2026-05-01T08:00:00Z","id":"a","when":"2026-05-01T08:00:00Z"},\
        "geometry":{"type":"Point","coordinates":[16.3738,48.2082]}}
        """

    /// Inputs, and what their readers use.
    private static let inputs: [(text: String, used: InputOptions)] = [
        (gpx(["2026-03-11T14:14:17Z"]), .timeZone), (nmea, .firstDay), (feature, .keysAndTimes),
        ("1 2\n3 4\n", []), ("\n", .all),
    ]

    @Test func `an option that no input uses is refused`() throws {
        for (text, used) in Self.inputs {
            for (option, change) in Self.changes {
                var options = ConvertRun.Options()
                try change(&options)
                #expect(options.given == option)
                let outcome = convert(text) {
                    $0 = options
                    ($0.format, $0.acceptsUntimed) = (.csv, true)
                }
                if used.contains(option) {
                    #expect(outcome.error != .unusedOptions(option), "\(option.words)")
                } else {
                    #expect(outcome.error == .unusedOptions(option) && outcome.output.isEmpty, "\(option.words)")
                }
            }
        }
    }

    @Test func `the message names the options and who uses them`() {
        let options: InputOptions = [.timeZone, .firstDay]
        #expect(
            TraceError.unusedOptions(options).description
                == "no input of this run uses --time-zone (for GPX, KML, TCX, and tables, JSON and GeoJSON whose times are "
                + "read), --date (for NMEA and IGC)")
    }

    /// One input that uses it is enough, whichever it is.
    @Test func `an option is for all inputs together`() throws {
        let ride = ("ride.gpx", Array(Self.gpx(["2026-05-01T08:14:17Z"]).utf8))
        let flight = ("log.nmea", Array(Self.nmea.utf8))
        let zone = try Self.zone("Asia/Tokyo")
        for inputs in [[ride, flight], [flight, ride]] {
            let outcome = convert(inputs) { ($0.format, $0.timeStyle.zone) = (.csv, zone) }
            #expect(outcome.error == nil && outcome.rows.count == 3)
        }
        let refused = convert([ride, flight]) { ($0.format, $0.csv.delimiter) = (.csv, 9) }
        #expect(refused.error == .unusedOptions(.delimiter) && refused.output.isEmpty)
    }

    /// Of files, before the first answer of the first.
    @Test func `nothing is written before a run is refused`() throws {
        let scratch = Scratch()
        let table = scratch.write(
            Array("id,time,lat,lon\na,2026-05-01T08:01:00Z,1,2\na,2026-05-01T09:01:00Z,2,2\n".utf8), as: "a.csv")
        let other = scratch.write(Array("id,time,lat,lon\na,2026-05-01T10:01:00Z,1,2\n".utf8), as: "b.csv")
        for files in [[table], [table, other]] {
            var options = ConvertRun.Options()
            (options.format, options.firstDay) = (.csv, 20_000)
            let outcome = observed(scratch) { output, observer throws(TraceError) in
                try ConvertRun.run(
                    files.map { .file($0) }, to: output, atlas: worldAtlas, options: options, observer: observer)
            }
            #expect(outcome.error == .unusedOptions(.firstDay) && outcome.output.isEmpty && outcome.notices.isEmpty)
        }
    }

    // MARK: snap

    @Test func `snap refuses what its inputs do not use`() throws {
        let zone = try Self.zone("Asia/Tokyo")
        #expect(snap(Self.gpx(["2026-05-01T08:14:17Z"])) { $0.keyColumn = "id" }.error == .unusedOptions(.keyColumn))
        #expect(snap(Self.nmea) { $0.timeStyle.zone = zone }.error == .unusedOptions(.timeZone))
        #expect(snap(Self.feature) { $0.csv.latitudeColumn = "lat" }.error == .unusedOptions(.latitudeColumn))
        #expect(snap("1 2\n") { $0.csv.delimiter = 9 }.error == .unusedOptions(.delimiter))
        #expect(snap("{\"lat\":1,\"lon\":2}\n") { $0.csv.delimiter = 9 }.error == .unusedOptions(.delimiter))
    }

    /// A table's times are copied as they stand, so that their zone says nothing, unless they are written anew.
    @Test func `snap uses how times are read where it writes them anew`() throws {
        let table = "time,lat,lon\n2026-05-01 08:14:17,48.2082,16.3738\n"
        let zone = try Self.zone("Asia/Tokyo")
        let copied = snap(table) { $0.timeStyle.zone = zone }
        #expect(copied.error == .unusedOptions(.timeZone) && copied.output.isEmpty)
        let read = snap(table) { ($0.timeStyle.zone, $0.disguise.timePrecision) = (zone, .seconds(60)) }
        #expect(read.error == nil && read.rows[1].hasPrefix("2026-04-30T23:14:00Z,"))
        #expect(snap(table) { ($0.format, $0.timeStyle.zone) = (.gpx, zone) }.text.contains("2026-04-30T23:14:17Z"))
    }

    // MARK: Folders

    @Test func `a folder is refused when all files are looked at`() throws {
        let scratch = Scratch()
        _ = scratch.write(Array(Self.gpx(["2026-05-01T08:14:17Z"]).utf8), as: "in/ride.gpx")
        _ = scratch.write(Array(Self.nmea.utf8), as: "in/day/log.nmea")
        func run(_ change: (inout ConvertRun.Options) throws -> Void) throws -> FolderSummary {
            var options = FolderRun.Options()
            (options.format, options.convert.devices) = (.csv, .folder)
            try change(&options.convert)
            return try FolderRun.run(
                scratch.path("in"), to: scratch.path("out"), atlas: worldAtlas, options: options,
                observer: FolderObserver())
        }
        #expect(throws: TraceError.unusedOptions(.delimiter)) { try run { $0.csv.delimiter = 9 } }
        #expect(throws: TraceError.unusedOptions([.keyColumn, .timeFormat])) {
            try run { ($0.keyColumn, $0.timeStyle.format, $0.firstDay) = ("id", .unix, 20_000) }
        }
        #expect((try? FileManager.default.subpathsOfDirectory(atPath: scratch.path("out"))) ?? [] == [])
        #expect(try run { ($0.timeStyle.zone, $0.firstDay) = (try Self.zone("Asia/Tokyo"), 20_000) }.converted == 2)
    }
}
