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

        /// Whether it follows from the message and the clock alone. The phone is told nothing else: what is known of the
        /// device, or a pause, would show in it.
        package var isOfMessageAlone: Bool {
            switch self {
            case .unusable, .overLimit, .ahead: true
            case .used, .noted, .late, .paused, .otherPhone, .failed: false
            }
        }

        /// A few words for people.
        package var words: String {
            switch self {
            case .used: "used"
            case .noted: "a beacon, noted"
            case .unusable(let reason): reason.words
            case .overLimit: "too large"
            case .late: "older than what is known or was answered, or than an interval"
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

    /// What few devices have, apart: there may be a million.
    private struct Details {
        var counts: [Outcome: Int] = [:]
        var loggedDay: Int64?
        var logged: Set<Outcome> = []
        var phones: (used: String, other: String)?
    }

    /// A phone that was heard of.
    private struct Phone {
        /// A hash of its topic; 0 for none.
        var topic: Int
        var tracker: String?
        var lastHeard: Timestamp
    }

    /// The last one.
    package private(set) var last: Message?
    private var lastUsedTime = Timestamp(nanosecondsSince1970: .min)
    private var usedCount = 0
    private var details: [Details] = []
    private var phone: Phone?

    /// When one was used last.
    package var lastUsed: Timestamp? { usedCount == 0 ? nil : lastUsedTime }

    /// How many positions came to what.
    package var counts: [Outcome: Int] {
        var counts = details.first?.counts ?? [:]
        if usedCount > 0 { counts[.used] = usedCount }
        return counts
    }

    /// The two letters of the phone that counts, and of one that does not, where there are two on one token.
    package var phones: (used: String, other: String)? { details.first?.phones }

    /// Notes a message.
    ///
    /// - Parameter outcomes: of its positions.
    /// - Returns: what was not noted before on this day, in UTC, and is worth a line in a log.
    mutating func note(_ outcomes: [Outcome], at time: Timestamp, from program: SenderProgram) -> [Outcome] {
        guard let newest = outcomes.contains(.used) ? .used : outcomes.last else { return [] }
        last = Message(time: time, program: program, outcome: newest)
        if newest == .used { lastUsedTime = time }
        var unlogged: [Outcome] = []
        for outcome in outcomes {
            guard outcome != .used else {
                usedCount += 1
                continue
            }
            if details.isEmpty { details = [Details()] }
            details[0].counts[outcome, default: 0] += 1
            guard outcome != .noted else { continue }
            if details[0].loggedDay != time.day { (details[0].loggedDay, details[0].logged) = (time.day, []) }
            if details[0].logged.insert(outcome).inserted { unlogged.append(outcome) }
        }
        return unlogged
    }

    /// Of two phones on one token the one counts that was there first, until it has been silent for two intervals: mixed they
    /// would be one that jumps to and fro.
    ///
    /// - Parameter silence: two intervals, in nanoseconds.
    /// - Returns: whether a message of a phone counts.
    mutating func admits(_ other: OwnTracksPhone, at now: Timestamp, silence: Int64) -> Bool {
        guard let phone, isOther(other), now < phone.lastHeard.advanced(by: silence) else { return true }
        if details.isEmpty { details = [Details()] }
        details[0].phones = (phone.tracker ?? "", other.tracker ?? "")
        return false
    }

    /// Notes that a message of a phone counted, or came from the one that does. Another one takes its place by a fix that is
    /// used, not by what waited in its queue.
    mutating func hear(_ other: OwnTracksPhone, at now: Timestamp, isUsed: Bool) {
        if isOther(other) {
            guard isUsed else { return }
            phone = nil
        }
        let topic = other.topic?.hashValue ?? phone?.topic ?? 0
        phone = Phone(topic: topic, tracker: other.tracker ?? phone?.tracker, lastHeard: now)
    }

    private func isOther(_ other: OwnTracksPhone) -> Bool {
        guard let phone else { return false }
        let topic = other.topic?.hashValue ?? 0
        return topic != 0 && phone.topic != 0 && topic != phone.topic
            || other.tracker != nil && phone.tracker != nil && other.tracker != phone.tracker
    }
}
