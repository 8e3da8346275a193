internal import CSimdjson
import Hereabouts
import TextCoding

/// The first records of JSON, as fields.
struct JSONSample: RecordSample {
    private let bytes: [UInt8]
    private let fields: Int
    private var spans: [FieldSpan] = []

    var count: Int { fields == 0 ? 0 : spans.count / fields }

    /// - Parameters:
    ///   - text: values; one that breaks off at the end is left out.
    ///   - paths: of the columns.
    ///   - isInArray: whether the values are elements of an array.
    init(_ text: [UInt8], paths: [[[UInt8]]], areLines: Bool, isInArray: Bool) {
        let parser = JSONParser(paths: paths)
        fields = paths.count
        let count = text.count
        bytes = text + [UInt8](repeating: 0, count: InputBuffer.padding)
        unsafe bytes.withUnsafeBufferPointer { text in
            let text = unsafe UnsafeBufferPointer(rebasing: text[..<count])
            if areLines {
                unsafe addLines(text, parser)
            } else {
                unsafe addValues(text, isInArray: isInArray, parser)
            }
        }
    }

    private mutating func addLines(_ text: UnsafeBufferPointer<UInt8>, _ parser: JSONParser) {
        var start = 0
        // SAFETY: both are at most the count.
        while start < text.count, count < RecordSamples.most {
            let end = unsafe text[start...].firstIndex(of: 10) ?? text.count
            unsafe add(text, start..<end, parser)
            start = end + 1
        }
    }

    private mutating func addValues(_ text: UnsafeBufferPointer<UInt8>, isInArray: Bool, _ parser: JSONParser) {
        var values = JSONValues(isInArray: isInArray, isOpen: true)
        while count < RecordSamples.most, let value = unsafe values.next(text) { unsafe add(text, value, parser) }
    }

    /// Adds the fields of an object; nothing of what is none.
    private mutating func add(_ text: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, _ parser: JSONParser) {
        // SAFETY: the range lies within the text, which is padded.
        let value = unsafe UnsafeBufferPointer(rebasing: text[range])
        var token = 0
        guard unsafe parser.tokenize(value) == json_ok,
            parser.read(&token, limit: value.count, isAlone: true) == json_ok
        else { return }
        for field in 0..<fields {
            let span = parser[field], start = UInt32(truncatingIfNeeded: range.lowerBound)
            spans.append(span.end > 0 ? FieldSpan(start: span.start &+ start, end: span.end &+ start) : FieldSpan())
        }
    }

    func withField<Result>(
        _ record: Int, _ column: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result {
        unsafe bytes.withUnsafeBufferPointer { text in
            let span = spans[record * fields + column]
            let value = unsafe UnsafeBufferPointer(rebasing: text[Int(span.start)..<Int(span.end)])
            if unsafe value.first == UInt8(ascii: "n") {
                return unsafe body(UnsafeBufferPointer(rebasing: text[0..<0]))
            }
            return unsafe body(JSONString.inside(value))
        }
    }
}
