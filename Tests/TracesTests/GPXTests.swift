import FixedRandom
import Foundation
import Hereabouts
import Testing

@testable import Traces

/// A GPX output, read by a parser that knows no more of XML than our outputs use, and refuses all else.
private struct Document {
    struct Point {
        var element: String
        var latitude: String
        var longitude: String
        var children: [String: String] = [:]
    }

    private(set) var points: [Point] = []
    private(set) var elements: [String] = []
    private(set) var bounds: [String: String] = [:]
    private var open: [String] = []

    /// Nil where the document is not well-formed.
    init?(_ bytes: [UInt8]) {
        let declaration = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- atlas \(worldAtlas.name) -->\n"
        guard let text = String(validating: bytes, as: UTF8.self), text.hasPrefix(declaration) else { return nil }
        for piece in text.dropFirst(declaration.count).split(separator: "<", omittingEmptySubsequences: false)
            .dropFirst()
        {
            let parts = piece.split(separator: ">", omittingEmptySubsequences: false)
            guard parts.count == 2, read(tag: parts[0], text: parts[1]) else { return nil }
        }
        guard open.isEmpty, elements.first == "gpx" else { return nil }
    }

    private mutating func read(tag: Substring, text: Substring) -> Bool {
        if tag.hasPrefix("/") { return open.popLast() == String(tag.dropFirst()) }
        let isClosed = tag.hasSuffix("/")
        let words = (isClosed ? tag.dropLast() : tag).split(separator: " ")
        guard let name = words.first.map(String.init), let content = Self.decoded(text) else { return false }
        var attributes: [String: String] = [:]
        for word in words.dropFirst() {
            let sides = word.split(separator: "=", maxSplits: 1)
            guard sides.count == 2, sides[1].count >= 2, sides[1].hasPrefix("\""), sides[1].hasSuffix("\"") else {
                return false
            }
            guard attributes.updateValue(String(sides[1].dropFirst().dropLast()), forKey: String(sides[0])) == nil
            else {
                return false
            }
        }
        elements.append(name)
        if !isClosed { open.append(name) }
        if name == "bounds" { bounds = attributes }
        if ["wpt", "rtept", "trkpt"].contains(name) {
            points.append(Point(element: name, latitude: attributes["lat"] ?? "", longitude: attributes["lon"] ?? ""))
        } else if !points.isEmpty && (name == "time" || name.hasPrefix("h:")) {
            points[points.count - 1].children[name] = content
        }
        return true
    }

    /// The text with its entities replaced; nil where one is not known.
    private static func decoded(_ text: Substring) -> String? {
        let known = text.replacingOccurrences(of: "&lt;", with: "<").replacingOccurrences(of: "&gt;", with: ">")
        let rest = known.replacingOccurrences(of: "&amp;", with: "")
        return rest.contains("&") ? nil : known.replacingOccurrences(of: "&amp;", with: "&")
    }
}

private func gpx(_ body: String, version: String = "1.1") -> String {
    let namespace = version == "1.1" ? "http://www.topografix.com/GPX/1/1" : "http://www.topografix.com/GPX/1/0"
    return
        "<?xml version=\"1.0\"?>\n<gpx version=\"\(version)\" creator=\"x\" xmlns=\"\(namespace)\" xmlns:e=\"urn:e\">\n\(body)</gpx>\n"
}

private func point(_ element: String, _ latitude: Double, _ longitude: Double, minute: Int? = nil, _ more: String = "")
    -> String
{
    let time = minute.map { String(format: "<time>2026-03-01T%02d:%02d:00Z</time>", $0 / 60, $0 % 60) } ?? ""
    return "<\(element) lat=\"\(latitude)\" lon=\"\(longitude)\">\(time)\(more)</\(element)>\n"
}

/// Numbers of three decimals and more, as digits without sign: positions, elevations, speeds of the input.
func preciseNumbers(_ bytes: [UInt8]) -> Set<String> {
    var numbers: Set<String> = []
    var run: [UInt8] = []
    for byte in bytes + [0] {
        if (48...57).contains(byte) || byte == UInt8(ascii: ".") {
            run.append(byte)
            continue
        }
        if let dot = run.firstIndex(of: UInt8(ascii: ".")), run.count - dot - 1 >= 3 {
            numbers.insert(String(decoding: run, as: UTF8.self))
        }
        run = []
    }
    return numbers
}

