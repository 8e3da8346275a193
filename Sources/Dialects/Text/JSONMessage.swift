internal import CSimdjson
import TextCoding

/// Reads messages that are one JSON object each, of one thread.
final class JSONMessageReader {
    private let parser: JSONParser
    private let fieldCount: Int
    /// Bytes that the parser may read behind a text.
    private static let padding = 64

    /// - Parameter paths: of each field: names of members, outermost first.
    init(_ paths: [[String]]) {
        fieldCount = paths.count
        parser = JSONParser(
            paths: paths.map { $0.map { Array($0.utf8) } }, maximumDepth: DialectLimits.jsonDepth)
    }

    /// What a function makes of the fields of a message.
    ///
    /// - Throws: `ExceededLimit` or `Unusable`.
    func read<Result>(
        _ body: some Collection<UInt8>, _ make: (JSONMessage) throws(Unusable) -> Result
    ) throws(MessageFailure) -> Result {
        guard body.count <= DialectLimits.bodyByteCount else { throw .limit(.body) }
        // The tokenizer reads a byte order mark as no JSON; some senders have one.
        let text = body.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(body.dropFirst(3)) : Array(body)
        let padded = text + [UInt8](repeating: 0, count: Self.padding)
        // SAFETY: the buffer outlives the call, and the padding lies behind the text.
        let result: Swift.Result<Result, MessageFailure> = unsafe padded.withUnsafeBufferPointer { padded in
            let text = unsafe UnsafeBufferPointer(rebasing: padded[..<text.count])
            var status = unsafe parser.tokenize(text)
            var token = 0
            if status == json_ok { status = parser.read(&token, limit: text.count, isAlone: true) }
            do throws(MessageFailure) {
                switch status {
                case json_ok: break
                case json_empty: throw .unusable(.empty)
                case json_no_object: throw .unusable(.notAnObject)
                case json_duplicate: throw .unusable(.duplicateMember)
                case json_too_deep: throw .limit(.depth)
                default:
                    // No token at all.
                    let isBlank = unsafe text.allSatisfy { $0 == 0x20 || $0 == 9 || $0 == 10 || $0 == 13 }
                    throw .unusable(isBlank ? .empty : .notJSON)
                }
                let values = (0..<fieldCount).map { field in
                    unsafe Array(parser[field].bytes(text.baseAddress!))
                }
                do throws(Unusable) {
                    return .success(try make(JSONMessage(values: values)))
                } catch {
                    throw .unusable(error)
                }
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}

/// Why a message was not read.
enum MessageFailure: Error {
    case unusable(Unusable)
    case limit(ExceededLimit)

    var received: Received {
        switch self {
        case .unusable(let reason): .unusable(reason)
        case .limit(let limit): .overLimit(limit)
        }
    }
}

/// The fields of a message as they are written; empty where there is none.
struct JSONMessage {
    let values: [[UInt8]]

    /// Whether there is a value, other than null.
    func has(_ field: Int) -> Bool { !values[field].isEmpty && values[field] != Array("null".utf8) }

    /// Whether a value is an object.
    func isObject(_ field: Int) -> Bool { values[field].first == UInt8(ascii: "{") }

    /// A number, or a string that is one; nil for anything else.
    func number(_ field: Int) -> Double? {
        unsafe values[field].withUnsafeBufferPointer { unsafe DecimalNumber.parse(JSONString.inside($0)) }
    }

    /// The text of a string; nil for anything else.
    func text(_ field: Int) -> String? {
        guard values[field].first == JSONString.quote else { return nil }
        return unsafe values[field].withUnsafeBufferPointer {
            unsafe String(decoding: JSONString.content($0), as: UTF8.self)
        }
    }

    /// The text of a string, or the digits of a whole number, as device identifiers are either; nil for anything else.
    func name(_ field: Int) -> String? {
        if let text = text(field) { return text }
        let value = values[field]
        return !value.isEmpty && value.allSatisfy { $0 &- 48 < 10 } ? String(decoding: value, as: UTF8.self) : nil
    }

    /// An accuracy in meters; nil where there is none.
    func accuracy(_ field: Int) throws(Unusable) -> Double? {
        guard has(field) else { return nil }
        guard let meters = number(field) else { throw .accuracyOutOfRange }
        return meters
    }
}

/// Cuts an array into its elements as they are written.
struct JSONArrayElements {
    /// The elements of a well-formed array; nil for another value, and `most` + 1 where there are more.
    static func of(_ array: [UInt8], most: Int) -> [ArraySlice<UInt8>]? {
        guard array.first == UInt8(ascii: "[") else { return nil }
        var elements: [ArraySlice<UInt8>] = []
        var depth = 0, start: Int?, isInString = false, isEscaped = false
        for (index, byte) in array.enumerated() {
            if isInString {
                isInString = isEscaped || byte != JSONString.quote
                isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
                continue
            }
            switch byte {
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                if depth == 1, start == nil { start = index }
                depth += 1
                continue
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            case JSONString.quote: isInString = true
            case 0x20, 9, 10, 13: continue
            default: break
            }
            let isEnd = depth == 1 && byte == UInt8(ascii: ",") || depth == 0
            if isEnd, let from = start {
                elements.append(array[from..<index])
                if elements.count > most { return elements }
                start = nil
            } else if !isEnd, depth == 1, start == nil {
                start = index
            }
        }
        return elements
    }
}
