internal import CKernels

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A field's place in its block, quotes included.
typealias FieldSpan = field_span

extension FieldSpan {
    /// Bytes of the field.
    @inline(__always)
    var count: Int { Int(end) &- Int(start) }
}

/// One record as `RowParser` found it.
struct Row {
    var latitude = Double.nan
    var longitude = Double.nan
    /// Offset in the block of the byte after the record.
    var end: Int
    /// Lines the record takes up: more than one where quoted fields hold line feeds.
    var lines = 1
    /// What is wrong with the record, if anything.
    var problem: RecordProblem.Reason?
    /// Whether the record has no content at all: not a record, just an empty line.
    var isEmpty = false
}

/// Reads records of one layout out of blocks as `BlockReader` makes them.
///
/// In a block without quotes all ends of fields are found at once, and a record whose numbers are of the usual form is
/// read between them; all else is read field by field. Nothing is copied, and nothing allocated for a record.
@safe struct RowParser: ~Copyable {
    private var ends = FieldEnds(.selected)
    /// How many ends of fields are behind the records read.
    private var endsBehind = 0
    /// The columns of latitude and longitude.
    let latitude, longitude: Int
    /// The kept columns, `keptCount` of them.
    private let keptColumns: UnsafeMutablePointer<Int>
    private let columns: Int
    private let roles: UnsafeMutablePointer<CSVLayout.Role>
    private let delimiter: UInt8
    private let isBare: Bool
    /// Whether latitudes and longitudes have columns for their signs.
    private let hasHemisphere: (latitude: Bool, longitude: Bool)
    /// How many spans each record writes.
    let keptCount: Int
    /// Whether there are kept columns, and no other between them.
    let keepsNeighbors: Bool

    init(_ layout: CSVLayout) {
        columns = layout.roles.count
        // SAFETY: freed in deinit; as many elements are initialized as allocated.
        unsafe roles = .allocate(capacity: max(columns, 1))
        for (index, role) in layout.roles.enumerated() { unsafe (roles + index).initialize(to: role) }
        delimiter = layout.delimiter ?? 0
        isBare = layout.delimiter == nil
        hasHemisphere = (layout.roles.contains(.latitudeHemisphere), layout.roles.contains(.longitudeHemisphere))
        keptCount = layout.keptNames.count
        let kept = layout.roles.indices.filter { layout.roles[$0] == .kept }
        keepsNeighbors = !kept.isEmpty && kept[kept.count - 1] - kept[0] == kept.count - 1
        unsafe keptColumns = .allocate(capacity: max(keptCount, 1))
        for (index, column) in kept.enumerated() { unsafe (keptColumns + index).initialize(to: column) }
        latitude = layout.roles.firstIndex(of: .latitude) ?? 0
        longitude = layout.roles.firstIndex(of: .longitude) ?? 0
    }

    deinit {
        unsafe roles.deallocate()
        unsafe keptColumns.deallocate()
    }

    /// Whether ends of fields are listed, rather than all records read field by field.
    private var listsEnds: Bool { !isBare && !hasHemisphere.latitude && !hasHemisphere.longitude }

    /// Makes ready to read the records of a block, from the first on.
    mutating func begin(_ block: UnsafeBufferPointer<UInt8>) {
        if listsEnds { unsafe ends.list(block, delimiter: delimiter) }
        endsBehind = 0
    }

    /// Whether the block's fields can be copied as they stand: it has no quotes and no carriage returns.
    var isPlain: Bool { listsEnds && !ends.hasQuotes && !ends.hasReturns }

    /// The records of the block, if all of its lines are, and none has quotes or a carriage return: then each one's row
    /// of the table has an entry for each column.
    func regularRecords(_ block: UnsafeBufferPointer<UInt8>) -> (fields: FieldTable, count: Int)? {
        guard listsEnds, let base = block.baseAddress, block.count <= CSVLayout.maximumRecordBytes else { return nil }
        return unsafe ends.records(base, columns: columns)
    }

