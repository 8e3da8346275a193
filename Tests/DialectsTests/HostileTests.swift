import FixedRandom
import Foundation
import Hereabouts
import Testing

@testable import Dialects

@Suite("Hostile messages")
struct HostileTests {
    private let location = #"{"_type":"location","lat":48.20823,"lon":16.37372,"tst":1772349299,"acc":7}"#

    private func received(_ message: String) -> Received { OwnTracksReader().received(Array(message.utf8)) }

    @Test
    func `bodies up to the limit are read, larger ones are not`() {
        let blanks = DialectLimits.bodyByteCount - location.utf8.count
        #expect(received(location + String(repeating: " ", count: blanks)) == received(location))
        #expect(received(location + String(repeating: " ", count: blanks + 1)) == .overLimit(.body))
        let large = [UInt8](repeating: UInt8(ascii: "a"), count: DialectLimits.bodyByteCount + 1)
        #expect(OsmAndReader().received(query: [], body: large, at: time(1_772_349_300)) == .overLimit(.body))
        #expect(OsmAndReader().received(query: large, body: [], at: time(1_772_349_300)) == .overLimit(.body))
        #expect(OverlandReader().received(large) == .overLimit(.body))
    }

    @Test
    func `nesting up to the limit is read, deeper is not, and neither takes long`() {
        func nested(_ depth: Int) -> String {
            location.dropLast() + ",\"x\":" + String(repeating: "[", count: depth - 1)
                + String(repeating: "]", count: depth - 1) + "}"
        }
        #expect(received(nested(16)) == received(location))
        #expect(received(nested(17)) == .overLimit(.depth))
        #expect(received(nested(500_000)) == .overLimit(.depth))
        #expect(received(String(repeating: "[", count: 1_000_000)) == .overLimit(.depth))
        #expect(received(String(repeating: "{\"x\":", count: 100_000)) == .overLimit(.depth))
    }

    @Test(arguments: [
        ("48.20823", "90.0000001", Unusable.positionOutOfRange), ("48.20823", "-1e400", .positionOutOfRange),
        ("48.20823", "null", .noPosition), ("48.20823", "[48]", .noPosition), ("48.20823", "{}", .noPosition),
        ("48.20823", "true", .noPosition), ("48.20823", "\"north\"", .noPosition), ("48.20823", "NaN", .notJSON),
        ("48.20823", "Infinity", .notJSON), ("48.20823", "048", .notJSON), ("48.20823", "1.", .notJSON),
        ("16.37372", "180.001", .positionOutOfRange), ("16.37372", "376.3", .positionOutOfRange),
        ("1772349299", "0", .noTime), ("1772349299", "-5", .noTime), ("1772349299", "1e300", .noTime),
        ("1772349299", "\"soon\"", .noTime), ("1772349299", "9190000000", .timeOutOfRange),
        ("\"acc\":7", "\"acc\":3e7", .accuracyOutOfRange), ("\"acc\":7", "\"acc\":\"x\"", .accuracyOutOfRange),
        ("\"acc\":7", "\"lat\":7", .duplicateMember), ("\"acc\":7", "\"l\\u0061t\":7", .duplicateMember),
        ("\"acc\":7", "\"_type\":\"lwt\"", .duplicateMember),
    ])
    func `numbers out of range, not finite or not numbers`(_ old: String, _ new: String, _ reason: Unusable) {
        #expect(received(location.replacing(old, with: new)) == .unusable(reason))
    }

    @Test
    func `accuracies that mean unknown`() throws {
        for value in ["0", "-1", "null"] {
            let fix = try onlyFix(received(location.replacing("\"acc\":7", with: "\"acc\":" + value)))
            #expect(fix.horizontalAccuracy == nil)
        }
    }

    @Test
    func `text that is none`() {
        let bytes = Array(location.utf8)
        #expect(OwnTracksReader().received([0xEF, 0xBB, 0xBF] + bytes) == received(location))
        #expect(OwnTracksReader().received([0xFF, 0xFE] + bytes) == .unusable(.notJSON))
        #expect(received(location + "x") == .unusable(.notJSON))
        #expect(received(location + location) == .unusable(.notJSON))
        #expect(OwnTracksReader().received(bytes + [0]) == .unusable(.notJSON))
        var broken = Array(location.replacing("location", with: "locat??n").utf8)
        for index in broken.indices where broken[index] == UInt8(ascii: "?") { broken[index] = 0xC0 }
        #expect(OwnTracksReader().received(broken) == .unusable(.notJSON))
    }

