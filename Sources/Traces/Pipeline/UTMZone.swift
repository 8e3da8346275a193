import TextCoding

/// A zone of the Universal Transverse Mercator grid on one side of the equator: EPSG 326zz and 327zz.
struct UTMZone: Hashable, Sendable {
    /// 1 to 60.
    let number: UInt8
    let isNorth: Bool

    /// Nil where there is no zone of this number.
    init?(number: Int, isNorth: Bool) {
        guard (1...60).contains(number) else { return nil }
        (self.number, self.isNorth) = (UInt8(number), isNorth)
    }

    /// How many there are.
    static let count = 120

    /// 1 to 60 in the north, 61 to 120 in the south.
    var code: UInt8 { isNorth ? number : number + 60 }

    init?(code: UInt8) { self.init(number: code > 60 ? Int(code) - 60 : Int(code), isNorth: code <= 60) }

    /// The name of its reference system: `EPSG:32630`.
    var systemName: String { "EPSG:\((isNorth ? 32_600 : 32_700) + Int(number))" }

    /// The zone of an EPSG code of WGS 84; nil of any other.
    init?(epsg code: Int) {
        guard (32_601...32_660).contains(code) || (32_701...32_760).contains(code) else { return nil }
        self.init(number: code % 100, isNorth: code < 32_700)
    }

    /// The zone of a reference system by its name or definition, whatever its datum; nil of one that names none.
    ///
    /// Known are WGS 84's EPSG codes, those of ETRS89 (25828 to 25838) and NAD83 (26901 to 26923), `+proj=utm`, and WKT with
    /// a name such as `WGS_1984_UTM_Zone_30N`.
    init?(ofSystem name: String) {
        let words = CSVHeader.lowercase(name).unicodeScalars
            .split { !$0.properties.isAlphabetic && !("0"..."9").contains($0) }
            .map { String(String.UnicodeScalarView($0)) }
        let zone: UTMZone?
        if name.contains("[") {
            zone = Self.zone(inTitle: words)
        } else if let epsg = words.firstIndex(of: "epsg") {
            zone = words[epsg...].lazy.compactMap { $0.utf8.count == 5 ? Int($0) : nil }.first.flatMap(Self.zone(epsg:))
        } else if let place = words.firstIndex(of: "zone"), words.contains("utm"), place + 1 < words.count {
            zone = Int(words[place + 1]).flatMap { UTMZone(number: $0, isNorth: !words.contains("south")) }
        } else {
            zone = nil
        }
        guard let zone else { return nil }
        self = zone
    }

    private static func zone(epsg code: Int) -> UTMZone? {
        switch code {
        case 25_828...25_838, 26_901...26_923: UTMZone(number: code % 100, isNorth: true)
        default: UTMZone(epsg: code)
        }
    }

    /// That of words `utm zone 30n`.
    private static func zone(inTitle words: [String]) -> UTMZone? {
        for (index, word) in words.enumerated().dropLast(2) where word == "utm" && words[index + 1] == "zone" {
            guard let side = words[index + 2].last, side == "n" || side == "s" else { continue }
            return Int(words[index + 2].dropLast()).flatMap { UTMZone(number: $0, isNorth: side == "n") }
        }
        return nil
    }
}

/// What a record's fields say of its zone: the number, and on which sides of the equator it may be.
struct UTMZoneFields {
    typealias Bytes = UnsafeBufferPointer<UInt8>

    /// Sides of the equator.
    struct Sides: OptionSet {
        let rawValue: UInt8
        static let north = Sides(rawValue: 1), south = Sides(rawValue: 2)
        static let both: Sides = [.north, .south]
        init(rawValue: UInt8) { self.rawValue = rawValue }
        init(isNorth: Bool) { self = isNorth ? .north : .south }
    }

    /// Not validated: `EPSG:32699` has none, and is not read.
    private(set) var number: Int
    /// Where all fields agree; empty where they contradict each other.
    private(set) var sides: Sides
    /// The latitude band, C to X, or the hemisphere, N or S; nil where there is no letter.
    private(set) var letter: UInt8?
    /// Whether the zone's field, or that of the hemisphere, says the hemisphere and cannot mean a band.
    private(set) var hasHemisphere: Bool

    /// - Parameters:
    ///   - zone: `30T`, `30`, `UTM 30 N`, `EPSG:32630`, `30 north`, blanks around it aside.
    ///   - band: the letter, where it has a field of its own; may be blank.
    ///   - hemisphere: likewise.
    ///   - lettersAreBands: whether N and S are bands too, and not hemispheres.
    /// - Returns: nil where one of them is not readable.
    init?(zone: Bytes, band: Bytes?, hemisphere: Bytes?, lettersAreBands: Bool) {
        guard let read = unsafe Self.zone(zone.trimmedOfBlanks) else { return nil }
        (number, sides, letter, hasHemisphere) = (read.number, .both, nil, false)
        var mark = read.mark
        if let band = unsafe band?.trimmedOfBlanks, !band.isEmpty {
            guard let own = unsafe Self.mark(band) else { return nil }
            // Said twice, it is the same.
            guard mark == .nothing || mark == own else { return nil }
            mark = own
        }
        switch mark {
        case .nothing: break
        case .letter(let letter):
            guard let sides = Self.sides(ofLetter: letter, areBands: lettersAreBands) else { return nil }
            (self.letter, self.sides) = (letter, sides)
        case .side(let isNorth): (sides, hasHemisphere) = (Sides(isNorth: isNorth), true)
        }
        if let hemisphere = unsafe hemisphere?.trimmedOfBlanks, !hemisphere.isEmpty {
            guard let isNorth = unsafe Self.isNorth(hemisphere) else { return nil }
            sides.formIntersection(Sides(isNorth: isNorth))
            hasHemisphere = true
        }
    }

