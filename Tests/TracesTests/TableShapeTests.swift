import Hereabouts
import Testing

@testable import Traces

/// The shapes of tables that receivers, telephones, feeds and studies write: each is read as it is meant, or refused.
@Suite struct TableShapeTests {
    /// A layout: the header, a row with `T` in place of the time, the name of the key in the output, the device.
    struct Layout: CustomTestStringConvertible {
        var header, row: String
        var key = "track", device = "1"
        var times = ["2026-03-01T08:00:00Z", "2026-03-01 08:05:00", "2026-03-01T10:15:00+02:00"]
        var testDescription: String { header }
    }

    private static let joined = ["2026-03-01,08:00:00", "2026-03-01,08:05:00.500", "2026/03/01,08:15:00"]
    private static let unix = ["1772352000", "1772352300", "1772352900"]

    static let layouts: [Layout] = [
        // Flights: the track is a course.
        Layout(
            header: "timestamp,icao24,latitude,longitude,callsign,track,groundspeed,altitude",
            row: "T,4b1814,48.2,16.37,SWR12,271.4,320,2100", key: "icao24", device: "4b1814", times: unix),
        Layout(
            header: "flight_id,Datetime,lat,lon,track", row: "AUA81,T,48.2,16.37,12.5", key: "flight_id",
            device: "AUA81"),
        // Ships.
        Layout(
            header: "MMSI,Timestamp,LAT,LON,SOG,COG", row: "203999,T,48.2,16.37,4,181", key: "MMSI", device: "203999"),
        // Loggers.
        Layout(
            header: "INDEX,RCR,Date,Time,VALID,LATITUDE,N/S,LONGITUDE,E/W,HEIGHT",
            row: "1,T,#,SPS,48.2,N,16.37,E,180", times: joined),
        Layout(header: "Date,Time,Latitude,Longitude", row: "#,48.2,16.37", times: joined),
        Layout(header: "#time,lat,lon", row: "T,48.2,16.37"),
        Layout(header: "date,lat,lon", row: "T,48.2,16.37"),
        Layout(header: "UTC Date,UTC Time,lat,lon", row: "#,48.2,16.37", times: joined),
        Layout(header: "iso datetime,lat,lon,ele", row: "T,48.2,16.37,3"),
        Layout(header: "Start Time,lat,lon", row: "T,48.2,16.37"),
        // Studies.
        Layout(header: "user_id;tracked_at;latitude;longitude", row: "u7;T;48.2;16.37", key: "user_id", device: "u7"),
        Layout(header: "uid,lat,lng,datetime", row: "u7,48.2,16.37,T", key: "uid", device: "u7"),
        Layout(header: "UserID,DateTime,lat,lng", row: "u7,T,48.2,16.37", key: "UserID", device: "u7"),
        // Telephones and fleets.
        Layout(header: "deviceid,recorded_at,lat,lon", row: "d9,T,48.2,16.37", key: "deviceid", device: "d9"),
        Layout(header: "tid,time,lat,lon,acc", row: "ab,T,48.2,16.37,9", key: "tid", device: "ab", times: unix),
        Layout(
            header: "Vehicle ID\ttimestamp\tlat\tlon", row: "bus 4\tT\t48.2\t16.37", key: "Vehicle ID", device: "bus 4"),
    ]

    @Test(arguments: layouts) func `layouts are read as they are meant`(_ layout: Layout) throws {
        let mark = layout.row.contains("#") ? "#" : "T"
        let rows = layout.times.map { time in
            layout.row.replacing(mark, with: time, maxReplacements: 1) + "\n"
        }
        let outcome = convertToTable(layout.header + "\n" + rows.joined())
        #expect(outcome.error == nil && outcome.problems.isEmpty)
        #expect(outcome.rows.first?.hasPrefix("\(layout.key),time,") == true)
        let device = layout.device
        #expect(outcome.keysAndTimes == ["\(device) 2026-03-01T08:00:00Z", "\(device) 2026-03-01T08:15:00Z"])
        let expected = try reducedColumns(48.2, 16.37)
        #expect(outcome.rows.dropFirst().allSatisfy { $0.hasSuffix(expected) })
    }

    // MARK: Keys

