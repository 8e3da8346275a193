import Hereabouts

/// Reads what OwnTracks apps post: one JSON object a message (booklet, "JSON"), or an array of such. Of a
/// location, `lat`, `lon`, `tst`, `acc` and its `topic` or `tid` are read; of a ping (`t` is `p`), which says that the
/// device is still where it was, `created_at`; and nothing else.
package final class OwnTracksReader {
    private enum Field: Int, CaseIterable {
        case type, latitude, longitude, time, accuracy, trigger, creation, topic, tracker, uuid, major, minor

        var path: [String] {
            switch self {
            case .type: ["_type"]
            case .latitude: ["lat"]
            case .longitude: ["lon"]
            case .time: ["tst"]
            case .accuracy: ["acc"]
            case .trigger: ["t"]
            case .creation: ["created_at"]
            case .topic: ["topic"]
            case .tracker: ["tid"]
            case .uuid: ["uuid"]
            case .major: ["major"]
            case .minor: ["minor"]
            }
        }
    }

    /// The types without a location of the device; `transition` has that of a place's edge, at the moment of crossing it.
    private static let otherTypes: Set = [
        "transition", "waypoint", "waypoints", "card", "status", "steps", "lwt", "request", "configuration", "cmd",
        "dump",
    ]

    private let reader = JSONMessageReader(Field.allCases.map(\.path))

    package init() {}

    /// What came of a message. An empty one, as an app sends it for a friend who was deleted, is unusable, as is an encrypted
    /// one.
    ///
    /// - Complexity: O(size).
    package func received(_ body: some Collection<UInt8>) -> Received {
        do throws(MessageFailure) {
            if JSONMessageReader.isArray(body) {
                let elements = try JSONMessageReader.elements(body)
                return Received(elements) { element throws(MessageFailure) in
                    try reader.read(element) { message throws(Unusable) in
                        guard case .fixes(let fixes) = try Self.received(message) else { throw .otherType }
                        return fixes.fixes[0]
                    }
                }
            }
            return try reader.read(body) { message throws(Unusable) in try Self.received(message) }
        } catch {
            return error.received
        }
    }

    private static func received(_ message: JSONMessage) throws(Unusable) -> Received {
        guard let type = message.text(Field.type.rawValue) else { throw .unknownType }
        let phone = OwnTracksPhone(
            topic: message.text(Field.topic.rawValue), tracker: message.text(Field.tracker.rawValue))
        let device = phone?.topic ?? phone?.tracker
        switch type {
        case "location":
            let fix = try ClaimedFix(
                latitude: message.number(Field.latitude.rawValue), longitude: message.number(Field.longitude.rawValue),
                time: try time(message.number(Field.time.rawValue)),
                accuracy: try message.accuracy(Field.accuracy.rawValue),
                confirmation: message.text(Field.trigger.rawValue) == "p"
                    ? try? time(message.number(Field.creation.rawValue)) : nil, device: device,
                phone: phone)
            return .fixes(ReceivedFixes(fixes: [fix], unusable: [:]))
        case "beacon": return .sighting(try sighting(message, device: device, phone))
        case "encrypted": throw .encrypted
        case let other where otherTypes.contains(other): throw .otherType
        default: throw .unknownType
        }
    }

    /// Seconds from 1970 to 2001.
    private static let secondsTo2001 = 978_307_200.0

    /// Overland's OwnTracks mode counted from 2001 at first. No app sent anything before 2001, so that a smaller number is
    /// of that count; it reaches the other one's beginning in 2032.
    private static func time(_ number: Double?) throws(Unusable) -> Timestamp {
        guard let number, number > 0 else { throw .noTime }
        // Some forwarders send milliseconds.
        let seconds = number > 1e11 ? number / 1000 : number
        guard let time = Timestamp(unixSeconds: seconds < secondsTo2001 ? seconds + secondsTo2001 : seconds)
        else { throw .noTime }
        return time
    }

    private static func sighting(
        _ message: JSONMessage, device: String?, _ phone: OwnTracksPhone?
    ) throws(Unusable) -> BeaconSighting {
        guard let text = message.text(Field.uuid.rawValue), let uuid = uuid(text),
            let major = message.number(Field.major.rawValue).flatMap(UInt16.init(exactly:)),
            let minor = message.number(Field.minor.rawValue).flatMap(UInt16.init(exactly:))
        else { throw .noBeacon }
        if let device, device.utf8.count > DialectLimits.nameByteCount { throw .nameTooLong }
        // Apps write -1 for a distance that is not known.
        let distance = message.number(Field.accuracy.rawValue).flatMap { $0 > 0 && $0.isFinite ? $0 : nil }
        return BeaconSighting(
            uuid: uuid, major: major, minor: minor, distance: distance,
            time: try time(message.number(Field.time.rawValue)), device: device, phone: phone)
    }

    /// Digits in groups of 8, 4, 4, 4 and 12, in upper case.
    private static func uuid(_ text: String) -> String? {
        guard text.utf8.count <= 36 else { return nil }
        let groups = text.uppercased().split(separator: "-", omittingEmptySubsequences: false)
        guard groups.map(\.utf8.count) == [8, 4, 4, 4, 12],
            groups.allSatisfy({ $0.utf8.allSatisfy { $0 &- 48 < 10 || $0 &- 65 < 6 } })
        else { return nil }
        return groups.joined(separator: "-")
    }
}
