import FixedRandom
import Foundation
import Hereabouts
import Testing

@testable import Dialects

@Suite("Answers of the relay")
struct AnswerTests {
    @Test
    func `geolocate: an answer, and errors as browsers expect them`() throws {
        let location = try reduced(31.7619, -106.485)
        let center = location.coordinate
        let answer = GeolocateAnswer.answer(location)
        #expect(answer.statusCode == 200)
        #expect(
            text(answer.body)
                == #"{"location":{"lat":\#(fiveDecimals(center.latitude)),"lng":\#(fiveDecimals(center.longitude))},"#
                + #""accuracy":\#(location.accuracyMeters!)}"#)
        let missing = GeolocateAnswer.answer(nil)
        #expect(missing.statusCode == 404)
        #expect(
            text(missing.body)
                == #"{"error":{"errors":[{"domain":"geolocation","reason":"notFound","message":"Not found"}],"#
                + #""code":404,"message":"Not found"}}"#)
        #expect(GeolocateAnswer.invalidKey.statusCode == 400)
        #expect(throws: Never.self) { try json(GeolocateAnswer.invalidKey.body) }
    }

    @Test
    func `GeoJSON: only diagnostics that are true, and names of the configuration`() throws {
        let none = GeoJSONAnswer.feature(
            nil, device: "phone", diagnostics: [.authorizationDeniedGlobally, .authorizationDenied])
        #expect(
            text(none)
                == #"{"type":"Feature","geometry":null,"properties":{"device":"phone","authorizationDenied":true,"#
                + #""authorizationDeniedGlobally":true}}"#)
        let feature = try json(
            GeoJSONAnswer.feature(try reduced(31.7619, -106.485), device: "a\"b", diagnostics: [.stationary]))
        let properties = (feature as? [String: Any])?["properties"] as? [String: Any]
        #expect(properties?["device"] as? String == "a\"b" && properties?["stationary"] as? Bool == true)
        #expect(properties?["country"] as? String == "US" && properties?["time"] as? String == "2026-03-01T07:15:00Z")
    }

    @Test
    func `server-sent events: one line of data for each of the text's`() {
        #expect(text(ServerSentEvent.update(Array("{}".utf8))) == "event: update\ndata: {}\n\n")
        #expect(text(ServerSentEvent.update(Array("a\nb\rc".utf8))) == "event: update\ndata: a\ndata: b\ndata: c\n\n")
        #expect(text(ServerSentEvent.keepAlive) == ":\n\n")
    }

    @Test
    func `credentials`() {
        func credential(_ text: String) -> Credential? { Credential(authorization: Array(text.utf8)) }
        #expect(
            credential("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
                == .basic(user: Array("Aladdin".utf8), password: Array("open sesame".utf8)))
        #expect(credential("basic  QWxhZGRpbjo=") == .basic(user: Array("Aladdin".utf8), password: []))
        #expect(credential("Bearer abc.def ") == .token(Array("abc.def".utf8)))
        // Overland's OwnTracks mode; without its colon, what is no user and password in base 64.
        #expect(credential("Basic abcdef:") == .token(Array("abcdef".utf8)))
        for text in ["abcdef", "QWxhZGRpbg==", "QW$=", "A", "QWxhZGRpbjp=", "QWxhZGRpbj=p"] {
            #expect(credential("Basic " + text) == .token(Array(text.utf8)))
        }
        for text in [
            "", "Basic", "Basic ", "Basic :", "Basic a:b", "Digest x", "Bearer " + String(repeating: "x", count: 2000),
        ] {
            #expect(credential(text) == nil, "\(text.prefix(40))")
        }
        #expect("\(Credential.token(Array("secret".utf8)))" == "Credential(redacted)")
        var dumped = ""
        dump(Credential.token([115]), to: &dumped)
        #expect(!dumped.contains("115"))
    }

