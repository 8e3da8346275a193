import Foundation
import Hereabouts
import Testing

@testable import Traces

/// Columns `x` and `y` are coordinates where somebody says so.
@Suite struct BareAxesTests {
    private static func convert(_ text: String, _ change: (inout ConvertRun.Options) -> Void = { _ in }) -> Outcome {
        TracesTests.convert(text) {
            $0.format = .csv
            change(&$0)
        }
    }

    @Test(arguments: [
        ("time,seconds_elapsed,z,y,x\n1777623000100000000,0.2,9.71,0.31,-0.12\n", "x", "y"),
        ("Time;X;Y\n2026-05-01T08:00:00Z;512;384\n", "X", "Y"),
        ("id\ttime\t# x\ty \n7\t2026-05-01T08:00:00Z\t1822697.2\t6141571.1\n", "# x", "y"),
        ("{\"time\":\"2026-05-01T08:00:00Z\",\"x\":16.37,\"y\":48.2}\n", "x", "y"),
    ]) func `they are refused by their names`(_ input: (text: String, x: String, y: String)) {
        let error = TraceError.bareAxes(file: "input0", x: input.x, y: input.y)
        #expect(Self.convert(input.text).error == error)
        #expect(snap(input.text).error == .bareAxes(file: "input", x: input.x, y: input.y))
        #expect(error.description.contains("columns \(input.x) and \(input.y)"))
    }

    @Test func `an option makes them coordinates`() throws {
        let expected = try reducedColumns(48.2082, 16.3738)
        for (names, row) in [("x,y", "16.3738,48.2082"), ("Y,X", "48.2082,16.3738")] {
            let outcome = snap("\(names)\n\(row)\n") {
                $0.csv = CSVOptions(latitudeColumn: "y", longitudeColumn: "x")
            }
            #expect(outcome.rows.last == expected)
        }
    }

    /// A reference system makes them eastings and northings.
    @Test func `a reference system does`() throws {
        let plain = CoordinateReference(name: "plain") { { _ in } }
        let outcome = snap("x,y\n16.3738,48.2082\n") { $0.csv.reference = .named(plain) }
        #expect(outcome.rows.last == (try reducedColumns(48.2082, 16.3738)))
    }

    @Test func `other names go before them`() throws {
        let expected = try reducedColumns(48.2082, 16.3738)
        for (header, row) in [
            ("x,y,lat,lon", "1,2,48.2082,16.3738"), ("y,x,wkt", "1,2,POINT(16.3738 48.2082)"),
            ("x,longitude,y,lat", "1,16.3738,2,48.2082"), ("x,y,latlng", "1,2,\"48.2082,16.3738\""),
        ] {
            #expect(snap("\(header)\n\(row)\n").rows.last == expected, "\(header)")
        }
        // One that is missing is asked for.
        #expect(
            snap("x,y,lat\n1,2,3\n").error
                == .noColumn(file: "input", axis: .longitude, columns: ["x", "y", "lat"]))
        #expect(snap("x,n\n1,2\n").error == .noColumn(file: "input", axis: .latitude, columns: []))
    }

    // MARK: Folders

    private static let location =
        "time,seconds_elapsed,altitude,longitude,latitude\n1777623000000000000,0.1,171,16.3738,48.2082\n"
        + "1777626120000000000,3120.1,171,16.4838,48.4182\n"

    private func run(_ scratch: Scratch, _ change: (inout FolderRun.Options) -> Void = { _ in }) throws -> FolderSummary
    {
        var options = FolderRun.Options()
        (options.format, options.convert.devices) = (.csv, .folder)
        change(&options)
        return try FolderRun.run(
            scratch.path("in"), to: scratch.path("out"), atlas: worldAtlas, options: options,
            observer: FolderObserver())
    }

    @Test func `tables without coordinates are no recordings`() throws {
        let scratch = Scratch()
        for (name, text) in [
            ("Accelerometer.csv", "time,seconds_elapsed,z,y,x\n1777623000100000000,0.2,9.71,0.31,-0.12\n"),
            ("Annotation.csv", "time,seconds_elapsed,text\n1777623000000000000,0.1,\"left home, Secret Street\"\n"),
            ("Location.csv", Self.location), ("notes.txt", "I was here\n"),
            ("Gyroscope.tsv", "time\tz\ty\tx\n1\t2\t3\t4\n"),
            ("empty.csv", ""),
        ] {
            _ = scratch.write(Array(text.utf8), as: "in/\(name)")
        }
        let summary = try run(scratch)
        #expect(summary.failed == 0 && summary.skipped == ["not a recording": 4])
        #expect(summary.records.records == 2 && scratch.names == ["in", "out"])
        let outputs = try FileManager.default.contentsOfDirectory(atPath: scratch.path("out")).sorted()
        #expect(outputs == ["Location.csv", "empty.csv"])
    }

    /// A table with coordinates that lacks something else is a recording that cannot be read.
    @Test func `recordings that cannot be read are failures`() throws {
        let scratch = Scratch()
        _ = scratch.write(Array(Self.location.utf8), as: "in/a.csv")
        _ = scratch.write(Array("lat,lon\n1,2\n".utf8), as: "in/untimed.csv")
        _ = scratch.write(Array("lat,lat,lon\n1,2,3\n".utf8), as: "in/twice.csv")
        #expect(try run(scratch).failed == 2)
        // Named columns that a table lacks may be a slip of the pen.
        let named = try run(scratch) {
            $0.convert.csv = CSVOptions(latitudeColumn: "breite", longitudeColumn: "laenge")
        }
        #expect(named.converted == 0 && named.failed == 3)
    }

    @Test func `options make them recordings`() throws {
        let scratch = Scratch()
        _ = scratch.write(Array("time,x,y\n2026-05-01T08:10:00Z,16.3738,48.2082\n".utf8), as: "in/a.csv")
        #expect(try run(scratch).skipped == ["not a recording": 1])
        let named = try run(scratch) { $0.convert.csv = CSVOptions(latitudeColumn: "y", longitudeColumn: "x") }
        #expect(named.converted == 1 && named.skipped.isEmpty)
    }
}