@Suite struct GPXTests {
    @Test func `tracks routes and waypoints come out as what they were`() throws {
        let input = gpx(
            "<trk><name>Morning</name><trkseg>" + point("trkpt", 48.2082, 16.3737, minute: 0)
                + "</trkseg><trkseg/><trkseg>" + point("trkpt", 47.5596, 7.5886, minute: 30) + "</trkseg></trk>\n"
                + "<rte>" + point("rtept", 31.7619, -106.485, minute: 60)
                + point("rtept", 48.2082, 16.3737, minute: 90) + "</rte>\n" + point("wpt", -33.92, 18.42, minute: 120)
                + "<trk><trkseg></trkseg></trk>"
        )
        let outcome = convert(input) { $0.acceptsJumps = true }
        let document = try #require(Document(outcome.output))
        #expect(document.points.map(\.element) == ["wpt", "rtept", "rtept", "trkpt", "trkpt"])
        #expect(document.elements.filter { $0 == "trk" || $0 == "rte" } == ["rte", "trk"])
        #expect(outcome.notices.isEmpty && outcome.problems.isEmpty)
        for (point, position) in zip(
            document.points,
            [(-33.92, 18.42), (31.7619, -106.485), (48.2082, 16.3737), (48.2082, 16.3737), (47.5596, 7.5886)])
        {
            let expected = try center(position.0, position.1)
            #expect(point.latitude == expected.latitude && point.longitude == expected.longitude)
            let location = try worldAtlas.reducedLocation(
                of: try worldAtlas.snap(latitude: position.0, longitude: position.1))
            #expect(point.children["h:region"] == location.region.description)
            #expect(point.children["h:country"] == location.country.code)
            #expect(point.children["h:place"] == location.place?.description)
            #expect(point.children["h:accuracy"] == String(Int(location.horizontalAccuracy.rounded(.up))))
        }
        #expect(
            document.points.map { $0.children["time"] } == [
                "2026-03-01T02:00:00Z", "2026-03-01T01:00:00Z", "2026-03-01T01:30:00Z", "2026-03-01T00:00:00Z",
                "2026-03-01T00:30:00Z",
            ])
        let latitudes = document.points.map { Double($0.latitude)! }
        let longitudes = document.points.map { Double($0.longitude)! }
        #expect(
            Double(document.bounds["minlat"]!) == latitudes.min()
                && Double(document.bounds["maxlat"]!) == latitudes.max())
        #expect(
            Double(document.bounds["minlon"]!) == longitudes.min()
                && Double(document.bounds["maxlon"]!) == longitudes.max())
    }

    @Test func `nothing but positions and times is read`() throws {
        let secrets = """
            <ele>1234.5</ele><speed>7.25</speed><course>91.75</course><name>Home of Ann</name><cmt>secret-cmt</cmt>\
            <desc>secret-desc</desc><link href="http://secret.example"><text>secret-link</text></link><!-- secret-comment -->\
            <extensions><e:trkpt lat="12.345678" lon="9.876543"><e:time>1997-01-01T00:00:00Z</e:time></e:trkpt>\
            <e:hr>secret-hr</e:hr></extensions><?secret-instruction?>
            """
        let input = gpx(
            "<metadata><name>secret-meta</name><bounds minlat=\"48.208\" minlon=\"16.373\" maxlat=\"48.209\" maxlon=\"16.374\"/></metadata>"
                + "<trk><name>secret-track</name><number>31415</number><trkseg>"
                + point("trkpt", 48.208234, 16.373721, minute: 0, secrets)
                + "<e:trkpt lat=\"1\" lon=\"1\"/></trkseg><extensions><trkseg>\(point("trkpt", 1, 1))</trkseg></extensions></trk>"
                + "<extensions>\(point("wpt", 1, 1))</extensions>")
        for format in TraceFormat.outputs {
            let outcome = convert(input) { ($0.format, $0.emission) = (format, .fixes) }
            #expect(outcome.summary.records == 1 && outcome.summary.written == 1)
            for word in [
                "secret", "Ann", "31415", "1234.5", "7.25", "91.75", "12.345", "9.876", "1997", "48.2082", "16.3737",
            ] {
                #expect(!outcome.text.contains(word), "\(word) survived in \(format)")
            }
        }
    }

    @Test(arguments: sharedTraces.isEmpty ? [] : sharedTraces)
    func `recordings lose every precise number`(_ file: URL) throws {
        let input = try Array(Data(contentsOf: file))
        let secrets = preciseNumbers(input)
        for format in TraceFormat.outputs {
            let outcome = convert([input]) { ($0.format, $0.emission) = (format, .fixes) }
            let ticks = convert([input]) { ($0.format, $0.emission) = (format, .recomputations) }
            #expect(outcome.error == nil && ticks.error == nil && ticks.summary.written > 0)
            let survivors = preciseNumbers(outcome.output + [0] + ticks.output).intersection(secrets)
            #expect(survivors.isEmpty, "\(survivors.count) numbers survived")
            if format == .gpx { #expect(Document(outcome.output) != nil) }
            for chunk in [7, 4096] {
                #expect(
                    convert([input]) { ($0.format, $0.emission, $0.readBytes) = (format, .fixes, chunk) } == outcome)
            }
        }
        let text = String(decoding: input, as: UTF8.self)
        let output = convert([input]).text
        for name in text.components(separatedBy: "<name>").dropFirst().compactMap({
            $0.components(separatedBy: "<").first
        })
        where name.count > 4 {
            #expect(!output.contains(name))
        }
    }

    @Test func `old and bare documents are read`() {
        #expect(convert(gpx(point("wpt", 1, 2), version: "1.0")).summary.written == 1)
        #expect(convert("<gpx>" + point("wpt", 1, 2) + "</gpx>").summary.written == 1)
        #expect(convert("\u{feff}<gpx>" + point("wpt", 1, 2) + "</gpx>").summary.written == 1)
        #expect(convert("\n\n  <gpx>" + point("wpt", 1, 2) + "</gpx>").summary.written == 1)
        #expect(convert("<g:gpx xmlns:g='urn:g'><g:wpt lat='1' lon=' 2 '/></g:gpx>").summary.written == 1)
        let utf16 = Array(
            ("\u{feff}<?xml version=\"1.0\" encoding=\"UTF-16\"?><gpx>" + point("wpt", 1, 2) + "</gpx>").utf16
        )
        .flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }
        #expect(convert([utf16]).summary.written == 1)
        #expect(convert([utf16]) { $0.readBytes = 1 }.summary.written == 1)
    }

    /// What an encoding makes of wrong bytes depends on those converted with them; the error may not depend on the reads.
    @Test(arguments: ["UTF-7", "US-ASCII", "ISO-2022-JP", "Shift_JIS", "GB18030"])
    func `errors in converted documents do not depend on reads`(encoding: String) {
        let start = "<?xml version='1.0' encoding='\(encoding)'?>\n<gpx>\n" + point("wpt", 1, 2) + "\n"
        let faults: [(String, [UInt8])] = [
            ("<wpt lat='1'2/>\n", [0xff, 0x9b]), ("", [0xff, 0xff, 0x80]), ("\u{1b}$", [0x9b, 0x0a]),
        ]
        for (fault, end) in faults {
            let document = Array((start + fault).utf8) + end + Array("\n<wpt/></gpx>".utf8)
            let whole = convert([document])
            #expect(whole.error != nil)
            for bytes in [1, 2, 3, 7, 64, 65, 100] {
                #expect(convert([document]) { $0.readBytes = bytes } == whole, "reads of \(bytes) bytes")
            }
        }
    }

    @Test func `bad points are told by line`() {
        let outcome = convert(
            gpx(
                """
                <wpt lon="1"/>
                <wpt lat="1"/>
                <wpt lat="north" lon="1"/>
                <wpt lat="1" lon=""/>
                <wpt lat="90.5" lon="1"/>
                <wpt lat="1" lon="1"><time>noon</time></wpt>
                <wpt lat="1" lon="1"><time>2026-03-01T00:00:00Z</time></wpt>
                <wpt lat="1" lon="1"/>

                """))
        #expect(
            outcome.reasons == [
                "3: no latitude", "4: no longitude", "5: the latitude is not a number",
                "6: the longitude is not a number", "8: the time is not readable",
            ])
        #expect(outcome.notices == [.untimedPlans(file: "input0", count: 2)])
        #expect(outcome.summary.records == 8 && outcome.summary.written == 1)
    }

    @Test(arguments: [
        "<!DOCTYPE gpx [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><gpx><wpt lat=\"1\" lon=\"1\"><time>&x;</time></wpt></gpx>",
        "<!DOCTYPE gpx SYSTEM \"http://127.0.0.1:9/gpx.dtd\"><gpx/>",
        "<!DOCTYPE lolz [<!ENTITY a \"lol\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;\">]><gpx>&b;</gpx>",
        "<!DOCTYPE gpx [<!ENTITY % p SYSTEM \"file:///etc/passwd\"> %p;]><gpx/>",
    ])
    func `document types are refused`(_ input: String) {
        let outcome = convert(input)
        #expect(outcome.error == .documentType(file: "input0", line: 1))
        #expect(outcome.output.isEmpty)
    }

    @Test(arguments: [
        "<gpx><trk><trkseg><trkpt lat=\"1\" lon=\"1\">", "<gpx></trk></gpx>", "<gpx>&undefined;</gpx>", "<gpx/><gpx/>",
        "<gpx><wpt lat=\"1\" lat=\"2\" lon=\"1\"/></gpx>", "<gpx>\u{0}</gpx>", "<gpx><wpt lat=1 lon=1/></gpx>", "<",
        "<gpx><wpt lat=\"\u{0}1\" lon=\"1\"/></gpx>",
    ])
    func `malformed documents are refused whole`(_ input: String) {
        for chunk in [1, 1 << 18] {
            let outcome = convert(input) { $0.readBytes = chunk }
            #expect(outcome.error == .malformedXML(file: "input0", line: 1))
            #expect(outcome.output.isEmpty)
        }
    }

    @Test func `other documents are refused`() {
        #expect(convert("<kmz><wpt lat=\"1\" lon=\"1\"/></kmz>").error == .otherRoot(file: "input0", format: "GPX"))
        #expect(convert("<!-- gpx --><svg/>").error == .otherRoot(file: "input0", format: "GPX"))
    }

    @Test func `truncation anywhere is noticed and writes nothing`() {
        let whole = Array(gpx("<trk><trkseg>" + point("trkpt", 1, 2, minute: 0) + "</trkseg></trk>").utf8)
        for length in 1..<(whole.count - 2) {
            let outcome = convert([Array(whole[..<length])])
            #expect(outcome.error != nil && outcome.output.isEmpty)
        }
    }

    @Test func `size is bounded`() {
        func withNote(_ length: Int) -> String {
            "<gpx><wpt lat=\"1\" lon=\"2\" note=\"\(String(repeating: "x", count: length))\"/></gpx>"
        }
        #expect(convert(withNote(60_000)).summary.written == 1)
        #expect(convert(withNote(1 << 20)).error == .tagTooLong(file: "input0", line: 1))
        let tooLong = "<gpx><!-- \(String(repeating: "x", count: 20 << 20)) --></gpx>"
        #expect(convert(tooLong).error == .tokenTooLong(file: "input0", line: 1))
        let longText = "<gpx><name>\(String(repeating: "x", count: 30 << 20))</name><wpt lat=\"1\" lon=\"2\"/></gpx>"
        #expect(convert(longText).summary.written == 1)
        let deep = String(repeating: "<a>", count: 200)
        #expect(convert("<gpx>\(deep)").error == .nestedTooDeep(file: "input0", line: 1))
        let longTime =
            "<gpx><wpt lat=\"1\" lon=\"2\"><time>\(String(repeating: "2", count: 1 << 20))</time></wpt></gpx>"
        #expect(convert(longTime).reasons == ["1: the time is not readable"])
    }

    @Test func `mutated documents never crash or leak`() {
        var random = SplitMix64(seed: 9)
        let original = Array(
            gpx(
                "<trk><trkseg>" + point("trkpt", 48.208234, 16.373721, minute: 0, "<hdop>1.5</hdop>")
                    + point("trkpt", 47.559612, 7.588634, minute: 20) + "</trkseg></trk>" + point("wpt", 1, 2)
            ).utf8)
        let bytes = Array("<>/\"'=&;! []-?0159.:TZabe\n".utf8) + [0, 0x80, 0xff]
        for _ in 0..<400 {
            var input = original
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let at = Int.random(in: 0..<input.count, using: &random)
                switch Int.random(in: 0...2, using: &random) {
                case 0: input[at] = bytes.randomElement(using: &random)!
                case 1: input.insert(bytes.randomElement(using: &random)!, at: at)
                default: input.remove(at: at)
                }
            }
            let outcome = convert([input]) { $0.emission = .fixes }
            if outcome.error == nil {
                // Those before the first answer have no report, and plans without times none either.
                #expect(outcome.summary.written + outcome.summary.badRecords <= outcome.summary.records)
                #expect(preciseNumbers(input).intersection(preciseNumbers(outcome.output)).isEmpty)
            } else {
                #expect(outcome.output.isEmpty)
            }
            #expect(convert([input]) { ($0.emission, $0.readBytes) = (.fixes, 5) }.output == outcome.output)
        }
    }

    @Test func `keys of tables name the tracks`() throws {
        let outcome = convert("id,time,lat,lon\n<a & b>,0,1,2\nc\u{1},0,1,2\n")
        #expect(outcome.text.contains("<trk><name>&lt;a &amp; b&gt;</name><trkseg>"))
        #expect(outcome.text.contains("<name>c\u{fffd}</name>"))
        #expect(try #require(Document(outcome.output)).points.count == 2)
    }

    @Test func `reports of interleaved devices are gathered`() throws {
        var input = "id,time,lat,lon\n"
        for minute in 0..<100 { input += "\(minute % 3),\(minute * 900),\(10 * (minute % 7) + 1),\(minute)\n" }
        let outcome = convert(input) { ($0.emission, $0.acceptsJumps) = (.fixes, true) }
        let document = try #require(Document(outcome.output))
        #expect(document.elements.filter { $0 == "trk" }.count == 3 && document.points.count == 100)
        let times = document.points.map { $0.children["time"]! }
        #expect(times[..<34].sorted() == Array(times[..<34]) && times[34] < times[33])
    }

    @Test func `empty documents give empty documents`() throws {
        let outcome = convert(gpx(""))
        let document = try #require(Document(outcome.output))
        #expect(document.elements == ["gpx"] && outcome.error == nil)
    }
}