    /// A message of each dialect and the function that reads it.
    private static var readers: [(message: String, read: ([UInt8]) -> String)] {
        let all = DialectReader()
        let gpsd = GPSDReportReader()
        let received = { (bytes: [UInt8]) in "\(all.received(query: [], body: bytes, at: time(1_772_349_300)))" }
        return [
            (#"{"_type":"location","lat":48.20823,"lon":16.37372,"tst":1772349299,"acc":7,"topic":"a/b"}"#, received),
            (
                #"{"_type":"beacon","uuid":"CAFEBABE-CAFE-BABE-CAFE-BABECAFEBABE","major":1,"minor":2,"tst":3}"#,
                received
            ),
            (
                #"{"locations":[{"geometry":{"coordinates":[16.37372,48.20823]},"properties":{"timestamp":"#
                    + #""2026-03-01T07:14:59Z","horizontal_accuracy":3}}]}"#, received
            ),
            (
                #"{"device_id":"x1234567","location":{"timestamp":"2026-03-01T07:14:59Z","coords":"#
                    + #"{"latitude":48.20823,"longitude":16.37372,"accuracy":7}}}"#, received
            ),
            ("id=x1234567&lat=48.20823&lon=16.37372&timestamp=1772349299&accuracy=7", received),
            (
                #"{"class":"TPV","device":"/dev/ttyS0","mode":3,"time":"2026-03-01T07:14:59.000Z","lat":48.20823,"#
                    + #""lon":16.37372,"epx":3.1,"epy":4.2}"#, { "\(gpsd.report($0))" }
            ),
        ]
    }

    @Test
    func `mutations are read without a crash, alike each time, and nothing of them is in what is printed`() {
        var random = SplitMix64(seed: 17)
        let letters = Array("{}[]\",:\\0123456789-+.eE tfnul%&=\u{0}é".utf8)
        for (message, read) in Self.readers {
            for _ in 0..<1000 {
                var bytes = Array(message.utf8)
                for _ in 0..<(1 + random.next() % 4) {
                    let index = Int(random.next() % UInt64(bytes.count))
                    switch random.next() % 4 {
                    case 0: bytes[index] = letters[Int(random.next() % UInt64(letters.count))]
                    case 1: bytes.insert(letters[Int(random.next() % UInt64(letters.count))], at: index)
                    case 2: if bytes.count > 1 { bytes.remove(at: index) }
                    default: bytes.removeLast(min(index, bytes.count - 1))
                    }
                }
                let printed = read(bytes)
                #expect(printed == read(bytes))
                for secret in ["20823", "37372", "x123", "772349", "14:59", "CAFE", "ttyS"] {
                    #expect(!printed.contains(secret), "\(printed)")
                }
            }
        }
    }

    @Test
    func `a status code for everything: only what a later try can change is 5xx`() {
        for reason in Unusable.allCases { #expect(Received.unusable(reason).statusCode == 200) }
        for limit in ExceededLimit.allCases { #expect(Received.overLimit(limit).statusCode == 200) }
        #expect(Received.retryLater.statusCode == 503)
    }

    @Test
    func `times`() {
        func parsed(_ text: String) -> Timestamp? { Timestamp(iso: text.utf8) }
        #expect(parsed("2024-02-29T23:59:60Z") == time(1_709_251_200))
        #expect(parsed("2026-03-01T07:14:59.123456789123Z")?.nanosecondsSince1970 == 1_772_349_299_123_456_789)
        for text in [
            "2023-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-32T00:00:00Z",
            "2026-01-00T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2026-01-01T00:00:61Z",
            "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00ZZ", "2026-01-01T00:00:00+1", "2026-01-01T00:00:00+24:00",
            "2026-01-01", "", "9999-01-01T00:00:00Z", "0000-01-01T00:00:00Z",
            "2026-01-01T00:00:00" + String(repeating: "0", count: 99),
        ] {
            #expect(parsed(text) == nil, "\(text)")
        }
    }
}
