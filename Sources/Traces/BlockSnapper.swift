import Hereabouts

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// What became of one block.
struct BlockTally {
    var records = 0
    var lines = 0
    var written = 0
    /// A bad record came up and the policy is to stop.
    var isStopped = false
    /// The line of a record that is too long to go on after, from 0 at the block's start.
    var overlongLine: Int?
}

/// Turns a block of CSV records into a block of output, the same for the same block: nothing is remembered from one
/// block to the next but rendered text. So blocks can be done in any order, or at once by several of these.
///
/// Records are done in batches: parse all, snap all, print all, each in a loop of its own with its data in cache.
@safe struct BlockSnapper: ~Copyable {
    private static let longestBatch = 512
    /// Entries of listed rows at most, but for a single longer one: half a mebibyte.
    private static let mostListed = 1 << 17
    /// Bytes of a block after which others may be expected.
    private static let much = 1 << 14

    private let atlas: Atlas
    private var memo: CellMemo
    private var parser: RowParser
    private let onError: ErrorPolicy
    /// Whether kept fields can be copied as they stand, blocks without quotes or carriage returns given.
    private let isCommaSeparated: Bool
    private var columns: RegionText
    private let coordinates: UnsafeMutablePointer<Coordinate>
    private let regions: UnsafeMutablePointer<Region>
    private let functions = FieldFunctions.selected
    /// Of the record at hand, the kept fields.
    private let spans: UnsafeMutablePointer<FieldSpan>
    /// Per record of a batch that was read one by one, the fields: latitude, longitude, and what is kept, in pairs of
    /// entries.
    private let listed: UnsafeMutablePointer<UInt32>
    private let listedStride: Int
    /// How many records are done together.
    private let batch: Int
    /// Which entries of a record's row come before the kept fields, where the rows are the block's own and where they
    /// are listed one by one.
    private let regularEntries, listedEntries: [Int]
    /// Per record of a batch that was read one by one, the line it starts on, from 0 at the block's start.
    private let lines: UnsafeMutablePointer<Int>
    /// The batch's runs of records in the same region.
    private let runs: UnsafeMutablePointer<RegionText.Run>
    /// Room for the numbers of the runs whose regions' texts must be rendered.
    private let missing: UnsafeMutablePointer<Int32>
    /// Problems found while parsing the batch, with the record's index in it.
    private var unparsed: [(index: Int, reason: RecordProblem.Reason)] = []

    /// - Parameter texts: the regions' output columns, which may be shared.
    init(texts: RegionTexts, layout: CSVLayout, onError: ErrorPolicy) {
        atlas = texts.atlas
        memo = CellMemo(texts.atlas)
        self.onError = onError
        parser = RowParser(layout)
        isCommaSeparated = layout.delimiter == UInt8(ascii: ",")
        columns = RegionText(texts)
        regularEntries = layout.roles.indices.filter { layout.roles[$0] == .kept }
        listedEntries = regularEntries.indices.map { Self.keptEntry + 2 * $0 }
        listedStride = Self.keptEntry + 2 * regularEntries.count
        batch = max(1, min(Self.longestBatch, Self.mostListed / listedStride))
        // SAFETY: freed in deinit. Elements are trivial, and each is written before it is read.
        unsafe coordinates = .allocate(capacity: batch)
        unsafe listed = .allocate(capacity: batch * listedStride)
        unsafe regions = .allocate(capacity: batch)
        unsafe regions.initialize(repeating: .invalid, count: batch)
        unsafe lines = .allocate(capacity: batch)
        unsafe runs = .allocate(capacity: batch)
        unsafe missing = .allocate(capacity: batch)
        unsafe spans = .allocate(capacity: max(parser.keptCount, 1))
        unsafe spans.initialize(repeating: FieldSpan(), count: max(parser.keptCount, 1))
    }

    deinit {
        unsafe coordinates.deallocate()
        unsafe listed.deallocate()
        unsafe regions.deallocate()
        unsafe lines.deallocate()
        unsafe runs.deallocate()
        unsafe missing.deallocate()
        unsafe spans.deallocate()
    }

    /// The entries of a listed row that come before the fields.
    private static let latitudeEntry = 0, longitudeEntry = 2, keptEntry = 4

    /// Where the fields of a batch's records are.
    private struct Batch {
        var fields: FieldTable
        var count: Int
        /// The line of the first record, from 0 at the block's start, where each is the line after the one before; nil
        /// where `lines` has them.
        var firstLine: Int?
    }

