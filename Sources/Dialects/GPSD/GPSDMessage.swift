import Hereabouts

/// Writes what clients of gpsd read: objects on lines, without their ends.
package enum GPSDMessage {
    /// The release and protocol whose subset is spoken: that of Debian 12.
    static let version = Array(
        "{\"class\":\"VERSION\",\"release\":\"3.22\",\"rev\":\"3.22\",\"proto_major\":3,\"proto_minor\":14}".utf8)

    /// A position: `class`, `device`, `mode` 2, `time`, `lat`, `lon`, and `eph` but for a fix without an accuracy. Without a
    /// location `class`, `device` and `mode` 1.
    package static func position(_ location: OutgoingLocation?, device: String) -> [UInt8] {
        var text = MessageText()
        text.append("{\"class\":\"TPV\",\"device\":")
        text.append(json: device)
        if let location {
            text.append(",\"mode\":2,\"time\":\"")
            text.append(location.time, milliseconds: true)
            text.append("\",\"lat\":")
            text.append(location, \.latitude)
            text.append(",\"lon\":")
            text.append(location, \.longitude)
            if let meters = location.accuracyMeters {
                text.append(",\"eph\":")
                text.append(Int64(meters))
            }
            text.append("}")
        } else {
            text.append(",\"mode\":1}")
        }
        return text.bytes
    }

    static func device(_ name: String) -> [UInt8] {
        var text = MessageText()
        text.append("{\"class\":\"DEVICE\",\"path\":")
        text.append(json: name)
        text.append("}")
        return text.bytes
    }

    static func devices(_ name: String) -> [UInt8] {
        var text = MessageText()
        text.append("{\"class\":\"DEVICES\",\"devices\":[")
        text.append(device(name))
        text.append("]}")
        return text.bytes
    }

    static func watch(isEnabled: Bool, isJSON: Bool) -> [UInt8] {
        var text = MessageText()
        text.append("{\"class\":\"WATCH\",\"enable\":")
        text.append(isEnabled ? "true" : "false")
        text.append(",\"json\":")
        text.append(isJSON ? "true" : "false")
        text.append(",\"nmea\":false,\"raw\":0,\"scaled\":false,\"timing\":false,\"split24\":false,\"pps\":false}")
        return text.bytes
    }

    /// An empty report of satellites is in it, for clients that read one.
    ///
    /// - Parameter now: the present, which is what a poll without a fix has for its time.
    static func poll(_ location: OutgoingLocation?, device: String, now: Timestamp) -> [UInt8] {
        var text = MessageText()
        text.append("{\"class\":\"POLL\",\"time\":\"")
        text.append(location?.time ?? now, milliseconds: true)
        text.append("\",\"active\":1,\"tpv\":[")
        text.append(position(location, device: device))
        text.append("],\"gst\":[],\"sky\":[{\"class\":\"SKY\",\"device\":")
        text.append(json: device)
        text.append(",\"satellites\":[]}]}")
        return text.bytes
    }

    static func error(_ message: StaticString) -> [UInt8] {
        var text = MessageText()
        text.append("{\"class\":\"ERROR\",\"message\":\"")
        text.append(message)
        text.append("\"}")
        return text.bytes
    }
}
