import FixedRandom
import Foundation
import Hereabouts
import Testing

@testable import Traces

/// What a run learns of its zones.
@Suite struct ZoneWatchTests {
    private static let home = Coordinate(latitude: 48.2082, longitude: 16.3738)

    /// Zones around places whose regions are withheld.
    private static func zones(_ places: [Coordinate]) throws -> WithheldRegions {
        WithheldRegions(
            Set(try places.map { try worldAtlas.snap(latitude: $0.latitude, longitude: $0.longitude) }),
            circles: places.map { ZoneCircle(middle: $0, reachMeters: 200) })
    }

    private static func exchanged(_ place: Coordinate) -> Coordinate {
        Coordinate(latitude: place.longitude, longitude: place.latitude)
    }

    private static func table(_ places: [Coordinate], key: String = "") -> String {
        "\(key.isEmpty ? "" : "id,")time,lat,lon\n"
            + places.enumerated().map { index, place in
                "\(key.isEmpty ? "" : key + ",")2026-05-01T\(10 + index):10:00Z,\(place.latitude),\(place.longitude)\n"
            }.joined()
    }

    private static func inputs(_ places: [Coordinate]) -> [String] {
        let gpx =
            "<gpx version=\"1.1\" creator=\"t\" xmlns=\"http://www.topografix.com/GPX/1/1\"><trk><trkseg>"
            + places.enumerated().map { index, place in
                "<trkpt lat=\"\(place.latitude)\" lon=\"\(place.longitude)\"><time>2026-05-01T\(10 + index):10:00Z</time></trkpt>"
            }.joined() + "</trkseg></trk></gpx>"
        let ndjson = places.enumerated().map { index, place in
            "{\"id\":\"a\",\"time\":\"2026-05-01T\(10 + index):10:00Z\",\"lat\":\(place.latitude),\"lon\":\(place.longitude)}\n"
        }.joined()
        return [table(places), table(places, key: "van"), gpx, ndjson]
    }

    @Test func `exchanged zones are refused`() throws {
        let away = Coordinate(latitude: 48.9, longitude: 17.2)
        let zones = try Self.zones([Self.exchanged(Self.home)])
        for input in Self.inputs([away, Self.home, away]) {
            for threads in [1, 3] {
                let outcome = convert(input) {
                    ($0.format, $0.withheld, $0.threads, $0.readBytes) = (.csv, zones, threads, 16)
                }
                #expect(outcome.error == .zonesExchanged && outcome.output.isEmpty)
                let snapped = snap(input) {
                    ($0.format, $0.withheld, $0.threads, $0.readBytes) = (.csv, zones, threads, 16)
                }
                #expect(snapped.error == .zonesExchanged && snapped.output.isEmpty)
            }
        }
    }

    @Test func `one zone that is near is enough`() throws {
        let zones = try Self.zones([Self.exchanged(Self.home), Self.home])
        for input in Self.inputs([Coordinate(latitude: 48.9, longitude: 17.2), Self.home]) {
            let outcome = convert(input) { ($0.format, $0.withheld) = (.csv, zones) }
            #expect(outcome.error == nil && outcome.notices.allSatisfy { $0 != .nothingWithheld })
            #expect(outcome.rows.count == 2)
        }
    }

    @Test func `where no answer is withheld a notice says so`() throws {
        let sydney = Coordinate(latitude: -33.87, longitude: 151.21)
        for input in Self.inputs([Self.home]) {
            for (place, isIdle) in [(sydney, true), (Self.home, false)] {
                let zones = try Self.zones([place])
                let converted = convert(input) { ($0.format, $0.withheld) = (.csv, zones) }
                let snapped = snap(input) { ($0.format, $0.withheld) = (.csv, zones) }
                for outcome in [converted, snapped] {
                    #expect(outcome.error == nil && outcome.notices.contains(.nothingWithheld) == isIdle)
                }
            }
            #expect(!convert(input) { $0.format = .csv }.notices.contains(.nothingWithheld))
        }
    }

