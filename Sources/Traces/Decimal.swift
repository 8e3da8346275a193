internal import CKernels

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Decimal numbers in text, correctly rounded.
///
/// The usual form (`-106.48693`: at most 15 digits or so, no exponent) is read as an integer and divided by an exact
/// power of ten: both are exact doubles, so the one division rounds correctly. Everything else that is a number goes
/// to `strtod`, which is exact and slow.
enum Decimal {
    /// A number read from the front of some text.
    struct Prefix {
        /// What the number is.
        var value: Double
        /// How many bytes it takes up.
        var length: Int
    }

    /// Reads a number of the usual form at `text`; nil for any other, which is then for `parse(_:)`.
    ///
    /// - Precondition: 42 bytes are readable.
    /// - Complexity: O(digits); no allocation.
    @inline(__always)
    static func prefix(_ text: UnsafePointer<UInt8>) -> Prefix? {
        // SAFETY: a sign, up to eight digits, a point, up to 24 digits and the eight bytes after them are looked at.
        var at = unsafe text
        let negative = unsafe at.pointee == UInt8(ascii: "-")
        if negative { unsafe at += 1 }
        var mantissa: UInt64 = 0
        var digits = unsafe appendDigits(&at, to: &mantissa)
        var fraction = 0
        if digits < 8, unsafe at.pointee == UInt8(ascii: ".") {
            unsafe at += 1
            while true {
                let count = unsafe appendDigits(&at, to: &mantissa)
                fraction += count
                if count < 8 || fraction > 16 { break }
            }
            digits += fraction
        }
        // Below 2⁵³ the mantissa is exact; 18 digits cannot have overflowed it on the way.
        guard digits > 0, digits <= 18, mantissa < 1 << 53, unsafe at.pointee &- 48 >= 10,
            unsafe at.pointee | 0x20 != UInt8(ascii: "e")
        else { return nil }
        var value = Double(mantissa)
        if fraction > 0 { value /= exact_power_of_ten(fraction) }
        return unsafe Prefix(value: negative ? -value : value, length: at - text)
    }

    /// Reads up to eight digits.
    ///
    /// - Returns: how many there are.
    @inline(__always)
    private static func appendDigits(_ at: inout UnsafePointer<UInt8>, to mantissa: inout UInt64) -> Int {
        let word = unsafe UInt64(littleEndian: UnsafeRawPointer(at).loadUnaligned(as: UInt64.self))
        let count = leadingDigits(word)
        if count == 0 { return 0 }
        mantissa = mantissa &* power_of_ten(count) &+ swar_parse_digits(swar_align_digits(word, UInt64(count)))
        unsafe at += count
        return count
    }

    /// The number of the usual form that is the whole of `text`; nil for any other. Reads nothing beyond the text.
    static func usual(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
        guard let start = text.baseAddress, text.count <= 24 else { return nil }
        // SAFETY: all 48 bytes are initialized: a zero ends the number.
        return unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 48) { copy in
            unsafe copy.initialize(repeating: 0)
            unsafe memcpy(copy.baseAddress!, start, text.count)
            guard let number = unsafe prefix(UnsafePointer(copy.baseAddress!)), number.length == text.count else {
                return nil
            }
            return number.value
        }
    }

    /// The number that is the whole of a text of the usual form, with one to seven digits before the point and one to
    /// eight after it; not a number for any other, which may spell one all the same.
    ///
    /// - Precondition: 17 bytes from the text's start are readable.
    @inline(__always)
    static func usual(_ text: UnsafePointer<UInt8>, count: Int) -> Double {
        unsafe hereabouts_parse_fixed_point(text, count)
    }

    /// How many of the eight bytes, from the lowest, are ASCII digits.
    @inline(__always)
    private static func leadingDigits(_ word: UInt64) -> Int {
        // In `over` the high bit is set where a byte is above '9', in `under` clear where it is below '0'.
        let low = word & 0x7f7f_7f7f_7f7f_7f7f
        let over = low &+ 0x4646_4646_4646_4646
        let under = (low | 0x8080_8080_8080_8080) &- 0x3030_3030_3030_3030
        let other = (over | ~under | word) & 0x8080_8080_8080_8080
        return other.trailingZeroBitCount >> 3
    }

    /// The number that is the whole of `text`, blanks around it aside: sign, digits, fraction, exponent. Nil for
    /// anything else: `nan`, `inf`, hexadecimal, decimal commas, or more than 400 characters.
    static func parse(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
        // SAFETY: indices stay within `text`; the copy is NUL-terminated within its 401 bytes.
        var low = 0
        var high = text.count
        while low < high, unsafe isBlank(text[low]) { low += 1 }
        while low < high, unsafe isBlank(text[high - 1]) { high -= 1 }
        guard high - low <= 400, unsafe isNumber(UnsafeBufferPointer(rebasing: text[low..<high])) else { return nil }
        return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 401) { copy in
            for index in low..<high { unsafe copy[index - low] = CChar(bitPattern: text[index]) }
            unsafe copy[high - low] = 0
            return unsafe strtod(copy.baseAddress!, nil)
        }
    }

    /// Whether the text is `[+-] digits [. digits] [e [+-] digits]` with a digit before the exponent.
    private static func isNumber(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        // SAFETY: `at` is tested against `text.count` before each use.
        var at = 0
        func skipSign() {
            if at < text.count, unsafe text[at] == UInt8(ascii: "-") || text[at] == UInt8(ascii: "+") { at += 1 }
        }
        func skipDigits() -> Int {
            let start = at
            while at < text.count, unsafe text[at] &- 48 < 10 { at += 1 }
            return at - start
        }
        skipSign()
        var digits = skipDigits()
        if at < text.count, unsafe text[at] == UInt8(ascii: ".") {
            at += 1
            digits += skipDigits()
        }
        guard digits > 0 else { return false }
        if at < text.count, unsafe text[at] | 0x20 == UInt8(ascii: "e") {
            at += 1
            skipSign()
            guard skipDigits() > 0 else { return false }
        }
        return at == text.count
    }

    /// Space or tab.
    @inline(__always)
    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}

extension UInt64 {
    /// The top bits of the bytes that are `byte`, and perhaps of some above one of them: the lowest is right.
    @inline(__always)
    func marks(of byte: UInt8) -> UInt64 {
        let other = self ^ UInt64(byte) &* 0x0101_0101_0101_0101
        return (other &- 0x0101_0101_0101_0101) & ~other & 0x8080_8080_8080_8080
    }
}
