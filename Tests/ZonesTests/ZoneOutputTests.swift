import FixedRandom
import Foundation
import Hereabouts
import Testing
import Traces

@testable import Zones

/// What `convert` and `snap` write beside zones.
@Suite struct ZoneOutputTests {
    private static let home = Coordinate(latitude: 48.2082, longitude: 16.3738)
    private static let work = Coordinate(latitude: 48.08, longitude: 16.05)
    private static let start: Int64 = 1_772_000_100_000_000_000

    private static func withheld(around middle: Coordinate = home) throws -> WithheldRegions {
        WithheldRegions(
            try ZoneRegions([Zone(middle: middle, reachMeters: 200)], atlas: worldAtlas, atlasPath: atlasPath).all)
    }

    /// Nights at a home, days at work: a fix every ten minutes, errors of 5 m.
    private static func days(
        _ count: Int, home: Coordinate, seed: UInt64, from first: Int = 0
    ) -> [Fix] {
        var random = SplitMix64(seed: seed)
        return (first * 144..<(first + count) * 144).map { index in
            let isAtWork = (48..<108).contains(index % 144)
            return Fix(
                coordinate: random.place(within: 5, of: isAtWork ? work : home),
                time: Timestamp(nanosecondsSince1970: start + Int64(index) * 600_000_000_000))
        }
    }

    /// Contract C16 with zones: wherever in its region a home is, the bytes are the same, in every format and emission.
    @Test func `homes of one region give the same bytes`() throws {
        let zones = try Self.withheld()
        var random = SplitMix64(seed: 21)
        let core = region(at: Self.home)
        for format in TraceFormat.outputs {
            for emission in Emission.allCases {
                let configure = { (options: inout ConvertRun.Options) in options.emission = emission }
                let expected = try convert(
                    [csv(Self.days(2, home: Self.home, seed: 1))], zones: zones, to: format, configure)
                #expect(expected.count > 100)
                for _ in 0..<3 {
                    let other = random.place(in: core)
                    let text = csv(Self.days(2, home: other, seed: random.next()))
                    #expect(try convert([text], zones: zones, to: format, configure) == expected)
                }
            }
        }
    }

    /// No record, bound or count of the output is of a region around the zone.
    @Test func `nothing of the zones regions is written`() throws {
        let zones = try Self.withheld()
        let away = try #require(worldAtlas.reducedLocation(at: Self.work).place?.name)
        // KMZ is KML, compressed.
        for format in TraceFormat.outputs where format.name != "kmz" {
            for emission in Emission.allCases {
                let text = try convert([csv(Self.days(3, home: Self.home, seed: 1))], zones: zones, to: format) {
                    $0.emission = emission
                }
                #expect(!text.contains("Vienna") && text.contains(away))
                let without = try convert([csv(Self.days(3, home: Self.home, seed: 1))], zones: nil, to: format) {
                    $0.emission = emission
                }
                #expect(without.contains("Vienna"))
                // At work alone, for those who look at the records that are left.
                if emission == .changes {
                    let alone = Self.days(3, home: Self.home, seed: 1).filter {
                        meters($0.coordinate, Self.work) < 100
                    }
                    #expect(text == (try convert([csv(alone)], zones: zones, to: format)))
                }
            }
        }
    }

    /// A visit between two answers of one region leaves no trace: the second is not repeated.
    @Test func `the earlier answer stands`() throws {
        let rows = try convert([csv(Self.days(5, home: Self.home, seed: 1))], zones: Self.withheld())
            .split(separator: "\n")
        #expect(rows.count == 2)
    }

