import FixedRandom
import Foundation
import Testing

@testable import Traces

/// Children of a point that no well-formed document has.
private let malformedChildren = [
    "<ele>&x;</ele>", "<ele>\u{1}</ele>", "<ele>]]></ele>", "<1a>5</1a>", "<a$>5</a$>", "<-a>5</-a>", "<a>5</b>",
    "<ele>5<ele>", "<ab>5</a>", "<a>5</ab>", "<>5</>", "<ele>5</ele", "<ele>&</ele>", "< a>5</ a>", "<a{>5</a{>",
    "<a\u{1}>5</a\u{1}>", "<ele>5</ele></ele>", "<ele>&#0;</ele>", "</trkpt>", "<ele>5</ele><", "<a", "&", "]]>",
    "\u{1}",
]

/// Documents with track points in all forms that are nearly plain. In UTF-16 a document says the same, and all of it
/// goes through the XML parser: so the outcomes must be equal.
private struct Documents {
    var random: SplitMix64

    mutating func pick(_ choices: String...) -> String { choices.randomElement(using: &random)! }

    mutating func number(_ whole: ClosedRange<Int>) -> String {
        let number = String(Int.random(in: whole, using: &random))
        let digits = (0..<Int.random(in: 1...12, using: &random)).map { _ in pick("0", "1", "5", "9") }.joined()
        return pick(
            number, "\(number).\(digits)", "\(number).\(digits)", "\(number).\(digits)", "\(number).", "+\(number).5",
            " \(number).5", "\(number).5e0", "00\(number).25", "\(number).5 ", ".5", "-.5", "-0.0", "", "1234567890.5",
            "\(number),5", "&#49;.5", "12345678.5")
    }

    mutating func child(_ second: Int) -> String {
        let time = String(format: "2026-03-01T%02d:%02d:%02dZ", second / 3600, second / 60 % 60, second % 60)
        let text = pick(
            "1140.5", "", "three words", "a\tb", "a\nb", "é", "a&amp;b", "a>b", "\u{7f}",
            String(repeating: "x", count: Int.random(in: 40...60, using: &random)))
        let name = pick("ele", "speed", "a", "sevenxx", "eightxxx", "ninechars", "Ele", "x1", "e:x", "hdop")
        return pick(
            "<time>\(time)</time>", "<time>\(time)</time>", "<time>\(time.dropLast())&#90;</time>", "<ele>1140.5</ele>",
            "<hdop>1.5</hdop>", "<hdop> 40 </hdop>", "<hdop>&#52;0</hdop>", "<time>\t\(time)\n</time>",
            "<time> \(time) </time>", "<time>\(time.dropLast()).25Z</time>",
            "<time>\(time.dropLast())+01:00</time>", "<time>noon</time>", "<time></time>", "<time/>",
            "<time>\(time)\u{20}x</time>",
            "<\(name)>\(text)</\(name)>", "<\(name) >\(text)</\(name)>", "<\(name)>\(text)</\(name) >",
            "<\(name) a=\"1\">\(text)</\(name)>", "<\(name)><![CDATA[\(text)]]></\(name)>", "<!-- \(text) -->",
            "<extensions><time>\(time)</time></extensions>", "<?pi \(text)?>", text, "<trkpt>5</trkpt>",
            "<time xmlns=\"urn:e\">noon</time>")
    }

    mutating func blank() -> String { pick("", "", "\n", "\n  ", "\r\n\t", " ", "\n\n") }

    mutating func point(_ second: Int) -> String {
        let latitude = number(-89...89), longitude = number(-179...179)
        let attributes =
            Int.random(in: 0..<8, using: &random) > 0
            ? "lat=\"\(latitude)\" lon=\"\(longitude)\""
            : pick(
                "lon=\"\(longitude)\" lat=\"\(latitude)\"", "lat='\(latitude)' lon='\(longitude)'",
                "lat=\"\(latitude)\"",
                "lat=\"\(latitude)\"  lon=\"\(longitude)\"", "lat=\"\(latitude)\" lon=\"\(longitude)\" ",
                "lat=\"\(latitude)\" lon=\"\(longitude)\" id=\"5\"", "e:lat=\"1\" lat=\"2.5\" lon=\"\(longitude)\"")
        var text = "<trkpt \(attributes)>"
        for _ in 0..<Int.random(in: 0...3, using: &random) { text += blank() + child(second) }
        return text + blank() + "</trkpt>"
    }

