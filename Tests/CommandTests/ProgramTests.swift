import CommandSupport
import Foundation
import Testing

/// The two programs of the command: `hereabouts`, and `hereabouts-atlas`, which links GEOS and PROJ.
@Suite struct ProgramTests {
    private static let companion = command.deletingLastPathComponent().appendingPathComponent("hereabouts-atlas")

    /// Both have `snap` and `convert`, and answer alike, help and errors included.
    @Test(arguments: [
        ["snap", "31.7619", "-106.4850"],
        ["snap", "table.csv"],
        ["snap", "table.csv", "--to", "ndjson", "--keep", "note"],
        ["snap", "--help"], ["convert", "--help"], ["--help"], ["help", "convert"],
        ["convert", "ride.gpx", "--to", "csv"],
        ["convert", "ride.gpx", "--to", "geojson", "--emit", "recomputations"],
        ["convert", "table.csv", "--to", "csv"],
        ["convert", "missing.gpx", "--to", "csv"],
        ["snap", "--no-such-option"],
    ]) func `both programs answer alike`(_ arguments: [String]) throws {
        let place = Workplace()
        place.write(
            "id,time,lat,lon,note\na,2026-03-01T08:00:00Z,48.2082,16.3738,x\nb,2026-03-01T08:20:00Z,91,16,y\n",
            as: "table.csv")
        let points = (0..<90).map { minute in
            let latitude = 48.2082 + Double(minute) * 0.002
            let time =
                "2026-03-01T\(8 + minute / 60 < 10 ? "0" : "")\(8 + minute / 60):"
                + "\(minute % 60 < 10 ? "0" : "")\(minute % 60):00Z"
            return "<trkpt lat=\"\(latitude)\" lon=\"16.3738\"><time>\(time)</time></trkpt>"
        }
        place.write(
            "<gpx version=\"1.1\" xmlns=\"http://www.topografix.com/GPX/1/1\"><trk><trkseg>"
                + points.joined(separator: "\n") + "</trkseg></trk></gpx>", as: "ride.gpx")
        let environment = ["HEREABOUTS_ATLAS": atlasPath, "COLUMNS": "80"]
        let first = try place.run(command, arguments, environment: environment)
        let second = try place.run(Self.companion, arguments, environment: environment)
        #expect(first.output == second.output)
        #expect(first.errors == second.errors)
        #expect(first.status == second.status)
        #expect(!(first.output + first.errors).isEmpty)
    }

    @Test(arguments: [command, companion]) func `no program leaves positions in a core file`(_ program: URL) throws {
        #if os(Linux)
            #expect(try Workplace().dumpRefusal(of: program) == nil)
        #endif
    }

    @Test(arguments: [command, companion]) func `limits too low to work with are said`(_ program: URL) throws {
        try Workplace().checkLimits(of: program)
    }

    /// What `snap` starts with: no GEOS and no PROJ.
    @Test func `only the companion links the libraries`() throws {
        let place = Workplace()
        for (program, expected) in [(command, false), (Self.companion, true)] {
            let list = try place.run(URL(fileURLWithPath: "/usr/bin/ldd"), [program.path])
            try #require(list.status == 0)
            #expect(list.output.contains("libgeos") == expected)
            #expect(list.output.contains("libproj") == expected)
        }
    }
}
