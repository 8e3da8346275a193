internal import CKernels
import Hereabouts

/// The functions of Sources/CKernels for one instruction set. All sets give the same results.
@safe struct FieldFunctions: @unchecked Sendable {
    // SAFETY: constants, functions that keep no state.
    fileprivate let table: field_kernels

    /// Nil where the processor lacks the instruction set.
    init?(_ set: KernelSet) {
        guard let table = unsafe hereabouts_field_kernels(kernel_set(set.rawValue)) else { return nil }
        self.table = unsafe table.pointee
    }

    /// The kernels in use.
    static let selected = FieldFunctions(.selected)!

    /// Reads two fields of each record as latitude and longitude, of the usual form (`Decimal.usual`); where one is
    /// not, both become not a number.
    ///
    /// - Returns: how many records that are.
    func readPositions(
        _ base: UnsafePointer<UInt8>, _ fields: FieldTable, latitude: Int, longitude: Int, count: Int,
        into coordinates: UnsafeMutablePointer<Coordinate>
    ) -> Int {
        // SAFETY: a coordinate is two doubles, latitude first; the fields lie in a block with its slack after it.
        unsafe table.parse_pairs(
            base, fields.ends, fields.stride, latitude, longitude, count,
            UnsafeMutableRawPointer(coordinates).assumingMemoryBound(to: Double.self))
    }
}

/// Where the fields of records are: a row of entries for each record, a field from one after an entry to the next
/// entry.
@safe struct FieldTable {
    // SAFETY: for as long as what it was made of is not changed.
    let ends: UnsafePointer<UInt32>
    let stride: Int

    /// The field after an entry of a record.
    @inline(__always)
    func span(_ record: Int, _ entry: Int) -> FieldSpan {
        let ends = unsafe ends + (record &* stride &+ entry)
        return unsafe FieldSpan(start: ends[0] &+ 1, end: ends[1])
    }

    /// The table without its first records.
    func dropFirst(_ records: Int) -> FieldTable {
        unsafe FieldTable(ends: ends + records * stride, stride: stride)
    }
}

/// The ends of all fields of a block, quotes aside, found many at a time and listed in order: where its delimiters and
/// line feeds are.
@safe struct FieldEnds: ~Copyable {
    private let functions: FieldFunctions
    // SAFETY: entry 0 and one for each end, allocated when a block is listed and freed in deinit.
    private var entries: UnsafeMutablePointer<UInt32>?
    private var capacity = 0
    private var census = structural_counts()

    init(_ functions: FieldFunctions) { self.functions = functions }

    deinit {
        unsafe entries?.deallocate()
    }

    /// How many ends the block has.
    var count: Int { census.separators }
    /// Whether there are quotes in the block: then not all that is listed are ends.
    var hasQuotes: Bool { census.has_quotes }
    /// Whether there are carriage returns in the block.
    var hasReturns: Bool { census.has_carriage_returns }

    /// Lists the ends in a block that has `Block.slack` readable bytes after it.
    mutating func list(_ block: UnsafeBufferPointer<UInt8>, delimiter: UInt8) {
        guard let base = block.baseAddress else { return }
        if unsafe capacity < block.count || entries == nil {
            unsafe entries?.deallocate()
            // Blocks differ by less than a record: the first one's memory will mostly do for all.
            capacity = block.count + (1 << 16)
            unsafe entries = .allocate(capacity: capacity + 17)
        }
        // The end before the first field: one less than where it starts.
        unsafe entries![0] = .max
        census = unsafe functions.table.index(base, block.count, delimiter, entries! + 1)
    }

    /// The records of the block listed last, if every line of it is a record of so many fields, without quotes and
    /// carriage returns.
    func records(_ base: UnsafePointer<UInt8>, columns: Int) -> (fields: FieldTable, count: Int)? {
        let lines = census.line_feeds
        guard let entries = unsafe entries, lines > 0, count == lines * columns, !hasQuotes, !hasReturns else {
            return nil
        }
        // If each last end is a line feed, no other one is.
        for line in 1...lines {
            if unsafe base[Int(entries[line &* columns])] != 10 { return nil }
        }
        return unsafe (FieldTable(ends: entries, stride: columns), lines)
    }

    /// The offset of an end, counted from 1, or at 0 one less than 0.
    @inline(__always)
    subscript(index: Int) -> UInt32 {
        // SAFETY: callers know how many ends there are.
        unsafe entries.unsafelyUnwrapped[index]
    }
}
