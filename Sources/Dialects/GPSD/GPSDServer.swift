import Hereabouts

/// The side of a gpsd server towards a client: request lines in, answers and reports out. One value per connection.
///
/// There is one device, whose name is of the configuration, and the only report is TPV, with nothing but position, accuracy
/// and time. Settings that a client sends for the device are read past. A client that watches gets JSON unless it says
/// `"json":false`: asking for NMEA or raw data changes nothing.
package struct GPSDServer {
    private let device: String
    private var cutter = GPSDRequestCutter(limit: DialectLimits.requestByteCount)
    private let watch = JSONMessageReader([["enable"], ["json"]])
    private var isEnabled = false
    private var isJSON = false
    private var hasBegun = false
    /// Whether one of the requests that came last was a poll.
    package private(set) var hasPolled = false

    /// A connection that was just accepted.
    ///
    /// - Parameter device: what clients are told the device is called.
    package init(device: String = "hereabouts") { self.device = device }

    /// What is sent first.
    package var greeting: [UInt8] { Self.line(GPSDMessage.version) }

    /// Whether the client has asked for the device: for reports, or so as to poll.
    package var isActive: Bool { isEnabled }

    /// Whether the client has asked for reports.
    package var isWatching: Bool { isEnabled && isJSON }

    /// Whether a connection may go on with some bytes: the first line of a client that is not blank is a request. A browser's
    /// begins with a method, whatever a page has it send, so that no page of another origin begins anything.
    package mutating func admits(_ bytes: some Sequence<UInt8>) -> Bool {
        guard !hasBegun, let first = bytes.first(where: { ![0x20, 9, 10, 13].contains($0) }) else { return true }
        hasBegun = first == UInt8(ascii: "?")
        return hasBegun
    }

    /// A report of a new location, or that there is none any more; empty for a client that does not watch.
    package func report(_ location: OutgoingLocation?) -> [UInt8] {
        isWatching ? Self.line(GPSDMessage.position(location, device: device)) : []
    }

    /// Answers requests. One who begins to watch gets what stands behind the answer, so that nobody waits for a tick to learn
    /// that there is no location.
    ///
    /// - Parameters:
    ///   - location: what stands; nil where there is none.
    ///   - tick: the last tick, which is the time of a reduced location for who polls.
    ///   - now: the present.
    /// - Complexity: O(size).
    package mutating func receive(
        _ bytes: some Sequence<UInt8>, standing location: OutgoingLocation?, tick: Timestamp, now: Timestamp
    ) -> [UInt8] {
        var answer: [UInt8] = []
        hasPolled = false
        for request in cutter.requests(bytes) {
            switch request {
            case .named(let name, let argument):
                let wasWatching = isWatching
                if name == "POLL" { hasPolled = true }
                let shown = name == "POLL" ? location?.asOf(tick) : location
                answer += self.answer(name, argument, shown, now)
                if isWatching, !wasWatching { answer += report(location) }
            case .unrecognized: answer += Self.line(GPSDMessage.error("Unrecognized request"))
            case .tooLong: answer += Self.line(GPSDMessage.error("Request line too long"))
            }
        }
        return answer
    }

    private mutating func answer(
        _ name: String, _ argument: [UInt8]?, _ location: OutgoingLocation?, _ now: Timestamp
    ) -> [UInt8] {
        switch (name, argument) {
        case ("VERSION", _): return Self.line(GPSDMessage.version)
        case ("DEVICES", _): return Self.line(GPSDMessage.devices(device))
        case ("DEVICE", _): return Self.line(GPSDMessage.device(device))
        case ("POLL", _): return Self.line(GPSDMessage.poll(location, device: device, now: now))
        case ("WATCH", let argument):
            if let argument, !setWatch(argument) { return Self.line(GPSDMessage.error("Invalid WATCH")) }
            return Self.line(GPSDMessage.devices(device))
                + Self.line(GPSDMessage.watch(isEnabled: isEnabled, isJSON: isJSON))
        default: return Self.line(GPSDMessage.error("Unrecognized request"))
        }
    }

    /// False, and nothing is changed, where the argument is malformed.
    private mutating func setWatch(_ argument: [UInt8]) -> Bool {
        let fields = try? watch.read(argument) { message throws(Unusable) in
            try (0..<2).map { field throws(Unusable) in
                switch message.values[field] {
                case []: true
                case Array("true".utf8): true
                case Array("false".utf8): false
                default: throw .notAnObject
                }
            }
        }
        guard let fields else { return false }
        (isEnabled, isJSON) = (fields[0], fields[1])
        return true
    }

    /// Lines end as gpsd's do.
    private static func line(_ text: [UInt8]) -> [UInt8] { text + [13, 10] }
}
