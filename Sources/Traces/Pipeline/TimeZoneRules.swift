import Files
import Hereabouts

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The clock of a time zone: its offsets from UTC and when they change, from the system's copy of the IANA time zone
/// database (TZif files, RFC 9636).
///
/// A local time that a change of the clock repeats is the first of the two; one that it leaves out counts with the offset
/// before the change (RFC 5545, section 3.3.5).
package final class TimeZoneRules: Sendable, CustomStringConvertible {
    /// Its name, which tells runs apart.
    package let description: String
    /// When the offset changes, in seconds since 1970, ascending.
    private let changes: [Int64]
    /// Seconds ahead of UTC before the first change and after each.
    private let offsets: [Int64]

    /// The largest file that is read: the largest of the database has 4 KB.
    private static let maximumBytes = 1 << 17
    /// The last year that a rule for further years is applied to.
    private static let lastYear: Int64 = 2261

    /// Finds a zone by its name: `Europe/Vienna`. The environment variable `TZDIR` names the database if it is not in
    /// `/usr/share/zoneinfo`.
    ///
    /// - Throws: `TraceError.unknownTimeZone`, `badTimeZone`.
    package convenience init(named name: String) throws(TraceError) {
        let isName = name.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte & ~0x20) || "+-_/".utf8.contains(byte)
        }
        let folder = unsafe getenv("TZDIR").map { unsafe String(cString: $0) } ?? "/usr/share/zoneinfo"
        guard isName, !name.isEmpty, !name.hasPrefix("/"), name.utf8.count <= 100,
            let bytes = try? readRegularFile("\(folder)/\(name)", limit: Self.maximumBytes)
        else { throw .unknownTimeZone(name: name) }
        do throws(DecodingFailure) {
            try self.init(bytes, name: name)
        } catch {
            throw .badTimeZone(name: name)
        }
    }

    /// A file is damaged, or counts leap seconds.
    struct DecodingFailure: Error {}

    /// Decodes a TZif file.
    init(_ bytes: [UInt8], name: String = "") throws(DecodingFailure) {
        description = name
        var reader = TZifReader(bytes)
        var (changes, offsets, version) = try reader.block(timeBytes: 4)
        if version != 0 {
            (changes, offsets, version) = try reader.block(timeBytes: 8)
            if let rule = try reader.rule() {
                let start = changes.last ?? .min
                let first = changes.last.map { min(max(TimeZoneRule.year(ofSeconds: $0), 1678), Self.lastYear) } ?? 1970
                for (change, offset) in (first...Self.lastYear).flatMap({ rule.changes(inYear: $0) })
                where change > start {
                    changes.append(change)
                    offsets.append(offset)
                }
                if rule.daylight == nil && changes.isEmpty { offsets = [rule.standardOffset] }
            }
        }
        guard zip(changes, changes.dropFirst()).allSatisfy({ $0 < $1 }) else { throw DecodingFailure() }
        self.changes = changes
        self.offsets = offsets
    }

    /// The moment, in seconds since 1970, at which a clock of the zone shows so many seconds since its 1970-01-01 00:00.
    func utc(ofLocal local: Int64) -> Int64 {
        // The first period of one offset that had not ended, by its own clock.
        var low = 0, high = changes.count
        while low < high {
            let middle = (low + high) / 2
            if local < changes[middle] + offsets[middle] { high = middle } else { low = middle + 1 }
        }
        let moment = local - offsets[low]
        // The clock had not shown it when the period began: it was left out.
        return low > 0 && moment < changes[low - 1] ? local - offsets[low - 1] : moment
    }
}

/// Reads a TZif file from front to back.
private struct TZifReader {
    typealias Failure = TimeZoneRules.DecodingFailure

    private let bytes: [UInt8]
    private var at = 0

