internal import CKernels

/// A moment, in nanoseconds since 1970-01-01 00:00:00 UTC, leap seconds not counted. The range is 1677 to 2262.
///
/// ```swift
/// let deadline = Timestamp.now + .seconds(900)
/// let noon = Timestamp("2026-09-21T12:00:00Z")
/// ```
///
/// `HereaboutsFoundation` converts to and from `Date`.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Nanoseconds since 1970; negative before.
    public var nanosecondsSince1970: Int64

    /// Makes a moment of nanoseconds since 1970.
    @inlinable
    public init(nanosecondsSince1970: Int64) { self.nanosecondsSince1970 = nanosecondsSince1970 }

    /// Makes a moment of whole seconds since 1970; nil outside the range.
    @inlinable
    public init?(secondsSince1970: Int64) {
        let (nanoseconds, overflow) = secondsSince1970.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return nil }
        self.init(nanosecondsSince1970: nanoseconds)
    }

    /// The last moment that a clock is taken to show: 2262-04-10, which leaves room for what is to come within the range.
    package static let latestOfClocks = Timestamp(nanosecondsSince1970: 9_223_200_000_000_000_000)

    /// What a clock shows, at most `latestOfClocks` and not before 1970.
    package init(clockSeconds seconds: Int64, nanoseconds: Int64) {
        let moment = Timestamp(secondsSince1970: max(0, seconds)) ?? .latestOfClocks
        let (sum, overflow) = moment.nanosecondsSince1970.addingReportingOverflow(nanoseconds)
        self = overflow ? .latestOfClocks : min(Timestamp(nanosecondsSince1970: sum), .latestOfClocks)
    }

    /// The present, by the system's real-time clock.
    public static var now: Timestamp {
        var nanoseconds: Int64 = 0
        // SAFETY: the call writes one number, which lives during the call.
        let seconds = unsafe hereabouts_clock(&nanoseconds)
        return Timestamp(clockSeconds: seconds, nanoseconds: nanoseconds)
    }

    /// Whether the left moment is the earlier one.
    @inlinable
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.nanosecondsSince1970 < right.nanosecondsSince1970
    }

    /// The nanoseconds from an earlier moment to this one, or `Int64.max` where that is more than an `Int64` holds.
    func nanoseconds(since earlier: Timestamp) -> Int64 {
        let (difference, overflow) = nanosecondsSince1970.subtractingReportingOverflow(earlier.nanosecondsSince1970)
        return overflow ? .max : difference
    }
}

extension Timestamp: InstantProtocol {
    /// This moment and a duration, in whole nanoseconds toward zero, within the range of times.
    public func advanced(by duration: Duration) -> Timestamp {
        let (seconds, attoseconds) = duration.components
        let nanoseconds = Int128(seconds) * 1_000_000_000 + Int128(attoseconds / 1_000_000_000)
        return Timestamp(nanosecondsSince1970: Int64(clamping: Int128(nanosecondsSince1970) + nanoseconds))
    }

    /// The time from this moment to another one; negative to an earlier one.
    public func duration(to other: Timestamp) -> Duration {
        let nanoseconds = Int128(other.nanosecondsSince1970) - Int128(nanosecondsSince1970)
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return .seconds(Int64(seconds)) + .nanoseconds(Int64(rest))
    }

    /// A moment after another one, within the range of times.
    public static func + (moment: Timestamp, duration: Duration) -> Timestamp { moment.advanced(by: duration) }
    /// A moment before another one, within the range of times.
    public static func - (moment: Timestamp, duration: Duration) -> Timestamp { moment.advanced(by: .zero - duration) }
    /// The time from the right moment to the left one.
    public static func - (moment: Timestamp, other: Timestamp) -> Duration { other.duration(to: moment) }
    /// Moves a moment on.
    public static func += (moment: inout Timestamp, duration: Duration) { moment = moment + duration }
    /// Moves a moment back.
    public static func -= (moment: inout Timestamp, duration: Duration) { moment = moment - duration }
}

