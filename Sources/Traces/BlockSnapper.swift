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
    private static let batch = 2048

    private let atlas: Atlas
    private var parser: RowParser
    private let onError: ErrorPolicy
    /// Whether kept fields can be copied as they stand, blocks without quotes or carriage returns given.
    private let isCommaSeparated: Bool
    private var columns: RegionText
    private let coordinates: UnsafeMutablePointer<Coordinate>
    private let regions: UnsafeMutablePointer<Region>
    private let spans: UnsafeMutablePointer<FieldSpan>
    private let functions = FieldFunctions.widest
    /// Per record of the batch, the fields of latitude and longitude.
    private let positions: UnsafeMutablePointer<FieldSpan>
    /// Per record of the batch, the line it starts on, from 0 at the block's start.
    private let lines: UnsafeMutablePointer<Int>
    /// Per record of the batch, where its region's text is.
    private let places: UnsafeMutablePointer<RegionTexts.Place>
    /// Room for the indices of the batch's records whose regions' texts must be rendered.
    private let missing: UnsafeMutablePointer<Int32>
    /// Problems found while parsing the batch, with the record's index in it.
    private var unparsed: [(index: Int, reason: RecordProblem.Reason)] = []

    /// - Parameter texts: the regions' output columns, which may be shared.
    init(texts: RegionTexts, layout: CSVLayout, onError: ErrorPolicy) {
        atlas = texts.atlas
        self.onError = onError
        parser = RowParser(layout)
        isCommaSeparated = layout.delimiter == UInt8(ascii: ",")
        columns = RegionText(texts)
        // SAFETY: freed in deinit. Elements are trivial, and each is written before it is read.
        unsafe coordinates = .allocate(capacity: Self.batch)
        unsafe positions = .allocate(capacity: 2 * Self.batch)
        unsafe regions = .allocate(capacity: Self.batch)
        unsafe regions.initialize(repeating: .none, count: Self.batch)
        unsafe lines = .allocate(capacity: Self.batch)
        unsafe places = .allocate(capacity: Self.batch)
        unsafe places.initialize(repeating: .nowhere, count: Self.batch)
        unsafe missing = .allocate(capacity: Self.batch)
        unsafe missing.initialize(repeating: 0, count: Self.batch)
        unsafe spans = .allocate(capacity: Self.batch * max(parser.keptCount, 1))
    }

    deinit {
        unsafe coordinates.deallocate()
        unsafe positions.deallocate()
        unsafe regions.deallocate()
        unsafe lines.deallocate()
        unsafe places.deallocate()
        unsafe missing.deallocate()
        unsafe spans.deallocate()
    }

    /// Appends the output of `block`'s records to `out`, and its bad records to `problems`, their lines counted from 0
    /// at the block's start. The block is as `BlockReader` makes them.
    mutating func reduce(
        _ block: UnsafeBufferPointer<UInt8>, into out: inout ByteBuffer, problems: inout [RecordProblem]
    ) -> BlockTally {
        var tally = BlockTally()
        guard let base = block.baseAddress else { return tally }
        // SAFETY: the block is readable for `block.count` bytes and the slack.
        unsafe parser.begin(block)
        let isPlain = isCommaSeparated && parser.isPlain
        var at = 0
        while at < block.count && !tally.isStopped && tally.overlongLine == nil {
            let count = unsafe parseBatch(base, at: &at, count: block.count, tally: &tally)
            unsafe atlas.snap(
                UnsafeBufferPointer(start: coordinates, count: count),
                into: UnsafeMutableBufferPointer(start: regions, count: count))
            unsafe columns.findPlaces(
                of: UnsafeBufferPointer(start: regions, count: count), into: places, missing: missing)
            unsafe print(base, count: count, isPlain: isPlain, into: &out, problems: &problems, tally: &tally)
        }
        return tally
    }

    /// Parses records from offset `at` on until the batch is full or the block at its end.
    private mutating func parseBatch(
        _ base: UnsafePointer<UInt8>, at: inout Int, count: Int, tally: inout BlockTally
    ) -> Int {
        unparsed.removeAll(keepingCapacity: true)
        // Of records of the usual shape, the fields come first, and then the numbers of all of them.
        var index = 0, unread = 0
        while index < Self.batch && at < count {
            // SAFETY: `index` is below the batch's size, `at` below the block's.
            let start = at, spans = unsafe spans + index &* parser.keptCount
            unsafe (lines + index).initialize(to: tally.lines)
            var unusual: Row?
            if let fields = unsafe parser.usualFields(base, spans: spans) {
                at = fields.end
                unsafe positions[2 &* index] = fields.latitude
                unsafe positions[2 &* index &+ 1] = fields.longitude
            } else {
                let row = unsafe parser.unusualRow(base, at: at, count: count, spans: spans)
                at = row.end
                unusual = row
            }
            if at - start > CSVLayout.maximumRecordBytes {
                tally.overlongLine = tally.lines
                break
            }
            tally.lines &+= unusual?.lines ?? 1
            if unusual?.isEmpty == true { continue }
            if let unusual {
                unsafe readNumbers(base, unread..<index)
                take(unusual, index)
                unread = index + 1
            }
            index &+= 1
        }
        unsafe readNumbers(base, unread..<index)
        tally.records += index
        return index
    }

    /// Reads the positions of records whose fields are found.
    @inline(__always)
    private mutating func readNumbers(_ base: UnsafePointer<UInt8>, _ range: Range<Int>) {
        let start = range.lowerBound
        guard !range.isEmpty, unsafe functions.readPositions(
            base, positions + 2 * start, count: range.count, into: coordinates + start) > 0
        else { return }
        // SAFETY: the range is of records of the batch.
        for index in range where unsafe coordinates[index].latitude.isNaN {
            take(unsafe parser.unusualNumbers(base, positions[2 * index], positions[2 * index + 1], end: 0), index)
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
        _ base: UnsafePointer<UInt8>, count: Int, isPlain: Bool, into out: inout ByteBuffer,
        problems: inout [RecordProblem], tally: inout BlockTally
    ) {
        var nextUnparsed = 0
        for index in 0..<count {
            // SAFETY: `index` is below the batch's size, and the batch was parsed and snapped up to `count`.
            let region = unsafe regions[index]
            let fields = unsafe spans + index * parser.keptCount
            if region != .none {
                unsafe appendKept(base, fields, isPlain: isPlain, to: &out)
                columns.append(region, at: unsafe places[index], to: &out)
                tally.written += 1
                continue
            }
            var reason = unsafe Self.rangeProblem(coordinates[index])
            if nextUnparsed < unparsed.count, unparsed[nextUnparsed].index == index {
                reason = unparsed[nextUnparsed].reason
                nextUnparsed += 1
            }
            problems.append(RecordProblem(line: unsafe lines[index], reason: reason))
            if onError == .stop {
                tally.isStopped = true
                return
            }
            if onError == .blank {
                unsafe appendBlank(base, fields, reason: reason, to: &out)
                tally.written += 1
            }
        }
    }

    /// Why the engine refused numbers that were read well.
    private static func rangeProblem(_ coordinate: Coordinate) -> RecordProblem.Reason {
        abs(coordinate.latitude) <= 90 ? .longitudeNotFinite : .latitudeOutOfRange
    }

    @inline(__always)
    private func appendKept(
        _ base: UnsafePointer<UInt8>, _ fields: UnsafePointer<FieldSpan>, isPlain: Bool, to out: inout ByteBuffer
    ) {
        // SAFETY: spans lie within the block, whose slack `append(short:)` may read.
        if isPlain && parser.keepsNeighbours {
            // The fields stand side by side as they are to be written.
            let start = unsafe Int(fields[0].start)
            let length = unsafe Int(fields[parser.keptCount - 1].end) - start
            unsafe out.append(short: base + start, count: length)
            out.append(UInt8(ascii: ","))
            return
        }
        for kept in 0..<parser.keptCount {
            let start = unsafe Int(fields[kept].start)
            let length = unsafe Int(fields[kept].end) - start
            if isPlain {
                unsafe out.append(short: base + start, count: length)
            } else {
                unsafe appendField(UnsafeBufferPointer(start: base + start, count: length), to: &out)
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
        _ base: UnsafePointer<UInt8>, _ fields: UnsafePointer<FieldSpan>, reason: RecordProblem.Reason,
        to out: inout ByteBuffer
    ) {
        if reason.isOfShape {
            for _ in 0..<parser.keptCount { out.append(UInt8(ascii: ",")) }
        } else {
            unsafe appendKept(base, fields, isPlain: false, to: &out)
        }
        out.append(RegionForm.csvBlank)
    }
}
