import TextCoding

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// One record of any form, read byte by byte: where its fields are, or what is wrong with its shape.
struct CSVExactRecord {
    /// The fields of a record. Where its shape is wrong they say nothing.
    struct Spans {
        var latitude = FieldSpan()
        var longitude = FieldSpan()
        var kept: [FieldSpan]

        init(kept count: Int) { kept = Array(repeating: FieldSpan(), count: count) }

        mutating func reset() { self = Spans(kept: kept.count) }
    }

    /// What the columns for the hemisphere make of the two numbers: 1, -1, or nil where one has no such letter.
    struct Signs {
        var latitude: Double? = 1
        var longitude: Double? = 1
    }

    /// Offset in the buffer of the byte after the record.
    private(set) var end: Int
    /// Lines the record takes up: more than one where quoted fields hold line feeds.
    private(set) var lines = 1
    /// Whether it is just an empty line, and no record.
    private(set) var isEmpty = false
    private(set) var signs = Signs()
    /// What is wrong with the record's shape (`columnCount`, `quote`, `notTwoNumbers`), if anything.
    private(set) var problem: RecordProblem.Reason?

    /// Reads the record at offset `start` of a buffer of `count` bytes that ends with a line feed, `InputBuffer.padding` after
    /// it.
    init(
        _ base: UnsafePointer<UInt8>, at start: Int, count: Int, layout: CSVLayout, spans: inout Spans
    ) {
        end = count
        // SAFETY: every scan ends at the buffer's last line feed at the latest.
        guard let delimiter = layout.delimiter, unsafe base[start] != 10,
            unsafe base[start] != 13 || base[start + 1] != 10
        else {
            unsafe readLine(base, at: start, count: count, spans: &spans)
            return
        }
        let text = unsafe Text(base: base, count: count, delimiter: delimiter)
        if !readFields(text, at: start, layout, &spans) {
            readShape(text, at: start, columns: layout.roles.count)
        }
        if lines > 1, areRecords(text, start..<end, layout) { readStrayQuote(text, at: start) }
    }

    /// Whether each of several lines that is not empty is a record by itself, so that the quotes which span them mean nothing.
    private func areRecords(_ text: Text, _ range: Range<Int>, _ layout: CSVLayout) -> Bool {
        var at = range.lowerBound
        while at < range.upperBound {
            if text[at] == 10 {
                at += 1
                continue
            }
            guard isRecord(text, at: &at, layout) else { return false }
        }
        return true
    }

    /// Whether a line, in which quotes mean nothing, has as many fields as the header and a position.
    private func isRecord(_ text: Text, at: inout Int, _ layout: CSVLayout) -> Bool {
        var column = 0
        var isPosition = true
        while true {
            let end = text.fieldEnd(at)
            if column < layout.roles.count {
                // SAFETY: the field lies within the text.
                let field = unsafe CSVQuote.trimmed(UnsafeBufferPointer(start: text.base + at, count: end - at))
                switch layout.roles[column] {
                case .latitude: isPosition = unsafe isPosition && Self.isAngle(field, .latitude)
                case .longitude: isPosition = unsafe isPosition && Self.isAngle(field, .longitude)
                case .position:
                    isPosition = unsafe PairText.parse(field, layout.pairOrder ?? .pointOnly, .any) != nil
                default: break
                }
            }
            column += 1
            at = end + 1
            if text[end] != text.delimiter {
                if text[end] == 13 { at += 1 }
                return isPosition && (layout.requiredFields...layout.roles.count).contains(column)
            }
        }
    }

    private static func isAngle(_ field: UnsafeBufferPointer<UInt8>, _ axis: TraceError.Axis) -> Bool {
        unsafe DecimalNumber.parse(field) != nil || AngleText.parse(field, axis) != nil
    }

    /// Makes the first line a bad record of its own.
    private mutating func readStrayQuote(_ text: Text, at start: Int) {
        var at = start
        while text[at] != 10 { at += 1 }
        (end, lines, problem) = (at + 1, 1, .quote)
    }

    /// A buffer's bytes with their delimiter.
    @safe private struct Text {
        // SAFETY: a view of the buffer for the time of `init`. Offsets are tested against `count`; the byte after the last
        // line feed is padding.
        let base: UnsafePointer<UInt8>
        let count: Int
        let delimiter: UInt8

        @inline(__always)
        subscript(at: Int) -> UInt8 { unsafe base[at] }

        /// Whether a field ends here: at a delimiter, a line feed, or a carriage return before one.
        @inline(__always)
        func isFieldEnd(_ at: Int) -> Bool {
            self[at] == delimiter || self[at] == 10 || (self[at] == 13 && self[at + 1] == 10)
        }

        /// Where the unquoted field that begins at an offset ends.
        @inline(__always)
        func fieldEnd(_ start: Int) -> Int {
            var at = start
            while self[at] != delimiter && self[at] != 10 { at += 1 }
            return self[at] == 10 && at > start && self[at - 1] == 13 ? at - 1 : at
        }

        func lineFeeds(_ range: Range<Int>) -> Int { range.count { self[$0] == 10 } }
    }

