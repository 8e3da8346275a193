import Hereabouts
import TextCoding

/// What `snap` copies as a time: texts that have the form of one, whatever moment they say. Anything else in such a column is
/// there by mistake, and may be an address or a coordinate.
struct TimeForm: Sendable {
    let style: TimeStyle
    /// The moments that a number can be.
    let bounds: TimeBounds
    /// Whether a time of the day alone is one: not where coordinates are written with colons.
    var allowsTimeOfDay = true

    /// What stands for a time where there is none.
    private static let words: Set<String> = ["null", "na", "n/a", "nan", "-", "none"]
    private static let longest = 64

    /// Whether a text is `2026-03-01T08:15:30`, with a `T` or a blank, and nothing or a `Z` behind it.
    @inline(__always)
    static func isPlain(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard unsafe text.count == 19 || (text.count == 20 && text[19] == 0x5a) else { return false }
        // SAFETY: all bytes are below the count.
        func word(_ offset: Int) -> UInt64 {
            let bytes = unsafe UnsafeRawPointer(text.baseAddress!)
            return unsafe UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        return unsafe (text[10] == 0x54 || text[10] == 0x20)
            // yyyy-mm-, ddThh:mm, hh:mm:ss
            && areDigits(word(0), between: 0x2d00_002d_0000_0000, 0xff00_00ff_0000_0000)
            && areDigits(word(8) & ~0xff_0000, between: 0x0000_3a00_0000_0000, 0x0000_ff00_00ff_0000)
            && areDigits(word(11), between: 0x0000_3a00_003a_0000, 0x0000_ff00_00ff_0000)
    }

    /// Whether eight characters are digits but for those that a mask names, which are given.
    @inline(__always)
    private static func areDigits(_ word: UInt64, between others: UInt64, _ mask: UInt64) -> Bool {
        let digits = (word ^ 0x3030_3030_3030_3030) & ~mask
        // Below ten: neither a digit nor it and six reaches sixteen.
        return word & mask == others && (digits | digits &+ 0x0606_0606_0606_0606) & 0xf0f0_f0f0_f0f0_f0f0 == 0
    }

    /// Whether a text, without quotes around it, has the form of a time, or stands for none.
    func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard text.count <= Self.longest else { return false }
        let blanks = unsafe text.prefix { $0 <= 0x20 }.count
        let body = unsafe text.dropFirst(blanks)
        guard unsafe !body.isEmpty,
            unsafe !Self.words.contains(String(decoding: body, as: UTF8.self).trimmed.lowercased())
        else { return true }
        if unsafe DecimalNumber.parse(text) != nil || AngleText.decimalComma(text) != nil {
            if let time = unsafe Timestamp(text, as: style), bounds.problem(time) == nil {
                return unsafe !Timestamp.isRounded(text, style)
            }
            return unsafe allowsTimeOfDay && Timestamp.isCompact(text)
        }
        if unsafe Timestamp.isTime(text, allowsTimeOfDay: allowsTimeOfDay) { return true }
        return unsafe Self.isInWords(text)
    }

    // MARK: Months by name

    private static let months = [
        "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
        "december",
    ]
    private static let weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
    private static let others: Set<String> = ["t", "z", "am", "pm", "utc", "gmt"]

    /// Whether a text is a date with its month in English, with or without a weekday and a time: `01-May-2026 08:10`,
    /// `Fri, 01 May 2026 08:10:00 GMT`.
    private static func isInWords(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var named = 0, numbers = 0
        var isYear = false
        var at = 0
        func take(_ isOfToken: (UInt8) -> Bool) -> String {
            let start = at
            // SAFETY: tested against the count.
            while at < text.count, unsafe isOfToken(text[at]) { at += 1 }
            return unsafe String(decoding: text[start..<at], as: UTF8.self)
        }
        while at < text.count {
            let byte = unsafe text[at]
            if byte &- 48 < 10 {
                let digits = take { $0 &- 48 < 10 }
                guard digits.count <= 4 else { return false }
                if digits.count == 4 { isYear = true }
                numbers += 1
            } else if (byte | 0x20) &- 97 < 26 {
                let word = take { ($0 | 0x20) &- 97 < 26 }.lowercased()
                if isName(word, of: months) {
                    named += 1
                } else if !isName(word, of: weekdays), !others.contains(word) {
                    return false
                }
            } else if " ,:-/+\t.".utf8.contains(byte) {
                at += 1
            } else {
                return false
            }
        }
        return named == 1 && isYear && (2...7).contains(numbers)
    }

    /// Whether a word is a name of a list, or its first three letters.
    private static func isName(_ word: String, of names: [String]) -> Bool {
        names.contains { $0 == word || $0.prefix(3) == word }
    }
}

extension String {
    fileprivate var trimmed: Substring {
        var body = self[...]
        while let last = body.unicodeScalars.last, last.value <= 0x20 { body.unicodeScalars.removeLast() }
        return body
    }
}
