import Hereabouts
import TextCoding

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The fast path of GPX: scans track points in canonical form, which most recordings consist of:
///
///     <trkpt lat="-29.9671209" lon="-50.0417552"> <ele>1140.5</ele> <time>2026-05-09T00:00:00Z</time> </trkpt>
///
/// The start tag is just so, its numbers without exponents. Each child has a name of up to seven small letters, no
/// attributes, and fewer than 48 characters of printable ASCII, without markup and references. Blanks and line feeds
/// may stand between tags. Where elements can stand and no document type changes what they mean, such bytes mean one
/// thing only, so that the parser need not be asked; all else is left to it.
@safe struct TrackPointScanner {
    // SAFETY: used within the call that has the bytes. Every step begins with `skipBlanks`, before `last`, and looks at
    // no more than `reach` bytes, which are there.
    private var at: UnsafePointer<UInt8>
    private let start, last: UnsafePointer<UInt8>
    /// Line feeds read.
    private(set) var lines = 0

    /// Bytes that a step looks at, at most: a start tag is 12, 40, 7, 40 and 2.
    private static let reach = 128
    private static let numberReach = 40, textReach = 48

    /// - Parameter bytes: not empty.
    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        unsafe start = bytes.baseAddress!
        unsafe at = start
        unsafe last = start + max(0, bytes.count - Self.reach)
    }

    /// Bytes read.
    var offset: Int { unsafe at - start }

    /// Scans the start tag of a point; nil, and the scanner is of no more use, where there is another thing.
    @inline(__always)
    mutating func startTag() -> Coordinate? {
        guard skipBlanks(), skip("<trkpt lat=\""), let latitude = number(), skip("\" lon=\""),
            let longitude = number(), skip("\">")
        else { return nil }
        return Coordinate(latitude: latitude, longitude: longitude)
    }

    /// Reads the end tag of a point.
    @inline(__always)
    mutating func endTag() -> Bool { skipBlanks() && skip("</trkpt>") }

    /// An element within a point.
    @safe struct Child {
        /// The letters of its name, the first one lowest.
        var name: UInt64
        // SAFETY: for as long as the bytes that the `TrackPointScanner` was made of.
        var text: UnsafeBufferPointer<UInt8>
    }

    /// The letters of a name.
    @inline(__always)
    static func name(_ letters: StaticString) -> UInt64 {
        // SAFETY: the literal has so many bytes.
        (0..<letters.utf8CodeUnitCount).reduce(0) { unsafe $0 | UInt64(letters.utf8Start[$1]) &<< UInt64(8 * $1) }
    }

    /// Reads an element within a point.
    @inline(__always)
    mutating func child() -> Child? {
        guard skipBlanks(), unsafe at.pointee == UInt8(ascii: "<") else { return nil }
        let letters = unsafe word(at + 1)
        let length = letters.marks(of: UInt8(ascii: ">")).trailingZeroBitCount / 8
        guard (1...7).contains(length) else { return nil }
        let mask = (1 &<< UInt64(8 * length)) - 1
        guard Self.areSmallLetters(letters & mask | ~mask & 0x6161_6161_6161_6161) else { return nil }
        let text = unsafe at + length + 2
        guard let end = unsafe textEnd(text), unsafe end[1] == UInt8(ascii: "/"),
            unsafe (word(end + 2) ^ letters) & (mask &<< 8 | 0xff) == 0
        else { return nil }
        unsafe at = end + length + 3
        return unsafe Child(name: letters & mask, text: UnsafeBufferPointer(start: text, count: end - text))
    }

    /// Where the text ends that begins at an address: at the next tag, if there is one within reach, and nothing before
    /// it that is more than itself.
    @inline(__always)
    private func textEnd(_ text: UnsafePointer<UInt8>) -> UnsafePointer<UInt8>? {
        for step in 0..<Self.textReach / 8 {
            let word = unsafe word(text + 8 * step)
            let tags = word.marks(of: UInt8(ascii: "<"))
            let control = (word &- 0x2020_2020_2020_2020) & ~word & 0x8080_8080_8080_8080
            let others =
                word.marks(of: UInt8(ascii: "&")) | word.marks(of: UInt8(ascii: ">"))
                | control | word & 0x8080_8080_8080_8080
            if tags | others == 0 { continue }
            // The lowest mark of each is right, so that the lowest of all is.
            let first = (tags | others).trailingZeroBitCount
            return tags &>> UInt64(first) & 1 == 1 && others &>> UInt64(first) & 1 == 0
                ? unsafe text + 8 * step + first / 8 : nil
        }
        return nil
    }

    /// Skips spaces, tabs and ends of lines.
    ///
    /// - Returns: whether there is enough left to go on.
    @inline(__always)
    private mutating func skipBlanks() -> Bool {
        while unsafe at < last {
            let byte = unsafe at.pointee
            if byte > 0x20 { return true }
            guard byte == 10 || byte == 0x20 || byte == 9 || byte == 13 else { return false }
            lines += byte == 10 ? 1 : 0
            unsafe at += 1
        }
        return false
    }

    @inline(__always)
    private mutating func skip(_ literal: StaticString) -> Bool {
        guard unsafe memcmp(at, literal.utf8Start, literal.utf8CodeUnitCount) == 0 else { return false }
        unsafe at += literal.utf8CodeUnitCount
        return true
    }

    /// Reads a number up to the quote after it.
    @inline(__always)
    private mutating func number() -> Double? {
        for step in 0..<Self.numberReach / 8 {
            let quotes = unsafe word(at + 8 * step).marks(of: UInt8(ascii: "\""))
            if quotes == 0 { continue }
            let length = 8 * step + quotes.trailingZeroBitCount / 8
            var number = unsafe FixedPoint.parse(at, count: length)
            if number.isNaN {
                guard let other = unsafe DecimalNumber.parse(UnsafeBufferPointer(start: at, count: length)) else {
                    return nil
                }
                number = other
            }
            unsafe at += length
            return number
        }
        return nil
    }

    @inline(__always)
    private func word(_ at: UnsafePointer<UInt8>) -> UInt64 {
        unsafe UInt64(littleEndian: UnsafeRawPointer(at).loadUnaligned(as: UInt64.self))
    }

    /// Whether all eight bytes are from a to z.
    @inline(__always)
    private static func areSmallLetters(_ word: UInt64) -> Bool {
        let fromA = word &+ 0x1f1f_1f1f_1f1f_1f1f, aboveZ = word &+ 0x0505_0505_0505_0505
        return (word | ~fromA | aboveZ) & 0x8080_8080_8080_8080 == 0
    }
}

extension UInt64 {
    /// The top bits of the bytes that are `byte`, and perhaps of some above one of them: the lowest is right.
    @inline(__always)
    func marks(of byte: UInt8) -> UInt64 {
        let other = self ^ UInt64(byte) &* 0x0101_0101_0101_0101
        return (other &- 0x0101_0101_0101_0101) & ~other & 0x8080_8080_8080_8080
    }
}
