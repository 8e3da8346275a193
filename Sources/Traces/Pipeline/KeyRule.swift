import TextCoding

/// Which device keys are refused because they could be coordinates: in a record whose fields stand in other columns than the
/// header says, a key is where a coordinate came to stand.
enum KeyRule: Equatable, Sendable {
    /// The column was found by its name: whatever the program would read as a coordinate or a position, with a part of a
    /// degree that is not zero, from -180 to 180; what has such a number with five digits after the point in it; and
    /// several lines, which a quote that was left open joins.
    case found
    /// The user named the column, or accepts numbers: the same but for decimals, which are refused only where a coordinate of
    /// the record has the same text.
    case named

    /// Whether a key is refused.
    ///
    /// - Parameters:
    ///   - key: without quotes and blanks around it.
    ///   - coordinates: the texts of the record's coordinates, likewise; asked for only where they decide.
    @inline(__always)
    func refuses(_ key: UnsafeBufferPointer<UInt8>, beside isCoordinate: (UnsafeBufferPointer<UInt8>) -> Bool) -> Bool {
        guard unsafe Self.mayBeCoordinate(key) else { return false }
        switch unsafe Self.likeness(key) {
        case .none: return false
        case .text: return true
        case .decimal: return unsafe self == .found || isCoordinate(key)
        }
    }

    private enum Likeness { case none, decimal, text }

    /// Whether a key may be a coordinate; nearly none is looked at byte by byte.
    @inline(__always)
    static func mayBeCoordinate(_ key: UnsafeBufferPointer<UInt8>) -> Bool {
        unsafe !isPlain(key) && beginsAsCoordinate(key.trimmedOfBlanks)
    }

