import Hereabouts

/// A location that may be sent to a consumer: all that a message can say of a device. Messages are written from this, from
/// names of the configuration and from constants, so that nothing else can get into one.
package enum OutgoingLocation: Hashable, Sendable {
    /// The region of the device, as it was answered at a tick.
    case reduced(ReducedLocation, tick: Timestamp)
    /// A fix: position, accuracy and time.
    case full(Fix)

    /// Degrees.
    var coordinate: Coordinate {
        switch self {
        case .reduced(let location, _): location.coordinate
        case .full(let fix): fix.coordinate
        }
    }

    /// Meters, rounded up so that the circle still holds what it held; nil for unknown.
    var accuracyMeters: Int? {
        let meters: Double? =
            switch self {
            case .reduced(let location, _): location.horizontalAccuracy
            case .full(let fix): fix.horizontalAccuracy
            }
        guard let meters, meters > 0, meters <= DialectLimits.accuracyMeters else { return nil }
        return Int(meters.rounded(.up))
    }

    /// The tick, or the time of the fix.
    package var time: Timestamp {
        switch self {
        case .reduced(_, let tick): tick
        case .full(let fix): fix.time
        }
    }

    /// A reduced location with another tick for its time, if that is later: when its device reported last is not told.
    package func asOf(_ tick: Timestamp) -> OutgoingLocation {
        guard case .reduced(let location, let answered) = self else { return self }
        return .reduced(location, tick: max(answered, tick))
    }

    /// Decimals of a degree: those that a region's center has, or a centimeter.
    var decimals: Int {
        switch self {
        case .reduced: 5
        case .full: 7
        }
    }
}

/// Why a consumer has no location, or what else it is told of it; the names in Swift are those in JSON. They are Core
/// Location's where it has them.
package enum Diagnostic: String, CaseIterable, Sendable {
    case authorizationDenied, authorizationDeniedGlobally, authorizationRestricted, authorizationRequestInProgress
    case insufficientlyInUse, alwaysAuthorizationDenied, fullAccuracyDenied, serviceSessionRequired
    case accuracyLimited, locationUnavailable, stationary
    case conditionLimitExceeded, conditionUnsupported
}
