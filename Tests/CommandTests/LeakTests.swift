import CommandSupport
import Foundation
import Hereabouts
import Testing
import Traces

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// The names, numbers and words of a document, whatever its format, by Foundation's parsers of XML and JSON and by splitting
/// text: nothing of the code under test is used.
private struct Tokens {
    /// Names of elements, attributes, members and columns, and the values.
    private(set) var all: Set<String> = []

    init(_ text: String) {
        let data = Data(text.utf8)
        if text.first == "<" {
            let reader = XMLReader()
            let parser = XMLParser(data: data)
            parser.delegate = reader
            if parser.parse() {
                all = reader.found
                return
            }
        }
        if let value = try? JSONSerialization.jsonObject(with: data) {
            add(value)
            return
        }
        for line in text.split(whereSeparator: \.isNewline) {
            if line.first == "{", let value = try? JSONSerialization.jsonObject(with: Data(line.utf8)) {
                add(value)
            } else {
                Self.fields(line).forEach { all.insert($0) }
            }
        }
    }

    private mutating func add(_ value: Any) {
        switch value {
        case let object as [String: Any]:
            for (name, value) in object {
                all.insert(name)
                add(value)
            }
        case let array as [Any]: array.forEach { add($0) }
        case let text as String: all.insert(text)
        case let number as NSNumber: all.insert(number.stringValue)
        default: break
        }
    }

    /// The fields of a line of CSV.
    static func fields(_ line: Substring) -> [String] {
        var fields = [""], isQuoted = false
        for character in line {
            if character == "\"" {
                isQuoted.toggle()
            } else if character == ",", !isQuoted {
                fields.append("")
            } else {
                fields[fields.count - 1].append(character)
            }
        }
        return fields
    }

    private final class XMLReader: NSObject, XMLParserDelegate {
        var found: Set<String> = []
        private var text = ""

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String]
        ) {
            flush()
            found.insert(name)
            for (name, value) in attributes { found.formUnion([name, value]) }
        }

        func parser(_ parser: XMLParser, didEndElement: String, namespaceURI: String?, qualifiedName: String?) {
            flush()
        }
        func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }
        func parser(_ parser: XMLParser, foundCDATA block: Data) { text += String(decoding: block, as: UTF8.self) }
        func parser(_ parser: XMLParser, foundComment comment: String) { found.insert(comment) }

        private func flush() {
            let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
            if !trimmed.isEmpty { found.insert(trimmed) }
            text = ""
        }
    }
}

/// What may be in an output.
private struct Allowed {
    /// Words that say nothing: those that outputs of two inputs have in common that have nothing in common.
    var vocabulary: Set<String>
    /// Keys and the names of their columns, which the commands document as copied.
    var copied: Set<String> = []
    /// Times that the input has, in seconds since 1970; nil where times are ticks.
    var times: Set<Int>?
    /// How many tracks the input can have.
    var tracks: Int

    /// The first token that is not allowed; nil where there is none.
    func leak(in output: String) throws -> String? {
        let tokens = Tokens(output)
        var regions: Set<String> = [], numbers: Set<Double> = []
        for token in tokens.all {
            guard let id = RegionID(token), let region = worldAtlas.region(id) else { continue }
            let location = try worldAtlas.reducedLocation(of: region)
            regions.formUnion([token, location.country.description])
            if let place = location.place { regions.insert("\(place)") }
            func rounded(_ degrees: Double) -> Double { Double(String(format: "%.5f", degrees)) ?? .nan }
            numbers.formUnion([
                rounded(location.coordinate.latitude), rounded(location.coordinate.longitude),
                location.horizontalAccuracy.rounded(.up),
            ])
        }
        func isAllowed(_ token: String) -> Bool {
            if token.isEmpty || vocabulary.contains(token) || regions.contains(token) || copied.contains(token) {
                return true
            }
            // What KML has before the number of a track.
            if token == "track" || token == "route" { return true }
            if let number = Double(token), numbers.contains(number) { return true }
            if let number = Int(token), (1...tracks).contains(number) { return true }
            guard let time = Self.seconds(token) else { return false }
            return times.map { $0.contains(time) } ?? (time % 900 == 0)
        }
        return tokens.all.first { token in
            // A list of numbers, as some formats have positions.
            !isAllowed(token) && !token.split { $0 == "," || $0.isWhitespace }.allSatisfy { isAllowed(String($0)) }
        }
    }

    private static let utc = Calendar(identifier: .gregorian)

    /// `2026-03-01T08:00:00Z` alone.
    static func seconds(_ text: String) -> Int? {
        let numbers = text.split { "-T:Z".contains($0) }.compactMap { Int($0) }
        guard text.count == 20, text.hasSuffix("Z"), numbers.count == 6 else { return nil }
        let parts = DateComponents(
            calendar: utc, timeZone: .gmt, year: numbers[0], month: numbers[1], day: numbers[2], hour: numbers[3],
            minute: numbers[4], second: numbers[5])
        return parts.date.map { Int($0.timeIntervalSince1970) }
    }
}

