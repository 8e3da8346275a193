import FixedRandom
import Foundation
import Hereabouts
import Testing

@testable import Traces

/// How a run divides its work, which must change nothing.
private let divisions: [(threads: Int, readBytes: Int)] = [(1, 1 << 18), (2, 1 << 18), (1, 7), (3, 100)]

@Suite struct JSONTests {
    private func snapAll(_ text: String, _ configure: (inout SnapRun.Options) -> Void = { _ in }) -> Outcome {
        let outcome = snap(text) { configure(&$0) }
        for division in divisions {
            let other = snap(text) {
                configure(&$0)
                ($0.threads, $0.readBytes) = (division.threads, division.readBytes)
            }
            #expect(other == outcome)
        }
        return outcome
    }

    private func convertAll(_ text: String, _ configure: (inout ConvertRun.Options) -> Void = { _ in }) -> Outcome {
        let outcome = convert(text) { configure(&$0) }
        for division in divisions {
            let other = convert(text) {
                configure(&$0)
                ($0.threads, $0.readBytes) = (division.threads, division.readBytes)
            }
            #expect(other == outcome)
        }
        return outcome
    }

    /// A reduced location as JSON members, written by other means.
    private func members(_ latitude: Double, _ longitude: Double) throws -> String {
        let location = try worldAtlas.reducedLocation(of: worldAtlas.snap(latitude: latitude, longitude: longitude))
        let place = location.place.map { "\"\($0.description)\"" } ?? "null"
        return String(
            format: "\"latitude\":%.5f,\"longitude\":%.5f", location.coordinate.latitude, location.coordinate.longitude)
            + ",\"horizontal_accuracy\":\(Int(location.horizontalAccuracy.rounded(.up))),\"region\":\"\(location.region)\""
            + ",\"country\":\"\(location.country)\",\"place\":\(place)}"
    }

    private let blank =
        "\"latitude\":null,\"longitude\":null,\"horizontal_accuracy\":null,\"region\":null,\"country\":null,\"place\":null}"

    // MARK: snap