    /// Seconds of the largest offset and moment that are accepted: 26 hours, as the database's own reader has it, and 2⁵⁹.
    private static let largestOffset: Int64 = 26 * 3600
    private static let largestMoment: Int64 = 1 << 59

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    private mutating func integer(_ count: Int) throws(Failure) -> Int64 {
        guard bytes.count - at >= count else { throw Failure() }
        var value: Int64 = bytes[at] & 0x80 == 0 ? 0 : -1
        for _ in 0..<count {
            value = value << 8 | Int64(bytes[at])
            at += 1
        }
        return value
    }

    private mutating func count() throws(Failure) -> Int {
        let value = try integer(4)
        guard value >= 0, value <= bytes.count else { throw Failure() }
        return Int(value)
    }

    /// One header and its data.
    mutating func block(timeBytes: Int) throws(Failure) -> (changes: [Int64], offsets: [Int64], version: UInt8) {
        guard bytes.count - at >= 20, bytes[at..<(at + 4)].elementsEqual("TZif".utf8) else { throw Failure() }
        let version = bytes[at + 4]
        at += 20
        let (utCount, standardCount, leapCount) = (try count(), try count(), try count())
        let (timeCount, typeCount, letterCount) = (try count(), try count(), try count())
        guard leapCount == 0, typeCount > 0 else { throw Failure() }
        var changes: [Int64] = [], types: [Int] = [], offsetOfType: [Int64] = []
        for _ in 0..<timeCount { changes.append(try integer(timeBytes)) }
        for _ in 0..<timeCount { types.append(Int(try integer(1) & 0xff)) }
        for _ in 0..<typeCount {
            offsetOfType.append(try integer(4))
            _ = try integer(2)
        }
        let rest = letterCount + standardCount + utCount
        guard bytes.count - at >= rest, types.allSatisfy({ $0 < typeCount }),
            offsetOfType.allSatisfy({ abs($0) <= Self.largestOffset })
        else { throw Failure() }
        at += rest
        // Some files begin with a change at the beginning of time.
        let firstKept = changes.firstIndex { $0 > -Self.largestMoment } ?? changes.count
        guard changes.allSatisfy({ $0 < Self.largestMoment }) else { throw Failure() }
        let offsets = [firstKept > 0 ? offsetOfType[types[firstKept - 1]] : offsetOfType[0]]
        return (Array(changes[firstKept...]), offsets + types[firstKept...].map { offsetOfType[$0] }, version)
    }

    /// The rule for further years, which stands in a line at the end; nil where the line is empty.
    mutating func rule() throws(Failure) -> TimeZoneRule? {
        guard at < bytes.count, bytes[at] == 10, let end = bytes[(at + 1)...].firstIndex(of: 10) else {
            throw Failure()
        }
        let line = bytes[(at + 1)..<end]
        if line.isEmpty { return nil }
        guard let rule = TimeZoneRule(Array(line)) else { throw Failure() }
        return rule
    }
}

/// A rule of POSIX for offsets: `CET-1CEST,M3.5.0,M10.5.0/3`.
private struct TimeZoneRule {
    /// A day of the year and a time on it.
    struct Change {
        enum Day {
            /// Day `week` (5 for the last) of a weekday (0 is Sunday) in a month.
            case weekday(month: Int64, week: Int64, weekday: Int64)
            /// 1 to 365, February 29 never counted.
            case withoutLeapDay(Int64)
            /// 0 to 365.
            case ofYear(Int64)
        }
        var day: Day
        /// Seconds after midnight, -167 to 167 hours.
        var time: Int64 = 7200
    }

    /// Seconds ahead of UTC.
    private(set) var standardOffset: Int64 = 0
    private(set) var daylight: (offset: Int64, start: Change, end: Change)?

    private var text: ArraySlice<UInt8>

    init?(_ text: [UInt8]) {
        self.text = text[...]
        guard takeName(), let offset = takeTime(hours: 24) else { return nil }
        standardOffset = -offset
        if self.text.isEmpty { return }
        guard takeName() else { return nil }
        var daylightOffset = standardOffset + 3600
        if self.text.first != UInt8(ascii: ",") {
            guard let offset = takeTime(hours: 24) else { return nil }
            daylightOffset = -offset
        }
        guard let start = takeChange(), let end = takeChange(), self.text.isEmpty else { return nil }
        daylight = (daylightOffset, start, end)
    }

