import Hereabouts
import TextCoding

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Reads the records of one table out of buffers of whole records, on any thread.
///
/// There are two ways to the fields of a record. Where a buffer has no quotes, its structural index is built, and runs of
/// records that have as many fields as the header and a line for themselves are read from it (the *table path*). Any
/// other record is read byte by byte (the *exact path*), and so are all records of buffers with quotes, of lines without
/// header, and of tables with columns for the hemisphere. Either way all positions of a run are then parsed at once as
/// fixed-point numbers (`FieldKernels`), and those that are not by `DecimalNumber`.
struct CSVRecordReader: ~Copyable {
    private let layout: CSVLayout
    private let latitude, longitude: Int
    private let keptColumns: [Int]
    private let hash: KeyHash
    private let kernels = FieldKernels.selected
    private var index = StructuralIndex(.selected)

    /// Where the next record begins in the buffer, how many separators are before it, and its line in the buffer.
    private var offset = 0
    private var separators = 0

    /// The fields of a run of records that are not read in place: a row of pairs of entries for each.
    private var listed = Column<UInt32>()
    /// The entries of a listed row: latitude, longitude, and what is kept.
    private static let latitudeEntry = 0, longitudeEntry = 2, keptEntry = 4
    private let listedStride: Int
    /// The most entries that are listed at once, but for a single record: half a mebibyte.
    private static let maximumListed = 1 << 17
    /// The signs of the records of a run, in tables with columns for the hemisphere.
    private var signs: [CSVExactRecord.Signs] = []
    /// The spans that the exact path writes.
    private var spans: CSVExactRecord.Spans

    init(_ layout: CSVLayout, hash: KeyHash) {
        self.layout = layout
        self.hash = hash
        latitude = layout.roles.firstIndex(of: .latitude) ?? 0
        longitude = layout.roles.firstIndex(of: .longitude) ?? 0
        keptColumns = layout.roles.indices.filter { layout.roles[$0] == .kept }
        listedStride = Self.keptEntry + 2 * keptColumns.count
        spans = CSVExactRecord.Spans(kept: keptColumns.count)
    }

    private var usesIndex: Bool { layout.delimiter != nil && !layout.hasHemispheres && !index.hasQuotes }

    /// Starts to read the records of a buffer.
    mutating func begin(_ buffer: borrowing InputBuffer) {
        offset = 0
        separators = 0
        if let delimiter = layout.delimiter, !layout.hasHemispheres {
            unsafe index.build(buffer.bytes, delimiter: delimiter, columns: layout.roles.count)
        }
    }

    /// Appends the next run of the buffer's records, at most `limit`, to the batch; `kept` is where their fields are.
    ///
    /// - Returns: false at the end of the buffer, and behind a record that is too long.
    mutating func read(_ buffer: borrowing InputBuffer, into batch: inout FixBatch, limit: Int) -> Bool {
        let bytes = unsafe buffer.bytes
        guard offset < bytes.count, batch.overlongLine == nil, let base = bytes.baseAddress else { return false }
        let limit = min(limit, max(1, Self.maximumListed / listedStride))
        // SAFETY: the base is readable for the buffer's bytes and its padding.
        let regular = usesIndex ? unsafe index.regularRecords(base, after: separators, limit: limit) : 0
        if regular > 0 {
            unsafe readTable(base, regular, into: &batch)
        } else {
            unsafe readExactly(base, bytes.count, limit, into: &batch)
        }
        return true
    }

    // MARK: Table path

    private mutating func readTable(_ base: UnsafePointer<UInt8>, _ count: Int, into batch: inout FixBatch) {
        let table = index.table(after: separators)
        let start = offset
        separators += count * layout.roles.count
        offset = index[separators] + 1
        for line in batch.lineCount..<batch.lineCount + count { batch.lines.append(line) }
        batch.lineCount += count
        if index.hasReturns {
            unsafe list(base, table, count, start: start)
            unsafe finish(base, listedTable, count, isListed: true, into: &batch)
        } else {
            unsafe finish(base, table, count, isListed: false, into: &batch)
        }
    }

    /// Lists the fields of records without the carriage returns before their line ends.
    private mutating func list(_ base: UnsafePointer<UInt8>, _ table: FieldTable, _ count: Int, start: Int) {
        listed.removeAll()
        let last = layout.roles.count - 1
        func append(_ record: Int, _ column: Int) {
            var span = table.span(record, column)
            // SAFETY: the span lies within the buffer, and something is before it where it is not empty.
            if column == last, span.end > span.start, unsafe base[Int(span.end) - 1] == 13 { span.end -= 1 }
            listed.append(span.start &- 1)
            listed.append(span.end)
        }
        for record in 0..<count {
            append(record, latitude)
            append(record, longitude)
            for column in keptColumns { append(record, column) }
        }
    }

