/// Why something does not come as it was asked for. The names are those of `CLServiceSession.Diagnostic`,
/// `CLLocationUpdate` and `CLMonitor.Event`.
public struct Diagnostics: OptionSet, Hashable, Sendable {
    /// A bit for each.
    public let rawValue: UInt16
    /// Takes any bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The owner said no.
    public static let authorizationDenied = Diagnostics(rawValue: 1 << 0)
    /// The owner has paused everything; `authorizationDenied` comes with it.
    public static let authorizationDeniedGlobally = Diagnostics(rawValue: 1 << 1)
    /// The owner has not decided, and this consumer cannot ask.
    public static let authorizationRestricted = Diagnostics(rawValue: 1 << 2)
    /// The owner has not decided on a request yet.
    public static let authorizationRequestInProgress = Diagnostics(rawValue: 1 << 3)
    /// Authorized while in use, and no session is open.
    public static let insufficientlyInUse = Diagnostics(rawValue: 1 << 4)
    /// The owner said no to pushes.
    public static let alwaysAuthorizationDenied = Diagnostics(rawValue: 1 << 5)
    /// The owner said no to full accuracy for the session's purpose, or its grant has lapsed.
    public static let fullAccuracyDenied = Diagnostics(rawValue: 1 << 6)
    /// The consumer requires explicit sessions, and none is open.
    public static let serviceSessionRequired = Diagnostics(rawValue: 1 << 7)
    /// The accuracy is limited to reduced by the authorization.
    public static let accuracyLimited = Diagnostics(rawValue: 1 << 8)
    /// Authorized, and there is no location: none came yet, or the last is older than `Desk.Configuration.stale`.
    public static let locationUnavailable = Diagnostics(rawValue: 1 << 9)
    /// The device is at rest: for a reduced consumer, its region was the same at `Desk.Configuration.stationaryTicks`
    /// ticks.
    public static let stationary = Diagnostics(rawValue: 1 << 10)
    /// The consumer has as many conditions as it may.
    public static let conditionLimitExceeded = Diagnostics(rawValue: 1 << 11)
    /// The condition cannot be monitored: a parameter is invalid, or the atlas does not have the region.
    public static let conditionUnsupported = Diagnostics(rawValue: 1 << 12)

    /// The names of the members, in the order of their bits.
    public static let names: [(diagnostic: Diagnostics, name: String)] = [
        (.authorizationDenied, "authorizationDenied"), (.authorizationDeniedGlobally, "authorizationDeniedGlobally"),
        (.authorizationRestricted, "authorizationRestricted"),
        (.authorizationRequestInProgress, "authorizationRequestInProgress"),
        (.insufficientlyInUse, "insufficientlyInUse"), (.alwaysAuthorizationDenied, "alwaysAuthorizationDenied"),
        (.fullAccuracyDenied, "fullAccuracyDenied"), (.serviceSessionRequired, "serviceSessionRequired"),
        (.accuracyLimited, "accuracyLimited"), (.locationUnavailable, "locationUnavailable"),
        (.stationary, "stationary"), (.conditionLimitExceeded, "conditionLimitExceeded"),
        (.conditionUnsupported, "conditionUnsupported"),
    ]
}

/// A value with diagnostics, each of them a property.
public protocol Diagnosed {
    /// All of them.
    var diagnostics: Diagnostics { get }
}

extension Diagnosed {
    /// See `Diagnostics.authorizationDenied`.
    public var authorizationDenied: Bool { diagnostics.contains(.authorizationDenied) }
    /// See `Diagnostics.authorizationDeniedGlobally`.
    public var authorizationDeniedGlobally: Bool { diagnostics.contains(.authorizationDeniedGlobally) }
    /// See `Diagnostics.authorizationRestricted`.
    public var authorizationRestricted: Bool { diagnostics.contains(.authorizationRestricted) }
    /// See `Diagnostics.authorizationRequestInProgress`.
    public var authorizationRequestInProgress: Bool { diagnostics.contains(.authorizationRequestInProgress) }
    /// See `Diagnostics.insufficientlyInUse`.
    public var insufficientlyInUse: Bool { diagnostics.contains(.insufficientlyInUse) }
    /// See `Diagnostics.alwaysAuthorizationDenied`.
    public var alwaysAuthorizationDenied: Bool { diagnostics.contains(.alwaysAuthorizationDenied) }
    /// See `Diagnostics.fullAccuracyDenied`.
    public var fullAccuracyDenied: Bool { diagnostics.contains(.fullAccuracyDenied) }
    /// See `Diagnostics.serviceSessionRequired`.
    public var serviceSessionRequired: Bool { diagnostics.contains(.serviceSessionRequired) }
    /// See `Diagnostics.accuracyLimited`.
    public var accuracyLimited: Bool { diagnostics.contains(.accuracyLimited) }
    /// See `Diagnostics.locationUnavailable`.
    public var locationUnavailable: Bool { diagnostics.contains(.locationUnavailable) }
    /// See `Diagnostics.stationary`.
    public var stationary: Bool { diagnostics.contains(.stationary) }
    /// See `Diagnostics.conditionLimitExceeded`.
    public var conditionLimitExceeded: Bool { diagnostics.contains(.conditionLimitExceeded) }
    /// See `Diagnostics.conditionUnsupported`.
    public var conditionUnsupported: Bool { diagnostics.contains(.conditionUnsupported) }
}

extension Diagnostics: Diagnosed, CustomStringConvertible {
    /// Itself.
    public var diagnostics: Diagnostics { self }
    /// The names, with commas; "none" where there is none.
    public var description: String {
        let names = Self.names.filter { contains($0.diagnostic) }.map(\.name)
        return names.isEmpty ? "none" : names.joined(separator: ", ")
    }
}
