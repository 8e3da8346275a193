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

    @Test func `a companion of another version does not go on`() throws {
        let place = Workplace()
        let result = try place.run(Self.companion, ["version"], environment: ["HEREABOUTS_CALLER": "0.1.0"])
        #expect(result.status == 2 && result.output.isEmpty)
        #expect(result.errors.contains("the command is of version 0.1.0, and its program "))
    }

    @Test func `a minus is standard output`() throws {
        let place = Workplace()
        let position = ["31.7619", "-106.4850"]
        let expected = try place.run(command, ["snap"] + position, environment: ["HEREABOUTS_ATLAS": atlasPath])
        let result = try place.run(
            command, ["snap", "-o", "-"] + position, environment: ["HEREABOUTS_ATLAS": atlasPath])
        #expect(result.output == expected.output && result.status == 0)
        place.write("time,lat,lon\n1700000000,48.2,16.3\n", as: "in.csv")
        let converted = try place.hereabouts("convert", "in.csv", "--to", "csv", "-o", "-", "--atlas", atlasPath)
        #expect(converted.status == 0 && converted.output.contains(",AT,"))
        let map = try place.hereabouts("atlas", "map", "--bounds", "6,49,7,50", "-o", "-", "--atlas", atlasPath)
        #expect(map.status == 0 && map.output.hasPrefix("<svg"))
        #expect(place.read("-") == nil)
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
