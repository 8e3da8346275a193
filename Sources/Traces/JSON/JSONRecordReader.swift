internal import CSimdjson
import Hereabouts
import TextCoding

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Reads JSON records out of buffers of whole ones, on any thread: lists the fields of a run of records, and then parses
/// all of its positions at once, as those of a table.
///
/// A buffer of lines is tokenized at once, or, where that fails, line by line: so a bad line is a bad record and no more.
struct JSONRecordReader: ~Copyable {
    private let layout: JSONLayout
    private let areLines: Bool
    /// Whether records are the elements of an array.
    private let isInArray: Bool
    private let hash: KeyHash
    private let kernels = FieldKernels.selected
    private let parser: JSONParser
    /// Finds device keys in records that should have none; nil where any may be there.
    private let lateKeys: (names: [String], parser: JSONParser)?

    /// Where the next record is looked for, and the token there.
    private var offset = 0
    private var token = 0
    /// Whether the whole buffer is tokenized.
    private var isTokenized = false

    /// The fields of a run of records: a row of pairs of entries for each.
    private var listed = Column<UInt32>()
    private let stride: Int
    private let rows: JSONRows
    private static let mostRecords = 1024

    init(_ layout: JSONLayout, areLines: Bool, isInArray: Bool, lateKeys: [String]? = nil, hash: KeyHash) {
        self.layout = layout
        self.isInArray = isInArray
        self.areLines = areLines
        self.hash = hash
        parser = JSONParser(paths: layout.paths)
        self.lateKeys = lateKeys.map { ($0, JSONParser(paths: $0.map { [Array($0.utf8)] })) }
        stride = 2 * layout.paths.count
        rows = JSONRows(
            stride: stride, numbers: (Int32(layout.latitude), Int32(layout.longitude)),
            longest: InputBuffer.maximumRecordBytes)
    }

    mutating func begin(_ buffer: borrowing InputBuffer) {
        (offset, token) = (0, 0)
        isTokenized = unsafe parser.tokenize(buffer.bytes) == json_ok
    }

    mutating func read(_ buffer: borrowing InputBuffer, into batch: inout FixBatch, limit: Int) -> Bool {
        let bytes = unsafe buffer.bytes
        guard offset < bytes.count, batch.overlongLine == nil, batch.brokenLine == nil, let base = bytes.baseAddress
        else { return false }
        listed.removeAll()
        let limit = min(limit, Self.mostRecords), first = batch.count
        var count = 0
        while count < limit, offset < bytes.count {
            if areLines, isTokenized {
                count += readRows(limit - count, into: &batch)
                guard count < limit, offset < bytes.count else { break }
            }
            // SAFETY: the base is readable for the buffer's bytes and its padding.
            let isRecord =
                areLines
                ? unsafe readLine(base, bytes.count, first + count, into: &batch)
                : unsafe readValue(base, bytes.count, first + count, into: &batch)
            if isRecord { count += 1 }
            if batch.overlongLine != nil || batch.brokenLine != nil { break }
        }
        if count > 0 { unsafe finish(base, first, count, into: &batch) }
        return true
    }

    // MARK: Records

    /// Lists the fields of the records on the next lines, as long as these have the members of the last one.
    ///
    /// - Returns: how many there are.
    private mutating func readRows(_ most: Int, into batch: inout FixBatch) -> Int {
        let (parser, rows, stride) = (parser, rows, stride)
        var (count, token, offset) = (0, token, offset)
        unsafe listed.append(atMost: most * stride) { entries in
            count = unsafe parser.readRows(&token, &offset, rows, into: entries, most: most)
            return count * stride
        }
        (self.token, self.offset) = (token, offset)
        for line in batch.lineCount..<batch.lineCount + count { batch.lines.append(line) }
        batch.lineCount += count
        return count
    }

    /// Lists the fields of the record on the next line.
    ///
    /// - Returns: false where the line is blank.
    @inline(__always)
    private mutating func readLine(
        _ base: UnsafePointer<UInt8>, _ byteCount: Int, _ index: Int, into batch: inout FixBatch
    ) -> Bool {
        // SAFETY: a buffer of records ends with a line feed.
        let feed = unsafe memchr(base + offset, 10, byteCount - offset)!
        let end = unsafe UnsafePointer(feed.assumingMemoryBound(to: UInt8.self)) - base
        let start = offset
        guard end - start <= InputBuffer.maximumRecordBytes else {
            batch.overlongLine = batch.lineCount
            return false
        }
        offset = end + 1
        let line = batch.lineCount
        batch.lineCount += 1
        var result: json_status
        if isTokenized {
            if parser.token(token) >= end { return false }
            let first = token
            result = parser.read(&token, limit: end, isAlone: true)
            if result == json_ok { parser.learnRow(first) }
        } else {
            result = unsafe parser.tokenize(UnsafeBufferPointer(start: base + start, count: end - start))
            var token = 0
            if result == json_ok { result = parser.read(&token, limit: end - start, isAlone: true) }
            if result == json_empty { return false }
        }
        batch.lines.append(line)
        unsafe list(base, shift: isTokenized ? 0 : start, result, index, into: &batch)
        unsafe findLateKey(base, start..<end, line, &batch)
        return true
    }

