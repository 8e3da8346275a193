/// Reads decimal numbers from bytes, correctly rounded and much faster than through `String`.
enum DecimalText {
    /// Which spellings count as numbers.
    enum Grammar {
        /// JSON's (RFC 8259): no leading plus or zeros, digits on both sides of the point.
        case json
        /// What programs print into tables: also `+1`, `.5`, `1.`, `007`, `nan`.
        case table
    }

    /// Reads the number that begins at `offset` and moves `offset` past it; nil, `offset` unmoved, if none does.
    ///
    /// Up to 19 digits are collected in an integer. Where that and the power of ten are exact as Doubles (below 2^53
    /// and at most 10^22), one multiplication or division rounds correctly (Clinger, "How to read floating point
    /// numbers accurately", 1990); everything else goes through the standard library. O(length).
    @inline(__always)
    static func read(_ bytes: [UInt8], at offset: inout Int, _ grammar: Grammar) -> Double? {
        var scan = Scan(offset: offset)
        guard scan.sign(bytes, grammar), scan.digits(bytes, grammar) else {
            return grammar == .table ? notANumber(bytes, at: &offset) : nil
        }
        guard scan.exponent(bytes, grammar) else { return nil }
        let value = scan.value ?? Double(String(decoding: bytes[offset..<scan.offset], as: UTF8.self))
        offset = scan.offset
        return value
    }

    /// `nan` in any case, with or without a sign.
    private static func notANumber(_ bytes: [UInt8], at offset: inout Int) -> Double? {
        var start = offset
        if start < bytes.count, bytes[start] == UInt8(ascii: "-") || bytes[start] == UInt8(ascii: "+") { start += 1 }
        guard bytes.count - start >= 3 else { return nil }
        let lowered = bytes[start..<start + 3].map { $0 | 0x20 }
        guard lowered == [UInt8(ascii: "n"), UInt8(ascii: "a"), UInt8(ascii: "n")] else { return nil }
        offset = start + 3
        return .nan
    }

    /// The parts of a number collected so far.
    private struct Scan {
        var offset: Int
        var isNegative = false
        var mantissa: UInt64 = 0
        var digitCount = 0
        var exponent = 0

        init(offset: Int) { self.offset = offset }

        /// The number, where the short way is exact.
        @inline(__always)
        var value: Double? {
            guard digitCount <= 19, mantissa <= 1 << 53, abs(exponent) <= 22 else { return nil }
            let magnitude = Double(mantissa)
            let value =
                exponent < 0
                ? magnitude / DecimalText.powersOfTen[-exponent]
                : magnitude * DecimalText.powersOfTen[exponent]
            return isNegative ? -value : value
        }

        @inline(__always)
        mutating func sign(_ bytes: [UInt8], _ grammar: Grammar) -> Bool {
            guard offset < bytes.count else { return false }
            if bytes[offset] == UInt8(ascii: "-") {
                isNegative = true
                offset += 1
            } else if grammar == .table, bytes[offset] == UInt8(ascii: "+") {
                offset += 1
            }
            return true
        }

        /// Digits, point, digits.
        @inline(__always)
        mutating func digits(_ bytes: [UInt8], _ grammar: Grammar) -> Bool {
            let start = offset
            run(bytes)
            let whole = offset - start
            if grammar == .json, whole == 0 || (whole > 1 && bytes[start] == UInt8(ascii: "0")) { return false }
            guard offset < bytes.count, bytes[offset] == UInt8(ascii: ".") else { return whole > 0 }
            offset += 1
            let fraction = offset
            run(bytes)
            exponent = fraction - offset
            return grammar == .json ? offset > fraction : whole + offset - fraction > 0
        }

        /// Digits only; those past the nineteenth significant one are counted but not kept.
        @inline(__always)
        private mutating func run(_ bytes: [UInt8]) {
            while offset < bytes.count {
                let digit = bytes[offset] &- UInt8(ascii: "0")
                guard digit < 10 else { return }
                if digitCount < 19 { mantissa = mantissa &* 10 &+ UInt64(digit) }
                if mantissa != 0 { digitCount += 1 }
                offset += 1
            }
        }

        /// `e`, perhaps a sign, and digits, if there are any; false if they are begun and not finished.
        @inline(__always)
        mutating func exponent(_ bytes: [UInt8], _ grammar: Grammar) -> Bool {
            guard offset < bytes.count, bytes[offset] | 0x20 == UInt8(ascii: "e") else { return true }
            return longExponent(bytes)
        }

        private mutating func longExponent(_ bytes: [UInt8]) -> Bool {
            offset += 1
            var isDown = false
            if offset < bytes.count, bytes[offset] == UInt8(ascii: "-") || bytes[offset] == UInt8(ascii: "+") {
                isDown = bytes[offset] == UInt8(ascii: "-")
                offset += 1
            }
            let start = offset
            var power = 0
            while offset < bytes.count, bytes[offset] &- UInt8(ascii: "0") < 10 {
                // Past any exponent a Double has, further digits change nothing.
                power = min(power * 10 + Int(bytes[offset] &- UInt8(ascii: "0")), 100_000)
                offset += 1
            }
            exponent += isDown ? -power : power
            return offset > start
        }
    }

    /// 10^0 … 10^22, all exact.
    private static let powersOfTen: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ]
}
