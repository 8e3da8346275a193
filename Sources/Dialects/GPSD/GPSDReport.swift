import Hereabouts

/// Reads the reports of a gpsd server, one JSON object on each line (gpsd_json(5), release 3.22). Of a TPV, `mode`, `time`,
/// `lat`, `lon`, the errors `eph`, `epx` and `epy`, and `device` are read, and nothing else.
package final class GPSDReportReader {
    /// A line.
    package enum Report: Hashable, Sendable {
        /// A position. Receivers that have no time yet send some without one.
        case fix(ClaimedFix)
        /// The receiver has no position.
        case noFix
        /// The greeting; the two numbers of the protocol's version.
        case version(major: Int, minor: Int)
        /// The server says that it did not understand a request.
        case error
        /// A report that has no position: satellites, attitude, devices and others.
        case other
        /// Nothing of the line can be used.
        case unusable(Unusable)
        /// The line exceeds a limit.
        case overLimit
    }

    private enum Field: Int, CaseIterable {
        case type, mode, time, latitude, longitude, error, errorEast, errorNorth, device, major, minor

        var path: [String] {
            switch self {
            case .type: ["class"]
            case .mode: ["mode"]
            case .time: ["time"]
            case .latitude: ["lat"]
            case .longitude: ["lon"]
            case .error: ["eph"]
            case .errorEast: ["epx"]
            case .errorNorth: ["epy"]
            case .device: ["device"]
            case .major: ["proto_major"]
            case .minor: ["proto_minor"]
            }
        }
    }

    private let reader = JSONMessageReader(Field.allCases.map(\.path))

    package init() {}

    /// What a line says.
    ///
    /// - Complexity: O(size).
    package func report(_ line: some Collection<UInt8>) -> Report {
        guard line.count <= DialectLimits.reportByteCount else { return .overLimit }
        do throws(MessageFailure) {
            return try reader.read(line) { message throws(Unusable) in try Self.report(message) }
        } catch {
            switch error {
            case .unusable(let reason): return .unusable(reason)
            case .limit: return .overLimit
            }
        }
    }

    private static func report(_ message: JSONMessage) throws(Unusable) -> Report {
        switch message.text(Field.type.rawValue) {
        case "TPV": return try position(message)
        case "VERSION":
            guard let major = message.number(Field.major.rawValue).flatMap(Int.init(exactly:)),
                let minor = message.number(Field.minor.rawValue).flatMap(Int.init(exactly:))
            else { throw .unknownType }
            return .version(major: major, minor: minor)
        case "ERROR": return .error
        case nil: throw .unknownType
        default: return .other
        }
    }

    private static func position(_ message: JSONMessage) throws(Unusable) -> Report {
        guard let mode = message.number(Field.mode.rawValue), mode >= 2 else { return .noFix }
        var time: Timestamp?
        if message.has(Field.time.rawValue) {
            guard let text = message.text(Field.time.rawValue), let parsed = Timestamp(iso: text.utf8) else {
                throw .noTime
            }
            time = parsed
        }
        // Protocols before 3.14 have no estimate for the plane, only for its axes.
        var accuracy = message.number(Field.error.rawValue)
        if accuracy == nil, let east = message.number(Field.errorEast.rawValue),
            let north = message.number(Field.errorNorth.rawValue)
        {
            accuracy = (east * east + north * north).squareRoot()
        }
        return .fix(
            try ClaimedFix(
                latitude: message.number(Field.latitude.rawValue), longitude: message.number(Field.longitude.rawValue),
                time: time, accuracy: accuracy, device: message.text(Field.device.rawValue)))
    }
}
