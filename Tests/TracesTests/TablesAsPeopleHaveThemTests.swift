import FixedRandom
import Foundation
import Hereabouts
import Testing

@testable import Traces

/// Tables as spreadsheets, receivers, servers and people write them. Each is compared with the same table in plain CSV.
@Suite struct TablesAsPeopleHaveThemTests {
    private let plain = snap("id,lat,lon\nv,48.2082,16.3721\ne,31.7619,-106.485\n")

    /// Every division of the reading must give the same, and nothing is bad.
    private func check(
        _ input: String, _ comment: Comment? = nil, location: SourceLocation = #_sourceLocation,
        _ configure: (inout SnapRun.Options) -> Void = { _ in }
    ) {
        check(Array(input.utf8), comment, location: location, configure)
    }

    private func check(
        _ input: [UInt8], _ comment: Comment? = nil, location: SourceLocation = #_sourceLocation,
        _ configure: (inout SnapRun.Options) -> Void = { _ in }
    ) {
        for readBytes in [1 << 18, 1, 7, 64] {
            let outcome = snap(input) {
                $0.readBytes = readBytes
                configure(&$0)
            }
            #expect(outcome.error == nil, comment, sourceLocation: location)
            #expect(outcome.reasons == [], comment, sourceLocation: location)
            #expect(outcome.text == plain.text, comment, sourceLocation: location)
        }
    }

    // MARK: Bytes and lines

    @Test(arguments: ["|", ";", "\t", ","]) func `separators are inferred`(_ delimiter: String) {
        for lineEnd in ["\n", "\r\n", "\r"] {
            let rows = [["id", "lat", "lon"], ["v", "48.2082", "16.3721"], ["e", "31.7619", "-106.485"]]
            check(rows.map { $0.joined(separator: delimiter) + lineEnd }.joined())
        }
        // A name with more separators of another kind.
        let header = ["id", "lat", "lon", "note, with, many, commas; and; more; of | these | all\there\tand\tthere"]
        let others = header[3].split(separator: Character(delimiter), omittingEmptySubsequences: false).count
        let more = String(repeating: delimiter, count: others)
        check(
            "\(header.joined(separator: delimiter))\nv\(delimiter)48.2082\(delimiter)16.3721\(more)\n"
                + "e\(delimiter)31.7619\(delimiter)-106.485\(more)\n")
    }

    @Test func `text in UTF-16 is read`() throws {
        let text = "id,lat,lon,nöte\r\nv,48.2082,16.3721,💶 €\r\ne,31.7619,-106.485,x\r\n"
        for (encoding, mark) in [(String.Encoding.utf16LittleEndian, [0xff, 0xfe]), (.utf16BigEndian, [0xfe, 0xff])] {
            let bytes = try #require(text.data(using: encoding))
            check(mark.map { UInt8($0) } + bytes)
        }
    }

    @Test func `a kept column of UTF-16 is written in UTF-8`() throws {
        let text = "note,lat,lon\nö 💶,48.2082,16.3721\n"
        let bytes = [0xff, 0xfe] + (try #require(text.data(using: .utf16LittleEndian)))
        for readBytes in 1...9 {
            let outcome = snap(Array(bytes)) { ($0.keep, $0.readBytes) = (["note"], readBytes) }
            #expect(outcome.text == snap(text) { $0.keep = ["note"] }.text)
        }
    }

    /// Half a pair of surrogates, in the middle and at the end, and half a unit.
    @Test func `what is no UTF-16 becomes a replacement`() {
        let bytes: [UInt8] =
            [0xff, 0xfe] + "note,lat,lon\n".utf8.flatMap { [$0, 0] } + [0x3d, 0xd8]
            + ",1,2\n".utf8.flatMap { [$0, 0] } + [0x3d, 0xdc] + ",1,2".utf8.flatMap { [$0, 0] }
        for readBytes in 1...9 {
            for end: [UInt8] in [[], [0x3d], [0x3d, 0xd8], [0x3d, 0xd8, 0x3d]] {
                let outcome = snap(bytes + end) { ($0.keep, $0.readBytes) = (["note"], readBytes) }
                #expect(outcome.error == nil && outcome.rows.count == 3)
                #expect(
                    outcome.rows[1].hasPrefix("\u{fffd},") && outcome.rows[2].hasPrefix(end.isEmpty ? "\u{fffd}," : ",")
                )
                #expect(outcome.problems.count == (end.isEmpty ? 0 : 1))
            }
        }
    }

