public import Foundation
public import Hereabouts

extension Timestamp {
    /// The moment nearest to a date; nil if that is not a number or outside 1677 … 2262.
    ///
    /// A `Date` near today resolves about 0.1 µs (2001 is its zero).
    public init?(_ date: Date) {
        let seconds = date.timeIntervalSince1970
        // Seconds and their fraction apart, so that whole seconds are exact.
        let whole = seconds.rounded(.down)
        guard let wholeSeconds = Int64(exactly: whole), let start = Timestamp(secondsSince1970: wholeSeconds) else {
            return nil
        }
        let nanoseconds = Int64(((seconds - whole) * 1e9).rounded())
        let (sum, overflow) = start.nanosecondsSince1970.addingReportingOverflow(nanoseconds)
        if overflow { return nil }
        self.init(nanosecondsSince1970: sum)
    }
}

extension Date {
    /// The date nearest to a moment.
    public init(_ timestamp: Timestamp) {
        let (seconds, nanoseconds) = timestamp.nanosecondsSince1970.quotientAndRemainder(dividingBy: 1_000_000_000)
        self.init(timeIntervalSince1970: Double(seconds) + Double(nanoseconds) / 1e9)
    }
}

extension Fix {
    /// Makes a fix of its parts; nil if the date is outside the range of `Timestamp`.
    public init?(coordinate: Coordinate, date: Date, horizontalAccuracy: Double? = nil) {
        guard let time = Timestamp(date) else { return nil }
        self.init(coordinate: coordinate, time: time, horizontalAccuracy: horizontalAccuracy)
    }
}

extension Atlas {
    /// Maps an atlas file; see `init(contentsOf:validation:)` for a path.
    ///
    /// - Throws: `AtlasFileError`; `.unreadable` also for a URL that is not a file's.
    public init(contentsOf url: URL, validation: Validation = .whole) throws(AtlasFileError) {
        guard url.isFileURL else {
            throw AtlasFileError(path: url.absoluteString, reason: .unreadable(errorNumber: EINVAL))
        }
        try self.init(contentsOf: url.path(percentEncoded: false), validation: validation)
    }
}

// What Foundation and its users show of errors.

extension AtlasError: LocalizedError {
    /// The sentence.
    public var errorDescription: String? { description }
}

extension AtlasFileError: LocalizedError {
    /// The sentence.
    public var errorDescription: String? { description }
}

extension CoordinateError: LocalizedError {
    /// The sentence.
    public var errorDescription: String? { description }
}

extension LookupError: LocalizedError {
    /// The sentence.
    public var errorDescription: String? { description }
}

extension FleetError: LocalizedError {
    /// The sentence.
    public var errorDescription: String? { description }
}

extension FleetSnapshotError: LocalizedError {
    /// The sentence.
    public var errorDescription: String? { description }
}
