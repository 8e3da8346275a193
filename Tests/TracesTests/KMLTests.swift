import FixedRandom
import Foundation

#if canImport(FoundationXML)
    import FoundationXML
#endif
import Hereabouts
import Testing

@testable import Traces

/// What a reader of documents found: as texts, in order.
struct FoundFixes: Equatable {
    /// `line kind number: latitude longitude time` or what is wrong instead.
    var lines: [String] = []
    var error: TraceError?

    mutating func append(_ batch: borrowing FixBatch) {
        let problems = Dictionary(uniqueKeysWithValues: batch.problems.map { ($0.index, $0.reason) })
        for index in 0..<batch.count {
            let track = batch.tracks[index], position = batch.positions[index]
            let time = batch.times[index].map { time in
                var out = ByteBuffer(capacity: 64)
                time.append(to: &out)
                return unsafe out.withBytes { unsafe String(decoding: $0, as: UTF8.self) }
            }
            lines.append(
                "\(batch.lines[index]) \(track.kind) \(track.number): "
                    + (problems[index].map { "\($0)" }
                        ?? "\(position.latitude) \(position.longitude) \(time ?? "-")"))
        }
    }
}

/// Reads a document, so many bytes at a time.
func found<Content: XMLContent & ~Copyable>(
    _ text: String, piece: Int = .max, _ makeContent: (Traces.XMLDocument) -> Content
) -> FoundFixes {
    var reader = XMLReader(file: "input", content: makeContent)
    var batch = FixBatch()
    var found = FoundFixes()
    let bytes = Array(text.utf8)
    do throws(TraceError) {
        var at = 0
        while at < bytes.count {
            let end = min(bytes.count, piece < bytes.count ? at + piece : bytes.count)
            unsafe try bytes[at..<end].withUnsafeBufferPointer { piece throws(TraceError) in
                unsafe try reader.parse(piece)
            }
            reader.takeFixes(&batch)
            found.append(batch)
            at = end
        }
        try reader.finish()
    } catch {
        found.error = error
    }
    reader.takeFixes(&batch)
    found.append(batch)
    return found
}

private let testBounds: TimeBounds = {
    var options = ConvertRun.Options()
    options.now = testNow
    return TimeBounds(options)
}()

private func kml(_ body: String, namespace: String = "http://www.opengis.net/kml/2.2") -> String {
    "<?xml version=\"1.0\"?>\n<kml xmlns=\"\(namespace)\" xmlns:gx=\"http://www.google.com/kml/ext/2.2\">\n\(body)</kml>"
}

/// What is read of a document; the same however it is divided.
private func read(_ text: String) -> FoundFixes {
    let whole = found(text) { KMLContent($0, bounds: testBounds) }
    for piece in [1, 7, 100] {
        let divided = found(text, piece: piece) { KMLContent($0, bounds: testBounds) }
        #expect(divided.lines == whole.lines && (divided.error == nil) == (whole.error == nil))
    }
    return whole
}

private let at8 = "<when>2026-03-01T08:00:00Z</when>", at9 = "<when>2026-03-01T10:00:00+01:00</when>"

