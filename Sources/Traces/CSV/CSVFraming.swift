#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Records of a table: each ends at a line feed outside quotes (`CSVQuote`).
///
/// The state is carried from read to read, so that each byte is scanned once and where the reads fall makes no
/// difference.
struct CSVFraming: Framing {
    let delimiter: UInt8
    /// How many bytes were scanned outside quotes.
    private var scanned = 0
    /// Where to go on inside a field whose closing quote has not come yet; nil outside quotes.
    private var quoted: Int?

    init(delimiter: UInt8) { self.delimiter = delimiter }

    mutating func lastRecordEnd(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        guard let base = bytes.baseAddress else { return nil }
        var recordEnd: Int?
        while true {
            if let from = quoted {
                let end = unsafe CSVQuote.end(base, from: from, count: bytes.count)
                // A quote that is the last byte may yet be the first of a pair.
                guard let end, end < bytes.count else {
                    quoted = end.map { $0 - 1 } ?? bytes.count
                    break
                }
                quoted = nil
                scanned = end
            }
            let quote = unsafe memchr(base + scanned, Int32(CSVQuote.byte), bytes.count - scanned).map {
                unsafe UnsafePointer($0.assumingMemoryBound(to: UInt8.self)) - base
            }
            let plain = scanned..<(quote ?? bytes.count)
            if let feed = unsafe bytes[plain].lastIndex(of: 10) { recordEnd = feed + 1 }
            scanned = quote.map { $0 + 1 } ?? bytes.count
            guard let quote else { break }
            let before = quote == 0 ? 10 : unsafe base[quote - 1]
            if before == 10 || before == delimiter { quoted = quote + 1 }
        }
        return recordEnd
    }

    mutating func drop(_ count: Int) {
        scanned -= count
        quoted = quoted.map { $0 - count }
    }
}
