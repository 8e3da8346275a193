import Foundation
import Testing

/// What standard error gets, and what it does not with `--quiet`.
@Suite struct NoticeTests {
    private static let table = "time,lat,lon,speed\n2026-05-01T08:10:00Z,48.2,16.3,3\n2026-05-01T08:40:00Z,x,16.3,3\n"

    private func run(_ place: Workplace, _ arguments: [String]) throws -> CommandResult {
        try place.run(command, arguments, environment: ["HEREABOUTS_ATLAS": atlasPath])
    }

    @Test(arguments: [["snap"], ["convert", "--to", "csv"]]) func quietLeavesOutNoticesAlone(_ verb: [String]) throws {
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

    @Test func quietIsForFoldersToo() throws {
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
}
