import Hereabouts
import TextCoding

/// What a column says of the times of its records that have no offset of their own: how far their clock is ahead of UTC.
enum TimeOffsets: Sendable, Equatable {
    /// As `+02:00`, `+0200` or `Z`; numbers mean nothing.
    case text
    /// Also as numbers of this many seconds.
    case numbers(seconds: Double)

    private static let stems = [
        "utcoffset", "tzoffset", "timezoneoffset", "gmtoffset", "offsetutc", "offsetfromutc", "timeoffset",
    ]
    private static let units: [String: Double] = [
        "minutes": 60, "minute": 60, "mins": 60, "min": 60, "m": 60, "hours": 3600, "hour": 3600, "hrs": 3600,
        "h": 3600,
        "seconds": 1, "second": 1, "secs": 1, "sec": 1, "s": 1,
    ]

    /// What a column of this name says; nil for one that says nothing of times.
    init?(name: String) {
        let letters = String(CSVHeader.lowercase(name).unicodeScalars.filter(\.properties.isAlphabetic))
        if ["tz", "timezone"].contains(letters) {
            self = .text
            return
        }
        guard let stem = Self.stems.first(where: letters.hasPrefix) else { return nil }
        let rest = String(letters.dropFirst(stem.count))
        if rest.isEmpty {
            self = .text
        } else if let unit = Self.units[rest] {
            self = .numbers(seconds: unit)
        } else {
            return nil
        }
    }

    /// A time whose offset stands in a field of its own, or what is wrong with that.
    ///
    /// - Parameters:
    ///   - text: what the time was read from.
    ///   - offset: the field, without quotes.
    func shifted(
        _ time: Timestamp, _ text: UnsafeBufferPointer<UInt8>, by offset: UnsafeBufferPointer<UInt8>, _ style: TimeStyle
    ) -> (Timestamp?, RecordProblem.Reason?) {
        guard unsafe Timestamp.isLocal(text, style) else { return (time, nil) }
        guard let seconds = unsafe seconds(offset) else { return (nil, .offsetUnreadable) }
        return (time.advanced(bySeconds: -seconds), nil)
    }

    /// The offset that a field says, in seconds; nil for any other text.
    func seconds(_ field: UnsafeBufferPointer<UInt8>) -> Int64? {
        let text = unsafe field.trimmedOfBlanks
        if let number = unsafe DecimalNumber.parse(text) {
            // `+0200` is a number too.
            if text.count == 5, let offset = unsafe Timestamp.offset(text) { return offset }
            guard case .numbers(let unit) = self, (number * unit).magnitude <= 86_400 else { return nil }
            return Int64((number * unit).rounded())
        }
        return unsafe Timestamp.offset(text)
    }
}
