import Foundation
import Hereabouts
import Testing

@testable import Traces

/// Beside zones neither the names of a folder's outputs nor which of them there are tell more than the answers do.
@Suite struct ZonedFolderTests {
    private let folder = FolderTests()

    /// The regions of the drive's first hour and a quarter.
    private static func zones(minutes: Range<Int> = 0..<75) throws -> WithheldRegions {
        WithheldRegions(
            Set(
                try FolderTests.drive[minutes].map {
                    try worldAtlas.snap(latitude: $0.latitude, longitude: $0.longitude)
                }))
    }

    /// A part of the drive, on a day after that.
    private func write(_ minutes: Range<Int>, day: Int = 0, as name: String) {
        let fixes = FolderTests.drive[minutes].map { ($0.seconds + day * 86_400, $0.latitude, $0.longitude) }
        _ = folder.scratch.write(FolderTests.gpx(fixes), as: "in/\(name)")
    }

    private func run(
        to output: String = "out", _ zones: WithheldRegions?, _ change: (inout FolderRun.Options) -> Void = { _ in }
    ) throws -> FolderSummary {
        try folder.run(to: output) {
            $0.convert.withheld = zones
            change(&$0)
        }
    }

    private func outputs(_ output: String = "out") -> [String: [UInt8]] {
        let names = (try? FileManager.default.subpathsOfDirectory(atPath: folder.scratch.path(output))) ?? []
        return Dictionary(
            uniqueKeysWithValues: names.filter { $0.hasSuffix(".csv") }.map {
                ($0, folder.scratch.read("\(output)/\($0)") ?? [])
            })
    }

    private var mark: String {
        String(decoding: folder.scratch.read("out/\(RunMark.name)") ?? [], as: UTF8.self)
    }

    private func writeAll() {
        write(0..<60, as: "2026-03-01_00-00-07_gym.gpx")
        write(180..<240, as: "a.gpx")
        write(120..<180, as: "sub/b.gpx")
        write(120..<180, day: 1, as: "c.gpx")
    }

    @Test func `outputs have dates and numbers and none is empty`() throws {
        writeAll()
        let summary = try run(try Self.zones())
        #expect(summary.converted == 4 && summary.failed == 0 && summary.namesWithTimes == 0)
        let named = outputs()
        #expect(named.keys.sorted() == ["2026-03-01-1.csv", "2026-03-01-2.csv", "2026-03-02-1.csv"])
        // The same answers as by the inputs' names.
        let kept = try run(to: "kept", try Self.zones()) { $0.keepsNames = true }
        #expect(kept.namesWithTimes == 0)
        let byInput = outputs("kept")
        #expect(byInput.keys.sorted() == ["a.csv", "c.csv", "sub/b.csv"])
        #expect(named["2026-03-01-1.csv"] == byInput["sub/b.csv"] && named["2026-03-01-2.csv"] == byInput["a.csv"])
        #expect(named["2026-03-02-1.csv"] == byInput["c.csv"])
        // The mark stays, and has the input without answers too.
        #expect(mark.contains(" ended zones=") && mark.contains(" 2026-03-01_00-00-07_gym.gpx= "))
        #expect(mark.contains(" sub/b.gpx=2026-03-01-1.csv") && summary.map?.hasSuffix(RunMark.name) == true)
        // Without zones it goes, and all inputs have outputs, one of which is named by the second of departure.
        let open = try run(to: "open", nil)
        #expect(open.namesWithTimes == 1 && open.map == nil && outputs("open").count == 4)
        #expect(folder.scratch.read("open/\(RunMark.name)") == nil)
    }

    @Test func `persons' folders stay and a dry run tells the names`() throws {
        write(120..<180, as: "ann/2026-03-01_02-00-07.gpx")
        write(180..<240, as: "ann/deep/x.gpx")
        write(120..<180, as: "bob/x.gpx")
        write(0..<60, as: "eve/x.gpx")
        final class Notes { var outputs: [String?] = [] }
        let notes = Notes()
        for isDry in [true, false] {
            _ = try folder.run(
                "in", to: "out",
                { ($0.convert.withheld, $0.convert.devices, $0.isDry) = (try? Self.zones(), .subfolders, isDry) },
                observer: FolderObserver(written: { notes.outputs.append($0.output) }))
            #expect(outputs().isEmpty == isDry)
        }
        let names = ["ann/2026-03-01-1.csv", "ann/2026-03-01-2.csv", "bob/2026-03-01-1.csv"]
        #expect(outputs().keys.sorted() == names && notes.outputs == names + [nil] + names + [nil])
    }

