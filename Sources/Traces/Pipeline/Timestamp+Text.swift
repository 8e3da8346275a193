import Hereabouts
import TextCoding

extension Timestamp {
    /// 1678-01-01T00:00:00Z to the end of 2261: the whole years that nanoseconds in 64 bits reach.
    private static let secondsRange: ClosedRange<Int64> = -9_214_560_000...9_214_646_399

    /// Reads ISO 8601 as GPX and RFC 3339 use it (`2026-03-01T08:15:30.5+01:00`; a blank for the `T`, a missing zone
    /// meaning UTC, `+0100` and `+01`). A leap second (`:60`) is the first second of the next minute. Nil for everything
    /// else, and for years outside 1678 … 2261.
    ///
    /// In a table, whose style is given, also: a date with slashes (`2026/3/1 8:15:30`), without marks
    /// (`20260301T081530Z`), or with the year last (`01/03/2026 8:15 PM`) where its order is known; `UTC`, `GMT` or blanks
    /// before an offset; and numbers: seconds since 1970, above 1e11 in magnitude
    /// milliseconds, above 1e14 microseconds, above 1e17 nanoseconds.
    ///
    /// - Parameter zone: that of times without an offset, outside of tables, whose style has it; nil for UTC.
    /// - Complexity: O(length); no allocation.
    @inline(__always)
    init?(_ text: UnsafeBufferPointer<UInt8>, inTable style: TimeStyle?, zone: TimeZoneRules? = nil) {
        if let seconds = unsafe canonicalSeconds(text) {
            self.init(nanosecondsSince1970: seconds * 1_000_000_000)
        } else {
            unsafe self.init(other: text, inTable: style, zone: style?.zone ?? zone)
        }
    }

    @inline(never)
    private init?(other text: UnsafeBufferPointer<UInt8>, inTable style: TimeStyle?, zone: TimeZoneRules?) {
        var scanner = unsafe TimeScanner(text, style)
        if let time = scanner.dateAndTime() {
            self.init(time, zone: zone)
        } else if style != nil, let number = unsafe DecimalNumber.parse(text) ?? AngleText.decimalComma(text) {
            if abs(number) > 1e14 {
                // A `Double` does not hold all digits of these.
                let unit: Int64 = abs(number) > 1e17 ? 1 : 1000
                let count = unsafe wholeNumber(text) ?? Int64(exactly: number.rounded(.down))
                guard let (nanoseconds, overflow) = count?.multipliedReportingOverflow(by: unit), !overflow,
                    Self.secondsRange.contains(nanoseconds / 1_000_000_000)
                else { return nil }
                self.init(nanosecondsSince1970: nanoseconds)
                return
            }
            let milliseconds = (abs(number) > 1e11 ? number : number * 1000).rounded(.down)
            guard Self.secondsRange.contains(Int64(milliseconds) / 1000) else { return nil }
            self.init(nanosecondsSince1970: Int64(milliseconds) * 1_000_000)
        } else {
            return nil
        }
    }

    /// Reads a date (`2026-03-01` and the other forms) and a time of day (`08:15:30.5`, with or without a zone; `081530`)
    /// that stand in two columns of a table. Nil for everything else.
    init?(date: UnsafeBufferPointer<UInt8>, time: UnsafeBufferPointer<UInt8>, _ style: TimeStyle) {
        var dateScanner = unsafe TimeScanner(date, style)
        var timeScanner = unsafe TimeScanner(time, style)
        guard let day = dateScanner.date(), dateScanner.isAtEnd, let time = timeScanner.timeOfDay(on: day) else {
            return nil
        }
        self.init(time, zone: style.zone)
    }

    /// Reads a date and time of a column of dates, beside which the column of times has the same time of the day. Nil for
    /// everything else.
    init?(repeating time: UnsafeBufferPointer<UInt8>, in date: UnsafeBufferPointer<UInt8>, _ style: TimeStyle) {
        var scanner = unsafe TimeScanner(date, style)
        guard let day = scanner.date(), !scanner.isAtEnd, let whole = unsafe Timestamp(date, as: style) else {
            return nil
        }
        scanner = unsafe TimeScanner(time, style)
        guard let repeated = scanner.timeOfDay(on: day), Timestamp(repeated, zone: style.zone) == whole else {
            return nil
        }
        self = whole
    }

