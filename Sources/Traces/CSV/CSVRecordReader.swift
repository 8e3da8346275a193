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
///
/// A run ends before a further header. Where that has the same names, the records behind it are read by it.
struct CSVRecordReader: ~Copyable {
    private var layout: CSVLayout { header.layout }
    private var header: CSVHeaderInForce
    /// Whether lines come as they are written, so that a header of other names ends nothing.
    private let isLive: Bool
    /// Whether such a header was the last one: records are bad until one that fits.
    private var isForeign = false
    /// Where the fields of a record are in a row of the structural index, and in one of `listed`.
    private var inPlace: Entries
    private let asListed: Entries
    private let hash: KeyHash
    private let kernels = FieldKernels.selected
    private var index = StructuralIndex(.selected)

    /// Where the next record begins in the buffer, and how many separators are before it.
    private var offset = 0
    private var separators = 0
    /// Whether the buffer's index is of no use any more.
    private var isUnindexed = false
    /// Where the records of the current run begin: the separators before it, if it is read from the index, else its offsets.
    private var runSeparators: Int?
    private var runStarts: [Int] = []

    /// The fields of a run of records that are not read in place: a row of pairs of entries for each.
    private var listed = Column<UInt32>()
    private let listedStride: Int
    /// The most entries that are listed at once, but for a single record: half a mebibyte.
    private static let maximumListed = 1 << 17
    /// The signs of the records of a run, in tables with columns for the hemisphere.
    private var signs: [CSVExactRecord.Signs] = []
    /// The spans that the exact path writes.
    private var spans: CSVExactRecord.Spans

    /// The entries of a table's row that the fields are at.
    private struct Entries {
        var latitude, longitude: Int
        var kept: [Int]
    }

    init(_ header: CSVHeaderInForce, isLive: Bool, hash: KeyHash) {
        let layout = header.layout
        (self.header, self.isLive, self.hash) = (header, isLive, hash)
        inPlace = Entries(
            latitude: layout.latitudeColumn, longitude: layout.longitudeColumn, kept: layout.columnsOfFields)
        asListed = Entries(latitude: 0, longitude: 2, kept: (0..<layout.keptCount).map { 4 + 2 * $0 })
        listedStride = 4 + 2 * layout.keptCount
        spans = CSVExactRecord.Spans(kept: layout.keptCount)
    }

    private var usesIndex: Bool {
        layout.delimiter != nil && !layout.hasHemispheres && !index.hasQuotes && !isUnindexed
    }

    /// Starts to read the records of a buffer, by a header.
    mutating func begin(_ buffer: borrowing InputBuffer, _ header: CSVHeaderInForce) {
        follow(header)
        isUnindexed = false
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
        guard offset < bytes.count, batch.overlongLine == nil, batch.otherHeaderLine == nil,
            let base = bytes.baseAddress
        else { return false }
        if batch.header == nil { batch.header = (header, nil) }
        let limit = min(limit, max(1, Self.maximumListed / listedStride))
        // SAFETY: the base is readable for the buffer's bytes and its padding.
        let regular = usesIndex && !isForeign ? unsafe index.regularRecords(base, after: separators, limit: limit) : 0
        if regular > 0 {
            unsafe readTable(base, bytes.count, regular, into: &batch)
        } else {
            unsafe readExactly(base, bytes.count, limit, into: &batch)
        }
        return true
    }

    // MARK: Table path

    private mutating func readTable(
        _ base: UnsafePointer<UInt8>, _ byteCount: Int, _ count: Int, into batch: inout FixBatch
    ) {
        let table = index.table(after: separators)
        runSeparators = separators
        separators += count * layout.roles.count
        offset = index[separators] + 1
        for line in batch.lineCount..<batch.lineCount + count { batch.lines.append(line) }
        batch.lineCount += count
        if index.hasReturns {
            unsafe list(base, table, count)
            unsafe finish(base, byteCount, listedTable, asListed, count, into: &batch)
        } else {
            unsafe finish(base, byteCount, table, inPlace, count, into: &batch)
        }
    }

    /// Lists the fields of records without the carriage returns before their line ends.
    private mutating func list(_ base: UnsafePointer<UInt8>, _ table: FieldTable, _ count: Int) {
        listed.removeAll()
        let last = layout.roles.count - 1
        func list(_ record: Int, _ column: Int) {
            var span = table.span(record, column)
            // SAFETY: the span lies within the buffer, and something is before it where it is not empty.
            if column == last, span.end > span.start, unsafe base[Int(span.end) - 1] == 13 { span.end -= 1 }
            append(span)
        }
        for record in 0..<count {
            list(record, inPlace.latitude)
            list(record, inPlace.longitude)
            for column in inPlace.kept { list(record, column) }
        }
    }

