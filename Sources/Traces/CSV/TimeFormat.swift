import Hereabouts
import TextCoding

/// How the times of a table are written, where that is not to be inferred.
package enum TimeFormat: String, CaseIterable, Sendable {
    /// ISO 8601 text alone; numbers are no times.
    case iso
    /// Seconds since 1970-01-01, leap seconds not counted.
    case unix
    /// The same in milliseconds.
    case unixMilliseconds = "unix-ms"
    /// The same in microseconds.
    case unixMicroseconds = "unix-us"
    /// The same in nanoseconds.
    case unixNanoseconds = "unix-ns"
    /// Days since 1899-12-30, as spreadsheets with the 1900 date system count them from March 1900 on. In UTC, or in the
    /// time zone that an option names.
    case excel
    /// Seconds since 1980-01-06, leap seconds counted, as satellites transmit them.
    case gps
    /// Seconds since 2001-01-01, leap seconds not counted, as Core Foundation has them.
    case cocoa
}

/// Which comes first in a date whose year comes last.
package enum DateOrder: String, CaseIterable, Sendable {
    /// 31/12/2019.
    case dayFirst = "dmy"
    /// 12/31/2019.
    case monthFirst = "mdy"
}

/// How the times of a table are written: what is not to be inferred.
package struct TimeStyle: Sendable {
    /// Nil for ISO 8601, or seconds, milli-, micro- or nanoseconds since 1970, whichever a time is.
    package var format: TimeFormat?
    /// Nil where dates that begin with their day or month are refused.
    package var dateOrder: DateOrder?
    /// The zone of times without an offset; nil for UTC.
    package var zone: TimeZoneRules?

    package init(format: TimeFormat? = nil, dateOrder: DateOrder? = nil, zone: TimeZoneRules? = nil) {
        (self.format, self.dateOrder, self.zone) = (format, dateOrder, zone)
    }
}

extension TimeStyle {
    /// The seconds that one unit of a number is.
    func secondsPerUnit(of number: Double) -> Double {
        switch format {
        case .unixMilliseconds: 1e-3
        case .unixMicroseconds: 1e-6
        case .unixNanoseconds: 1e-9
        case .excel: 86_400
        case .unix, .gps, .cocoa: 1
        case .iso, nil:
            number.magnitude > 1e17 ? 1e-9 : number.magnitude > 1e14 ? 1e-6 : number.magnitude > 1e11 ? 1e-3 : 1
        }
    }
}

extension Timestamp {
    /// Reads a field of a table.
    @inline(__always)
    init?(_ text: UnsafeBufferPointer<UInt8>, as style: TimeStyle) {
        switch style.format {
        case nil: unsafe self.init(text, inTable: style)
        case let format?: unsafe self.init(text, named: format, style)
        }
    }

    @inline(never)
    private init?(_ text: UnsafeBufferPointer<UInt8>, named format: TimeFormat, _ style: TimeStyle) {
        if format == .iso {
            // A number would be one of Unix.
            guard unsafe DecimalNumber.parse(text) == nil else { return nil }
            unsafe self.init(text, inTable: style)
            return
        }
        guard let number = unsafe DecimalNumber.parse(text) ?? AngleText.decimalComma(text) else { return nil }
        // A `Double` does not hold all digits of a time in micro- or nanoseconds.
        if format == .unixMicroseconds || format == .unixNanoseconds, let count = unsafe wholeNumber(text) {
            let (nanoseconds, overflow) = count.multipliedReportingOverflow(by: format == .unixNanoseconds ? 1 : 1000)
            if overflow { return nil }
            self.init(nanosecondsSince1970: nanoseconds)
            return
        }
        let second = 1000.0
        switch format {
        case .iso: return nil
        case .unix: self.init(milliseconds: number * second)
        case .unixMilliseconds: self.init(milliseconds: number)
        case .unixMicroseconds: self.init(milliseconds: number / 1000)
        case .unixNanoseconds: self.init(milliseconds: number / 1_000_000)
        // A day's fraction is rounded: 1e-11 of a day, as printed, is less than a microsecond.
        case .excel:
            let milliseconds = ((number - 25_569) * 86_400 * second).rounded()
            guard let zone = style.zone, milliseconds.magnitude < 1e15 else {
                self.init(milliseconds: milliseconds)
                return
            }
            let local = Int64((milliseconds / second).rounded(.down))
            self.init(milliseconds: milliseconds + Double(zone.utc(ofLocal: local) - local) * second)
        case .gps: self.init(milliseconds: number * second, scale: .gps)
        case .cocoa: self.init(milliseconds: (number + 978_307_200) * second)
        }
    }

    private enum Scale { case utc, gps }

    /// Nil outside the years 1970 ± 31,688, and those of nanoseconds in 64 bits.
    private init?(milliseconds: Double, scale: Scale = .utc) {
        let whole = milliseconds.rounded(.down)
        guard whole.magnitude < 1e15 else { return nil }
        var count = Int64(whole)
        if scale == .gps { count = LeapSeconds.utcMilliseconds(gps: count) }
        let (nanoseconds, overflow) = count.multipliedReportingOverflow(by: 1_000_000)
        if overflow { return nil }
        self.init(nanosecondsSince1970: nanoseconds)
    }
}

/// The number that is all of a text, blanks around it aside, if it is a whole one of 64 bits.
func wholeNumber(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
    let digits = unsafe text.filter { !DecimalNumber.isBlank($0) }
    return digits.count > 20 ? nil : Int64(String(decoding: digits, as: UTF8.self))
}

/// The leap seconds of UTC since GPS time began, from IERS Bulletin C. None has been announced since 2017.
private enum LeapSeconds {
    /// 1980-01-06 in milliseconds since 1970.
    private static let epoch: Int64 = 315_964_800_000

    /// The first moments after each leap second, in milliseconds of GPS time.
    private static let ends: [Int64] = {
        let dates: [(year: Int64, month: Int64)] = [
            (1981, 7), (1982, 7), (1983, 7), (1985, 7), (1988, 1), (1990, 1), (1991, 1), (1992, 7), (1993, 7),
            (1994, 7),
            (1996, 1), (1997, 7), (1999, 1), (2006, 1), (2009, 1), (2012, 7), (2015, 7), (2017, 1),
        ]
        return dates.enumerated().map { count, date in
            Timestamp.days(year: date.year, month: date.month, day: 1) * 86_400_000 - epoch + Int64(count + 1) * 1000
        }
    }()

    /// Milliseconds since 1970 of milliseconds of GPS time. A leap second itself is the first second after it.
    static func utcMilliseconds(gps: Int64) -> Int64 {
        gps + epoch - Int64(ends.count { $0 <= gps }) * 1000
    }
}
