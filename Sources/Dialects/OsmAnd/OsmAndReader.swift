import Hereabouts

/// Reads the OsmAnd protocol of Traccar, and what has come to be sent to the same addresses: parameters in a query or a form,
/// as OsmAnd, Traccar Client up to version 8, GPSLogger and PhoneTrack send them; an object with the same names, as Colota's,
/// or several in an array; and the JSON of Traccar Client 9, of Traccar's own forwarding, of Home Assistant's app and of The
/// Things Stack. They are told apart by content. Read are the device's identifier, position, time and accuracy, and
/// nothing else.
package final class OsmAndReader {
    /// The members that say which JSON it is.
    private enum Field: Int, CaseIterable {
        case device, location, position, positionDevice, type, data, uplink, networkTime, networkDevice

        var path: [String] {
            switch self {
            case .device: ["device_id"]
            case .location: ["location"]
            case .position: ["position"]
            case .positionDevice: ["device", "uniqueId"]
            case .type: ["type"]
            case .data: ["data"]
            case .uplink: ["uplink_message"]
            case .networkTime: ["received_at"]
            case .networkDevice: ["end_device_ids", "device_id"]
            }
        }
    }

    private let reader = JSONMessageReader(Field.allCases.map(\.path))
    private let parts = JSONMessageReader([["coords"], ["event"], ["age"]])
    private let uplink = JSONMessageReader([["decoded_payload"], ["locations", "frm-payload"]])

    package init() {}

    /// What came of a request.
    ///
    /// - Parameters:
    ///   - query: what stands behind the question mark of the path. The body is read only where it has no position.
    ///   - body: JSON where it begins with a brace or bracket, else a form.
    ///   - clock: the present.
    /// - Complexity: O(size).
    package func received(
        query: some Collection<UInt8>, body: some Collection<UInt8>, at clock: Timestamp
    ) -> Received {
        do throws(MessageFailure) {
            let form = try Self.form(query)
            if form.hasPosition {
                return Received([form]) { fields throws(MessageFailure) in try fields.claimed(clock) }
            }
            if Self.isJSON(body) {
                return Received(try records(body)) { fields throws(MessageFailure) in try fields.claimed(clock) }
            }
            let posted = try Self.form(body)
            guard !posted.isEmpty || !form.isEmpty else { throw .unusable(.empty) }
            return Received([posted.isEmpty ? form : posted]) { fields throws(MessageFailure) in
                try fields.claimed(clock)
            }
        } catch {
            return error.received
        }
    }

    /// What a request calls its device, whether the rest of it can be used or not; nil where it does not say. Apps that can
    /// send nothing else to be known by have their token there.
    ///
    /// - Complexity: O(size).
    package func identifier(query: some Collection<UInt8>, body: some Collection<UInt8>) -> [UInt8]? {
        if let name = (try? PositionFields(form: query))?.identifier { return name }
        if Self.isJSON(body) { return (try? records(body))?.first?.identifier }
        return (try? PositionFields(form: body))?.identifier
    }

    /// Whether a query or a body has any name that is read.
    package func mayBeSender(query: some Collection<UInt8>, body: some Collection<UInt8>) -> Bool {
        (try? PositionFields(form: query))?.hasKnownName != false
            || Self.isJSON(body) || (try? PositionFields(form: body))?.hasKnownName != false
    }

    private static func isJSON(_ body: some Collection<UInt8>) -> Bool {
        JSONMessageReader.isArray(body) || body.first { $0 > 0x20 && $0 < 0x80 } == UInt8(ascii: "{")
    }

    private static func form(_ text: some Collection<UInt8>) throws(MessageFailure) -> PositionFields {
        do throws(ExceededLimit) { return try PositionFields(form: text) } catch { throw .limit(error) }
    }

    // MARK: JSON

    /// The positions of a message, each with what it says.
    private func records(_ body: some Collection<UInt8>) throws(MessageFailure) -> [PositionFields] {
        guard JSONMessageReader.isArray(body) else { return try recordsOfObject(body) }
        var records: [PositionFields] = []
        for element in try JSONMessageReader.elements(body) {
            // A value that is no object is a position that cannot be used.
            records += element.first == UInt8(ascii: "{") ? try recordsOfObject(element) : [PositionFields()]
            guard records.count <= DialectLimits.batchCount else { throw .limit(.batch) }
        }
        return records
    }

    private func recordsOfObject(_ object: some Collection<UInt8>) throws(MessageFailure) -> [PositionFields] {
        let message = try reader.read(object) { message throws(Unusable) in message }
        func value(_ field: Field) -> [UInt8] { message.values[field.rawValue] }
        var common = PositionFields()
        if let name = message.name(Field.device.rawValue) { common.add("device_id", Array(name.utf8)) }
        var records: [PositionFields]
        if JSONMessageReader.isArray(value(.location)) {
            guard let elements = JSONPieces.elements(of: value(.location), most: DialectLimits.batchCount),
                elements.count <= DialectLimits.batchCount
            else { throw .limit(.batch) }
            records = try elements.map { element throws(MessageFailure) in try locationRecord(element) }
        } else if message.isObject(Field.location.rawValue) {
            records = [try locationRecord(value(.location))]
        } else if message.isObject(Field.position.rawValue) {
            if let name = message.name(Field.positionDevice.rawValue) { common.add("deviceid", Array(name.utf8)) }
            records = [PositionFields(object: value(.position))]
        } else if message.isObject(Field.data.rawValue), let type = message.text(Field.type.rawValue) {
            guard type == "update_location" else { throw .unusable(.otherType) }
            records = [Self.homeAssistantRecord(value(.data))]
        } else if message.isObject(Field.uplink.rawValue) {
            if let name = message.name(Field.networkDevice.rawValue) { common.add("deviceid", Array(name.utf8)) }
            if let time = message.text(Field.networkTime.rawValue) { common.add("received_at", Array(time.utf8)) }
            records = [try networkRecord(value(.uplink))]
        } else {
            records = [PositionFields(object: object.drop { $0 != UInt8(ascii: "{") })]
        }
        for index in records.indices { records[index].add(common) }
        return records
    }

    /// Traccar Client 9. Its heartbeats have the last position that it knows, and how many milliseconds old that is.
    private func locationRecord(_ location: some Collection<UInt8>) throws(MessageFailure) -> PositionFields {
        guard location.first == UInt8(ascii: "{") else { return PositionFields() }
        let message = try parts.read(location) { message throws(Unusable) in message }
        var record = PositionFields(object: message.values[0])
        record.add(PositionFields(object: location))
        if message.text(1) == "heartbeat", let age = message.number(2), age > 0 { record.age = age / 1000 }
        return record
    }

    /// What Home Assistant's app sends to its webhook.
    private static func homeAssistantRecord(_ data: [UInt8]) -> PositionFields {
        var record = PositionFields(object: data)
        let gps = JSONPieces.members(of: data, most: .max)?.first { $0.name == "gps" }
        if let parts = gps.flatMap({ JSONPieces.elements(of: $0.value, most: 2) }), parts.count == 2 {
            record.add("latitude", Array(parts[0]))
            record.add("longitude", Array(parts[1]))
        }
        return record
    }

    /// An uplink of The Things Stack: what the payload says; or where its decoder put the position.
    private func networkRecord(_ message: [UInt8]) throws(MessageFailure) -> PositionFields {
        let message = try uplink.read(message) { message throws(Unusable) in message }
        var record = PositionFields(object: message.values[0])
        if !record.hasPosition { record = PositionFields(object: message.values[1]) }
        return record
    }
}

extension PositionFields {
    fileprivate func claimed(_ clock: Timestamp) throws(MessageFailure) -> ClaimedFix {
        do throws(Unusable) { return try fix(clock) } catch { throw .unusable(error) }
    }
}
