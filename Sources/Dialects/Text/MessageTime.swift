import Hereabouts
import TextCoding

extension Timestamp {
    /// Reads ISO 8601 as location apps write it: `2015-10-01T08:00:00-0700`, `2026-03-01 08:00:00.5Z`, `…+01:00`, `…+01`, `… 01:00`;
    /// without an offset, UTC. A leap second is the first second of the next minute. Nil for everything else.
    init?(iso text: some Sequence<UInt8>) {
        var scanner = TimeReader(text)
        guard let seconds = scanner.dateAndTime(), let time = Timestamp(seconds: seconds.whole, seconds.nanoseconds)
        else {
            return nil
        }
        self = time
    }

    /// Reads ISO 8601, or a number since 1970: seconds up to 1e11, which is the year 5138, else milliseconds.
    init?(message text: some Collection<UInt8>) {
        if let number = MessageNumber.parse(text) {
            self.init(unixSeconds: number.magnitude <= 1e11 ? number : number / 1000)
        } else {
            self.init(iso: text)
        }
    }

    /// A moment of seconds since 1970 with a fraction, to the microsecond; nil outside 1678 … 2261.
    init?(unixSeconds seconds: Double) {
        guard seconds.magnitude < 9.2e9 else { return nil }
        let whole = seconds.rounded(.down)
        let microseconds = Int64(((seconds - whole) * 1e6).rounded())
        self.init(seconds: Int64(whole), microseconds * 1000)
    }

    private init?(seconds: Int64, _ nanoseconds: Int64) {
        guard let time = Timestamp(secondsSince1970: seconds) else { return nil }
        let (sum, overflow) = time.nanosecondsSince1970.addingReportingOverflow(nanoseconds)
        guard !overflow else { return nil }
        self.init(nanosecondsSince1970: sum)
    }
}

/// Reads a date and time from left to right.
private struct TimeReader {
    private var rest: ArraySlice<UInt8>

    init(_ text: some Sequence<UInt8>) { rest = ArraySlice(text.prefix(64)) }

    mutating func dateAndTime() -> (whole: Int64, nanoseconds: Int64)? {
        guard let year = number(4), take("-"), let month = number(2), take("-"), let day = number(2) else { return nil }
        let date = CivilDate(year: year, month: month, day: day)
        // What is no date counts on into another one.
        guard year > 0, (1...12).contains(month), CivilDate(daysSince1970: date.daysSince1970) == date,
            take("T") || take("t") || take(" "), let hour = number(2), hour < 24, take(":"), let minute = number(2),
            minute < 60, take(":"), let second = number(2), second <= 60, let fraction = fraction(),
            let offset = offset(),
            rest.isEmpty
        else { return nil }
        return (date.daysSince1970 * 86_400 + (hour * 60 + minute - offset) * 60 + second, fraction)
    }

    private mutating func take(_ mark: Character) -> Bool {
        guard rest.first == mark.asciiValue else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func number(_ digits: Int) -> Int64? {
        let text = rest.prefix(digits)
        guard text.count == digits, text.allSatisfy({ $0 &- 48 < 10 }) else { return nil }
        rest = rest.dropFirst(digits)
        return text.reduce(0) { $0 * 10 + Int64($1 &- 48) }
    }

    /// Nanoseconds; 0 where there are none.
    private mutating func fraction() -> Int64? {
        guard take(".") || take(",") else { return 0 }
        guard rest.first.map({ $0 &- 48 < 10 }) == true else { return nil }
        var (value, unit): (Int64, Int64) = (0, 100_000_000)
        while let digit = rest.first.map({ $0 &- 48 }), digit < 10 {
            value += Int64(digit) * unit
            unit /= 10
            rest.removeFirst()
        }
        return value
    }

    /// Minutes that the clock is ahead of UTC; 0 where nothing says so.
    private mutating func offset() -> Int64? {
        if rest.isEmpty || take("Z") || take("z") { return 0 }
        let isBehind = take("-")
        // A plus sign in a query is a blank to those who read it.
        guard isBehind || take("+") || take(" "), let hours = number(2), hours < 24 else { return nil }
        var minutes: Int64 = 0
        if !rest.isEmpty {
            _ = take(":")
            guard let value = number(2), value < 60 else { return nil }
            minutes = value
        }
        return (isBehind ? -1 : 1) * (hours * 60 + minutes)
    }
}
