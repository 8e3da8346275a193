/// What came of a sender's message.
package enum Received: Hashable, Sendable {
    /// Fixes, at least one, in the order of the message.
    case fixes(ReceivedFixes)
    /// A beacon that the device sees.
    case sighting(BeaconSighting)
    /// Nothing of it can ever be used. It is counted, and answered as if it had been: the sender would repeat it for ever.
    case unusable(Unusable)
    /// It exceeds a limit, and was not read. Repeating it is as useless.
    case overLimit(ExceededLimit)
    /// It was not taken for a reason that is ours and passes. No reader gives this: it is for who stores what they give.
    case retryLater

    /// The status code of HTTP that makes the sender do the right thing: forget the message, or repeat it. Senders repeat
    /// whatever is not answered 2xx, so only what a later try can change is.
    package var statusCode: Int {
        switch self {
        case .fixes, .sighting, .unusable, .overLimit: 200
        case .retryLater: 503
        }
    }
}

/// The fixes of a message.
package struct ReceivedFixes: Hashable, Sendable {
    /// At least one.
    package let fixes: [ClaimedFix]
    /// How many others of the batch can never be used, by reason.
    package let unusable: [Unusable: Int]

    package init(fixes: [ClaimedFix], unusable: [Unusable: Int]) { (self.fixes, self.unusable) = (fixes, unusable) }
}

/// Why a message, or one location of a batch, can never be used. No case carries anything of it.
package enum Unusable: String, Error, Hashable, Sendable, CaseIterable {
    /// Nothing, or only blanks.
    case empty
    /// Not JSON.
    case notJSON
    /// JSON that is no object, or has another type in a member that is read.
    case notAnObject
    /// A member or parameter that is read stands there twice.
    case duplicateMember
    /// An object of none of the protocol's types.
    case unknownType
    /// A type of message that has no location: settings, places, steps and others.
    case otherType
    /// An encrypted message.
    case encrypted
    /// A batch without locations.
    case emptyBatch
    /// No latitude or no longitude, or one that is no number; or exactly 0, 0.
    case noPosition
    /// The latitude is not within ±90 degrees or the longitude not within ±180.
    case positionOutOfRange
    /// The sender says that the position is invalid.
    case markedInvalid
    /// No time where one is needed, or one that cannot be parsed.
    case noTime
    /// No time under a name that is known, but one under another.
    case timeNameUnknown
    /// A time before 1990 or after 2260.
    case timeOutOfRange
    /// An accuracy of more than half a meridian, or none that is a number.
    case accuracyOutOfRange
    /// A name of a device that is longer than `DialectLimits.nameByteCount`.
    case nameTooLong
    /// A beacon without its UUID, major or minor number.
    case noBeacon
    /// A body in an encoding other than gzip and deflate, or that is not what its encoding says.
    case encoding
}

extension Unusable {
    /// A few words for people.
    package var words: String {
        switch self {
        case .empty, .emptyBatch, .otherType: "no location"
        case .notJSON: "not JSON"
        case .notAnObject: "not a JSON object"
        case .duplicateMember: "a member that is read is there twice"
        case .unknownType: "an object of an unknown type"
        case .encrypted: "encrypted"
        case .noPosition: "no position"
        case .positionOutOfRange: "the position is out of range"
        case .markedInvalid: "a position that its sender calls invalid"
        case .noTime: "no time"
        case .timeNameUnknown: "a time under a name that is not known"
        case .timeOutOfRange: "the time is out of range"
        case .accuracyOutOfRange: "the accuracy is out of range"
        case .nameTooLong: "a name that is too long"
        case .noBeacon: "a beacon without its numbers"
        case .encoding: "a content encoding that cannot be read (gzip and deflate can)"
        }
    }
}

/// Which limit a message exceeds.
package enum ExceededLimit: String, Error, Hashable, Sendable, CaseIterable {
    /// `DialectLimits.bodyByteCount`.
    case body
    /// `DialectLimits.jsonDepth`.
    case depth
    /// `DialectLimits.batchCount`.
    case batch
    /// `DialectLimits.parameterCount`.
    case parameters
}
