import Hereabouts

/// Under what circumstances a consumer may have a device's location. As Core Location's `CLAuthorizationStatus`.
public enum AuthorizationStatus: UInt8, Hashable, Comparable, Sendable {
    /// The owner has not decided.
    case notDetermined
    /// The owner has not decided, and this consumer cannot ask: it is a read-only link.
    case restricted
    /// The owner said no. Final until the owner changes it.
    case denied
    /// While a session of the consumer is open.
    case authorizedWhenInUse
    /// Also pushed while nobody is connected.
    case authorizedAlways

    /// Whether the left status permits less.
    public static func < (left: AuthorizationStatus, right: AuthorizationStatus) -> Bool {
        left.rawValue < right.rawValue
    }

    /// Whether there may be locations at all.
    public var isAuthorized: Bool { self >= .authorizedWhenInUse }
}

/// How much of a location a consumer may have. As Core Location's `CLAccuracyAuthorization`.
public enum AccuracyAuthorization: UInt8, Hashable, Comparable, Sendable {
    /// The region of the device, recomputed at ticks.
    case reduced
    /// Its fixes as they come.
    case full

    /// Whether the left one is less.
    public static func < (left: AccuracyAuthorization, right: AccuracyAuthorization) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// Both dimensions of what a consumer may have of a device: one value, and one notice for a change of either.
public struct Authorization: Hashable, Codable, Sendable {
    /// Under what circumstances.
    public var status: AuthorizationStatus
    /// How much at most: full while the owner's grant for some purpose is valid.
    public var accuracy: AccuracyAuthorization

    /// Makes an authorization of its two dimensions.
    public init(status: AuthorizationStatus, accuracy: AccuracyAuthorization) {
        (self.status, self.accuracy) = (status, accuracy)
    }
}

/// How long a grant holds. The precedents are RFC 4745 (section 7.3, validity of a rule) and Core Location's prompts.
public enum Validity: Hashable, Sendable {
    /// Until the owner revokes it.
    case untilRevoked
    /// "Once": until the session ends, the present one or else the next. One that returns within
    /// `Desk.Configuration.grace` is the same session.
    case session
    /// The same, and no longer than this.
    case sessionWithin(Duration)
    /// For this long from the moment of the grant. Parts of a nanosecond round up.
    case duration(Duration)
    /// Up to, and without, this moment.
    case until(Timestamp)
    /// Up to the next 04:00 in a zone that is `secondsFromGMT` east of UTC (-64,800 … 64,800 s).
    case untilMorning(secondsFromGMT: Int)

    /// Whether an `authorizedAlways` may have it: "once" and "until tomorrow" are for consumers in use.
    var permitsAlways: Bool {
        switch self {
        case .untilRevoked, .duration, .until: true
        case .session, .sessionWithin, .untilMorning: false
        }
    }

    /// Whether it ends with a session.
    var isForSession: Bool {
        switch self {
        case .session, .sessionWithin: true
        case .untilRevoked, .duration, .until, .untilMorning: false
        }
    }
}

/// The owner's decision for a consumer and a device.
///
/// Reduced accuracy and each purpose of full accuracy are granted apart and lapse apart: while any grant is valid the
/// consumer is authorized, with the strongest of their statuses. When the last purpose lapses, what was granted with
/// reduced accuracy remains.
public struct Grant: Hashable, Sendable {
    /// `authorizedWhenInUse` or `authorizedAlways`.
    public var status: AuthorizationStatus
    /// The purpose of full accuracy, a key of the consumer's own table; nil for reduced accuracy.
    public var fullAccuracyPurposeKey: PurposeKey?
    /// How long.
    public var validity: Validity
    /// Whether visits have exact times. They tell when a door was passed; without it, times are ticks.
    public var hasExactVisitTimes: Bool

    package init(
        _ status: AuthorizationStatus, fullAccuracyPurposeKey: PurposeKey?, validity: Validity, hasExactVisitTimes: Bool
    ) {
        self.status = status
        self.fullAccuracyPurposeKey = fullAccuracyPurposeKey
        self.validity = validity
        self.hasExactVisitTimes = hasExactVisitTimes
    }

    /// Around here: the regions of the device.
    public static func reduced(
        _ status: AuthorizationStatus = .authorizedWhenInUse, validity: Validity = .untilRevoked,
        hasExactVisitTimes: Bool = false
    ) -> Grant {
        Grant(status, fullAccuracyPurposeKey: nil, validity: validity, hasExactVisitTimes: hasExactVisitTimes)
    }

    /// Exactly, for a purpose, for a time. What was granted with reduced accuracy remains when that has passed.
    public static func fullAccuracy(_ purpose: PurposeKey, for duration: Duration) -> Grant {
        .fullAccuracy(purpose, validity: .duration(duration))
    }

    /// Exactly, for a purpose: until its session ends, up to a moment, or whatever else is stated. There is no default.
    public static func fullAccuracy(
        _ purpose: PurposeKey, _ status: AuthorizationStatus = .authorizedWhenInUse, validity: Validity,
        hasExactVisitTimes: Bool = false
    ) -> Grant {
        Grant(status, fullAccuracyPurposeKey: purpose, validity: validity, hasExactVisitTimes: hasExactVisitTimes)
    }
}

/// Who asks: a person, a page or a program.
public struct Consumer: Identifiable, Hashable, Codable, Sendable {
    /// What it is known by.
    public let id: ConsumerID
    /// The keys of the purposes for which it may ask for full accuracy, the consumer's own table. As
    /// `NSLocationTemporaryUsageDescriptionDictionary`.
    public var fullAccuracyPurposes: Set<PurposeKey>
    /// Whether only explicit sessions count. As `NSLocationRequireExplicitServiceSession`.
    public var requiresExplicitServiceSession: Bool
    /// For a read-only link, the consumer it derives from: it has what that one has, with reduced accuracy, and cannot
    /// ask.
    public var derivedFrom: ConsumerID?

    /// Makes a consumer; it is validated when it is added to a desk.
    public init(
        _ id: ConsumerID, fullAccuracyPurposes: Set<PurposeKey> = [], requiresExplicitServiceSession: Bool = false,
        derivedFrom: ConsumerID? = nil
    ) {
        self.id = id
        self.fullAccuracyPurposes = fullAccuracyPurposes
        self.requiresExplicitServiceSession = requiresExplicitServiceSession
        self.derivedFrom = derivedFrom
    }
}

extension Authorization {
    /// What a consumer waits for the owner to decide.
    public struct Request: Hashable, Codable, Sendable {
        /// What is asked for.
        public enum Kind: Hashable, Sendable {
            /// Locations while a session is open.
            case whenInUse
            /// Pushes too. Offered once, when the first answer waits for it (Core Location's provisional always).
            case always
            /// Full accuracy for a purpose, by its key.
            case fullAccuracy(purposeKey: PurposeKey)
        }

        /// Who asks.
        public let consumer: ConsumerID
        /// For which device.
        public let device: DeviceID
        /// What is asked for.
        public let kind: Kind
        /// When it was asked.
        public let time: Timestamp

        /// Makes a request, for a test or a preview. A desk accepts those alone that it made.
        public init(consumer: ConsumerID, device: DeviceID, kind: Kind, time: Timestamp) {
            (self.consumer, self.device, self.kind, self.time) = (consumer, device, kind, time)
        }
    }
}
