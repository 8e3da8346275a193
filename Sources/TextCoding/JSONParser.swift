public import CSimdjson

/// The byte range of a JSON value as it is written, quotes and brackets included; empty where there is none.
package typealias JSONSpan = json_span

/// How rows of fields are written.
package typealias JSONRows = json_rows

extension JSONSpan {
    /// The bytes of the value in its text.
    @inlinable @inline(__always)
    package func bytes(_ base: UnsafePointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
        // SAFETY: spans lie within their text.
        unsafe UnsafeBufferPointer(start: base + Int(start), count: Int(end &- start))
    }
}

/// Reads JSON texts of one thread, and finds the values at some paths in them.
@safe package final class JSONParser {
    // SAFETY: owned by this value alone, and freed in deinit.
    @usableFromInline let parser: OpaquePointer
    /// The fields of the value read last.
    @usableFromInline let spans: UnsafeMutableBufferPointer<JSONSpan>

    /// - Parameters:
    ///   - paths: of each field: names of members, and decimal indices of elements, outermost first.
    ///   - maximumDepth: how deep brackets may be nested.
    package init(paths: [[[UInt8]]], maximumDepth: Int = json_maximum_depth) {
        guard let parser = unsafe hereabouts_json_create() else { preconditionFailure("no memory for a JSON parser") }
        unsafe self.parser = parser
        unsafe hereabouts_json_limit_depth(parser, Int32(maximumDepth))
        unsafe spans = .allocate(capacity: max(paths.count, 1))
        unsafe spans.initialize(repeating: JSONSpan())
        for (field, path) in paths.enumerated() {
            var node: UInt32 = 0
            for name in path {
                // SAFETY: the parser copies the name.
                node = unsafe name.withUnsafeBufferPointer { name in
                    unsafe hereabouts_json_add_child(parser, node, name.baseAddress, name.count)
                }
            }
            unsafe hereabouts_json_set_field(parser, node, UInt32(field))
        }
    }

    deinit {
        unsafe hereabouts_json_destroy(parser)
        unsafe spans.deallocate()
    }

    /// Tokenizes a text, which is what `read` reads of until the next call; eight bytes behind it are readable.
    package func tokenize(_ text: UnsafeBufferPointer<UInt8>) -> json_status {
        guard let base = text.baseAddress else { return json_empty }
        // SAFETY: the caller keeps the text in place.
        return unsafe hereabouts_json_tokenize(parser, base, text.count)
    }

    /// The offset of a token, by number; the text's size behind the last one.
    @inlinable @inline(__always)
    package func token(_ number: Int) -> Int { Int(unsafe hereabouts_json_token(parser, number)) }

    /// Whether the text has a backslash.
    @inlinable
    package var hasEscapes: Bool { unsafe hereabouts_json_has_escapes(parser) }

    /// Reads the value that begins with a token and ends before the byte `limit`, and moves to the token behind it: behind
    /// the limit where it is malformed.
    ///
    /// - Parameter isAlone: whether nothing else may stand before the limit.
    @inlinable @inline(__always)
    package func read(_ token: inout Int, limit: Int, isAlone: Bool) -> json_status {
        unsafe hereabouts_json_read(
            parser, &token, UInt32(truncatingIfNeeded: limit), isAlone, spans.baseAddress!)
    }

    /// Remembers the members of the object that begins with a token and was read as it should be, for `readRows`.
    @inlinable
    package func learnRow(_ token: Int) { unsafe hereabouts_json_learn_row(parser, token) }

    /// Reads lines that are objects like the one that was learned, from one's first token and byte on, and moves behind them.
    /// The text ends with a line feed, and 16 bytes behind it are readable.
    ///
    /// - Parameter entries: has room for `most` rows.
    /// - Returns: how many were read.
    @inlinable
    package func readRows(
        _ token: inout Int, _ offset: inout Int, _ rows: JSONRows, into entries: UnsafeMutablePointer<UInt32>, most: Int
    ) -> Int {
        var rows = rows
        return unsafe hereabouts_json_read_rows(parser, &token, &offset, &rows, entries, most)
    }

    /// A field of the value read last.
    @inlinable @inline(__always)
    package subscript(field: Int) -> JSONSpan { unsafe spans[field] }

    /// The names of the members of the object at the text's start, in order, at most `most`; nil where there is none.
    package func memberNames(of text: UnsafeBufferPointer<UInt8>, most: Int) -> [String]? {
        guard let base = text.baseAddress, unsafe tokenize(text) == json_ok else { return nil }
        return unsafe withUnsafeTemporaryAllocation(of: JSONSpan.self, capacity: most) { names in
            var count = 0
            // SAFETY: there is room for so many names, and the first `count` are written.
            let status = unsafe hereabouts_json_names(
                parser, 0, UInt32(text.count), names.baseAddress!, most, &count)
            guard status == json_ok else { return nil }
            return (0..<count).map { index in
                unsafe String(decoding: JSONString.content(names[index].bytes(base)), as: UTF8.self)
            }
        }
    }
}

/// Strings as JSON writes them.
package enum JSONString {
    @inlinable
    package static var quote: UInt8 { UInt8(ascii: "\"") }

    /// The content of a string, its escapes decoded; a value of another kind as it is written.
    package static func content(_ value: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        let inner = unsafe inside(value)
        guard unsafe value.first == quote, unsafe inner.contains(UInt8(ascii: "\\")), let start = inner.baseAddress
        else { return unsafe Array(inner) }
        return unsafe Array(unsafeUninitializedCapacity: inner.count) { text, count in
            // SAFETY: what is decoded is never longer.
            count = unsafe hereabouts_json_decode(start, inner.count, text.baseAddress!)
        }
    }

    /// What stands between a string's quotes; a value of another kind whole.
    @inlinable @inline(__always)
    package static func inside(_ value: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
        guard value.count >= 2, unsafe value[0] == quote else { return unsafe value }
        return unsafe UnsafeBufferPointer(rebasing: value[1..<value.count - 1])
    }

    /// Writes text as a JSON string without its quotes, byte by byte. Bytes that are no UTF-8 become U+FFFD.
    @inlinable
    package static func escape(_ text: some Collection<UInt8>, _ put: (UInt8) -> Void) {
        for byte in String(decoding: text, as: UTF8.self).utf8 {
            switch byte {
            case quote, UInt8(ascii: "\\"):
                put(UInt8(ascii: "\\"))
                put(byte)
            case 0..<0x20:
                for mark in "\\u00".utf8 { put(mark) }
                put(hexDigit(byte >> 4))
                put(hexDigit(byte & 15))
            default: put(byte)
            }
        }
    }

    @usableFromInline
    static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
