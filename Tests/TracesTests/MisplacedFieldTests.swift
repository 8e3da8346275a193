import FixedRandom
import Foundation
import Hereabouts
import Testing

@testable import Traces

/// Records whose fields stand in other columns than the header says: nothing of them is copied.
@Suite struct MisplacedFieldTests {
    /// Whatever the threads and the pieces, the outcome.
    private func undivided(_ run: (_ threads: Int, _ readBytes: Int) -> Outcome) -> Outcome {
        let whole = run(1, 1 << 18)
        for threads in [1, 2, 7] {
            for bytes in [8, 1 << 18] { #expect(run(threads, bytes) == whole) }
        }
        return whole
    }

    // MARK: Further headers

    private static let orders = """
        device,time,lat,lon
        van-a,2026-05-01T08:10:00Z,48.2082,16.3738
        lat,lon,device,time
        48.30821,16.47382,van-b,2026-05-01T08:11:00Z
        48.31821,16.48382,van-b,2026-05-01T08:31:00Z

        """

    @Test func `records behind a header of the same names in another order are read by it`() throws {
        let reduced = undivided { threads, bytes in snap(Self.orders) { ($0.threads, $0.readBytes) = (threads, bytes) }
        }
        let expected = [
            "van-a,2026-05-01T08:10:00Z," + (try reducedColumns(48.2082, 16.3738)),
            "van-b,2026-05-01T08:11:00Z," + (try reducedColumns(48.30821, 16.47382)),
            "van-b,2026-05-01T08:31:00Z," + (try reducedColumns(48.31821, 16.48382)),
        ]
        #expect(Array(reduced.rows.dropFirst()) == expected && reduced.problems.isEmpty && reduced.error == nil)
        let paced = undivided { threads, bytes in
            convertToTable(Self.orders) { ($0.threads, $0.readBytes) = (threads, bytes) }
        }
        #expect(
            paced.keysAndTimes == [
                "van-b 2026-05-01T08:15:00Z", "van-a 2026-05-01T08:15:00Z", "van-b 2026-05-01T08:45:00Z",
            ])
    }

    @Test func `many headers between many records are all followed`() throws {
        let orders = [
            ["id", "lat", "lon", "time", "acc"], ["lat", "lon", "acc", "time", "id"],
            ["time", "acc", "lon", "id", "lat"],
        ]
        var random = SplitMix64(seed: 21)
        var input = "", expected: [String] = []
        for part in 0..<60 {
            let order = part == 0 ? orders[0] : orders.randomElement(using: &random)!
            if part % 7 == 3 { input += "# part \(part)\n,,,,\n" }
            if part % 11 == 5 { input += "\n" }
            input += order.joined(separator: ",") + (part % 5 == 2 ? "\r\n" : "\n")
            for record in 0..<Int.random(in: 0...40, using: &random) {
                let (latitude, longitude) = (
                    String(format: "%.6f", Double.random(in: 40...50, using: &random)),
                    String(format: "%.6f", Double.random(in: 5...15, using: &random))
                )
                let fields = [
                    "id": "k\(part)", "lat": latitude, "lon": longitude, "acc": "5",
                    "time": "2026-05-01T08:10:\(10 + record)Z",
                ]
                input += order.map { fields[$0]! }.joined(separator: ",") + "\n"
                expected.append(
                    "k\(part),2026-05-01T08:10:\(10 + record)Z,"
                        + (try reducedColumns(Double(latitude)!, Double(longitude)!)))
            }
        }
        let outcome = undivided { threads, bytes in snap(input) { ($0.threads, $0.readBytes) = (threads, bytes) } }
        #expect(Array(outcome.rows.dropFirst()) == expected && outcome.problems.isEmpty)
    }

