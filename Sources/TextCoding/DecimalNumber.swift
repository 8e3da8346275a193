#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Decimal numbers in text, correctly rounded: `[+-] digits [. digits] [e [+-] digits]`, with a digit before the
/// exponent. `inf`, hexadecimal and decimal commas are no numbers.
///
/// Up to 19 digits are collected in an integer. Where that and the power of ten are exact as doubles (below 2⁵³ and at
/// most 10²²), one multiplication or division rounds correctly (Clinger, "How to read floating point numbers
/// accurately", 1990). Everything else goes to `strtod`.
package enum DecimalNumber {
    /// The most characters of a number that is a field.
    private static let maximumLength = 400

    /// The number that is all of `text`, spaces and tabs around it aside; nil for anything else, and for more than 400
    /// characters.
    ///
    /// - Complexity: O(length); no allocation.
    package static func parse(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
        // SAFETY: indices stay within `text`.
        var low = 0, high = text.count
        while low < high, unsafe isBlank(text[low]) { low += 1 }
        while low < high, unsafe isBlank(text[high - 1]) { high -= 1 }
        let number = unsafe UnsafeBufferPointer(rebasing: text[low..<high])
        guard number.count <= maximumLength, let prefix = unsafe prefix(number), prefix.length == number.count else {
            return nil
        }
        return prefix.value
    }

    /// Which spellings count as numbers.
    package enum Grammar {
        /// JSON's (RFC 8259): no leading plus or zeros, digits on both sides of the point.
        case json
        /// What programs print into tables: also `+1`, `.5`, `1.`, `007`, and `nan` in any case.
        case table
    }

    /// Reads the number that begins at `offset` and moves `offset` past it; nil, `offset` unmoved, if none does.
    ///
    /// - Complexity: O(length).
    package static func read(_ bytes: [UInt8], at offset: inout Int, _ grammar: Grammar) -> Double? {
        let start = offset
        let number = unsafe bytes.withUnsafeBufferPointer { text in
            // SAFETY: the offset is at most the count.
            unsafe prefix(UnsafeBufferPointer(rebasing: text[start...]))
        }
        guard let number else { return grammar == .table ? notANumber(bytes, at: &offset) : nil }
        guard grammar == .table || isJSON(bytes[start..<start + number.length]) else { return nil }
        offset += number.length
        return number.value
    }

    /// Whether a number is one of JSON.
    private static func isJSON(_ number: ArraySlice<UInt8>) -> Bool {
        let digits = number.first == UInt8(ascii: "-") ? number.dropFirst() : number
        let whole = digits.prefix { $0 &- UInt8(ascii: "0") < 10 }
        guard !whole.isEmpty, whole.count == 1 || whole.first != UInt8(ascii: "0") else { return false }
        let rest = digits.dropFirst(whole.count)
        guard rest.first == UInt8(ascii: ".") else { return true }
        return rest.dropFirst().first.map { $0 &- UInt8(ascii: "0") < 10 } ?? false
    }

    /// Reads `nan` in any case, with or without a sign.
    private static func notANumber(_ bytes: [UInt8], at offset: inout Int) -> Double? {
        var text = bytes[offset...]
        if text.first == UInt8(ascii: "-") || text.first == UInt8(ascii: "+") { text = text.dropFirst() }
        guard text.count >= 3, text.prefix(3).elementsEqual("nan".utf8, by: { $0 | 0x20 == $1 }) else { return nil }
        offset = text.startIndex + 3
        return .nan
    }

    /// The number at the front of `text` and the bytes it takes; nil where there is none.
    private static func prefix(_ text: UnsafeBufferPointer<UInt8>) -> (value: Double, length: Int)? {
        var scan = Scan()
        guard unsafe scan.read(text) else { return nil }
        if let value = scan.exactValue { return (value, scan.length) }
        return unsafe (slowValue(UnsafeBufferPointer(rebasing: text[..<scan.length])), scan.length)
    }

    /// Space or tab.
    @inlinable
    package static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func slowValue(_ number: UnsafeBufferPointer<UInt8>) -> Double {
        // SAFETY: the copy is NUL-terminated within its bytes.
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: number.count + 1) { copy in
            for index in 0..<number.count { unsafe copy[index] = CChar(bitPattern: number[index]) }
            unsafe copy[number.count] = 0
            return unsafe strtod(copy.baseAddress!, nil)
        }
    }

    /// The parts of a number read so far.
    private struct Scan {
        private(set) var length = 0
        private var isNegative = false
        private var mantissa: UInt64 = 0
        /// Significant digits, of which the first 19 are in the mantissa.
        private var digitCount = 0
        private var exponent = 0

        /// Reads the number at the front of `text`; false where there is none.
        @inline(__always)
        mutating func read(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
            // SAFETY: `length` is tested against the count before each use.
            if length < text.count, unsafe text[length] == UInt8(ascii: "-") || text[length] == UInt8(ascii: "+") {
                unsafe isNegative = text[length] == UInt8(ascii: "-")
                length += 1
            }
            var digits = unsafe readDigits(text)
            if length < text.count, unsafe text[length] == UInt8(ascii: ".") {
                length += 1
                let fraction = unsafe readDigits(text)
                exponent = -fraction
                digits += fraction
            }
            guard digits > 0 else { return false }
            if length < text.count, unsafe text[length] | 0x20 == UInt8(ascii: "e") {
                return unsafe readExponent(text)
            }
            return true
        }

        /// The number, where one rounding gives it.
        @inline(__always)
        var exactValue: Double? {
            guard digitCount <= 19, mantissa <= 1 << 53, abs(exponent) <= 22 else { return nil }
            let magnitude = Double(mantissa)
            let value =
                exponent < 0
                ? magnitude / DecimalNumber.powersOfTen[-exponent]
                : magnitude * DecimalNumber.powersOfTen[exponent]
            return isNegative ? -value : value
        }

        /// - Returns: how many digits there were.
        @inline(__always)
        private mutating func readDigits(_ text: UnsafeBufferPointer<UInt8>) -> Int {
            let start = length
            while length < text.count {
                let digit = unsafe text[length] &- UInt8(ascii: "0")
                guard digit < 10 else { break }
                if digitCount < 19 { mantissa = mantissa &* 10 &+ UInt64(digit) }
                if mantissa != 0 { digitCount += 1 }
                length += 1
            }
            return length - start
        }

        private mutating func readExponent(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
            length += 1
            var isNegative = false
            if length < text.count, unsafe text[length] == UInt8(ascii: "-") || text[length] == UInt8(ascii: "+") {
                unsafe isNegative = text[length] == UInt8(ascii: "-")
                length += 1
            }
            let start = length
            var power = 0
            while length < text.count, unsafe text[length] &- UInt8(ascii: "0") < 10 {
                // No double has a larger exponent, so that further digits change nothing.
                power = min(unsafe power * 10 + Int(text[length] &- UInt8(ascii: "0")), 100_000)
                length += 1
            }
            exponent += isNegative ? -power : power
            return length > start
        }
    }

    /// 10⁰ … 10²², all exact.
    private static let powersOfTen: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ]
}
