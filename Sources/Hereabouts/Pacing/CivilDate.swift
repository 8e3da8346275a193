/// A date of the proleptic Gregorian calendar.
///
/// Howard Hinnant, "chrono-compatible low-level date algorithms" (public domain): years start in March, so that the leap
/// day comes last.
package struct CivilDate: Hashable, Sendable {
    package let year: Int64
    /// 1 … 12.
    package let month: Int64
    /// 1 … 31.
    package let day: Int64

    /// Takes the three numbers as they are.
    @inlinable @inline(__always)
    package init(year: Int64, month: Int64, day: Int64) { (self.year, self.month, self.day) = (year, month, day) }

    /// The date that begins so many days after 1970-01-01 began.
    @inlinable
    package init(daysSince1970: Int64) {
        let shifted = daysSince1970 + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        self.init(
            year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month: month,
            day: dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    /// Days from 1970-01-01; negative before. A day beyond its month's last one counts on into the next month.
    @inlinable @inline(__always)
    package var daysSince1970: Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}