    @Test(arguments: [
        // Another column; another name; a column less; coordinates of other names.
        "device,time,lat,lon,alt\nb,2026-05-01T08:11:00Z,48.3,16.4,1\n",
        "device,when,lat,lon\nb,2026-05-01T08:11:00Z,48.3,16.4\n", "lon,lat,device\n16.4,48.3,b\n",
        "device,time,longitude,latitude\nb,2026-05-01T08:11:00Z,16.4,48.3\n",
        "#datatype,string,double,double\ndevice,lon,lat\nb,16.4,48.3\n",
    ])
    func `a header of other names ends the run`(_ second: String) {
        let first = "device,time,lat,lon\na,2026-05-01T08:10:00Z,48.2082,16.3738\n"
        let line = second.hasPrefix("#") ? 4 : 3
        for policy in ErrorPolicy.allCases {
            let outcome = undivided { threads, bytes in
                snap(first + second) { ($0.threads, $0.readBytes, $0.onError) = (threads, bytes, policy) }
            }
            #expect(outcome.error == .otherHeader(file: "input", line: line) && outcome.output.isEmpty)
        }
        let outcome = undivided { threads, bytes in
            convertToTable(first + second) { ($0.threads, $0.readBytes) = (threads, bytes) }
        }
        #expect(outcome.error == .otherHeader(file: "input0", line: line) && outcome.output.isEmpty)
    }