    /// Reads the fields of a record of the layout's shape; false for any other.
    private mutating func readFields(_ text: Text, at start: Int, _ layout: CSVLayout, _ spans: inout Spans) -> Bool {
        var at = start
        for (column, role) in layout.roles.enumerated() {
            let field = at
            if text[at] == CSVQuote.byte {
                guard let close = unsafe CSVQuote.end(text.base, from: at + 1, count: text.count),
                    close < text.count, text.isFieldEnd(close)
                else { return false }
                lines += text.lineFeeds(at..<close)
                at = close
            } else {
                at = text.fieldEnd(at)
            }
            let span = FieldSpan(start: UInt32(truncatingIfNeeded: field), end: UInt32(truncatingIfNeeded: at))
            switch role {
            case .dropped: break
            case .latitude: spans.latitude = span
            case .longitude: spans.longitude = span
            case .position: (spans.latitude, spans.longitude) = (span, span)
            case .latitudeHemisphere: signs.latitude = sign(text, field..<at, "N", "S")
            case .longitudeHemisphere: signs.longitude = sign(text, field..<at, "E", "W")
            case .kept: spans.kept[layout.slots[column]] = span
            }
            let isLast = column == layout.roles.count - 1
            if text[at] != text.delimiter {
                guard isLast || column + 1 >= layout.requiredFields else { return false }
                // Of columns without a name the fields may be missing.
                for slot in layout.slots[(column + 1)...] where slot >= 0 {
                    spans.kept[slot] = FieldSpan(start: span.end, end: span.end)
                }
                break
            }
            guard isLast else {
                at += 1
                continue
            }
            // Separators at the end of a line, with nothing between them, make no fields.
            guard layout.allowsSeparatorsAtEnd else { return false }
            while text[at] == text.delimiter || DecimalNumber.isBlank(text[at]) { at += 1 }
            guard text.isFieldEnd(at) else { return false }
        }
        end = at + (text[at] == 13 ? 2 : 1)
        return true
    }

    /// What a hemisphere's letter makes of a number; nil where it is no letter of this axis.
    private func sign(
        _ text: Text, _ field: Range<Int>, _ positive: Unicode.Scalar, _ negative: Unicode.Scalar
    ) -> Double? {
        let letters = field.lazy.map { text[$0] }.filter { !DecimalNumber.isBlank($0) && $0 != CSVQuote.byte }
        guard let letter = letters.first, letters.count == 1 else { return nil }
        switch letter & ~0x20 {
        case UInt8(ascii: positive): return 1
        case UInt8(ascii: negative): return -1
        default: return nil
        }
    }

    /// Finds the end of a record of another shape than the header's, and counts its fields and lines.
    private mutating func readShape(_ text: Text, at start: Int, columns: Int) {
        lines = 1
        var at = start, fields = 1, isFieldStart = true
        while at < text.count {
            let byte = text[at]
            if isFieldStart, byte == CSVQuote.byte {
                guard let close = unsafe CSVQuote.end(text.base, from: at + 1, count: text.count) else {
                    problem = .quote
                    // The line feed that closed the buffer is no line of its own.
                    lines += text.lineFeeds(at..<text.count) - 1
                    return
                }
                lines += text.lineFeeds(at..<close)
                at = close
                isFieldStart = false
                if close >= text.count || !text.isFieldEnd(close) { problem = .quote }
                continue
            }
            isFieldStart = byte == text.delimiter
            if byte == text.delimiter { fields += 1 }
            at += 1
            if byte == 10 { break }
        }
        end = at
        if problem == nil { problem = .columnCount(expected: columns, found: fields) }
    }

    /// Reads a line of two numbers, or an empty line.
    private mutating func readLine(_ base: UnsafePointer<UInt8>, at start: Int, count: Int, spans: inout Spans) {
        // SAFETY: the buffer ends with a line feed.
        let feed = unsafe memchr(base + start, 10, count - start)!
        let lineEnd = unsafe UnsafePointer(feed.assumingMemoryBound(to: UInt8.self)) - base
        end = lineEnd + 1
        let line = unsafe UnsafeBufferPointer(start: base + start, count: lineEnd - start)
        if unsafe line.allSatisfy({ DecimalNumber.isBlank($0) || $0 == 13 }) {
            isEmpty = true
        } else if let fields = unsafe BareLine.fields(line) {
            func span(_ range: Range<Int>) -> FieldSpan {
                FieldSpan(
                    start: UInt32(truncatingIfNeeded: start + range.lowerBound),
                    end: UInt32(truncatingIfNeeded: start + range.upperBound))
            }
            (spans.latitude, spans.longitude) = (span(fields.latitude), span(fields.longitude))
        } else {
            problem = .notTwoNumbers
        }
    }
}

/// A line `31.76 -106.48` or `31.76, -106.48`: blanks, a comma or a semicolon between two numbers.
enum BareLine {
    /// Where the two numbers would be; nil where the line is not two words.
    static func fields(_ line: UnsafeBufferPointer<UInt8>) -> (latitude: Range<Int>, longitude: Range<Int>)? {
        // SAFETY: indices are tested against the count.
        let isBlank = { (byte: UInt8) in DecimalNumber.isBlank(byte) || byte == 13 }
        let isMark = { (byte: UInt8) in byte == UInt8(ascii: ",") || byte == UInt8(ascii: ";") }
        var low = 0, high = line.count
        while low < high, unsafe isBlank(line[low]) { low += 1 }
        while low < high, unsafe isBlank(line[high - 1]) { high -= 1 }
        var middle = low
        while middle < high, unsafe !isBlank(line[middle]) && !isMark(line[middle]) { middle += 1 }
        var second = middle
        while second < high, unsafe isBlank(line[second]) { second += 1 }
        if second < high, unsafe isMark(line[second]) { second += 1 }
        while second < high, unsafe isBlank(line[second]) { second += 1 }
        return middle > low && second < high ? (low..<middle, second..<high) : nil
    }

    /// Whether a line is two numbers.
    static func matches(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let fields = unsafe fields(line) else { return false }
        return unsafe DecimalNumber.parse(UnsafeBufferPointer(rebasing: line[fields.latitude])) != nil
            && DecimalNumber.parse(UnsafeBufferPointer(rebasing: line[fields.longitude])) != nil
    }
}
