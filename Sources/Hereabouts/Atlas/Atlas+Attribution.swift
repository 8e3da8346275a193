extension Atlas {
    /// A source of the atlas and the text that its license asks for.
    public struct Attribution: Hashable, Sendable, CustomStringConvertible {
        /// The name of the data set.
        public let source: String
        /// Its license, such as "ODbL 1.0"; nil where the atlas names none.
        public let license: String?
        /// The text to show, such as "© OpenStreetMap contributors".
        public let text: String

        /// The text, and the license in parentheses unless the text ends with it.
        public var description: String {
            guard let license, !text.utf8.suffix(license.utf8.count).elementsEqual(license.utf8) else { return text }
            return "\(text) (\(license))"
        }
    }

    /// The attributions that the licenses of the atlas's sources ask for, in the order of the atlas. Show them wherever
    /// you publish reduced locations.
    ///
    /// They are the members `name`, `licence` and `attribution` of the objects in the array `sources` of `aboutJSON`.
    /// Empty where the atlas has none, or where its JSON is malformed.
    ///
    /// - Throws: `AtlasError` for damage in an atlas that was not validated as a whole.
    /// - Complexity: linear in `aboutJSON`.
    public var attribution: [Attribution] {
        get throws(AtlasError) {
            var scanner = AboutScanner(Array(try aboutJSON.utf8))
            return scanner.attributions() ?? []
        }
    }
}

/// Reads strings out of JSON text (RFC 8259) without building a tree; the standard library has no JSON. Every function
/// gives nil, or false, for malformed text. Nesting is limited, so recursion is bounded for any input.
struct AboutScanner {
    private static let maximumDepth = 32

    private let bytes: [UInt8]
    private var position = 0
    private var depth = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The attributions of an `about` object; nil if the text is malformed.
    mutating func attributions() -> [Atlas.Attribution]? {
        var attributions: [Atlas.Attribution] = []
        let isObject = object { scanner, key in
            guard key.utf8.elementsEqual("sources".utf8) else { return scanner.skipValue() }
            return scanner.array { scanner in
                guard let members = scanner.stringMembers() else { return false }
                func member(_ name: String) -> String? {
                    members.last { $0.name.utf8.elementsEqual(name.utf8) }?.value
                }
                if let text = member("attribution") {
                    attributions.append(
                        Atlas.Attribution(source: member("name") ?? "", license: member("licence"), text: text))
                }
                return true
            }
        }
        skipSpace()
        return isObject && position == bytes.count ? attributions : nil
    }

    /// The members of an object whose values are strings; nil if the next value is no object.
    private mutating func stringMembers() -> [(name: String, value: String)]? {
        var members: [(name: String, value: String)] = []
        let isObject = object { scanner, key in
            scanner.skipSpace()
            guard scanner.next == UInt8(ascii: "\"") else { return scanner.skipValue() }
            guard let value = scanner.string() else { return false }
            members.append((key, value))
            return true
        }
        return isObject ? members : nil
    }

    // MARK: Grammar

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { position += 1 }
    }

    /// Takes a byte after white space, if it is the next one.
    private mutating func take(_ byte: UInt8) -> Bool {
        skipSpace()
        guard next == byte else { return false }
        position += 1
        return true
    }

    /// An object; `member` must consume the value of each key.
    private mutating func object(_ member: (inout AboutScanner, String) -> Bool) -> Bool {
        list(UInt8(ascii: "{"), UInt8(ascii: "}")) { scanner in
            scanner.skipSpace()
            guard let key = scanner.string(), scanner.take(UInt8(ascii: ":")) else { return false }
            return member(&scanner, key)
        }
    }

    /// An array; `element` must consume each value.
    private mutating func array(_ element: (inout AboutScanner) -> Bool) -> Bool {
        list(UInt8(ascii: "["), UInt8(ascii: "]"), element)
    }

    /// Items between two brackets, with commas between them.
    private mutating func list(_ opening: UInt8, _ closing: UInt8, _ item: (inout AboutScanner) -> Bool) -> Bool {
        guard depth < Self.maximumDepth, take(opening) else { return false }
        depth += 1
        defer { depth -= 1 }
        if take(closing) { return true }
        repeat {
            guard item(&self) else { return false }
        } while take(UInt8(ascii: ","))
        return take(closing)
    }

    /// Consumes any value.
    private mutating func skipValue() -> Bool {
        skipSpace()
        switch next {
        case UInt8(ascii: "\""): return string() != nil
        case UInt8(ascii: "{"): return object { scanner, _ in scanner.skipValue() }
        case UInt8(ascii: "["): return array { $0.skipValue() }
        default:
            // A number or a literal, taken as any run of the characters that those have.
            let start = position
            while let byte = next, Self.isScalar(byte) { position += 1 }
            return position > start
        }
    }

    private static func isScalar(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "E"),
            UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: false
        }
    }

    /// A string with its escapes replaced. Bytes that are no UTF-8 and lone surrogates become U+FFFD.
    private mutating func string() -> String? {
        guard next == UInt8(ascii: "\"") else { return nil }
        position += 1
        var content: [UInt8] = []
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: content, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let scalar = escape() else { return nil }
                content += Array(String(scalar).utf8)
            case 0..<0x20: return nil
            default: content.append(byte)
            }
        }
        return nil
    }

    /// The scalar of an escape after its backslash.
    private mutating func escape() -> Unicode.Scalar? {
        guard let byte = next else { return nil }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return unicodeEscape()
        default: return nil
        }
    }

    /// The scalar of `XXXX`, or of a surrogate pair `XXXX\uXXXX`.
    private mutating func unicodeEscape() -> Unicode.Scalar? {
        guard let unit = codeUnit() else { return nil }
        if let scalar = Unicode.Scalar(unit) { return scalar }
        let low = position
        if unit < 0xdc00, next == UInt8(ascii: "\\") {
            position += 1
            if next == UInt8(ascii: "u") {
                position += 1
                guard let other = codeUnit() else { return nil }
                if (0xdc00..<0xe000).contains(other) {
                    return Unicode.Scalar(0x10000 + (unit - 0xd800) << 10 + (other - 0xdc00))
                }
            }
            position = low
        }
        return "\u{fffd}"
    }

    /// Four hexadecimal digits.
    private mutating func codeUnit() -> UInt32? {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = next?.hexadecimalDigit else { return nil }
            unit = unit << 4 | UInt32(digit)
            position += 1
        }
        return unit
    }
}