    @Test func `one object out per object in, without unknown members`() throws {
        let vienna = try members(48.2, 16.4), basel = try members(47.55, 7.59)
        let outcome = snapAll(
            """
            {"id":7,"lat":48.2,"lon":16.4,"note":"secret","time":"2026-05-01T00:00:00Z"}
            {"note":{"lat":1,"deep":[{"lat":2}]},"lon":7.59,"id":"a\\"b","lat":47.55}

            """)
        #expect(
            outcome.rows == [
                "{\"id\":7,\"time\":\"2026-05-01T00:00:00Z\",\(vienna)", "{\"id\":\"a\\\"b\",\"time\":null,\(basel)",
            ])
        #expect(outcome.dropped == ["note"])
        #expect(outcome.error == nil && outcome.problems.isEmpty)
    }

    @Test func `names, pointers, strings and nested values`() throws {
        let vienna = try members(48.2, 16.4)
        let rows = ["{\"/tag/n\":-1.50e3,\(vienna)"]
        for record in [
            "{\"p\":{\"c\":[16.4,48.2]},\"tag\":{\"n\":-1.50e3}}",
            "{\"tag\":{\"n\":-1.50e3},\"p\":{\"c\":[\"16.4\",\"48.2\",null]}}",
            "{\"p\":{\"\\u0063\":[ 16.4 , 4.82e1 ]},\"t\\u0061g\":{\"n\":-1.50e3}}",
        ] {
            let outcome = snapAll(record + "\n") {
                $0.csv = CSVOptions(latitudeColumn: "/p/c/1", longitudeColumn: "/p/c/0")
                $0.keep = ["/tag/n"]
            }
            #expect(outcome.rows == rows)
        }
    }

    @Test func `both coordinates in one member`() throws {
        let vienna = try members(48.2, 16.4)
        for (name, text) in [
            ("wkt", "POINT(16.4 48.2)"), ("geom", "SRID=4326;POINT Z (16.4 48.2 170)"), ("latlon", "48.2,16.4"),
            ("lat_lng", "48.2 16.4"), ("lonlat", "(16.4, 48.2)"), ("point", "POINT\\u002816.4 48.2)"),
            ("latLon", "48°12′N 16°24′E"), ("LatLon", "48\\u00b012\\u2032N 16\\u00b024\\u2032E"),
        ] {
            let line = "{\"id\":1,\"\(name)\":\"\(text)\",\"time\":\"2026-05-01T00:00:00Z\"}\n"
            let outcome = snapAll(line + line)
            let row = "{\"id\":1,\"time\":\"2026-05-01T00:00:00Z\",\(vienna)"
            #expect(outcome.rows == [row, row], "\(name)")
            #expect(!convertAll(line).output.isEmpty)
            #expect(snapAll(line) { $0.keep = [name] }.error != nil)
        }
        let nested = snapAll("{\"id\":1,\"at\":{\"here\":\"48.2;16.4\"}}\n") { $0.csv.positionColumn = "/at/here" }
        #expect(nested.rows == ["{\"id\":1,\(vienna)"])
        // An array does not say which one is first, nor does a number or the coordinates of another system.
        for (value, reason) in [
            ("[48.2,16.4]", "a member that is read is an object or array"), ("null", "no position"),
            ("\"\"", "no position"), ("48.2", "the position is not readable"),
            ("\"[48.2]\"", "the position is not readable"),
            ("\"SRID=25833;POINT(16.4 48.2)\"", "the position is not readable"),
        ] {
            let outcome = snapAll("{\"latlon\":\"48.2,16.4\",\"id\":1}\n{\"latlon\":\(value),\"id\":1}\n")
            #expect(outcome.reasons == ["2: \(reason)"], "\(value)")
        }
    }

    @Test func `arrays, and objects over several lines, are records too`() throws {
        let vienna = try members(48.2, 16.4), basel = try members(47.55, 7.59)
        let rows = ["{\"id\":1,\(vienna)", "{\"id\":2,\(basel)"]
        let first = "{\"id\":1,\"lat\":48.2,\"lon\":16.4}", second = "{\"id\":2,\n \"lat\":47.55,\n\n\"lon\":7.59\n}"
        for text in [
            "[\(first),\(second)]", " [ \n\(first)\n,\n\(second)\n]\n",
            "[\(first)\n,\(second)]\n\n",
            "\u{feff}[\(first),\(second)]", "\u{1e}\(first)\n\u{1e}\(second)\n",
        ] {
            let outcome = snapAll(text)
            #expect(outcome.rows == rows, "\(text)")
            #expect(outcome.error == nil && outcome.problems.isEmpty)
        }
        #expect(snapAll("[]").output.isEmpty)
        #expect(snapAll("[]").error == nil)
        #expect(
            snapAll("\(second)\n{\"id\":3,\n\"lat\":\"x\",\"lon\":1}").reasons == ["6: the latitude is not a number"])
    }

    @Test func `a bad line is a bad record and no more`() throws {
        let vienna = try members(48.2, 16.4)
        let good = "{\"id\":1,\"lat\":48.2,\"lon\":16.4}", row = "{\"id\":1,\(vienna)"
        let deep = String(repeating: "[", count: 70) + String(repeating: "]", count: 70)
        let cases: [(String, String)] = [
            ("{\"id\":1,\"lat\":48.2,\"lon\":16.4", "not JSON"),
            ("{\"id\":1,\"lat\":48.2,\"lon\":16.4}}", "not JSON"),
            ("{\"id\":1,\"lat\":48.2,\"lon\":16.4} {}", "not JSON"),
            ("{\"id\":1 \"lat\":48.2,\"lon\":16.4}", "not JSON"),
            ("{\"id\":1,\"x\":[1},\"lat\":48.2,\"lon\":16.4}", "not JSON"),
            ("{\"id\":1,\"x\":01,\"lat\":48.2,\"lon\":16.4}", "not JSON"),
            ("{\"id\":1,\"x\":nul,\"lat\":48.2,\"lon\":16.4}", "not JSON"),
            ("{\"id\":1,\"x\":\"\\q\",\"lat\":48.2,\"lon\":16.4}", "not JSON"),
            ("{\"id\":1,\"x\":\"\\ud800\",\"lat\":48.2,\"lon\":16.4}", "not JSON"),
            ("{\"id\":1,\"x\":\"\u{1}\",\"lat\":48.2,\"lon\":16.4}", "not JSON"),
            ("{\"id\":\"un", "not JSON"), ("[1,2]", "not a JSON object"),
            ("7", "not a JSON object"),
            ("{\"x\":\(deep),\"id\":1,\"lat\":48.2,\"lon\":16.4}", "brackets nested too deep"),
            ("{\"id\":1,\"lat\":48.2,\"lat\":48.3,\"lon\":16.4}", "a member that is read is there twice"),
            ("{\"id\":[1],\"lat\":48.2,\"lon\":16.4}", "a member that is read is an object or array"),
            ("{\"id\":5,\"lat\":null,\"lon\":16.4}", "no latitude"),
            ("{\"id\":5,\"lon\":16.4}", "no latitude"), ("{\"id\":5,\"lat\":1}", "no longitude"),
            ("{\"id\":5,\"lat\":true,\"lon\":16.4}", "the latitude is not a number"),
            ("{\"id\":5,\"lat\":{},\"lon\":16.4}", "the latitude is not a number"),
            ("{\"id\":5,\"lat\":1e999,\"lon\":16.4}", "the latitude is out of range"),
            ("{\"id\":5,\"lat\":4,\"lon\":1640}", "the longitude is out of range"),
        ]
        for (bad, reason) in cases {
            let outcome = snapAll("\(good)\n\(bad)\n\n\(good)\n")
            #expect(outcome.rows == [row, "{\"id\":null,\(blank)", row], "\(bad)")
            #expect(outcome.reasons == ["2: \(reason)"], "\(bad)")
        }
    }

    @Test func `invalid UTF-8 is a bad record`() throws {
        let good = Array("{\"id\":1,\"lat\":48.2,\"lon\":16.4}\n".utf8)
        let bad = Array("{\"id\":\"".utf8) + [0xff] + Array("\",\"lat\":48.2,\"lon\":16.4}\n".utf8)
        let outcome = snap(good + bad + good) { $0.onError = .skip }
        #expect(outcome.rows.count == 2 && outcome.reasons == ["2: not JSON"])
    }

    @Test func `a document that breaks off fails, with the line`() {
        let record = "{\"id\":1,\"lat\":48.2,\"lon\":16.4}"
        for (text, line) in [
            ("[\(record),\n\(record)", 2), ("[\(record),\n\n{\"id\":", 3), ("[\(record)]]", 1),
            ("[\(record)\n}", 2), ("[\(record)]\n\n\(record)", 3), ("[\(record)]\n[\(record)]", 2),
            ("[\(record)]\n,", 2), ("[\(record)] 7", 1), ("[\(record)]\n\"", 2), ("[\(record),\n\"id\":\(record)]", 2),
            ("[\(record),\n{\"id\":\"\n\"}]", 2),
            ("[\(record),\n{\"id\":01}]", 2), ("[\(record),]", 1), ("[\(record),\n]", 2),
            ("[\(record),\n,\(record)]", 2),
            ("[,\n\(record)]", 1), ("[\(record)\n\(record)]", 2), ("[\(record),\n1 2]", 2), ("[\(record),\n]\n", 2),
        ] {
            let outcome = snapAll(text)
            guard case .malformedJSON(_, let found)? = outcome.error else {
                Issue.record("\(text): \(String(describing: outcome.error))")
                continue
            }
            #expect(found == line, "\(text)")
            #expect(outcome.output.isEmpty)
        }
    }

    @Test func `a record of more than a mebibyte is refused`() {
        let long =
            "{\"lat\":48.2,\"lon\":16.4}\n{\"lat\":1,\"lon\":2,\"x\":\"" + String(repeating: "x", count: 1 << 20)
            + "\"}"
        for text in [long, "[" + long.replacingOccurrences(of: "}\n", with: "},\n") + "]"] {
            guard case .recordTooLong(_, 2)? = snap(text).error else {
                Issue.record("not refused")
                continue
            }
        }
    }

    @Test func `positions are not kept, nor do names collide`() {
        let text = "{\"id\":1,\"home\":{\"lat\":3},\"region\":4,\"lat\":48.2,\"lon\":16.4}\n"
        for name in ["lat", "/lat", "/home/lat", "Longitude"] {
            guard case .keepsPosition? = snap(text, { $0.keep = [name] }).error else {
                Issue.record("\(name) is kept")
                continue
            }
        }
        guard case .columnIsWritten? = snap(text, { $0.keep = ["region"] }).error else {
            Issue.record("two members of one name")
            return
        }
        #expect(snap(text) { $0.keep = ["home"] }.reasons == ["1: a member that is read is an object or array"])
    }

    @Test func `without a latitude there is an error that says so`() {
        #expect(snap("{\"a\":1}\n").error.map { "\($0)" }?.hasSuffix("no latitude member in the first record") == true)
        #expect(
            convert("{\"lat\":1,\"lon\":2}\n").error.map { "\($0)" }?.contains("no time member") == true)
    }

    // MARK: Against tables

    /// A table and the same records as JSON, in one of many ways to write them.
    @Test(arguments: 0..<20) func `records reduce as the same table does`(seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed))
        var table = "id,time,lat,lon,note\n", json = ""
        let style = seed % 4
        for index in 0..<300 {
            let latitude = String(format: "%.\(1 + seed % 7)f", Double.random(in: -92...92, using: &random))
            let longitude = String(format: "%.\(1 + seed % 7)f", Double.random(in: -200...200, using: &random))
            let time = String(format: "2026-05-01T%02d:%02d:%02dZ", index / 60 % 24, index % 60, seed)
            let id = ["a", "b c", "d\"e", "ünï", "f,g"].randomElement(using: &random)!
            let needsQuotes = id.contains { "\",".contains($0) }
            let quoted = needsQuotes ? "\"" + id.replacingOccurrences(of: "\"", with: "\"\"") + "\"" : id
            table += "\(quoted),\(time),\(latitude),\(longitude),x\n"
            let isText = Bool.random(using: &random)
            var name = "\"" + id.replacingOccurrences(of: "\"", with: "\\\"") + "\""
            if id == "ünï", Bool.random(using: &random) { name = "\"\\u00fcn\\u00EF\"" }
            let members = [
                "\"id\":\(name)", "\"time\":\"\(time)\"", isText ? "\"lat\":\"\(latitude)\"" : "\"lat\":\(latitude)",
                "\"l\\u006fn\" :\t\(longitude)", "\"note\": {\"lat\":[\(index),{}],\"lon\":\"}{\\\\\"}",
            ]
            let shuffled = index == 0 ? members : members.shuffled(using: &random)
            let separator = style == 3 ? ",\n  " : ", "
            json += (style == 2 && index > 0 ? ",\n" : "") + "{" + shuffled.joined(separator: separator) + "}"
            if style != 2 { json += style == 1 ? "\r\n" : "\n" }
        }
        if style == 2 { json = "[" + json + "]" }
        let (fromTable, fromJSON) = (snap(table), snapAll(json) { $0.format = .csv })
        #expect(fromJSON.output == fromTable.output)
        #expect(fromJSON.problems.map(\.reason) == fromTable.problems.map(\.reason))
        #expect(style == 3 || fromJSON.problems.map { $0.line + 1 } == fromTable.problems.map(\.line))
        #expect(snap(table) { $0.format = .ndjson }.rows.count == 300)
        for format in [TraceFormat.csv, .ndjson, .geojson] {
            let (a, b) = (
                convert(table) { ($0.format, $0.acceptsJumps) = (format, true) },
                convertAll(json) { ($0.format, $0.acceptsJumps) = (format, true) }
            )
            #expect(a.output == b.output && !a.output.isEmpty)
        }
    }

    /// A blank before an object has it read on its own, and not by what the one before it was like.
    @Test(arguments: 0..<40) func `objects are read alike whatever those before them were like`(seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed))
        var others = [
            "0", "-0", "00", "01", "-01", "-", "+1", "1.", ".5", "-.5", "1.5.2", "1-2", "0.5", "1e5", "1E+5", "1e",
            "-12.5",
            "123456789012345.6", "1234567890123456.5", "12345678901234567890", "true", "tru", "null", "nulll", "false",
            "\"\"", "\"48.2\"", "\"a\\\"b\"", "\"a\\q\"", "\"\\u00fc\"", "\"", "\"a\" ", " 5", "{}", "[]", "[1,2]",
            "{\"a\":1}",
            "", "\"a\"\"b\"", "\"a\" 5", "5 \"a\"", "1 2", "1,2", "12345678901234567", "-1234567890123456",
        ]
        // What cannot be tokenized at once is read line by line.
        if seed % 4 > 0 {
            others.removeAll { value in value.filter { $0 == "\"" }.count % 2 == 1 && !value.contains("\\") }
        }
        let shapes = [
            ["id", "time", "lat", "lon"], ["a name of more than sixteen bytes", "lat", "lon", "id"],
            ["lat", "x", "id", "lon", "lat"], ["lon", "lat", "id"], ["lon", "i", "", "lat", "sixteen bytes -"],
        ]
        var shape = shapes[seed % shapes.count]
        let names = ["idd", "i", "LAT", "latitud", "l\\u0061t", "a name of more than sixteen byteS"]
        var lines: [String] = []
        for _ in 0..<400 {
            if Int.random(in: 0..<20, using: &random) == 0 { shape = shapes.randomElement(using: &random)! }
            var members = shape.map { name in
                let isNumber = name == "lat" || name == "lon"
                let usual = isNumber ? "\(Int.random(in: -89...89, using: &random)).25" : "\"d\(name.count)\""
                let isOdd = Int.random(in: 0..<12, using: &random) == 0
                return (name: name, value: isOdd ? others.randomElement(using: &random)! : usual)
            }
            if Int.random(in: 0..<12, using: &random) == 0 {
                members[Int.random(in: 0..<members.count, using: &random)].name = names.randomElement(using: &random)!
            }
            var line = "{" + members.map { "\"\($0.name)\":\($0.value)" }.joined(separator: ",") + "}"
            switch Int.random(in: 0..<30, using: &random) {
            case 0: line += "x"
            case 1: line = String(line.dropLast())
            case 2: line += "\r"
            case 3: line = line.replacingOccurrences(of: ":", with: ": ")
            case 4: line = line.replacingOccurrences(of: ",", with: " ,")
            case 5: line += ","
            case 6: line += line
            case 7: line = ""
            case 8: line = line.replacingOccurrences(of: ",", with: ":")
            default: break
            }
            lines.append(line)
        }
        let first = "{\"id\":\"d\",\"lat\":1.5,\"lon\":2.5,\"time\":\"t\",\"a name of more than sixteen bytes\":null}"
        func outcome(before line: String) -> Outcome {
            snapAll(([first] + lines).map { $0.isEmpty ? "" : line + $0 }.joined(separator: "\n")) {
                $0.keep = ["a name of more than sixteen bytes"]
            }
        }
        let (together, apart) = (outcome(before: ""), outcome(before: " "))
        #expect(together == apart)
        #expect(together.rows.count > 300 && together.problems.count > 20)
    }

    @Test func `a table as objects, which are JSON and reduce to themselves`() throws {
        let table = "id,lat,lon,a\n\"x\"\"\\\u{7}y\",48.2,16.4,\n\u{e9},47.55,7.59,\"1,2\"\n"
        let outcome = snap(table) { ($0.format, $0.keep) = (.ndjson, ["a"]) }
        let values = try outcome.rows.map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(values.map { $0["id"] as? String } == ["x\"\\\u{7}y", "\u{e9}"])
        #expect(values[0]["a"] is NSNull && values[1]["a"] as? String == "1,2")
        let again = snap(outcome.output) { ($0.keep) = ["a"] }
        #expect(again.output == outcome.output)
    }

    // MARK: convert

    @Test func `reports as objects`() throws {
        let vienna = try members(48.2, 16.4), basel = try members(47.55, 7.59)
        let outcome = convertAll(
            """
            {"t":1777593600,"who":{"id":"a\\n"},"lat":48.2,"lon":16.4,"accuracy":5}
            {"t":1777597200,"who":{"id":"a\\n"},"lat":47.55,"lon":7.59}
            {"t":1777597200,"who":{},"lat":47.55,"lon":7.59}

            """
        ) { ($0.format, $0.keyColumn, $0.timeColumn) = (.ndjson, "/who/id", "t") }
        #expect(
            outcome.rows == [
                "{\"/who/id\":\"a\",\"time\":\"2026-05-01T00:00:00Z\",\(vienna)",
                "{\"/who/id\":\"a\",\"time\":\"2026-05-01T01:00:00Z\",\(basel)",
                "{\"/who/id\":\"\",\"time\":\"2026-05-01T01:00:00Z\",\(basel)",
            ])
        #expect(outcome.error == nil)
    }

    @Test func `tracks are numbered, and blank records are objects`() throws {
        let vienna = try members(48.2, 16.4)
        let text =
            "{\"time\":\"2026-05-01T00:00:00Z\",\"lat\":48.2,\"lon\":16.4}\n{\"time\":\"x\",\"lat\":1,\"lon\":2}\n"
        #expect(
            convertAll(text) { $0.format = .ndjson }.rows == [
                "{\"track\":1,\"time\":\"2026-05-01T00:00:00Z\",\(vienna)"
            ])
        let blanks = convertAll(text) { ($0.format, $0.emission, $0.onError) = (.ndjson, .fixes, .blank) }
        #expect(blanks.rows.count == 2 && blanks.rows[1] == "{\"track\":null,\"time\":null,\(blank)")
        #expect(blanks.reasons == ["2: the time is not readable"])
    }

    /// Found by fuzzing: after a broken value, the same whatever is read at a time.
    @Test(arguments: [
        "[{\"time\":1772352000000,\"lat\":31.76,\"lon\":-106.48,\"accuracy\":5},\n ]{\"_lat\":31.69,\"lon\":-106.42,\"tim[\":null}]",
        "[{\"time\":1772352000000,\"lat\":31.76,\"lon\":-106.48,\"accuracy\":5},\n \"lon\":-106.42\u{1e},\"6.48,\"accurac",
    ]) func `what is read at a time makes no difference`(_ text: String) {
        func outcome(_ readBytes: Int, _ threads: Int) -> String {
            let outcome = convert(text) { ($0.format, $0.readBytes, $0.threads) = (.csv, readBytes, threads) }
            return "\(outcome)"
        }
        let whole = outcome(1 << 18, 1)
        for readBytes in [1, 2, 3, 5, 7, 11, 64] {
            for threads in [1, 2] { #expect(outcome(readBytes, threads) == whole) }
        }
    }
}
