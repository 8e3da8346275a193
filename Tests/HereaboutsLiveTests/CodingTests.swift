import Foundation
import Hereabouts
import HereaboutsLive
import Testing

/// Values as JSON, with the names that the command's and the relay's have.
@Suite struct CodingTests {
    private let reduced = ReducedLocation(
        coordinate: Coordinate(latitude: 31.7813, longitude: -106.47685), horizontalAccuracy: 4_110,
        region: RegionID("r86e759b06f") ?? { preconditionFailure("an identifier") }(), country: "US",
        place: ReducedLocation.Place(name: "El Paso", isInside: true))
    private let time = Timestamp("2026-09-21T14:15:00Z") ?? .now

    private func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private func isSame<Value: Codable & Equatable>(_ value: Value, _ json: String) throws -> Bool {
        #expect(try text(value) == json)
        return try JSONDecoder().decode(Value.self, from: Data(json.utf8)) == value
    }

    private let location =
        #"{"country":"US","horizontal_accuracy":4110,"latitude":31.7813,"longitude":-106.47685,"place":"El Paso","region":"r86e759b06f","time":"2026-09-21T14:15:00Z"}"#

    @Test func `locations, updates and visits`() throws {
        let here = Location(reduced, tick: time)
        #expect(try isSame(here, location))
        #expect(
            try isSame(
                LocationUpdate(location: here, diagnostics: [.stationary, .accuracyLimited]),
                #"{"diagnostics":["accuracyLimited","stationary"],"location":\#(location)}"#))
        #expect(
            try isSame(
                LocationUpdate(location: nil, diagnostics: .authorizationDenied),
                #"{"diagnostics":["authorizationDenied"]}"#))
        #expect(
            try isSame(
                Visit(location: here, arrivalDate: time, departureDate: time + .milliseconds(1_500)),
                #"{"arrival":"2026-09-21T14:15:00Z","departure":"2026-09-21T14:15:01.5Z","location":\#(location)}"#))
        let fix = Location(Fix(coordinate: reduced.coordinate, time: time, horizontalAccuracy: 5))
        #expect(
            try isSame(
                fix,
                #"{"horizontal_accuracy":5,"latitude":31.7813,"longitude":-106.47685,"time":"2026-09-21T14:15:00Z"}"#))
    }

    @Test func `grants, authorizations and requests`() throws {
        #expect(
            try isSame(
                Grant.fullAccuracy("meet-up", for: .seconds(120)),
                #"{"hasExactVisitTimes":false,"purpose":"meet-up","status":"authorizedWhenInUse","validity":{"kind":"duration","seconds":120}}"#
            ))
        #expect(
            try isSame(
                Grant.reduced(.authorizedAlways, validity: .until(time)),
                #"{"hasExactVisitTimes":false,"status":"authorizedAlways","validity":{"kind":"until","until":"2026-09-21T14:15:00Z"}}"#
            ))
        for validity in [
            Validity.untilRevoked, .session, .sessionWithin(.seconds(60)), .untilMorning(secondsFromGMT: -7_200),
        ] {
            let grant = Grant.reduced(validity: validity)
            #expect(try JSONDecoder().decode(Grant.self, from: JSONEncoder().encode(grant)) == grant)
        }
        // For ever is never the default of full accuracy.
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(Grant.self, from: Data(#"{"purpose":"meet-up"}"#.utf8))
        }
        #expect(
            try isSame(
                Authorization(status: .restricted, accuracy: .reduced), #"{"accuracy":"reduced","status":"restricted"}"#
            ))
        let request = Authorization.Request(
            consumer: "family", device: "phone", kind: .fullAccuracy(purposeKey: "meet-up"), time: time)
        #expect(try JSONDecoder().decode(Authorization.Request.self, from: JSONEncoder().encode(request)) == request)
    }

    @Test func `monitors' events`() throws {
        let uuid = try #require(BeaconUUID("CA271EAE-5FA8-4E80-8F08-2A302A95A959"))
        let event = LocationMonitor.Event(
            identifier: "home", state: .satisfied, date: time,
            beacons: [BeaconSighting(uuid: uuid, major: 1, minor: 2, accuracy: 3)])
        #expect(
            try isSame(
                event,
                #"{"beacons":[{"accuracy":3,"major":1,"minor":2,"uuid":"CA271EAE-5FA8-4E80-8F08-2A302A95A959"}],"condition":"home","diagnostics":[],"state":"satisfied","time":"2026-09-21T14:15:00Z"}"#
            ))
    }

    @Test func `what is no location is refused`() throws {
        for damage in [
            (#""latitude":31.7813"#, #""latitude":99"#), (#""longitude":-106.47685"#, #""longitude":190"#),
            (#""horizontal_accuracy":4110"#, #""horizontal_accuracy":-1"#), (#""country":"US""#, #""country":"""#),
            (#""region":"r86e759b06f""#, #""region":"x""#), ("2026-09-21", "2026-02-30"),
        ] {
            let json = location.replacingOccurrences(of: damage.0, with: damage.1)
            #expect(json != location)
            #expect(throws: DecodingError.self) { try JSONDecoder().decode(Location.self, from: Data(json.utf8)) }
        }
    }
}
