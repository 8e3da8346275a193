import Foundation
import HereaboutsFoundation
import Testing

@testable import Hereabouts

/// Precise positions do not come out by accident; published values do.
@Suite struct PrivacyTests {
    private static let latitude = 48.123456, longitude = -16.654321
    private static let nanoseconds: Int64 = 1_777_777_777_123_456_789
    private let coordinate = Coordinate(latitude: latitude, longitude: longitude)
    private let fix = Fix(
        coordinate: Coordinate(latitude: latitude, longitude: longitude),
        time: Timestamp(nanosecondsSince1970: nanoseconds), horizontalAccuracy: 4.25)

    /// All the ways in which a value becomes text without anybody asking for its numbers.
    private func texts(_ value: some Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        var printed = ""
        print(value, to: &printed)
        var debugPrinted = ""
        debugPrint(value, to: &debugPrinted)
        return [
            dumped, printed, debugPrinted, "\(value)", String(describing: value), String(reflecting: value),
            "\([value])", "\(Optional(value) as Any)", String(reflecting: [value]), "\(["key": value])",
            "\((value, 1))",
            String(reflecting: Mirror(reflecting: value).children.map { $0 }),
        ]
    }

    private func shows(_ text: String) -> Bool {
        ["48.12", "16.65", "1777777777", "4.25", "1_777", "123456", "654321"].contains { text.contains($0) }
    }

    @Test func `coordinates and fixes are redacted`() {
        for text in texts(coordinate) + texts(fix) { #expect(!shows(text), "\(text)") }
        #expect("\(coordinate)" == "Coordinate(redacted)" && "\(fix)" == "Fix(redacted)")
    }

    @Test func `pacers, states and fleets are redacted`() throws {
        let atlas = try Atlas(bytes: AtlasModel(seed: 1).fixture.bytes, validation: .onFirstUse)
        var pacer = Pacer()
        _ = try pacer.report(fix, in: atlas)
        for text in texts(pacer) { #expect(!shows(text), "\(text)") }
        _ = try pacer.tick(pacer.tick(for: fix.time), in: atlas)
        let state = try #require(pacer.state(in: atlas))
        var fleet = Fleet(capacity: 4, atlas: atlas)
        _ = try fleet.report(fix, from: "somebody")
        for text in texts(pacer) + texts(state) + texts(fleet) {
            #expect(!shows(text) && !text.contains("somebody"), "\(text)")
        }
        #expect("\(fleet)" == "Fleet(1 of 4 devices)")
    }

    @Test func `errors say nothing of the values`() throws {
        let atlas = try Atlas(bytes: AtlasModel(seed: 1).fixture.bytes, validation: .onFirstUse)
        let wrong = Coordinate(latitude: 148.123456, longitude: -16.654321)
        do {
            _ = try atlas.reducedLocation(at: wrong)
            Issue.record("accepted")
        } catch {
            for text in texts(error) { #expect(!shows(text), "\(text)") }
        }
    }

    @Test func `reduced locations and circles print in full`() {
        let location = ReducedLocation(
            coordinate: coordinate, horizontalAccuracy: 2_430, region: RegionID("86e758f8e9")!,
            country: "US", place: ReducedLocation.Place(name: "Marfa", isInside: false))
        #expect("\(location)" == "near Marfa, US (48.123456, -16.654321) ± 2430.0 m r86e758f8e9")
        var dumped = ""
        dump(location, to: &dumped)
        #expect(dumped.contains("48.123456") && dumped.contains("r86e758f8e9") && dumped.contains("Marfa"))
        #expect("\(Atlas.Circle(coordinate: coordinate, horizontalAccuracy: 10))" == "(48.123456, -16.654321) ± 10.0 m")
    }
}

@Suite struct PublishedValueTests {
    @Test func `identifiers are unambiguous texts`() throws {
        let id = try #require(RegionID("r86e758f8e9"))
        #expect(id.description == "r86e758f8e9" && id.cell.token == "86e758f8e9")
        for text in ["86e758f8e9", "R86E758F8E9", "86E758F8E9"] { #expect(RegionID(text) == id) }
        for text in ["", "r", "rr86e758f8e9", "r 86e758f8e9", "86e758f8e9r", "r86e758f8e", "rX", "X", "r86e758f8ea"] {
            #expect(RegionID(text) == nil, "\(text)")
        }
        // Which is what a table reader would take for a number otherwise.
        let infinite = try #require(RegionID("4793e18373"))
        #expect(Double(infinite.cell.token) == .infinity && Double(infinite.description) == nil)
        #expect(infinite < id && Country(code: "DE") < Country(code: "US"))
    }

    private func roundTrip<Value: Codable & Equatable>(_ value: Value) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let data = try encoder.encode([value])
        #expect(try JSONDecoder().decode([Value].self, from: data) == [value])
        return String(decoding: data, as: UTF8.self)
    }

    @Test func `values survive JSON`() throws {
        let id = try #require(RegionID("86e758f8e9"))
        #expect(try roundTrip(id) == "[\"r86e758f8e9\"]")
        #expect(try roundTrip(Country(code: "XK")) == "[\"XK\"]")
        #expect(try roundTrip(Timestamp(nanosecondsSince1970: .min)) == "[\"1677-09-21T00:12:43.145224192Z\"]")
        let location = ReducedLocation(
            coordinate: Coordinate(latitude: 31.5, longitude: -106.25), horizontalAccuracy: 2_430, region: id,
            country: "US", place: ReducedLocation.Place(name: "Marfa", isInside: false))
        #expect(
            try roundTrip(location)
                == "[{\"country\":\"US\",\"horizontal_accuracy\":2430,\"latitude\":31.5,\"longitude\":-106.25,"
                + "\"place\":\"near Marfa\",\"region\":\"r86e758f8e9\"}]")
        _ = try roundTrip(
            ReducedLocation(
                coordinate: location.coordinate, horizontalAccuracy: 10, region: id, country: "XZ"))
        for region in [id, nil] {
            _ = try roundTrip(
                Pacer.State(
                    tick: Timestamp(nanosecondsSince1970: -1), region: region, here: id, contenders: [id],
                    standing: [.init(region: id, others: [id], seconds: 5)]))
        }
    }

    @Test(arguments: [
        "[\"\"]", "[\"r\"]", "[7]", "[\"86e758f8ea\"]",
    ]) func `malformed identifiers are refused`(json: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([RegionID].self, from: Data(json.utf8)) }
    }

    @Test func `inconsistent states and malformed countries are refused`() {
        for state in ["{}", "{\"bytes\":[]}", "{\"bytes\":[256]}"] {
            #expect(throws: DecodingError.self) {
                try JSONDecoder().decode(Pacer.State.self, from: Data(state.utf8))
            }
        }
        for json in ["[\"\"]", "[\"123456789\"]"] {
            #expect(throws: DecodingError.self) { try JSONDecoder().decode([Country].self, from: Data(json.utf8)) }
        }
    }
}

