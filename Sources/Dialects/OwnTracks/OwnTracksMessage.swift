import Hereabouts

/// Who a location is of, for OwnTracks: from the configuration.
package struct OwnTracksIdentity: Hashable, Sendable {
    /// The two characters on the map.
    package var tracker: String
    /// The name of the card; nil for none.
    package var name: String?

    package init(tracker: String, name: String? = nil) { (self.tracker, self.name) = (tracker, name) }
}

/// What tells phones apart that have the same token.
package struct OwnTracksPhone: Hashable, Sendable {
    package let topic: String?
    /// The two letters that its owner chose.
    package let tracker: String?

    /// Nil where a message has neither.
    init?(topic: String?, tracker: String?) {
        if topic == nil, tracker == nil { return nil }
        (self.topic, self.tracker) = (topic, tracker)
    }
}

/// Writes what OwnTracks apps and receivers read.
package enum OwnTracksMessage {
    /// A location: `_type`, `lat`, `lon`, `acc`, `tst` and `tid`; of a fix without an accuracy all but `acc`.
    package static func location(_ location: OutgoingLocation, of identity: OwnTracksIdentity) -> [UInt8] {
        var text = MessageText()
        append(location, identity, &text)
        return text.bytes
    }

    /// The answer to a message, whatever came of it: the friends that the app is to show, each with a card if it has a name.
    /// One without a location is left out: the app keeps showing the last one it has, with its age.
    package static func answer(
        friends: [(identity: OwnTracksIdentity, location: OutgoingLocation)] = []
    ) -> [UInt8] {
        var text = MessageText()
        text.append("[")
        for (index, friend) in friends.enumerated() {
            if index > 0 { text.append(",") }
            append(friend.location, friend.identity, &text)
            if let name = friend.identity.name {
                text.append(",{\"_type\":\"card\",\"name\":")
                text.append(json: name)
                text.append(",\"tid\":")
                text.append(json: friend.identity.tracker)
                text.append("}")
            }
        }
        text.append("]")
        return text.bytes
    }

    private static func append(_ location: OutgoingLocation, _ identity: OwnTracksIdentity, _ text: inout MessageText) {
        text.append("{\"_type\":\"location\",\"lat\":")
        text.append(location, \.latitude)
        text.append(",\"lon\":")
        text.append(location, \.longitude)
        if let meters = location.accuracyMeters {
            text.append(",\"acc\":")
            text.append(Int64(meters))
        }
        text.append(",\"tst\":")
        text.append(location.time.wholeSeconds)
        text.append(",\"tid\":")
        text.append(json: identity.tracker)
        text.append("}")
    }
}
