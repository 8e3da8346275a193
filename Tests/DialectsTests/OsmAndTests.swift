import Foundation
import Hereabouts
import Testing

@testable import Dialects

@Suite("OsmAnd, Traccar Client and GPSLogger")
struct OsmAndTests {
    private func received(_ query: String, _ body: String = "") -> Received {
        OsmAndReader().received(
            query: Array(query.utf8), body: Array(body.utf8), at: time(1_772_349_300))
    }

    @Test
    func `Traccar Client up to 8, in the query and as a form`() throws {
        let parameters =
            "id=431382&timestamp=1772349299&lat=48.20823&lon=16.37372&speed=0.0&bearing=12&altitude=545.4"
            + "&accuracy=13.5&batt=41.0&charge=true&event=x&hdop=0.9&cell=310%2C260%2C1%2C2"
        for fix in [try onlyFix(received(parameters)), try onlyFix(received("", parameters))] {
            #expect(fix.coordinate == Coordinate(latitude: 48.20823, longitude: 16.37372))
            #expect(fix.time == time(1_772_349_299) && fix.horizontalAccuracy == 13.5 && fix.device == "431382")
        }
    }

    @Test(arguments: [
        ("1772349299", 0), ("1772349299000", 0), ("1772349299.5", 500), ("1772349299250", 250),
        ("2026-03-01T07:14:59Z", 0), ("2026-03-01T07:14:59.250Z", 250), ("2026-03-01T08:14:59%2B01:00", 0),
        ("2026-03-01%2007:14:59", 0), ("2026-03-01+07:14:59", 0),
    ])
    func `times`(_ text: String, _ milliseconds: Int64) throws {
        let fix = try onlyFix(received("deviceid=a&location=1.5,2.5&timestamp=" + text))
        #expect(fix.time == time(1_772_349_299, milliseconds: milliseconds))
        #expect(fix.coordinate == Coordinate(latitude: 1.5, longitude: 2.5) && fix.device == "a")
    }

    @Test
    func `GPSLogger's URL of its documentation`() throws {
        let fix = try onlyFix(
            received("lat=5.75641094&lon=7.56704068&time=2018-03-15T06:35:34.000Z&s=3.18&sat=12&acc=10.618999&prov=gps")
        )
        #expect(fix.time == time(1_521_095_734) && fix.horizontalAccuracy == 10.618999 && fix.device == nil)
        let webhook = try onlyFix(
            received(
                "", "latitude=1&longitude=2&device=x&accuracy=3&battery=4&speed=5&direction=6&altitude=7&provider=gps"))
        #expect(webhook.time == nil && webhook.device == "x" && webhook.horizontalAccuracy == 3)
        #expect(webhook.fix(receivedAt: time(9)).time == time(9))
    }

    @Test
    func `Traccar Client 9`() throws {
        let message = #"""
            {"location":{"timestamp":"2026-03-01T07:14:59.000Z","coords":{"latitude":48.20823,"longitude":16.37372,
            "accuracy":7,"speed":0,"heading":0,"altitude":0},"is_moving":false,"odometer":12,"event":"motionchange",
            "battery":{"level":1,"is_charging":false},"activity":{"type":"still"},"extras":{}},"device_id":"48241179"}
            """#
        let fix = try onlyFix(received("", message))
        #expect(fix.coordinate == Coordinate(latitude: 48.20823, longitude: 16.37372) && fix.device == "48241179")
        #expect(fix.time == time(1_772_349_299) && fix.horizontalAccuracy == 7)
        #expect(try onlyFix(received("token=x", message)) == fix)
        #expect(
            try onlyFix(received("", message.replacing("\"2026-03-01T07:14:59.000Z\"", with: "1772349299000"))) == fix)
    }

    @Test
    func `JSON with the names of the parameters, whatever stands before it`() throws {
        for start in ["", " ", "\r\n", "\u{FEFF}", "\u{FEFF}\n"] {
            for body in [
                #"{"lat":1,"lon":2,"acc":3,"tst":1772349299}"#, #"[{"LAT":"1","Lon":"2,0","acc":3,"tst":1772349299}]"#,
            ] {
                let fix = try onlyFix(received("", start + body))
                #expect(fix.coordinate == Coordinate(latitude: 1, longitude: 2))
                #expect(fix.time == time(1_772_349_299) && fix.horizontalAccuracy == 3)
            }
        }
        #expect(received("lat=None&lon=None&accuracy=None") == .unusable(.noPosition))
    }

    @Test
    func `what cannot be used`() {
        #expect(received("") == .unusable(.empty))
        #expect(received("id=1") == .unusable(.noPosition))
        #expect(received("id=1&lat=x&lon=2") == .unusable(.noPosition))
        #expect(received("id=1&location=1") == .unusable(.noPosition))
        #expect(received("id=1&lat=1&lon=2&valid=false") == .unusable(.markedInvalid))
        #expect(received("id=1&lat=1&lat=2&lon=2") == .unusable(.duplicateMember))
        #expect(received("id=1&lat=91&lon=2") == .unusable(.positionOutOfRange))
        #expect(received("id=1&lat=nan&lon=2") == .unusable(.noPosition))
        #expect(received("id=1&lat=1&lon=1e999") == .unusable(.positionOutOfRange))
        #expect(received("id=1&lat=1&lon=2&timestamp=now") == .unusable(.noTime))
        #expect(received("id=1&lat=1&lon=2&timestamp=5") == .unusable(.timeOutOfRange))
        #expect(received("id=1&lat=1&lon=2&timestamp=1e300") == .unusable(.noTime))
        #expect(received("id=1&lat=1&lon=2&accuracy=1e9") == .unusable(.accuracyOutOfRange))
        #expect(received("lat=1&lon=2&id=" + String(repeating: "x", count: 257)) == .unusable(.nameTooLong))
        #expect(received(String(repeating: "a=1&", count: 101)) == .overLimit(.parameters))
    }

    @Test
    func `the reduced query, byte by byte`() throws {
        let location = try reduced(31.7619, -106.485)
        let center = location.coordinate
        #expect(
            text(OsmAndMessage.query(location, device: "a b&ü"))
                == "id=a%20b%26%C3%BC&lat=\(fiveDecimals(center.latitude))"
                + "&lon=\(fiveDecimals(center.longitude))&timestamp=1772349300&accuracy=\(location.accuracyMeters!)")
    }

    @Test
    func `dialects are told apart by content`() {
        let reader = DialectReader()
        func dialect(_ body: String, _ query: String = "") -> DialectReader.Dialect {
            reader.received(query: Array(query.utf8), body: Array(body.utf8), at: time(0)).dialect
        }
        #expect(dialect(#"{"_type":"lwt"}"#) == .ownTracks)
        #expect(dialect(#"{"locations":[]}"#) == .overland)
        #expect(dialect(#"{"location":{},"device_id":"x"}"#) == .osmAnd)
        #expect(dialect("id=1&lat=1&lon=2") == .osmAnd)
        #expect(dialect("", "id=1&lat=1&lon=2") == .osmAnd)
        #expect(reader.received(body: [], in: .ownTracks, at: time(0)).received == .unusable(.empty))
    }
}