@Suite struct KMLReaderTests {
    @Test func `points have the time of their placemark`() {
        let body = """
            <Document><Folder><Placemark><name>1.5,2.5</name><TimeStamp>\(at8)</TimeStamp>
            <Point><coordinates>16.5,48.25,170</coordinates></Point></Placemark>
            <Placemark><Point><altitudeMode>absolute</altitudeMode><coordinates>
              -16.5,-48.25
            </coordinates></Point><TimeStamp>\(at9)</TimeStamp></Placemark>
            <Placemark><TimeSpan><begin>2026-03-01T08:00:00Z</begin><end>2026-03-01T09:00:00Z</end></TimeSpan>
            <Point><coordinates>1e1,2,</coordinates></Point></Placemark>
            <Placemark><Point><coordinates>3,4</coordinates></Point></Placemark></Folder></Document>
            """
        let expected = [
            "4 waypoint 0: 48.25 16.5 2026-03-01T08:00:00Z", "6 waypoint 0: -48.25 -16.5 2026-03-01T09:00:00Z",
            "9 waypoint 0: 2.0 10.0 2026-03-01T08:00:00Z", "9 waypoint 0: 2.0 10.0 2026-03-01T09:00:00Z",
            "10 waypoint 0: 4.0 3.0 -",
        ]
        #expect(read(kml(body)).lines == expected)
        // The namespaces of older versions, none, and any prefix.
        #expect(read(kml(body, namespace: "http://earth.google.com/kml/2.1")).lines == expected)
        #expect(read(kml(body, namespace: "")).lines == expected)
        let prefixed = kml(body).replacing("<kml xmlns=", with: "<kml xmlns:k=").replacing("</", with: "<\u{1}")
            .replacing(/<(?![?\u{1}])/, with: "<k:").replacing("<\u{1}", with: "</k:")
        #expect(read(prefixed).lines == expected)
    }