    /// The record at offset `start` of the block, which is its first or follows the one before. Writes the kept fields'
    /// places to `spans`; where the problem is one of shape (`columnCount`, `quote`, `notTwoNumbers`), they say
    /// nothing.
    ///
    /// - Precondition: `start < count`, the block was begun, ends with a line feed and has `Block.slack` after it, and
    ///   `spans` has room for `keptCount`.
    @inline(__always)
    mutating func row(
        _ base: UnsafePointer<UInt8>, at start: Int, count: Int, spans: UnsafeMutablePointer<FieldSpan>
    ) -> Row {
        guard let fields = unsafe usualFields(base, spans: spans) else {
            return unsafe unusualRow(base, at: start, count: count, spans: spans)
        }
        var row = Row(end: fields.end)
        unsafe row.latitude = Decimal.usual(base + Int(fields.latitude.start), count: fields.latitude.count)
        unsafe row.longitude = Decimal.usual(base + Int(fields.longitude.start), count: fields.longitude.count)
        if row.latitude.isNaN || row.longitude.isNaN {
            unsafe row = unusualNumbers(base, fields.latitude, fields.longitude, end: fields.end)
        }
        return row
    }

    /// Where the fields of a record are.
    struct Fields {
        var latitude, longitude: FieldSpan
        /// Offset in the block of the byte after the record.
        var end: Int
    }

    /// The fields of the next record, if it has as many as there are columns and the block has no quotes; else nil, and
    /// `unusualRow` has to read it. Writes the kept fields' places to `spans`.
    @inline(__always)
    mutating func usualFields(_ base: UnsafePointer<UInt8>, spans: UnsafeMutablePointer<FieldSpan>) -> Fields? {
        let behind = endsBehind, last = behind &+ columns
        guard listsEnds, !ends.hasQuotes, last <= ends.count else { return nil }
        // SAFETY: ends are offsets within the block.
        for index in behind &+ 1..<last {
            if unsafe base[Int(ends[index])] != delimiter { return nil }
        }
        let feed = Int(ends[last])
        if unsafe base[feed] != 10 { return nil }
        let isReturn = unsafe ends.hasReturns && feed > 0 && base[feed &- 1] == 13
        let lineEnd = UInt32(truncatingIfNeeded: isReturn ? feed &- 1 : feed)
        for index in 0..<keptCount { unsafe spans[index] = span(of: keptColumns[index], behind, lineEnd) }
        endsBehind = last
        return Fields(
            latitude: span(of: latitude, behind, lineEnd), longitude: span(of: longitude, behind, lineEnd),
            end: feed &+ 1)
    }

    /// Where a column's field is in the record after some ends, whose line ends at an offset.
    @inline(__always)
    private func span(of column: Int, _ behind: Int, _ lineEnd: UInt32) -> FieldSpan {
        FieldSpan(start: ends[behind &+ column] &+ 1, end: min(ends[behind &+ column &+ 1], lineEnd))
    }

    /// A record whose fields are found and whose numbers are not both of the usual form.
    @inline(never)
    func unusualNumbers(
        _ base: UnsafePointer<UInt8>, _ latitude: FieldSpan, _ longitude: FieldSpan, end: Int
    ) -> Row {
        var row = Row(end: end)
        // SAFETY: the fields lie within the block, and something that is no digit follows them.
        func read(_ span: FieldSpan, _ role: CSVLayout.Role) {
            let field = unsafe base + Int(span.start)
            if let number = unsafe Decimal.prefix(field), number.length == span.count {
                if role == .latitude { row.latitude = number.value } else { row.longitude = number.value }
            } else {
                unsafe number(field, span.count, role: role, into: &row)
            }
        }
        // In the order of the columns, so that the first problem is the one that is told.
        if latitude.start < longitude.start { read(latitude, .latitude) }
        read(longitude, .longitude)
        if latitude.start > longitude.start { read(latitude, .latitude) }
        return row
    }

    /// The record at offset `start` of the block, of any form, read field by field, after which `usualFields` goes on.
    @inline(never)
    mutating func unusualRow(
        _ base: UnsafePointer<UInt8>, at start: Int, count: Int, spans: UnsafeMutablePointer<FieldSpan>
    ) -> Row {
        let row = unsafe anyRow(base, at: start, count: count, spans: spans)
        if listsEnds { while endsBehind < ends.count, ends[endsBehind &+ 1] < row.end { endsBehind &+= 1 } }
        return row
    }

