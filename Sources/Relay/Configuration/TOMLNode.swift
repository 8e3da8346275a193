private import CTOML

/// A table, an array or a value of a TOML document, with the place where it stands.
struct TOMLNode {
    enum Content {
        /// Members in order of their keys.
        case table([TOMLNode])
        case array([TOMLNode])
        case string(String)
        case integer(Int64)
        case float(Double)
        case boolean(Bool)
        /// A date, a time or both.
        case date
    }

    /// The name of a table's member; empty for others.
    let key: String
    let content: Content
    /// Where its key stands, or the element itself in an array; from 1. The root has 0.
    let line: Int

    /// Reads a document.
    ///
    /// - Throws: `RelayConfigurationProblem`, a syntax error.
    static func read(_ text: [UInt8]) throws(RelayConfigurationProblem) -> TOMLNode {
        // SAFETY: the parser copies what it keeps.
        let document = unsafe text.withUnsafeBytes { bytes in
            unsafe hereabouts_toml_read(bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
        }
        guard let document = unsafe document else { preconditionFailure("no memory for a TOML document") }
        defer { unsafe hereabouts_toml_destroy(document) }
        var line: UInt32 = 0, column: UInt32 = 0
        if let error = unsafe hereabouts_toml_error(document, &line, &column) {
            // What it quotes may have line feeds.
            let words = unsafe String(cString: error).split { $0.isWhitespace }.joined(separator: " ")
            throw RelayConfigurationProblem(
                line: Int(line), line > 0 ? "column \(column): \(words)" : words)
        }
        // From the last one backwards: what an item has comes after it.
        let count = unsafe hereabouts_toml_count(document)
        var parts = [[TOMLNode]](repeating: [], count: count)
        for number in (1..<count).reversed() {
            let item = unsafe hereabouts_toml_item(document, number)
            unsafe parts[Int(item.parent)].append(TOMLNode(item, parts[number].reversed()))
            parts[number] = []
        }
        return unsafe TOMLNode(hereabouts_toml_item(document, 0), parts[0].reversed())
    }

    private init(_ item: toml_item, _ parts: [TOMLNode]) {
        // SAFETY: an item's texts are its document's, which the caller keeps.
        unsafe key = Self.string(item.key, item.key_count)
        line = Int(unsafe item.line)
        content =
            switch unsafe item.kind {
            case toml_table: .table(parts)
            case toml_array: .array(parts)
            case toml_string: unsafe .string(Self.string(item.text, item.text_count))
            case toml_integer: unsafe .integer(item.integer)
            case toml_float: unsafe .float(item.number)
            case toml_boolean: unsafe .boolean(item.integer != 0)
            default: .date
            }
    }

    private static func string(_ start: UnsafePointer<CChar>?, _ count: Int) -> String {
        guard let start = unsafe start else { return "" }
        return unsafe String(
            decoding: UnsafeRawBufferPointer(start: UnsafeRawPointer(start), count: count), as: UTF8.self)
    }

    /// What it is, for people.
    var kind: String {
        switch content {
        case .table: "a table"
        case .array: "an array"
        case .string: "a string"
        case .integer, .float: "a number"
        case .boolean: "true or false"
        case .date: "a date or time"
        }
    }

    /// The members of a table; nil for others.
    var members: [TOMLNode]? {
        if case .table(let members) = content { members } else { nil }
    }
}