    /// Appends the output of `block`'s records to `out`, and its bad records to `problems`, their lines counted from 0
    /// at the block's start. The block is as `BlockReader` makes them.
    mutating func reduce(
        _ block: UnsafeBufferPointer<UInt8>, into out: inout ByteBuffer, problems: inout [RecordProblem]
    ) -> BlockTally {
        var tally = BlockTally()
        guard let base = block.baseAddress else { return tally }
        if block.count > Self.much { columns.expectMany() }
        // SAFETY: the block is readable for `block.count` bytes and the slack.
        unsafe parser.begin(block)
        let isPlain = isCommaSeparated && parser.isPlain
        let regular = unsafe parser.regularRecords(block)
        var at = 0
        while at < (regular?.count ?? block.count) && !tally.isStopped && tally.overlongLine == nil {
            let batch =
                if let regular {
                    unsafe readBatch(base, regular, at: &at, tally: &tally)
                } else {
                    unsafe parseBatch(base, at: &at, count: block.count, tally: &tally)
                }
            unsafe atlas.snap(
                UnsafeBufferPointer(start: coordinates, count: batch.count),
                into: UnsafeMutableBufferPointer(start: regions, count: batch.count), memo: &memo)
            let runCount = unsafe columns.findRuns(
                UnsafeBufferPointer(start: regions, count: batch.count), into: runs, missing: missing)
            unsafe print(base, batch, runCount, isPlain: isPlain, into: &out, problems: &problems, tally: &tally)
        }
        return tally
    }

    /// Reads the positions of records whose fields are found, from number `record` on until the batch is full or the
    /// records at their end.
    private mutating func readBatch(
        _ base: UnsafePointer<UInt8>, _ records: (fields: FieldTable, count: Int), at record: inout Int,
        tally: inout BlockTally
    ) -> Batch {
        unparsed.removeAll(keepingCapacity: true)
        let count = min(batch, records.count - record)
        let batch = Batch(fields: records.fields.dropFirst(record), count: count, firstLine: tally.lines)
        unsafe readNumbers(base, batch.fields, parser.latitude, parser.longitude, 0..<count)
        record += count
        tally.lines += count
        tally.records += count
        return batch
    }

    /// Parses records one by one, from offset `at` on until the batch is full or the block at its end.
    private mutating func parseBatch(
        _ base: UnsafePointer<UInt8>, at: inout Int, count: Int, tally: inout BlockTally
    ) -> Batch {
        unparsed.removeAll(keepingCapacity: true)
        let table = unsafe FieldTable(ends: listed, stride: listedStride)
        // Of records of the usual shape, the fields come first, and then the numbers of all of them.
        var index = 0, unread = 0
        while index < batch && at < count {
            // SAFETY: `index` is below the batch's size, `at` below the block's.
            let start = at
            unsafe (lines + index).initialize(to: tally.lines)
            var unusual: Row?
            if let fields = unsafe parser.usualFields(base, spans: spans) {
                at = fields.end
                list(fields.latitude, index, Self.latitudeEntry)
                list(fields.longitude, index, Self.longitudeEntry)
            } else {
                let row = unsafe parser.unusualRow(base, at: at, count: count, spans: spans)
                at = row.end
                unusual = row
            }
            for kept in 0..<parser.keptCount { list(unsafe spans[kept], index, Self.keptEntry + 2 * kept) }
            if at - start > CSVLayout.maximumRecordBytes {
                tally.overlongLine = tally.lines
                break
            }
            tally.lines &+= unusual?.lines ?? 1
            if unusual?.isEmpty == true { continue }
            if let unusual {
                unsafe readNumbers(base, table, Self.latitudeEntry, Self.longitudeEntry, unread..<index)
                take(unusual, index)
                unread = index + 1
            }
            index &+= 1
        }
        unsafe readNumbers(base, table, Self.latitudeEntry, Self.longitudeEntry, unread..<index)
        tally.records += index
        return Batch(fields: table, count: index)
    }

    /// Puts down a field of a record that is read by itself.
    @inline(__always)
    private func list(_ span: FieldSpan, _ index: Int, _ entry: Int) {
        // SAFETY: `index` is below the batch's size, and there is a pair of entries for each field.
        let ends = unsafe listed + (index &* listedStride &+ entry)
        unsafe ends[0] = span.start &- 1
        unsafe ends[1] = span.end
    }

    /// Reads the positions of records whose fields are found.
    ///
    /// - Parameters:
    ///   - latitude, longitude: the entries before the fields.
    ///   - range: which of the batch's records, by their rows in the table.
    @inline(__always)
    private mutating func readNumbers(
        _ base: UnsafePointer<UInt8>, _ fields: FieldTable, _ latitude: Int, _ longitude: Int, _ range: Range<Int>
    ) {
        let start = range.lowerBound
        guard !range.isEmpty,
            unsafe functions.readPositions(
                base, fields.dropFirst(start), latitude: latitude, longitude: longitude, count: range.count,
                into: coordinates + start) > 0
        else { return }
        // SAFETY: the range is of records of the batch.
        for index in range where unsafe coordinates[index].latitude.isNaN {
            let (latitude, longitude) = (fields.span(index, latitude), fields.span(index, longitude))
            take(unsafe parser.unusualNumbers(base, latitude, longitude, end: 0), index)
        }
    }

