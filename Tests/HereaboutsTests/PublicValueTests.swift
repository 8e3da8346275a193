import FixedRandom
import Foundation
import Hereabouts
import Testing

/// Times, identifiers and rows, as those outside have them.
@Suite struct PublicValueTests {
    // MARK: Time

    /// Foundation's own reader and writer, for whole seconds.
    @Test func `times are texts of ISO 8601 and back`() throws {
        var random = SplitMix64(seed: 61)
        for _ in 0..<20_000 {
            let time = Timestamp(nanosecondsSince1970: .random(in: .min ... .max, using: &random))
            #expect(Timestamp("\(time)") == time)
            let whole = try #require(
                Timestamp(secondsSince1970: .random(in: -9_223_372_036...9_223_372_036, using: &random)))
            let date = Date(whole)
            #expect("\(whole)" == date.formatted(.iso8601))
            let zone = try #require(TimeZone(secondsFromGMT: .random(in: -1_079...1_079, using: &random) * 60))
            let style = Date.ISO8601FormatStyle(timeZoneSeparator: .colon, timeZone: zone)
            #expect(Timestamp(date.formatted(style)) == whole)
        }
        #expect(Timestamp("2026-09-21T14:15:00.25Z")?.nanosecondsSince1970 == 1_790_000_100_250_000_000)
        #expect(Timestamp("2026-09-21 16:15:00,250000000999+02:00") == Timestamp("2026-09-21T14:15:00.25Z"))
        for text in [
            "", "2026-09-21", "2026-09-21T14:15:00", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
            "2026-09-21T24:00:00Z",
            "2026-09-21T14:60:00Z", "2026-09-21T14:15:60Z", "2026-09-21T14:15:00.Z", "2026-09-21T14:15:00Z ",
            "2026-09-21T14:15:00+2", "2026-09-21T14:15:00+24:00", "1677-09-21T00:12:43Z", "2262-04-11T23:47:17Z",
            "９026-09-21T14:15:00Z", "+026-09-21T14:15:00Z",
        ] { #expect(Timestamp(text) == nil, "\(text)") }
    }

    @Test func `times and durations, within the range`() {
        var random = SplitMix64(seed: 62)
        for _ in 0..<2_000 {
            let time = Timestamp(nanosecondsSince1970: .random(in: .min ... .max, using: &random))
            let other = Timestamp(nanosecondsSince1970: .random(in: .min ... .max, using: &random))
            #expect(time + time.duration(to: other) == other)
            #expect(other - time == time.duration(to: other) && (time < other) == (other - time > .zero))
        }
        let end = Timestamp(nanosecondsSince1970: .max), begin = Timestamp(nanosecondsSince1970: .min)
        #expect(end + .seconds(Int64.max) == end && begin - .seconds(Int64.max) == begin)
        #expect(begin.duration(to: end) == .nanoseconds(Int64.max) + .nanoseconds(Int64.max) + .nanoseconds(1))
        let now = Timestamp.now, then = Date.now
        #expect(abs(Date(now).timeIntervalSince(then)) < 60)
    }

    // MARK: Identifiers

    @Test func `identifiers are numbers and back, countries are literals`() throws {
        let id = try #require(RegionID("r86e759b06f"))
        #expect(RegionID(rawValue: id.rawValue) == id)
        for raw: UInt64 in [0, 1, .max, id.rawValue << 2] { #expect(RegionID(rawValue: raw) == nil) }
        let country: Country = "MX"
        let texts = ["MX", "", "12345678", "123456789"]
        #expect(texts.map { Country($0)?.code } == ["MX", nil, "12345678", nil] && country.code == "MX")
    }

    @Test func `all regions of an atlas, each once`() throws {
        let atlas = try Atlas(bytes: AtlasModel(seed: 3).fixture.bytes)
        #expect(atlas.regions.count == atlas.regionCount)
        let ids = try Set(atlas.regions.map { try atlas.identifier(of: $0) })
        #expect(ids.count <= atlas.regionCount && !atlas.regions.contains(.invalid))
        #expect(Set(atlas.regions).count == atlas.regionCount)
        var dumped = ""
        dump(atlas, to: &dumped)
        for text in ["\(atlas)", String(reflecting: atlas), dumped] {
            #expect(text.count < 80 && text.contains("\(atlas.regionCount) regions"))
        }
    }

    @Test func `a path with a NUL opens nothing`() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).atlas").path
        try Data(AtlasModel(seed: 1).fixture.bytes).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        _ = try Atlas(contentsOf: path)
        #expect(throws: AtlasFileError.self) { try Atlas(contentsOf: path + "\0.txt") }
    }

    @Test func `slices and other collections are taken where positions or bytes are`() throws {
        let bytes = AtlasModel(seed: 1).fixture.bytes
        let atlas = try Atlas(bytes: ([0] + bytes)[1...])
        let places = (0..<100).map { Coordinate(latitude: Double($0 % 90), longitude: Double($0)) }
        let expected = try atlas.reducedLocations(at: places)
        #expect(try atlas.reducedLocations(at: places.reversed()) == expected.reversed())
        #expect(try atlas.reducedLocations(at: places[10..<20]) == Array(expected[10..<20]))
        #expect(try atlas.regions(at: places.lazy.map { $0 }) == atlas.regions(at: places))
    }

    // MARK: What is stated of a fix

    /// A fix whose accuracy is larger than the circle gives its tick no answer; one that is not known counts as exact.
    @Test(arguments: [
        (nil, true), (-1, true), (.nan, true), (.infinity, true), (0, true), (30, true), (10_000_000, false),
    ])
    func `an accuracy larger than the circle gives no answer`(accuracy: Double?, isAnswered: Bool) throws {
        let atlas = try Atlas(bytes: AtlasModel(seed: 1).fixture.bytes)
        var pacer = Pacer()
        let fix = Fix(
            coordinate: Coordinate(latitude: 1, longitude: 2), time: Timestamp(nanosecondsSince1970: 1),
            horizontalAccuracy: accuracy)
        _ = try pacer.report(fix, in: atlas)
        #expect((try pacer.tick(Timestamp(secondsSince1970: 900) ?? .now, in: atlas) != nil) == isAnswered)
    }
}