    private let laps = "time,lat,lon,track\n1772352000,48.2,16.37,271.25\n1772352001,47.55,7.59,271.5\n"

    @Test func `a column named track is no key and is not published`() {
        let outcome = convertToTable(laps)
        #expect(
            outcome.keysAndTimes == ["1 2026-03-01T08:00:00Z", "1 2026-03-01T08:15:00Z"]
                && !outcome.text.contains("271"))
        #expect(
            outcome.notices == [.trackIsNoKey(file: "input0", column: "track")])
        #expect(
            convertToTable(laps) { $0.keyColumn = "track" }.keysAndTimes.map { $0.prefix(6) } == ["271.25", "271.5 "])
        #expect(!snap(laps).text.contains("271"))
    }

    @Test func `what convert writes is one device`() {
        let once = convertToTable("time,lat,lon\n1772352000,48.2,16.37\n1772352900,47.55,7.59\n")
        let again = convertToTable(once.text)
        #expect(again.output == once.output)
    }

    @Test func `a key goes before a row number and two of one kind are refused`() {
        #expect(convertToTable("id,icao24,time,lat,lon\n1,a,1772352000,1,2\n").rows.first?.hasPrefix("icao24,") == true)
        #expect(convertToTable("uid,user_id,time,lat,lon\n").error == .ambiguousColumn(file: "input0", name: "user_id"))
    }

    @Test func `keys are trimmed and compared in one form`() {
        let spellings = ["a", " a", "a ", "\ta", "\u{feff}a", "a\u{a0}", "\"a\"", "\" a \"", "\u{a0}\u{feff} a"]
        let rows = spellings.enumerated().map { "\($1),\(1_772_351_990 + $0),48.2,16.37\n" }
        #expect(convertToTable("id,time,lat,lon\n" + rows.joined()).keysAndTimes == ["a 2026-03-01T08:00:00Z"])
        let accents = convertToTable(
            "id,time,lat,lon\ncafe\u{301},1772351999,48.2,16.37\ncaf\u{e9},1772352000,48.2,16.37\n")
        #expect(accents.keysAndTimes.map { Array($0.utf8) } == [Array("caf\u{e9} 2026-03-01T08:00:00Z".utf8)])
        // A quote within a key stays, whatever is trimmed.
        #expect(
            convertToTable("id,time,lat,lon\n5'10\" ,1772352000,48.2,16.37\n").keysAndTimes == [
                "\"5'10\"\"\" 2026-03-01T08:00:00Z"
            ])
    }

    @Test func `keys that are no UTF-8 stay different`() {
        var input = Array("id,time,lat,lon\n".utf8)
        for byte: UInt8 in [0xe8, 0xe9] { input += [0x20, byte] + Array(",1772352000,48.2,16.37\n".utf8) }
        #expect(convert([input]) { $0.format = .csv }.rows.count == 3)
    }

    @Test func `many devices are remarked on`() {
        func table(devices: Int, records: Int) -> String {
            "id,time,lat,lon\n"
                + (0..<records).map { "\($0 % devices),\(1_772_352_000 + $0),48.2082,16.3738\n" }.joined()
        }
        #expect(convertToTable(table(devices: 10, records: 100)).notices.isEmpty)
        #expect(
            convertToTable(table(devices: 11, records: 100)).notices == [
                .manyDevices(file: "input0", devices: 11, records: 100)
            ])
        // A row number with one row twice.
        #expect(
            convertToTable(table(devices: 29, records: 30)).notices == [
                .manyDevices(file: "input0", devices: 29, records: 30)
            ])
        #expect(convertToTable(table(devices: 4, records: 4)).notices.isEmpty)
    }

    // MARK: Times

    @Test func `a table without times is refused unless untimed`() {
        for header in ["lat,lon,when", "lat,lon,local time", "lat,lon,last_update"] {
            let input = "\(header)\n48.2,16.37,x\n47.55,7.59,y\n"
            let columns = header.split(separator: ",").map(String.init)
            #expect(convertToTable(input).error == .noTimeColumn(file: "input0", columns: columns))
            let untimed = convertToTable(input) { $0.acceptsUntimed = true }
            #expect(untimed.keysAndTimes == ["1 ", "1 "] && untimed.notices.contains(.untimed(file: "input0")))
        }
        #expect(convertToTable("48.2 16.37\n").error == .noTimes(file: "input0"))
        #expect(convertToTable("").error == nil)
    }

    @Test func `in a table with times an empty one is a bad record`() {
        for untimed in [false, true] {
            let outcome = convertToTable("time,lat,lon\n,48.2,16.37\n ,48.2,16.37\n\"\",47.55,7.59\n") {
                $0.acceptsUntimed = untimed
            }
            #expect(outcome.reasons == ["2: no time", "3: no time", "4: no time"] && outcome.rows.count == 1)
        }
    }

    @Test func `of several times the fullest is taken and named`() {
        let outcome = convertToTable(
            "time,tracked_at,date,lat,lon\n09:00:00,2026-03-01T08:00:00Z,2025-01-01,48.2,16.37\n")
        #expect(outcome.keysAndTimes == ["1 2026-03-01T08:00:00Z"])
        #expect(outcome.notices.contains(.timeColumns(file: "input0", taken: "tracked_at", others: ["time", "date"])))
        #expect(
            convertToTable("timestamp,datetime,lat,lon\n").error == .ambiguousColumn(file: "input0", name: "timestamp"))
    }

    @Test func `a date is joined to a time of the day alone`() {
        func times(_ rows: String...) -> Outcome {
            convertToTable("date,time,lat,lon\n" + rows.map { $0 + ",48.2,16.37\n" }.joined()) { $0.emission = .fixes }
        }
        #expect(times("2019-03-01,22:09:56Z").keysAndTimes == ["1 2019-03-01T22:09:56Z"])
        #expect(times("2019-03-01,22:09:56.75-03:00").keysAndTimes == ["1 2019-03-02T01:09:56Z"])
        #expect(times("2025-01-01,2019-03-01T22:09:56Z").keysAndTimes == ["1 2019-03-01T22:09:56Z"])
        #expect(times("2025-01-01,1551478196").keysAndTimes == ["1 2019-03-01T22:09:56Z"])
        let refused = times(
            "2019-03-01,", ",22:09:56", "2019-03-01,22095", "190301,220956", "01/03/2019,22:09:56",
            "2019-03-01T00:00:00Z,22:09:56", "2019-02-29,22:09:56", "2019-03/01,22:09:56")
        #expect(
            refused.problems.map(\.reason) == [
                .timeMissing, .timeUnreadable, .timeTooEarly, .timeTooEarly, .dateOrderUnknown, .timeUnreadable,
                .timeUnreadable, .timeUnreadable,
            ])
    }

    /// Seconds since the start, days of a spreadsheet, `hhmmss`, a date as a number.
    @Test(arguments: ["0", "12.5", "46082.34", "220956", "20260301", "631151999", "1989-12-31T23:59:59Z", "-5"])
    func `numbers that are no epoch are bad records`(_ time: String) {
        #expect(convertToTable("time,lat,lon\n\(time),48.2,16.37\n").reasons == ["2: the time is before 1990"])
        let gpx = "<gpx><wpt lat='48.2' lon='16.37'><time>1989-12-31T23:59:59Z</time></wpt></gpx>"
        #expect(convertToTable(gpx).problems.map(\.reason) == [.timeTooEarly])
    }

    /// The expected values are of other programs: GPS Time is 18 s ahead of UTC since 2017 (IERS Bulletin C 52).
    @Test(
        arguments: [
            (TimeFormat.unix, "1772352930.9", "2026-03-01T08:15:30Z"),
            (.unixMilliseconds, "1772352930999", "2026-03-01T08:15:30Z"),
            (.unix, "99999999999", nil), (.unixMicroseconds, "1772352930999999", "2026-03-01T08:15:30Z"),
            (.unixNanoseconds, "1772352930999999999", "2026-03-01T08:15:30Z"),
            (.unixNanoseconds, "1.772352930e18", "2026-03-01T08:15:30Z"), (.unixNanoseconds, "1.7e18", nil),
            (.unixNanoseconds, "1772352930 999999999", nil),
            (.excel, "46082.344097222", "2026-03-01T08:15:30Z"), (.excel, "32874", "1990-01-01T00:00:00Z"),
            (.gps, "1456388148", "2026-03-01T08:15:30Z"), (.gps, "1167264017", "2017-01-01T00:00:00Z"),
            (.gps, "1167264016", "2016-12-31T23:59:59Z"), (.gps, "1167264018", "2017-01-01T00:00:00Z"),
            (.gps, "315187207", "1990-01-01T00:00:01Z"),
            (.cocoa, "794045730", "2026-03-01T08:15:30Z"), (.iso, "2026-03-01T08:15:30Z", "2026-03-01T08:15:30Z"),
            (.iso, "1772352930", nil), (.unix, "2026-03-01T08:15:30Z", nil), (.excel, "north", nil),
            (.gps, "1e300", nil),
        ] as [(TimeFormat, String, String?)])
    func `numbers are read as they are said to be`(_ format: TimeFormat, _ time: String, _ expected: String?) {
        let outcome = convertToTable("time,lat,lon\n\(time),48.2,16.37\n") {
            ($0.timeStyle.format, $0.emission) = (format, .fixes)
        }
        #expect(outcome.keysAndTimes == (expected.map { ["1 \($0)"] } ?? []))
        if expected == nil { #expect(outcome.problems.count == 1) }
    }

    @Test func `a leap second is the first of the next minute`() {
        let input = "date,time,lat,lon\n2016-12-31,23:59:60,48.2,16.37\n,2017-01-01T00:00:00Z,48.2,16.37\n"
        let outcome = convertToTable(input) { $0.emission = .fixes }
        #expect(outcome.keysAndTimes == ["1 2017-01-01T00:00:00Z", "1 2017-01-01T00:00:00Z"])
    }

    @Test func `a fix more than a day ahead of the clock is a bad record`() {
        func run(_ input: String) -> Outcome {
            convertToTable(input) { $0.now = Timestamp(nanosecondsSince1970: 1_772_352_000_000_000_000) }
        }
        let table = run(
            "time,lat,lon\n2045-03-01T08:00:00Z,48.2,16.37\n2026-03-02T08:00:00Z,48.2,16.37\n1772438401,48.2,16.37\n")
        let reason = "the time is more than a day in the future"
        #expect(table.reasons == ["2: \(reason)", "4: \(reason)"] && table.keysAndTimes == ["1 2026-03-02T08:00:00Z"])
        func point(_ time: String) -> String { "<trkpt lat=\"48.2\" lon=\"16.37\"><time>\(time)</time></trkpt>" }
        let gpx = run(
            "<gpx><trk><trkseg>" + point("2045-03-01T08:00:00Z") + point("2026-03-01T08:00:00Z")
                + "</trkseg></trk></gpx>")
        #expect(gpx.reasons == ["1: \(reason)"] && gpx.keysAndTimes == ["1 2026-03-01T08:00:00Z"])
    }

    // MARK: Positions

    @Test func `columns of hemispheres are read or refused`() throws {
        let west = try reducedColumns(-41.8, -12.68)
        for header in [
            "LATITUDE,N/S,LONGITUDE,E/W", "Lat,Lat Dir,Lon,Lon Dir", "latitude,LATITUDE N/S,longitude,LONGITUDE E/W",
        ] {
            let outcome = convertToTable("time,\(header)\n1772352000,41.8,S,12.68,W\n1772352900,41.8,,12.68,W\n")
            #expect(outcome.rows.dropFirst().map { $0.hasSuffix(west) } == [true])
            #expect(outcome.problems.map(\.reason) == [.hemisphereUnreadable])
        }
        // The value has its letter itself.
        let columbus =
            "INDEX,TAG,DATE,TIME,LATITUDE N/S,LONGITUDE E/W,HEIGHT\n1,T,20260301,081530,41.8000S,12.6800W,180\n"
        #expect(convertToTable(columbus).rows.dropFirst().map { $0.hasSuffix(west) } == [true])
    }

    @Test func `longitudes beyond a turn are bad records`() {
        for longitude in ["1e300", "540.0001", "-541", "1637.3721"] {
            #expect(
                convertToTable("time,lat,lon\n1772352000,48.2,\(longitude)\n").reasons == [
                    "2: the longitude is out of range"
                ])
            #expect(snap("48.2 \(longitude)\n").reasons == ["1: the longitude is out of range"])
        }
        #expect(snap("48.2 376.37\n").rows == snap("48.2 16.37\n").rows)
    }
}