    mutating func usualPoint(_ second: Int) -> String {
        let latitude = Double.random(in: -90...90, using: &random),
            longitude = Double.random(in: -180...180, using: &random)
        return String(
            format: "<trkpt lat=\"%.*f\" lon=\"%.*f\">%@<ele>%.1f</ele><time>2026-03-01T%02d:%02d:%02dZ</time></trkpt>",
            Int.random(in: 1...10, using: &random), latitude, Int.random(in: 1...10, using: &random), longitude,
            blank(),
            latitude, second / 3600, second / 60 % 60, second % 60)
    }

    mutating func segment() -> String {
        var text = ""
        for _ in 0..<Int.random(in: 1...12, using: &random) {
            let second = Int.random(in: 0..<86_400, using: &random)
            text += blank() + (Bool.random(using: &random) ? usualPoint(second) : point(second))
        }
        return text
    }

    mutating func document() -> String {
        let prefix = pick("", "", "", "g:")
        var text = pick("", "", "\n", "<!-- <trkseg><trkpt lat=\"1.5\" lon=\"1.5\"> -->\n")
        text += pick(
            "<\(prefix)gpx xmlns=\"urn:a\" xmlns:g=\"urn:a\" xmlns:e=\"urn:e\">", "<gpx xmlns:e=\"urn:e\">",
            "<g:gpx xmlns:g=\"urn:g\" xmlns:e=\"urn:e\">", "<gpx xmlns=\"urn:a\" xmlns:g=\"urn:a\" xmlns:e=\"urn:e\">",
            "<gpx xmlns=\"urn:a\" xmlns:g=\"urn:a\" xmlns:e=\"urn:e\">")
        let isPrefixed = text.hasPrefix("<g:")
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let track = pick("trk", "trk", "trk", "g:trk", "rte", "a")
            let start = pick(
                "trkseg", "trkseg", "trkseg", "g:trkseg", "trkseg xmlns=\"urn:e\"", "trkseg xmlns=\"urn:a\"", "a")
            let end = start.split(separator: " ")[0]
            let body = pick(segment(), segment(), segment(), "<![CDATA[\(segment())]]>", "<a>\(segment())</a>")
            text += "\n<\(track)><\(start)>\(body)</\(end)></\(track)>"
        }
        return text + pick("\n</\(isPrefixed || text.contains("<g:gpx") ? "g:" : "")gpx>\n")
    }
}

/// The outcome for a document, every fix of it.
private func outcome(_ bytes: [UInt8], chunk: Int = 1 << 18) -> Outcome {
    var outcome = convert([bytes]) {
        $0.emission = .fixes
        $0.format = .csv
        $0.readBytes = chunk
        $0.acceptsJumps = true
    }
    // Where in a section of unparsed text the parser notices depends on the pieces it gets.
    if case .malformedXML(let file, _) = outcome.error { outcome.error = .malformedXML(file: file, line: 0) }
    return outcome
}

private func utf16(_ text: String) -> [UInt8] {
    [0xff, 0xfe] + text.utf16.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }
}

@Suite struct TrackPointScannerTests {
    @Test func `points of any form are read as the parser reads them`() {
        var documents = Documents(random: SplitMix64(seed: 41))
        var taken = 0, refused = 0
        for number in 0..<500 {
            var text = documents.document()
            if number % 10 == 0 {
                // Something that no form foresees.
                let at = text.utf8.index(
                    text.startIndex, offsetBy: Int.random(in: 0..<text.utf8.count, using: &documents.random))
                if at.samePosition(in: text) != nil {
                    text.replaceSubrange(
                        at...at, with: documents.pick("", "<", ">", "\"", "&", "x", "\n", "/", "]", "-"))
                }
            }
            let chunk = [1 << 18, 1 << 18, 500, 131].randomElement(using: &documents.random)!
            let plain = outcome(Array(text.utf8), chunk: chunk), parsed = outcome(utf16(text))
            #expect(plain == parsed, "\(text)")
            if plain != parsed { return }
            taken += plain.summary.written
            refused += plain.error == nil ? 0 : 1
        }
        print("documents: \(taken) points taken, \(refused) documents refused")
        #expect(taken > 500 && refused < 250)
    }