    /// The members that each message may have, and must have for a reduced location.
    @Test
    func `every message has exactly the members of the design`() throws {
        let point: Set = ["type", "geometry", "geometry.type", "geometry.coordinates", "properties"]
        func properties(_ names: String...) -> Set<String> { Set(names.map { "properties." + $0 }) }
        var random = SplitMix64(seed: 15)
        let identity = OwnTracksIdentity(tracker: "AB")
        for _ in 0..<200 {
            let coordinate = Coordinate(latitude: random.uniform(-89, 89), longitude: random.uniform(-180, 180))
            let location = try reduced(coordinate.latitude, coordinate.longitude)
            let fix = OutgoingLocation.full(
                Fix(coordinate: coordinate, time: time(1_772_349_299, milliseconds: 120), horizontalAccuracy: nil))
            func check(_ bytes: [UInt8], _ members: Set<String>, without missing: Set<String>, _ full: [UInt8]) throws {
                #expect(memberPaths(try json(bytes)) == members)
                #expect(memberPaths(try json(full)) == members.subtracting(missing))
            }
            try check(
                OwnTracksMessage.location(location, of: identity), ["_type", "lat", "lon", "acc", "tst", "tid"],
                without: ["acc"], OwnTracksMessage.location(fix, of: identity))
            try check(
                OverlandMessage.batch([location], device: "d"),
                Set(
                    point.union(properties("timestamp", "horizontal_accuracy", "device_id")).map { "locations[]." + $0 }
                )
                .union(["locations"]), without: ["locations[].properties.horizontal_accuracy"],
                OverlandMessage.batch([fix], device: "d"))
            try check(
                GeolocateAnswer.answer(location).body, ["location", "location.lat", "location.lng", "accuracy"],
                without: [], GeolocateAnswer.answer(fix).body)
            try check(
                GPSDMessage.position(location, device: "hereabouts"),
                ["class", "device", "mode", "time", "lat", "lon", "eph"], without: ["eph"],
                GPSDMessage.position(fix, device: "hereabouts"))
            var answer: Set = ["device", "time", "horizontal_accuracy", "region", "country"]
            if case .reduced(let reduced, _) = location, reduced.place != nil { answer.insert("place") }
            try check(
                GeoJSONAnswer.feature(location, device: "d"), point.union(answer.map { "properties." + $0 }),
                without: properties("horizontal_accuracy", "region", "country", "place"),
                GeoJSONAnswer.feature(fix, device: "d"))
            let query = text(OsmAndMessage.query(location, device: "d"))
            #expect(
                query.split(separator: "&").map { $0.split(separator: "=")[0] } == [
                    "id", "lat", "lon", "timestamp", "accuracy",
                ])
        }
    }

    @Test
    func `what is written is read as it was`() throws {
        var random = SplitMix64(seed: 16)
        let (ownTracks, overland, osmAnd, gpsd) = (
            OwnTracksReader(), OverlandReader(), OsmAndReader(), GPSDReportReader()
        )
        for index in 0..<500 {
            let coordinate = Coordinate(latitude: random.uniform(-89, 89), longitude: random.uniform(-180, 180))
            let accuracy = index % 3 == 0 ? nil : random.uniform(0.1, 10_000)
            let moment = time(Int64(random.uniform(1e9, 4e9)), milliseconds: Int64(random.uniform(0, 999)))
            let fix = Fix(coordinate: coordinate, time: moment, horizontalAccuracy: accuracy)
            let location =
                index % 2 == 0
                ? OutgoingLocation.full(fix)
                : try reduced(
                    coordinate.latitude, coordinate.longitude, tick: time(moment.wholeSeconds / 900 * 900))
            // Half a unit of the seventh decimal; the centers of regions have five.
            func isSame(_ read: ClaimedFix, wholeSeconds: Bool) -> Bool {
                let unit = index % 2 == 0 ? 0.5e-7 + 1e-12 : 0
                return abs(read.coordinate.latitude - location.coordinate.latitude) <= unit
                    && abs(read.coordinate.longitude - location.coordinate.longitude) <= unit
                    && read.time == (wholeSeconds ? time(location.time.wholeSeconds) : location.time)
                    && read.horizontalAccuracy == location.accuracyMeters.map(Double.init)
            }
            let tracker = OwnTracksIdentity(tracker: "é\"\\")
            let one = try onlyFix(ownTracks.received(OwnTracksMessage.location(location, of: tracker)))
            #expect(isSame(one, wholeSeconds: true) && one.device == tracker.tracker)
            let two = try onlyFix(overland.received(OverlandMessage.batch([location], device: "\n/")))
            #expect(isSame(two, wholeSeconds: false) && two.device == "\n/")
            let three = try onlyFix(
                osmAnd.received(
                    query: OsmAndMessage.query(location, device: "a&b=c%"), body: [], at: time(1_772_349_300)))
            #expect(isSame(three, wholeSeconds: true) && three.device == "a&b=c%")
            guard case .fix(let four) = gpsd.report(GPSDMessage.position(location, device: "x")) else {
                Issue.record("no fix")
                continue
            }
            #expect(isSame(four, wholeSeconds: false) && four.device == "x")
        }
    }

    @Test
    func `no zero has a sign, and whole degrees have their decimals`() {
        func degrees(_ value: Double) -> String {
            var text = MessageText()
            text.append(degrees: value, decimals: 5)
            return String(decoding: text.bytes, as: UTF8.self)
        }
        #expect(degrees(-0.000001) == "0.00000" && degrees(0) == "0.00000" && degrees(-0.00001) == "-0.00001")
        #expect(degrees(180) == "180.00000" && degrees(-12.5) == "-12.50000" && degrees(9.999999) == "10.00000")
    }

}
