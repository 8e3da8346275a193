import CommandSupport
import Foundation
import Hereabouts
import Testing
import Traces

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
        // Its first five minutes.
        let whole = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        let points = whole.split(separator: "</trkpt>", omittingEmptySubsequences: false).prefix(300)
        let input = points.joined(separator: "</trkpt>") + "</trkpt></trkseg></trk></gpx>"
        place.write(input, as: "juarez.gpx")
        let center = worldAtlas.center(of: try worldAtlas.snap(latitude: 31.72, longitude: -106.46))
        let any = try allowed(input)
        for format in Self.formats {
            for run in Self.runs {
                let words = run + ["--to", format.name]
                let output = try place.run(command, words + ["juarez.gpx"]).output
                let allowed = try allowed(any, words)
                #expect(try allowed.leak(in: output) == nil)
                let point = try #require(input.firstMatch(of: /<trkpt lat="([^"]+)" lon="([^"]+)"/))
                let first = try #require(output.firstMatch(of: /-?\d+\.\d{5}/)).0
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