    /// Reads a date alone, as the moment it begins at in UTC. Nil for everything else.
    init?(date: UnsafeBufferPointer<UInt8>, _ style: TimeStyle) {
        var scanner = unsafe TimeScanner(date, style)
        guard let day = scanner.date(), scanner.isAtEnd else { return nil }
        self.init(TimeScanner.Moment(seconds: day * 86_400, nanoseconds: 0, hasZone: true), zone: nil)
    }

    /// Whether a text is, or starts with, a date that begins with its day or its month: `1/12/2019`.
    static func beginsWithDayOrMonth(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var scanner = unsafe TimeScanner(text, TimeStyle(dateOrder: .dayFirst))
        if scanner.yearLastDate() != nil { return true }
        unsafe scanner = TimeScanner(text, TimeStyle(dateOrder: .monthFirst))
        return scanner.yearLastDate() != nil
    }

    /// Whether a text is a date in any order and of any year, a time of the day, or both; none of them judged but for its
    /// form.
    static func isTime(_ text: UnsafeBufferPointer<UInt8>, allowsTimeOfDay: Bool) -> Bool {
        if allowsTimeOfDay {
            var scanner = unsafe TimeScanner(text, TimeStyle())
            if scanner.hasColon, scanner.timeOfDay(on: 0) != nil { return true }
        }
        for order in [DateOrder.dayFirst, .monthFirst] {
            var scanner = unsafe TimeScanner(text, TimeStyle(dateOrder: order))
            if scanner.isDateOfAnyForm() { return true }
        }
        return false
    }

    /// Whether a date and time, or a time of the day, has no offset from UTC of its own. False for numbers and other texts.
    static func isLocal(_ text: UnsafeBufferPointer<UInt8>, _ style: TimeStyle) -> Bool {
        var scanner = unsafe TimeScanner(text, style)
        if let moment = scanner.dateAndTime() { return !moment.hasZone }
        unsafe scanner = TimeScanner(text, style)
        return scanner.hasColon && scanner.timeOfDay(on: 0)?.hasZone == false
    }

    /// An offset from UTC, as `+02:00`, `+0200`, `Z`, `UTC` or `UTC+02:00`, in seconds; nil for any other text.
    static func offset(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
        var scanner = unsafe TimeScanner(text, TimeStyle())
        return scanner.offset()
    }

    /// Whether a number was rounded, as spreadsheets do (`1.77762E+12`), to fewer digits than a time in seconds has.
    static func isRounded(_ text: UnsafeBufferPointer<UInt8>, _ style: TimeStyle) -> Bool {
        guard let mark = unsafe text.firstIndex(where: { $0 | 0x20 == UInt8(ascii: "e") }),
            let number = unsafe DecimalNumber.parse(text)
        else { return false }
        let mantissa = unsafe text[..<mark]
        let point = unsafe mantissa.firstIndex { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ",") }
        var decimals = 0
        if let point { decimals = unsafe mantissa[(point + 1)...].count { $0 &- 48 < 10 } }
        guard let exponent = unsafe wholeNumber(UnsafeBufferPointer(rebasing: text[(mark + 1)...])),
            exponent.magnitude < 400
        else { return true }
        let power = Int(exponent) - decimals
        var step = 1.0
        for _ in 0..<abs(power) { step *= 10 }
        if power < 0 { step = 1 / step }
        return step * style.secondsPerUnit(of: number) > 1
    }

    /// Whether digits alone are a date from 1900 to 2099 (`20260301`) or a time of the day (`081530`).
    static func isCompact(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var scanner = unsafe TimeScanner(text, TimeStyle())
        switch scanner.lengthOfDigits {
        case 8?: return scanner.date().map { (-25_567...47_481).contains($0) } ?? false
        case 6?: return scanner.timeOfDay(on: 0) != nil
        default: return false
        }
    }

    /// Nil outside the years that nanoseconds in 64 bits reach.
    private init?(_ time: TimeScanner.Moment, zone: TimeZoneRules?) {
        guard Self.secondsRange.contains(time.seconds) else { return nil }
        var seconds = time.seconds
        if !time.hasZone, let zone { seconds = zone.utc(ofLocal: seconds) }
        guard Self.secondsRange.contains(seconds) else { return nil }
        self.init(nanosecondsSince1970: seconds * 1_000_000_000 + time.nanoseconds)
    }

    /// Appends the moment as `2026-03-01T07:15:30Z`, whole seconds rounded down.
    func append(to out: inout ByteBuffer) {
        let seconds = Self.floor(nanosecondsSince1970, by: 1_000_000_000)
        let day = Self.floor(seconds, by: 86400)
        let second = UInt(seconds - day * 86400)
        let date = CivilDate(daysSince1970: day)
        out.reserve(20)
        out.append(twoDigits: UInt(date.year) / 100)
        out.append(twoDigits: UInt(date.year) % 100)
        out.append(UInt8(ascii: "-"))
        out.append(twoDigits: UInt(date.month))
        out.append(UInt8(ascii: "-"))
        out.append(twoDigits: UInt(date.day))
        out.append(UInt8(ascii: "T"))
        out.append(twoDigits: second / 3600)
        out.append(UInt8(ascii: ":"))
        out.append(twoDigits: second / 60 % 60)
        out.append(UInt8(ascii: ":"))
        out.append(twoDigits: second % 60)
        out.append(UInt8(ascii: "Z"))
    }

    /// Days from 1970-01-01 to a date of the proleptic Gregorian calendar.
    @inline(__always)
    static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        CivilDate(year: year, month: month, day: day).daysSince1970
    }

    /// Days of a month.
    @inline(__always)
    static func length(ofMonth month: Int64, year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// The quotient rounded down.
    private static func floor(_ value: Int64, by divisor: Int64) -> Int64 {
        let quotient = value / divisor
        return value % divisor < 0 ? quotient - 1 : quotient
    }
}

