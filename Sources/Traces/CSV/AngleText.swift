import Hereabouts
import TextCoding

/// Angles as people write them into tables: with a decimal comma (`48,2082`), in degrees, minutes and seconds
/// (`48°12'30.5"`, `48 12 30.5`, `48:12:30.5`), and with the letter of a hemisphere before or after (`48.2082 N`).
///
/// What has two meanings is no angle: a sign beside a letter; a letter of the other axis; degrees and minutes that
/// nothing but a blank divides, which may be two coordinates; degrees and minutes run together, as receivers send them
/// (`4812.345`), which are degrees out of range.
enum AngleText {
    /// The angle in degrees that is all of a text, blanks around it aside; nil for anything else.
    ///
    /// - Complexity: O(length); no allocation.
    static func parse(_ text: UnsafeBufferPointer<UInt8>, _ axis: TraceError.Axis) -> Double? {
        var scanner = unsafe Scanner(text)
        return scanner.angle(axis)
    }

    /// A number with a decimal comma: `[+-] digits [, digits]`; nil for anything else.
    static func decimalComma(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
        var scanner = unsafe Scanner(text)
        return scanner.number()
    }

    /// Reads an angle from left to right.
    @safe private struct Scanner {
        // SAFETY: lives no longer than the call that made it; `at` is at most the count.
        private let text: UnsafeBufferPointer<UInt8>
        private let count: Int
        private var at = 0

        private static let degreeMarks: [StaticString] = ["°", "º", ":", "d"]
        private static let minuteMarks: [StaticString] = ["'", "′", "’", ":"]
        private static let secondMarks: [StaticString] = ["\"\"", "\"", "''", "″", "”", "′′"]

        init(_ text: UnsafeBufferPointer<UInt8>) {
            unsafe self.text = unsafe text
            count = text.count
        }

        /// The current byte; 0 at the end.
        private var byte: UInt8 { at < count ? unsafe text[at] : 0 }

        private mutating func skipBlanks() {
            while at < count, DecimalNumber.isBlank(byte) { at += 1 }
        }

        private mutating func take(_ mark: StaticString) -> Bool {
            let length = mark.utf8CodeUnitCount
            guard at + length <= count else { return false }
            for offset in 0..<length {
                // SAFETY: tested against both counts.
                guard unsafe text[at + offset] == mark.utf8Start[offset] else { return false }
            }
            at += length
            return true
        }

        private mutating func takeAny(_ marks: [StaticString]) -> Bool {
            for mark in marks where take(mark) { return true }
            return false
        }

        /// What a hemisphere's letter makes of the angle: 1 or -1; nil where none is here.
        private mutating func letter(_ axis: TraceError.Axis) -> Double? {
            switch (byte & ~0x20, axis) {
            case (UInt8(ascii: "N"), .latitude), (UInt8(ascii: "E"), .longitude):
                at += 1
                return 1
            case (UInt8(ascii: "S"), .latitude), (UInt8(ascii: "W"), .longitude):
                at += 1
                return -1
            default: return nil
            }
        }

        /// 1 or -1; nil where there is no sign.
        private mutating func sign() -> Double? {
            if take("-") { return -1 }
            return take("+") ? 1 : nil
        }

        mutating func number() -> Double? {
            skipBlanks()
            let sign = sign() ?? 1
            guard let value = part()?.value else { return nil }
            skipBlanks()
            return at == count ? sign * value : nil
        }

        mutating func angle(_ axis: TraceError.Axis) -> Double? {
            skipBlanks()
            var letter = letter(axis)
            if letter != nil { skipBlanks() }
            let sign = sign()
            guard let degrees = part() else { return nil }
            skipBlanks()
            var hasMark = takeAny(Self.degreeMarks) || takeLatin1Degree()
            skipBlanks()
            var parts = [0.0, 0.0]
            var isWhole = degrees.isWhole, partCount = 1
            for index in 0..<2 {
                guard byte &- 48 < 10 else { break }
                guard isWhole, let part = part(), part.value < 60 else { return nil }
                (parts[index], isWhole) = (part.value, part.isWhole)
                partCount += 1
                skipBlanks()
                // `''` after minutes would be seconds.
                if index == 0, byte == UInt8(ascii: "'"), at + 1 < count, unsafe text[at + 1] == byte { return nil }
                hasMark = takeAny(index == 0 ? Self.minuteMarks : Self.secondMarks) || hasMark
                skipBlanks()
            }
            if letter == nil { letter = self.letter(axis) }
            skipBlanks()
            guard at == count, letter == nil || sign == nil, partCount != 2 || hasMark || letter != nil else {
                return nil
            }
            return (letter ?? sign ?? 1) * (degrees.value + (parts[0] + parts[1] / 60) / 60)
        }

        /// The degree sign of ISO 8859-1.
        private mutating func takeLatin1Degree() -> Bool {
            guard byte == 0xb0 else { return false }
            at += 1
            return true
        }

        /// Digits with a point or a comma among them, without a sign.
        private mutating func part() -> (value: Double, isWhole: Bool)? {
            let start = at
            while byte &- 48 < 10 { at += 1 }
            let whole = at - start
            guard whole > 0 else { return nil }
            if byte == UInt8(ascii: ".") || byte == UInt8(ascii: ",") {
                at += 1
                while byte &- 48 < 10 { at += 1 }
            }
            let length = at - start
            guard length <= 40 else { return nil }
            // SAFETY: the copy holds the part's bytes, the comma among them made a point.
            let value = unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: length) { copy in
                for index in 0..<length {
                    let byte = unsafe text[start + index]
                    unsafe copy[index] = byte == UInt8(ascii: ",") ? UInt8(ascii: ".") : byte
                }
                return unsafe DecimalNumber.parse(UnsafeBufferPointer(copy))
            }
            return value.map { ($0, length == whole) }
        }
    }
}

