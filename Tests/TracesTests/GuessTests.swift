import Foundation
import Hereabouts
import Testing

@testable import Traces

/// What a table or JSON does not say clearly: it is read as it is meant, or refused with what would say it.
@Suite struct GuessTests {
    private func run(_ input: String, _ configure: (inout ConvertRun.Options) -> Void = { _ in }) -> Outcome {
        convertToTable(input) {
            $0.now = Timestamp(nanosecondsSince1970: 1_795_000_000_000_000_000)
            configure(&$0)
        }
    }

    private func lines(_ objects: [String]) -> String { objects.map { $0 + "\n" }.joined() }

    // MARK: Row numbers

    private static let teslamate =
        "id,date,latitude,longitude,speed,car_id,drive_id\n"
        + (0..<7).map { "9000\($0),2026-05-01 08:1\($0):00.101,48.2\($0)82,16.3738,12,1,77\n" }.joined()

    @Test func `an id that counts rows is refused, with the columns that would do`() {
        let outcome = run(Self.teslamate)
        #expect(
            outcome.error
                == .rowNumbers(
                    file: "input0", column: "id",
                    proposals: [.init(column: "car_id", devices: 1), .init(column: "drive_id", devices: 1)]))
        #expect("\(outcome.error!)".contains("--key-column car_id") && outcome.output.isEmpty)
        #expect(
            run(Self.teslamate) { $0.keyColumn = "car_id" }.keysAndTimes == [
                "1 2026-05-01T08:15:00Z", "1 2026-05-01T08:30:00Z",
            ])
        #expect(run(Self.teslamate) { $0.keyColumn = "id" }.rows.count == 8)
        #expect(run(Self.teslamate) { $0.isOneDevice = true }.error == nil)
        #expect(snap(Self.teslamate).error == nil)
    }

    @Test func `rows are counted where nothing else tells devices`() {
        func table(
            _ id: (Int) -> String, _ time: (Int) -> Int = { $0 },
            _ longitude: (Int) -> Double = { 16 + Double($0) / 1000 }
        ) -> String {
            "id,time,lat,lon\n"
                + (0..<20).map { "\(id($0)),\(1_772_352_000 + 60 * time($0)),48.2082,\(longitude($0))\n" }.joined()
        }
        func isRefused(_ input: String) -> Bool {
            run(input).error == .rowNumbers(file: "input0", column: "id", proposals: [])
        }
        #expect(isRefused(table { "\($0 + 7)" }))
        #expect(isRefused(table { _ in UUID().uuidString }))
        // Not by one; not in order of time; a fleet, each vehicle in turn; five that are few; no numbers.
        #expect(!isRefused(table { "\(2 * $0)" }) && !isRefused(table({ "\($0)" }, { 19 - $0 })))
        #expect(!isRefused(table({ "\($0)" }, { $0 }, { Double($0 % 2) * 90 })) && !isRefused(table { "van\($0)" }))
        #expect(!isRefused("id,time,lat,lon\n1,1772352000,48.2,16.3\n2,1772352060,48.2,16.3\n"))
        let json = lines(
            (0..<9).map { "{\"_id\":\($0),\"time\":\(1_772_352_000 + 60 * $0),\"lat\":48.2082,\"lon\":16.3738}" })
        #expect(run(json).error == .rowNumbers(file: "input0", column: "_id", proposals: []))
        #expect(run("[" + json.split(separator: "\n").joined(separator: ",") + "]").error != nil)
    }

    // MARK: Members that come late

    private let late = """
        {"time":"2026-05-01T08:10:00Z","lat":48.2082,"lon":16.3738}
        {"device_id":"a","time":"2026-05-01T08:10:10Z","lat":48.2082,"lon":16.3738}
        {"device_id":"b","time":"2026-05-01T08:11:00Z","lat":52.52,"lon":13.405}

        """

    @Test func `a device key that the first records lack ends the run`() {
        for bytes in [8, 1 << 18] {
            let outcome = run(late) { $0.readBytes = bytes }
            #expect(outcome.error == .lateKey(file: "input0", line: 2, name: "device_id") && outcome.output.isEmpty)
        }
        #expect("\(run(late).error!)".contains("--key-column"))
        #expect(
            run(late) { $0.keyColumn = "device_id" }.keysAndTimes == [
                " 2026-05-01T08:15:00Z", "a 2026-05-01T08:15:00Z", "b 2026-05-01T08:15:00Z",
            ])
        #expect(run(late) { $0.isOneDevice = true }.error == nil)
        let array = "[" + late.split(separator: "\n").joined(separator: ",\n") + "]"
        #expect(run(array).error == .lateKey(file: "input0", line: 2, name: "device_id"))
        let uniform = lines((0..<3000).map { "{\"time\":\(1_772_352_000 + $0),\"lat\":48.2,\"lon\":16.3}" })
        #expect(run(uniform + "{\"mmsi\":null,\"time\":1772360000,\"lat\":48.2,\"lon\":16.3}\n").error == nil)
        #expect(
            run(uniform + "{\"mmsi\":7,\"time\":1772360000,\"lat\":48.2,\"lon\":16.3}\n").error
                == .lateKey(file: "input0", line: 3001, name: "mmsi"))
    }

    @Test func `a key, a time and a position that the first object lacks count`() {
        let status = "{\"status\":\"online\",\"battery\":5}\n{\"uptime\":7}\n"
        let outcome = run(
            status + "{\"device_id\":\"a\",\"time\":\"2026-05-01T08:10:00Z\",\"lat\":48.2082,\"lon\":16.3738}\n")
        #expect(outcome.keysAndTimes == ["a 2026-05-01T08:15:00Z"] && outcome.problems.count == 2)
        #expect(
            run("{\"lat\":48.2,\"lon\":16.3}\n{\"lat\":48.2,\"lon\":16.3,\"time\":1772352000}\n").reasons == [
                "1: no time"
            ])
        #expect(snap(status + "{\"lat\":48.2,\"lon\":16.3}\n").rows.count == 3)
    }

    // MARK: Keys of several inputs

    @Test func `keys of different names are refused unless both are named`() {
        let first = Array("mmsi,time,lat,lon\n7,1772352000,48.2,16.3\n".utf8)
        let second = Array("device_id,time,lat,lon\na,1772352000,48.2,16.3\n".utf8)
        let options = { (options: inout ConvertRun.Options) in
            (options.format, options.earliest) = (.csv, TimeBounds.earliest)
        }
        #expect(
            convert([first, second], options).error == .keysDiffer(file: "input1", name: "device_id", first: "mmsi"))
        let both = convert([first, second]) {
            options(&$0)
            $0.keyColumns = ["mmsi", "device_id"]
        }
        #expect(both.error == nil && both.rows.count == 3)
        #expect(convert([first, first], options).error == nil)
        #expect(convert([first, Array("MMSI,time,lat,lon\n7,1772352000,48.2,16.3\n".utf8)], options).error == nil)
    }

    // MARK: Units

    @Test func `a unit in the names or the line of units is used`() throws {
        let expected = try reducedColumns(48.2082, 16.3738)
        #expect(
            snap("Latitude (rad),Longitude (rad)\n0.841391802,0.285776722\n") {
                ($0.csv.latitudeColumn, $0.csv.longitudeColumn) = ("Latitude (rad)", "Longitude (rad)")
            }.rows.last == expected)
        #expect(snap("lat,lon\nrad,rad\n0.841391802,0.285776722\n").rows.last == expected)
        #expect(snap("lat,lon\n1e-7 deg,1e-7 deg\n482082000,163738000\n").rows.last == expected)
        #expect(snap("lat,lon\nsemicircles,semicircles\n575150410,195345953\n").rows.last == expected)
        #expect(
            snap("latE7,lonE7\n482082000,163738000\n") {
                ($0.csv.latitudeColumn, $0.csv.longitudeColumn) = ("latE7", "lonE7")
            }.rows.last == expected)
        #expect(
            snap("{\"lat rad\":0.841391802,\"lon rad\":0.285776722}\n") {
                ($0.format, $0.csv.latitudeColumn, $0.csv.longitudeColumn) = (.csv, "lat rad", "lon rad")
            }.rows.last == expected)
        for header in ["north (m),east (m)", "north (rad),east (deg)"] {
            let names = header.split(separator: ",").map(String.init)
            let outcome = snap("\(header)\n5340000,1822000\n") {
                ($0.csv.latitudeColumn, $0.csv.longitudeColumn) = (names[0], names[1])
            }
            #expect(outcome.error == .unitOfPosition(file: "input", name: names[0]))
        }
        for words in ["WGS84,WGS84", "dd.ddddd,dd.ddddd", "deg N,deg E"] {
            #expect(snap("lat,lon\n\(words)\n48.2082,16.3738\n").rows.last == expected)
        }
    }

    @Test func `a first record with degree signs is no line of units`() {
        let outcome = snap("id,latitude,longitude\na,51°28'38\",-0°7'39\"\nb,51 28 38,-0 7 39\nc,51.5°,-0.1°\n")
        #expect(outcome.rows.count == 4 && outcome.problems.isEmpty)
        #expect(snap("id,lat,lon\n7,51 deg 28' 38\" N,0 deg 7' 39\" W\n").summary.records == 1)
        #expect(snap("id,lat,lon\n,deg,deg\na,51.5,-0.1\n").rows.count == 2)
    }

    // MARK: Brackets

    @Test func `brackets have the longitude first, unless the column's name says the other order`() throws {
        let expected = try reducedColumns(48.2082, 16.3738)
        func row(_ name: String, _ text: String) -> String? {
            snap("\(name),x\n\"\(text.replacingOccurrences(of: "\"", with: "\"\""))\",1\n") {
                $0.csv.positionColumn = name
            }.rows.last
        }
        #expect(row("coordinates", "[16.3738, 48.2082]") == expected)
        #expect(row("start_latlng", "[48.2082, 16.3738]") == expected)
        #expect(row("lat_lon", "[48.2082, 16.3738]") == expected)
        #expect(row("lonlat", "[16.3738, 48.2082]") == expected)
        #expect(
            row("coordinates", "48.2082, 16.3738") == expected && row("coordinates", "(48.2082, 16.3738)") == expected)
        #expect(row("place", "[48.2082 N, 16.3738 E]") == expected)
        #expect(row("geometry", "{\"type\":\"Point\",\"coordinates\":[16.3738,48.2082,171]}") == expected)
        #expect(
            snap("geom,x\n\"{\"\"type\"\":\"\"Point\"\",\"\"coordinates\"\":[16.3738,48.2082]}\",1\n").rows.last
                == expected)
        #expect(row("geometry", "{\"type\":\"LineString\",\"coordinates\":[[16.3738,48.2082]]}") == ",,,,,")
    }

    // MARK: Offsets

    @Test func `an offset in a column of its own is used for times without one`() {
        func table(_ column: String, _ time: String, _ offset: String) -> Outcome {
            run("id,time,\(column),lat,lon\na,\(time),\(offset),48.2082,16.3738\n")
        }
        for offset in ["+02:00", "+0200", "UTC+02:00"] {
            #expect(
                table("utc_offset", "2026-05-01 10:10:00", offset).keysAndTimes == ["a 2026-05-01T08:15:00Z"],
                "\(offset)")
        }
        #expect(table("tz", "2026-05-01 10:10:00", "Z").keysAndTimes == ["a 2026-05-01T10:15:00Z"])
        #expect(table("utc_offset_minutes", "2026-05-01 10:10:00", "120").keysAndTimes == ["a 2026-05-01T08:15:00Z"])
        #expect(table("utc_offset", "2026-05-01T10:10:00Z", "+02:00").keysAndTimes == ["a 2026-05-01T10:15:00Z"])
        #expect(table("utc_offset", "1777630200", "2").keysAndTimes == ["a 2026-05-01T10:15:00Z"])
        #expect(
            table("utc_offset", "2026-05-01 10:10:00", "2").error == .timeOffsets(file: "input0", name: "utc_offset"))
        #expect(
            table("timezone", "2026-05-01 10:10:00", "Europe/Vienna").error
                == .timeOffsets(file: "input0", name: "timezone"))
        #expect(table("utc_offset", "2026-05-01 10:10:00", "").error != nil)
        let json = run("{\"time\":\"2026-05-01T10:10:00\",\"utc_offset\":\"+02:00\",\"lat\":48.2,\"lon\":16.3}\n")
        #expect(json.keysAndTimes == ["1 2026-05-01T08:15:00Z"])
        func feature(_ times: String, _ offset: String, _ geometry: String) -> Outcome {
            run(
                """
                {"type":"Feature","properties":{"device":"a",\(times),"utc_offset":"\(offset)"},"geometry":\(geometry)}
                """)
        }
        let point = "{\"type\":\"Point\",\"coordinates\":[16.3738,48.2082]}"
        let local = feature("\"time\":\"2026-05-01T10:10:00\"", "+02:00", point)
        #expect(local.keysAndTimes == ["a 2026-05-01T08:15:00Z"])
        #expect(
            local.readings.map(\.text) == [
                "position geometry, time time (text), offset utc_offset, device device (1 device in the first record)"
            ])
        #expect(
            feature("\"time\":\"2026-05-01T10:10:00Z\"", "+02:00", point).keysAndTimes == ["a 2026-05-01T10:15:00Z"])
        #expect(
            feature("\"time\":\"2026-05-01T10:10:00\"", "Vienna", point).error
                == .timeOffsets(file: "input0", name: "utc_offset"))
        let line = "{\"type\":\"LineString\",\"coordinates\":[[16.3738,48.2082],[16.3739,48.2083]]}"
        let times = "\"time\":[\"2026-05-01T10:10:00\",\"2026-05-01T10:11:00+01:00\"]"
        #expect(
            feature(times, "+02:00", line).keysAndTimes == ["a 2026-05-01T08:15:00Z", "a 2026-05-01T09:15:00Z"])
    }

    // MARK: Datums

    @Test func `positions on another datum are refused`() {
        func table(_ column: String, _ datum: String) -> String {
            "id,time,lat,lon,\(column)\na,2026-05-01T08:10:00Z,48.2082,16.3738,WGS84\n"
                + "a,2026-05-01T08:40:00Z,48.2082,16.3738,\(datum)\n"
        }
        for (column, datum, code) in [
            ("datum", "NAD27", 4267), ("geodeticDatum", "EPSG:4230", 4230), ("GPSMapDatum", "TOKYO", 4301),
            ("map_datum", "North American Datum 1927", 4267), ("datum", "OSGB 1936", 4277),
        ] {
            let expected = TraceError.otherDatum(file: "input0", name: column, Datum(code: code))
            #expect(run(table(column, datum)).error == expected, "\(datum)")
            #expect(
                snap(table(column, datum)).error == .otherDatum(file: "input", name: column, Datum(code: code)),
                "\(datum)")
        }
        #expect(run(table("datum", "GCJ-02")).error == .otherDatum(file: "input0", name: "datum", Datum(code: nil)))
        for datum in ["WGS-84", "EPSG:4326", "", "unknown", "NAD83", "ETRS89"] {
            #expect(run(table("datum", datum)).problems.isEmpty && snap(table("datum", datum)).problems.isEmpty)
            #expect(run(table("datum", datum)).error == nil && snap(table("datum", datum)).error == nil)
        }
        #expect(run(table("note", "NAD27")).error == nil)
        let json = "{\"time\":\"2026-05-01T10:10:00Z\",\"geodeticDatum\":\"NAD27\",\"lat\":48.2,\"lon\":16.3}\n"
        #expect(run(json).error == .otherDatum(file: "input0", name: "geodeticDatum", Datum(code: 4267)))
        #expect(snap(json).error == .otherDatum(file: "input", name: "geodeticDatum", Datum(code: 4267)))
        let named = CoordinateReference(name: "EPSG:4267") { { _ in } }
        #expect(snap(json) { $0.csv.reference = .named(named) }.error == nil)
    }

    // MARK: Epochs

    private static let counter =
        "timestamp,timestamp_sample,lat,lon\n"
        + (0..<6).map { "\(1_095_410_312 + 1_000_000 * $0),0,48.208\($0)000,16.3738000\n" }.joined()

    @Test func `a counter since the start is refused`() {
        let expected = TraceError.epochUnknown(file: "input0", column: "timestamp", proposals: ["unix"])
        #expect(run(Self.counter).error == expected)
        #expect(run(Self.counter) { $0.timeStyle.format = .unix }.error == nil)
        let json = lines(
            (0..<9).map { "{\"timestamp\":\(1_095_410_312 + 200_000 * $0),\"lat\":48.2\($0),\"lon\":16.3}" })
        #expect(run(json).error == expected)
        // A fix a day, in ten days and a year, that moves or not; in whole hours; with a unit in the name; too few.
        func table(_ step: Int, name: String = "time", count: Int = 6, moves: Double = 0.001) -> Outcome {
            run(
                "\(name),lat,lon\n"
                    + (0..<count).map { "\(1_600_000_000 + step * $0),\(40 + moves * Double($0)),16.3738\n" }.joined())
        }
        #expect(table(86_400).error == nil && table(864_000).error == nil && table(31_557_600).error == nil)
        #expect(table(1_000_000).error != nil && table(500_000).error != nil && table(2_000_000).error != nil)
        #expect(table(1_000_000, count: 4).error == nil && table(1_000_000, moves: 2).error == nil)
        #expect(table(3_000_000).error == nil)
    }

    @Test func `seconds since 2001 are not taken for the 1990s`() {
        let input = lines(["{\"_type\":\"location\",\"tst\":799316400,\"lon\":16.3738,\"lat\":48.2082}"])
        let outcome = run(input) { $0.timeColumn = "tst" }
        #expect(outcome.error == .epochUnknown(file: "input0", column: "tst", proposals: ["cocoa", "unix"]))
        let cocoa = run(input) { ($0.timeColumn, $0.timeStyle.format) = ("tst", .cocoa) }
        #expect(cocoa.keysAndTimes == ["1 2026-05-01T08:30:00Z"])
        #expect(run(input) { ($0.timeColumn, $0.timeStyle.format) = ("tst", .unix) }.error == nil)
        #expect(run("time,lat,lon\n799316400,48.2,16.3\n").error != nil)
        #expect(run("time,lat,lon\n650000000,48.2,16.3\n").error == nil)
    }

    // MARK: Rounded numbers

    @Test func `numbers that a spreadsheet rounded are bad`() {
        let reason = "the time was rounded to fewer digits than its unit needs"
        #expect(run("id,timestamp,lat,lon\na,1.77762E+12,48.2082,16.3738\n").reasons == ["2: \(reason)"])
        #expect(run("id,timestamp,lat,lon\na,1.7776E+09,48.2082,16.3738\n").reasons == ["2: \(reason)"])
        #expect(run("{\"timestamp\":1.77762e12,\"lat\":48.2,\"lon\":16.3}\n").reasons == ["1: \(reason)"])
        #expect(
            run("id,timestamp,lat,lon\na,1.777622400123E+12,48.2082,16.3738\nb,1.7776224E+09,48.2,16.3\n").problems.map(
                \.line) == [3])
        #expect(snap("time,lat,lon\n1.77762E+12,48.2,16.3\n").reasons == ["2: the time is not one"])
        let few = "lat,lon\n" + String(repeating: "48.2,16.37\n", count: 5)
        #expect(
            snap(few).problems.isEmpty
                && run("time," + few.replacingOccurrences(of: "48.2", with: "1772352000,48.2")).notices.contains(
                    .fewDecimals(file: "input0"))
        )
    }

    // MARK: No fix

    @Test func `records that say that they have no fix are bad`() {
        let columns = [
            ("valid", ["0", "false", "F", "no", "V", "NO FIX"], ["1", "true", "A", "", "2"]),
            ("gps_valid", ["0"], ["1"]),
            ("fix", ["0", "none", "No"], ["1", "3D", "-"]), ("fix_type", ["0", "no fix"], ["2"]),
            ("fix_quality", ["0"], ["1"]), ("status", ["V", "void", "no fix"], ["0", "1", "moving", "false"]),
            ("mode", ["no fix"], ["0", "1", "auto"]),
        ]
        for (name, bad, good) in columns {
            for (words, count) in [(bad, 1), (good, 0)] {
                for word in words {
                    let table = "id,time,lat,lon,\(name)\na,2026-05-01T08:10:00Z,48.2082,16.3738,\(word)\n"
                    #expect(run(table).reasons == Array(repeating: "2: no fix", count: count), "\(name) \(word)")
                    #expect(snap(table).reasons == Array(repeating: "2: no fix", count: count), "\(name) \(word)")
                    let json =
                        "{\"id\":\"a\",\"time\":\"2026-05-01T08:10:00Z\",\"lat\":48.2,\"lon\":16.3,\"\(name)\":\"\(word)\"}\n"
                    #expect(run(json).problems.count == count && snap(json).problems.count == count, "\(name) \(word)")
                }
            }
        }
        let gpsd = "{\"class\":\"TPV\",\"mode\":1,\"time\":\"2026-05-01T08:10:00Z\",\"lat\":48.2,\"lon\":16.3}\n"
        #expect(run(gpsd).reasons == ["1: no fix"])
        let falsehood = "{\"valid\":false,\"time\":\"2026-05-01T08:10:00Z\",\"lat\":48.2,\"lon\":16.3}\n"
        #expect(run(falsehood).reasons == ["1: no fix"])
        func feature(_ valid: String) -> String {
            """
            {"type":"Feature","properties":{"device":"a","time":"2026-05-01T10:10:00Z","valid":\(valid)},"geometry":\
            {"type":"Point","coordinates":[16.3738,48.2082]}}
            """
        }
        for word in ["false", "0", "\"no fix\""] {
            #expect(run(feature(word)).problems.map(\.reason) == [.noFix], "\(word)")
            #expect(snap(feature(word)).problems.map(\.reason) == [.noFix], "\(word)")
        }
        for word in ["true", "1", "null"] { #expect(run(feature(word)).keysAndTimes == ["a 2026-05-01T10:15:00Z"]) }
    }

    @Test func `records at 0, 0 are bad, unless accepted`() {
        let table =
            "id,time,lat,lon\na,2026-05-01T08:10:00Z,0,0\na,2026-05-01T08:20:00Z,-0.0,0.000\na,2026-05-01T08:40:00Z,0,0.1\n"
        #expect(run(table).problems.map(\.line) == [2, 3] && snap(table).problems.map(\.line) == [2, 3])
        #expect(run(table) { $0.acceptsNullIsland = true }.problems.isEmpty)
        #expect(snap(table) { $0.acceptsNullIsland = true }.problems.isEmpty)
        let gpx =
            "<gpx><trk><trkseg><trkpt lat=\"0\" lon=\"0\"><time>2026-05-01T08:10:00Z</time></trkpt></trkseg></trk></gpx>"
        #expect(run(gpx).reasons == ["1: no fix"] && snap(gpx).reasons == ["1: no fix"])
        #expect(snap(gpx) { $0.format = .csv }.reasons == ["1: no fix"])
        // Lines of two numbers mean what they say.
        #expect(snap("0 0\n").problems.isEmpty)
    }
}
