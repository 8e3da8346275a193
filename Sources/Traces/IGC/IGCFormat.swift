import Hereabouts

extension TraceFormat {
    /// The files of flight recorders (IGC). Not written.
    package static let igc = TraceFormat(
        name: "igc", isNamedByFile: true, hasBlankRecords: false,
        recognizes: { (reader) throws(TraceError) in
            var isIGC = false
            unsafe try reader.peek { bytes, isAtEnd in
                let found = unsafe IGCStart.recognize(bytes, isAtEnd: isAtEnd)
                isIGC = found == true
                return found != nil
            }
            return isIGC
        },
        open: { (reader, options) throws(TraceError) in
            try LineInput(reader, using: .firstDay) { IGCReader(file: $0, options: options) }
        },
        makeSink: nil)
}

/// Whether an input is a flight recorder's, by its first lines: a record of its maker (A) or its date first, and a record
/// of the date soon.
enum IGCStart {
    /// Bytes in which the date is looked for.
    static let reach = 4096

    /// - Returns: nil where more bytes are needed.
    static func recognize(_ bytes: UnsafeBufferPointer<UInt8>, isAtEnd: Bool) -> Bool? {
        // SAFETY: offsets are at most the count.
        let isAtEnd = isAtEnd || bytes.count >= reach
        let bytes = unsafe UnsafeBufferPointer(rebasing: bytes.prefix(reach))
        var start = 0, isFirst = true
        while start < bytes.count {
            let end = unsafe bytes[start...].firstIndex { $0 == 10 || $0 == 13 }
            if end == nil && !isAtEnd { return nil }
            let line = unsafe UnsafeBufferPointer(rebasing: bytes[start..<(end ?? bytes.count)])
            start = (end ?? bytes.count) + 1
            guard let first = unsafe line.first else { continue }
            if let date = unsafe IGCReader.dateStart(line), unsafe FixedText.date(line, at: date) != nil { return true }
            // Of a table the first line decides: it has separators.
            if isFirst, unsafe first != UInt8(ascii: "A") || line.count < 4 || line.contains(where: separates) {
                return false
            }
            if first &- 0x41 >= 26 { return false }
            isFirst = false
        }
        return isAtEnd ? false : nil
    }

    private static func separates(_ byte: UInt8) -> Bool { ",;\t|".utf8.contains(byte) }
}