    /// Of all files of a run, and of a folder.
    @Test func `it is of all files together`() throws {
        let away = Coordinate(latitude: 48.9, longitude: 17.2)
        let zones = try Self.zones([Self.home])
        let files = [[away], [away, Self.home]].enumerated().map { ("\($0).csv", Array(Self.table($1, key: "v").utf8)) }
        #expect(!convert(files) { ($0.format, $0.withheld) = (.csv, zones) }.notices.contains(.nothingWithheld))
        #expect(convert([files[0]]) { ($0.format, $0.withheld) = (.csv, zones) }.notices.contains(.nothingWithheld))
        let scratch = Scratch()
        for (name, bytes) in files { _ = scratch.write(bytes, as: "in/\(name)") }
        func run(_ zones: WithheldRegions, to output: String = "out") throws -> FolderSummary {
            var options = FolderRun.Options()
            (options.format, options.convert.devices, options.convert.withheld) = (.csv, .folder, zones)
            options.convert.threads = 2
            return try FolderRun.run(
                scratch.path("in"), to: scratch.path(output), atlas: worldAtlas, options: options,
                observer: FolderObserver())
        }
        #expect(throws: TraceError.zonesExchanged) { try run(try Self.zones([Self.exchanged(Self.home)])) }
        #expect((try? FileManager.default.subpathsOfDirectory(atPath: scratch.path("out"))) ?? [] == [])
        #expect(try !run(zones).hasWithheldNothing)
        #expect(try run(try Self.zones([Coordinate(latitude: -33, longitude: 151)]), to: "other").hasWithheldNothing)
    }

    /// Against the law of cosines, everywhere, near 100 km and across the antimeridian.
    @Test(arguments: 0..<4) func `what is near is within a hundred kilometers`(_ seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        func meters(_ a: Coordinate, _ b: Coordinate) -> Double {
            let (p, q) = (a.latitude * .pi / 180, b.latitude * .pi / 180)
            let cosine = sin(p) * sin(q) + cos(p) * cos(q) * cos((a.longitude - b.longitude) * .pi / 180)
            return acos(min(1, max(-1, cosine))) * 6_371_010
        }
        var near = 0
        for _ in 0..<20_000 {
            let zone = Coordinate(latitude: random.uniform(-90, 90), longitude: random.uniform(-180, 180))
            let reach = random.uniform(1, 50_000)
            let circle = ZoneCircle(middle: zone, reachMeters: reach)
            let isTurned = seed % 2 == 1 && zone.longitude.magnitude <= 90
            let middle = isTurned ? Self.exchanged(zone) : zone
            let scale = 1.5 / max(0.02, cos(middle.latitude * .pi / 180))
            let fix = Coordinate(
                latitude: min(90, max(-90, middle.latitude + random.uniform(-1.5, 1.5))),
                longitude: middle.longitude + random.uniform(-scale, scale) + [0, 360, -360][Int(random.next() % 3)])
            guard fix.longitude.magnitude <= 540 else { continue }
            let distance = meters(middle, fix)
            guard (distance - 100_000 - reach).magnitude > 100 else { continue }
            let watch = ZoneWatch([circle])
            watch.look(at: [fix, Coordinate(latitude: .nan, longitude: .nan)])
            let isNear = distance < 100_000 + reach
            near += isNear ? 1 : 0
            if isTurned {
                let isNearWritten = meters(zone, fix) < 100_000 + reach
                #expect(watch.mayBeExchanged == (isNear && !isNearWritten))
            } else if isNear {
                #expect(!watch.mayBeExchanged)
                // Nothing that comes later changes that.
                watch.look(at: [Self.exchanged(zone)])
                #expect(!watch.mayBeExchanged)
            }
        }
        #expect(near > 1_000)
    }

    @Test func `nothing shows where zones are`() throws {
        let zones = try Self.zones([Self.home]).begun()
        var text = ""
        dump(zones, to: &text)
        dump(ZoneCircle(middle: Self.home, reachMeters: 200), to: &text)
        text += "\(zones) \(TraceError.zonesExchanged)"
        #expect(!text.contains("48.2") && !text.contains("16.37"))
    }
}
