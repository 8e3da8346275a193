import FixedRandom
import Foundation
import Testing
import TextCoding

@testable import Traces

/// The number that is all of `text`.
private func value(_ text: String) -> Double? {
    let bytes = Array(text.utf8)
    return unsafe bytes.withUnsafeBufferPointer { unsafe DecimalNumber.parse($0) }
}

@Suite struct DecimalTests {
    @Test func `agrees with strtod to the bit`() {
        var random = SplitMix64(seed: 1)
        var mistakes = 0
        for _ in 0..<20_000 {
            let integer = String(
                UInt64.random(in: 0..<1000, using: &random) >> UInt64.random(in: 0...9, using: &random))
            let fraction = (0..<Int.random(in: 0...20, using: &random)).map { _ in
                String(Int.random(in: 0...9, using: &random))
            }.joined()
            let sign = ["", "-", "", "+"].randomElement(using: &random)!
            let exponent =
                Int.random(in: 0...9, using: &random) == 0 ? "e\(Int.random(in: -30...30, using: &random))" : ""
            let text = sign + integer + (fraction.isEmpty ? "" : "." + fraction) + exponent
            let expected = unsafe strtod(text, nil)
            if value(text)?.bitPattern != expected.bitPattern { mistakes += 1 }
        }
        #expect(mistakes == 0)
    }

    /// A million numbers as files hold positions.
    @Test func `agrees with strtod on a million positions`() {
        var random = SplitMix64(seed: 17)
        var text = [UInt8](repeating: 0, count: 40)
        var mistakes = 0
        for _ in 0..<1_000_000 {
            var bits = random.next()
            var count = 0
            func put(_ byte: UInt8) {
                text[count] = byte
                count += 1
            }
            func putDigits(_ wanted: Int) {
                for _ in 0..<wanted {
                    put(48 + UInt8(truncatingIfNeeded: bits % 10))
                    bits = bits / 10 &+ (bits << 57)
                }
            }
            if bits & 1 == 1 { put(UInt8(ascii: "-")) }
            putDigits(1 + Int(bits >> 1 & 3))
            put(UInt8(ascii: "."))
            putDigits(Int(bits >> 3 & 15))
            text[count] = 0
            let (value, exact) = unsafe text.withUnsafeBufferPointer { bytes in
                let number = unsafe UnsafeBufferPointer(rebasing: bytes[..<count])
                let exact = unsafe bytes.withMemoryRebound(to: CChar.self) { unsafe strtod($0.baseAddress!, nil) }
                return (unsafe DecimalNumber.parse(number), exact)
            }
            if value?.bitPattern != exact.bitPattern { mistakes += 1 }
        }
        #expect(mistakes == 0)
    }

    @Test(arguments: [
        "", " ", "-", "+", ".", "-.", "e5", "1e", "1e+", "1.2.3", "1,5", "0x10", "nan", "inf", "-inf", "infinity",
        "12a", "--1", "1 2", "１", "1\u{0}", "1_000",
    ])
    func `refuses`(_ text: String) {
        #expect(value(text) == nil)
    }

    @Test(arguments: [
        ("5.", 5.0), (".5", 0.5), ("-.25", -0.25), (" 7 ", 7), ("\t8", 8), ("1E2", 100), ("+3", 3), ("-0", -0.0),
        ("00031.5", 31.5), ("1e400", .infinity), ("123456789012345678901234567890", 1.2345678901234568e29),
        ("0.1000000000000000055511151231257827", 0.1), ("9007199254740993", 9_007_199_254_740_992),
    ])
    func `reads`(_ text: String, _ expected: Double) {
        #expect(value(text)?.bitPattern == expected.bitPattern)
    }

    @Test func `text of four hundred digits is read and more is not`() {
        #expect(value("0." + String(repeating: "3", count: 398)) == 1.0 / 3)
        #expect(value("0." + String(repeating: "3", count: 399)) == nil)
    }
}

@Suite struct PrintingTests {
    private func text(_ append: (inout ByteBuffer) -> Void) -> String {
        var out = ByteBuffer(capacity: 0)
        append(&out)
        return String(decoding: out.array, as: UTF8.self)
    }

    /// Every four digits in either half of eight, which are printed at once.
    @Test func `digits are those of the number`() {
        var mistakes = 0
        for four in 0..<10_000 {
            for value in [four, four * 10_000, four * 10_000 + 9_999, four * 10_000 + four, 99_990_000 + four] {
                if text({ $0.append(decimal: value) }) != String(value) { mistakes += 1 }
            }
        }
        var random = SplitMix64(seed: 5)
        let edges = [99_999_999, 100_000_000, 9_999_999_999_999_999, 10_000_000_000_000_000, Int.max, Int.min, -1]
        let numbers =
            edges
            + (0..<20_000).map { _ in
                Int(
                    bitPattern: UInt.random(in: 0...UInt.max, using: &random) >> UInt.random(in: 0...63, using: &random)
                )
            }
        for value in numbers where text({ $0.append(decimal: value) }) != String(value) { mistakes += 1 }
        for width in 1...20 {
            for value in [0, 1, 9, 10, 12_345_678, 123_456_789, UInt.max] {
                let digits = String(value)
                let expected = String(repeating: "0", count: max(0, width - digits.count)) + digits
                if text({ $0.append(digits: value, atLeast: width) }) != expected { mistakes += 1 }
            }
        }
        #expect(mistakes == 0)
    }

    @Test func `angles have five decimals`() {
        var random = SplitMix64(seed: 6)
        let edges = [
            0, -0.0, 0.000004, -0.000004, 0.000006, -0.000006, 9.99999, 10, 99.99999, 100, 180, -180, 359.99999,
            999.99999,
        ]
        let angles =
            edges
            + (0..<50_000).map { _ in
                (Double.random(in: -360...360, using: &random) * 100_000).rounded() / 100_000
            }
        var mistakes = 0
        for angle in angles {
            let expected = String(format: "%.5f", angle == 0 || abs(angle) < 0.000005 ? 0 : angle)
            if text({ $0.append(degrees: angle) }) != expected { mistakes += 1 }
        }
        #expect(mistakes == 0)
    }
}