    private let records = "v,48.2082,16.3721\ne,31.7619,-106.485\n"

    @Test func `what stands around a header is passed over`() {
        for before in [
            "# made by x\n", "\n", "\r\n\r\n", "#\n# lat and lon\n\n", "% x\n", "// x\n", ",,\n", "   \n", ";;;\n",
        ] {
            check(before + "id,lat,lon\n" + records, "\(before)")
            check("\u{feff}" + before + "id,lat,lon\n" + records, "\(before)")
        }
        for after in [
            "# units\n", ",degrees,degrees\n", "UTC,degrees_north,degrees_east\n", ",[deg],(°)\n", ",\"Deg\",DD\n",
        ] {
            check("id,lat,lon\n" + after + records, "\(after)")
            check("# x\nid,lat,lon\n" + after + "# y\n" + records, "\(after)")
        }
        // A header may begin as comments do.
        #expect(snap("#lat,lon\n" + "1,2\n").rows.count == 2)
    }

    @Test func `lines are counted from the files first`() {
        let outcome = snap("# x\n\nlat,lon\ndeg,deg\n# y\n91,2\n1,2\n")
        #expect(outcome.reasons == ["6: the latitude is out of range"] && outcome.summary.records == 2)
        #expect(snap("sep=;\nlat;lon\n91;2\n").reasons == ["3: the latitude is out of range"])
        #expect(snap("# x\n91 2\n").reasons == ["2: the latitude is out of range"])
        #expect(snap("\n\nlat,\"lon\n1,2\n").error == .headerQuote(file: "input", line: 3))
    }

    @Test func `nothing that may be a record is passed over`() {
        // A comment with as many fields as the header, units without a known word, a second line of units.
        for row in ["#1,48.2,x", "u,none,none", "u,,", "u,north,east"] {
            #expect(snap("id,lat,lon\n\(row)\n").summary.records == 1)
        }
        #expect(snap("id,lat,lon\n,deg,deg\n,deg,deg\n").summary.records == 1)
        #expect(snap("lat,lon\n1,2\n# x\n").problems.map(\.reason) == [.columnCount(expected: 2, found: 1)])
        // The first thousand lines alone are looked at.
        let comments = String(repeating: "#\n", count: 2000)
        #expect(snap(comments + "lat,lon\n1,2\n").error == .noColumn(file: "input", axis: .latitude, columns: []))
        #expect(snap("lat,lon\n" + comments + "1,2\n").summary.badRecords == 1000)
    }

    @Test func `a spreadsheets first line says the separator`() {
        for line in ["sep=;", "SEP=;", "\"sep=;\"", "sep=;\r"] {
            check(line + "\n" + ("id,lat,lon\n" + records).replacing(",", with: ";"), "\(line)")
        }
        check("sep=:\n" + ("id,lat,lon\n" + records).replacing(",", with: ":"))
        check("\u{feff}sep=\t\nid\tlat\tlon\n" + records.replacing(",", with: "\t"))
        #expect(snap("lat,lon\nsep=;\n").problems.count == 1)
    }

    @Test func `separators at the end of a line make no field`() {
        check("id,lat,lon\n" + records.replacing("\n", with: ",,,\n"))
        check("id,lat,lon\n" + records.replacing("\n", with: ", ,\t\r\n"))
        check("id,lat,lon,,\n" + records)
        check("id,lat,lon,,\n" + records.replacing("\n", with: ",,\n"))
        check("id,lat,lon,,\nv,48.2082,16.3721\ne,31.7619,-106.485,,,,\n")
        let outcome = snap("lat,lon\n1,2,,3\n1,2,\"\"\n1\n1,2\n")
        #expect(outcome.summary.badRecords == 3 && outcome.problems.allSatisfy { $0.reason.isOfShape })
        #expect(snap("lat,lon,,\n1,2\n").notices.isEmpty)
        #expect(snap("lat,,lon\n1,x,2\n").dropped == ["column 2"])
    }

