import Foundation
import Hereabouts
import Testing

@testable import Dialects

@Suite("OwnTracks")
struct OwnTracksTests {
    private func received(_ message: String) -> Received { OwnTracksReader().received(Array(message.utf8)) }

    @Test
    func `a location of the iOS app`() throws {
        let fix = try onlyFix(
            received(
                """
                {"_type":"location","acc":12,"alt":545,"batt":41,"bs":1,"cog":271,"conn":"w","lat":48.20823,"lon":16.37372,
                "rad":100,"t":"u","tid":"JJ","tst":1772349299,"vac":3,"vel":15,"p":99.1,"topic":"owntracks/jane/phone",
                "inregions":["Home"],"inrids":["6da9cf"],"SSID":"lan","BSSID":"b0:f2:8:45:94:33","created_at":1772349301,
                "m":1,"motionactivities":["walking"],"poi":"Café","tag":"x","image":"AAAA","imagename":"y"}
                """))
        #expect(fix.coordinate == Coordinate(latitude: 48.20823, longitude: 16.37372))
        #expect(fix.time == time(1_772_349_299))
        #expect(fix.horizontalAccuracy == 12)
        #expect(fix.device == "owntracks/jane/phone")
    }

    @Test
    func `what a location needs is enough`() throws {
        let fix = try onlyFix(
            received(#"{"lon":2.29513,"lat":48.85833,"_type":"location","tst":1497476456, "tid":"JJ"}"#))
        #expect(fix.horizontalAccuracy == nil && fix.device == "JJ" && fix.time == time(1_497_476_456))
    }

    @Test
    func `Overland's mode: seconds from 2001 at first, a fraction of seconds from 1970 later`() throws {
        let old = try onlyFix(
            received(#"{"_type":"location","lat":1,"lon":2,"tst":794042099,"acc":5,"batt":80,"topic":"owntracks/me"}"#))
        #expect(old.time == time(1_772_349_299))
        let new = try onlyFix(received(#"{"_type":"location","lat":1,"lon":2,"tst":1772349299.25,"acc":5}"#))
        #expect(new.time == time(1_772_349_299, milliseconds: 250))
    }

    @Test(arguments: [
        #"{"_type":"transition","wtst":1380,"lat":1,"lon":2,"tst":1772349299,"acc":9,"tid":"JJ","event":"enter","desc":"Home"}"#,
        #"{"_type":"waypoint","desc":"Home","lat":1,"lon":2,"rad":50,"tst":1772349299}"#,
        #"{"_type":"waypoints","waypoints":[{"_type":"waypoint","lat":1,"lon":2}]}"#,
        #"{"_type":"card","name":"Jane","face":"AAAA","tid":"JJ"}"#, #"{"_type":"lwt","tst":1772349299}"#,
        #"{"_type":"steps","steps":100,"from":1,"to":2,"tst":3}"#, #"{"_type":"configuration","host":"x"}"#,
        #"{"_type":"status","android":{}}"#, #"{"_type":"request","request":"tour"}"#,
    ])
    func `other types are unusable, and answered`(_ message: String) {
        #expect(received(message) == .unusable(.otherType))
        #expect(received(message).statusCode == 200)
    }

    @Test
    func `encrypted, empty and unknown`() {
        #expect(received(#"{"_type":"encrypted","data":"AAECAwQ="}"#) == .unusable(.encrypted))
        #expect(received("") == .unusable(.empty))
        #expect(received(" \r\n") == .unusable(.empty))
        #expect(received(#"{"_type":"future"}"#) == .unusable(.unknownType))
        #expect(received(#"{"lat":1,"lon":2,"tst":3}"#) == .unusable(.unknownType))
        #expect(received("[]") == .unusable(.emptyBatch))
        #expect(received(#"{"_type":"location","lat":1,"lon":2,"tst":1772349299"#) == .unusable(.notJSON))
    }

    @Test
    func `a beacon`() {
        let message = #"""
            {"_type":"beacon","desc":"Desk","uuid":"cafebabe-cafe-babe-cafe-babecafebabe","major":1,"minor":65535,
            "tst":1772349299,"acc":1.5,"rssi":-68,"prox":2,"tid":"JJ"}
            """#
        guard case .sighting(let sighting) = received(message) else { return #expect(Bool(false), "no sighting") }
        #expect(
            sighting.uuid == "CAFEBABE-CAFE-BABE-CAFE-BABECAFEBABE" && sighting.major == 1 && sighting.minor == 65535)
        #expect(sighting.distance == 1.5 && sighting.time == time(1_772_349_299) && sighting.device == "JJ")
        #expect("\(sighting)" == "BeaconSighting(redacted)")
        #expect(received(message.replacing("65535", with: "65536")) == .unusable(.noBeacon))
        #expect(received(message.replacing("cafebabe-cafe", with: "cafebab-cafe")) == .unusable(.noBeacon))
    }

    @Test
    func `the reduced message, byte by byte, and the answer with friends`() throws {
        let location = try reduced(31.7619, -106.485)
        let center = location.coordinate
        let expected =
            #"{"_type":"location","lat":\#(fiveDecimals(center.latitude)),"lon":\#(fiveDecimals(center.longitude)),"#
            + #""acc":\#(location.accuracyMeters!),"tst":1772349300,"tid":"AB"}"#
        #expect(text(OwnTracksMessage.location(location, of: OwnTracksIdentity(tracker: "AB"))) == expected)
        #expect(text(OwnTracksMessage.answer()) == "[]")
        let friends = OwnTracksMessage.answer(friends: [
            (OwnTracksIdentity(tracker: "AB", name: "A \"B\""), location), (OwnTracksIdentity(tracker: "CD"), location),
        ])
        #expect(
            text(friends) == "[" + expected + #",{"_type":"card","name":"A \"B\"","tid":"AB"},"#
                + expected.replacing(#""tid":"AB""#, with: #""tid":"CD""#) + "]")
    }
}