    /// Whether a key is of letters, digits, hyphens and underscores alone, and has no `d` behind a digit, as between degrees
    /// and minutes. Where its last eight bytes overlap those before, it asks more than it must.
    @inline(__always)
    private static func isPlain(_ key: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let start = unsafe UnsafeRawPointer(key.baseAddress), key.count > 0 else { return true }
        let count = key.count
        // SAFETY: all that is loaded ends at the count at the latest.
        let hyphens: UInt64 = 0x2d2d_2d2d_0000_0000
        if count < 4 {
            let (middle, last) = unsafe (UInt64(key[count / 2]), UInt64(key[count - 1]))
            return unsafe Plain(hyphens | last << 24 | last << 16 | middle << 8 | UInt64(key[0])).isPlain
        }
        if count < 8 {
            let first = unsafe start.loadUnaligned(as: UInt32.self)
            let last = unsafe start.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self)
            return Plain(hyphens | UInt64(UInt32(littleEndian: first))).isPlain
                && Plain(hyphens | UInt64(UInt32(littleEndian: last))).isPlain
        }
        var digitBefore: UInt64 = 0
        var at = 0
        repeat {
            let word = unsafe start.loadUnaligned(fromByteOffset: min(at, count - 8), as: UInt64.self)
            let plain = Plain(UInt64(littleEndian: word), digitBefore: digitBefore)
            if !plain.isPlain { return false }
            digitBefore = plain.digits >> 56
            at += 8
        } while at < count
        return true
    }

    /// What eight bytes are: a highest bit for each.
    private struct Plain {
        let isPlain: Bool
        let digits: UInt64

        @inline(__always)
        init(_ word: UInt64, digitBefore: UInt64 = 0) {
            func bytes(_ byte: UInt64) -> UInt64 { byte &* 0x0101_0101_0101_0101 }
            // Of bytes below 128, those from `first` to `last`.
            func are(_ word: UInt64, _ first: UInt64, _ last: UInt64) -> UInt64 {
                (word &+ bytes(0x80 - first)) & ~(word &+ bytes(0x7f - last)) & bytes(0x80)
            }
            let small = word | bytes(0x20)
            digits = are(word, 0x30, 0x39)
            let allowed =
                digits | are(small, 0x61, 0x7a) | are(word, 0x2d, 0x2d) | are(word, 0x5f, 0x5f)
            isPlain =
                word & bytes(0x80) == 0 && allowed == bytes(0x80)
                && (digits << 8 | digitBefore) & are(small, 0x64, 0x64) == 0
        }
    }

    /// Whether a text begins as coordinates do, and has more than the letters and digits of most keys. One with escapes may.
    @inline(never)
    private static func beginsAsCoordinate(_ key: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = unsafe key.first, key.count <= 400 else { return unsafe hasLines(key) }
        if unsafe holdsPreciseNumber(key, orLines: true) { return true }
        switch first {
        case 0x30...0x39, UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "("),
            UInt8(ascii: "["):
            break
        // An escape; N, S, E and W; POINT and SRID.
        case UInt8(ascii: "\\"), 0x4e, 0x6e, 0x53, 0x73, 0x45, 0x65, 0x57, 0x77, 0x50, 0x70: break
        default: return false
        }
        // Digits, letters, hyphens and underscores alone are no coordinate, but for one `d` between degrees and minutes.
        var letters = 0, degreeMarks = 0
        for index in 0..<key.count {
            // SAFETY: below the count.
            let byte = unsafe key[index]
            if byte &- 48 < 10 || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") { continue }
            guard (byte | 0x20) &- 97 < 26 else { return true }
            if byte | 0x20 == UInt8(ascii: "d") { degreeMarks += 1 } else { letters += 1 }
        }
        return degreeMarks == 1 && letters <= 1
    }

    private static func hasLines(_ key: UnsafeBufferPointer<UInt8>) -> Bool {
        unsafe key.contains { $0 == 10 || $0 == 13 }
    }

    /// Whether there is a number of at most three digits and five or more behind a point or comma, which no letter but a
    /// hemisphere's stands before.
    ///
    /// - Parameter orLines: whether several lines, or an escape that may be of any character, are enough.
    @inline(__always)
    private static func holdsPreciseNumber(_ key: UnsafeBufferPointer<UInt8>, orLines: Bool = false) -> Bool {
        // Digits before the mark, or minus one behind anything else that a number does not follow; and behind it.
        var whole = 0, decimals = -1, letters = 0
        for index in 0..<key.count {
            // SAFETY: below the count.
            let byte = unsafe key[index]
            if byte &- 48 < 10 {
                if decimals >= 0 {
                    decimals += 1
                    if decimals == 5 { return true }
                } else if whole >= 0 {
                    whole += 1
                }
                continue
            }
            let isMark = byte == UInt8(ascii: ".") || byte == UInt8(ascii: ",")
            if isMark, (1...3).contains(whole), decimals < 0 {
                decimals = 0
                continue
            }
            if orLines, byte == 10 || byte == 13 || byte == UInt8(ascii: "\\") { return true }
            let isLetter = (byte | 0x20) &- 97 < 26
            letters = isLetter ? letters + 1 : 0
            // No letter, or N, S, E, W or O.
            let mayPrecede =
                !isLetter || letters == 1 && [0x4e, 0x53, 0x45, 0x57, 0x4f].contains(byte & ~0x20)
            (whole, decimals) = (mayPrecede && byte != UInt8(ascii: ".") ? 0 : -1, -1)
        }
        return false
    }

    @inline(never)
    private static func likeness(_ key: UnsafeBufferPointer<UInt8>) -> Likeness {
        if unsafe hasLines(key) { return .text }
        if let number = unsafe DecimalNumber.parse(key) { return hasPart(number) ? .decimal : .none }
        if let number = unsafe AngleText.decimalComma(key), hasPart(number) { return .text }
        for axis in [TraceError.Axis.latitude, .longitude] {
            if let angle = unsafe AngleText.parse(key, axis), hasPart(angle) { return .text }
        }
        guard let position = unsafe PairText.parse(key, .latitudeFirst, .any) else {
            if unsafe isMadeOfNumbers(key) { return .text }
            return unsafe holdsPreciseNumber(key) ? .decimal : .none
        }
        let parts = [position.latitude, position.longitude]
        return parts.allSatisfy { $0.magnitude <= 180 } && parts.contains(where: hasPart) ? .text : .none
    }

    /// Whether a key has nothing but numbers, signs, separators and the letters of hemispheres, and a number with five digits
    /// after the point: positions that are written wrongly are no less precise.
    private static func isMadeOfNumbers(_ key: UnsafeBufferPointer<UInt8>) -> Bool {
        var decimals = 0, isPrecise = false, isBehindPoint = false
        for index in 0..<key.count {
            // SAFETY: below the count.
            let byte = unsafe key[index]
            switch byte {
            case 0x30...0x39: decimals += isBehindPoint ? 1 : 0
            case UInt8(ascii: "."): (isBehindPoint, decimals) = (true, 0)
            default:
                guard byte >= 0x80 || " +-,;:/|'\"()[]NSEWOnsewo".utf8.contains(byte) else { return false }
                (isBehindPoint, decimals) = (false, 0)
            }
            if decimals >= 5 { isPrecise = true }
        }
        return isPrecise
    }

    /// Whether a number can be one of degrees, with a part of a degree.
    private static func hasPart(_ number: Double) -> Bool {
        number.magnitude <= 180 && number != number.rounded(.towardZero)
    }
}

extension KeyRule {
    /// The rule for an input of `convert` and `live`.
    init(_ options: ConvertRun.Options) {
        self = options.keyColumn == nil && !options.acceptsNumericKeys ? .found : .named
    }
}