    @Test func `lines are routes with times at their ends alone`() {
        let body = """
            <Placemark><MultiGeometry><LineString><coordinates>1,2 3,4,5\t6,7
            8,9</coordinates></LineString><MultiGeometry><LineString><coordinates>10,11 12,13</coordinates></LineString>
            </MultiGeometry></MultiGeometry></Placemark>
            <Placemark><TimeSpan><begin>2026-03-01T08:00:00Z</begin><end>2026-03-01T09:00:00Z</end></TimeSpan>
            <LineString><coordinates>1,2 3,4 5,6</coordinates></LineString></Placemark>
            <Placemark><TimeStamp>\(at8)</TimeStamp><LineString><coordinates>1,2 3,4</coordinates></LineString></Placemark>
            <Placemark><TimeSpan><end>2026-03-01T09:00:00Z</end></TimeSpan>
            <LineString><coordinates>1,2 3,4</coordinates></LineString><Point><coordinates>5,6</coordinates></Point></Placemark>
            """
        #expect(
            read(kml(body)).lines == [
                "3 route 1: 2.0 1.0 -", "3 route 1: 4.0 3.0 -", "3 route 1: 7.0 6.0 -", "4 route 1: 9.0 8.0 -",
                "4 route 1: 11.0 10.0 -", "4 route 1: 13.0 12.0 -",
                "7 route 2: 2.0 1.0 2026-03-01T08:00:00Z", "7 route 2: 4.0 3.0 -",
                "7 route 2: 6.0 5.0 2026-03-01T09:00:00Z",
                "8 route 3: 2.0 1.0 2026-03-01T08:00:00Z", "8 route 3: 4.0 3.0 2026-03-01T08:00:00Z",
                "10 route 4: 2.0 1.0 -", "10 route 4: 4.0 3.0 2026-03-01T09:00:00Z",
                "10 waypoint 0: 6.0 5.0 2026-03-01T09:00:00Z",
            ])
    }

    @Test func `tracks pair times and positions in their order`() {
        let body = """
            <Placemark><gx:MultiTrack><gx:interpolate>1</gx:interpolate><gx:Track>\(at8)\(at9)
            <gx:coord>16.5 48.25 170</gx:coord><gx:coord> 17 49 </gx:coord><gx:angles>1 2 3</gx:angles></gx:Track>
            <gx:Track><gx:coord>1 2 0</gx:coord>\(at8)<gx:coord>3 4 0</gx:coord>\(at9)</gx:Track></gx:MultiTrack></Placemark>
            <Placemark><Track>\(at8)<coord>5 6</coord></Track></Placemark>
            """
        #expect(
            read(kml(body)).lines == [
                "4 track 1: 48.25 16.5 2026-03-01T08:00:00Z", "4 track 1: 49.0 17.0 2026-03-01T09:00:00Z",
                "5 track 1: 2.0 1.0 2026-03-01T08:00:00Z", "5 track 1: 4.0 3.0 2026-03-01T09:00:00Z",
                "6 track 2: 6.0 5.0 2026-03-01T08:00:00Z",
            ])
        func track(_ content: String) -> [String] {
            read(kml("<Placemark><gx:Track>\(content)</gx:Track></Placemark>")).lines
        }
        let position = "<gx:coord>1 2 3</gx:coord>"
        #expect(track(position + position) == ["3 track 1: 2.0 1.0 -", "3 track 1: 2.0 1.0 -"])
        let wrongCount = "3 track 1: another number of times than of positions"
        #expect(track(at8 + at9 + position) == ["3 track 1: 2.0 1.0 2026-03-01T08:00:00Z", wrongCount])
        #expect(track(at8 + position + position) == ["3 track 1: 2.0 1.0 2026-03-01T08:00:00Z", wrongCount])
        #expect(track(at8 + "<gx:coord/>") == ["3 track 1: no position"])
        #expect(track("<when/>" + position) == ["3 track 1: 2.0 1.0 -"])
    }

    @Test(arguments: [
        ("1", "the position is not readable"), ("1,x", "the latitude is not a number"),
        ("x,1", "the longitude is not a number"), ("1,2,3,4", "the position is not readable"),
        ("1,", "the latitude is not a number"),
        (String(repeating: "1", count: 400) + ",2", "the position is not readable"),
    ])
    func `a bad position is a bad record`(_ tuple: String, _ reason: String) {
        let body =
            "<Placemark><TimeStamp>\(at8)</TimeStamp><Point><coordinates>\(tuple)</coordinates></Point></Placemark>"
        #expect(read(kml(body)).lines == ["3 waypoint 0: \(reason)"])
    }

    @Test(arguments: [
        ("yesterday", "the time is not readable"), ("2026-03-01", "the time is not readable"),
        ("1970-01-01T00:00:00Z", "the time is before 1990"),
        ("2100-01-01T00:00:00Z", "the time is more than a day in the future"),
    ])
    func `a bad time is a bad record`(_ time: String, _ reason: String) {
        let when = "<when>\(time)</when>"
        let body = """
            <Placemark><TimeStamp>\(when)</TimeStamp><Point><coordinates>1,2</coordinates></Point></Placemark>
            <Placemark><gx:Track>\(when)<gx:coord>1 2</gx:coord></gx:Track></Placemark>
            """
        #expect(read(kml(body)).lines == ["3 waypoint 0: \(reason)", "4 track 1: \(reason)"])
    }

    @Test func `other positions are not read`() {
        let point = "<Point><coordinates>1,2</coordinates></Point>"
        let body = """
            <Placemark><LookAt><longitude>1</longitude><latitude>2</latitude><gx:TimeStamp>\(at8)</gx:TimeStamp></LookAt>
            <Polygon><outerBoundaryIs><LinearRing><coordinates>1,2 3,4 5,6 1,2</coordinates></LinearRing></outerBoundaryIs></Polygon>
            <ExtendedData><x:a xmlns:x="urn:x">\(point)</x:a><Data name="p"><value>1,2</value>\(point)</Data></ExtendedData></Placemark>
            <PhotoOverlay>\(point)</PhotoOverlay><x:Placemark xmlns:x="urn:x">\(point)</x:Placemark>
            <Placemark><Model><Location><longitude>1</longitude><latitude>2</latitude></Location></Model></Placemark>
            <GroundOverlay><LatLonBox><north>1</north></LatLonBox></GroundOverlay>
            """
        #expect(read(kml(body)) == FoundFixes())
        // Where no Placemark is, and in another geometry.
        let misplaced = point + "<Placemark><LineString>\(point)</LineString></Placemark>"
        #expect(read(kml(misplaced)).lines == Array(repeating: "3 waypoint 0: a point where none belongs", count: 2))
    }

    @Test func `hostile documents are refused`() {
        #expect(
            read("<!DOCTYPE kml [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><kml>&x;</kml>").error
                == .documentType(file: "input", line: 1))
        #expect(read(kml(String(repeating: "<Folder>", count: 200))).error == .nestedTooDeep(file: "input", line: 3))
        #expect(read("<kml></Document>").error == .malformedXML(file: "input", line: 1))
        #expect(read("<gpx/>").error == .otherRoot(file: "input", format: "KML"))
        #expect(read(kml("<Placemark><Point><coordinates>1,2")).error != nil)
        let names = (0..<20_000).map { "<a\($0)/>" }.joined()
        #expect(found(kml(names)) { KMLContent($0, bounds: testBounds) }.error == .tooManyNames(file: "input", line: 3))
    }

    @Test func `what waits is bounded`() {
        func refused(_ start: String, _ repeated: String) -> TraceError? {
            var reader = XMLReader<KMLContent>(file: "input") {
                KMLContent($0, bounds: testBounds, maximumHeld: 10_000)
            }
            let piece = Array(String(repeating: repeated, count: 1000).utf8)
            do throws(TraceError) {
                unsafe try Array(kml(start).dropLast(6).utf8).withUnsafeBufferPointer { bytes throws(TraceError) in
                    unsafe try reader.parse(bytes)
                }
                for _ in 0..<11 {
                    unsafe try piece.withUnsafeBufferPointer { bytes throws(TraceError) in
                        unsafe try reader.parse(bytes)
                    }
                }
                return nil
            } catch {
                return error
            }
        }
        let error = TraceError.placemarkTooLong(file: "input", line: 3)
        #expect(refused("<Placemark><gx:Track>", at8) == error)
        #expect(refused("<Placemark><gx:Track>", "<gx:coord>1 2</gx:coord>") == error)
        #expect(refused("<Placemark><LineString><coordinates>", "1,2 ") == error)
    }

    @Test func `mutated documents are read the same however they are divided`() {
        var random = SplitMix64(seed: 14)
        let original = Array(
            kml(
                """
                <Placemark><TimeStamp>\(at8)</TimeStamp><MultiGeometry><Point><coordinates>16.5,48.25,1</coordinates></Point>
                <LineString><coordinates>1,2 3,4</coordinates></LineString></MultiGeometry></Placemark>
                <Placemark><gx:Track>\(at8)\(at9)<gx:coord>1 2 3</gx:coord><gx:coord>3 4 5</gx:coord></gx:Track></Placemark>
                """
            ).utf8)
        let bytes = Array("<>/\"'=&;! -0159.:TZab\n".utf8)
        for _ in 0..<300 {
            var input = original
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let at = Int.random(in: 0..<input.count, using: &random)
                switch Int.random(in: 0...2, using: &random) {
                case 0: input[at] = bytes.randomElement(using: &random)!
                case 1: input.insert(bytes.randomElement(using: &random)!, at: at)
                default: input.remove(at: at)
                }
            }
            let text = String(decoding: input, as: UTF8.self)
            let whole = found(text) { KMLContent($0, bounds: testBounds) }
            let divided = found(text, piece: 5) { KMLContent($0, bounds: testBounds) }
            #expect((whole.error == nil) == (divided.error == nil))
            if whole.error == nil { #expect(whole.lines == divided.lines) }
        }
    }
}