    @Test func `the same header again is passed over, and annotations before it`() throws {
        let influx = """
            #datatype,string,long,dateTime:RFC3339,double,double,string
            ,result,table,_time,lat,lon,device
            ,,0,2026-05-01T08:10:00Z,48.2082,16.3738,van-a

            #datatype,string,long,dateTime:RFC3339,double,double,string
            ,result,table,_time,lon,lat,device
            ,,1,2026-05-01T08:11:00Z,16.3738,48.3082,van-b

            """
        let outcome = undivided { threads, bytes in
            snap(influx) { ($0.threads, $0.readBytes) = (threads, bytes) }
        }
        #expect(outcome.problems.isEmpty && outcome.error == nil)
        #expect(
            Array(outcome.rows.dropFirst()) == [
                "van-a," + (try reducedColumns(48.2082, 16.3738)), "van-b," + (try reducedColumns(48.3082, 16.3738)),
            ])
        let repeated = snap("id,lat,lon\na,48.2,16.3\nid,lat,lon\n\u{feff}ID,\"LAT\",lon\nb,48.3,16.4\n")
        #expect(repeated.problems.isEmpty && repeated.rows.count == 3)
    }

    // MARK: Shapes

    @Test(arguments: [
        // R's write.table with quoted row names; counted, unquoted; named rows; a last field that is not always empty.
        ("\"lat\",\"lon\",\"id\"\n\"1\",48.2082,16.3738,a\n\"2\",48.3082,16.4738,a\n", true),
        ("lat,lon,id,note\n\"1\",48.2082,16.3738,a,\n\"2\",48.3082,16.4738,a,\n", true),
        ("lat,lon,id\n0,48.2082,16.3738,a\n1,48.3082,16.4738,a\n", true),
        ("lat,lon,id,note\nx,48.2082,16.3738,a,\ny,48.3082,16.4738,a,\n", true),
        ("id,lat,lon\nx,a,48.2082,16.3738\ny,a,48.3082,16.4738\n", true),
        ("id,lat,lon,note\n\"1\",a,48.2082,16.3738,\n\"2\",a,48.3082,16.4738,\n", true),
        // Separators at the end.
        ("lat,lon,id\n48.2082,16.3738,a,\n48.3082,16.4738,a,\n", false),
        ("lat,lon,id\n48.2082,16.3738,a,,,\n48.3082,16.4738,a\n", false),
        ("id,lat,lon\na,48.2082,16.3738,\na,48.3082,16.4738,\n", false),
    ])
    func `rows a field longer than the header have names, or separators at the end`(_ input: String, hasNames: Bool)
        throws
    {
        let outcome = undivided { threads, bytes in snap(input) { ($0.threads, $0.readBytes) = (threads, bytes) } }
        #expect(outcome.problems.isEmpty && outcome.error == nil)
        #expect(
            Array(outcome.rows.dropFirst()) == [
                "a," + (try reducedColumns(48.2082, 16.3738)), "a," + (try reducedColumns(48.3082, 16.4738)),
            ])
        #expect(outcome.notices.contains(.rowNames(file: "input")) == hasNames)
    }

    @Test(arguments: [
        ("lat,lon,ele", "48.2,16.3,171,"), ("name,lat,lon,ele", "van-a,48.2,16.3,171,"),
        ("id,lat,lon,ele", "1,48.2,16.3,171,"),
        ("time,lat,lon", "2026-05-01T08:10:00Z,48.2,16.3,"),
    ])
    func `a separator at the end of a line is no field`(_ header: String, _ row: String) throws {
        let outcome = snap("\(header)\n\(row)\n")
        let expected = try reducedColumns(48.2, 16.3)
        #expect(outcome.problems.isEmpty && outcome.rows.last?.hasSuffix(expected) == true)
    }

    @Test func `records of another length than that of the first ones are bad`() {
        // Where records have something behind the header's fields, a separator there is no longer nothing.
        let outcome = snap("id,lat,lon\na,48.2,16.3\nb,48.2,16.3,\nc, d,48.2,16.3\n")
        #expect(outcome.problems.map(\.line) == [3, 4] && outcome.rows.dropFirst(2) == [",,,,,,", ",,,,,,"])
        let many = String(repeating: "a,48.2,16.3,\n", count: 10_000)
        #expect(snap("id,lat,lon\n\(many)b,48.2,16.3,x\n").problems.map(\.line) == [10_002])
        #expect(snap("id,lat,lon\n\(many)b,48.2,16.3,\n").problems.isEmpty)
    }

    @Test func `a table with row names is paced`() {
        let input = """
            lat,lon,id,date,time,note
            "1",48.20821,16.37382,a,2026-05-01 08:10:00,08:10:00,
            "2",48.20831,16.37392,a,2026-05-01 08:31:00,08:31:00,

            """
        #expect(convertToTable(input).keysAndTimes == ["a 2026-05-01T08:15:00Z", "a 2026-05-01T08:45:00Z"])
    }

    // MARK: Bad records

    @Test func `nothing of a bad record is copied`() {
        let table = "id,lat,lon,time\ncafe, Vienna,48.2,16.3\nx,none,16.3738,2026-05-01T08:10:00Z\n"
        #expect(snap(table).rows.dropFirst() == [",,,,,,,", ",,,,,,,"])
        let lines = "{\"id\":\"a\",\"lat\":\"none\",\"lon\":16.3}\n{\"id\":\"b\",\"lat\":48.2,\"lon\":16.3}\n"
        #expect(snap(lines).rows[0].hasPrefix("{\"id\":null,\"latitude\":null"))
        #expect(snap(lines) { $0.format = .csv }.rows[1] == ",,,,,,")
        #expect(
            snap(lines) { $0.format = .geojson }.rows[1].hasPrefix("{\"type\":\"Feature\",\"properties\":{\"id\":null,")
        )
        let feature = """
            {"type":"Feature","properties":{"id":"a","time":"2026-05-01T08:10:00Z"},"geometry":{"type":"Point",\
            "coordinates":[16.3,95]}}
            """
        #expect(snap(feature) { $0.format = .csv }.rows.last == ",,,,,,,")
        let fixes = convertToTable("id,lat,lon,time\na,none,16.3,2026-05-01T08:10:00Z\n") {
            ($0.emission, $0.onError) = (.fixes, .blank)
        }
        #expect(fixes.rows.last == ",,,,,,,")
    }

    // MARK: Times

    @Test(arguments: [
        "2026-05-01T08:10:00Z", "2026-05-01 08:10:00.25+02:00", "1/12/2019", "12/31/2019 8:15 PM", "31.12.19",
        "0001-01-01",
        "2026:05:01 08:10:00", "20260501", "20260501T081000Z", "08:15", "08:15:30.5", "081530", "1777622400",
        "1777622400123",
        "1777622400.5", "01-May-2026 08:10", "Fri, 01 May 2026 08:10:00 GMT", "", "NULL", "NA", "n/a", "nan", "-",
        "None",
    ])
    func `what has the form of a time is copied as it stands`(_ text: String) {
        let outcome = snap("time,lat,lon\n\"\(text)\",48.2,16.3\n")
        #expect(outcome.problems.isEmpty && outcome.rows.last?.hasPrefix("\"\(text)\",") == true)
    }

    @Test(arguments: [
        "48.2082", "16.37382", "Secret Street 5", "12 May Street", "48,2082", "-16.3738", "48°12'30\"N", "1622.3738",
        "162", "2026",
        "16.37382 E", "none of it", "8 h", "48.2082,16.3738", "POINT(16.3738 48.2082)", "99:12:30",
    ])
    func `what has not makes a bad record`(_ text: String) {
        let outcome = snap("time,lat,lon\n\"\(text.replacingOccurrences(of: "\"", with: "\"\""))\",48.2,16.3\n")
        #expect(outcome.reasons == ["2: the time is not one"] && outcome.rows.last == ",,,,,,")
    }

    @Test func `a time of the day is none where coordinates are written so`() {
        let outcome = snap(
            "time,lat,lon\n08:15:30,48:12:30,16:22:25\n16:22:25,48:12:30,16:22:25\n2026-05-01,48:12:30,16:22:25\n")
        #expect(outcome.problems.map(\.line) == [2, 3] && outcome.rows.last?.hasPrefix("2026-05-01,") == true)
        #expect(snap("{\"time\":\"Secret Street\",\"lat\":48.2,\"lon\":16.3}\n").reasons == ["1: the time is not one"])
        #expect(
            snap("{\"time\":null,\"lat\":48.2,\"lon\":16.3}\n{\"time\":1777622400,\"lat\":48.2,\"lon\":16.3}\n")
                .problems.isEmpty)
    }

    // MARK: Keys

    private static let coordinates = [
        "16.37382", "48,2082", "48°12'30\"N", "48.2,16.3", "POINT(16.3 48.2)", "-0.5", "N48.5", "48 12 30",
        "[16.3, 48.2]", "48.20821, 16.37382 N", "N 48.20821 / E 16.37382", "48d12'", "van-a, 48.20821", "x 7,37382 y",
        "at N48.20821", "van-a\nvan-b", "van-a\n48.2,16.3,x",
    ]
    private static let keys = [
        "501.0", "501", "a.5", "van-1.2", "4ca1d2", "1.2.3", "200.5", "48", "E4", "bus 4.5", "10.0.0.1", "2026-05-01",
        "12:00", "v1.20260501", "van 1.2.345678", "host.12345.example", "Vienna 4.5321", "2026.123456",
    ]

    @Test func `a key that could be a coordinate makes a bad record`() {
        for key in Self.coordinates {
            let quoted = "\"\(key.replacingOccurrences(of: "\"", with: "\"\""))\""
            let table = "id,time,lat,lon\n\(quoted),2026-05-01T08:10:00Z,48.2,16.3\n"
            #expect(snap(table).reasons == ["2: the key could be a coordinate"], "\(key)")
            #expect(
                convertToTable(table).reasons == ["2: the key could be a coordinate"]
                    && convertToTable(table).rows.count == 1, "\(key)")
            let escaped = key.replacingOccurrences(of: "\"", with: "\\\"").replacingOccurrences(of: "\n", with: "\\n")
            let json = "\"\(escaped)\""
            let line = "{\"id\":\(json),\"time\":\"2026-05-01T08:10:00Z\",\"lat\":48.2,\"lon\":16.3}\n"
            #expect(snap(line).reasons == ["1: the key could be a coordinate"], "\(key)")
            #expect(convertToTable(line).reasons == ["1: the key could be a coordinate"], "\(key)")
            let feature = """
                {"type":"Feature","properties":{"id":\(json),"time":"2026-05-01T08:10:00Z"},"geometry":\
                {"type":"Point","coordinates":[16.3,48.2]}}
                """
            #expect(convertToTable(feature).reasons == ["1: the key could be a coordinate"], "\(key)")
        }
        #expect(
            convertToTable("id,time,lat,lon\n\"van-a\nb\",2026-05-01T08:10:00Z,48.2,16.3\n") { $0.keyColumn = "id" }
                .problems.map(\.reason) == [.keyIsCoordinate])
        for key in Self.keys where key != "12:00" {
            let table = "id,time,lat,lon\n\(key),2026-05-01T08:10:00Z,48.2,16.3\n"
            #expect(snap(table).problems.isEmpty && convertToTable(table).problems.isEmpty, "\(key)")
        }
    }

    @Test func `a plain decimal is a key where the user says so, unless it is the coordinate`() {
        let table = "tag,time,lat,lon\n12.5,2026-05-01T08:10:00Z,48.2,16.3\n16.3,2026-05-01T08:11:00Z,48.2,16.3\n"
        let named = convertToTable(table) { $0.keyColumn = "tag" }
        #expect(
            named.reasons == ["3: the key could be a coordinate"] && named.keysAndTimes == ["12.5 2026-05-01T08:15:00Z"]
        )
        #expect(snap(table) { $0.keyColumn = "tag" }.reasons == ["3: the key could be a coordinate"])
        let found = table.replacingOccurrences(of: "tag", with: "id")
        #expect(convertToTable(found).problems.count == 2)
        #expect(convertToTable(found) { $0.acceptsNumericKeys = true }.problems.map(\.line) == [3])
        #expect(snap(found) { $0.acceptsNumericKeys = true }.problems.map(\.line) == [3])
        #expect(
            convertToTable("id,time,lat,lon\n\"48,5\",2026-05-01T08:10:00Z,48.2,16.3\n") { $0.keyColumn = "id" }
                .problems.count
                == 1)
    }

    // MARK: Quotes

    @Test func `a quote that joins whole records is a stray one`() throws {
        let input =
            "id\tnote\tlat\tlon\n1\t\"camp 1\t5.43\t117.12\n2\tcamp 2\t5.53\t117.22\n3\tcamp 3\t5.63\t117.32\n"
            + "4\tcamp 4\"\t5.73\t117.42\n5\tcamp 5\t5.83\t117.52\n"
        let outcome = undivided { threads, bytes in snap(input) { ($0.threads, $0.readBytes) = (threads, bytes) } }
        #expect(outcome.problems == [RecordProblem(line: 2, reason: .quote)])
        #expect(outcome.rows[1] == ",,,,,,")
        #expect(outcome.rows.dropFirst(2).map { $0.prefix(2) } == ["2,", "3,", "4,", "5,"])
        #expect(outcome.rows[5] == "5," + (try reducedColumns(5.83, 117.52)))
        // Left open to the end; closed amid a field; a text of several lines that are no records stays one.
        let open = snap("id,note,lat,lon\n1,\"x,5.43,117.12\n2,y,5.53,117.22\n3,z,5.63,117.32\n")
        #expect(open.problems.map(\.line) == [2] && open.rows.count == 4)
        let amid = snap("id,note,lat,lon\n1,\"x,5.43,117.12\n2,y\"z,5.53,117.22\n3,z,5.63,117.32\n")
        #expect(amid.problems.map(\.line) == [2] && amid.rows.count == 4)
        let text = snap("id,note,lat,lon\n1,\"one,\ntwo, three\nfour\",5.43,117.12\n2,y,5.53,117.22\n")
        #expect(text.problems.isEmpty && text.rows.count == 3)
    }

    @Test func `degrees and minutes with a d between are no keys of any length, other letters and digits are`() {
        func refuses(_ text: String) -> Bool {
            let bytes = Array(text.utf8)
            return unsafe bytes.withUnsafeBufferPointer { unsafe KeyRule.found.refuses($0) { _ in false } }
        }
        for whole in ["7", "48", "016", "00000048", "0000000000000048"] {
            for minutes in ["1", "12", "012", "00000012", "000000012"] {
                for letter in ["", "N", "W"] {
                    #expect(refuses(whole + "d" + minutes + letter) && refuses(letter + whole + "d" + minutes))
                }
            }
        }
        let name = "device_-0123456789-zZ"
        for start in name.indices {
            for end in name[start...].indices { #expect(!refuses(String(name[start...end]))) }
        }
    }
}