/// The seconds since 1970 of a time of the form `2026-03-01T08:15:30Z`, of the years 1678 to 2261; nil for any other text.
@inline(__always)
private func canonicalSeconds(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
    guard text.count == 20, let start = text.baseAddress else { return nil }
    // SAFETY: each word of eight bytes lies within the twenty.
    func digits(at offset: Int, marks: UInt64, form: UInt64) -> UInt64? {
        let word = unsafe UInt64(
            littleEndian: UnsafeRawPointer(start + offset).loadUnaligned(as: UInt64.self))
        // What is left of a digit is its value, of a mark in its place nothing.
        let values = word ^ form
        let over = (values &+ 0x7676_7676_7676_7676 | values) & 0x8080_8080_8080_8080
        return over | values & marks == 0 ? values : nil
    }
    // "2026-03-", "01T08:15", "8:15:30Z", the last overlapping the second.
    guard let date = digits(at: 0, marks: 0xff00_00ff_0000_0000, form: 0x2d30_302d_3030_3030),
        let middle = digits(at: 8, marks: 0x0000_ff00_00ff_0000, form: 0x3030_3a30_3054_3030),
        let end = digits(at: 12, marks: 0xff00_00ff_0000_ff00, form: 0x5a30_303a_3030_3a30)
    else { return nil }
    func pair(_ word: UInt64, _ byte: UInt64) -> Int64 {
        let two = word &>> (byte &* 8)
        return Int64((two & 15) &* 10 &+ (two &>> 8 & 15))
    }
    let (year, month, day) = (pair(date, 0) * 100 + pair(date, 2), pair(date, 5), pair(middle, 0))
    let (hour, minute, second) = (pair(middle, 3), pair(middle, 6), pair(end, 5))
    guard (1678...2261).contains(year), (1...12).contains(month),
        (1...Timestamp.length(ofMonth: month, year: year)).contains(day), hour < 24, minute < 60,
        second < 60
    else { return nil }
    return Timestamp.days(year: year, month: month, day: day) * 86_400 + hour * 3600 + minute * 60 + second
}

/// Reads a date and time from left to right.
@safe private struct TimeScanner {
    /// A moment since 1970, in UTC where it has a zone, else by its own clock.
    struct Moment {
        var seconds, nanoseconds: Int64
        var hasZone: Bool
    }

    // SAFETY: lives no longer than the call of `Timestamp.init` that made it.
    private let text: UnsafeBufferPointer<UInt8>
    private let count: Int
    /// Whether the forms that only tables have are read.
    private let isTable: Bool
    private let dateOrder: DateOrder?
    private var at = 0

    /// - Parameters:
    ///   - text: blanks and control characters around it are ignored.
    ///   - style: that of a table; nil elsewhere.
    init(_ text: UnsafeBufferPointer<UInt8>, _ style: TimeStyle?) {
        var low = 0, high = text.count
        // SAFETY: indices stay within `text`.
        while low < high, unsafe text[low] <= 0x20 { low += 1 }
        while low < high, unsafe text[high - 1] <= 0x20 { high -= 1 }
        unsafe self.text = UnsafeBufferPointer(rebasing: text[low..<high])
        count = high - low
        isTable = style != nil
        dateOrder = style?.dateOrder
    }