    private var listedTable: FieldTable {
        // SAFETY: used until the next run is listed.
        unsafe FieldTable(entries: UnsafePointer(listed.elements.baseAddress!), stride: listedStride)
    }

    // MARK: Exact path

    /// Reads records one by one until the next one is regular.
    private mutating func readExactly(
        _ base: UnsafePointer<UInt8>, _ byteCount: Int, _ limit: Int, into batch: inout FixBatch
    ) {
        listed.removeAll()
        signs.removeAll(keepingCapacity: true)
        let first = batch.count
        var count = 0
        repeat {
            // SAFETY: the offset is below the buffer's size.
            let record = unsafe CSVExactRecord(base, at: offset, count: byteCount, layout: layout, spans: &spans)
            if record.end - offset > InputBuffer.maximumRecordBytes {
                batch.overlongLine = batch.lineCount
                break
            }
            offset = record.end
            if usesIndex { while separators < index.count, index[separators + 1] < offset { separators += 1 } }
            if !record.isEmpty {
                if let problem = record.problem {
                    batch.problems.append((first + count, problem))
                    spans.reset()
                }
                batch.lines.append(batch.lineCount)
                append(spans)
                if layout.hasHemispheres { signs.append(record.signs) }
                count += 1
            }
            batch.lineCount += record.lines
        } while unsafe offset < byteCount && count < limit && !(usesIndex && isRegular(base))
        if count > 0 { unsafe finish(base, listedTable, count, isListed: true, into: &batch) }
    }

    private func isRegular(_ base: UnsafePointer<UInt8>) -> Bool {
        unsafe index.regularRecords(base, after: separators, limit: 1) > 0
    }

    private mutating func append(_ spans: borrowing CSVExactRecord.Spans) {
        func append(_ span: FieldSpan) {
            listed.append(span.start &- 1)
            listed.append(span.end)
        }
        append(spans.latitude)
        append(spans.longitude)
        for index in 0..<keptColumns.count { append(spans.kept[index]) }
    }

    // MARK: Values

    /// Reads the values of a run's records, whose lines and problems of shape are in the batch.
    @inline(__always)
    private mutating func finish(
        _ base: UnsafePointer<UInt8>, _ table: FieldTable, _ count: Int, isListed: Bool, into batch: inout FixBatch
    ) {
        let first = batch.count
        unsafe readPositions(base, table, count, isListed: isListed, into: &batch)
        let columns = keptColumns
        if let fix = layout.fix {
            unsafe readFix(base, table, fix, first..<first + count, isListed: isListed, into: &batch)
        } else {
            batch.kept = KeptFields(
                table: table, entries: isListed ? columns.indices.map { Self.keptEntry + 2 * $0 } : columns,
                isVerbatim: usesIndex && !index.hasReturns && layout.delimiter == UInt8(ascii: ","),
                isContiguous: !isListed && !columns.isEmpty
                    && columns[columns.count - 1] - columns[0] == columns.count - 1)
        }
    }