    @Test func `an output whose input has no answer any more is removed`() throws {
        writeAll()
        _ = try run(try Self.zones())
        let before = outputs()
        write(0..<60, as: "sub/b.gpx")
        _ = try run(try Self.zones())
        #expect(outputs().keys.sorted() == ["2026-03-01-1.csv", "2026-03-02-1.csv"])
        #expect(outputs()["2026-03-01-1.csv"] == before["2026-03-01-2.csv"])
        #expect(mark.hasSuffix(" sub/b.gpx=\n") && !mark.contains(" ="))
        // That of an input that is not read any more stays, and so does its name.
        try FileManager.default.removeItem(atPath: folder.scratch.path("in/a.gpx"))
        write(120..<180, as: "sub/b.gpx")
        _ = try run(try Self.zones())
        #expect(outputs().keys.sorted() == ["2026-03-01-1.csv", "2026-03-01-2.csv", "2026-03-02-1.csv"])
        #expect(outputs()["2026-03-01-1.csv"] == before["2026-03-01-2.csv"])
    }

    /// What stays, and which ticks are reserved, goes by the mark: also those of inputs that have no output.
    @Test func `existing outputs stay and inputs without answers reserve their ticks`() throws {
        writeAll()
        _ = try run(try Self.zones())
        let before = outputs()
        // Fixes at the ticks of the input without answers, and where nothing is withheld; and others.
        let elsewhere = FolderTests.drive[0..<60].map { ($0.seconds + 20, $0.latitude - 8, $0.longitude) }
        _ = folder.scratch.write(FolderTests.gpx(elsewhere), as: "in/again.gpx")
        write(75..<118, as: "late.gpx")
        let summary = try run(try Self.zones()) { ($0.skipsExisting, $0.convert.acceptsJumps) = (true, true) }
        #expect(summary.kept == 3 && summary.reserved == 60)
        var after = outputs()
        let new = after.removeValue(forKey: "2026-03-01-3.csv")
        #expect(after == before && new != nil)
        // Anew, all are named in order of their first ticks.
        _ = try run(try Self.zones()) { $0.convert.acceptsJumps = true }
        #expect(outputs()["2026-03-01-2.csv"] == new && outputs().count == 5)
    }

    @Test func `what an interrupted run left is completed under its names`() throws {
        writeAll()
        _ = try run(try Self.zones())
        let complete = outputs()
        for name in complete.keys.sorted() {
            try FileManager.default.removeItem(atPath: folder.scratch.path("out/\(name)"))
            _ = folder.scratch.write(
                Array(mark.replacingOccurrences(of: " ended ", with: " adding ").utf8), as: "out/\(RunMark.name)")
            let summary = try run(try Self.zones()) { $0.skipsExisting = true }
            #expect(summary.kept == 2 && summary.reserved == 0 && outputs() == complete)
        }
        // Of one that replaced outputs nothing stays.
        _ = folder.scratch.write(
            Array(mark.replacingOccurrences(of: " ended ", with: " replacing ").utf8), as: "out/\(RunMark.name)")
        #expect(try run(try Self.zones()) { $0.skipsExisting = true }.kept == 0)
        #expect(outputs() == complete)
    }

    @Test func `outputs with and without zones are not mixed`() throws {
        writeAll()
        let refused = TraceError.otherZones(folder.scratch.path("out"))
        _ = try run(nil)
        let before = outputs()
        for isDry in [false, true] {
            #expect(throws: refused) { try run(try Self.zones()) { $0.isDry = isDry } }
        }
        #expect(outputs() == before)
        try FileManager.default.removeItem(atPath: folder.scratch.path("out"))
        _ = try run(try Self.zones())
        #expect(throws: refused) { try run(nil) }
        #expect(throws: refused) { try run(try Self.zones(minutes: 0..<50)) }
        // What could be no output is no matter, and neither are other settings.
        _ = folder.scratch.write(Array("notes".utf8), as: "out/notes.txt")
        _ = try run(try Self.zones()) { $0.convert.interval = .seconds(1800) }
        _ = folder.scratch.write(Array("time,lat,lon\n".utf8), as: "out/other.csv")
        #expect(throws: refused) { try run(try Self.zones()) }
    }

    @Test(arguments: [
        ("2026-03-02_07-32-10_gym.gpx", true), ("20260302T0732.csv", true), ("a/Ride 2026-03-02 07.32.gpx.gz", true),
        ("track-20260302-073210.kml", true), ("20260302073210.csv", true), ("2026-03-02-1.gpx", false),
        ("2026-03-02.gpx", false), ("2026-03-02-25-10.csv", false), ("ride.gpx", false), ("123456789012.csv", false),
        ("2026-03-02_07-32/ride.gpx", false),
    ]) func `names that hold a time of day`(_ name: String, _ holdsTime: Bool) {
        #expect(OutputNames.holdsTime(name) == holdsTime)
    }
}