    /// Lists a field as a pair of entries.
    private mutating func append(_ span: FieldSpan) {
        listed.append(span.start &- 1)
        listed.append(span.end)
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
        runSeparators = nil
        runStarts.removeAll(keepingCapacity: true)
        let first = batch.count
        var count = 0
        repeat {
            // SAFETY: the offset is below the buffer's size.
            let start = offset
            let record = unsafe CSVExactRecord(base, at: offset, count: byteCount, layout: layout, spans: &spans)
            if record.end - offset > InputBuffer.maximumRecordBytes {
                batch.overlongLine = batch.lineCount
                break
            }
            offset = record.end
            if usesIndex { while separators < index.count, index[separators + 1] < offset { separators += 1 } }
            if !record.isEmpty {
                let isForeign = unsafe isForeign && !isFittingHeader(base, byteCount, start)
                if let problem = isForeign ? .otherHeader : record.problem {
                    batch.problems.append((first + count, problem))
                    spans.reset()
                }
                batch.lines.append(batch.lineCount)
                append(spans.latitude)
                append(spans.longitude)
                for span in spans.kept { append(span) }
                runStarts.append(start)
                if layout.hasHemispheres { signs.append(record.signs) }
                count += 1
            }
            batch.lineCount += record.lines
        } while unsafe offset < byteCount && count < limit && !(usesIndex && !isForeign && isRegular(base))
        if count > 0 { unsafe finish(base, byteCount, listedTable, asListed, count, into: &batch) }
    }

    private func isRegular(_ base: UnsafePointer<UInt8>) -> Bool {
        unsafe index.regularRecords(base, after: separators, limit: 1) > 0
    }

    // MARK: Values

    /// Reads the values of a run's records, whose lines and problems of shape are in the batch.
    @inline(__always)
    private mutating func finish(
        _ base: UnsafePointer<UInt8>, _ byteCount: Int, _ table: FieldTable, _ entries: Entries, _ all: Int,
        into batch: inout FixBatch
    ) {
        let first = batch.count
        let count = unsafe readPositions(base, byteCount, table, entries, all, into: &batch)
        if layout.degreesPerUnit != 1 { batch.scale(from: first, by: layout.degreesPerUnit) }
        if let utm = layout.utm {
            unsafe batch.readUTMZones(from: first, utm) { record, number in
                unsafe CSVQuote.trimmed(field(base, table.span(record, entries.kept[number])))
            }
        }
        if !layout.validity.isEmpty {
            batch.refuseWithoutFix(from: first) { record in
                layout.validity.contains { number, validity in
                    unsafe validity.isNoFix(CSVQuote.trimmed(field(base, table.span(record, entries.kept[number]))))
                }
            }
        }
        if let fix = layout.fix {
            unsafe readFix(base, table, entries, fix, first..<first + count, into: &batch)
        } else {
            let kept = Array(entries.kept.prefix(layout.copiedCount))
            batch.kept = KeptFields(
                table: table, entries: kept, position: (entries.latitude, entries.longitude),
                isVerbatim: runSeparators != nil && !index.hasReturns && layout.delimiter == UInt8(ascii: ","),
                isContiguous: !kept.isEmpty && zip(kept, kept.dropFirst()).allSatisfy { $0 + 1 == $1 })
        }
        if count < all { unsafe takeHeader(base, byteCount, record: count, first + count, &batch) }
    }

