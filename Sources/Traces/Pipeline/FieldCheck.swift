import Hereabouts
import TextCoding

/// What a copied field must not be. A column is known by its name, and a record whose fields are out of place has anything in
/// it.
enum FieldCheck: Equatable, Sendable {
    /// A key that could be a coordinate.
    case key(KeyRule)
    /// Anything but a time.
    case time
}

/// Looks at the copied fields of a table's records, on one thread.
struct FieldChecks: Sendable {
    private let fields: [(number: Int, check: FieldCheck)]
    private let form: FieldForm
    private let times: TimeForm

    /// Nil where there is nothing to look at.
    init?(_ input: any TableInput, options: SnapRun.Options) {
        fields = input.keptFields.enumerated().compactMap { number, field in field.check.map { (number, $0) } }
        form = input.keptForm
        var times = TimeForm(style: input.timeStyle, bounds: TimeBounds(options.ofFixes))
        times.allowsTimeOfDay = !input.hasColonsInPositions
        self.times = times
        if fields.isEmpty { return nil }
    }

    /// Takes the position from records that cannot be copied. Nearly all are let through by a look at their bytes.
    fileprivate func refuse(_ base: UnsafePointer<UInt8>, _ kept: KeptFields, in batch: inout FixBatch) {
        for (number, check) in fields {
            let field = unsafe CheckedField(base: base, table: kept.table, entry: kept.entries[number], form: form)
            switch check {
            case .time:
                let others = unsafe field.records(batch.count) { unsafe !TimeForm.isPlain($0) }
                batch.refuse(others) { record in
                    let isTime = unsafe field.withText(record) { text in
                        unsafe TimeForm.isPlain(text) || self.isTime(text, base, kept, record)
                    }
                    return isTime ? nil : .timeFormUnknown
                }
            case .key(let rule):
                let numeric = unsafe field.records(batch.count) { unsafe KeyRule.mayBeCoordinate($0) }
                batch.refuse(numeric) { record in
                    let isRefused = unsafe field.withText(record) { text in
                        unsafe rule.refuses(text) { unsafe isCoordinate($0, base, kept, record) }
                    }
                    return isRefused ? .keyIsCoordinate : nil
                }
            }
        }
    }

    private func isTime(
        _ text: UnsafeBufferPointer<UInt8>, _ base: UnsafePointer<UInt8>, _ kept: KeptFields, _ record: Int
    ) -> Bool {
        if unsafe times.matches(text) {
            // What a time of the day looks like, a coordinate of this record does.
            let mayBeAngle = unsafe times.allowsTimeOfDay && text.count <= 16 && text.contains(UInt8(ascii: ":"))
            guard mayBeAngle, unsafe hasColon(base, kept, record) else { return true }
            var strict = times
            strict.allowsTimeOfDay = false
            return unsafe strict.matches(text)
        }
        return false
    }

    private func positions(
        _ base: UnsafePointer<UInt8>, _ kept: KeptFields, _ record: Int,
        _ contains: (UnsafeBufferPointer<UInt8>) -> Bool
    ) -> Bool {
        guard let position = kept.position else { return false }
        return [position.latitude, position.longitude].contains { entry in
            let span = kept.table.span(record, entry)
            // SAFETY: spans lie within the buffer.
            return unsafe contains(
                CSVQuote.trimmed(UnsafeBufferPointer(start: base + Int(span.start), count: span.count)))
        }
    }

    private func hasColon(_ base: UnsafePointer<UInt8>, _ kept: KeptFields, _ record: Int) -> Bool {
        unsafe positions(base, kept, record) { unsafe $0.contains(UInt8(ascii: ":")) }
    }

    private func isCoordinate(
        _ text: UnsafeBufferPointer<UInt8>, _ base: UnsafePointer<UInt8>, _ kept: KeptFields, _ record: Int
    ) -> Bool {
        unsafe positions(base, kept, record) { unsafe $0.trimmedOfBlanks.elementsEqual(text.trimmedOfBlanks) }
    }
}

/// A field of a batch's records.
@safe private struct CheckedField {
    // SAFETY: valid as long as the batch is not changed.
    let base: UnsafePointer<UInt8>
    let table: FieldTable
    let entry: Int
    let form: FieldForm

    /// The records, of so many, whose field `isMeant` as it stands between its quotes, if it has any.
    @inline(__always)
    func records(_ count: Int, where isMeant: (UnsafeBufferPointer<UInt8>) -> Bool) -> [Int] {
        var records: [Int] = []
        for record in 0..<count where unsafe isMeant(CSVQuote.trimmed(bytes(record))) {
            records.append(record)
        }
        return records
    }

    /// Calls `body` with what a record's field says, quotes and escapes aside.
    func withText<Result>(_ record: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        let field = unsafe bytes(record)
        guard form == .json, unsafe field.contains(UInt8(ascii: "\\")) else {
            return unsafe body(CSVQuote.trimmed(field).trimmedOfBlanks)
        }
        let text = unsafe JSONString.content(field)
        return unsafe text.withUnsafeBufferPointer { unsafe body($0.trimmedOfBlanks) }
    }

    @inline(__always)
    private func bytes(_ record: Int) -> UnsafeBufferPointer<UInt8> {
        let span = table.span(record, entry)
        // SAFETY: spans lie within the buffer.
        return unsafe UnsafeBufferPointer(start: base + Int(span.start), count: span.count)
    }
}

extension FixBatch {
    /// Takes the position from records that cannot be copied.
    mutating func refuse(_ base: UnsafePointer<UInt8>, _ checks: FieldChecks) {
        guard let kept else { return }
        unsafe checks.refuse(base, kept, in: &self)
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Without the spaces, tabs and control characters around it.
    @inline(__always)
    var trimmedOfBlanks: UnsafeBufferPointer<UInt8> {
        var low = 0, high = count
        // SAFETY: both stay within the bytes.
        while low < high, unsafe self[low] <= 0x20 { low += 1 }
        while low < high, unsafe self[high - 1] <= 0x20 { high -= 1 }
        return unsafe UnsafeBufferPointer(rebasing: self[low..<high])
    }
}
