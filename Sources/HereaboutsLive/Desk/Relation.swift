import Hereabouts

/// What there is between a consumer and a device: the owner's grants, and the consumer's sessions and subscriptions.
struct Relation: Sendable {
    /// A grant that holds.
    struct Layer: Hashable, Sendable {
        /// Nil for reduced accuracy.
        var purpose: PurposeKey?
        var status: AuthorizationStatus
        /// When it was given; nil in states from before that was kept.
        var given: Timestamp?
        /// The first moment at which it does not hold.
        var expiry: Timestamp?
        /// Whether it ends with its session.
        var isForSession: Bool
        /// Whether its session has begun.
        var hasBegun = false
        /// When it ends, its session having ended.
        var graceEnd: Timestamp?
        var permitsAlways: Bool
        var hasExactVisitTimes: Bool

        var end: Timestamp? { [expiry, graceEnd].compactMap(\.self).min() }
    }

    /// How far a request for always has come.
    enum Always: UInt8, Sendable {
        case notAsked
        /// The consumer takes it for granted; the first answer that needs it asks the owner.
        case provisional
        /// The owner was asked.
        case offered
        /// The owner said no.
        case denied
    }

    struct Session: Sendable {
        let id: UInt64
        let requirement: SessionRequirement
        let purpose: PurposeKey?
    }

    let consumer: Int
    let device: Int
    var layers: [Layer] = []
    /// When the consumer's view of the device began: nothing from before it is shown. Nil in states from before views began.
    var begin: Timestamp?
    /// The tick of the view's first answer; nil before it.
    var firstTick: Timestamp?
    /// Whether the device is at rest by the fixes of the view; nil where none is needed, or came.
    var rest: Rest?
    var isDenied = false
    var deniedPurposes: Set<PurposeKey> = []
    /// Purposes whose grant lapsed in the session that asked for it.
    var lapsedPurposes: Set<PurposeKey> = []
    var always = Always.notAsked
    var sessions: [Session] = []
    /// All subscriptions, in the order in which they were opened.
    var subscriptions: [UInt64] = []
    /// Those that mean the consumer is in use: implicit sessions.
    var implicitSessionCount = 0
    var requests: [Authorization.Request] = []
    /// Whether a background session is held.
    var isInBackground = false
    /// The tick of the answer that waits for the owner's decision, and its region.
    var held: Timestamp?
    var heldRegion: Region?
    var wasInUse = false
    /// When a session that has ended will be over.
    var graceEnd: Timestamp?
    /// The first deadline in the queue.
    var scheduled: Timestamp?

    init(consumer: Int, device: Int) { (self.consumer, self.device) = (consumer, device) }

    /// The strongest status granted.
    var status: AuthorizationStatus {
        layers.map(\.status).max() ?? (isDenied ? .denied : .notDetermined)
    }

    var hasFullAccuracy: Bool { layers.contains { $0.purpose != nil } }
    var hasExactVisitTimes: Bool { layers.contains(where: \.hasExactVisitTimes) }
    /// Whether the device's fixes are needed.
    var needsFixes: Bool { hasFullAccuracy || hasExactVisitTimes }
    var isProvisional: Bool { always == .provisional || always == .offered }
    var hasSession: Bool { !sessions.isEmpty || implicitSessionCount > 0 }
    var isInUse: Bool { hasSession || graceEnd != nil }

    /// Whether nothing is known of it that a new one would not have.
    var isBlank: Bool {
        layers.isEmpty && !isDenied && deniedPurposes.isEmpty && always == .notAsked && subscriptions.isEmpty
            && requests.isEmpty && !isInUse && !isInBackground
    }

    /// The sessions whose purposes count.
    func sessions(_ scope: PurposeScope) -> [Session] {
        switch scope {
        case .allSessions: sessions
        case .session(let id): sessions.filter { $0.id == id.number }
        case .none: []
        }
    }

    /// Of the purposes that sessions ask for, whether one is granted; nil where none is asked for.
    func isPurposeGranted(_ scope: PurposeScope) -> Bool? {
        let purposes = sessions(scope).compactMap(\.purpose)
        if purposes.isEmpty { return nil }
        return layers.contains { $0.purpose.map(purposes.contains) ?? false }
    }

    /// Whether what comes from a time is of the view.
    func shows(_ time: Timestamp) -> Bool { begin.map { time > $0 } ?? true }

    func isGranted(_ purpose: PurposeKey) -> Bool { layers.contains { $0.purpose == purpose } }

    func isRequested(_ kind: Authorization.Request.Kind) -> Bool { requests.contains { $0.kind == kind } }

    /// Begins and ends the sessions' graces, after a session or subscription was opened or closed.
    mutating func updateUse(at now: Timestamp, grace: Int64) {
        if hasSession {
            (wasInUse, graceEnd) = (true, nil)
        } else if wasInUse {
            (wasInUse, graceEnd) = (false, now.advanced(by: grace))
        }
        for place in layers.indices where layers[place].isForSession {
            let purpose = layers[place].purpose
            let isUsed = purpose == nil ? hasSession : sessions.contains { $0.purpose == purpose }
            if isUsed {
                (layers[place].hasBegun, layers[place].graceEnd) = (true, nil)
            } else if layers[place].hasBegun, layers[place].graceEnd == nil {
                layers[place].graceEnd = now.advanced(by: grace)
            }
        }
    }

    /// The next moment at which something ends by itself.
    func nextDeadline(heldLifetime: Int64) -> Timestamp? {
        (layers.map(\.end) + [graceEnd, held?.advanced(by: heldLifetime)]).compactMap(\.self).min()
    }

    /// Ends what has come to its end.
    mutating func lapse(at now: Timestamp, heldLifetime: Int64) {
        for layer in layers where layer.end.map({ $0 <= now }) ?? false {
            if let purpose = layer.purpose { lapsedPurposes.insert(purpose) }
        }
        layers.removeAll { $0.end.map { $0 <= now } ?? false }
        if let graceEnd, graceEnd <= now { self.graceEnd = nil }
        if let held, held.advanced(by: heldLifetime) <= now { self.held = nil }
        if !layers.contains(where: \.permitsAlways), always != .denied {
            (always, held, heldRegion) = (.notAsked, nil, nil)
            requests.removeAll { $0.kind == .always }
        }
    }
}

/// The goal of a session. As `CLServiceSession.AuthorizationRequirement`.
public enum SessionRequirement: UInt8, Hashable, Sendable {
    /// Nothing is asked of the owner.
    case none
    /// Locations while a session is open.
    case whenInUse
    /// Pushes too.
    case always
}
