internal import CKernels

/// The byte range of a field in its buffer, quotes included.
typealias FieldSpan = field_span

extension FieldSpan {
    /// Bytes of the field.
    @inline(__always)
    var count: Int { Int(end) &- Int(start) }
}

/// Where the fields of records are: a row of entries for each record. The field at an entry begins one byte after it
/// and ends at the next one, so that a structural index is a table of its records.
@safe struct FieldTable {
    // SAFETY: valid until what it was made from changes.
    let entries: UnsafePointer<UInt32>
    /// Entries of a row.
    let stride: Int

    /// The field at an entry of a record.
    @inline(__always)
    func span(_ record: Int, _ entry: Int) -> FieldSpan {
        let pair = unsafe entries + (record &* stride &+ entry)
        return unsafe FieldSpan(start: pair[0] &+ 1, end: pair[1])
    }
}
