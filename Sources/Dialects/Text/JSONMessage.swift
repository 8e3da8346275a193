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

extension JSONMessageReader {
    /// Whether a message is an array, by its first character.
    static func isArray(_ body: some Collection<UInt8>) -> Bool {
        body.first { $0 > 0x20 && $0 != 0xEF && $0 != 0xBB && $0 != 0xBF } == UInt8(ascii: "[")
    }

    /// The elements of a message that is an array, each as it is written; at most `DialectLimits.batchCount`.
    static func elements(_ body: some Collection<UInt8>) throws(MessageFailure) -> [ArraySlice<UInt8>] {
        // The parser reads objects: this is one's member.
        let object = Array("{\"a\":".utf8) + body.drop { $0 == 0xEF || $0 == 0xBB || $0 == 0xBF } + [UInt8(ascii: "}")]
        let array = try JSONMessageReader([["a"]]).read(object) { message throws(Unusable) in message.values[0] }
        guard let elements = JSONPieces.elements(of: array, most: DialectLimits.batchCount) else {
            throw .unusable(.notAnObject)
        }
        guard elements.count <= DialectLimits.batchCount else { throw .limit(.batch) }
        return elements
    }
}

extension Received {
    /// What came of the locations of a batch. One with no location that can be used is unusable for the reason of its first
    /// one.
    ///
    /// - Parameter fix: reads one of them.
    init<Element>(
        _ elements: some Sequence<Element>, _ fix: (Element) throws(MessageFailure) -> ClaimedFix
    ) {
        var fixes: [ClaimedFix] = []
        var unusable: [Unusable: Int] = [:]
        var first: Unusable?
        for element in elements {
            do throws(MessageFailure) {
                fixes.append(try fix(element))
            } catch {
                // The depth within the batch is limited already.
                guard case .unusable(let reason) = error else {
                    self = error.received
                    return
                }
                unusable[reason, default: 0] += 1
                first = first ?? reason
            }
        }
        self =
            fixes.isEmpty
            ? .unusable(first ?? .emptyBatch) : .fixes(ReceivedFixes(fixes: fixes, unusable: unusable))
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

    /// A number, or a string that is one, perhaps with a decimal comma; nil for anything else.
    func number(_ field: Int) -> Double? {
        unsafe values[field].withUnsafeBufferPointer { MessageNumber.parse(unsafe Array(JSONString.inside($0))) }
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

/// A number as senders write it.
enum MessageNumber {
    /// Nil for anything else. A comma is a decimal point where there is none.
    static func parse(_ text: some Collection<UInt8>) -> Double? {
        let text = text.map { $0 == UInt8(ascii: ",") ? UInt8(ascii: ".") : $0 }
        return unsafe text.withUnsafeBufferPointer { unsafe DecimalNumber.parse($0) }
    }
}
