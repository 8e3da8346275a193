import TextCoding

/// The first records of a table as they stand: what is guessed of a table is guessed from these.
///
/// It ends before a further header. Comments among the records are left out, and so are records whose quotes do not close.
struct CSVSample: RecordSample {
    private let bytes: [UInt8]
    private var spans: [FieldSpan] = []
    /// The number of each record's first span, and the end of the last one's.
    private var starts = [0]

    var count: Int { starts.count - 1 }

    /// - Parameters:
    ///   - buffer: whole records.
    ///   - layout: by which other headers are recognized.
    init(_ buffer: borrowing InputBuffer, delimiter: UInt8, header: CSVHeader, position: PositionColumns) {
        bytes = unsafe Array(buffer.bytes)
        let names = CSVHeaderNames(header.names, delimiter: delimiter, hasRowNames: false)
        unsafe bytes.withUnsafeBufferPointer { text in
            guard let base = text.baseAddress else { return }
            var at = 0
            // SAFETY: all offsets are below the count.
            while at < text.count, count < RecordSamples.most {
                let start = at
                let isClosed = unsafe readRecord(base, text.count, delimiter, &at)
                let line = unsafe UnsafeBufferPointer(rebasing: text[start..<at]).firstLine
                if unsafe !isPosition(text, position),
                    unsafe names.header(line, latitude: position.latitude, longitude: position.longitude) != nil
                {
                    spans.removeLast(spans.count - starts[starts.count - 1])
                    break
                }
                if unsafe !isClosed || CSVHeaderNames.mayPrecede(line) {
                    spans.removeLast(spans.count - starts[starts.count - 1])
                } else {
                    starts.append(spans.count)
                }
            }
        }
    }

    /// Appends the spans of a record's fields; false where a quote is not closed as it should.
    private mutating func readRecord(
        _ base: UnsafePointer<UInt8>, _ count: Int, _ delimiter: UInt8, _ at: inout Int
    ) -> Bool {
        var isClosed = true
        while true {
            let start = at
            // SAFETY: the buffer ends with a line feed, and offsets are tested against its count.
            if unsafe base[at] == CSVQuote.byte {
                if let end = unsafe CSVQuote.end(base, from: at + 1, count: count) {
                    at = end
                } else {
                    isClosed = false
                }
            }
            let closed = at
            while at < count, unsafe base[at] != delimiter && base[at] != 10 { at += 1 }
            var end = at
            if end > start, at < count, unsafe base[at] == 10 && base[end - 1] == 13 { end -= 1 }
            if closed > start, end > closed { isClosed = false }
            spans.append(FieldSpan(start: UInt32(truncatingIfNeeded: start), end: UInt32(truncatingIfNeeded: end)))
            let isEnd = unsafe at >= count || base[at] == 10
            at = min(at + 1, count)
            if isEnd { return isClosed }
        }
    }

    /// Whether the record read last has what may be a coordinate where the latitude stands, so that it is no header.
    private func isPosition(_ text: UnsafeBufferPointer<UInt8>, _ position: PositionColumns) -> Bool {
        let number = starts[starts.count - 1] + position.latitude
        guard number < spans.count else { return false }
        let span = spans[number]
        // SAFETY: spans lie within the text.
        let field = unsafe CSVQuote.trimmed(UnsafeBufferPointer(rebasing: text[Int(span.start)..<Int(span.end)]))
        return unsafe DecimalNumber.parse(field) != nil || PairText.parse(field, .latitudeFirst, .any) != nil
    }

    func fieldCount(_ record: Int) -> Int { starts[record + 1] - starts[record] }

    /// Calls `body` with a field without the quotes around it; with nothing where the record has no such field.
    func withField<Result>(
        _ record: Int, _ column: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result {
        unsafe bytes.withUnsafeBufferPointer { text in
            unsafe body(CSVQuote.trimmed(UnsafeBufferPointer(rebasing: text[range(record, column)])))
        }
    }

    func isQuoted(_ record: Int, _ column: Int) -> Bool {
        let range = range(record, column)
        return !range.isEmpty && bytes[range.lowerBound] == CSVQuote.byte
    }

    /// Whether there is nothing but blanks in a field.
    func isBlank(_ record: Int, _ column: Int) -> Bool {
        unsafe withField(record, column) { unsafe $0.allSatisfy(DecimalNumber.isBlank) }
    }

    private func range(_ record: Int, _ column: Int) -> Range<Int> {
        guard column < fieldCount(record) else { return 0..<0 }
        let span = spans[starts[record] + column]
        return Int(span.start)..<Int(span.end)
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// What is before its first line feed.
    fileprivate var firstLine: UnsafeBufferPointer<UInt8> {
        unsafe UnsafeBufferPointer(rebasing: self.prefix { $0 != 10 })
    }
}

/// How the fields of a table's records stand to its header.
enum CSVShape: Sendable {
    /// Each record has as many fields as the header has names.
    case equal
    /// The same; and what is more, in whichever record, is empty: separators at the end make no fields.
    case separators
    /// Each record has a name, or a number, before its first field, which the header does not name: R writes tables so.
    case rowNames

    /// The shape that holds for all records of a sample; `separators` where there is none.
    init(_ sample: CSVSample, columns: Int, position: PositionColumns) {
        let records = 0..<sample.count
        if !records.isEmpty, records.allSatisfy({ sample.fieldCount($0) == columns + 1 }),
            Self.haveRowNames(sample, columns: columns, position: position)
        {
            self = .rowNames
        } else {
            let isEmpty = records.allSatisfy { record in
                (columns..<max(columns, sample.fieldCount(record))).allSatisfy { sample.isBlank(record, $0) }
            }
            self = isEmpty ? .separators : .equal
        }
    }

    /// Whether records with a field more than the header have it at the front.
    private static func haveRowNames(_ sample: CSVSample, columns: Int, position: PositionColumns) -> Bool {
        let records = 0..<sample.count
        if records.contains(where: { !sample.isBlank($0, columns) }) { return true }
        let areCounted = areCounted(sample)
        let beginsWithCoordinate = position.latitude == 0 || position.longitude == 0
        if beginsWithCoordinate, areCounted || records.allSatisfy({ !isCoordinate(sample, $0) }) { return true }
        // R puts the names of rows in quotation marks, and numbers in none.
        return areCounted
            && records.allSatisfy { record in
                sample.isQuoted(record, 0)
                    && [position.latitude, position.longitude].allSatisfy { !sample.isQuoted(record, $0 + 1) }
            }
    }

    /// Whether the first fields count the records: 0 or 1, 2, 3 and so on.
    private static func areCounted(_ sample: CSVSample) -> Bool {
        func number(_ record: Int) -> Int64? { unsafe sample.withField(record, 0) { unsafe wholeNumber($0) } }
        guard let first = number(0), first == 0 || first == 1 else { return false }
        return (1..<max(1, sample.count)).allSatisfy { number($0) == first + Int64($0) }
    }

    private static func isCoordinate(_ sample: CSVSample, _ record: Int) -> Bool {
        unsafe sample.withField(record, 0) { text in
            if unsafe DecimalNumber.parse(text) != nil { return true }
            return unsafe AngleText.parse(text, .latitude) != nil || AngleText.parse(text, .longitude) != nil
                || PairText.parse(text, .latitudeFirst, .any) != nil
        }
    }
}