/// Both coordinates in one field.
enum PairText {
    /// The position that is all of a text: `POINT(longitude latitude)`, also with a height, or the two coordinates in the
    /// order that is said, divided by a comma, a semicolon or a blank, and perhaps in brackets. Nil for anything else.
    static func parse(
        _ text: UnsafeBufferPointer<UInt8>, _ order: PairOrder, _ reference: SpatialReference = .wgs84
    ) -> Coordinate? {
        // SAFETY: all slices are within the text.
        var text = unsafe trimmed(text[...])
        if let point = unsafe point(text, reference) { return point }
        if unsafe text.first == UInt8(ascii: "{") {
            return unsafe GeoJSONText.point(UnsafeBufferPointer(rebasing: text))
        }
        guard order != .pointOnly else { return nil }
        var order = order
        if let first = unsafe text.first, let last = unsafe text.last,
            [(0x28, 0x29), (0x5b, 0x5d)].contains(where: { $0 == (first, last) })
        {
            // An array of numbers is GeoJSON's, unless the column's name says otherwise.
            if first == 0x5b, order == .unsaid,
                unsafe !text.contains(where: { ($0 | 0x20) &- 97 < 26 && $0 | 0x20 != 0x65 })
            {
                order = .longitudeFirst
            }
            unsafe text = trimmed(text.dropFirst().dropLast())
        }
        guard let (first, second) = unsafe halves(text) else { return nil }
        let (latitude, longitude) = unsafe order == .longitudeFirst ? (second, first) : (first, second)
        return unsafe coordinate(latitude, longitude)
    }

    private typealias Bytes = Slice<UnsafeBufferPointer<UInt8>>

    private static func trimmed(_ text: Bytes) -> Bytes {
        var text = unsafe text.drop(while: DecimalNumber.isBlank)
        while let last = unsafe text.last, DecimalNumber.isBlank(last) { unsafe text = text.dropLast() }
        return unsafe text
    }

    private static func coordinate(_ latitude: Bytes, _ longitude: Bytes) -> Coordinate? {
        func value(_ text: Bytes, _ axis: TraceError.Axis) -> Double? {
            let text = unsafe UnsafeBufferPointer(rebasing: text)
            return unsafe DecimalNumber.parse(text) ?? AngleText.parse(text, axis)
        }
        guard let latitude = unsafe value(latitude, .latitude), let longitude = unsafe value(longitude, .longitude)
        else {
            return nil
        }
        return Coordinate(latitude: latitude, longitude: longitude)
    }

    /// The two halves of a pair: divided by its only semicolon, else by its only comma, else by blanks.
    private static func halves(_ text: Bytes) -> (Bytes, Bytes)? {
        for mark in [UInt8(ascii: ";"), UInt8(ascii: ",")] where unsafe text.contains(mark) {
            let parts = unsafe text.split(separator: mark, omittingEmptySubsequences: false)
            return unsafe parts.count == 2 ? (parts[0], parts[1]) : nil
        }
        let parts = unsafe text.split(whereSeparator: DecimalNumber.isBlank)
        return unsafe parts.count == 2 ? (parts[0], parts[1]) : nil
    }

    /// The spatial reference identifier before a position; nil where there is none.
    static func spatialReference(_ text: UnsafeBufferPointer<UInt8>) -> Int? {
        var at = 0
        for byte in "SRID=".utf8 {
            // SAFETY: tested against the count.
            guard at < text.count, unsafe text[at] & ~0x20 == byte & ~0x20 else { return nil }
            at += 1
        }
        var number = 0
        while at < text.count, case let digit = unsafe text[at] &- 48, digit < 10, number < 1_000_000 {
            number = 10 * number + Int(digit)
            at += 1
        }
        return unsafe at > 5 && at < text.count && text[at] == UInt8(ascii: ";") ? number : nil
    }

    /// A point of well-known text (its spatial reference may be before it).
    private static func point(_ text: Bytes, _ reference: SpatialReference) -> Coordinate? {
        var text = unsafe text
        func take(_ word: StaticString) -> Bool {
            let count = word.utf8CodeUnitCount
            // SAFETY: the word's bytes; its letters are capitals.
            let matches = unsafe zip(text, UnsafeBufferPointer(start: word.utf8Start, count: count)).allSatisfy {
                $0 == $1 || $0 == $1 | 0x20
            }
            guard unsafe matches && text.count >= count else { return false }
            unsafe text = text.dropFirst(count)
            return true
        }
        if let number = unsafe spatialReference(UnsafeBufferPointer(rebasing: text)) {
            guard reference == .any || number == (reference == .wgs84 ? 4326 : nil) || reference == .declared(number)
            else { return nil }
            unsafe text = text.drop { $0 != UInt8(ascii: ";") }.dropFirst()
        } else if case .declared = reference {
            return nil
        }
        guard take("POINT") else { return nil }
        unsafe text = trimmed(text)
        let hasHeight = take("ZM") || take("Z") || take("M")
        unsafe text = trimmed(text)
        guard take("("), unsafe text.last == UInt8(ascii: ")") else { return nil }
        let numbers = unsafe text.dropLast().split(whereSeparator: DecimalNumber.isBlank)
        guard unsafe numbers.count == 2 || (3...(hasHeight ? 4 : 3)).contains(numbers.count) else { return nil }
        let values = unsafe numbers.map { unsafe DecimalNumber.parse(UnsafeBufferPointer(rebasing: $0)) }
        guard values.allSatisfy({ $0 != nil }), let longitude = values[0], let latitude = values[1] else { return nil }
        return Coordinate(latitude: latitude, longitude: longitude)
    }
}
