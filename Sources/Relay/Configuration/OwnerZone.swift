private import Foundation
import Hereabouts
import HereaboutsLive

/// The owner's time zone, in which "tomorrow" and "18:00" are meant.
package struct OwnerZone: Sendable {
    private let calendar: Calendar

    /// Nil where the system's database does not know the name.
    package init?(_ name: String) {
        guard let zone = TimeZone(identifier: name) else { return nil }
        self.init(zone)
    }

    private init(_ zone: TimeZone) {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        self.calendar = calendar
    }

    /// Coordinated universal time.
    package static let utc = OwnerZone(.gmt)

    /// The offset from UTC, in seconds, at the coming 04:00.
    package func secondsFromGMTInTheMorning(after now: Timestamp) -> Int {
        let morning = calendar.nextDate(
            after: date(now), matching: DateComponents(hour: 4, minute: 0), matchingPolicy: .nextTime)
        return calendar.timeZone.secondsFromGMT(for: morning ?? date(now))
    }

    /// The next moment at which clocks show a time of day. Where the hour is skipped, the moment after it.
    package func moment(hour: Int, minute: Int, after now: Timestamp) -> Timestamp? {
        guard (0..<24).contains(hour), (0..<60).contains(minute) else { return nil }
        let next = calendar.nextDate(
            after: date(now), matching: DateComponents(hour: hour, minute: minute), matchingPolicy: .nextTime)
        return next.flatMap(timestamp)
    }

    /// A local date and time; nil where the calendar does not have the day. Where the hour is skipped, the moment after it;
    /// where it comes twice, the first time.
    package func moment(year: Int, month: Int, day: Int, hour: Int, minute: Int) -> Timestamp? {
        let parts = DateComponents(year: year, month: month, day: day, hour: hour, minute: minute)
        guard (1970...2261).contains(year), (1...12).contains(month), (1...31).contains(day), (0..<24).contains(hour),
            (0..<60).contains(minute), let date = calendar.date(from: parts),
            calendar.component(.day, from: date) == day
        else { return nil }
        return timestamp(date)
    }

    /// A moment in ISO 8601 with the offset that holds then: `2026-11-23T04:00:00+01:00`.
    package func text(_ moment: Timestamp) -> String {
        let date = date(moment)
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: date)
        let offset = calendar.timeZone.secondsFromGMT(for: date) / 60
        func digits(_ number: Int?, _ count: Int = 2) -> String {
            let text = String(number ?? 0)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        return "\(digits(parts.year, 4))-\(digits(parts.month))-\(digits(parts.day))T"
            + "\(digits(parts.hour)):\(digits(parts.minute)):\(digits(parts.second))"
            + "\(offset < 0 ? "-" : "+")\(digits(abs(offset) / 60)):\(digits(abs(offset) % 60))"
    }

    /// To the second, down: a fraction could round up.
    private func date(_ moment: Timestamp) -> Date {
        let (seconds, rest) = moment.nanosecondsSince1970.quotientAndRemainder(dividingBy: 1_000_000_000)
        return Date(timeIntervalSince1970: Double(rest < 0 ? seconds - 1 : seconds))
    }

    /// To the second: all of these moments begin a minute.
    private func timestamp(_ date: Date) -> Timestamp? {
        Timestamp(secondsSince1970: Int64(date.timeIntervalSince1970.rounded()))
    }
}
