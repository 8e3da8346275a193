#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Records of a table: each ends at a line feed outside quotes (`CSVQuote`). A comment, or a line without anything in it,
/// goes with the record behind it, since that may be a header.
///
/// The state is carried from read to read, so that each byte is scanned once and where the reads fall makes no
/// difference.
struct CSVFraming: Framing {
    let delimiter: UInt8
    /// Whether comments wait for the record behind them.
    private let holdsComments: Bool
    /// How many bytes were scanned outside quotes.
    private var scanned = 0
    /// Where to go on inside a field whose closing quote has not come yet; nil outside quotes.
    private var quoted: Int?

    init(delimiter: UInt8, holdsComments: Bool = true) {
        (self.delimiter, self.holdsComments) = (delimiter, holdsComments)
    }

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
            recordEnd = unsafe lastRecordEnd(bytes, in: plain) ?? recordEnd
            scanned = quote.map { $0 + 1 } ?? bytes.count
            guard let quote else { break }
            let before = quote == 0 ? 10 : unsafe base[quote - 1]
            if before == 10 || before == delimiter { quoted = quote + 1 }
        }
        return recordEnd
    }

    /// The last line end in a part of the bytes that has no quotes, and is not behind what may precede a header.
    private func lastRecordEnd(_ bytes: UnsafeBufferPointer<UInt8>, in part: Range<Int>) -> Int? {
        var end = part.upperBound
        // SAFETY: all places are within the bytes.
        while let feed = unsafe bytes[part.lowerBound..<end].lastIndex(of: 10) {
            let start = unsafe bytes[..<feed].lastIndex(of: 10).map { $0 + 1 } ?? 0
            let line = unsafe UnsafeBufferPointer(rebasing: bytes[start..<feed])
            if unsafe !holdsComments || !CSVHeaderNames.mayPrecede(line) { return feed + 1 }
            end = feed
        }
        return nil
    }

    mutating func drop(_ count: Int) {
        scanned -= count
        quoted = quoted.map { $0 - count }
    }
}
