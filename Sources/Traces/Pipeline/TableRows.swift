import Hereabouts
import TextCoding

/// A form of the rows that `snap` writes.
enum RowForm {
    case csv, ndjson, geojson

    /// How copied fields are written.
    var fields: FieldForm { self == .csv ? .csv : .json }

    /// How a region is, behind them.
    var region: RegionForm {
        switch self {
        case .csv: .csv
        case .ndjson: .ndjson
        case .geojson: .geoJSONRow
        }
    }

    /// What stands for a reduced location where there is none.
    var blank: StaticString {
        switch self {
        case .csv: RegionForm.csvBlank
        case .ndjson: RegionForm.ndjsonBlank
        case .geojson: RegionForm.geoJSONRowBlank
        }
    }

    /// What a row begins with. The first row of an output goes without the first byte where `separatesRows`.
    var opening: StaticString {
        switch self {
        case .csv: ""
        case .ndjson: "{"
        case .geojson: ",\n{\"type\":\"Feature\",\"properties\":{"
        }
    }

    /// Whether rows begin with what separates them from the row before.
    var separatesRows: Bool { self == .geojson }

    /// What stands behind the last row.
    var end: StaticString { self == .geojson ? "\n]}\n" : "" }
}

/// The rows that `snap` writes: copied fields, and then a region's text in the same form.
struct TableRows {
    let form: RowForm
    let texts: RegionTextCache
    let keptNames: [String]

    init(_ form: RowForm, atlas: Atlas, withheld: WithheldRegions?, keptNames: [String]) {
        self.form = form
        texts = RegionTextCache(atlas: atlas, form: form.region, withholding: withheld.map { ($0, form.blank) })
        self.keptNames = keptNames
    }

    /// What stands before the first row.
    func appendHeader(to out: inout ByteBuffer) {
        switch form {
        case .ndjson: break
        case .geojson: out.append(collectionNaming: texts.atlas)
        case .csv:
            for name in keptNames {
                out.append(csv: Array(name.utf8))
                out.append(UInt8(ascii: ","))
            }
            out.append(RegionForm.csvHeader)
        }
    }
}

/// Writes copied fields in another form than they were read in, or as JSON.
struct FieldConversion: ~Copyable {
    private let source, target: FieldForm
    /// What a row without copied fields begins with.
    private let opening: StaticString
    /// The names of an object's members, each with what stands before and behind it.
    private var labels = DeviceLabels()
    /// Nil where keys and times are copied like everything else.
    private let disguise: RowDisguise?

    init(from source: FieldForm, to rows: TableRows, disguise: RowDisguise? = nil) {
        self.source = source
        self.disguise = disguise
        target = rows.form.fields
        opening = rows.form.opening
        for (index, name) in rows.keptNames.enumerated() {
            labels.add { _, label in
                label.append(index == 0 ? rows.form.opening : "")
                label.append(json: Array(name.utf8))
                label.append(UInt8(ascii: ":"))
            }
        }
    }

    /// Whether a row is the input's fields as they are, but for quotes.
    var isNone: Bool { source == .csv && target == .csv && disguise == nil }

    /// Appends a record's fields, and what stands before the region's text.
    @inline(__always)
    func append(
        _ base: UnsafePointer<UInt8>, _ kept: KeptFields, _ record: Int, isBlank: Bool = false,
        to out: inout ByteBuffer
    ) {
        if let disguise { return unsafe append(base, kept, record, disguise, isBlank: isBlank, to: &out) }
        if target == .json, kept.entries.isEmpty { out.append(opening) }
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

    /// The same with other keys and times.
    @inline(never)
    private func append(
        _ base: UnsafePointer<UInt8>, _ kept: KeptFields, _ record: Int, _ disguise: RowDisguise, isBlank: Bool,
        to out: inout ByteBuffer
    ) {
        unsafe disguise.begin(base, kept, record)
        var number = 0
        for (index, field) in disguise.fields.enumerated() where field.isWritten {
            let span = isBlank ? FieldSpan() : kept.table.span(record, kept.entries[index])
            if target == .json { labels.append(number, to: &out) }
            number += 1
            // SAFETY: spans lie within the buffer.
            let bytes = unsafe UnsafeBufferPointer(start: base + Int(span.start), count: span.count)
            switch unsafe disguise.written(bytes, index) {
            case .same: unsafe convert(bytes, &out)
            case .text(let text): if target == .json { out.append(json: text) } else { out.append(csv: text) }
            case .nothing: if target == .json { out.append("null") }
            }
            out.append(UInt8(ascii: ","))
        }
        if target == .json, number == 0 { out.append(opening) }
    }

    /// A field of a table without anything in it is null; other fields are strings. A null is an empty field.
    @inline(never)
    private func convert(_ field: UnsafeBufferPointer<UInt8>, _ out: inout ByteBuffer) {
        switch (source, target) {
        case (.csv, .csv): unsafe out.append(csv: CSVQuote.value(field))
        case (_, .json) where field.isEmpty: out.append("null")
        case (.json, .json): unsafe out.append(field)
        case (.csv, .json): out.append(json: unsafe CSVQuote.value(field))
        case (.json, .csv):
            let isNull = unsafe field.isEmpty || field.first == UInt8(ascii: "n")
            if !isNull { out.append(csv: unsafe JSONString.content(field)) }
        }
    }
}