    /// Notes the first device key of a record whose input has none.
    private func findLateKey(
        _ base: UnsafePointer<UInt8>, _ range: Range<Int>, _ line: Int, _ batch: inout FixBatch
    ) {
        guard let (names, parser) = lateKeys, batch.lateKey == nil, !range.isEmpty else { return }
        // SAFETY: the range lies within the buffer, whose padding follows.
        let text = unsafe UnsafeBufferPointer(start: base + range.lowerBound, count: range.count)
        var token = 0
        guard unsafe parser.tokenize(text) == json_ok, parser.read(&token, limit: range.count, isAlone: true) == json_ok
        else { return }
        let found = names.indices.first { field in
            unsafe parser[field].end > 0 && parser[field].bytes(text.baseAddress!).first != UInt8(ascii: "n")
        }
        if let found { batch.lateKey = (line, names[found]) }
    }

    /// Lists the fields of the next value; none is on a line of its own.
    ///
    /// - Returns: false where there is none, or none that can be read.
    private mutating func readValue(
        _ base: UnsafePointer<UInt8>, _ byteCount: Int, _ index: Int, into batch: inout FixBatch
    ) -> Bool {
        guard isTokenized else { return unsafe readApart(base, byteCount, index, into: &batch) }
        // What separates values, and the end of an array, where the framing lets them stand.
        while parser.token(token) < byteCount, unsafe Self.separates(base[parser.token(token)]) { token += 1 }
        let start = parser.token(token), before = offset
        unsafe skip(base, to: start, &batch)
        guard start < byteCount else { return false }
        let line = batch.lineCount
        let result = parser.read(&token, limit: byteCount, isAlone: false)
        if result == json_malformed || result == json_too_deep {
            batch.brokenLine = line
            return false
        }
        let end = parser.token(token - 1) + 1
        guard end - before <= InputBuffer.maximumRecordBytes else {
            batch.overlongLine = line
            return false
        }
        unsafe skip(base, to: end, &batch)
        batch.lines.append(line)
        unsafe list(base, shift: 0, result, index, into: &batch)
        unsafe findLateKey(base, start..<end, line, &batch)
        return true
    }

    /// The same in a buffer that cannot be tokenized at once: those before what is wrong are read.
    private mutating func readApart(
        _ base: UnsafePointer<UInt8>, _ byteCount: Int, _ index: Int, into batch: inout FixBatch
    ) -> Bool {
        var splitter = json_splitter()
        splitter.depth = isInArray ? 1 : 0
        splitter.element_depth = splitter.depth
        let before = offset
        var at = offset, start: Int?
        while true {
            // SAFETY: the splitter reads up to the count, and the values it finds lie before it.
            switch unsafe hereabouts_json_split(&splitter, base, byteCount, &at) {
            case json_split_start:
                start = at
                unsafe skip(base, to: at, &batch)
            case json_split_end:
                let from = start ?? at, line = batch.lineCount
                var token = 0
                var result = unsafe parser.tokenize(UnsafeBufferPointer(start: base + from, count: at - from))
                if result == json_ok { result = parser.read(&token, limit: at - from, isAlone: true) }
                guard result != json_malformed, result != json_too_deep, result != json_empty else {
                    batch.brokenLine = line
                    return false
                }
                guard at - before <= InputBuffer.maximumRecordBytes else {
                    batch.overlongLine = line
                    return false
                }
                unsafe skip(base, to: at, &batch)
                batch.lines.append(line)
                unsafe list(base, shift: from, result, index, into: &batch)
                return true
            case json_split_more:
                if start != nil { batch.brokenLine = batch.lineCount }
                unsafe skip(base, to: byteCount, &batch)
                return false
            default:
                unsafe skip(base, to: at, &batch)
                batch.brokenLine = batch.lineCount
                return false
            }
        }
    }