    var isAtEnd: Bool { at == count }

    /// How many digits the text is; nil of one that has anything else.
    var lengthOfDigits: Int? { digitCount == count ? count : nil }

    /// Whether there is a colon.
    var hasColon: Bool { unsafe text.contains(UInt8(ascii: ":")) }

    /// The current byte; 0 at the end.
    private var byte: UInt8 {
        // SAFETY: tested against the count.
        at < count ? unsafe text[at] : 0
    }

    /// How many digits follow, up to 20.
    private var digitCount: Int {
        var end = at
        // SAFETY: tested against the count.
        while end < count, end < at + 20, unsafe text[end] &- 48 < 10 { end += 1 }
        return end - at
    }

    private mutating func take(_ expected: UInt8) -> Bool {
        guard byte == expected, at < count else { return false }
        at += 1
        return true
    }

    /// Takes a word, whatever the case of its letters; nothing where another is there.
    private mutating func take(_ word: StaticString) -> Bool {
        let length = word.utf8CodeUnitCount
        guard at + length <= count else { return false }
        for offset in 0..<length {
            // SAFETY: tested against both counts.
            guard unsafe text[at + offset] | 0x20 == word.utf8Start[offset] else { return false }
        }
        at += length
        return true
    }

    private mutating func skipBlanks() {
        while at < count, DecimalNumber.isBlank(byte) { at += 1 }
    }

    /// A number of exactly `count` digits within `range`.
    private mutating func number(digits count: Int, in range: ClosedRange<Int64>) -> Int64? {
        var value: Int64 = 0
        for _ in 0..<count {
            let digit = byte &- 48
            guard digit < 10 else { return nil }
            value = value * 10 + Int64(digit)
            at += 1
        }
        return range.contains(value) ? value : nil
    }

    /// The same of two digits, or of one where `isShort`.
    private mutating func pair(in range: ClosedRange<Int64>, isShort: Bool) -> Int64? {
        number(digits: isShort && digitCount == 1 ? 1 : 2, in: range)
    }

    /// The whole text as a moment.
    mutating func dateAndTime() -> Moment? {
        guard let day = date(), byte | 0x20 == UInt8(ascii: "t") || byte == 0x20 else { return nil }
        at += 1
        if isTable { skipBlanks() }
        return timeOfDay(on: day)
    }

    /// A date, as days since 1970.
    mutating func date() -> Int64? {
        let digits = isTable ? digitCount : 4
        if digits == 1 || digits == 2 { return dateOrder == nil ? nil : yearLastDate() }
        guard let year = number(digits: 4, in: 1...9999) else { return nil }
        if digits == 8 {
            guard let month = number(digits: 2, in: 1...12), let day = number(digits: 2, in: 1...31) else { return nil }
            return Self.days(year, month, day)
        }
        let hasSlashes = isTable && byte == UInt8(ascii: "/")
        let mark = hasSlashes ? byte : UInt8(ascii: "-")
        guard take(mark), let month = pair(in: 1...12, isShort: hasSlashes), take(mark),
            let day = pair(in: 1...31, isShort: hasSlashes)
        else { return nil }
        return Self.days(year, month, day)
    }

    /// A date that begins with its day or its month, as days since 1970.
    mutating func yearLastDate() -> Int64? {
        guard let first = pair(in: 1...31, isShort: true) else { return nil }
        let mark = byte
        guard mark == UInt8(ascii: "/") || mark == UInt8(ascii: ".") || mark == UInt8(ascii: "-"), take(mark),
            let second = pair(in: 1...31, isShort: true), take(mark), digitCount == 4,
            let year = number(digits: 4, in: 1...9999)
        else { return nil }
        let (day, month) = dateOrder == .dayFirst ? (first, second) : (second, first)
        return month <= 12 ? Self.days(year, month, day) : nil
    }