extension Timestamp: LosslessStringConvertible {
    /// Reads ISO 8601 as RFC 3339 has it: `2026-09-21T14:15:00.25Z`, or with an offset such as `+02:00`. What is finer than a
    /// nanosecond is cut off. Nil for everything else, and for a moment outside the range.
    public init?(_ description: String) {
        var digits = ISO8601Digits(description)
        guard let year = digits.number(4), digits.skip("-"), let month = digits.number(2), digits.skip("-"),
            let day = digits.number(2), digits.skip("T") || digits.skip("t") || digits.skip(" "),
            let hour = digits.number(2), digits.skip(":"), let minute = digits.number(2), digits.skip(":"),
            let second = digits.number(2), hour < 24, minute < 60, second < 60
        else { return nil }
        let date = CivilDate(year: year, month: month, day: day)
        guard CivilDate(daysSince1970: date.daysSince1970) == date else { return nil }
        var nanoseconds: Int64 = 0
        if digits.skip(".") || digits.skip(",") {
            guard let fraction = digits.nanoseconds() else { return nil }
            nanoseconds = fraction
        }
        guard let offset = digits.offset(), digits.isAtEnd else { return nil }
        let seconds = date.daysSince1970 * 86_400 + hour * 3600 + minute * 60 + second - offset
        let total = Int128(seconds) * 1_000_000_000 + Int128(nanoseconds)
        guard let total = Int64(exactly: total) else { return nil }
        self.init(nanosecondsSince1970: total)
    }

    /// ISO 8601 in UTC, with as many decimals of a second as it needs: `2026-09-21T14:15:00.25Z`.
    public var description: String {
        let second: Int64 = 1_000_000_000, day = 86_400 * second
        let days = Self.floor(nanosecondsSince1970, day)
        // Within a day, though the day may begin before the range.
        let rest = nanosecondsSince1970 &- days &* day
        let date = CivilDate(daysSince1970: days)
        func padded(_ number: Int64, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
        }
        var text = "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))T"
        text += "\(padded(rest / (3600 * second), 2)):\(padded(rest / (60 * second) % 60, 2)):"
        text += padded(rest / second % 60, 2)
        var fraction = rest % second, width = 9
        if fraction > 0 {
            while fraction % 10 == 0 { (fraction, width) = (fraction / 10, width - 1) }
            text += "." + padded(fraction, width)
        }
        return text + "Z"
    }

    private static func floor(_ value: Int64, _ divisor: Int64) -> Int64 {
        value / divisor - (value % divisor < 0 ? 1 : 0)
    }
}

/// Reads digits one after the other.
private struct ISO8601Digits {
    private let bytes: [UInt8]
    private var place = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    var isAtEnd: Bool { place == bytes.count }

    private func digit(_ place: Int) -> Int64? {
        guard place < bytes.count, bytes[place] &- 48 < 10 else { return nil }
        return Int64(bytes[place] - 48)
    }

    mutating func number(_ count: Int) -> Int64? {
        var number: Int64 = 0
        for k in place..<place + count {
            guard let digit = digit(k) else { return nil }
            number = number * 10 + digit
        }
        place += count
        return number
    }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard place < bytes.count, bytes[place] == UInt8(ascii: character) else { return false }
        place += 1
        return true
    }

    /// Decimals, of which nine count.
    mutating func nanoseconds() -> Int64? {
        let start = place
        var nanoseconds: Int64 = 0
        while let digit = digit(place) {
            if place - start < 9 { nanoseconds = nanoseconds * 10 + digit }
            place += 1
        }
        guard place > start else { return nil }
        for _ in min(9, place - start)..<9 { nanoseconds *= 10 }
        return nanoseconds
    }

    /// Seconds east of UTC.
    mutating func offset() -> Int64? {
        if skip("Z") || skip("z") { return 0 }
        let isWest = skip("-")
        guard isWest || skip("+"), let hours = number(2), skip(":"), let minutes = number(2), hours < 24, minutes < 60
        else { return nil }
        return (isWest ? -1 : 1) * (hours * 3600 + minutes * 60)
    }
}
