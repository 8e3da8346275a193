import Hereabouts
import TextCoding

/// The rows that `snap` writes: copied fields, and then a region's text in the same form.
struct TableRows {
    let form: FieldForm
    let texts: RegionTextCache
    let keptNames: [String]

    init(_ form: FieldForm, atlas: Atlas, zones: ZoneAnswers?, keptNames: [String]) {
        self.form = form
        texts = RegionTextCache(
            atlas: atlas, form: form == .csv ? .csv : .ndjson,
            replacing: zones.map { ($0, form == .csv ? RegionForm.csvBlank : RegionForm.ndjsonBlank) })
        self.keptNames = keptNames
    }

    /// What stands before the first row.
    func appendHeader(to out: inout ByteBuffer) {
        guard form == .csv else { return }
        for name in keptNames {
            out.append(csv: Array(name.utf8))
            out.append(UInt8(ascii: ","))
        }
        out.append(RegionForm.csvHeader)
    }

    /// What stands for a reduced location where there is none.
    var blank: StaticString { form == .csv ? RegionForm.csvBlank : RegionForm.ndjsonBlank }
}

/// Writes copied fields in another form than they were read in, or as JSON.
struct FieldConversion: ~Copyable {
    private let source, target: FieldForm
    /// The names of an object's members, each with what stands before and behind it.
    private var labels = DeviceLabels()

    init(from source: FieldForm, to rows: TableRows) {
        self.source = source
        target = rows.form
        for (index, name) in rows.keptNames.enumerated() {
            labels.add { _, label in
                label.append(index == 0 ? "{" : "")
                label.append(json: Array(name.utf8))
                label.append(UInt8(ascii: ":"))
            }
        }
    }

    /// Whether a row is the input's fields as they are, but for quotes.
    var isNone: Bool { source == .csv && target == .csv }

    /// Appends a record's fields, and what stands before the region's text.
    @inline(__always)
    func append(
        _ base: UnsafePointer<UInt8>, _ kept: KeptFields, _ record: Int, isBlank: Bool = false,
        to out: inout ByteBuffer
    ) {
        if target == .json, kept.entries.isEmpty { out.append(UInt8(ascii: "{")) }
        for (index, entry) in kept.entries.enumerated() {
            let span = isBlank ? FieldSpan() : kept.table.span(record, entry)
            if target == .json { labels.append(index, to: &out) }
            // SAFETY: spans lie within the buffer, whose padding may be read.
            if source == .json, target == .json, span.count > 0 {
                unsafe out.append(short: base + Int(span.start), count: span.count)
            } else {
                unsafe convert(UnsafeBufferPointer(start: base + Int(span.start), count: span.count), &out)
            }
            out.append(UInt8(ascii: ","))
        }
    }

    /// A field of a table without anything in it is null; other fields are strings. A null is an empty field.
    @inline(never)
    private func convert(_ field: UnsafeBufferPointer<UInt8>, _ out: inout ByteBuffer) {
        switch (source, target) {
        case (.csv, .csv): break
        case (_, .json) where field.isEmpty: out.append("null")
        case (.json, .json): unsafe out.append(field)
        case (.csv, .json):
            let isQuoted = unsafe field.first == CSVQuote.byte
            out.append(json: unsafe isQuoted ? CSVQuote.content(field) : Array(field))
        case (.json, .csv):
            let isNull = unsafe field.isEmpty || field.first == UInt8(ascii: "n")
            if !isNull { out.append(csv: unsafe JSONString.content(field)) }
        }
    }
}