    /// The changes of a year in order, each with the offset after it.
    func changes(inYear year: Int64) -> [(Int64, Int64)] {
        guard let daylight else { return [] }
        let start = Self.day(daylight.start.day, of: year) * 86_400 + daylight.start.time - standardOffset
        let end = Self.day(daylight.end.day, of: year) * 86_400 + daylight.end.time - daylight.offset
        return [(start, daylight.offset), (end, standardOffset)].sorted { $0.0 < $1.0 }
    }

    /// The year of a moment, to within one.
    static func year(ofSeconds seconds: Int64) -> Int64 { 1970 + seconds / 31_556_952 - 1 }

    /// Days since 1970.
    private static func day(_ day: Change.Day, of year: Int64) -> Int64 {
        let january = Timestamp.days(year: year, month: 1, day: 1)
        switch day {
        case .ofYear(let day): return january + day
        case .withoutLeapDay(let day):
            let isLeap = Timestamp.days(year: year, month: 3, day: 1) - january == 60
            return january + day - 1 + (isLeap && day >= 60 ? 1 : 0)
        case .weekday(let month, let week, let weekday):
            let first = Timestamp.days(year: year, month: month, day: 1)
            let next =
                month == 12
                ? Timestamp.days(year: year + 1, month: 1, day: 1)
                : Timestamp.days(year: year, month: month + 1, day: 1)
            // 1970-01-01 was a Thursday.
            let firstWeekday = ((first + 4) % 7 + 7) % 7
            var day = first + (weekday - firstWeekday + 7) % 7 + (week - 1) * 7
            if day >= next { day -= 7 }
            return day
        }
    }

    // MARK: Text

    private mutating func take(_ byte: Unicode.Scalar) -> Bool {
        guard text.first == UInt8(ascii: byte) else { return false }
        text.removeFirst()
        return true
    }

    private mutating func takeName() -> Bool {
        if take("<") {
            guard let end = text.firstIndex(of: UInt8(ascii: ">")) else { return false }
            text = text[(end + 1)...]
            return true
        }
        let name = text.prefix { (0x41...0x5a).contains($0 & ~0x20) }
        text = text.dropFirst(name.count)
        return name.count >= 3
    }

    private mutating func takeNumber(_ range: ClosedRange<Int64>) -> Int64? {
        let digits = text.prefix { (0x30...0x39).contains($0) }
        guard (1...4).contains(digits.count) else { return nil }
        text = text.dropFirst(digits.count)
        let value = digits.reduce(0) { $0 * 10 + Int64($1) - 0x30 }
        return range.contains(value) ? value : nil
    }

    /// `[+-]hh[:mm[:ss]]` in seconds.
    private mutating func takeTime(hours: Int64) -> Int64? {
        let sign: Int64 = take("-") ? -1 : 1
        if sign == 1 { _ = take("+") }
        guard var seconds = takeNumber(0...hours).map({ $0 * 3600 }) else { return nil }
        for unit: Int64 in [60, 1] where take(":") {
            guard let value = takeNumber(0...59) else { return nil }
            seconds += value * unit
        }
        return sign * seconds
    }

    private mutating func takeChange() -> Change? {
        guard take(",") else { return nil }
        var change: Change
        if take("M") {
            guard let month = takeNumber(1...12), take("."), let week = takeNumber(1...5), take("."),
                let weekday = takeNumber(0...6)
            else { return nil }
            change = Change(day: .weekday(month: month, week: week, weekday: weekday))
        } else if take("J") {
            guard let day = takeNumber(1...365) else { return nil }
            change = Change(day: .withoutLeapDay(day))
        } else {
            guard let day = takeNumber(0...365) else { return nil }
            change = Change(day: .ofYear(day))
        }
        if take("/") {
            guard let time = takeTime(hours: 167) else { return nil }
            change.time = time
        }
        return change
    }
}