@Suite struct LeakTests {
    /// The recordings beside the project, the samples and the goldens' inputs.
    private static let inputs: [URL] = {
        var files: [URL] = []
        for folder in ["../shared/traces", "data/samples", "Tests/Goldens/inputs"] {
            let url = projectFolder.appendingPathComponent(folder).standardizedFileURL
            let names = (try? FileManager.default.contentsOfDirectory(at: url, includingPropertiesForKeys: nil)) ?? []
            if names.isEmpty { print("skipped: there is nothing in \(folder)") }
            files += names.filter { !["md", "py"].contains($0.pathExtension) }.sorted { $0.path < $1.path }
        }
        return files
    }()

    private let place = Workplace()

    /// A table that has nothing in common with any other.
    private static func table(_ latitude: Double, _ longitude: Double, _ day: String, _ key: String) -> String {
        "device,time,lat,lon\n"
            + ["04:03:02", "07:09:13"].map { "\(key),\(day)T\($0)Z,\(latitude),\(longitude)\n" }.joined()
    }

    /// A recording that has nothing in common with any other.
    private static func control(_ latitude: Double, _ longitude: Double, _ day: String?) -> String {
        func point(_ name: String, _ hour: String) -> String {
            let time = day.map { "<time>\($0)T\(hour)Z</time>" } ?? ""
            return "<\(name) lat=\"\(latitude)\" lon=\"\(longitude)\">\(time)</\(name)>"
        }
        let (first, later) = (["05:07:11", "06:08:12"], ["07:09:13", "08:11:14"])
        let (route, track) = (first.map { point("rtept", $0) }.joined(), later.map { point("trkpt", $0) }.joined())
        return "<gpx>\(point("wpt", "04:03:02"))<rte>\(route)</rte><trk><trkseg>\(track)</trkseg></trk></gpx>"
    }

    /// An archive is no text: what is in it is what is written as KML (see `KMZTests`).
    private static let formats = TraceFormat.outputs.filter { $0.name != "kmz" }

    private static let runs = [["snap"], ["convert", "--untimed"], ["convert", "--untimed", "--emit", "fixes"]]

    /// Of each run.
    private static let vocabularies: [[String]: Set<String>] = {
        var found: [[String]: Set<String>] = [:]
        for format in formats {
            for run in runs { found[run + ["--to", format.name]] = try? vocabulary(run + ["--to", format.name]) }
        }
        return found
    }()

    private static func vocabulary(_ words: [String]) throws -> Set<String> {
        let place = Workplace()
        func tokens(_ input: String, _ words: [String]) throws -> Set<String> {
            Tokens(try place.run(command, words, input: input).output).all
        }
        // Answers that do not change are reported once: each tick has its own here.
        let all = words.first == "snap" || words.contains("--emit") ? words : words + ["--emit", "recomputations"]
        let timed = try tokens(control(64.14, -21.9, "2011-02-03"), all).intersection(
            tokens(control(-36.85, 174.76, "2019-08-17"), all))
        let untimed = try tokens(control(64.14, -21.9, nil), words).intersection(
            tokens(control(-36.85, 174.76, nil), words))
        let keyed = try tokens(table(64.14, -21.9, "2011-02-03", "ann"), all).intersection(
            tokens(table(-36.85, 174.76, "2019-08-17", "bob"), all))
        return timed.union(untimed).union(keyed).union(["null"])
    }

    /// What the input says that may be copied, found by patterns alone.
    private func allowed(_ input: String) throws -> Allowed {
        var allowed = Allowed(vocabulary: [], times: try times(input), tracks: 1)
        allowed.tracks += input.components(separatedBy: "<trk>").count + input.components(separatedBy: "<rte>").count
        allowed.tracks += input.components(separatedBy: "LineString").count
        let lines = input.split(whereSeparator: \.isNewline)
        let header = Tokens.fields(lines.first ?? "")
        for (column, name) in header.enumerated() where ["id", "device", "device_id", "time"].contains(name) {
            allowed.copied.insert(name)
            for line in lines.dropFirst() {
                let fields = Tokens.fields(line)
                if column < fields.count { allowed.copied.insert(fields[column]) }
            }
        }
        for line in lines where line.first == "{" {
            let object = (try? JSONSerialization.jsonObject(with: Data(line.utf8))) as? [String: Any] ?? [:]
            for name in ["id", "device", "device_id", "time"] {
                guard let value = object[name] else { continue }
                allowed.copied.formUnion([name, (value as? String) ?? (value as? NSNumber)?.stringValue ?? ""])
            }
        }
        return allowed
    }

