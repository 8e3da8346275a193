#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The quote rule of RFC 4180, for framing, records and headers alike: a quote opens at the start of a field only, so
/// that a stray one (`5'10"`) means nothing; in quotes a pair of quotes is one, and any other closes.
enum CSVQuote {
    static let byte = UInt8(ascii: "\"")

    /// The offset after the quote that closes a field; nil where no quote before `count` does. One that is the last
    /// byte closes.
    ///
    /// - Parameter start: the offset after the opening quote, or of a later byte that is not the second of a pair.
    static func end(_ base: UnsafePointer<UInt8>, from start: Int, count: Int) -> Int? {
        // SAFETY: `at` is tested against `count` before use.
        var at = start
        while at < count, let found = unsafe memchr(base + at, Int32(byte), count - at) {
            at = unsafe UnsafePointer(found.assumingMemoryBound(to: UInt8.self)) - base + 1
            if at == count { return at }
            guard unsafe base[at] == byte else { return at }
            at += 1
        }
        return nil
    }

    /// The field without quotes around it, if it begins with one; pairs of quotes within stay pairs.
    static func trimmed(_ field: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
        guard field.count >= 2, unsafe field[0] == byte else { return unsafe field }
        return unsafe UnsafeBufferPointer(rebasing: field[1..<field.count - 1])
    }

    /// The content of a field, quoted or not.
    static func value(_ field: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        unsafe field.first == byte ? content(field) : Array(field)
    }

    /// The content of a well-quoted field: without the quotes around it, each pair of quotes in it made one.
    static func content(_ field: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        var content: [UInt8] = []
        var isSecond = false
        unsafe trimmed(field).forEach { byte in
            isSecond = byte == Self.byte && !isSecond
            if !isSecond { content.append(byte) }
        }
        return content
    }
}