    /// A record of any form; for the rest as `row`.
    private func anyRow(
        _ base: UnsafePointer<UInt8>, at start: Int, count: Int, spans: UnsafeMutablePointer<FieldSpan>
    ) -> Row {
        // SAFETY: every scan stops at the block's last line feed at the latest; words read beyond it lie in the slack.
        if unsafe isBare || base[start] == 10 || base[start] == 13 && base[start + 1] == 10 {
            return unsafe bareRow(base, at: start, count: count)
        }
        var row = Row(end: 0)
        var at = unsafe base + start
        var spanIndex = 0
        var signs: (latitude: Double?, longitude: Double?) = (1, 1)
        for column in 0..<columns {
            let role = unsafe roles[column]
            let field = unsafe at
            if unsafe at.pointee == UInt8(ascii: "\"") {
                guard let close = unsafe closingQuote(base, at: at - base, count: count, lines: &row.lines) else {
                    return unsafe broken(row, base, at: start, count: count)
                }
                unsafe at = base + close
                if role == .latitude || role == .longitude {
                    unsafe number(field, at - field, role: role, into: &row)
                }
            } else if role == .latitude || role == .longitude {
                if let number = unsafe Decimal.prefix(at), unsafe isFieldEnd(at + number.length) {
                    if role == .latitude { row.latitude = number.value } else { row.longitude = number.value }
                    unsafe at += number.length
                } else {
                    unsafe at = fieldEnd(at)
                    unsafe number(field, at - field, role: role, into: &row)
                }
            } else {
                unsafe at = fieldEnd(at)
            }
            switch role {
            case .latitudeHemisphere: signs.latitude = unsafe sign(field, at - field, "N", "S")
            case .longitudeHemisphere: signs.longitude = unsafe sign(field, at - field, "E", "W")
            default: break
            }
            if role == .kept {
                unsafe spans[spanIndex] = FieldSpan(
                    start: UInt32(truncatingIfNeeded: field - base), end: UInt32(truncatingIfNeeded: at - base))
                spanIndex += 1
            }
            let isLast = column == columns - 1
            if unsafe (at.pointee == delimiter) == isLast {
                return unsafe broken(row, base, at: start, count: count)
            }
            if !isLast { unsafe at += 1 }
        }
        if unsafe at.pointee == 13 {
            unsafe at += 1
        }
        row.end = unsafe at - base + 1
        if hasHemisphere.latitude || hasHemisphere.longitude { apply(signs, to: &row) }
        return row
    }

    /// What a hemisphere's letter makes of a number: 1, -1, or nil where it is no letter of this axis.
    private func sign(
        _ field: UnsafePointer<UInt8>, _ length: Int, _ positive: Unicode.Scalar, _ negative: Unicode.Scalar
    ) -> Double? {
        // SAFETY: the field lies within the block.
        let isAround = { (byte: UInt8) in Decimal.isBlank(byte) || byte == UInt8(ascii: "\"") }
        let text = unsafe UnsafeBufferPointer(start: field, count: length).filter { !isAround($0) }
        guard text.count == 1 else { return nil }
        switch text[0] & ~0x20 {
        case UInt8(ascii: positive): return 1
        case UInt8(ascii: negative): return -1
        default: return nil
        }
    }

    private func apply(_ signs: (latitude: Double?, longitude: Double?), to row: inout Row) {
        guard row.problem == nil else { return }
        guard let latitude = signs.latitude, let longitude = signs.longitude else {
            row.problem = .hemisphereUnreadable
            return
        }
        if hasHemisphere.latitude && row.latitude.sign == .minus
            || hasHemisphere.longitude && row.longitude.sign == .minus
        {
            row.problem = .hemisphereAndSign
        }
        row.latitude *= latitude
        row.longitude *= longitude
    }

