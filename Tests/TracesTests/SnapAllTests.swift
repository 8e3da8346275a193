import Foundation
import Hereabouts
import Testing

@testable import Traces

private let header = "latitude,longitude,horizontal_accuracy,region,country,place"

@Suite struct SnapAllTests {
    private let gpx = """
        <gpx><wpt lat="1" lon="2"><name>home</name></wpt>
        <trk><name>ride</name><trkseg>
        <trkpt lat="47.5596" lon="7.5886"><ele>260</ele><time>2026-03-01T08:00:00.7Z</time></trkpt>
        <trkpt lat="95" lon="7.5886"><time>2026-03-01T08:00:01Z</time></trkpt>
        <trkpt lat="48.2" lon="16.4"/>
        </trkseg></trk></gpx>
        """

    /// Runs with several numbers of threads and sizes of pieces, which must agree.
    private func snapAll(_ input: String, _ configure: (inout SnapRun.Options) -> Void) -> Outcome {
        let outcome = snap(input, configure)
        for (threads, readBytes) in [(3, 7), (2, 64)] {
            let other = snap(input) {
                configure(&$0)
                ($0.threads, $0.readBytes) = (threads, readBytes)
            }
            #expect(other == outcome, "\(threads) threads, \(readBytes) bytes")
        }
        return outcome
    }

