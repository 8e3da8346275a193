import CommandSupport
import Foundation
import Testing

/// What standard error gets, and what it does not with `--quiet`.
@Suite struct NoticeTests {
    private static let table = "time,lat,lon,speed\n2026-05-01T08:10:00Z,48.2,16.3,3\n2026-05-01T08:40:00Z,x,16.3,3\n"

    private func run(_ place: Workplace, _ arguments: [String]) throws -> CommandResult {
        try place.run(command, arguments, environment: ["HEREABOUTS_ATLAS": atlasPath])
    }

    @Test(arguments: [["snap"], ["convert", "--to", "csv"]]) func `quiet leaves out notices alone`(_ verb: [String])
        throws
    {
        let place = Workplace()
        place.write(Self.table, as: "a.csv")
        let told = try run(place, verb + ["a.csv"]), quiet = try run(place, verb + ["--quiet", "a.csv"])
        #expect(told.status == 1 && quiet.status == 1 && told.output == quiet.output)
        #expect(told.errors.contains("speed") && !quiet.errors.contains("speed"))
        for errors in [told.errors, quiet.errors] {
            #expect(
                errors.contains("a.csv:3: the latitude is not a number") && errors.contains("1 of 2 records were bad"))
        }
        let failed = try run(place, verb + ["--quiet", "--latitude-column", "none", "a.csv"])
        #expect(failed.status == 2 && failed.errors.contains("a.csv: the header has no column"))
    }

    @Test func `quiet is for folders too`() throws {
        let place = Workplace()
        try FileManager.default.createDirectory(atPath: place.path("in"), withIntermediateDirectories: true)
        place.write(Self.table, as: "in/a.csv")
        let told = try run(place, ["convert", "in", "-o", "out", "--to", "csv"])
        let quiet = try run(place, ["convert", "in", "-o", "out", "--to", "csv", "--quiet"])
        #expect(told.status == 1 && quiet.status == 1)
        #expect(told.errors.contains("speed") && !quiet.errors.contains("speed"))
        #expect(
            quiet.errors.contains("in/a.csv:3: the latitude is not a number") && quiet.errors.contains("1 files conv"))
    }

    // MARK: Zones

    private static let ride =
        "time,lat,lon\n2026-05-01T08:10:00Z,48.2082,16.3738\n2026-05-01T08:31:00Z,48.2582,16.4738\n"
        + "2026-05-01T09:31:00Z,49.2582,17.4738\n"

    @Test func `the notice of zones says their countries`() throws {
        let place = Workplace()
        place.write(Self.ride, as: "ride.csv")
        place.write("48.2082,16.3738,200\n46.0569,14.5058,300\n48.3,14.28,200\n", as: "zones.csv")
        let told = try run(place, ["convert", "--to", "csv", "--zones", "zones.csv", "ride.csv"])
        #expect(told.status == 0 && told.errors.contains("regions are around zones in AT, SI and withheld"))
        #expect(!told.errors.contains("nothing was withheld"))
        let quiet = try run(place, ["convert", "--to", "csv", "--zones", "zones.csv", "--quiet", "ride.csv"])
        #expect(quiet.status == 0 && quiet.errors.isEmpty && quiet.output == told.output)
    }

    /// The zones are in Yemen as they are written.
    @Test(arguments: [
        ("16.3738,48.2082,200\n", "zones.csv"), ("lat,lon,radius\n1,2,30\n16.3738,48.2082,200\n", "zones.csv"),
        (
            "{\"type\":\"Feature\",\"properties\":{\"radius\":200},"
                + "\"geometry\":{\"type\":\"Point\",\"coordinates\":[48.2082,16.3738]}}", "zones.geojson"
        ),
    ]) func `exchanged zones are refused`(_ zones: (text: String, name: String)) throws {
        let place = Workplace()
        place.write(Self.ride, as: "ride.csv")
        place.write(zones.text, as: zones.name)
        place.write("before\n", as: "out.csv")
        for arguments in [
            ["convert", "--to", "csv"], ["snap"], ["convert", "-o", "out.csv"], ["snap", "-o", "out.csv"],
            ["convert", "--to", "csv", "--state", "s.pace"],
        ] {
            let result = try run(place, arguments + ["--zones", zones.name, "ride.csv"])
            #expect(result.status == 2 && result.errors.contains("zones may have longitude first"))
            #expect(result.errors.contains("in ") && result.errors.contains("YE"))
            // Not a region; of `snap` the header may be there.
            #expect(!result.output.contains("AT") && result.output.split(separator: "\n").count <= 1)
            #expect(place.read("out.csv") == "before\n")
        }
    }

    /// Keyed answers go out as they come: these wait until it is clear that the zones are right.
    @Test func `standard output waits while zones may be exchanged`() throws {
        let place = Workplace()
        var rows = ""
        for index in 0..<20_000 {
            let minute = index % 60, hour = index / 60 % 24, day = 1 + index / 1440
            rows += "van\(index % 7),2026-05-\(day < 10 ? "0" : "")\(day)T\(hour < 10 ? "0" : "")\(hour):"
            rows += "\(minute < 10 ? "0" : "")\(minute):00Z,48.\(20 + index % 70),16.3738\n"
        }
        place.write("id,time,lat,lon\n" + rows, as: "exchanged.csv")
        place.write("id,time,lat,lon\n" + rows + "bus,2026-05-20T00:00:00Z,16.9,48.9\n", as: "both.csv")
        place.write("16.3738,48.2082,200\n", as: "zones.csv")
        for verb in [["convert", "--to", "csv"], ["snap"]] {
            let refused = try run(place, verb + ["--zones", "zones.csv", "exchanged.csv"])
            #expect(refused.status == 2 && refused.output.split(separator: "\n").count <= 1)
            let read = try run(place, verb + ["--zones", "zones.csv", "both.csv"])
            let plain = try run(place, verb + ["both.csv"])
            #expect(read.status == 0 && read.output == plain.output && read.output.contains("bus,"))
            #expect(read.errors.contains("nothing was withheld"))
        }
    }

    @Test func `zones far from all fixes withhold nothing`() throws {
        let place = Workplace()
        place.write(Self.ride, as: "ride.csv")
        try FileManager.default.createDirectory(atPath: place.path("in"), withIntermediateDirectories: true)
        place.write(Self.ride, as: "in/ride.csv")
        place.write("-33.87,151.21,200\n", as: "zones.csv")
        for arguments in [
            ["convert", "--to", "csv", "ride.csv"], ["snap", "ride.csv"],
            ["convert", "in", "-o", "out", "--to", "csv"],
        ] {
            let result = try run(place, arguments + ["--zones", "zones.csv"])
            #expect(result.status == 0 && result.errors.contains("nothing was withheld"))
        }
        place.write("16.3738,48.2082,200\n", as: "zones.csv")
        let refused = try run(place, ["convert", "in", "-o", "other", "--to", "csv", "--zones", "zones.csv"])
        #expect(
            refused.status == 2
                && (try? FileManager.default.subpathsOfDirectory(atPath: place.path("other"))) ?? [] == [])
    }
}
