import Hereabouts
import HereaboutsLive

/// What the owner's verbs ask of a relay, over its socket: a line of JSON.
package enum ControlRequest: Hashable, Codable, Sendable {
    /// How long a grant holds. Times of day are those of the owner's zone, which the relay knows.
    package enum Validity: Hashable, Codable, Sendable {
        case untilRevoked
        /// Until the session ends, and no longer than this: "once".
        case session(seconds: Int64)
        case duration(seconds: Int64)
        /// Up to the coming 04:00.
        case untilMorning
        /// Up to the next time the clock shows this.
        case untilTime(hour: Int, minute: Int)
        case untilDate(year: Int, month: Int, day: Int, hour: Int, minute: Int)
    }

    /// A decision for a consumer and a device.
    package struct Grant: Hashable, Codable, Sendable {
        package var consumer: String
        package var device: String
        /// Also pushed while nobody is connected.
        package var isAlways = false
        /// Of full accuracy; nil for reduced accuracy.
        package var purpose: String?
        package var validity = Validity.untilRevoked
        package var hasExactVisitTimes = false

        package init(consumer: String, device: String) { (self.consumer, self.device) = (consumer, device) }
    }

    case grant(Grant)
    case revoke(consumer: String, device: String)
    /// Takes a decision back: the consumer may ask again.
    case reset(consumer: String, device: String)
    /// Grants a request, by its id in `ControlAnswer.requests`.
    case accept(id: String, validity: Validity)
    case decline(id: String)
    case requests
    case consumers
    case devices
    case pause(isQuiet: Bool)
    case resume
    /// - Parameter seconds: how long it holds; nil for no end.
    case addToken(KeptToken.Holder, seconds: Int64?)
    case tokens
    case removeToken(Int64)
    case backup
    case status
}

/// What a relay answers to its owner: a line of JSON.
package enum ControlAnswer: Hashable, Codable, Sendable {
    /// A request that waits for the owner.
    package struct PendingRequest: Hashable, Codable, Sendable {
        /// The same for as long as it waits; another request has another one.
        package var id: String
        package var consumer: String
        package var device: String
        /// `whenInUse`, `always` or `fullAccuracy`.
        package var kind: String
        /// The key of the purpose of full accuracy.
        package var purpose: String?
        /// What the consumer says it is for.
        package var reason: String?
        /// When it was asked, in ISO 8601.
        package var time: String
    }

    /// A grant that holds.
    package struct HeldGrant: Hashable, Codable, Sendable {
        package var purpose: String?
        package var isAlways: Bool
        /// When it was given, in ISO 8601; nil where that is not known.
        package var given: String?
        /// Its end, in ISO 8601; nil where only the owner or its session ends it.
        package var until: String?
        package var isForSession: Bool
        package var hasExactVisitTimes: Bool
    }

    /// What there is between a consumer and a device.
    package struct Standing: Hashable, Codable, Sendable {
        package var consumer: String
        package var title: String
        /// The consumer that a read-only link derives from.
        package var linkOf: String?
        /// Nil for a consumer that has nothing to do with any.
        package var device: String?
        /// As `AuthorizationStatus` names it.
        package var status: String
        /// `reduced` or `full`: the best that it may have now.
        package var accuracy: String
        package var grants: [HeldGrant] = []
        package var isInUse = false
        package var isInBackground = false
        /// When it was last given a location since the relay began, in ISO 8601.
        package var lastServed: String?
    }

    /// What came of a device's messages since the relay began.
    package struct Device: Hashable, Codable, Sendable {
        /// The last message.
        package struct Message: Hashable, Codable, Sendable {
            /// When it came, in ISO 8601.
            package var time: String
            package var program: SenderProgram
            /// `used`, or why it was not, in a few words.
            package var outcome: String
        }

        package var device: String
        package var title: String
        package var last: Message?
        /// When one was used last, in ISO 8601.
        package var lastUsed: String?
        /// How many positions came to what, by the same words.
        package var counts: [String: Int] = [:]
        /// The two letters of the phone that counts, where two have the same token.
        package var phone: String?
        /// Those of the other one, whose messages are dropped.
        package var otherPhone: String?
    }

    /// A token in a list.
    package struct TokenEntry: Hashable, Codable, Sendable {
        package var id: Int64
        /// `send`, `read` or `owner`.
        package var kind: String
        /// Of the device or consumer.
        package var name: String?
        /// The days on which it was made and used last, in ISO 8601; nil where that is not known, or never.
        package var made, used: String?
        /// When it ends, in ISO 8601; nil where the owner ends it.
        package var until: String?
    }

    case done
    /// A grant was given: what stands now, and what it ended.
    ///
    /// - Parameters:
    ///   - links: the read-only links that see it too.
    ///   - awaitsReport: nothing is known of the device until that reports again.
    ///   - isPaused: nobody gets anything now.
    case granted(Standing, ended: [HeldGrant], links: [String], awaitsReport: Bool, isPaused: Bool)
    /// Nothing was done, or not all of it: a sentence without a full stop.
    case failed(String)
    case requests([PendingRequest])
    case consumers([Standing], isPaused: Bool, isQuiet: Bool)
    /// - Parameter unauthorized: messages and requests without a token that holds.
    case devices([Device], unauthorized: Int)
    case token(id: Int64, token: Token)
    case tokens([TokenEntry])
    /// A file, in base 64.
    case backup(String)
    case status(RelayStatus)
}