    /// Whether its letter is a band, whatever the other records' letters are.
    var hasBand: Bool { letter.map { $0 != UInt8(ascii: "N") && $0 != UInt8(ascii: "S") } ?? false }

    /// Whether it is known on which side it is: by a hemisphere, or by a letter that is known to be a band.
    func saysSide(lettersAreBands: Bool) -> Bool {
        hasHemisphere || hasBand || letter != nil && lettersAreBands
    }

    /// The zone; nil where the fields say none, or contradict each other.
    var zone: UTMZone? {
        guard sides == .north || sides == .south else { return nil }
        return UTMZone(number: number, isNorth: sides == .north)
    }

    // MARK: Texts

    /// What stands beside a zone's number.
    private enum Mark: Equatable {
        case nothing
        /// In upper case.
        case letter(UInt8)
        case side(isNorth: Bool)
    }

    /// The sides that a letter may mean. N is a band of the north. Nil of what is no band.
    private static func sides(ofLetter letter: UInt8, areBands: Bool) -> Sides? {
        switch letter {
        case UInt8(ascii: "S"): areBands ? .north : .both
        case UInt8(ascii: "I"), UInt8(ascii: "O"): nil
        case UInt8(ascii: "C")...UInt8(ascii: "M"): .south
        case UInt8(ascii: "N")...UInt8(ascii: "X"): .north
        default: nil
        }
    }

    private static func zone(_ text: Bytes) -> (number: Int, mark: Mark)? {
        var at = 0
        var isEPSG = false
        // Words before the number, which say what it is.
        while let length = unsafe wordLength(text, at) {
            // SAFETY: the word lies within the text.
            let word = unsafe UnsafeBufferPointer(rebasing: text[at..<at + length])
            if unsafe isWord(word, "epsg") {
                isEPSG = true
            } else if unsafe !isWord(word, "utm") && !isWord(word, "zone") {
                return nil
            }
            at += length
            while at < text.count, unsafe isSeparator(text[at]) { at += 1 }
        }
        let start = at
        var number = 0
        while at < text.count, at - start < 6, unsafe text[at] &- 48 < 10 {
            number = unsafe number * 10 + Int(text[at] - 48)
            at += 1
        }
        // What programs print that have a column of decimals.
        if at > start, at + 1 < text.count, unsafe text[at] == UInt8(ascii: ".") && text[at + 1] == 48 { at += 2 }
        let rest = unsafe UnsafeBufferPointer(rebasing: text[at...])
        switch at - start {
        case 5... where rest.isEmpty:
            guard let zone = UTMZone(epsg: number) else { return nil }
            return (Int(zone.number), .side(isNorth: zone.isNorth))
        case 1...4 where !isEPSG && (1...60).contains(number):
            if rest.isEmpty { return (number, .nothing) }
            return unsafe Self.mark(rest).map { (number, $0) }
        default: return nil
        }
    }

    /// A letter, or `north` or `south`, with a blank or the like before it.
    private static func mark(_ text: Bytes) -> Mark? {
        // SAFETY: where the first byte is a separator, the rest lies within the text.
        let text = unsafe text.first.map(isSeparator) == true ? Bytes(rebasing: text[1...]) : text
        guard let length = unsafe wordLength(text, 0), length == text.count else { return nil }
        if length == 1 { return unsafe .letter(text[0] & ~0x20) }
        return unsafe isNorth(text).map { .side(isNorth: $0) }
    }

    /// What `N`, `S`, `north` or `south` says, in any case; nil for any other text.
    private static func isNorth(_ text: Bytes) -> Bool? {
        if unsafe isWord(text, "n") || isWord(text, "north") || isWord(text, "northern") { return true }
        return unsafe isWord(text, "s") || isWord(text, "south") || isWord(text, "southern") ? false : nil
    }

    /// How many letters are at an offset; nil for none.
    private static func wordLength(_ text: Bytes, _ start: Int) -> Int? {
        var end = start
        // SAFETY: the offset is tested against the count.
        while end < text.count, unsafe (text[end] | 0x20) &- 97 < 26 { end += 1 }
        return end > start ? end - start : nil
    }

    private static func isSeparator(_ byte: UInt8) -> Bool {
        DecimalNumber.isBlank(byte) || [UInt8(ascii: ":"), UInt8(ascii: "-"), UInt8(ascii: "_")].contains(byte)
    }

    private static func isWord(_ text: Bytes, _ word: StaticString) -> Bool {
        guard text.count == word.utf8CodeUnitCount else { return false }
        // SAFETY: both have so many bytes.
        return (0..<text.count).allSatisfy { unsafe text[$0] | 0x20 == word.utf8Start[$0] }
    }
}
