import Hereabouts
import TextCoding

/// Reads the OsmAnd protocol of Traccar: parameters in a query or a form, as OsmAnd, Traccar Client up to version 8 and
/// GPSLogger send them, or the JSON of Traccar Client 9, told apart by content. Read are the device's identifier, position,
/// time and accuracy, and nothing else. A fix without a time is one of the moment of its arrival.
package final class OsmAndReader {
    private enum Field: Int, CaseIterable {
        case device, time, latitude, longitude, accuracy

        var path: [String] {
            switch self {
            case .device: ["device_id"]
            case .time: ["location", "timestamp"]
            case .latitude: ["location", "coords", "latitude"]
            case .longitude: ["location", "coords", "longitude"]
            case .accuracy: ["location", "coords", "accuracy"]
            }
        }
    }

    private let reader = JSONMessageReader(Field.allCases.map(\.path))

    package init() {}

    /// What came of a request.
    ///
    /// - Parameters:
    ///   - query: what stands behind the question mark of the path. The body is read only where it has no position.
    ///   - body: JSON where it begins with a brace, else a form.
    /// - Complexity: O(size).
    package func received(query: some Collection<UInt8>, body: some Collection<UInt8>) -> Received {
        do throws(MessageFailure) {
            let form = try Self.form(query)
            if form.hasPosition { return try Self.received(form) }
            if body.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") {
                return try reader.read(body) { message throws(Unusable) in try Self.received(message) }
            }
            let posted = try Self.form(body)
            guard !posted.isEmpty || !form.isEmpty else { throw .unusable(.empty) }
            return try Self.received(posted.isEmpty ? form : posted)
        } catch {
            return error.received
        }
    }

    /// What a request calls its device, whether the rest of it can be used or not; nil where it does not say. Apps that can
    /// send nothing else to be known by have their token there.
    ///
    /// - Complexity: O(size).
    package func identifier(query: some Collection<UInt8>, body: some Collection<UInt8>) -> [UInt8]? {
        if let name = Self.identifier(query) { return name }
        if body.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") {
            let name = try? reader.read(body) { message throws(Unusable) in message.name(Field.device.rawValue) }
            return name.map { Array($0.utf8) }
        }
        return Self.identifier(body)
    }

    private static func identifier(_ text: some Collection<UInt8>) -> [UInt8]? {
        (try? FormText(text)).flatMap { try? $0["id", "deviceid", "device"] }
    }

    private static func form(_ text: some Collection<UInt8>) throws(MessageFailure) -> FormText {
        do throws(ExceededLimit) { return try FormText(text) } catch { throw .limit(error) }
    }

    private static func received(_ form: FormText) throws(MessageFailure) -> Received {
        do throws(Unusable) {
            let fix = try fix(form)
            return .fixes(ReceivedFixes(fixes: [fix], unusable: [:]))
        } catch {
            throw .unusable(error)
        }
    }

    /// The names that stand beside Traccar's are those of GPSLogger's own examples.
    private static func fix(_ form: FormText) throws(Unusable) -> ClaimedFix {
        if let valid = try form["valid"], ["false", "0"].contains(String(decoding: valid, as: UTF8.self)) {
            throw .markedInvalid
        }
        var latitude = try form["lat", "latitude"].flatMap(number)
        var longitude = try form["lon", "longitude", "lng"].flatMap(number)
        if latitude == nil, longitude == nil, let both = try form["location"] {
            let parts = both.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            if parts.count == 2 { (latitude, longitude) = (number(Array(parts[0])), number(Array(parts[1]))) }
        }
        var time: Timestamp?
        if let text = try form["timestamp", "time"] {
            guard let parsed = parsedTime(text) else { throw .noTime }
            time = parsed
        }
        var accuracy: Double?
        if let text = try form["accuracy", "acc"] {
            guard let meters = number(text) else { throw .accuracyOutOfRange }
            accuracy = meters
        }
        let device = try form["id", "deviceid", "device"].map { String(decoding: $0, as: UTF8.self) }
        return try ClaimedFix(
            latitude: latitude, longitude: longitude, time: time, accuracy: accuracy, device: device)
    }

    private static func received(_ message: JSONMessage) throws(Unusable) -> Received {
        var time: Timestamp?
        if message.has(Field.time.rawValue) {
            if let text = message.text(Field.time.rawValue) {
                time = parsedTime(Array(text.utf8))
            } else {
                time = parsedTime(message.values[Field.time.rawValue])
            }
            guard time != nil else { throw .noTime }
        }
        let fix = try ClaimedFix(
            latitude: message.number(Field.latitude.rawValue), longitude: message.number(Field.longitude.rawValue),
            time: time, accuracy: try message.accuracy(Field.accuracy.rawValue),
            device: message.name(Field.device.rawValue))
        return .fixes(ReceivedFixes(fixes: [fix], unusable: [:]))
    }

    /// ISO 8601, or a number since 1970: seconds up to 1e11, which is the year 5138, else milliseconds.
    private static func parsedTime(_ text: [UInt8]) -> Timestamp? {
        guard let number = number(text) else { return Timestamp(iso: text) }
        return Timestamp(unixSeconds: number.magnitude <= 1e11 ? number : number / 1000)
    }

    private static func number(_ text: [UInt8]) -> Double? {
        unsafe text.withUnsafeBufferPointer { unsafe DecimalNumber.parse($0) }
    }
}

extension FormText {
    /// Whether a position is among the parameters.
    fileprivate var hasPosition: Bool { has("lat", "latitude", "location") }
}
