import Dialects
import Hereabouts
import HereaboutsLive
import NIOCore

/// What an attempt to post came to.
package enum PushOutcome: Hashable, Sendable {
    /// The receiver took it: 2xx.
    case delivered
    /// The receiver will never take it: 3xx, or 4xx but for 408 and 429.
    case refused
    /// The receiver cannot take it now: 408, 429, 5xx.
    case failed
    /// No connection, no TLS or no answer of HTTP.
    case unreachable
    /// No answer in time.
    case stalled

    /// What a status of an answer means.
    init(status: UInt) {
        switch status {
        case 200..<300: self = .delivered
        case 408, 429, 500...: self = .failed
        default: self = .refused
        }
    }
}

/// How many attempts and locations of a target came to what, for `status`.
package struct PushCounts: Hashable, Sendable {
    /// Attempts, by outcome.
    package internal(set) var outcomes: [PushOutcome: Int] = [:]
    /// Locations that a newer answer took the place of.
    package internal(set) var displaced = 0
    /// Locations that became too old while they waited.
    package internal(set) var outdated = 0
}

/// What of a target waits to be posted: one location, the newest. No clock, no I/O.
struct PushQueue {
    /// What comes next.
    enum Step: Hashable {
        case rest
        case post
        case retry(after: TimeAmount)
    }

    private enum State { case resting, posting, pausing }

    /// What tells two locations of a device apart, and says nothing of where they are.
    private struct Key: Hashable {
        let isReduced: Bool
        let time: Timestamp

        init(_ location: OutgoingLocation) {
            time = location.time
            isReduced = if case .reduced = location { true } else { false }
        }
    }

    private(set) var counts = PushCounts()
    private let stale: Duration
    private var state = State.resting
    private var waiting: OutgoingLocation?
    /// What is being posted, if it is still to be posted again should that fail.
    private var posted: OutgoingLocation?
    private var postedKey: Key?
    /// The location that the receiver has, or refuses.
    private var settled: Key?
    private var backoff = Backoff()

    /// - Parameter stale: a location that is older is not posted any more.
    init(stale: Duration) { self.stale = stale }

    /// Takes the newest answer; nil for none, which takes back what was not posted yet.
    ///
    /// - Returns: whether to begin an attempt.
    mutating func offer(_ location: OutgoingLocation?) -> Bool {
        let key = location.map(Key.init)
        if let key, key == (waiting ?? posted).map(Key.init) { return false }
        if (waiting ?? posted) != nil { counts.displaced += 1 }
        posted = nil
        waiting = key == settled ? nil : location
        guard waiting != nil, state == .resting else { return false }
        state = .posting
        return true
    }

    /// Whether there is something to post once a pause is over.
    mutating func resume(now: Timestamp) -> Bool {
        dropOutdated(now)
        state = waiting == nil ? .resting : .posting
        return state == .posting
    }

    /// What to post, now that there is a connection; nil if there is nothing any more.
    mutating func take(now: Timestamp) -> OutgoingLocation? {
        dropOutdated(now)
        guard let location = waiting else { return nil }
        (posted, waiting) = (location, nil)
        (postedKey, settled) = (Key(location), nil)
        return location
    }

    /// An attempt has ended; nil for one without anything to post.
    mutating func finish(_ outcome: PushOutcome?, random: inout any RandomNumberGenerator) -> Step {
        if let outcome { counts.outcomes[outcome, default: 0] += 1 }
        switch outcome {
        case .delivered, .refused:
            settled = postedKey
            backoff.reset()
        case .failed, .unreachable, .stalled:
            if waiting == nil { waiting = posted }
            if waiting != nil { state = .pausing }
        case nil: break
        }
        (posted, postedKey) = (nil, nil)
        if state == .pausing { return .retry(after: backoff.next(&random)) }
        // What was offered meanwhile may be what the receiver has by now.
        if let key = waiting.map(Key.init), key == settled { waiting = nil }
        state = waiting == nil ? .resting : .posting
        return waiting == nil ? .rest : .post
    }

    private mutating func dropOutdated(_ now: Timestamp) {
        guard let location = waiting else { return }
        let age = now.nanosecondsSince1970 - location.time.nanosecondsSince1970
        if .nanoseconds(age) > stale {
            waiting = nil
            counts.outdated += 1
        }
    }
}