@Suite struct KMLConvertTests {
    private let ride = kml(
        "<Placemark><gx:Track>\(at8)\(at9)<gx:coord>16.373721 48.208234 1</gx:coord>"
            + "<gx:coord>7.588634 47.559612 2</gx:coord></gx:Track></Placemark>")

    @Test func `times and paths of one ride go together`() {
        // As gpsbabel and loggers write them: the points with their times, and the path without.
        let input = ride.replacing(
            "</kml>",
            with:
                "<Placemark><LineString><coordinates>16.373721,48.208234 7.6,47.6</coordinates></LineString></Placemark></kml>"
        )
        let outcome = convert(input) { $0.format = .csv }
        #expect(outcome.error == nil && outcome.summary.badRecords == 0 && outcome.summary.written == 2)
        #expect(outcome.notices == [.untimedPlans(file: "input0", count: 2)])
        #expect(preciseNumbers(Array(input.utf8)).intersection(preciseNumbers(outcome.output)).isEmpty)
    }

    @Test func `output is one placemark for each report in a folder for each device`() throws {
        let outcome = convert(ride) { $0.format = .kml }
        let vienna = try center(48.208234, 16.373721), basel = try center(47.559612, 7.588634)
        let document = try XMLDocumentText(outcome.output)
        #expect(document.texts("Folder/name") == ["track 1"])
        #expect(document.texts("Placemark/TimeStamp/when") == ["2026-03-01T08:00:00Z", "2026-03-01T09:00:00Z"])
        #expect(
            document.texts("Placemark/Point/coordinates") == [
                "\(vienna.longitude),\(vienna.latitude)", "\(basel.longitude),\(basel.latitude)",
            ])
        let place = try worldAtlas.reducedLocation(of: try worldAtlas.snap(latitude: 48.208234, longitude: 16.373721))
        #expect(document.texts("Placemark/name").first == place.place?.description)
        #expect(
            Array(document.texts("ExtendedData/Data/value").prefix(4)) == [
                "\(Int(place.horizontalAccuracy.rounded(.up)))", "\(place.region)", "\(place.country)",
                place.place?.description ?? "",
            ])
        // Read again, it is itself.
        let again = convert([outcome.output]) { $0.format = .csv }
        #expect(again.error == nil && again.summary.written == 2 && again.summary.badRecords == 0)
    }

    @Test func `devices with keys have folders of their names`() throws {
        let table = """
            id,time,lat,lon
            a&<b>,2026-03-01T08:00:00Z,48.208234,16.373721
            c,2026-03-01T08:01:00Z,47.559612,7.588634
            a&<b>,2026-03-01T09:00:00Z,31.761934,-106.485021

            """
        let outcome = convert(table) { $0.format = .kml }
        let document = try XMLDocumentText(outcome.output)
        #expect(document.texts("Folder/name") == ["a&<b>", "c"])
        #expect(document.texts("Folder/Placemark/TimeStamp/when").count == outcome.summary.written)
        let empty = try XMLDocumentText(convert("id,time,lat,lon\n") { $0.format = .kml }.output)
        #expect(empty.texts("Folder/name").isEmpty)
    }

    @Test func `elements stand in the order of the schema`() throws {
        let outcome = convert(ride) { $0.format = .kml }
        #expect(
            try XMLDocumentText(outcome.output).children(of: "Placemark").allSatisfy {
                $0 == ["name", "TimeStamp", "ExtendedData", "Point"]
            })
    }
}

/// A document's elements, by Foundation's parser.
final class XMLDocumentText: NSObject, XMLParserDelegate {
    private var open: [String] = []
    private var elements: [(path: String, text: String, children: [String])] = []
    private var stack: [Int] = []

    struct Malformed: Error {}

    init(_ bytes: [UInt8]) throws {
        super.init()
        let parser = XMLParser(data: Data(bytes))
        parser.delegate = self
        guard parser.parse() else { throw Malformed() }
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        open.append(name)
        if let parent = stack.last { elements[parent].children.append(name) }
        stack.append(elements.count)
        elements.append((open.joined(separator: "/"), "", []))
    }

    func parser(_ parser: XMLParser, foundCharacters text: String) {
        if let current = stack.last { elements[current].text += text }
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        open.removeLast()
        stack.removeLast()
    }

    /// The texts of the elements whose path ends so.
    func texts(_ path: String) -> [String] { elements.filter { $0.path.hasSuffix("/" + path) }.map(\.text) }

    func children(of name: String) -> [[String]] {
        elements.filter { $0.path.hasSuffix("/" + name) }.map(\.children)
    }
}