    /// Puts down a record's position, or what is wrong with it.
    private mutating func take(_ row: Row, _ index: Int) {
        // SAFETY: `index` is below the batch's size.
        unsafe (coordinates + index).initialize(to: Coordinate(latitude: row.latitude, longitude: row.longitude))
        guard let reason = row.problem else { return }
        unsafe coordinates[index].latitude = .nan
        unparsed.append((index, reason))
    }

    /// Prints the batch's records.
    private mutating func print(
        _ base: UnsafePointer<UInt8>, _ batch: Batch, _ runCount: Int, isPlain: Bool, into out: inout ByteBuffer,
        problems: inout [RecordProblem], tally: inout BlockTally
    ) {
        let entries = batch.firstLine == nil ? listedEntries : regularEntries
        var start = 0, nextUnparsed = 0
        for run in 0..<runCount {
            // SAFETY: the batch's runs were found, and its records parsed and snapped.
            let run = unsafe runs[run]
            let records = start..<Int(run.end)
            start = records.upperBound
            if run.region != .invalid {
                unsafe appendRun(base, batch.fields, records, run, entries, isPlain: isPlain, to: &out)
                tally.written += records.count
                continue
            }
            for index in records {
                var reason = unsafe Self.rangeProblem(coordinates[index])
                if nextUnparsed < unparsed.count, unparsed[nextUnparsed].index == index {
                    reason = unparsed[nextUnparsed].reason
                    nextUnparsed += 1
                }
                let line = unsafe batch.firstLine.map { $0 + index } ?? lines[index]
                problems.append(RecordProblem(line: line, reason: reason))
                if onError == .stop {
                    tally.isStopped = true
                    return
                }
                if onError == .blank {
                    unsafe appendBlank(base, batch.fields, index, entries, reason: reason, to: &out)
                    tally.written += 1
                }
            }
        }
    }

    /// Prints records that are in the same region.
    @inline(__always)
    private func appendRun(
        _ base: UnsafePointer<UInt8>, _ fields: FieldTable, _ records: Range<Int>, _ run: RegionText.Run,
        _ entries: [Int], isPlain: Bool, to out: inout ByteBuffer
    ) {
        let text = unsafe columns.text(run.place)
        if isPlain, parser.keepsNeighbors, run.place != .nowhere {
            // The fields stand side by side as they are to be written.
            let first = entries[0], last = entries[entries.count - 1]
            for record in records {
                let start = fields.span(record, first).start, end = fields.span(record, last).end
                // SAFETY: spans lie within the block, whose slack may be read, as may what follows a text.
                unsafe out.append(
                    short: base + Int(start), count: Int(end) &- Int(start), UInt8(ascii: ","),
                    short: text.baseAddress!, count: text.count)
            }
            return
        }
        for record in records {
            unsafe appendKept(base, fields, record, entries, isPlain: isPlain, to: &out)
            if run.place == .nowhere {
                columns.appendRendered(run.region, to: &out)
            } else {
                unsafe out.append(short: text.baseAddress!, count: text.count)
            }
        }
    }

    /// Why the engine refused numbers that were read well.
    private static func rangeProblem(_ coordinate: Coordinate) -> RecordProblem.Reason {
        abs(coordinate.latitude) <= 90 ? .longitudeNotFinite : .latitudeOutOfRange
    }

    /// - Parameter entries: those of the record's row that come before the kept fields.
    @inline(__always)
    private func appendKept(
        _ base: UnsafePointer<UInt8>, _ fields: FieldTable, _ index: Int, _ entries: [Int], isPlain: Bool,
        to out: inout ByteBuffer
    ) {
        // SAFETY: spans lie within the block, whose slack `append(short:)` may read.
        for entry in entries {
            let span = fields.span(index, entry)
            if isPlain {
                unsafe out.append(short: base + Int(span.start), count: span.count)
            } else {
                unsafe appendField(UnsafeBufferPointer(start: base + Int(span.start), count: span.count), to: &out)
            }
            out.append(UInt8(ascii: ","))
        }
    }

    /// A kept field that may need other quotes than it came with: a well-quoted one is copied as it is.
    @inline(never)
    private func appendField(_ field: UnsafeBufferPointer<UInt8>, to out: inout ByteBuffer) {
        if unsafe field.first == UInt8(ascii: "\"") {
            unsafe out.append(field)
        } else {
            unsafe out.append(csv: field)
        }
    }

    /// A record without reduced location. Where the record's shape is not the header's, its fields may stand in the
    /// wrong columns, the position in a kept one: then those stay empty too.
    @inline(never)
    private func appendBlank(
        _ base: UnsafePointer<UInt8>, _ fields: FieldTable, _ index: Int, _ entries: [Int],
        reason: RecordProblem.Reason,
        to out: inout ByteBuffer
    ) {
        if reason.isOfShape {
            for _ in 0..<parser.keptCount { out.append(UInt8(ascii: ",")) }
        } else {
            unsafe appendKept(base, fields, index, entries, isPlain: false, to: &out)
        }
        out.append(RegionForm.csvBlank)
    }
}