    /// Reads the positions of a run's records, up to a further header.
    ///
    /// - Returns: how many records come before that. Lines of the batch are still those of all.
    @inline(__always)
    private mutating func readPositions(
        _ base: UnsafePointer<UInt8>, _ byteCount: Int, _ table: FieldTable, _ entries: Entries, _ count: Int,
        into batch: inout FixBatch
    ) -> Int {
        let first = batch.count
        // SAFETY: the kernel writes `count` positions; the table has as many rows.
        let others = unsafe batch.positions.append(count) { positions in
            unsafe kernels.parsePositions(
                base, table, latitude: entries.latitude, longitude: entries.longitude, count: count, into: positions)
        }
        guard others > 0 || layout.hasHemispheres || layout.pairOrder != nil else { return count }
        var shapeProblems = batch.problems(from: first)
        batch.problems.removeLast(shapeProblems.count)
        for record in 0..<count {
            var value = CSVPosition(batch.positions[first + record])
            var problem: RecordProblem.Reason?
            if let shape = shapeProblems.first, shape.index == first + record {
                problem = shape.reason
                shapeProblems = shapeProblems.dropFirst()
            } else {
                unsafe readPosition(&value, base, table, entries, record)
                problem = value.problem
            }
            if let problem, problem.mayBeOfHeader, let start = runStart(record),
                unsafe headerAhead(base, byteCount, start) != nil
            {
                batch.positions.truncate(to: first + record)
                return record
            }
            batch.positions[first + record] = value.coordinate
            if let problem {
                batch.positions[first + record].latitude = .nan
                batch.problems.append((first + record, problem))
            }
        }
        return count
    }

    /// Reads a position that is not two fixed-point numbers, or has more than these.
    private func readPosition(
        _ value: inout CSVPosition, _ base: UnsafePointer<UInt8>, _ table: FieldTable, _ entries: Entries, _ record: Int
    ) {
        if let order = layout.pairOrder {
            let text = unsafe CSVQuote.trimmed(field(base, table.span(record, entries.latitude)))
            if unsafe text.first == UInt8(ascii: "{") {
                // JSON has quotes of its own, doubled in a table.
                let content = unsafe CSVQuote.value(field(base, table.span(record, entries.latitude)))
                unsafe content.withUnsafeBufferPointer { unsafe value.parse($0, order, layout.spatialReference) }
            } else {
                unsafe value.parse(text, order, layout.spatialReference)
            }
        } else if value.coordinate.latitude.isNaN {
            unsafe value.parse(
                base, latitude: table.span(record, entries.latitude),
                longitude: table.span(record, entries.longitude), isBare: layout.delimiter == nil)
        }
        if layout.hasHemispheres {
            value.apply(
                signs[record], hasLatitude: layout.hasLatitudeHemisphere, hasLongitude: layout.hasLongitudeHemisphere)
        }
    }

    // MARK: Further headers

    /// The offset of a record of the current run; nil in lines without header.
    private func runStart(_ record: Int) -> Int? {
        guard layout.names != nil else { return nil }
        guard let runSeparators else { return runStarts[record] }
        return Int(
            truncatingIfNeeded: UInt32(truncatingIfNeeded: index[runSeparators + record * layout.roles.count]) &+ 1)
    }

    /// Lines that may stand before a header are passed over, so many at most.
    private static let mostPassed = 1000

    /// A further header that begins at an offset, or behind comments that begin there: what it is, how many lines are before
    /// it, and the offset behind it.
    private func headerAhead(
        _ base: UnsafePointer<UInt8>, _ byteCount: Int, _ start: Int
    ) -> (header: CSVHeaderNames.Line, passed: Int, end: Int)? {
        guard let names = layout.names else { return nil }
        let (latitude, longitude) = (layout.latitudeColumn, layout.longitudeColumn)
        var at = start
        for passed in 0...Self.mostPassed {
            // SAFETY: a buffer of records ends with a line feed.
            guard at < byteCount, let feed = unsafe memchr(base + at, 10, byteCount - at) else { return nil }
            let end = unsafe UnsafePointer(feed.assumingMemoryBound(to: UInt8.self)) - base
            let line = unsafe UnsafeBufferPointer(start: base + at, count: end - at)
            if let header = unsafe names.header(line, latitude: latitude, longitude: longitude) {
                return (header, passed, end + 1)
            }
            guard unsafe CSVHeaderNames.mayPrecede(line) else { return nil }
            at = end + 1
        }
        return nil
    }

    private func isFittingHeader(_ base: UnsafePointer<UInt8>, _ byteCount: Int, _ start: Int) -> Bool {
        if case .same? = unsafe headerAhead(base, byteCount, start)?.header { true } else { false }
    }

    /// Goes on behind the header that ended the run, by that header.
    ///
    /// - Parameters:
    ///   - record: the first of the run that is none.
    ///   - index: its number in the batch, which has its line.
    private mutating func takeHeader(
        _ base: UnsafePointer<UInt8>, _ byteCount: Int, record: Int, _ index: Int, _ batch: inout FixBatch
    ) {
        let line = batch.lines[index]
        batch.lines.truncate(to: index)
        guard let start = runStart(record), let found = unsafe headerAhead(base, byteCount, start) else { return }
        isUnindexed = true
        if case .same(let names) = found.header {
            (offset, batch.lineCount, isForeign) = (found.end, line + found.passed + 1, false)
            follow(CSVHeaderInForce(layout.reordered(as: names)))
            batch.header?.after = header
        } else if isLive {
            (offset, batch.lineCount, isForeign) = (start, line, true)
        } else {
            batch.otherHeaderLine = line + found.passed
        }
    }

