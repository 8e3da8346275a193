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

    /// Why a record cannot be copied; nil if it can.
    @inline(__always)
    fileprivate func problem(
        _ base: UnsafePointer<UInt8>, _ kept: KeptFields, _ record: Int
    ) -> RecordProblem.Reason? {
        for (number, check) in fields {
            let span = kept.table.span(record, kept.entries[number])
            // SAFETY: spans lie within the buffer.
            let field = unsafe UnsafeBufferPointer(start: base + Int(span.start), count: span.count)
            switch check {
            case .time:
                guard unsafe !withText(field, { unsafe isTime($0, base, kept, record) }) else { continue }
                return .timeFormUnknown
            case .key(let rule):
                let isRefused = unsafe withText(field) { text in
                    unsafe rule.refuses(text) { unsafe isCoordinate($0, base, kept, record) }
                }
                if isRefused { return .keyIsCoordinate }
            }
        }
        return nil
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

    /// Calls `body` with what a field says, quotes and escapes aside.
    @inline(__always)
    private func withText<Result>(
        _ field: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result {
        switch form {
        case .csv: return unsafe body(CSVQuote.trimmed(field).trimmedOfBlanks)
        case .json:
            let inside = unsafe JSONString.inside(field)
            guard unsafe inside.contains(UInt8(ascii: "\\")) else { return unsafe body(inside.trimmedOfBlanks) }
            let text = unsafe JSONString.content(field)
            return unsafe text.withUnsafeBufferPointer { unsafe body($0.trimmedOfBlanks) }
        }
    }
}

extension FixBatch {
    /// Takes the position from records that cannot be copied.
    mutating func refuse(_ base: UnsafePointer<UInt8>, _ checks: FieldChecks) {
        guard let kept else { return }
        refuse(from: 0) { _, index in unsafe checks.problem(base, kept, index) }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Without the spaces, tabs and control characters around it.
    var trimmedOfBlanks: UnsafeBufferPointer<UInt8> {
        var low = 0, high = count
        // SAFETY: both stay within the bytes.
        while low < high, unsafe self[low] <= 0x20 { low += 1 }
        while low < high, unsafe self[high - 1] <= 0x20 { high -= 1 }
        return unsafe UnsafeBufferPointer(rebasing: self[low..<high])
    }
}
