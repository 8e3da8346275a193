import FixedRandom
import Foundation
import Hereabouts
import Testing

@testable import Traces

private let header = "latitude,longitude,horizontal_accuracy,region,country,place"

@Suite struct SnapTests {
    @Test func `bare lines give one record each`() throws {
        let outcome = snap("31.7619 -106.4850\n-33.92,18.42\r\n\n48.2082\t16.3738\n 1.5 ; 2.5 \n0,0")
        let expected = [
            header, try reducedColumns(31.7619, -106.4850), try reducedColumns(-33.92, 18.42),
            try reducedColumns(48.2082, 16.3738), try reducedColumns(1.5, 2.5), try reducedColumns(0, 0),
        ]
        #expect(outcome.rows == expected)
        #expect(outcome.summary.records == 5)
        #expect(outcome.problems.isEmpty && outcome.error == nil)
    }

    @Test func `empty input gives the header alone`() {
        #expect(snap("").rows == [header])
        #expect(snap("lat,lon\n").rows == [header])
        #expect(snap("lat,lon").rows == [header])
    }

    @Test(arguments: [
        "lat,lon", "latitude,longitude", "LAT,LNG", "Latitude,Long", "\u{feff}lat,lon", "\"lat\",\"lon\"",
        " lat , lon ", "lat;lon", "lat\tlon",
    ])
    func `usual names are recognized`(_ names: String) throws {
        let separator = names.contains(";") ? ";" : names.contains("\t") ? "\t" : ","
        let outcome = snap("\(names)\r\n47.5596\(separator)7.5886\r\n")
        #expect(outcome.rows == [header, try reducedColumns(47.5596, 7.5886)])
    }

