import Hereabouts

/// Writes what receivers of the OsmAnd protocol read.
package enum OsmAndMessage {
    /// The query of a request: `id`, `lat`, `lon`, `timestamp` in seconds and `accuracy`; of a fix without an accuracy all
    /// but that.
    package static func query(_ location: OutgoingLocation, device: String) -> [UInt8] {
        var text = MessageText()
        text.append("id=")
        text.append(query: device)
        text.append("&lat=")
        text.append(location, \.latitude)
        text.append("&lon=")
        text.append(location, \.longitude)
        text.append("&timestamp=")
        text.append(location.time.wholeSeconds)
        if let meters = location.accuracyMeters {
            text.append("&accuracy=")
            text.append(Int64(meters))
        }
        return text.bytes
    }
}