    @Test func `a return in the first record ends no line`() {
        for input in ["lat,lon,n\n1,2,\"a\rb\"\n3,4,c\n", "lat,lon,n\n1,2,a\rb\n", "# x\nlat,lon,n\r\n1,2,a\rb\n"] {
            for readBytes in [1 << 18, 1, 5] {
                let outcome = snap(input) { ($0.keep, $0.readBytes) = (["n"], readBytes) }
                #expect(outcome.reasons.isEmpty && outcome.rows.last?.isEmpty == false && outcome.text.contains("\r"))
            }
        }
    }

    // MARK: Positions

    @Test func `of several names the full ones go first`() throws {
        let expected = try reducedColumns(48.2082, 16.3721)
        for (header, row) in [
            ("lat,lon,latitude,longitude", "1,2,48.2082,16.3721"), ("y,x,lat,lon", "1,2,48.2082,16.3721"),
            ("latitude,lat,lon", "1,48.2082,16.3721"), ("lat,latitude,longitude", "1,48.2082,16.3721"),
            ("latitude,lon", "48.2082,16.3721"), ("x,latitude,y,lon", "1,48.2082,2,16.3721"),
            ("decimalLatitude,decimalLongitude", "48.2082,16.3721"),
            ("location-long,location-lat", "16.3721,48.2082"),
        ] {
            #expect(snap("\(header)\n\(row)\n").rows.last == expected, "\(header)")
        }
        #expect(snap("lat,lon,lng\n1,2,3\n").error == .ambiguousColumn(file: "input", name: "longitude"))
        for name in ["lat", "y", "geometry", "lat_lon"] {
            #expect(
                snap("latitude,longitude,\(name)\n1,2,3\n") { $0.keep = [name] }.error == .keepsPosition(name: name))
        }
    }

    @Test func `a decimal comma is read`() {
        check("id;lat;lon\nv;48,2082;16,3721\ne;31,7619;-106,485\n")
        check("id\tlat\tlon\nv\t48,2082\t16,3721\ne\t31,7619\t-106,485\n")
        check("id,lat,lon\nv,\"48,2082\",\"16,3721\"\ne,\"31,7619\",\"-106,485\"\n")
        for wrong in ["48,2,0", "1.048,2", "48,2e1", ",2", "48,2 3"] {
            #expect(snap("lat;lon\n\(wrong);16\n").problems.map(\.reason) == [.latitudeUnreadable])
        }
    }

    @Test(arguments: ["geometry", "WKT", "the_geom", "point"]) func `a column of points is read`(_ name: String) {
        check("id,\(name)\nv,POINT(16.3721 48.2082)\ne,Point (-106.485 31.7619)\n")
        check("id,\(name),y\nv,SRID=4326;POINT Z (16.3721 48.2082 171),1\ne,POINT(-106.485 31.7619 1140),2\n")
        check("id;\(name)\nv;\"POINT ( 16.3721  48.2082 )\"\ne;point zm(-106.485 31.7619 1140 0)\n")
        for wrong in [
            "POINT(1)", "POINT(1 2", "POINT 1 2", "POINT(1 2 3 4)", "SRID=3857;POINT(1 2)", "POINT(a b)", "1 2",
            "LINESTRING(1 2)", "POINT EMPTY", "48.2",
        ] {
            let outcome = snap("id,\(name)\nv,\(wrong)\n")
            #expect(outcome.problems.map(\.reason) == [.positionUnreadable], "\(wrong)")
        }
        #expect(snap("id,\(name)\nv,\n").problems.map(\.reason) == [.positionMissing])
        #expect(snap("id,\(name)\nv,POINT(16 91)\n").problems.map(\.reason) == [.latitudeOutOfRange])
    }

    @Test func `a column of both coordinates is read`() {
        for name in ["\"lat,lon\"", "LatLng", "lat_long", "Latitude/Longitude", "gps"] {
            let named: (inout SnapRun.Options) -> Void = { if name == "gps" { $0.csv.positionColumn = name } }
            check("id,\(name)\nv,\"48.2082,16.3721\"\ne,\"31.7619, -106.485\"\n", "\(name)", named)
            check("id,\(name)\nv,48.2082 16.3721\ne,(31.7619 -106.485)\n", "\(name)", named)
            check("id,\(name)\nv,48.2082;16.3721\ne,POINT(-106.485 31.7619)\n", "\(name)", named)
            check("id,\(name)\nv,\"N48.2082, E16.3721\"\ne,\"[31.7619N,106.485W]\"\n", "\(name)", named)
        }
        check("id;lat,lon\nv;48.2082,16.3721\ne;31.7619,-106.485\n")
        check("id\tlon/lat\nv\t16.3721,48.2082\ne\t-106.485,31.7619\n")
        for wrong in ["48.2082", "48.2082,", "1,2,3", "48.2082,16.3721N", "a,b", "(1,2"] {
            #expect(snap("id;latlon\nv;\(wrong)\n").problems.map(\.reason) == [.positionUnreadable], "\(wrong)")
        }
        // Whose order is not said is not guessed.
        #expect(
            snap("id,coordinates\nv,\"48.2,16.4\"\n").error
                == .noColumn(file: "input", axis: .latitude, columns: ["id", "coordinates"]))
        #expect(snap("latlon,lonlat\n").error == .ambiguousColumn(file: "input", name: "position"))
    }

    static let angles: [(text: String, latitude: Double)] = [
        ("48.2082N", 48.2082), ("48.2082 s", -48.2082), ("N48.2082", 48.2082), ("S 48,2082", -48.2082),
        ("48.2082°", 48.2082), ("-48.2082°", -48.2082), ("48.2082º N", 48.2082),
        ("48°12'30.5\"N", 48.2084722222), ("48° 12' 30.5\" S", -48.2084722222), ("48°12′30,5″N", 48.2084722222),
        ("48°12’30.5”", 48.2084722222), ("-48°12'30.5''", -48.2084722222), ("48 12 30.5 N", 48.2084722222),
        ("48 12 30.5", 48.2084722222), ("48:12:30.5", 48.2084722222), ("48d12'30.5\"N", 48.2084722222),
        ("N 48° 12.508333'", 48.2084722222), ("48°12.508333", 48.2084722222), ("48 12.508333S", -48.2084722222),
        ("48°12'30.5\"\"N", 48.2084722222), ("0°0'30\"S", -0.0083333333),
    ]

    @Test(arguments: angles) func `degrees minutes and seconds are read`(_ angle: (text: String, latitude: Double)) {
        func value(_ text: String, _ axis: TraceError.Axis) -> Double? {
            let bytes = Array(text.utf8)
            return unsafe bytes.withUnsafeBufferPointer { unsafe AngleText.parse($0, axis) }
        }
        #expect(abs((value(angle.text, .latitude) ?? .nan) - angle.latitude) < 1e-8)
        #expect(value(" \(angle.text)\t", .latitude) == value(angle.text, .latitude))
        let east = angle.text.replacing("N", with: "E").replacing("S", with: "w").replacing(" s", with: "w")
        #expect(abs((value(east, .longitude) ?? .nan) - angle.latitude) < 1e-8)
        let isLettered = angle.text.contains { "NSs".contains($0) }
        #expect((value(angle.text, .longitude) == nil) == isLettered)
        // As a field with quotes, and as one without.
        let quoted = angle.text.contains("\"\"") ? angle.text : angle.text.replacing("\"", with: "\"\"")
        let row = "lat;lon\n\(angle.text);16.3721\n\"\(quoted)\";16.3721\n"
        let outcome = snap(row)
        #expect(
            outcome.problems.isEmpty
                && outcome.rows.dropFirst().allSatisfy { $0 == (try? reducedColumns(angle.latitude, 16.3721)) })
    }

    @Test(arguments: [
        "-48.2N", "48.2E", "48°60'N", "48°12'60\"N", "48.5°12'N", "48°12.5'30\"N", "48 12", "4812.345,N", "N48.2N", "N",
        "48°12'30\"N x", "48''30'", "48°-12'N", "° 12", "48°12'30\"15", "+-4", "48NN", "1e2N", "0x10N", "48..2N",
        "48N,",
        "999999999999999999999999999999999999999999999N",
    ])
    func `what has two meanings is no angle`(_ text: String) {
        #expect(snap("lat;lon\n\(text);16.3721\n").problems.map(\.reason) == [.latitudeUnreadable])
    }

    @Test func `a letter beside a column of hemispheres must not double`() {
        let outcome = snap("lat,N/S,lon,E/W\n48.2S,S,16,E\n48.2,S,16,E\n")
        #expect(outcome.problems.map(\.reason) == [.hemisphereAndSign])
        // Degrees and minutes run together are degrees out of range.
        #expect(snap("lat,N/S,lon,E/W\n4812.345,N,01622.345,E\n").problems.map(\.reason) == [.latitudeOutOfRange])
    }

    @Test func `hostile angles are read or refused`() {
        var random = SplitMix64(seed: 14)
        let pieces = [
            "N", "S", "E", "W", " ", "°", "'", "\"", "\"\"", "-", "+", "48", "12", "5.5", ",", ".", ":", "d", "(", ")",
            "POINT", ";", "[", "\u{b0}", "′",
        ]
        for _ in 0..<300 {
            let text = (0..<Int.random(in: 0...8, using: &random)).map { _ in pieces.randomElement(using: &random)! }
                .joined()
            for table in [
                "lat|lon\n\(text)|1\n", "latlon|b\n\(text)|1\n", "geometry|b\n\(text)|1\n", "\(text)\n\(text)\n",
            ] {
                let outcome = snap(table)
                #expect(outcome.error != nil || outcome.summary.written == outcome.summary.records)
            }
        }
    }

    // MARK: Times

    private func times(_ input: String, _ style: TimeStyle = TimeStyle()) -> Outcome {
        convert(input) {
            ($0.format, $0.emission, $0.earliest, $0.timeStyle) = (.csv, .fixes, TimeBounds.earliest, style)
        }
    }

    private func read(_ time: String, _ style: TimeStyle = TimeStyle()) -> String? {
        let outcome = times("time;lat;lon\n\(time);48.2;16.37\n", style)
        return outcome.rows.dropFirst().first.map {
            String($0.split(separator: ",", omittingEmptySubsequences: false)[1])
        }
    }

    @Test(arguments: [
        "2019-03-01T22:09:56Z", "2019/03/01 22:09:56", "2019/3/1 22:09:56", "2019-03-01 22:09:56 UTC",
        "2019-03-01 22:09:56.75 utc", "2019-03-01 22:09:56 GMT", "2019-03-01 22:09:56 +0000", "2019-03-01 22:09:56UTC",
        "20190301T220956Z", "20190301T220956", "20190301 220956Z", "20190301T230956+01", "2019-03-01T220956Z",
        "2019-03-01 10:09:56 PM", "2019/3/1 10:09:56pm", "1551478196", "1551478196000", "1551478196000000",
        "1551478196000000000", "1551478196,0", "2019-03-01  22:09:56",
    ])
    func `one moment is read in every notation`(_ time: String) { #expect(read(time) == "2019-03-01T22:09:56Z") }

    @Test func `micro and nanoseconds keep their digits`() {
        func nanoseconds(_ text: String) -> Int64? {
            let bytes = Array(text.utf8)
            return unsafe bytes.withUnsafeBufferPointer {
                unsafe Timestamp($0, inTable: TimeStyle())?.nanosecondsSince1970
            }
        }
        #expect(nanoseconds("1551478196123456") == 1_551_478_196_123_456_000)
        #expect(nanoseconds("1551478196123456789") == 1_551_478_196_123_456_789)
        #expect(nanoseconds("1.5e18") == 1_500_000_000_000_000_000)
        for wrong in ["9223372036854775808", "1e19", "1e300"] { #expect(nanoseconds(wrong) == nil) }
    }

    @Test(arguments: [
        "03/01/2019 22:09:56", "3/1/2019 22:09", "03-01-2019 22:09:56Z", "1.3.2019 22:09", "12/31/2019 10:09 PM",
    ])
    func `a date that begins with its day or month needs its order`(_ time: String) {
        let outcome = times("time,lat,lon\n\(time),48.2,16.37\n2019-03-01T22:09:56Z,48.2,16.37\n")
        #expect(outcome.problems.map(\.reason) == [.dateOrderUnknown] && outcome.rows.count == 2)
        #expect(outcome.reasons[0].contains("--date-order"))
        let (date, clock) = (time.prefix { $0 != " " }, time.drop { $0 != " " }.dropFirst())
        let joined = times("date,time,lat,lon\n\(date),\(clock),48.2,16.37\n")
        #expect(joined.problems.map(\.reason) == [.dateOrderUnknown])
    }

    @Test func `the order of a date is as it is said`() {
        let (day, month) = (TimeStyle(dateOrder: .dayFirst), TimeStyle(dateOrder: .monthFirst))
        #expect(read("03/01/2019 22:09:56", day) == "2019-01-03T22:09:56Z")
        #expect(read("03/01/2019 22:09:56", month) == "2019-03-01T22:09:56Z")
        #expect(read("3.1.2019 9:05", day) == "2019-01-03T09:05:00Z")
        #expect(read("12/31/2019 12:00:00 AM", month) == "2019-12-31T00:00:00Z")
        #expect(read("12/31/2019 12:30 pm", month) == "2019-12-31T12:30:00Z")
        #expect(read("2019-03-01T22:09:56Z", day) == "2019-03-01T22:09:56Z")
        #expect(read("2019/03/01 22:09:56", day) == "2019-03-01T22:09:56Z")
        for style in [day, month] {
            let joined = times("Date,Time,lat,lon\n01/01/2019,22:09:56,48.2,16.37\n", style)
            #expect(joined.rows.last?.hasPrefix("1,2019-01-01T22:09:56Z,") == true)
        }
        for wrong in [
            "12/31/2019 22:09", "31/02/2019 22:09", "1/1/19 22:09", "1/1-2019 22:09", "1/1/20190 22:09",
            "0/1/2019 22:09",
            "1/1/2019", "1/1/2019 13:00 PM", "1/1/2019 0:30 AM", "1/1/2019 22:9", "1/1/2019 24:00",
        ] {
            #expect(read(wrong, day) == nil, "\(wrong)")
        }
    }

    @Test func `dates and times in two columns are joined without marks too`() {
        for row in ["20190301,220956", "2019/3/1,22:09:56", "2019-03-01,10:09:56 PM", "20190301,220956.5"] {
            #expect(
                times("DATE,TIME,lat,lon\n\(row),48.2,16.37\n").rows.last?.hasPrefix("1,2019-03-01T22:09:56Z,") == true)
        }
    }

    @Test func `a spreadsheets days may have a decimal comma`() {
        #expect(read("46082,344097222", TimeStyle(format: .excel)) == "2026-03-01T08:15:30Z")
        #expect(read("46082.344097222") == nil)
    }

    // MARK: Time zones

    @Test func `local times are those of the zone`() throws {
        let vienna = TimeStyle(zone: try TimeZoneRules(named: "Europe/Vienna"))
        #expect(read("2019-03-01 22:09:56", vienna) == "2019-03-01T21:09:56Z")
        #expect(read("2019-07-01T22:09:56", vienna) == "2019-07-01T20:09:56Z")
        // A zone of its own, and numbers, are as they were.
        for time in ["2019-07-01T22:09:56Z", "2019-07-02T00:09:56+02:00", "1562018996", "2019-07-01 22:09:56 UTC"] {
            #expect(read(time, vienna) == "2019-07-01T22:09:56Z")
        }
        // 2025-03-30 02:00 to 03:00 is left out; 2025-10-26 02:00 to 03:00 comes twice.
        #expect(read("2025-03-30 02:30:00", vienna) == "2025-03-30T01:30:00Z")
        #expect(read("2025-10-26 02:30:00", vienna) == "2025-10-26T00:30:00Z")
        #expect(read("2025-10-26 03:00:00", vienna) == "2025-10-26T02:00:00Z")
        var excel = vienna
        excel.format = .excel
        #expect(read("46082.344097222", excel) == "2026-03-01T07:15:30Z")
        let joined = times("date,time,lat,lon\n2019-07-01,22:09:56,48.2,16.37\n", vienna)
        #expect(joined.rows.last?.hasPrefix("1,2019-07-01T20:09:56Z,") == true)
    }

    @Test(arguments: [
        "Europe/Vienna", "Europe/Dublin", "America/New_York", "America/Sao_Paulo", "Asia/Kolkata",
        "Australia/Lord_Howe",
        "Africa/Casablanca", "Pacific/Apia", "Asia/Tehran", "UTC", "America/St_Johns", "Antarctica/Troll", "Asia/Gaza",
    ])
    func `zones agree with foundation`(_ name: String) throws {
        let zone = try TimeZoneRules(named: name)
        let other = try #require(TimeZone(identifier: name))
        func offset(_ seconds: Int64) -> Int64 {
            Int64(other.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds))))
        }
        var random = SplitMix64(seed: 3)
        for _ in 0..<500 {
            let moment = Int64.random(in: 631_152_000...2_145_916_800, using: &random)
            let local = moment + offset(moment)
            let read = zone.utc(ofLocal: local)
            // The same moment, or the first one at which the clock showed the same.
            #expect(read == moment || read < moment && read + offset(read) == local)
        }
    }

    @Test func `names that are no zone are refused`() {
        for name in [
            "", "Vienna", "../../etc/passwd", "/etc/passwd", "Europe", "Europe/Vienna\0", "right/Europe/Vienna",
            "tzdata.zi",
        ] {
            #expect(throws: TraceError.self) { try TimeZoneRules(named: name) }
        }
    }

    @Test func `a zone that has a rule alone is read`() throws {
        func zone(_ rule: String) throws -> TimeZoneRules {
            let header = Array("TZif2".utf8) + [UInt8](repeating: 0, count: 15)
            let counts: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 4]
            let type: [UInt8] = [0, 0, 0x0e, 0x10, 0, 0] + Array("CET\0".utf8)
            return try TimeZoneRules(header + counts + type + header + counts + type + Array("\n\(rule)\n".utf8))
        }
        let vienna = try TimeZoneRules(named: "Europe/Vienna"), slim = try zone("CET-1CEST,M3.5.0,M10.5.0/3")
        let melbourne = try TimeZoneRules(named: "Australia/Melbourne"),
            south = try zone("AEST-10AEDT,M10.1.0,M4.1.0/3")
        let times = stride(from: Int64(1_577_836_800), to: 2_000_000_000, by: 1800)
        #expect(times.allSatisfy { slim.utc(ofLocal: $0) == vienna.utc(ofLocal: $0) })
        #expect(times.allSatisfy { south.utc(ofLocal: $0) == melbourne.utc(ofLocal: $0) })
        #expect(try zone("<+0330>-3:30").utc(ofLocal: 12_600) == 0)
        #expect(try zone("").utc(ofLocal: 3600) == 0)
        // Day 60 without leap days is March 1, day 59 of all days is February 29.
        for rule in [
            "X-1Y,J60/0,J300", "XXX-1YYY,M3.5.7,M10.5.0", "XXX", "XXX-1YYY", "XXX-1,M3.5.0,M10.5.0", "XXX-1YYY,J0,J9",
        ] {
            #expect(throws: TimeZoneRules.DecodingFailure.self) { try zone(rule) }
        }
        #expect(try zone("XXX-1YYY,J60/0,J300").utc(ofLocal: 1_582_934_400) == 1_582_934_400 - 3600)
        #expect(try zone("XXX-1YYY,59/0,300").utc(ofLocal: 1_582_934_400 + 3600) == 1_582_934_400 - 3600)
    }

    @Test func `damaged zones are refused or read`() throws {
        let file = try #require(FileManager.default.contents(atPath: "/usr/share/zoneinfo/Europe/Vienna")).map { $0 }
        var random = SplitMix64(seed: 4)
        for _ in 0..<500 {
            var bytes = file
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            if Bool.random(using: &random) { bytes.removeLast(Int.random(in: 1...bytes.count, using: &random)) }
            guard let zone = try? TimeZoneRules(bytes) else { continue }
            for local: Int64 in [-1_000_000_000, 0, 1_551_478_196, 9_000_000_000] {
                #expect(abs(zone.utc(ofLocal: local) - local) <= 26 * 3600)
            }
        }
    }
}
