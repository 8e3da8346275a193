/// What a document declares as its coordinate reference system: an authority's code, also as URN or URL, WKT or PROJJSON.
///
/// PROJ takes more than that for a system, and some of it names files, which it opens: whoever wrote a document must not choose
/// what is opened. So nothing else reaches PROJ, and of definitions none that could name a file.
enum DeclaredReference {
    /// What a text is.
    enum Form {
        case code, wkt, projJSON
    }

    /// The text without blanks and a byte-order mark around it.
    static func trimmed(_ text: String) -> String {
        var text = Substring(text)
        func isBlank(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.isWhitespace || scalar == "\u{FEFF}" }
        while let first = text.unicodeScalars.first, isBlank(first) { text.unicodeScalars.removeFirst() }
        while let last = text.unicodeScalars.last, isBlank(last) { text.unicodeScalars.removeLast() }
        return String(text)
    }

    /// The form of a text; nil of one that is none of these.
    static func form(of text: String) -> Form? {
        if isCode(text) || isURN(text) || isURL(text) { return .code }
        if text.hasPrefix("{") { return .projJSON }
        let keyword = text.utf8.prefix { isWordByte($0) }
        let rest = text.utf8.dropFirst(keyword.count).drop { blanks.contains($0) }
        guard !keyword.isEmpty, let bracket = rest.first, bracket == openSquare || bracket == openRound else {
            return nil
        }
        return .wkt
    }

    /// Whether a definition names no file.
    static func isHarmless(_ text: String, _ form: Form) -> Bool {
        switch form {
        case .code: return true
        case .wkt: return !hasFileWord(text) && WKTNames(text).areHarmless
        case .projJSON: return !hasFileWord(text) && areHarmless(namesOfJSON: Array(text.utf8))
        }
    }

    // MARK: Codes

    /// `EPSG:32613`, `EPSG:4326+5773`.
    private static func isCode(_ text: String) -> Bool {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, text.utf8.count <= mostCodeBytes else { return false }
        let codes = parts[1].split(separator: "+", omittingEmptySubsequences: false)
        return isName(parts[0]) && codes.count <= 2 && codes.allSatisfy(isName)
    }

    /// `urn:ogc:def:crs:EPSG::32613`.
    private static func isURN(_ text: String) -> Bool {
        let start = text.lowercased()
        guard start.hasPrefix("urn:ogc:def:crs") || start.hasPrefix("urn:x-ogc:def:crs") else { return false }
        return text.utf8.count <= mostCodeBytes && text.utf8.allSatisfy { isWordByte($0) || "-.:,/".utf8.contains($0) }
    }

    /// `http://www.opengis.net/def/crs/EPSG/0/32613`.
    private static func isURL(_ text: String) -> Bool {
        var rest = text[...]
        guard rest.hasPrefix("http://") || rest.hasPrefix("https://") else { return false }
        rest = rest[rest.firstIndex(of: "/")!...].dropFirst(2)
        if rest.hasPrefix("www.") { rest = rest.dropFirst(4) }
        guard rest.hasPrefix("opengis.net/def/crs"), text.utf8.count <= mostCodeBytes else { return false }
        return text.utf8.allSatisfy { isWordByte($0) || "-.:/?=&".utf8.contains($0) }
    }

    private static let mostCodeBytes = 500

