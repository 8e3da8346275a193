import Dialects
import Hereabouts

/// What came of a device's messages since the relay began, for its owner. Of a message nothing is in it but when it came, from
/// which program, and what became of it.
package struct Receipts: Sendable {
    /// What became of a message, or of one position of a batch.
    package enum Outcome: Hashable, Sendable {
        /// It is the newest that is known.
        case used
        /// A beacon was noted.
        case noted
        case unusable(Unusable)
        case overLimit
        case late
        case ahead
        case paused
        /// It is of another phone than the one that counts.
        case otherPhone
        /// It could not be kept; the sender was told to try again.
        case failed

        /// A few words for people.
        package var words: String {
            switch self {
            case .used: "used"
            case .noted: "a beacon, noted"
            case .unusable(let reason): reason.words
            case .overLimit: "too large"
            case .late: "older than what is known, or than an interval"
            case .ahead: "more than five minutes ahead of the relay's clock"
            case .paused: "in a pause"
            case .otherPhone: "of a second phone on the same token"
            case .failed: "could not be kept, and will come again"
            }
        }
    }

    /// A message.
    package struct Message: Hashable, Sendable {
        package let time: Timestamp
        package let program: SenderProgram
        package let outcome: Outcome
    }

    /// The last one.
    package private(set) var last: Message?
    /// When one was used last.
    package private(set) var lastUsed: Timestamp?
    package private(set) var counts: [Outcome: Int] = [:]
    /// The two letters of the phone that counts, and of one that does not, where there are two on one token.
    package var phones: (used: String, other: String)?
    private var loggedDay: Int64?
    private var logged: Set<Outcome> = []

    /// Notes a message.
    ///
    /// - Parameter outcomes: of its positions.
    /// - Returns: what was not noted before on this day, in UTC, and is worth a line in a log.
    mutating func note(_ outcomes: [Outcome], at time: Timestamp, from program: SenderProgram) -> [Outcome] {
        for outcome in outcomes { counts[outcome, default: 0] += 1 }
        guard let newest = outcomes.contains(.used) ? .used : outcomes.last else { return [] }
        last = Message(time: time, program: program, outcome: newest)
        if newest == .used { lastUsed = time }
        let day = time.day
        if day != loggedDay { (loggedDay, logged) = (day, []) }
        return outcomes.filter { $0 != .used && $0 != .noted && logged.insert($0).inserted }
    }
}
