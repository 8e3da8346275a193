import Hereabouts

extension TraceFormat {
    /// The sentences of a receiver (NMEA 0183). Not written.
    package static let nmea = TraceFormat(
        name: "nmea", otherNames: ["nma"], isNamedByFile: true, hasBlankRecords: false,
        recognizes: { (reader) throws(TraceError) in
            var isNMEA = false
            unsafe try reader.peek { bytes, isAtEnd in
                let found = unsafe NMEAStart.recognize(bytes, isAtEnd: isAtEnd)
                isNMEA = found == true
                return found != nil
            }
            return isNMEA
        },
        open: { (reader, options) throws(TraceError) in
            try LineInput(reader, using: .firstDay) { NMEAReader(file: $0, options: options) }
        },
        makeSink: nil)
}

/// Whether an input is sentences of a receiver, by its first lines.
enum NMEAStart {
    /// Bytes in which a sentence is looked for.
    static let reach = 4096
    /// Sentences of receivers that do not make a fix, or not alone.
    /// What the tracks of Magellan's own files consist of, which gpsbabel reads.
    private static let magellan = "PMGNTRK"
    private static let others: Set = ["GSA", "GSV", "VTG", "TXT", "GNS", "GST", "GBS", "DTM", "HDT", "RMB"]

    /// The lines are looked at until one decides: one with a sentence that has a checksum or a known name does, and one
    /// that is none of a sentence, a message of AIS, a greeting of gpsd, a comment and blank.
    ///
    /// - Returns: nil where more bytes are needed.
    static func recognize(_ bytes: UnsafeBufferPointer<UInt8>, isAtEnd: Bool) -> Bool? {
        // SAFETY: offsets are at most the count.
        let isAtEnd = isAtEnd || bytes.count >= reach
        let bytes = unsafe UnsafeBufferPointer(rebasing: bytes.prefix(reach))
        var start = 0
        while start < bytes.count {
            let end = unsafe bytes[start...].firstIndex { $0 == 10 || $0 == 13 }
            if end == nil && !isAtEnd { return nil }
            let line = unsafe UnsafeBufferPointer(rebasing: bytes[start..<(end ?? bytes.count)])
            start = (end ?? bytes.count) + 1
            guard let first = unsafe line.first(where: { $0 != 0x20 && $0 != 9 }) else { continue }
            let isJSON = first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
            if unsafe !isJSON && hasSentence(line) { return true }
            let mayPrecede = unsafe isJSON ? isOfGpsd(line) : "$!#\\".utf8.contains(first)
            guard mayPrecede else { return false }
        }
        return isAtEnd ? false : nil
    }

    private static func hasSentence(_ line: UnsafeBufferPointer<UInt8>) -> Bool { unsafe hasSentence(line[...]) }

    /// What gpsd says before it hands on sentences, as to `gpspipe -r`.
    private static func isOfGpsd(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
        ["VERSION", "DEVICES", "DEVICE", "WATCH"].contains { unsafe line.starts(with: "{\"class\":\"\($0)\"".utf8) }
    }

    /// Whether a line has a sentence with a checksum or a known name, wherever it begins.
    static func hasSentence(_ line: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        var rest = unsafe line
        while let dollar = unsafe rest.firstIndex(of: UInt8(ascii: "$")) {
            unsafe rest = line[(dollar + 1)...]
            let text = unsafe UnsafeBufferPointer(rebasing: rest)
            if unsafe NMEAReader.kind(text) != nil { return true }
            if unsafe NMEAReader.hasChecksum(text), unsafe !text.starts(with: magellan.utf8) { return true }
            guard text.count > 5, unsafe text[5] == UInt8(ascii: ",") else { continue }
            if unsafe others.contains(String(decoding: text[2..<5], as: UTF8.self)) { return true }
        }
        return false
    }
}