    @Test func `keys times and named columns are kept in order and the rest is named`() throws {
        let input = """
            speed,time,LAT,note,device_id,lon,heart rate
            12.5,2026-03-01T08:00:00Z,47.5596,"a ""b"", c",7,7.5886,140
            13.5,,47.5596,plain,8,7.5886,141
            """
        let outcome = snap(input) { $0.keep = ["note"] }
        let reduced = try reducedColumns(47.5596, 7.5886)
        #expect(
            outcome.rows == [
                "time,note,device_id,\(header)", "2026-03-01T08:00:00Z,\"a \"\"b\"\", c\",7,\(reduced)",
                ",plain,8,\(reduced)",
            ])
        #expect(outcome.dropped == ["speed", "heart rate"])
    }

    @Test func `kept fields of other separators get the quotes they need`() throws {
        let outcome = snap("id\tlat\tlon\na,b\t1\t2\nc \"d\"\t1\t2\n") { $0.keep = [] }
        let reduced = try reducedColumns(1, 2)
        #expect(outcome.rows == ["id,\(header)", "\"a,b\",\(reduced)", "\"c \"\"d\"\"\",\(reduced)"])
    }

    @Test func `quoted line feeds stay within their record and count as lines`() throws {
        let outcome = snap("note,lat,lon\n\"a\nb\",1,2\nc,91,2\n") { ($0.onError, $0.keep) = (.skip, ["note"]) }
        #expect(outcome.text == "note,\(header)\n\"a\nb\",\(try reducedColumns(1, 2))\n")
        #expect(outcome.problems == [RecordProblem(line: 4, reason: .latitudeOutOfRange)])
    }

    @Test func `stray quotes do not swallow the following lines`() throws {
        let outcome = snap("id,lat,lon\n5'10\",1,2\nb,1,2\n")
        let reduced = try reducedColumns(1, 2)
        #expect(outcome.rows == ["id,\(header)", "\"5'10\"\"\",\(reduced)", "b,\(reduced)"])
    }

    @Test(arguments: [
        ("", RecordProblem.Reason.latitudeMissing), ("x", .latitudeUnreadable), ("90.0000001", .latitudeOutOfRange),
        ("nan", .latitudeUnreadable), ("1e999", .latitudeOutOfRange), ("\"\"", .latitudeMissing),
        ("4\u{0}7", .latitudeUnreadable),
    ])
    func `bad latitudes are told`(_ text: String, _ reason: RecordProblem.Reason) {
        let outcome = snap("id,lat,lon\n7,\(text),2\n")
        #expect(outcome.problems == [RecordProblem(line: 2, reason: reason)])
        #expect(outcome.rows == ["id,\(header)", ",,,,,,"])
    }

    @Test func `bad longitudes are told`() {
        let outcome = snap("lat,lon\n1,\n1,east\n1,1e999\n1,1e300\n1,-540.0001\n1,540\n")
        #expect(
            outcome.problems.map(\.reason) == [
                .longitudeMissing, .longitudeUnreadable, .longitudeOutOfRange, .longitudeOutOfRange,
                .longitudeOutOfRange,
            ])
    }

    @Test func `of two bad numbers the first columns is told`() {
        // With a quote somewhere, records are read in another way, and say the same.
        for name in ["name", "\"name\""] {
            #expect(snap("lat,lon,\(name)\n,x,\n1,2,\n").problems.map(\.reason) == [.latitudeMissing])
            #expect(snap("\(name),lon,lat\n,x,\n1,2,3\n").problems.map(\.reason) == [.longitudeUnreadable])
        }
    }

    @Test func `longitudes wrap`() throws {
        let outcome = snap("lat,lon\n10,370.5\n10,10.5\n10,-349.5\n")
        #expect(Set(outcome.rows.dropFirst()).count == 1)
    }

    @Test func `records of another shape are blanked whole`() {
        // A field too few: the latitude stands in the column of the times, and must not come out there.
        let outcome = snap("id,time,lat,lon\n7,47.5596,7.5886\n8,t,47.5596,7.5886,9\n")
        #expect(outcome.rows == ["id,time,\(header)", ",,,,,,,", ",,,,,,,"])
        #expect(
            outcome.problems.map(\.reason) == [
                .columnCount(expected: 4, found: 3), .columnCount(expected: 4, found: 5),
            ])
    }

    @Test func `policies`() throws {
        let input = "lat,lon\n1,2\nbad,2\n1,2\n"
        let reduced = try reducedColumns(1, 2)
        #expect(snap(input) { $0.onError = .blank }.rows == [header, reduced, ",,,,,", reduced])
        #expect(snap(input) { $0.onError = .skip }.rows == [header, reduced, reduced])
        let stopped = snap(input) { $0.onError = .stop }
        #expect(stopped.error == .stopped)
        #expect(stopped.problems == [RecordProblem(line: 3, reason: .latitudeUnreadable)])
        #expect(stopped.output.isEmpty)  // no half-written file
    }

    @Test func `mistakes in the header end the run`() {
        #expect(snap("a,b\n1,2\n").error == .noColumn(file: "input", axis: .latitude, columns: []))
        #expect(snap("lat,b\n1,2\n").error == .noColumn(file: "input", axis: .longitude, columns: ["lat", "b"]))
        #expect(snap("lat,lng,lon\n1,2,3\n").error == .ambiguousColumn(file: "input", name: "longitude"))
        #expect(
            snap("lat,lon\n1,2\n") { $0.keep = ["z"] }.error
                == .unknownColumn(file: "input", name: "z", columns: ["lat", "lon"]))
        #expect(snap("lat,lon\n1,2\n") { $0.keep = ["LAT"] }.error == .keepsPosition(name: "LAT"))
        #expect(snap("lat,lon,y\n1,2,3\n") { $0.keep = ["y"] }.error == .keepsPosition(name: "y"))
        #expect(
            snap("a,b,c\n1,2,3\n") {
                $0.csv.latitudeColumn = "a"
                $0.csv.longitudeColumn = "b"
                $0.keep = ["b"]
            }.error == .keepsPosition(name: "b"))
    }

    @Test func `overrides take precedence`() throws {
        let outcome = snap("lat,lon,breite,laenge\n9,9,47.5596,7.5886\n") {
            $0.csv.latitudeColumn = "Breite"
            $0.csv.longitudeColumn = "laenge"
        }
        #expect(outcome.rows == [header, try reducedColumns(47.5596, 7.5886)])
    }

    @Test func `records over the limit end the run`() {
        let limit = InputBuffer.maximumRecordBytes
        let long = "lat,lon,n\n1,2,3\n1,2,\(String(repeating: "x", count: limit))\n1,2,3\n"
        #expect(snap(long).error == .recordTooLong(file: "input", line: 3))
        let open = "lat,lon,n\n1,2,\"\(String(repeating: "x\n", count: limit))"
        #expect(snap(open).error == .recordTooLong(file: "input", line: 2))
        let fits = "lat,lon,n\n1,2,\(String(repeating: "x", count: limit - 5))\n"
        #expect(snap(fits).summary.written == 1)
        for chunk in [4096, 1 << 20, 4 << 20] {
            #expect(snap(long) { $0.readBytes = chunk }.error == .recordTooLong(file: "input", line: 3))
            #expect(snap(fits) { $0.readBytes = chunk }.summary.written == 1)
        }
    }

    @Test func `a quote left open at the end is a bad record and the lines behind it are read`() {
        let outcome = snap("id,lat,lon\na,1,2\n\"b,1,2\nc,1,2\n")
        #expect(outcome.problems == [RecordProblem(line: 3, reason: .quote)])
        #expect(outcome.summary.records == 3)
    }

    @Test func `files with the same columns follow each other`() throws {
        let scratch = Scratch()
        let first = scratch.write(Array("id,lat,lon\na,1,2\n".utf8), as: "first")
        let second = scratch.write(Array("lon,lat,id\n2,1,b\n".utf8), as: "second")
        let third = scratch.write(Array("1 2\n".utf8), as: "third")
        var outcome = observed(scratch) { output, observer throws(TraceError) in
            try SnapRun.run(
                [.file(first), .file(second)], to: output, atlas: worldAtlas, options: .init(), observer: observer)
        }
        let reduced = try reducedColumns(1, 2)
        #expect(outcome.rows == ["id,\(header)", "a,\(reduced)", "b,\(reduced)"])
        outcome = observed(scratch) { output, observer throws(TraceError) in
            try SnapRun.run(
                [.file(first), .file(third)], to: output, atlas: worldAtlas, options: .init(), observer: observer)
        }
        #expect(outcome.error == .headersDiffer(file: third))
    }

    @Test func `every point of a region gives the same bytes`() throws {
        // Contract C2 at the level of the output: rows differ only where regions do.
        var random = SplitMix64(seed: 3)
        var input = "lat,lon\n"
        var regions: [Region] = []
        for _ in 0..<2000 {
            let latitude = 31.5 + Double.random(in: 0..<0.5, using: &random)
            let longitude = -106.7 + Double.random(in: 0..<0.5, using: &random)
            let text = (String(format: "%.6f", latitude), String(format: "%.6f", longitude))
            regions.append(try worldAtlas.snap(latitude: Double(text.0)!, longitude: Double(text.1)!))
            input += "\(text.0),\(text.1)\n"
        }
        let rows = snap(input).rows.dropFirst()
        let byRegion = Dictionary(grouping: zip(regions, rows), by: { $0.0.index })
        #expect(byRegion.values.allSatisfy { Set($0.map(\.1)).count == 1 })
        #expect(Set(rows).count == byRegion.count)
    }
}