    /// A state goes on with the same zones, wherever a run ends; and with no others.
    @Test func `states keep their zones`() throws {
        let scratch = Scratch()
        let zones = try Self.withheld()
        let whole = try convert([csv(Self.days(4, home: Self.home, seed: 5))], zones: zones) {
            $0.emission = .recomputations
        }
        var pieces = ""
        for day in 0..<4 {
            let all = Self.days(4, home: Self.home, seed: 5)[day * 144..<(day + 1) * 144]
            let text = try convert([csv(Array(all))], zones: zones) {
                $0.emission = .recomputations
                $0.state = scratch.path("state")
            }
            pieces += day == 0 ? text : text.split(separator: "\n").dropFirst().map { $0 + "\n" }.joined()
        }
        #expect(pieces == whole)
        for other in [nil, try Self.withheld(around: Self.work)] {
            #expect(throws: TraceError.badState(file: scratch.path("state"), .otherAtlas)) {
                try convert([csv(Self.days(1, home: Self.home, seed: 5, from: 5))], zones: other) {
                    $0.state = scratch.path("state")
                }
            }
        }
    }

    /// Points without times, waypoints and devices with keys pass through the same place.
    @Test func `untimed and keyed fixes are withheld too`() throws {
        let zones = try Self.withheld()
        let untimed = "lat,lon\n48.08,16.05\n48.2082,16.3738\n48.21,16.375\n48.08,16.05\n"
        #expect(
            try convert([untimed], zones: zones) { $0.acceptsUntimed = true }.split(separator: "\n").count == 2)
        var keyed = "device_id,time,lat,lon\n"
        for index in 0..<20 {
            let time = Self.start + Int64(index) * 900_000_000_000
            keyed += "a,\(time),\(index < 10 ? "48.2082,16.3738" : "48.08,16.05")\nb,\(time),48.2082,16.3738\n"
        }
        for emission in Emission.allCases {
            let text = try convert([keyed], zones: zones) { $0.emission = emission }
            let rows = text.split(separator: "\n").dropFirst()
            // Fixes before the first tick have blank records, as without zones.
            #expect(rows.allSatisfy { $0.hasPrefix("a,") || $0.hasSuffix(",,,,,") })
            #expect(!text.contains("Vienna") && rows.count < 14)
        }
    }

    /// `snap`: one record out per record in; empty columns for the regions around the zone, for every region's text the
    /// same, in any order and with any number of threads.
    @Test func `snap writes empty columns`() throws {
        let zones = try Self.withheld()
        var random = SplitMix64(seed: 3)
        let places = (0..<3000).map { _ in random.place(within: 20_000, of: Self.home) }
        let text = "id,lat,lon\n" + places.enumerated().map { "\($0),\($1.latitude),\($1.longitude)\n" }.joined()
        for (format, blank) in [
            (TraceFormat.csv, ",,,,,"), (.ndjson, "\"region\":null"), (.geojson, "\"geometry\":null"),
        ] {
            func snap(_ zones: WithheldRegions?, threads: Int) throws -> [Substring] {
                let scratch = Scratch()
                var options = SnapRun.Options()
                (options.withheld, options.format, options.threads, options.readBytes) = (zones, format, threads, 4096)
                _ = try SnapRun.run(
                    [scratch.write(text, as: "input.csv")], to: try OutputFile.file(scratch.path("output")),
                    atlas: worldAtlas, options: options, observer: RunObserver())
                return scratch.read("output").split(separator: "\n")
            }
            let lines = try snap(zones, threads: 1), without = try snap(nil, threads: 1)
            #expect(lines == (try snap(zones, threads: 4)) && lines.count == without.count)
            let first = lines.count - places.count - (format == .geojson ? 1 : 0)
            var blanks = 0
            for (index, place) in places.enumerated() {
                let isWithheld = zones.contains(region(at: place))
                #expect(lines[first + index].contains(blank) == isWithheld)
                if !isWithheld { #expect(lines[first + index] == without[first + index]) }
                blanks += isWithheld ? 1 : 0
            }
            #expect(blanks > 100 && blanks < 2900)
        }
    }

    /// Formats without blank records have none for the regions around the zone.
    @Test(arguments: [TraceFormat.gpx, .kml]) func `snap leaves reports out`(_ format: TraceFormat) throws {
        let zones = try Self.withheld()
        var random = SplitMix64(seed: 4)
        let places = (0..<300).map { _ in random.place(within: 20_000, of: Self.home) }
        let scratch = Scratch()
        let text = "lat,lon\n" + places.map { "\($0.latitude),\($0.longitude)\n" }.joined()
        var options = SnapRun.Options()
        (options.withheld, options.format) = (zones, format)
        _ = try SnapRun.run(
            [scratch.write(text, as: "input.csv")], to: try OutputFile.file(scratch.path("output")),
            atlas: worldAtlas, options: options, observer: RunObserver())
        let regions = places.map { region(at: $0) }
        let output = scratch.read("output")
        let published = regions.filter { !zones.contains($0) }
        #expect(output.components(separatedBy: format == .gpx ? "<h:region>" : "<Point>").count - 1 == published.count)
        #expect(published.count > 10 && published.count < 290)
        for region in regions where zones.contains(region) { #expect(!output.contains("\(region)")) }
    }

    /// A folder's file is as it is alone.
    @Test func `a folder is withheld like a file`() throws {
        let zones = try Self.withheld()
        let day = csv(
            (0..<96).map { index in
                Fix(
                    coordinate: index % 24 < 12 ? Self.home : Coordinate(latitude: 48.08, longitude: 16.05),
                    time: Timestamp(nanosecondsSince1970: Self.start + Int64(index) * 900_000_000_000))
            })
        let scratch = Scratch()
        try FileManager.default.createDirectory(atPath: scratch.path("in"), withIntermediateDirectories: true)
        _ = scratch.write(day, as: "in/day.csv")
        var options = FolderRun.Options()
        options.format = .csv
        (options.convert.devices, options.keepsNames) = (.folder, true)
        (options.convert.withheld, options.convert.timeStyle) = (zones, TimeStyle(format: .unixNanoseconds))
        _ = try FolderRun.run(
            scratch.path("in"), to: scratch.path("out"), atlas: worldAtlas, options: options, observer: FolderObserver()
        )
        let alone = try convert([day], zones: zones), open = try convert([day], zones: nil)
        #expect(scratch.read("out/day.csv") == alone && alone.count < open.count)
    }
}