    private static func isName(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { isWordByte($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") }
    }

    // MARK: Definitions

    /// What introduces a PROJ string, or a parameter whose value is a file.
    private static let fileWords = [
        "proj4", "parameterfile", "init=", "+init", "proj=", "grids=", "nadgrids", "geoidgrids",
    ]

    private static func hasFileWord(_ text: String) -> Bool {
        let text = Array(text.lowercased().utf8)
        return fileWords.contains { word in
            let word = Array(word.utf8)
            return text.indices.dropLast(word.count - 1).contains { text[$0...].starts(with: word) }
        }
    }

    /// Whether a name in a definition is no file's: each slash stands between blanks, as in `WGS 84 / UTM zone 33N`, and the
    /// end is no extension.
    static func isHarmless(name: ArraySlice<UInt8>) -> Bool {
        let slash = UInt8(ascii: "/"), blank = UInt8(ascii: " ")
        for index in name.indices where name[index] == slash {
            guard index > name.startIndex, index + 1 < name.endIndex, name[index - 1] == blank, name[index + 1] == blank
            else { return false }
        }
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")), !name.contains(blank) else { return true }
        let ending = name[(dot + 1)...]
        return !(1...6).contains(ending.count) || !isLetter(ending.first!) || !ending.allSatisfy(isWordByte)
    }

    /// Whether a name is a code's URN or URL.
    static func isCode(name: ArraySlice<UInt8>) -> Bool {
        let text = String(decoding: name, as: UTF8.self)
        return isURN(text) || isURL(text)
    }

    private static func areHarmless(namesOfJSON text: [UInt8]) -> Bool {
        // An escape could hide a slash. PROJ writes none but for quotes, which names of systems have none of.
        guard !text.contains(UInt8(ascii: "\\")) else { return false }
        let schema = Array("https://proj.org/schemas/".utf8)
        // The names of members, and where the strings and the brackets around them belong.
        var member: ArraySlice<UInt8> = [], around: [ArraySlice<UInt8>] = [], index = 0
        while index < text.count {
            switch text[index] {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                around.append(member)
                member = []
            case UInt8(ascii: "}"), UInt8(ascii: "]"): _ = around.popLast()
            case UInt8(ascii: "/"): return false
            case quote:
                guard let end = text[(index + 1)...].firstIndex(of: quote) else { return false }
                let string = text[(index + 1)..<end]
                index = end
                let next = text[(end + 1)...].first { !blanks.contains($0) }
                if next == UInt8(ascii: ":") {
                    member = string
                    break
                }
                // A parameter's value is a number, or else a file.
                if member.elementsEqual("value".utf8) { return false }
                let isUnit = member.elementsEqual("unit".utf8) || around.last?.elementsEqual("unit".utf8) == true
                let isSchema = member.elementsEqual("$schema".utf8) && string.starts(with: schema)
                guard isUnit || isSchema || isHarmless(name: string) || isCode(name: string) else { return false }
            default: break
            }
            index += 1
        }
        return true
    }

    // MARK: Bytes

    fileprivate static let quote = UInt8(ascii: "\""), openSquare = UInt8(ascii: "["), openRound = UInt8(ascii: "(")
    fileprivate static let blanks: [UInt8] = [0x20, 9, 10, 13]

    fileprivate static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7a).contains(byte | 0x20) }

    fileprivate static func isWordByte(_ byte: UInt8) -> Bool {
        isLetter(byte) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "_")
    }
}

/// The quoted names of WKT, each with the keyword before its bracket.
private struct WKTNames {
    private var names: [(keyword: String, name: ArraySlice<UInt8>)] = []
    /// Whether every quote is closed, and there is neither a slash outside of quotes nor a backslash.
    private var isSound = true

    init(_ wkt: String) {
        let text = Array(wkt.utf8)
        var word: [UInt8] = [], keyword = "", index = 0
        while index < text.count {
            let byte = text[index]
            switch byte {
            case DeclaredReference.quote:
                guard let end = text[(index + 1)...].firstIndex(of: byte) else {
                    isSound = false
                    return
                }
                names.append((keyword, text[(index + 1)..<end]))
                keyword = ""
                index = end
            case DeclaredReference.openSquare, DeclaredReference.openRound:
                keyword = String(decoding: word, as: UTF8.self).uppercased()
                word = []
            case UInt8(ascii: "/"), UInt8(ascii: "\\"): isSound = false
            case _ where DeclaredReference.isWordByte(byte): word.append(byte)
            case _ where DeclaredReference.blanks.contains(byte): break
            default: (word, keyword) = ([], "")
            }
            index += 1
        }
    }

    private static let units: Set = [
        "UNIT", "LENGTHUNIT", "ANGLEUNIT", "SCALEUNIT", "TIMEUNIT", "PARAMETRICUNIT", "TEMPORALQUANTITY",
    ]

    var areHarmless: Bool {
        isSound
            && names.allSatisfy { keyword, name in
                !name.contains(UInt8(ascii: "\\"))
                    && (Self.units.contains(keyword) || DeclaredReference.isHarmless(name: name)
                        || DeclaredReference.isCode(name: name))
            }
    }
}