    /// Whether a field ends here: at a delimiter, a line feed, or a carriage return before one.
    @inline(__always)
    private func isFieldEnd(_ at: UnsafePointer<UInt8>) -> Bool {
        // SAFETY: a byte past a line feed is slack.
        unsafe at.pointee == delimiter || at.pointee == 10 || (at.pointee == 13 && at[1] == 10)
    }

    /// The first field end at or after `start`.
    @inline(__always)
    private func fieldEnd(_ start: UnsafePointer<UInt8>) -> UnsafePointer<UInt8> {
        // SAFETY: see `row`.
        var at = unsafe start
        while true {
            let word = unsafe UInt64(littleEndian: UnsafeRawPointer(at).loadUnaligned(as: UInt64.self))
            // The lowest of each is right, so that the lowest of all is.
            let marks = word.marks(of: delimiter) | word.marks(of: 10)
            if marks != 0 {
                unsafe at += marks.trailingZeroBitCount >> 3
                break
            }
            unsafe at += 8
        }
        let endsLine = unsafe at.pointee == 10 && at > start && at[-1] == 13
        return endsLine ? unsafe at - 1 : unsafe at
    }

    /// Reads a number that is not of the usual form: blanks, quotes, exponents, or none at all.
    @inline(never)
    private func number(_ field: UnsafePointer<UInt8>, _ length: Int, role: CSVLayout.Role, into row: inout Row) {
        // SAFETY: the field lies within the block.
        var text = unsafe UnsafeBufferPointer(start: field, count: length)
        if unsafe length >= 2 && text[0] == UInt8(ascii: "\"") {
            unsafe text = UnsafeBufferPointer(rebasing: text[1..<length - 1])
        }
        let value = unsafe Decimal.parse(text)
        if role == .latitude { row.latitude = value ?? .nan } else { row.longitude = value ?? .nan }
        guard value == nil, row.problem == nil else { return }
        let isMissing = unsafe text.allSatisfy { Decimal.isBlank($0) }
        switch role {
        case .latitude: row.problem = isMissing ? .latitudeMissing : .latitudeUnreadable
        default: row.problem = isMissing ? .longitudeMissing : .longitudeUnreadable
        }
    }

    /// The offset after the closing quote of the quoted field at `start`, which must end the field; nil otherwise.
    /// Counts the line feeds within.
    @inline(never)
    private func closingQuote(
        _ base: UnsafePointer<UInt8>, at start: Int, count: Int, lines: inout Int
    ) -> Int? {
        // SAFETY: `at` is tested against `count` before use; one byte past the block is slack.
        var at = start + 1
        while at < count {
            guard let found = unsafe memchr(base + at, Int32(UInt8(ascii: "\"")), count - at) else { return nil }
            let quote = unsafe UnsafePointer(found.assumingMemoryBound(to: UInt8.self)) - base
            for index in at..<quote where unsafe base[index] == 10 { lines += 1 }
            at = quote + 1
            if unsafe base[at] != UInt8(ascii: "\"") || at >= count {
                return unsafe isFieldEnd(base + at) ? at : nil
            }
            at += 1
        }
        return nil
    }

    /// A record of another shape than the header's: finds its end, and counts its fields and lines.
    @inline(never)
    private func broken(_ row: Row, _ base: UnsafePointer<UInt8>, at start: Int, count: Int) -> Row {
        var result = Row(end: count)
        var at = start
        var found = 1
        var isFieldStart = true
        // SAFETY: `at` is tested against `count`.
        while at < count {
            let byte = unsafe base[at]
            if isFieldStart, byte == UInt8(ascii: "\"") {
                guard let end = unsafe quoteEnd(base, at: at, count: count, lines: &result.lines) else {
                    result.problem = .quote
                    result.lines -= 1  // the line feed that closed the block is no line of its own
                    return result
                }
                at = end
                isFieldStart = false
                if unsafe !isFieldEnd(base + at) { result.problem = .quote }
                continue
            }
            isFieldStart = byte == delimiter
            if byte == delimiter { found += 1 }
            at += 1
            if byte == 10 { break }
        }
        result.end = at
        if result.problem == nil { result.problem = .columnCount(expected: columns, found: found) }
        return result
    }

