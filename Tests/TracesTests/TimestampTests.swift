import FixedRandom
import Foundation
import Hereabouts
import Testing

@testable import Traces

private func instant(_ text: String, inTable: Bool = true) -> Int64? {
    let bytes = Array(text.utf8)
    return unsafe bytes.withUnsafeBufferPointer {
        unsafe Timestamp($0, inTable: inTable ? TimeStyle() : nil)?.nanosecondsSince1970
    }
}

private func printed(seconds: Int64, nanoseconds: Int64 = 0) -> String {
    var out = ByteBuffer(capacity: 64)
    Timestamp(nanosecondsSince1970: seconds * 1_000_000_000 + nanoseconds).append(to: &out)
    return String(decoding: out.array, as: UTF8.self)
}

/// The C library's calendar.
private func calendar(_ seconds: Int64) -> String {
    var time = time_t(seconds)
    var parts = unsafe tm()
    unsafe gmtime_r(&time, &parts)
    return unsafe String(
        format: "%04d-%02d-%02dT%02d:%02d:%02dZ", Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1,
        Int(parts.tm_mday), Int(parts.tm_hour), Int(parts.tm_min), Int(parts.tm_sec))
}

@Suite struct TimestampTests {
    @Test func `prints and reads what the C library prints`() {
        var random = SplitMix64(seed: 2)
        for _ in 0..<5000 {
            let seconds = Int64.random(in: -9_214_560_000...9_214_646_399, using: &random)
            let nanoseconds = Int64.random(in: 0..<1_000_000_000, using: &random)
            let text = calendar(seconds)
            #expect(printed(seconds: seconds, nanoseconds: nanoseconds) == text)
            #expect(instant(text) == seconds * 1_000_000_000)
        }
    }

    @Test(arguments: [
        ("2026-03-01T08:15:30Z", 1_772_352_930_000_000_000), ("2026-03-01 08:15:30", 1_772_352_930_000_000_000),
        ("2026-03-01t08:15:30z", 1_772_352_930_000_000_000), ("2026-03-01T08:15:30.5Z", 1_772_352_930_500_000_000),
        ("2026-03-01T08:15:30,123456789999Z", 1_772_352_930_123_456_789),
        ("2026-03-01T09:15:30+01:00", 1_772_352_930_000_000_000),
        ("2026-03-01T03:45:30-0430", 1_772_352_930_000_000_000),
        ("2026-03-01T10:15:30+02", 1_772_352_930_000_000_000), ("2026-03-01T08:15", 1_772_352_900_000_000_000),
        (" 2026-03-01T08:15:30Z\n", 1_772_352_930_000_000_000),
        ("2016-12-31T23:59:60Z", 1_483_228_800_000_000_000),
        ("1901-12-13T20:45:52.2073437Z", -2_147_483_647_792_656_300),
        ("1772352930", 1_772_352_930_000_000_000), ("1772352930.25", 1_772_352_930_250_000_000),
        ("1772352930123", 1_772_352_930_123_000_000), ("-1", -1_000_000_000), ("0", 0),
    ])
    func `reads`(_ text: String, _ expected: Int64) {
        #expect(instant(text) == expected)
    }

    @Test(arguments: [
        "", "yesterday", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
        "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2026-01-01T00:00:61Z", "2026-01-01", "2026-01-01T",
        "2026-1-1T00:00:00Z", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00+", "2026-01-01T00:00:00Z!",
        "2026-01-01T00:00:00+1:00", "9999-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "1e300", "nan",
    ])
    func `refuses`(_ text: String) {
        #expect(instant(text) == nil)
    }

    @Test func `numbers are times only where allowed`() {
        #expect(instant("1772352930", inTable: false) == nil)
    }
}

@Suite struct UsualTimestampTests {
    /// The quick way and the slow one agree: a blank after the text leaves only the slow one.
    @Test func `the quick way reads what the slow way reads`() {
        var random = SplitMix64(seed: 16)
        let bytes: [UInt8] = Array("0123456789-:TtZz. /;".utf8)
        var mistakes = 0
        var read = 0
        for _ in 0..<100_000 {
            var text = Array(calendar(Int64.random(in: -9_300_000_000...9_300_000_000, using: &random)).utf8)
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                text[Int.random(in: 0..<text.count, using: &random)] = bytes.randomElement(using: &random)!
            }
            let quick = unsafe text.withUnsafeBufferPointer { unsafe Timestamp($0, inTable: nil) }
            let slow = unsafe (text + [0x20]).withUnsafeBufferPointer { unsafe Timestamp($0, inTable: nil) }
            if quick != slow { mistakes += 1 }
            if quick != nil { read += 1 }
        }
        #expect(mistakes == 0 && read > 30_000)
    }
}
