import Foundation
import Hereabouts
import Testing

@testable import Traces

@Suite struct GeoJSONInputTests {
    private func convertAll(_ text: String, _ configure: (inout ConvertRun.Options) -> Void = { _ in }) -> Outcome {
        let outcome = convert(text) {
            $0.format = .csv
            configure(&$0)
        }
        for (threads, readBytes) in [(2, 1 << 18), (1, 7), (2, 100)] {
            let other = convert(text) {
                ($0.format, $0.threads, $0.readBytes) = (.csv, threads, readBytes)
                configure(&$0)
            }
            #expect(other == outcome)
        }
        return outcome
    }

    private func feature(_ geometry: String, _ properties: String) -> String {
        "{\"type\":\"Feature\",\"properties\":{\(properties)},\"geometry\":\(geometry)}"
    }

    private let vienna = "{\"type\":\"Point\",\"coordinates\":[16.4,48.2]}"
    private let basel = "{\"coordinates\":[7.59,47.55,260],\"type\":\"Point\"}"
    private let line = "{\"type\":\"LineString\",\"coordinates\":[[16.4,48.2,171],[7.59,47.55]]}"
    private let times = ["2026-05-01T00:00:00Z", "2026-05-01T01:00:00Z"]

    private func rows(_ key: String) throws -> [String] {
        [
            "\(key),\(times[0]),\(try reducedColumns(48.2, 16.4))",
            "\(key),\(times[1]),\(try reducedColumns(47.55, 7.59))",
        ]
    }

    @Test func `collections, lines, sequences and arrays of features of points`() throws {
        let features = [
            feature(vienna, "\"id\":\"a\",\"note\":\"secret\",\"time\":\"\(times[0])\""),
            feature(basel, "\"time\":\"\(times[1])\",\"id\":\"a\""),
        ]
        for text in [
            "{\"type\":\"FeatureCollection\",\"features\":[\(features.joined(separator: ","))]}",
            "{\"features\" :\n[\(features.joined(separator: ",\n"))],\"type\":\"FeatureCollection\",\"x\":[1,{\"features\":[]}]}\n",
            "{\"name\":\"features\",\"meta\":{\"features\":[{}]},\"type\":\"FeatureCollection\",\"features\":[\(features.joined(separator: ","))]}",
            features.joined(separator: "\n"), features.map { "\u{1e}\($0)\n" }.joined(),
            features.map { $0.replacingOccurrences(of: ",", with: ",\n") }.joined(separator: "\n"),
            "\u{feff}\(features.joined(separator: "\r\n"))\r\n",
        ] {
            let outcome = convertAll(text)
            #expect(Array(outcome.rows.dropFirst()) == (try rows("a")), "\(text)")
            #expect(outcome.error == nil && outcome.problems.isEmpty)
            #expect(outcome.dropped == ["note"])
        }
    }

    @Test func `times of lines in their members`() throws {
        let list = "[\"\(times[0])\",\"\(times[1])\"]"
        for properties in [
            "\"coordTimes\":\(list)", "\"times\":\(list)", "\"coordinateProperties\":{\"times\":\(list)}",
            "\"time\":\(list)", "\"times\":[1777593600,1777597200]", "\"times\":[1777593600000, 1777597200000 ]",
        ] {
            let outcome = convertAll(feature(line, properties))
            #expect(Array(outcome.rows.dropFirst()) == (try rows("1")), "\(properties)")
        }
        let multi = "{\"type\":\"MultiLineString\",\"coordinates\":[[[16.4,48.2]],[],[[7.59,47.55]]]}"
        let nested = convertAll(feature(multi, "\"coordTimes\":[[\"\(times[0])\"],[],[\"\(times[1])\"]]"))
        #expect(Array(nested.rows.dropFirst()) == (try rows("1")))
        let mixed = convertAll(
            feature(line, "\"times\":\(list)") + "\n" + feature(vienna, "\"time\":\"2026-05-01T02:00:00Z\""))
        #expect(mixed.rows.count == 4 && mixed.problems.isEmpty)
        let points = "{\"type\":\"MultiPoint\",\"coordinates\":[[16.4,48.2],[7.59,47.55]]}"
        #expect(convertAll(feature(points, "\"times\":\(list)")).rows.count == 3)
    }