    @Test func `points of a GPX are rows of a table`() throws {
        let outcome = snapAll(gpx) { $0.format = .csv }
        #expect(
            outcome.rows == [
                "track,time,\(header)", "1,,\(try reducedColumns(1, 2))",
                "2,2026-03-01T08:00:00Z,\(try reducedColumns(47.5596, 7.5886))", ",,,,,,,",
                "2,,\(try reducedColumns(48.2, 16.4))",
            ])
        #expect(outcome.reasons == ["4: the latitude is out of range"])
        #expect(outcome.summary.records == 4 && outcome.summary.written == 4 && outcome.summary.badRecords == 1)
        #expect(snapAll(gpx) { ($0.format, $0.onError) = (.csv, .skip) }.rows.count == 4)
        #expect(snapAll(gpx) { ($0.format, $0.onError) = (.csv, .stop) }.error == .stopped)
    }

    @Test func `a GPX stays one`() throws {
        let outcome = snapAll(gpx) { _ in }
        let expected = convert("<gpx><wpt lat=\"1\" lon=\"2\"/></gpx>").rows[4]
        #expect(outcome.rows.count == 10 && outcome.rows[4] == expected)
        #expect(outcome.text.contains("<trk><number>2</number><trkseg>"))
        #expect(outcome.text.contains("<time>2026-03-01T08:00:00Z</time>") && !outcome.text.contains("ride"))
        #expect(outcome.reasons == ["4: the latitude is out of range"])
        #expect(outcome.summary.records == 4 && outcome.summary.written == 3)
    }

    @Test func `properties of features are kept by name`() throws {
        let input = """
            {"type":"FeatureCollection","features":[
            {"type":"Feature","properties":{"name":"a \\"b\\"","count":3,"sensor":{"kind":"x"},"secret":9},
             "geometry":{"type":"MultiPoint","coordinates":[[7.5886,47.5596,260],[16.4,48.2]]}},
            {"type":"Feature","properties":{"name":null,"count":1.50},"geometry":null},
            {"type":"Feature","properties":{"name":"c","count":true},"geometry":{"type":"Point","coordinates":[2,1]}},
            {"type":"Feature","properties":{"name":["d"]},"geometry":{"type":"Point","coordinates":[2,1]}}
            ]}
            """
        let keep = ["name", "count", "/sensor/kind"]
        let table = snapAll(input) { ($0.format, $0.keep) = (.csv, keep) }
        let (basel, vienna) = (try reducedColumns(47.5596, 7.5886), try reducedColumns(48.2, 16.4))
        #expect(
            table.rows == [
                "track,time,name,count,/sensor/kind,\(header)", "1,,\"a \"\"b\"\"\",3,x,\(basel)",
                "1,,\"a \"\"b\"\"\",3,x,\(vienna)", ",,,,,,,,,,", "2,,c,true,,\(try reducedColumns(1, 2))",
                ",,,,,,,,,,",
            ])
        #expect(
            table.reasons == ["2: no latitude", "4: a member that is read is an object or array"])
        #expect(table.dropped == ["secret"])

        let features = snapAll(input) { $0.keep = keep }
        let document = try JSONSerialization.jsonObject(with: Data(features.output)) as? [String: Any]
        let list = try #require(document?["features"] as? [[String: Any]])
        #expect(list.count == 5)
        #expect((list[0]["properties"] as? [String: Any])?["name"] as? String == "a \"b\"")
        #expect((list[0]["properties"] as? [String: Any])?["count"] as? Int == 3)
        #expect(list[2]["geometry"] is NSNull && list[0]["geometry"] is [String: Any])
        #expect(features.text.contains("\"name\":\"c\",\"count\":true"))
        let lines = snapAll(input) { ($0.format, $0.keep) = (.ndjson, keep) }
        #expect(lines.rows.count == 5 && lines.rows[0].hasPrefix("{\"track\":1,\"time\":null,\"name\":\"a \\\"b\\\"\""))
        for name in ["latitude", "/a/lon", "track", "region"] {
            let point = #"{"type":"Feature","geometry":{"type":"Point","coordinates":[2,1]},"properties":{"a":1}}"#
            #expect(snap(point) { $0.keep = [name] }.error != nil, "\(name)")
        }
    }

    @Test func `keys of features are copied`() throws {
        let input = """
            {"type":"Feature","properties":{"device_id":"ü","time":"2026-03-01T08:00:00Z"},"geometry":{"type":"Point","coordinates":[2,1]}}
            {"type":"Feature","properties":{"device_id":null},"geometry":{"type":"Point","coordinates":[2,1]}}
            """
        let reduced = try reducedColumns(1, 2)
        #expect(
            snapAll(input) { $0.format = .csv }.rows
                == ["device_id,time,\(header)", "ü,2026-03-01T08:00:00Z,\(reduced)", ",,\(reduced)"])
    }

    @Test func `tables are written to every format`() throws {
        let table =
            "device_id,time,lat,lon,speed,note\nvan,2026-03-01T08:00:00Z,47.5596,7.5886,12,\"a,b\"\nbus,,48.2,16.4,9,\n"
        let features = snapAll(table) { ($0.format, $0.keep) = (.geojson, ["note"]) }
        let list = try #require(
            (try JSONSerialization.jsonObject(with: Data(features.output)) as? [String: Any])?["features"]
                as? [[String: Any]])
        #expect((list[0]["properties"] as? [String: Any])?["note"] as? String == "a,b")
        #expect((list[0]["properties"] as? [String: Any])?["device_id"] as? String == "van")
        #expect((list[1]["properties"] as? [String: Any])?["time"] is NSNull)
        let gpx = snapAll(table) { $0.format = .gpx }
        #expect(gpx.text.contains("<trk><name>van</name>") && gpx.text.contains("<trk><name>bus</name>"))
        #expect(gpx.text.contains("<time>2026-03-01T08:00:00Z</time>") && gpx.summary.written == 2)
        #expect(
            snapAll("lat,lon\n") { $0.format = .geojson }.text
                == "{\"type\":\"FeatureCollection\",\"atlas\":\"\(worldAtlas.name)\",\"features\":[\n]}\n"
        )
        #expect(snapAll("1 2\n3 4") { $0.format = .gpx }.summary.written == 2)
        #expect(snap(table) { ($0.format, $0.keep) = (.gpx, ["note"]) }.error == .keepsNothing(format: "gpx"))
        #expect(
            snap(self.gpx) { ($0.format, $0.keep) = (.csv, ["name"]) }.error.map { "\($0)".contains("--keep") } == true)
    }

    @Test func `tracks are numbered through all inputs`() throws {
        let scratch = Scratch()
        let files = (0..<2).map { InputName.file(scratch.write(Array(gpx.utf8), as: "\($0).gpx")) }
        var options = SnapRun.Options()
        options.format = .csv
        let outcome = observed(scratch) { output, observer throws(TraceError) in
            try SnapRun.run(files, to: output, atlas: worldAtlas, options: options, observer: observer)
        }
        #expect(outcome.rows.dropFirst().map { $0.prefix(1) } == ["1", "2", ",", "2", "3", "4", ",", "4"])
    }

    @Test func `what comes before a broken end is written`() throws {
        let broken = snapAll(gpx.replacingOccurrences(of: "</trkseg>", with: "</oops>")) { $0.format = .csv }
        #expect(broken.error == .malformedXML(file: "input", line: 6))
        #expect(broken.reasons == ["4: the latitude is out of range"])
        let stopped = snapAll(gpx.replacingOccurrences(of: "</trkseg>", with: "</oops>")) { $0.format = .gpx }
        #expect(stopped.reasons == broken.reasons && stopped.error == broken.error)
    }
}