    /// Reads the records that follow by this header.
    private mutating func follow(_ header: CSVHeaderInForce) {
        guard header !== self.header else { return }
        self.header = header
        inPlace = Entries(
            latitude: layout.latitudeColumn, longitude: layout.longitudeColumn, kept: layout.columnsOfFields)
    }

    /// Reads what makes a fix of a position: key, time and accuracy.
    @inline(__always)
    private mutating func readFix(
        _ base: UnsafePointer<UInt8>, _ table: FieldTable, _ all: Entries, _ fix: CSVLayout.FixFields,
        _ records: Range<Int>, into batch: inout FixBatch
    ) {
        let entries = all.kept, position = (latitude: all.latitude, longitude: all.longitude)
        let (key, time, accuracy) = (
            fix.key.map { entries[$0] }, fix.time.map { entries[$0] }, fix.accuracy.map { entries[$0] }
        )
        let date = fix.date.map { entries[$0] }
        var problems = batch.problems(from: records.lowerBound)
        var fieldProblems: [(index: Int, reason: RecordProblem.Reason)] = []
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
                if let hash = unsafe hash.ofNormalized(bytes) {
                    batch.keys.append(DeviceKey(span: span, hash: hash))
                } else {
                    unsafe decodeKey(bytes, into: &batch)
                }
                let text = unsafe batch.lastKey(base)
                if problem == nil, unsafe refusesKey(text, base, table, record, position, fix.keyRule) {
                    fieldProblems.append((index, .keyIsCoordinate))
                    batch.times.append(nil)
                    batch.accuracies.append(.nan)
                    continue
                }
            }
            if let time {
                let text = unsafe CSVQuote.trimmed(field(base, table.span(record, time)))
                var value = unsafe Timestamp(text, as: fix.timeStyle)
                if let date {
                    let day = unsafe CSVQuote.trimmed(field(base, table.span(record, date)))
                    value = unsafe Self.joined(day, text, whole: value, fix.timeStyle)
                    if value == nil, problem == nil, let reason = unsafe Self.problem(ofDate: day, fix.timeStyle) {
                        batch.times.append(nil)
                        batch.accuracies.append(.nan)
                        fieldProblems.append((index, reason))
                        continue
                    }
                }
                var offsetProblem: RecordProblem.Reason?
                if let number = fix.offset, let local = value {
                    let offset = unsafe CSVQuote.trimmed(field(base, table.span(record, entries[number])))
                    (value, offsetProblem) = unsafe fix.offsets.shifted(local, text, by: offset, fix.timeStyle)
                }
                batch.times.append(value)
                // No closures: one that holds `fix` copies all of it, for each record.
                var reason = offsetProblem
                if let value {
                    if reason == nil { reason = unsafe fix.problem(ofTime: value, text) }
                } else if reason == nil {
                    reason = unsafe Self.problem(ofUnreadable: text, fix.timeStyle)
                }
                if let reason, problem == nil { fieldProblems.append((index, reason)) }
            } else {
                batch.times.append(nil)
            }
            if let accuracy {
                batch.accuracies.append(unsafe number(base, table.span(record, accuracy)) * fix.metersPerAccuracy)
            } else {
                batch.accuracies.append(.nan)
            }
        }
        if !fieldProblems.isEmpty {
            batch.problems = (batch.problems + fieldProblems).sorted { $0.index < $1.index }
        }
    }

    /// Whether a record's key could be a coordinate.
    @inline(__always)
    private func refusesKey(
        _ key: UnsafeBufferPointer<UInt8>, _ base: UnsafePointer<UInt8>, _ table: FieldTable, _ record: Int,
        _ position: (latitude: Int, longitude: Int), _ rule: KeyRule
    ) -> Bool {
        unsafe rule.refuses(key) { key in
            [position.latitude, position.longitude].contains { entry in
                unsafe CSVQuote.trimmed(field(base, table.span(record, entry))).trimmedOfBlanks.elementsEqual(key)
            }
        }
    }

    /// The time of a record with a column of dates.
    ///
    /// - Parameter whole: what the column of times says alone, if it has a date of its own or is a number.
    @inline(never)
    private static func joined(
        _ date: UnsafeBufferPointer<UInt8>, _ time: UnsafeBufferPointer<UInt8>, whole: Timestamp?,
        _ style: TimeStyle
    ) -> Timestamp? {
        unsafe Timestamp(date: date, time: time, style) ?? whole ?? Timestamp(repeating: time, in: date, style)
    }

    /// What is wrong with a field that is no time.
    @inline(never)
    private static func problem(
        ofUnreadable text: UnsafeBufferPointer<UInt8>, _ style: TimeStyle
    ) -> RecordProblem.Reason {
        if unsafe text.allSatisfy(DecimalNumber.isBlank) { return .timeMissing }
        return unsafe problem(ofDate: text, style) ?? .timeUnreadable
    }

    /// What is wrong with a date that may begin with its day or its month; nil for any other text.
    private static func problem(
        ofDate text: UnsafeBufferPointer<UInt8>, _ style: TimeStyle
    ) -> RecordProblem.Reason? {
        unsafe style.dateOrder == nil && Timestamp.beginsWithDayOrMonth(text) ? .dateOrderUnknown : nil
    }

    @inline(never)
    private func decodeKey(_ field: UnsafeBufferPointer<UInt8>, into batch: inout FixBatch) {
        let isQuoted = unsafe field.first == CSVQuote.byte
        let content = DeviceKey.normalized(unsafe isQuoted ? CSVQuote.content(field) : Array(field))
        let start = batch.decodedKeys.count
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
        let text = unsafe CSVQuote.trimmed(field(base, span))
        return unsafe DecimalNumber.parse(text) ?? AngleText.decimalComma(text) ?? .nan
    }
}

