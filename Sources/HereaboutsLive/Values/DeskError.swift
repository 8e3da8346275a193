import Hereabouts

/// Why a desk did not do what it was asked. No case carries a position or a name.
public enum DeskError: Error, Hashable, Sendable {
    /// There is no such device.
    case unknownDevice
    /// There is no such consumer.
    case unknownConsumer
    /// The purpose is not in the consumer's own table.
    case unknownPurpose
    /// A name or key is empty or longer than `Desk.Limits.nameByteCount` bytes.
    case invalidName
    /// The name is taken.
    case nameTaken
    /// The session, subscription or request has ended or was never there.
    case ended
    /// A grant's status is neither `authorizedWhenInUse` nor `authorizedAlways`.
    case notAGrant
    /// The validity is one that an `authorizedAlways` cannot have: "once" or "until tomorrow".
    case alwaysExcluded
    /// The validity ends before it begins, or is out of range.
    case invalidValidity
    /// A read-only link cannot ask for anything.
    case readOnlyLink
    /// A background session begins only while the consumer is in use.
    case insufficientlyInUse
    /// There are as many of these as there may be.
    case limitExceeded(Limit)
    /// The coordinate of a fix is invalid.
    case coordinate(CoordinateError)
    /// The configuration is none that a desk can have; see `Desk.Configuration`.
    case invalidConfiguration
    /// What changed is in force and could not be stored; see `LocationService.Store`. Nothing is delivered until it is.
    case notStored
    /// The atlas is damaged where a lookup reads it. An atlas that was validated as a whole never gives this.
    case atlas(AtlasError)

    /// What there may not be more of; see `Desk.Limits`.
    public enum Limit: Hashable, Sendable {
        /// `Desk.Limits.devices`.
        case devices
        /// `Desk.Limits.consumers`.
        case consumers
        /// `Desk.Limits.relations`.
        case relations
        /// `Desk.Limits.sessionsPerRelation`.
        case sessions
        /// `Desk.Limits.subscriptions` or `Desk.Limits.subscriptionsPerRelation`.
        case subscriptions
        /// `Desk.Limits.purposes`.
        case purposes
        /// `Desk.Limits.beacons`.
        case beacons
    }

    init(_ error: LookupError) {
        switch error {
        case .coordinate(let error): self = .coordinate(error)
        case .atlas(let error): self = .atlas(error)
        case .foreignRegion: self = .atlas(.changedInUse)
        }
    }
}

extension DeskError: CustomStringConvertible {
    /// A sentence for people.
    public var description: String {
        switch self {
        case .unknownDevice: "there is no such device"
        case .unknownConsumer: "there is no such consumer"
        case .unknownPurpose: "the purpose is not in the consumer's table of purposes"
        case .invalidName: "a name is empty or too long"
        case .nameTaken: "the name is taken"
        case .ended: "it has ended, or never was"
        case .notAGrant: "a grant is for when in use or for always"
        case .alwaysExcluded: "this validity is for consumers in use, never for always"
        case .invalidValidity: "the validity ends before it begins, or is out of range"
        case .readOnlyLink: "a read-only link cannot ask"
        case .insufficientlyInUse: "a background session begins only while the consumer is in use"
        case .limitExceeded(let limit): "there are as many \(limit) as there may be"
        case .coordinate(let error): "\(error)"
        case .invalidConfiguration: "a value of the desk's configuration is out of its range"
        case .notStored: "the change is in force, and could not be stored: nothing is delivered until it is"
        case .atlas(let error): "the atlas \(error.predicate)"
        }
    }
}
