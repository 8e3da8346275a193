import Hereabouts

/// A location as a consumer gets it: reduced or, in a session with a granted purpose, full.
///
/// One of full accuracy prints, dumps and reflects as redacted.
public struct Location: Hashable, Sendable {
    /// The center of the region, or the position itself.
    public let coordinate: Coordinate
    /// Radius in meters: of the circle that contains the region, or the receiver's own estimate, as a `Float` has it;
    /// nil where it gave none.
    public let horizontalAccuracy: Double?
    /// The tick at which the region was answered, or the time of the fix.
    public let timestamp: Timestamp
    /// What is published of the region; nil for full accuracy.
    public let reduced: ReducedLocation?

    /// One of full accuracy, as a desk makes it of a fix.
    public init(_ fix: Fix) {
        (coordinate, horizontalAccuracy, timestamp) = (fix.coordinate, fix.horizontalAccuracy, fix.time)
        reduced = nil
    }

    /// One of reduced accuracy, as a desk makes it at a tick.
    public init(_ location: ReducedLocation, tick: Timestamp) {
        (coordinate, horizontalAccuracy) = (location.coordinate, location.horizontalAccuracy)
        (timestamp, reduced) = (tick, location)
    }

    /// Which accuracy it has.
    public var accuracy: AccuracyAuthorization { reduced == nil ? .full : .reduced }
}

extension Location: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The reduced location; nothing of one of full accuracy.
    public var description: String { reduced?.description ?? "Location(redacted)" }
    /// As `description`.
    public var debugDescription: String { description }
    /// The reduced location alone.
    public var customMirror: Mirror {
        Mirror(self, children: reduced.map { ["reduced": $0 as Any] } ?? [:], displayStyle: .struct)
    }
}

/// What a stream of updates gives. As Core Location's `CLLocationUpdate`: the location, or why there is none.
public struct LocationUpdate: Hashable, Codable, Sendable, Diagnosed {
    /// A hint of how often a consumer of full accuracy wants updates. As `CLLocationUpdate.LiveConfiguration`. It means
    /// nothing for reduced accuracy, which comes at ticks.
    public enum LiveConfiguration: UInt8, Hashable, Sendable, CaseIterable {
        /// Each fix.
        case `default`
        /// Each fix.
        case automotiveNavigation
        /// At most one per second.
        case otherNavigation
        /// At most one per three seconds.
        case fitness
        /// At most one per ten seconds.
        case airborne

        /// The least time between two updates that only a fix causes, in nanoseconds.
        var spacingNanoseconds: Int64 {
            switch self {
            case .default, .automotiveNavigation: 0
            case .otherNavigation: 1_000_000_000
            case .fitness: 3_000_000_000
            case .airborne: 10_000_000_000
            }
        }
    }

    /// Where the device is; nil where no location can be had, and `diagnostics` says why.
    public let location: Location?
    /// Why there is none, or how it is limited.
    public let diagnostics: Diagnostics

    /// Makes an update, for a test or a preview.
    public init(location: Location?, diagnostics: Diagnostics = []) {
        (self.location, self.diagnostics) = (location, diagnostics)
    }
}

/// A stay. As Core Location's `CLVisit`: exact in time only if the owner grants that, reduced in space unless the
/// accuracy is full.
public struct Visit: Hashable, Codable, Sendable {
    private enum CodingKeys: String, CodingKey { case location, arrivalDate = "arrival", departureDate = "departure" }

    /// Where.
    public let location: Location
    /// When the stay began: a tick, unless exact times are granted. Nil where it may have been before the consumer's view of
    /// the device began, as the distant past of `CLVisit`.
    public let arrivalDate: Timestamp?
    /// When it ended, likewise; nil while it lasts.
    public let departureDate: Timestamp?

    /// Makes a visit, for a test or a preview.
    public init(location: Location, arrivalDate: Timestamp?, departureDate: Timestamp? = nil) {
        (self.location, self.arrivalDate, self.departureDate) = (location, arrivalDate, departureDate)
    }
}