    /// Whether the text is a date, with or without a time of the day behind it. The year may come first or last, have two
    /// digits where it comes last, and colons may divide it from month and day.
    mutating func isDateOfAnyForm() -> Bool {
        if digitCount == 4 {
            at += 4
            let mark = byte
            guard "-/:.".utf8.contains(mark), take(mark), pair(in: 1...12, isShort: true) != nil, take(mark),
                pair(in: 1...31, isShort: true) != nil
            else { return false }
        } else if digitCount == 8 {
            guard date() != nil else { return false }
        } else {
            guard let first = pair(in: 1...31, isShort: true) else { return false }
            let mark = byte
            guard "/.-".utf8.contains(mark), take(mark), let second = pair(in: 1...31, isShort: true), take(mark),
                dateOrder == .dayFirst ? second <= 12 : first <= 12, digitCount == 2 || digitCount == 4
            else { return false }
            at += digitCount
        }
        if isAtEnd { return true }
        guard byte | 0x20 == UInt8(ascii: "t") || byte == 0x20 || byte == UInt8(ascii: ",") else { return false }
        at += 1
        skipBlanks()
        return timeOfDay(on: 0) != nil
    }

    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64? {
        day <= Timestamp.length(ofMonth: month, year: year) ? Timestamp.days(year: year, month: month, day: day) : nil
    }

    /// The rest of the text as a time on a day.
    mutating func timeOfDay(on day: Int64) -> Moment? {
        let digits = isTable ? digitCount : 2
        let hasMarks = digits <= 2
        guard hasMarks || digits == 4 || digits == 6, var hour = pair(in: 0...23, isShort: isTable),
            !hasMarks || take(UInt8(ascii: ":")), let minute = number(digits: 2, in: 0...59)
        else { return nil }
        var second: Int64 = 0
        if hasMarks ? take(UInt8(ascii: ":")) : digits == 6 {
            // A leap second counts as the first of the next minute.
            guard let value = number(digits: 2, in: 0...60) else { return nil }
            second = value
        }
        guard let fraction = nanoseconds() else { return nil }
        if isTable {
            guard takeHalfDay(&hour) else { return nil }
        }
        guard let zone = zone(), at == count else { return nil }
        let minutes = day * 1440 + hour * 60 + minute
        switch zone {
        case .none: return Moment(seconds: minutes * 60 + second, nanoseconds: fraction, hasZone: false)
        case .minutes(let offset):
            return Moment(seconds: (minutes - offset) * 60 + second, nanoseconds: fraction, hasZone: true)
        }
    }

    /// Takes `AM` or `PM`, if one follows; false where the hour is none of a half day.
    private mutating func takeHalfDay(_ hour: inout Int64) -> Bool {
        let start = at
        skipBlanks()
        let isMorning = take("am")
        guard isMorning || take("pm") else {
            at = start
            return true
        }
        guard (1...12).contains(hour) else { return false }
        hour = hour % 12 + (isMorning ? 0 : 12)
        return true
    }

    /// `.5` or `,5` as 500,000,000; 0 where there is none; nil where no digit follows the mark.
    private mutating func nanoseconds() -> Int64? {
        guard take(UInt8(ascii: ".")) || take(UInt8(ascii: ",")) else { return 0 }
        var value: Int64 = 0
        var unit: Int64 = 100_000_000
        guard byte &- 48 < 10 else { return nil }
        while byte &- 48 < 10 {
            value += Int64(byte &- 48) * unit
            unit /= 10
            at += 1
        }
        return value
    }

    /// The whole text as an offset, in seconds.
    mutating func offset() -> Int64? {
        if take("utc") || take("gmt") {
            skipBlanks()
            if isAtEnd { return 0 }
        }
        guard case .minutes(let minutes)? = zone(), isAtEnd else { return nil }
        return minutes * 60
    }

    /// What follows the time of day.
    private enum Zone {
        case none, minutes(Int64)
    }

    /// The zone's offset from UTC; nil for what is no zone.
    private mutating func zone() -> Zone? {
        if isTable {
            skipBlanks()
            if take("utc") || take("gmt") { return .minutes(0) }
        }
        if at == count { return Zone.none }
        if byte | 0x20 == UInt8(ascii: "z") {
            at += 1
            return .minutes(0)
        }
        let negative = byte == UInt8(ascii: "-")
        guard negative || byte == UInt8(ascii: "+") else { return nil }
        at += 1
        guard let hours = number(digits: 2, in: 0...23) else { return nil }
        var minutes: Int64 = 0
        if at < count {
            _ = take(UInt8(ascii: ":"))
            guard let value = number(digits: 2, in: 0...59) else { return nil }
            minutes = value
        }
        return .minutes((negative ? -1 : 1) * (hours * 60 + minutes))
    }
}
