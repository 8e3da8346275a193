import Hereabouts

/// Writes what Overland and receivers of its protocol read.
package enum OverlandMessage {
    /// The answer to a message that is not to be repeated: the app deletes what it sent.
    package static let answer = Array("{\"result\":\"ok\"}".utf8)

    /// A message with locations, each a feature with `timestamp`, `horizontal_accuracy` and `device_id`; of a fix without an
    /// accuracy all but that.
    package static func batch(_ locations: [OutgoingLocation], device: String) -> [UInt8] {
        var text = MessageText()
        text.append("{\"locations\":[")
        for (index, location) in locations.enumerated() {
            if index > 0 { text.append(",") }
            text.append("{\"type\":\"Feature\",\"geometry\":{\"type\":\"Point\",\"coordinates\":[")
            text.append(location, \.longitude)
            text.append(",")
            text.append(location, \.latitude)
            text.append("]},\"properties\":{\"timestamp\":\"")
            text.append(location.time)
            text.append("\"")
            if let meters = location.accuracyMeters {
                text.append(",\"horizontal_accuracy\":")
                text.append(Int64(meters))
            }
            text.append(",\"device_id\":")
            text.append(json: device)
            text.append("}}")
        }
        text.append("]}")
        return text.bytes
    }
}
