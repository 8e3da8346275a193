internal import CKernels
import Hereabouts

/// The field kernels (`Sources/CKernels`) of one instruction set. All sets give the same results.
@safe struct FieldKernels: @unchecked Sendable {
    // SAFETY: constants; the functions keep no state.
    fileprivate let table: field_kernels

    /// Nil where the processor lacks the instruction set.
    init?(_ set: KernelSet) {
        guard let table = unsafe hereabouts_field_kernels(kernel_set(set.rawValue)) else { return nil }
        self.table = unsafe table.pointee
    }

    /// The kernels in use.
    static let selected = FieldKernels(.selected)!

    /// Parses two fields of each record as latitude and longitude where both are fixed-point (`FixedPoint`); elsewhere
    /// both become NaN.
    ///
    /// - Returns: how many records that are.
    func parsePositions(
        _ base: UnsafePointer<UInt8>, _ fields: FieldTable, latitude: Int, longitude: Int, count: Int,
        into coordinates: UnsafeMutablePointer<Coordinate>
    ) -> Int {
        // SAFETY: a coordinate is two doubles, latitude first; the fields lie in a buffer with its padding after it.
        unsafe table.parse_pairs(
            base, fields.entries, fields.stride, latitude, longitude, count,
            UnsafeMutableRawPointer(coordinates).assumingMemoryBound(to: Double.self))
    }
}

/// Numbers that match `-?[0-9]{1,7}\.[0-9]{1,8}`, which most positions do: parsed without a branch per digit.
enum FixedPoint {
    /// Bytes from a text's start that are read.
    static let reach = 17

    /// The number that is all of the text; NaN for any other, which may be a number all the same.
    ///
    /// - Precondition: `reach` bytes from the text's start are readable.
    @inline(__always)
    static func parse(_ text: UnsafePointer<UInt8>, count: Int) -> Double {
        unsafe hereabouts_parse_fixed_point(text, count)
    }
}

/// The structural index of a buffer of CSV: the offsets of its delimiters and line feeds, in order.
///
/// Entry 0 is one less than the buffer's first offset, so that the record after separator number `n` is the row of a
/// `FieldTable` that begins at entry `n`. Quotes have no meaning here: a buffer that has one is not to be read by its
/// index.
@safe struct StructuralIndex: ~Copyable {
    private let kernels: FieldKernels
    // SAFETY: `capacity + 17` entries, allocated when a buffer is indexed, freed in deinit.
    private var entries: UnsafeMutablePointer<UInt32>?
    private var capacity = 0
    private var counts = structural_counts()
    private var columns = 1
    /// Whether every line has `columns` fields and is no longer than a record may be.
    private var isUniform = false

    init(_ kernels: FieldKernels) { self.kernels = kernels }

    deinit { unsafe entries?.deallocate() }

    /// How many separators there are.
    var count: Int { counts.separators }
    /// Whether the buffer has quotes.
    var hasQuotes: Bool { counts.has_quotes }
    /// Whether the buffer has carriage returns.
    var hasReturns: Bool { counts.has_carriage_returns }

    /// Indexes a buffer that has `InputBuffer.padding` readable bytes after it.
    mutating func build(_ buffer: UnsafeBufferPointer<UInt8>, delimiter: UInt8, columns: Int) {
        guard let base = buffer.baseAddress else { return }
        if unsafe capacity < buffer.count || entries == nil {
            unsafe entries?.deallocate()
            // Blocks differ in size by less than a record, so that the first one's memory serves nearly all.
            capacity = buffer.count + (1 << 16)
            unsafe entries = .allocate(capacity: capacity + 17)
        }
        unsafe entries![0] = .max
        counts = unsafe kernels.table.index(base, buffer.count, delimiter, entries! + 1)
        self.columns = columns
        isUniform = unsafe buffer.count <= InputBuffer.maximumRecordBytes && everyRecordEndsItsLine(base)
    }

    /// Whether there are as many separators as lines of `columns` fields have, and each last one is a line feed: then no
    /// other one is.
    private func everyRecordEndsItsLine(_ base: UnsafePointer<UInt8>) -> Bool {
        let lines = counts.line_feeds
        guard let entries = unsafe entries, count == lines * columns else { return false }
        for line in 0..<lines {
            if unsafe base[Int(entries[(line &+ 1) &* columns])] != 10 { return false }
        }
        return true
    }

    /// How many records after separator number `behind` have `columns` fields and their line for themselves, up to the
    /// first that has not, and at most `limit`.
    func regularRecords(_ base: UnsafePointer<UInt8>, after behind: Int, limit: Int) -> Int {
        if isUniform { return min(limit, (count - behind) / columns) }
        guard let entries = unsafe entries else { return 0 }
        var records = 0
        var first = behind
        // SAFETY: entries are offsets within the buffer.
        next: while records < limit && first + columns <= count {
            for separator in first + 1..<first + columns {
                if unsafe base[Int(entries[separator])] == 10 { break next }
            }
            let end = unsafe entries[first + columns]
            guard unsafe base[Int(end)] == 10, unsafe end &- entries[first] <= InputBuffer.maximumRecordBytes else {
                break
            }
            records += 1
            first += columns
        }
        return records
    }

    /// The records after separator number `behind`.
    func table(after behind: Int) -> FieldTable {
        // SAFETY: asked of an index that was built.
        unsafe FieldTable(entries: entries.unsafelyUnwrapped + behind, stride: columns)
    }

    /// The offset of separator number `number`, counted from 1.
    @inline(__always)
    subscript(number: Int) -> Int {
        // SAFETY: callers know how many separators there are.
        Int(unsafe entries.unsafelyUnwrapped[number])
    }
}