    @Test(arguments: malformedChildren)
    func `malformed points are noticed`(_ child: String) {
        func point(_ child: String) -> String { "<trkpt lat=\"48.2082\" lon=\"16.3737\">\(child)</trkpt>\n" }
        let plain = String(repeating: point("<time>2026-03-01T00:00:00Z</time><ele>5</ele>"), count: 5)
        for head in ["<gpx><trk><trkseg>", "<gpx><trk><trkseg>" + plain] {
            let text = head + point("<ele>5</ele>" + child + "<ele>5</ele>") + plain + "</trkseg></trk></gpx>"
            #expect(outcome(Array(text.utf8)).error == .malformedXML(file: "input0", line: 0))
        }
    }

    @Test func `plain points are taken without the parser`() {
        let points = [
            "<trkpt lat=\"-29.9671209\" lon=\"-50.0417552\"><ele>1140.5</ele><time>2026-05-09T00:00:00Z</time></trkpt>",
            "\r\n\t <trkpt lat=\"1\" lon=\"2\">\n</trkpt>",
            "<trkpt lat=\"45.735199945\" lon=\"14.288633270\"> <hdop>1.5</hdop> <sat></sat> <cmt>some words</cmt></trkpt>",
        ]
        let rest = String(repeating: "x", count: 128)
        for point in points {
            let bytes = Array((point + rest).utf8)
            // SAFETY: within the call.
            unsafe bytes.withUnsafeBufferPointer { bytes in
                var text = unsafe TrackPointScanner(bytes)
                #expect(text.startTag() != nil)
                while text.child() != nil {}
                #expect(text.endTag() && text.offset == point.utf8.count)
                #expect(text.startTag() == nil)
            }
        }
    }

    /// With memory after it that cannot be read.
    @Test func `nothing beyond the text is looked at`() {
        let page = 4096
        // SAFETY: given back at the end; only the first page is used.
        guard let memory = unsafe mmap(nil, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            unsafe memory != MAP_FAILED
        else { preconditionFailure("no memory") }
        defer { unsafe munmap(memory, 2 * page) }
        unsafe mprotect(memory + page, page, PROT_NONE)
        let point = Array(
            "<trkpt lat=\"-2999999.99671209\" lon=\"-50.0417552123456\"><name>\(String(repeating: "x", count: 47))</name></trkpt>"
                .utf8)
        var taken = 0
        for filler in ["1", "x", "<", " ", "\n", "<trkpt lat=\"1", "</"] {
            let text = point + point + Array(String(repeating: filler, count: 150).utf8)
            for length in 1...text.count {
                let start = unsafe (memory + page - length).assumingMemoryBound(to: UInt8.self)
                // SAFETY: so many bytes lie before the end of the page.
                unsafe start.update(from: text, count: length)
                var plain = unsafe TrackPointScanner(UnsafeBufferPointer(start: start, count: length))
                while plain.startTag() != nil {
                    while plain.child() != nil {}
                    guard plain.endTag() else { break }
                    taken += 1
                }
                #expect(plain.offset <= length)
            }
        }
        #expect(taken > 1000)
    }

    @Test func `document types are refused before plain points`() {
        let text =
            "<!DOCTYPE gpx [<!ATTLIST trkpt lat CDATA \"1\">]><gpx><trk><trkseg><trkpt lat=\"48.2082\" lon=\"16.3737\">"
            + "</trkpt></trkseg></trk></gpx>"
        #expect(outcome(Array(text.utf8)).error == .documentType(file: "input0", line: 1))
    }

    @Test func `lines are counted through plain points`() {
        let plain = "<trkpt lat=\"48.2082\" lon=\"16.3737\">\n<time>2026-03-01T00:00:00Z</time>\n</trkpt>\n\n"
        let bad = "<trkpt lat=\"148.2082\" lon=\"16.3737\"><time>noon</time></trkpt>\n"
        let many = String(repeating: plain, count: 1000)
        let outcome = convert("<gpx><trk><trkseg>\n" + many + bad + many + bad + "</trkseg></trk></gpx>")
        #expect(outcome.reasons == ["4002: the time is not readable", "8003: the time is not readable"])
        #expect(outcome.summary.records == 2002)
    }
}