    @Test func `bad features are records with a reason`() throws {
        let good = feature(vienna, "\"time\":\"\(times[0])\"")
        let cases: [(String, String)] = [
            (feature("{\"type\":\"Polygon\",\"coordinates\":[[[1,2]]]}", ""), "no points and no lines"),
            (feature("null", "\"time\":\"\(times[0])\""), "no latitude"),
            (
                feature("{\"type\":\"Point\",\"coordinates\":[]}", "\"time\":\"\(times[0])\""),
                "the latitude is not a number"
            ),
            (
                feature("{\"type\":\"Point\",\"coordinates\":[1]}", "\"time\":\"\(times[0])\""),
                "the latitude is not a number"
            ),
            (feature("{\"type\":\"Point\",\"coordinates\":[[1,2]]}", "\"time\":1"), "no points and no lines"),
            (feature("{\"type\":\"LineString\",\"coordinates\":[]}", ""), "no latitude"),
            (feature("{\"type\":\"LineString\",\"coordinates\":[1,2]}", ""), "no points and no lines"),
            (
                feature("{\"type\":\"Point\",\"coordinates\":[1,99]}", "\"time\":\"\(times[0])\""),
                "the latitude is out of range"
            ),
            (feature(vienna, "\"time\":\"yesterday\""), "the time is not readable"),
            (feature(vienna, ""), "no time"), (feature(vienna, "\"time\":null"), "no time"),
            (feature(line, "\"time\":\"\(times[0])\""), "another number of times than of positions"),
            (feature(line, "\"times\":[\"\(times[0])\"]"), "another number of times than of positions"),
            (feature(vienna, "\"time\":01"), "not JSON"), ("[1]", "not a JSON object"),
            ("{\"type\":\"Topology\"}", "no points and no lines"),
        ]
        for (bad, reason) in cases {
            let outcome = convertAll("{\"type\":\"FeatureCollection\",\"features\":[\(good),\(bad),\(good)]}")
            #expect(outcome.reasons == ["2: \(reason)"], "\(bad)")
            #expect(outcome.error == nil && outcome.rows.count == 2)
        }
    }

    @Test func `a document that breaks off fails`() {
        let good = feature(vienna, "\"time\":\"\(times[0])\"")
        for text in [
            "{\"type\":\"FeatureCollection\",\"features\":[\(good)",
            "{\"type\":\"FeatureCollection\",\"features\":[\(good),{\"a",
            "{\"type\":\"FeatureCollection\",\"features\":[\(good)]",
            "{\"type\":\"FeatureCollection\",\"features\":[\(good)]}]",
            "{\"type\":\"FeatureCollection\",\"features\":[\(good),]}",
            "{\"type\":\"FeatureCollection\",\"features\":[\(good) \(good)]}",
            "{\"type\":\"FeatureCollection\",\"features\":[,\(good)]}",
        ] {
            guard case .malformedJSON? = convertAll(text).error else {
                Issue.record("\(text)")
                continue
            }
        }
    }

    @Test func `without times there is an error, unless they are not wanted`() throws {
        guard case .noTimeMember? = convertAll(feature(line, "")).error else {
            Issue.record("untimed features were accepted")
            return
        }
        let outcome = convertAll(feature(line, "")) { $0.acceptsUntimed = true }
        #expect(outcome.rows.count == 3 && outcome.error == nil)
    }

    @Test func `a line of a hundred thousand points`() throws {
        let count = 100_000
        let positions = (0..<count).map { "[16.4\($0 % 10),48.2]" }.joined(separator: ",")
        let times = (0..<count).map { "\(1_777_593_600 + $0)" }.joined(separator: ",")
        let text = feature(
            "{\"type\":\"LineString\",\"coordinates\":[\(positions)]}", "\"id\":\"a\",\"times\":[\(times)]")
        let outcome = convert(text) { ($0.format, $0.emission) = (.csv, .recomputations) }
        #expect(outcome.summary.records == count && outcome.error == nil)
        #expect(outcome.rows.count > 100 && outcome.rows[1].hasPrefix("a,"))
        let long = feature(vienna, "\"x\":\"\(String(repeating: "x", count: JSONElements.maximumBytes))\"")
        guard case .featureTooLong? = convert(long).error else {
            Issue.record("not refused")
            return
        }
    }

    @Test func `what is written can be read again`() {
        let text = [
            feature(vienna, "\"id\":\"a\",\"time\":\"\(times[0])\""),
            feature(basel, "\"id\":\"b\",\"time\":\"\(times[1])\""),
        ]
        let written = convertAll(text.joined(separator: "\n")) { $0.format = .geojson }
        let again = convertAll(written.text) { $0.format = .geojson }
        #expect(again.output == written.output)
    }
}
