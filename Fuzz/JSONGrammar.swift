/// RFC 8259, rule by rule: whether bytes are JSON that spells Unicode text, and nothing of what they say.
struct JSONGrammar {
    private var rest: ArraySlice<UInt8>

    /// Whether the bytes are one value.
    static func isValue(_ bytes: [UInt8]) -> Bool {
        var grammar = JSONGrammar(rest: bytes[...])
        return isUTF8(bytes) && grammar.value() && grammar.rest.isEmpty
    }

    /// Whether the bytes are values one after another, at least one.
    static func isSequence(_ bytes: [UInt8]) -> Bool {
        var grammar = JSONGrammar(rest: bytes[...])
        repeat { if !grammar.value() { return false } } while !grammar.rest.isEmpty
        return isUTF8(bytes)
    }

    private static func isUTF8(_ bytes: [UInt8]) -> Bool { String(validating: bytes, as: UTF8.self) != nil }

    private mutating func skipBlanks() { rest = rest.drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) } }

    private mutating func take(_ text: String) -> Bool {
        guard rest.starts(with: text.utf8) else { return false }
        rest = rest.dropFirst(text.utf8.count)
        return true
    }

    private mutating func value() -> Bool {
        skipBlanks()
        defer { skipBlanks() }
        if take("{") {
            return list(until: "}") {
                $0.skipBlanks(); return $0.string() && $0.colon() && $0.value()
            }
        }
        if take("[") { return list(until: "]") { $0.value() } }
        if rest.first == UInt8(ascii: "\"") { return string() }
        return take("true") || take("false") || take("null") || number()
    }

    private mutating func colon() -> Bool {
        skipBlanks()
        return take(":")
    }

    private mutating func list(until end: String, _ item: (inout Self) -> Bool) -> Bool {
        skipBlanks()
        if take(end) { return true }
        repeat {
            if !item(&self) { return false }
            skipBlanks()
        } while take(",")
        return take(end)
    }

    private mutating func string() -> Bool {
        guard take("\"") else { return false }
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return true
            case ..<0x20: return false
            case UInt8(ascii: "\\"): if !escape() { return false }
            default: break
            }
        }
        return false
    }

    /// What follows a backslash. Surrogates are refused unless they come in pairs: no Unicode text has them alone.
    private mutating func escape() -> Bool {
        guard let byte = rest.popFirst() else { return false }
        if byte != UInt8(ascii: "u") { return "\"\\/bfnrt".utf8.contains(byte) }
        guard let unit = codeUnit() else { return false }
        if !(0xD800...0xDFFF).contains(unit) { return true }
        guard unit < 0xDC00, take("\\u"), let second = codeUnit() else { return false }
        return (0xDC00...0xDFFF).contains(second)
    }

    /// Four hexadecimal digits.
    private mutating func codeUnit() -> Int? {
        let digits = rest.prefix(4)
        rest = rest.dropFirst(4)
        guard digits.count == 4, digits.allSatisfy({ "0123456789abcdefABCDEF".utf8.contains($0) }) else { return nil }
        return Int(String(decoding: digits, as: UTF8.self), radix: 16)
    }

    private mutating func digits() -> Int {
        let count = rest.prefix { (0x30...0x39).contains($0) }.count
        rest = rest.dropFirst(count)
        return count
    }

    private mutating func number() -> Bool {
        _ = take("-")
        let startsWithZero = rest.first == 0x30, count = digits()
        if count == 0 || startsWithZero && count > 1 { return false }
        if take("."), digits() == 0 { return false }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            if digits() == 0 { return false }
        }
        return true
    }
}