/// A position that is not two fixed-point numbers, and what is wrong with it.
struct CSVPosition {
    var coordinate: Coordinate
    private(set) var problem: RecordProblem.Reason?

    init(_ coordinate: Coordinate) { self.coordinate = coordinate }

    /// Parses the two fields, in the order in which they stand, so that the first problem is reported.
    mutating func parse(_ base: UnsafePointer<UInt8>, latitude: FieldSpan, longitude: FieldSpan, isBare: Bool) {
        func value(
            _ span: FieldSpan, _ axis: TraceError.Axis, _ missing: RecordProblem.Reason,
            _ unreadable: RecordProblem.Reason
        ) -> Double {
            // SAFETY: spans lie within the buffer.
            let field = unsafe UnsafeBufferPointer(start: base + Int(span.start), count: span.count)
            let text = unsafe isBare ? field : CSVQuote.trimmed(field)
            if let value = unsafe DecimalNumber.parse(text) { return value }
            if !isBare, let value = unsafe AngleText.parse(text, axis) { return value }
            if problem == nil {
                problem = isBare ? .notTwoNumbers : unsafe text.allSatisfy(DecimalNumber.isBlank) ? missing : unreadable
            }
            return .nan
        }
        func parseLatitude() { coordinate.latitude = value(latitude, .latitude, .latitudeMissing, .latitudeUnreadable) }
        if latitude.start < longitude.start { parseLatitude() }
        coordinate.longitude = value(longitude, .longitude, .longitudeMissing, .longitudeUnreadable)
        if latitude.start >= longitude.start { parseLatitude() }
    }

    /// Parses a field of both coordinates, without quotes around it.
    mutating func parse(
        _ text: UnsafeBufferPointer<UInt8>, _ order: PairOrder, _ reference: SpatialReference
    ) {
        if let position = unsafe PairText.parse(text, order, reference) {
            coordinate = position
        } else {
            problem = unsafe text.allSatisfy(DecimalNumber.isBlank) ? .positionMissing : .positionUnreadable
        }
    }

    /// Applies what the columns for the hemisphere say.
    mutating func apply(_ signs: CSVExactRecord.Signs, hasLatitude: Bool, hasLongitude: Bool) {
        guard problem == nil else { return }
        guard let latitude = signs.latitude, let longitude = signs.longitude else {
            problem = .hemisphereUnreadable
            return
        }
        if hasLatitude && coordinate.latitude.sign == .minus
            || hasLongitude && coordinate.longitude.sign == .minus
        {
            problem = .hemisphereAndSign
        }
        coordinate.latitude *= latitude
        coordinate.longitude *= longitude
    }
}