    /// The offset after the quote that closes the one at `start`, whatever follows; nil where none does.
    private func quoteEnd(_ base: UnsafePointer<UInt8>, at start: Int, count: Int, lines: inout Int) -> Int? {
        // SAFETY: `at` is tested against `count`; one byte past the block is slack.
        var at = start + 1
        while at < count {
            let byte = unsafe base[at]
            at += 1
            if byte == 10 { lines += 1 }
            guard byte == UInt8(ascii: "\"") else { continue }
            guard at < count, unsafe base[at] == UInt8(ascii: "\"") else { return at }
            at += 1
        }
        return nil
    }

    /// A line of two numbers of the usual form; nil for any other.
    @inline(__always)
    private func usualBareRow(_ base: UnsafePointer<UInt8>, at start: Int) -> Row? {
        // SAFETY: every step stops at the block's last line feed, and the slack is readable beyond it.
        guard let latitude = unsafe Decimal.prefix(base + start) else { return nil }
        let gap = unsafe base + start + latitude.length
        var at = unsafe gap
        while unsafe Decimal.isBlank(at.pointee) { unsafe at += 1 }
        if unsafe BareLine.isMark(at.pointee) { unsafe at += 1 }
        while unsafe Decimal.isBlank(at.pointee) { unsafe at += 1 }
        guard unsafe at > gap, let longitude = unsafe Decimal.prefix(at) else { return nil }
        unsafe at += longitude.length
        if unsafe at.pointee == 13 { unsafe at += 1 }
        guard unsafe at.pointee == 10 else { return nil }
        return unsafe Row(latitude: latitude.value, longitude: longitude.value, end: at - base + 1)
    }

    /// A line of two numbers, or an empty line.
    @inline(never)
    private func bareRow(_ base: UnsafePointer<UInt8>, at start: Int, count: Int) -> Row {
        if let row = unsafe usualBareRow(base, at: start) { return row }
        // SAFETY: the block ends with a line feed.
        let feed = unsafe memchr(base + start, 10, count - start)!
        let end = unsafe UnsafePointer(feed.assumingMemoryBound(to: UInt8.self)) - base
        var row = Row(end: end + 1)
        let line = unsafe UnsafeBufferPointer(start: base + start, count: end - start)
        if unsafe line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0d }) {
            row.isEmpty = true
        } else if let position = unsafe BareLine.parse(line) {
            row.latitude = position.latitude
            row.longitude = position.longitude
        } else {
            row.problem = .notTwoNumbers
        }
        return row
    }
}

/// A line `31.76 -106.48` or `31.76, -106.48`: blanks, a comma or a semicolon between two numbers.
enum BareLine {
    /// A comma or a semicolon.
    @inline(__always)
    static func isMark(_ byte: UInt8) -> Bool { byte == UInt8(ascii: ",") || byte == UInt8(ascii: ";") }

    /// The two numbers; nil where the line is anything else.
    static func parse(_ line: UnsafeBufferPointer<UInt8>) -> (latitude: Double, longitude: Double)? {
        // SAFETY: indices are tested against the count.
        let isBlank = { (byte: UInt8) in Decimal.isBlank(byte) || byte == 0x0d }
        var low = 0
        var high = line.count
        while low < high, unsafe isBlank(line[low]) { low += 1 }
        while low < high, unsafe isBlank(line[high - 1]) { high -= 1 }
        var middle = low
        while middle < high, unsafe !isBlank(line[middle]) && !isMark(line[middle]) { middle += 1 }
        var second = middle
        while second < high, unsafe isBlank(line[second]) { second += 1 }
        if second < high, unsafe isMark(line[second]) { second += 1 }
        while second < high, unsafe isBlank(line[second]) { second += 1 }
        guard middle > low, second < high,
            let latitude = unsafe Decimal.parse(UnsafeBufferPointer(rebasing: line[low..<middle])),
            let longitude = unsafe Decimal.parse(UnsafeBufferPointer(rebasing: line[second..<high]))
        else { return nil }
        return (latitude, longitude)
    }
}
