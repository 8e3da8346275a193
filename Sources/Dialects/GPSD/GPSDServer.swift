import Hereabouts
import TextCoding

/// The side of a gpsd server towards a client: request lines in, answers and reports out. One value per connection.
///
/// There is one device, whose name is of the configuration, and the only report is TPV, with nothing but position, accuracy
/// and time. Settings that a client sends for the device are read past. A client that watches gets JSON unless it says
/// `"json":false`: asking for NMEA or raw data changes nothing.
package struct GPSDServer {
    private let device: String
    private var cutter = LineCutter(limit: DialectLimits.requestByteCount)
    private let watch = JSONMessageReader([["enable"], ["json"]])
    private var isEnabled = false
    private var isJSON = false

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

    /// A report of a new location, or that there is none any more; empty for a client that does not watch.
    package func report(_ location: OutgoingLocation?) -> [UInt8] {
        isWatching ? Self.line(GPSDMessage.position(location, device: device)) : []
    }

    /// Answers requests. One who begins to watch gets what stands behind the answer, so that nobody waits for a tick to learn
    /// that there is no location.
    ///
    /// - Parameters:
    ///   - location: what stands; nil where there is none.
    ///   - now: the present.
    /// - Complexity: O(size).
    package mutating func receive(
        _ bytes: some Sequence<UInt8>, standing location: OutgoingLocation?, now: Timestamp
    ) -> [UInt8] {
        var answer: [UInt8] = []
        for line in cutter.lines(bytes) {
            guard case .text(let text) = line else {
                answer += Self.line(GPSDMessage.error("Request line too long"))
                continue
            }
            answer += self.answer(text, location, now)
        }
        // A gpsd that reads from this one ends its request with the semicolon alone.
        if let text = cutter.takeUnfinished(where: Self.isComplete) { answer += self.answer(text, location, now) }
        return answer
    }

    private mutating func answer(_ line: [UInt8], _ location: OutgoingLocation?, _ now: Timestamp) -> [UInt8] {
        var answer: [UInt8] = []
        let wasWatching = isWatching
        for request in Self.requests(line) { answer += self.answer(request, location, now) }
        if isWatching, !wasWatching { answer += report(location) }
        return answer
    }

    /// Whether a semicolon ends the line, and with it a request: one outside of an object.
    private static func isComplete(_ line: [UInt8]) -> Bool {
        guard line.last == UInt8(ascii: ";") else { return false }
        var rest = line[...]
        while let brace = rest.firstIndex(of: UInt8(ascii: "{")) {
            rest = rest[objectPrefix(rest[brace...]).endIndex...]
        }
        return !rest.isEmpty
    }

    private mutating func answer(_ request: Request, _ location: OutgoingLocation?, _ now: Timestamp) -> [UInt8] {
        switch (request.name, request.argument) {
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
    private mutating func setWatch(_ argument: ArraySlice<UInt8>) -> Bool {
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

    /// A request of a line; `?` and an unknown name for what is none.
    private struct Request {
        let name: String
        let argument: ArraySlice<UInt8>?
    }

    /// `?NAME;` or `?NAME={…};`, one or more on a line, the last semicolon left out if need be.
    private static func requests(_ line: [UInt8]) -> [Request] {
        var requests: [Request] = []
        var rest = line[...]
        while true {
            rest = rest.drop { $0 == 0x20 || $0 == 9 || $0 == 13 || $0 == UInt8(ascii: ";") }
            guard !rest.isEmpty else { return requests }
            let name = rest.dropFirst().prefix { $0 &- 65 < 26 }
            guard rest.first == UInt8(ascii: "?"), !name.isEmpty else {
                // What follows cannot be told from the argument of nothing.
                return requests + [Request(name: "?", argument: nil)]
            }
            rest = rest[name.endIndex...]
            var argument: ArraySlice<UInt8>?
            if rest.first == UInt8(ascii: "=") {
                let value = objectPrefix(rest.dropFirst())
                argument = value
                rest = rest[value.endIndex...]
            }
            requests.append(Request(name: String(decoding: name, as: UTF8.self), argument: argument))
        }
    }

    /// The bytes up to the brace that closes the first one; all of them where none does.
    private static func objectPrefix(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var depth = 0, isInString = false, isEscaped = false
        for (index, byte) in zip(text.indices, text) {
            if isInString {
                isInString = isEscaped || byte != JSONString.quote
                isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
                continue
            }
            switch byte {
            case JSONString.quote: isInString = true
            case UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "}"):
                depth -= 1
                if depth <= 0 { return text[...index] }
            case UInt8(ascii: ";") where depth == 0: return text[..<index]
            default: break
            }
        }
        return text
    }

    /// Lines end as gpsd's do.
    private static func line(_ text: [UInt8]) -> [UInt8] { text + [13, 10] }
}
