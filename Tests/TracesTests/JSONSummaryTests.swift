import Hereabouts
import Testing

@testable import Traces

/// A summary beside its samples in one object is refused, with the way to the samples.
@Suite struct JSONSummaryTests {
    private static let polar = """
        {"exportVersion":"1.6","startTime":"2026-05-01T10:10:00.000","timeZoneOffset":120,"latitude":60.1699,\
        "longitude":24.9384,"exercises":[{"startTime":"2026-05-01T10:10:00.000","zones":[{"lower":1}],\
        "samples":{"recordedRoute":[{"dateTime":"2026-05-01T10:10:00.000","longitude":24.9384,"latitude":60.1699},\
        {"dateTime":"2026-05-01T10:31:00.000","longitude":25.0384,"latitude":60.2699}]}}]}

        """

    /// Objects, and how their samples are named.
    private static let summaries: [(text: String, filter: String?)] = [
        (polar, ".exercises[].samples.recordedRoute[]"),
        ("{\"lat\":1,\"lon\":2,\"time\":\"2026-05-01T08:00:00Z\",\"points\":[{\"lat\":1,\"lon\":2}]}", ".points[]"),
        (
            "[{\"time\":1777623000,\"lat\":1,\"lng\":2,\"legs\":{\"of day\":[{\"id\":1},{\"position\":{\"lat\":1,\"lng\":2}}]}}]",
            ".legs.\"of day\"[]"
        ),
        (
            "\n{\"time\":1777623000,\n\"latlng\":\"1,2\",\"a\":[[{\"b\":[{\"wkt\":\"POINT(1 2)\"}]}]]}\n",
            ".a[][].b[]"
        ),
        (
            "{\"time\":1777623000,\"lat\":1,\"lon\":2,\"48.2082\":[{\"lat\":1,\"lon\":2}]}\n{\"time\":1,\"lat\":1,\"lon\":2}\n",
            nil
        ),
    ]

    @Test func `summaries are refused`() {
        for (text, filter) in Self.summaries {
            for readBytes in [1 << 18, 7] {
                let outcome = convert(text) {
                    ($0.format, $0.readBytes) = (.csv, readBytes)
                    if text.contains("startTime") { $0.timeColumn = "startTime" }
                }
                #expect(
                    outcome.error == .summaryBesideSamples(file: "input0", filter: filter) && outcome.output.isEmpty)
                let snapped = snap(text) { $0.readBytes = readBytes }
                #expect(snapped.error == .summaryBesideSamples(file: "input", filter: filter))
            }
        }
    }

    @Test func `the message has the command and no data`() {
        let message = "\(TraceError.summaryBesideSamples(file: "p.json", filter: ".exercises[].route[]"))"
        #expect(message.contains("in .exercises[].route[]") && message.contains("jq -c '.exercises[].route[]' FILE"))
        #expect("\(TraceError.summaryBesideSamples(file: "p.json", filter: nil))".contains("with jq"))
        for name in ["it's", "a\"b", "a\\b"] {
            let text =
                "{\"lat\":1,\"lon\":2,\"\(name.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\":"
                + "[{\"lat\":1,\"lon\":2}]}"
            #expect(JSONSummary(Array(text.utf8)) != nil && JSONSummary(Array(text.utf8))?.filter == nil)
        }
    }

    @Test func `named by an option the summary is read`() throws {
        let outcome = snap(Self.polar) { $0.csv = CSVOptions(latitudeColumn: "latitude", longitudeColumn: "longitude") }
        #expect(outcome.error == nil && outcome.text.contains("\"region\":"))
    }

    @Test(arguments: [
        "{\"lat\":1,\"lon\":2,\"time\":\"2026-05-01T08:00:00Z\",\"cells\":[{\"id\":1,\"signal\":-70}],\"tags\":[\"lat\",\"lon\"]}\n",
        "{\"lat\":1,\"lon\":2,\"time\":\"2026-05-01T08:00:00Z\",\"fix\":{\"lat\":1,\"lon\":2},\"path\":[[1,2],[3,4]]}\n",
        "{\"time\":\"2026-05-01T08:00:00Z\",\"lon\":2,\"lat\":1,\"a\":[],\"b\":[{}],\"c\":[{\"lat\":1},{\"lon\":2}]}\n",
        "[{\"lat\":1,\"lon\":2,\"time\":\"2026-05-01T08:00:00Z\"},{\"lat\":1,\"lon\":2,\"time\":\"2026-05-01T08:30:00Z\"}]",
    ]) func `records with other arrays are read`(_ text: String) {
        #expect(convert(text) { $0.format = .csv }.error == nil)
        #expect(snap(text).error == nil)
    }

    /// Samples without a summary's position are what they were: a refusal for want of one.
    @Test func `an object without a position of its own is none`() {
        #expect(
            convert("{\"time\":1,\"route\":[{\"lat\":1,\"lon\":2}]}\n").error
                == .noMember(file: "input0", axis: .latitude))
    }
}