    @inline(__always)
    private mutating func readPositions(
        _ base: UnsafePointer<UInt8>, _ table: FieldTable, _ count: Int, isListed: Bool, into batch: inout FixBatch
    ) {
        let first = batch.count
        let (latitude, longitude) = isListed ? (Self.latitudeEntry, Self.longitudeEntry) : (latitude, longitude)
        // SAFETY: the kernel writes `count` positions; the table has as many rows.
        let others = unsafe batch.positions.append(count) { positions in
            unsafe kernels.parsePositions(
                base, table, latitude: latitude, longitude: longitude, count: count, into: positions)
        }
        guard others > 0 || layout.hasHemispheres else { return }
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
            if value.coordinate.latitude.isNaN {
                let (first, second) = (table.span(record, latitude), table.span(record, longitude))
                unsafe value.parse(base, latitude: first, longitude: second, isBare: layout.delimiter == nil)
            }
            if layout.hasHemispheres { value.apply(signs[record], layout) }
            batch.positions[first + record] = value.coordinate
            if let problem = value.problem {
                batch.positions[first + record].latitude = .nan
                batch.problems.append((first + record, problem))
            }
        }
    }

    /// Reads what makes a fix of a position: key, time and accuracy.
    @inline(__always)
    private mutating func readFix(
        _ base: UnsafePointer<UInt8>, _ table: FieldTable, _ fix: CSVLayout.FixFields, _ records: Range<Int>,
        isListed: Bool, into batch: inout FixBatch
    ) {
        let entries = (isListed ? keptColumns.indices.map { Self.keptEntry + 2 * $0 } : keptColumns)
        let (key, time, accuracy) = (
            fix.key.map { entries[$0] }, fix.time.map { entries[$0] }, fix.accuracy.map { entries[$0] }
        )
        var problems = batch.problems(from: records.lowerBound)
        var timeProblems: [(index: Int, reason: RecordProblem.Reason)] = []
        for index in records {
            let record = index - records.lowerBound
            let problem = problems.first?.index == index ? problems.removeFirst().reason : nil
            // Where the record's shape is not the header's, the fields may stand in the wrong columns.
            if problem?.isOfShape == true {
                batch.times.append(nil)
                batch.accuracies.append(.nan)
                if key != nil { batch.keys.append(DeviceKey()) }
                continue
            }
            if let key {
                let span = table.span(record, key), bytes = unsafe field(base, span)
                if unsafe bytes.first == CSVQuote.byte {
                    unsafe decodeKey(bytes, into: &batch)
                } else {
                    batch.keys.append(DeviceKey(span: span, hash: unsafe hash(bytes)))
                }
            }
            if let time {
                let text = unsafe CSVQuote.trimmed(field(base, table.span(record, time)))
                let value = unsafe Timestamp(text, allowingUnix: true)
                batch.times.append(value)
                if value == nil, problem == nil, unsafe !text.allSatisfy(DecimalNumber.isBlank) {
                    timeProblems.append((index, .timeUnreadable))
                }
            } else {
                batch.times.append(nil)
            }
            batch.accuracies.append(
                accuracy.map { unsafe number(base, table.span(record, $0)) * fix.metersPerAccuracy } ?? .nan)
        }
        if !timeProblems.isEmpty {
            batch.problems = (batch.problems + timeProblems).sorted { $0.index < $1.index }
        }
    }

    @inline(never)
    private func decodeKey(_ field: UnsafeBufferPointer<UInt8>, into batch: inout FixBatch) {
        let content = unsafe CSVQuote.content(field), start = batch.decodedKeys.count
        for byte in content { batch.decodedKeys.append(byte) }
        let span = FieldSpan(start: UInt32(start), end: UInt32(batch.decodedKeys.count))
        let hash: UInt64 = unsafe content.withUnsafeBufferPointer { unsafe self.hash($0) }
        batch.keys.append(DeviceKey(span: span, isDecoded: true, hash: hash))
    }

    @inline(__always)
    private func field(_ base: UnsafePointer<UInt8>, _ span: FieldSpan) -> UnsafeBufferPointer<UInt8> {
        // SAFETY: spans lie within the buffer.
        unsafe UnsafeBufferPointer(start: base + Int(span.start), count: span.count)
    }

    /// The number in a field; NaN for anything else.
    @inline(__always)
    private func number(_ base: UnsafePointer<UInt8>, _ span: FieldSpan) -> Double {
        let value = unsafe FixedPoint.parse(base + Int(span.start), count: span.count)
        guard value.isNaN else { return value }
        return unsafe DecimalNumber.parse(CSVQuote.trimmed(field(base, span))) ?? .nan
    }
}

/// A position that is not two fixed-point numbers, and what is wrong with it.
struct CSVPosition {
    var coordinate: Coordinate
    private(set) var problem: RecordProblem.Reason?

    init(_ coordinate: Coordinate) { self.coordinate = coordinate }

    /// Parses the two fields, in the order in which they stand, so that the first problem is reported.
    mutating func parse(_ base: UnsafePointer<UInt8>, latitude: FieldSpan, longitude: FieldSpan, isBare: Bool) {
        func value(_ span: FieldSpan, _ missing: RecordProblem.Reason, _ unreadable: RecordProblem.Reason) -> Double {
            // SAFETY: spans lie within the buffer.
            let field = unsafe UnsafeBufferPointer(start: base + Int(span.start), count: span.count)
            let text = unsafe isBare ? field : CSVQuote.trimmed(field)
            if let value = unsafe DecimalNumber.parse(text) { return value }
            if problem == nil {
                problem = isBare ? .notTwoNumbers : unsafe text.allSatisfy(DecimalNumber.isBlank) ? missing : unreadable
            }
            return .nan
        }
        func parseLatitude() { coordinate.latitude = value(latitude, .latitudeMissing, .latitudeUnreadable) }
        if latitude.start < longitude.start { parseLatitude() }
        coordinate.longitude = value(longitude, .longitudeMissing, .longitudeUnreadable)
        if latitude.start >= longitude.start { parseLatitude() }
    }

    /// Applies what the columns for the hemisphere say.
    mutating func apply(_ signs: CSVExactRecord.Signs, _ layout: CSVLayout) {
        guard problem == nil else { return }
        guard let latitude = signs.latitude, let longitude = signs.longitude else {
            problem = .hemisphereUnreadable
            return
        }
        if layout.hasLatitudeHemisphere && coordinate.latitude.sign == .minus
            || layout.hasLongitudeHemisphere && coordinate.longitude.sign == .minus
        {
            problem = .hemisphereAndSign
        }
        coordinate.latitude *= latitude
        coordinate.longitude *= longitude
    }
}
