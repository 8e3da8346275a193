/// Reads JSON (RFC 8259) front to back without building a tree, so that a file of any size takes memory only for what
/// is kept of it.
///
/// (Measured on 185 MB of border polygons on two cores: `JSONSerialization`, one line at a time, 14 s; GEOS's GeoJSON
/// reader 5 s, geometry only; this 2 s, and it knows the byte where something is wrong.)
package struct JSONScanner {
    /// Where and why the text is not JSON.
    package struct Failure: Error, Hashable {
        package let offset: Int
        package let problem: JSONProblem
    }

    /// The whole text.
    package let bytes: [UInt8]
    /// The next byte to read.
    package private(set) var offset = 0
    /// How deep the value being read lies; bounded, so that recursion is.
    private var depth = 0

    /// Starts at the first byte after a byte order mark, if there is one.
    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { offset = 3 }
    }

    /// The failure to throw for something wrong at the next byte.
    package func failure(_ problem: JSONProblem) -> Failure {
        Failure(offset: offset, problem: offset < bytes.count || problem == .tooDeep ? problem : .unexpectedEnd)
    }

    /// Moves to an earlier value again.
    package mutating func rewind(to offset: Int) { self.offset = offset }

    /// The next byte that is not white space, without moving past it; nil at the end.
    @inline(__always)
    package mutating func peek() -> UInt8? {
        while offset < bytes.count {
            let byte = bytes[offset]
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return byte }
            offset += 1
        }
        return nil
    }

    /// Moves past `byte` if it comes next.
    @inline(__always)
    package mutating func skip(_ byte: UInt8) -> Bool {
        guard peek() == byte else { return false }
        offset += 1
        return true
    }

    /// Moves past `byte`, which must come next.
    @inline(__always)
    package mutating func expect(_ byte: UInt8) throws(Failure) {
        guard skip(byte) else { throw failure(.unexpectedCharacter) }
    }

    /// Moves past the bracket that begins an object or array.
    @inline(__always)
    package mutating func open(_ bracket: UInt8) throws(Failure) {
        try expect(bracket)
        depth += 1
        guard depth <= 64 else { throw failure(.tooDeep) }
    }

    /// Moves to an open object's next value, which must then be read or skipped.
    /// - Parameter isFirst: true before the first call for this object; this call clears it.
    /// - Returns: the value's key; nil, and the object is closed, if there are no more.
    package mutating func nextKey(_ isFirst: inout Bool) throws(Failure) -> String? {
        guard try next(&isFirst, before: UInt8(ascii: "}")) else { return nil }
        let key = try string()
        try expect(UInt8(ascii: ":"))
        return key
    }

    /// Moves to an open array's next value, which must then be read or skipped.
    /// - Parameter isFirst: true before the first call for this array; this call clears it.
    /// - Returns: false, and the array is closed, if there are no more.
    @inline(__always)
    package mutating func nextElement(_ isFirst: inout Bool) throws(Failure) -> Bool {
        try next(&isFirst, before: UInt8(ascii: "]"))
    }

    @inline(__always)
    private mutating func next(_ isFirst: inout Bool, before bracket: UInt8) throws(Failure) -> Bool {
        if skip(bracket) {
            depth -= 1
            return false
        }
        if !isFirst { try expect(UInt8(ascii: ",")) }
        isFirst = false
        return true
    }

    /// Reads a number.
    @inline(__always)
    package mutating func number() throws(Failure) -> Double {
        _ = peek()
        guard let value = DecimalNumber.read(bytes, at: &offset, .json) else { throw failure(.badNumber) }
        return value
    }

    /// Reads a string.
    package mutating func string() throws(Failure) -> String {
        try expect(UInt8(ascii: "\""))
        let start = offset
        while offset < bytes.count, bytes[offset] >= 0x20 {
            if bytes[offset] == UInt8(ascii: "\"") {
                guard let text = String(validating: bytes[start..<offset], as: UTF8.self) else {
                    throw Failure(offset: start, problem: .badString)
                }
                offset += 1
                return text
            }
            if bytes[offset] == UInt8(ascii: "\\") { return try escapedString(from: start) }
            offset += 1
        }
        throw failure(.badString)
    }

    /// Moves past a value of any kind.
    package mutating func skipValue() throws(Failure) {
        switch peek() {
        case UInt8(ascii: "{"):
            try open(UInt8(ascii: "{"))
            var isFirst = true
            while try nextKey(&isFirst) != nil { try skipValue() }
        case UInt8(ascii: "["):
            try open(UInt8(ascii: "["))
            var isFirst = true
            while try nextElement(&isFirst) { try skipValue() }
        case UInt8(ascii: "\""):
            _ = try string()
        case UInt8(ascii: "t"):
            try literal("true")
        case UInt8(ascii: "f"):
            try literal("false")
        case UInt8(ascii: "n"):
            try literal("null")
        case nil:
            throw failure(.unexpectedEnd)
        default:
            _ = try number()
        }
    }

    /// Moves past a word that must come next.
    package mutating func literal(_ word: StaticString) throws(Failure) {
        guard skipWord(word) else { throw failure(.unexpectedCharacter) }
    }

    /// Moves past a word if it comes next; its first byte is no white space.
    package mutating func skipWord(_ word: StaticString) -> Bool {
        _ = peek()
        let text = Array("\(word)".utf8)
        guard bytes[offset...].starts(with: text) else { return false }
        offset += text.count
        return true
    }
}