    private static func separates(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ",") || byte == UInt8(ascii: "]") || byte == 0x1e
    }

    /// Moves to an offset, and counts the lines before it.
    private mutating func skip(_ base: UnsafePointer<UInt8>, to end: Int, _ batch: inout FixBatch) {
        // SAFETY: both offsets lie within the buffer.
        while offset < end, let feed = unsafe memchr(base + offset, 10, end - offset) {
            offset = unsafe UnsafePointer(feed.assumingMemoryBound(to: UInt8.self)) - base + 1
            batch.lineCount += 1
        }
        offset = end
    }

    /// Lists the fields of the value read last; none of a bad one.
    ///
    /// - Parameter shift: where the parser's text begins in the buffer.
    @inline(__always)
    private mutating func list(
        _ base: UnsafePointer<UInt8>, shift: Int, _ result: json_status, _ index: Int, into batch: inout FixBatch
    ) {
        var problem = RecordProblem.Reason(result)
        let shift = UInt32(truncatingIfNeeded: shift)
        for field in 0..<layout.paths.count {
            var span = problem == nil ? parser[field] : JSONSpan()
            if span.end > 0 { (span.start, span.end) = (span.start &+ shift, span.end &+ shift) }
            if span.end > span.start {
                // SAFETY: the span lies within the buffer.
                let first = unsafe base[Int(span.start)]
                let isPosition = field == layout.latitude || field == layout.longitude
                let isContainer = first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
                // The brackets of an array are none of a text with both coordinates: their order is not known.
                if isPosition, layout.pairOrder == nil || !isContainer {
                    if first == JSONString.quote {
                        (span.start, span.end) = (span.start &+ 1, span.end &- 1)
                    } else if first == UInt8(ascii: "n") {
                        span = JSONSpan()
                    }
                } else if isContainer {
                    problem = .memberIsContainer
                }
            }
            listed.append(span.start &- 1)
            listed.append(span.end)
        }
        guard let problem else { return }
        batch.problems.append((index, problem))
        // The row says nothing.
        for entry in listed.count - stride..<listed.count { listed[entry] = entry % 2 == 0 ? .max : 0 }
    }

    // MARK: Fields

    private func finish(_ base: UnsafePointer<UInt8>, _ first: Int, _ count: Int, into batch: inout FixBatch) {
        // SAFETY: used until the next run is listed.
        let table = unsafe FieldTable(entries: UnsafePointer(listed.elements.baseAddress!), stride: stride)
        unsafe readPositions(base, table, first, count, into: &batch)
        if layout.degreesPerUnit != 1 { batch.scale(from: first, by: layout.degreesPerUnit) }
        if let utm = layout.utm {
            unsafe batch.readUTMZones(from: first, utm) { record, field in
                unsafe JSONString.inside(value(base, table, record, field))
            }
        }
        if !layout.validity.isEmpty {
            batch.refuseWithoutFix(from: first) { record in
                layout.validity.contains { field, validity in
                    unsafe validity.isNoFix(JSONString.inside(value(base, table, record, field)))
                }
            }
        }
        if let fix = layout.fix {
            unsafe readFixes(base, table, fix, first, count, into: &batch)
        } else {
            batch.kept = KeptFields(
                table: table, entries: layout.kept.map { 2 * $0 },
                position: (2 * layout.latitude, 2 * layout.longitude), isVerbatim: false, isContiguous: false)
        }
    }

    private func readPositions(
        _ base: UnsafePointer<UInt8>, _ table: FieldTable, _ first: Int, _ count: Int, into batch: inout FixBatch
    ) {
        // SAFETY: the kernel writes `count` positions; the table has as many rows.
        let others = unsafe batch.positions.append(count) { positions in
            unsafe kernels.parsePositions(
                base, table, latitude: 2 * layout.latitude, longitude: 2 * layout.longitude, count: count,
                into: positions)
        }
        guard others > 0 || layout.hasHemispheres || layout.pairOrder != nil else { return }
        var shapeProblems = batch.problems(from: first)
        batch.problems.removeLast(shapeProblems.count)
        for record in 0..<count {
            if let problem = shapeProblems.first, problem.index == first + record {
                batch.positions[first + record].latitude = .nan
                batch.problems.append(problem)
                shapeProblems = shapeProblems.dropFirst()
                continue
            }
            var value = CSVPosition(batch.positions[first + record])
            if let order = layout.pairOrder {
                let text = unsafe decoded(table.span(record, 2 * layout.latitude), base)
                unsafe text.withUnsafeBufferPointer { unsafe value.parse($0, order, layout.spatialReference) }
            } else if value.coordinate.latitude.isNaN {
                unsafe value.parse(
                    base, latitude: table.span(record, 2 * layout.latitude),
                    longitude: table.span(record, 2 * layout.longitude), isBare: false)
            }
            if layout.hasHemispheres {
                let signs = CSVExactRecord.Signs(
                    latitude: unsafe sign(base, table, record, layout.latitudeHemisphere, "N", "S"),
                    longitude: unsafe sign(base, table, record, layout.longitudeHemisphere, "E", "W"))
                value.apply(
                    signs, hasLatitude: layout.latitudeHemisphere != nil,
                    hasLongitude: layout.longitudeHemisphere != nil)
            }
            batch.positions[first + record] = value.coordinate
            if let problem = value.problem {
                batch.positions[first + record].latitude = .nan
                batch.problems.append((first + record, problem))
            }
        }
    }

    /// What a string says, whose span is without its quotes.
    private func decoded(_ span: FieldSpan, _ base: UnsafePointer<UInt8>) -> [UInt8] {
        // SAFETY: spans lie within the buffer; what is decoded is never longer.
        let start = unsafe base + Int(span.start)
        return unsafe Array(unsafeUninitializedCapacity: span.count) { text, count in
            guard let text = text.baseAddress else { return }
            count = unsafe hereabouts_json_decode(start, span.count, text)
        }
    }

    /// What a hemisphere's letter makes of a number; nil where it is no letter of this axis.
    private func sign(
        _ base: UnsafePointer<UInt8>, _ table: FieldTable, _ record: Int, _ field: Int?, _ positive: Unicode.Scalar,
        _ negative: Unicode.Scalar
    ) -> Double? {
        guard let field else { return 1 }
        let letters = unsafe JSONString.inside(value(base, table, record, field))
        guard letters.count == 1 else { return nil }
        switch unsafe letters[0] & ~0x20 {
        case UInt8(ascii: positive): return 1
        case UInt8(ascii: negative): return -1
        default: return nil
        }
    }

    /// A field as it is written; nothing for null.
    @inline(__always)
    private func value(
        _ base: UnsafePointer<UInt8>, _ table: FieldTable, _ record: Int, _ field: Int
    ) -> UnsafeBufferPointer<UInt8> {
        let span = table.span(record, 2 * field)
        // SAFETY: spans lie within the buffer.
        let bytes = unsafe UnsafeBufferPointer(start: base + Int(span.start), count: span.count)
        if unsafe bytes.first == UInt8(ascii: "n") { return unsafe UnsafeBufferPointer(start: base, count: 0) }
        return unsafe bytes
    }

    /// Reads what makes a fix of a position: key, time and accuracy.
    private func readFixes(
        _ base: UnsafePointer<UInt8>, _ table: FieldTable, _ fix: CSVLayout.FixFields, _ first: Int, _ count: Int,
        into batch: inout FixBatch
    ) {
        var problems = batch.problems(from: first)
        var fieldProblems: [(index: Int, reason: RecordProblem.Reason)] = []
        for record in 0..<count {
            let problem = problems.first?.index == first + record ? problems.removeFirst().reason : nil
            if problem?.isOfShape == true {
                batch.times.append(nil)
                batch.accuracies.append(.nan)
                if fix.key != nil { batch.keys.append(DeviceKey()) }
                continue
            }
            if let key = fix.key {
                unsafe readKey(value(base, table, record, key), base, into: &batch)
                if problem == nil, unsafe refusesKey(batch.lastKey(base), base, table, record, fix.keyRule) {
                    fieldProblems.append((first + record, .keyIsCoordinate))
                    batch.times.append(nil)
                    batch.accuracies.append(.nan)
                    continue
                }
            }
            var time: Timestamp?
            if let field = fix.time {
                var (read, reason) = unsafe readTime(
                    value(base, table, record, field), date: fix.date.map { unsafe value(base, table, record, $0) }, fix
                )
                if let offset = fix.offset, let local = read, reason == nil {
                    (read, reason) = unsafe fix.offsets.shifted(
                        local, JSONString.inside(value(base, table, record, field)),
                        by: JSONString.inside(value(base, table, record, offset)), fix.timeStyle)
                }
                time = read
                if let reason, problem == nil { fieldProblems.append((first + record, reason)) }
            }
            batch.times.append(time)
            batch.accuracies.append(
                fix.accuracy.map { unsafe number(value(base, table, record, $0)) * fix.metersPerAccuracy } ?? .nan)
        }
        if !fieldProblems.isEmpty {
            batch.problems = (batch.problems + fieldProblems).sorted { $0.index < $1.index }
        }
    }

    /// Whether a record's key could be a coordinate.
    @inline(__always)
    private func refusesKey(
        _ key: UnsafeBufferPointer<UInt8>, _ base: UnsafePointer<UInt8>, _ table: FieldTable, _ record: Int,
        _ rule: KeyRule
    ) -> Bool {
        unsafe rule.refuses(key) { key in
            [layout.latitude, layout.longitude].contains { field in
                unsafe value(base, table, record, field).trimmedOfBlanks.elementsEqual(key)
            }
        }
    }

    @inline(__always)
    private func readKey(
        _ value: UnsafeBufferPointer<UInt8>, _ base: UnsafePointer<UInt8>, into batch: inout FixBatch
    ) {
        let inside = unsafe JSONString.inside(value)
        if !parser.hasEscapes, isTokenized, let hash = unsafe hash.ofNormalized(inside) {
            let start = unsafe inside.baseAddress.map { unsafe $0 - base } ?? 0
            let span = FieldSpan(start: UInt32(truncatingIfNeeded: start), end: UInt32(start + inside.count))
            batch.keys.append(DeviceKey(span: span, hash: hash))
        } else {
            batch.append(key: unsafe JSONString.content(value), hash)
        }
    }

    /// Reads a time, and says what is wrong with one that is none, or cannot be.
    @inline(__always)
    private func readTime(
        _ value: UnsafeBufferPointer<UInt8>, date: UnsafeBufferPointer<UInt8>?, _ fix: CSVLayout.FixFields
    ) -> (Timestamp?, RecordProblem.Reason?) {
        let text = unsafe JSONString.inside(value)
        var time = unsafe Timestamp(text, as: fix.timeStyle)
        if time == nil {
            time = unsafe otherTime(value, date: date, fix)
            guard time != nil else {
                return (nil, unsafe text.allSatisfy(DecimalNumber.isBlank) ? .timeMissing : .timeUnreadable)
            }
        }
        return (time, time.flatMap { unsafe fix.problem(ofTime: $0, text) })
    }

    /// A time with escapes, or with a date beside it.
    @inline(never)
    private func otherTime(
        _ value: UnsafeBufferPointer<UInt8>, date: UnsafeBufferPointer<UInt8>?, _ fix: CSVLayout.FixFields
    ) -> Timestamp? {
        let text = unsafe JSONString.content(value), day = unsafe date.map { unsafe JSONString.content($0) }
        return unsafe text.withUnsafeBufferPointer { text in
            if let time = unsafe Timestamp(text, as: fix.timeStyle) { return time }
            return unsafe day?.withUnsafeBufferPointer { unsafe Timestamp(date: $0, time: text, fix.timeStyle) }
        }
    }

    /// The number in a field; NaN for anything else.
    @inline(__always)
    private func number(_ value: UnsafeBufferPointer<UInt8>) -> Double {
        unsafe DecimalNumber.parse(JSONString.inside(value)) ?? .nan
    }
}

