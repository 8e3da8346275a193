import Hereabouts

/// Names a subscription of a desk.
public struct SubscriptionID: Hashable, Sendable {
    let number: UInt64
}

/// Names a session of a desk.
public struct SessionID: Hashable, Sendable {
    let number: UInt64
}

/// Which sessions' purposes count for a subscription: full accuracy comes while one of them is granted.
public enum PurposeScope: Hashable, Sendable {
    /// Those of all sessions of the consumer and the device, as Core Location's hold for an app.
    case allSessions
    /// That of one session.
    case session(SessionID)
    /// None: the accuracy is reduced.
    case none
}

/// What a desk hands out.
public struct Delivery: Hashable, Sendable {
    /// To whom.
    public let subscription: SubscriptionID
    /// When it came to be: a tick, for what a tick brought.
    public let time: Timestamp
    /// What.
    public let content: Content

    /// What is delivered.
    public enum Content: Hashable, Sendable {
        /// Of a subscription to updates or a push target.
        case update(LocationUpdate)
        /// Of a subscription to visits.
        case visit(Visit)
        /// Of a monitor.
        case event(LocationMonitor.Event)
        /// Of a session's diagnostics.
        case diagnostics(Diagnostics)
        /// Of a consumer's authorization.
        case authorization(Authorization)
        /// Of the owner: all requests that wait, in order of their times.
        case requests([Authorization.Request])
    }
}

/// A subscription: what was asked for, and what waits for whoever is to take it.
struct Subscription: Sendable {
    enum Kind: Hashable, Sendable {
        case updates(LocationUpdate.LiveConfiguration, AccuracyAuthorization)
        case pushes(AccuracyAuthorization)
        case visits
        case events
        case diagnostics(session: UInt64)
        case authorization
        case requests

        /// Whether it means that the consumer is in use.
        var isImplicitSession: Bool {
            switch self {
            case .updates, .visits, .events: true
            case .pushes, .diagnostics, .authorization, .requests: false
            }
        }
    }

    /// What tells two answers apart. Those with the same one are duplicates.
    enum Key: Hashable, Sendable {
        case update(Region?, fixTime: Int64, Diagnostics)
        case diagnostics(Diagnostics)
        case authorization(Authorization)
    }

    struct WatchedCondition: Sendable {
        let identifier: String
        let condition: LocationMonitor.Condition
        var state: LocationMonitor.Event.State
        var diagnostics: Diagnostics = []
        var nearest: BeaconSighting?
        /// The event that was offered last.
        var lastEvent: LocationMonitor.Event?
    }

    /// A visit whose arrival was told.
    struct Stay: Sendable {
        /// Nil where it was before the view began.
        let arrival: Timestamp?
        let location: Location
        let isExact: Bool
    }

    let kind: Kind
    /// Nil for the owner's.
    let relation: Int?
    var purposes = PurposeScope.none
    /// What waits: one; of a monitor one for each condition; of visits the departure of the stay that was told, and an arrival.
    var waiting: [Delivery] = []
    var waitingKey: Key?
    /// The key of what was taken last.
    var takenKey: Key?
    /// Not to be taken before.
    var due = Timestamp(nanosecondsSince1970: .min)
    var isReady = false
    var lastFixTime: Int64?
    var conditions: [WatchedCondition] = []
    var stay: Stay?

    /// The key of the newest answer, taken or not.
    var newestKey: Key? { waitingKey ?? takenKey }
}
