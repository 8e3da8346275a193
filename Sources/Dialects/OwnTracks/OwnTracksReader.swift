import Hereabouts

/// Reads what OwnTracks apps post: one JSON object a message (booklet, "JSON"). Of a location, `lat`, `lon`, `tst`, `acc` and
/// its `topic` or `tid` are read, and nothing else.
package final class OwnTracksReader {
    private enum Field: Int, CaseIterable {
        case type, latitude, longitude, time, accuracy, topic, tracker, uuid, major, minor

        var path: [String] {
            switch self {
            case .type: ["_type"]
            case .latitude: ["lat"]
            case .longitude: ["lon"]
            case .time: ["tst"]
            case .accuracy: ["acc"]
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
            return try reader.read(body) { message throws(Unusable) in try Self.received(message) }
        } catch {
            return error.received
        }
    }

    private static func received(_ message: JSONMessage) throws(Unusable) -> Received {
        guard let type = message.text(Field.type.rawValue) else { throw .unknownType }
        let device = message.text(Field.topic.rawValue) ?? message.text(Field.tracker.rawValue)
        switch type {
        case "location":
            let fix = try ClaimedFix(
                latitude: message.number(Field.latitude.rawValue), longitude: message.number(Field.longitude.rawValue),
                time: try time(message), accuracy: try message.accuracy(Field.accuracy.rawValue), device: device)
            return .fixes(ReceivedFixes(fixes: [fix], unusable: [:]))
        case "beacon": return .sighting(try sighting(message, device: device))
        case "encrypted": throw .encrypted
        case let other where otherTypes.contains(other): throw .otherType
        default: throw .unknownType
        }
    }

    /// Seconds from 1970 to 2001.
    private static let secondsTo2001 = 978_307_200.0

    /// Overland's OwnTracks mode counted from 2001 at first. No app sent anything before 2001, so that a smaller number is
    /// of that count; it reaches the other one's beginning in 2032.
    private static func time(_ message: JSONMessage) throws(Unusable) -> Timestamp {
        guard let seconds = message.number(Field.time.rawValue), seconds > 0,
            let time = Timestamp(unixSeconds: seconds < secondsTo2001 ? seconds + secondsTo2001 : seconds)
        else { throw .noTime }
        return time
    }

    private static func sighting(_ message: JSONMessage, device: String?) throws(Unusable) -> BeaconSighting {
        guard let text = message.text(Field.uuid.rawValue), let uuid = uuid(text),
            let major = message.number(Field.major.rawValue).flatMap(UInt16.init(exactly:)),
            let minor = message.number(Field.minor.rawValue).flatMap(UInt16.init(exactly:))
        else { throw .noBeacon }
        if let device, device.utf8.count > DialectLimits.nameByteCount { throw .nameTooLong }
        // Apps write -1 for a distance that is not known.
        let distance = message.number(Field.accuracy.rawValue).flatMap { $0 > 0 && $0.isFinite ? $0 : nil }
        return BeaconSighting(
            uuid: uuid, major: major, minor: minor, distance: distance, time: try time(message), device: device)
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