@Suite struct FoundationTests {
    @Test func `dates and moments convert`() throws {
        for seconds: Int64 in [0, 1, -1, 1_777_777_777, -5_000_000_000, 9_223_372_036, -9_223_372_036] {
            let moment = try #require(Timestamp(secondsSince1970: seconds))
            #expect(Date(moment).timeIntervalSince1970 == Double(seconds))
            #expect(Timestamp(Date(timeIntervalSince1970: Double(seconds))) == moment)
        }
        let half = try #require(Timestamp(Date(timeIntervalSince1970: -0.25)))
        #expect(half.nanosecondsSince1970 == -250_000_000)
        #expect(abs(Date(Timestamp(nanosecondsSince1970: .max)).timeIntervalSince1970 - 9_223_372_036.854_775) < 1e-5)
        for seconds in [Double.nan, .infinity, -.infinity, 1e10, -1e10, 9_223_372_037, 1e300] {
            #expect(Timestamp(Date(timeIntervalSince1970: seconds)) == nil)
        }
        #expect(Timestamp(secondsSince1970: .max) == nil && Timestamp(secondsSince1970: .min) == nil)
        let nowhere = Coordinate(latitude: 0, longitude: 0)
        #expect(Fix(coordinate: nowhere, date: .distantFuture) == nil)
        #expect(
            Fix(coordinate: nowhere, date: Date(timeIntervalSince1970: 2))?.time.nanosecondsSince1970 == 2_000_000_000)
    }

    @Test func `an atlas opens by its URL`() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("ä \(UUID().uuidString).atlas")
        try Data(AtlasModel(seed: 1).fixture.bytes).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        #expect(try Atlas(contentsOf: url, validation: .onFirstUse).regionCount == AtlasModel.regionCount)
        let address = try #require(URL(string: "https://example.org/world.atlas"))
        let error = AtlasFileError(path: address.absoluteString, reason: .unreadable(errorNumber: EINVAL))
        #expect(throws: error) { try Atlas(contentsOf: address) }
        #expect((error as any Error).localizedDescription == "\(error)")
        #expect("\(AtlasFileError(path: "x.atlas", reason: .notAnAtlas))" == "x.atlas is not an atlas")
    }
}