/// A `JSONRecordReader` as the pipeline calls it.
final class JSONBufferReader: RecordReader {
    private var reader: JSONRecordReader

    init(_ reader: consuming JSONRecordReader) { self.reader = reader }

    func begin(_ buffer: borrowing InputBuffer) { reader.begin(buffer) }

    func read(_ buffer: borrowing InputBuffer, into batch: inout FixBatch, limit: Int) -> Bool {
        reader.read(buffer, into: &batch, limit: limit)
    }
}

extension FixBatch {
    /// Appends a device key as its bytes, in their normal form.
    mutating func append(key: [UInt8], _ hash: KeyHash) {
        let isNormal = unsafe key.withUnsafeBufferPointer { unsafe hash.ofNormalized($0) } != nil
        let content = isNormal ? key : DeviceKey.normalized(key)
        let start = decodedKeys.count
        for byte in content { decodedKeys.append(byte) }
        let keyHash: UInt64 = unsafe content.withUnsafeBufferPointer { unsafe hash($0) }
        keys.append(
            DeviceKey(
                span: FieldSpan(start: UInt32(start), end: UInt32(decodedKeys.count)), isDecoded: true, hash: keyHash))
    }
}

extension RecordProblem.Reason {
    /// Why a text is no record; nil for one.
    init?(_ status: json_status) {
        switch status {
        case json_ok, json_empty: return nil
        case json_no_object: self = .notAnObject
        case json_too_deep: self = .nestedTooDeep
        case json_duplicate: self = .duplicateMember
        default: self = .notJSON
        }
    }
}