    /// The same in the output of a run.
    private func allowed(_ any: Allowed, _ words: [String]) throws -> Allowed {
        var allowed = any
        allowed.vocabulary = try #require(Self.vocabularies[words])
        if words.first != "snap", !words.contains("fixes") { allowed.times = nil }
        return allowed
    }

    /// The seconds of all times in ISO 8601 that a text has, with and without an offset.
    private func times(_ text: String) throws -> Set<Int> {
        let pattern = /(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2})(?:\.\d+)?(Z|[+-]\d{2}:?\d{2})?/
        var found: Set<Int> = []
        for match in text.matches(of: pattern) {
            guard let utc = Allowed.seconds("\(match.1)T\(match.2)Z") else { continue }
            var offset = 0
            if let zone = match.3, zone != "Z" {
                let digits = zone.filter(\.isNumber)
                let minutes = (Int(digits.prefix(2)) ?? 0) * 60 + (Int(digits.suffix(2)) ?? 0)
                offset = (zone.first == "-" ? -60 : 60) * minutes
            }
            found.insert(utc - offset)
        }
        return found
    }

    /// The seconds of receivers' and flights' times: six digits are a time of day or a date, in any combination, and on the
    /// day after.
    private func timesOfReceivers(_ text: String) -> Set<Int> {
        var days: Set<Int> = [], seconds: Set<Int> = []
        for run in text.split(whereSeparator: { !$0.isNumber }) where run.count >= 6 {
            let digits = run.prefix(6).map(String.init)
            let (one, two, three) = (digits[0] + digits[1], digits[2] + digits[3], digits[4] + digits[5])
            guard let first = Int(one), let second = Int(two), let third = Int(three) else { continue }
            if first < 24, second < 60, third < 60 { seconds.insert(first * 3600 + second * 60 + third) }
            if let day = Allowed.seconds("20\(three)-\(two)-\(one)T00:00:00Z") { days.insert(day) }
        }
        return Set(days.flatMap { day in seconds.flatMap { [day + $0, day + 86_400 + $0] } })
    }

    @Test(arguments: inputs) func `nothing of the input is in any output`(_ file: URL) throws {
        let input = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        var any = try allowed(input)
        if ["igc", "nmea"].contains(file.pathExtension) {
            any.times?.formUnion(timesOfReceivers(input))
            any.tracks = 9
        }
        for format in Self.formats {
            for run in Self.runs {
                let words = run + ["--to", format.name]
                let result = try place.run(command, words + [file.path])
                guard result.status < 2 else {
                    // An error of its own, which says nothing of the content: `run` sees to that.
                    #expect(result.errors.contains(file.lastPathComponent), "\(file.lastPathComponent) \(words)")
                    continue
                }
                let leak = try allowed(any, words).leak(in: result.output)
                #expect(leak == nil, "\(file.lastPathComponent) \(words)")
            }
        }
    }

    /// The checker itself: one value of the input in an output, in the place of one that belongs there, is found.
    @Test func `a leak is found`() throws {
        let file = projectFolder.appendingPathComponent("data/samples/juarez.gpx")
        let input = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        let center = worldAtlas.center(of: try worldAtlas.snap(latitude: 31.72, longitude: -106.46))
        let any = try allowed(input)
        for format in Self.formats {
            for run in Self.runs {
                let words = run + ["--to", format.name]
                let output = try place.run(command, words + [file.path]).output
                let allowed = try allowed(any, words)
                #expect(try allowed.leak(in: output) == nil)
                let point = try #require(input.firstMatch(of: /<trkpt lat="([^"]+)" lon="([^"]+)"/))
                let numbers = output.matches(of: /-?\d+\.\d{5}/).map { String($0.0) }
                let first = try #require(numbers.first)
                let region = try #require(output.firstMatch(of: /\br[0-9a-f]{6,}\b/)).0
                let id = try #require(RegionID(String(region)).flatMap { worldAtlas.region($0) })
                let accuracy = "\(Int(try worldAtlas.reducedLocation(of: id).horizontalAccuracy.rounded(.up)))"
                for secret in [
                    String(point.1), String(point.2), "1140.5", "31.7", "17.25", "\(center.latitude + 1e-5)",
                ] {
                    let mutated = output.replacingOccurrences(of: first, with: secret)
                    #expect(try allowed.leak(in: mutated) != nil, "a coordinate in \(words)")
                }
                for (place, secret) in [(accuracy, "7777"), (String(region), "Casa"), (accuracy, "1.5")] {
                    #expect(
                        try allowed.leak(in: output.replacingOccurrences(of: place, with: secret)) != nil,
                        "a number or name in \(words)")
                }
                let time = try #require(output.firstMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/)).0
                #expect(
                    try allowed.leak(in: output.replacingOccurrences(of: time, with: "2001-01-01T00:00:01Z")) != nil,
                    "a time in \(words)")
            }
        }
    }
}