extension JSONScanner {
    /// Reads the rest of a string that has an escape in it, again from its start.
    private mutating func escapedString(from start: Int) throws(Failure) -> String {
        offset = start
        var text: [UInt8] = []
        while offset < bytes.count, bytes[offset] >= 0x20 {
            let byte = bytes[offset]
            offset += 1
            if byte == UInt8(ascii: "\"") {
                guard let text = String(validating: text, as: UTF8.self) else {
                    throw Failure(offset: start, problem: .badString)
                }
                return text
            }
            if byte == UInt8(ascii: "\\") {
                text += try escape().utf8
            } else {
                text.append(byte)
            }
        }
        throw failure(.badString)
    }

    /// Reads what follows a backslash.
    private mutating func escape() throws(Failure) -> String {
        guard offset < bytes.count else { throw failure(.unexpectedEnd) }
        let byte = bytes[offset]
        guard byte != UInt8(ascii: "u") else { return try unicodeEscape() }
        let plain: [UInt8: String] = [
            UInt8(ascii: "\""): "\"", UInt8(ascii: "\\"): "\\", UInt8(ascii: "/"): "/", UInt8(ascii: "b"): "\u{8}",
            UInt8(ascii: "f"): "\u{C}", UInt8(ascii: "n"): "\n", UInt8(ascii: "r"): "\r", UInt8(ascii: "t"): "\t",
        ]
        guard let character = plain[byte] else { throw failure(.badString) }
        offset += 1
        return character
    }

    /// Reads `uXXXX`, or two of them where the first is a high surrogate.
    private mutating func unicodeEscape() throws(Failure) -> String {
        let start = offset
        var units = [try codeUnit()]
        if UTF16.isLeadSurrogate(units[0]) {
            guard offset < bytes.count, bytes[offset] == UInt8(ascii: "\\") else { throw failure(.badString) }
            offset += 1
            units.append(try codeUnit())
        }
        guard let text = String(validating: units, as: UTF16.self) else {
            throw Failure(offset: start, problem: .badString)
        }
        return text
    }

    private mutating func codeUnit() throws(Failure) -> UInt16 {
        guard offset + 5 <= bytes.count, bytes[offset] == UInt8(ascii: "u") else { throw failure(.badString) }
        var unit: UInt16 = 0
        for byte in bytes[(offset + 1)..<(offset + 5)] {
            guard let digit = Character(UnicodeScalar(byte)).hexDigitValue else { throw failure(.badString) }
            unit = unit << 4 | UInt16(digit)
        }
        offset += 5
        return unit
    }
}

/// What is wrong with a JSON text.
package enum JSONProblem: String, Hashable, Sendable {
    case unexpectedCharacter = "unexpected character"
    case unexpectedEnd = "the file ends in the middle of a value"
    case badNumber = "not a JSON number"
    case badString = "a string with a bad escape, a control character or broken UTF-8"
    case tooDeep = "values nested more than 64 deep"
    case notGeoJSON = "neither a feature nor a collection of features"
}
