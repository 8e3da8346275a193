import Hereabouts

/// The network-location protocol that browsers and GeoClue speak (Mozilla Location Service, "Geolocate"): any body is
/// posted, and an answer comes. The body lists stations near the device; nothing here takes it.
package enum GeolocateAnswer {
    /// The status code and body of an answer.
    package struct Answer: Hashable, Sendable {
        package let statusCode: Int
        package let body: [UInt8]
    }

    /// The accuracy of a fix without one, in meters: the protocol needs a number, and no receiver's fix is further off.
    package static let unknownAccuracyMeters: Int64 = 1000

    /// `location` with `lat` and `lng`, and `accuracy`; where there is no location, 404 with `notFound`.
    package static func answer(_ location: OutgoingLocation?) -> Answer {
        guard let location else { return error(404, "notFound", "Not found") }
        var text = MessageText()
        text.append("{\"location\":{\"lat\":")
        text.append(location, \.latitude)
        text.append(",\"lng\":")
        text.append(location, \.longitude)
        text.append("},\"accuracy\":")
        text.append(location.accuracyMeters.map(Int64.init) ?? unknownAccuracyMeters)
        text.append("}")
        return Answer(statusCode: 200, body: text.bytes)
    }

    /// 400 with `keyInvalid`, for a missing or unknown key.
    package static var invalidKey: Answer { error(400, "keyInvalid", "Missing or invalid API key.") }

    /// 400 with `required`, where it is not said which of several devices is meant.
    package static var deviceMissing: Answer {
        error(400, "required", "There are several devices: add &device= and the name of one.")
    }

    private static func error(_ code: Int, _ reason: StaticString, _ message: StaticString) -> Answer {
        var text = MessageText()
        text.append("{\"error\":{\"errors\":[{\"domain\":\"geolocation\",\"reason\":\"")
        text.append(reason)
        text.append("\",\"message\":\"")
        text.append(message)
        text.append("\"}],\"code\":")
        text.append(Int64(code))
        text.append(",\"message\":\"")
        text.append(message)
        text.append("\"}}")
        return Answer(statusCode: code, body: text.bytes)
    }
}
