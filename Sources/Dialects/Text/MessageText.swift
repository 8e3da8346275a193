import Hereabouts
import TextCoding

/// Bytes of a message that is being written.
package struct MessageText {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package mutating func append(_ literal: StaticString) {
        // SAFETY: a literal of several scalars has a pointer to static storage.
        unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    package mutating func append(_ more: [UInt8]) { bytes += more }

    package mutating func append(_ value: Int64) { bytes += String(value).utf8 }

    /// Appends text as a JSON string.
    package mutating func append(json text: String) {
        bytes.append(JSONString.quote)
        JSONString.escape(text.utf8) { bytes.append($0) }
        bytes.append(JSONString.quote)
    }

    /// Appends degrees, below 1000 in magnitude, with at most 9 decimals; never `-0`.
    package mutating func append(degrees value: Double, decimals: Int) {
        var unit: Int64 = 1
        for _ in 0..<decimals { unit *= 10 }
        let scaled = Int64((value * Double(unit)).rounded())
        if scaled < 0 { bytes.append(UInt8(ascii: "-")) }
        let (whole, fraction) = scaled.magnitude.quotientAndRemainder(dividingBy: UInt64(unit))
        bytes += String(whole).utf8
        bytes.append(UInt8(ascii: "."))
        let digits = String(fraction).utf8
        bytes.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: decimals - digits.count))
        bytes += digits
    }

    /// Appends `longitude,latitude` or the other way.
    package mutating func append(_ location: OutgoingLocation, _ axis: KeyPath<Coordinate, Double>) {
        append(degrees: location.coordinate[keyPath: axis], decimals: location.decimals)
    }

    /// Appends `2026-03-01T07:15:00Z` for whole seconds; with milliseconds, rounded down, for others or where `always`.
    package mutating func append(_ time: Timestamp, milliseconds always: Bool = false) {
        let all = time.nanosecondsSince1970
        let seconds = all.floored(by: 1_000_000_000)
        let milliseconds = (all - seconds * 1_000_000_000) / 1_000_000
        let day = seconds.floored(by: 86_400)
        let second = seconds - day * 86_400
        let date = CivilDate(daysSince1970: day)
        append(digits: date.year, 4)
        bytes.append(UInt8(ascii: "-"))
        append(digits: date.month, 2)
        bytes.append(UInt8(ascii: "-"))
        append(digits: date.day, 2)
        bytes.append(UInt8(ascii: "T"))
        append(digits: second / 3600, 2)
        bytes.append(UInt8(ascii: ":"))
        append(digits: second / 60 % 60, 2)
        bytes.append(UInt8(ascii: ":"))
        append(digits: second % 60, 2)
        if always || milliseconds > 0 {
            bytes.append(UInt8(ascii: "."))
            append(digits: milliseconds, 3)
        }
        bytes.append(UInt8(ascii: "Z"))
    }

    private mutating func append(digits value: Int64, _ width: Int) {
        let digits = String(value).utf8
        bytes.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: max(0, width - digits.count)))
        bytes += digits
    }
}

extension Int64 {
    /// The quotient rounded down.
    func floored(by divisor: Int64) -> Int64 {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }
}

extension Timestamp {
    /// Whole seconds since 1970, rounded down.
    var wholeSeconds: Int64 { nanosecondsSince1970.floored(by: 1_000_000_000) }
}
