import Hereabouts

/// Reads what Overland posts: `{"locations":[…]}`, GeoJSON features, and `current`, another one (Overland's README, "API"). Of
/// each, `geometry.coordinates`, `properties.timestamp`, `horizontal_accuracy` and `device_id` are read, and nothing else.
package final class OverlandReader {
    private enum Field: Int, CaseIterable {
        case coordinates, time, accuracy, device

        var path: [String] {
            switch self {
            case .coordinates: ["geometry", "coordinates"]
            case .time: ["properties", "timestamp"]
            case .accuracy: ["properties", "horizontal_accuracy"]
            case .device: ["properties", "device_id"]
            }
        }
    }

    private let batch = JSONMessageReader([["locations"], ["current"]])
    private let feature = JSONMessageReader(Field.allCases.map(\.path))

    package init() {}

    /// What came of a message. One with no location that can be used is unusable for the reason of its first one.
    ///
    /// - Complexity: O(size).
    package func received(_ body: some Collection<UInt8>) -> Received {
        let values: [[UInt8]]
        do throws(MessageFailure) {
            values = try batch.read(body) { message throws(Unusable) in
                guard message.has(0) else { throw .unknownType }
                return message.values
            }
        } catch {
            return error.received
        }
        guard var elements = JSONPieces.elements(of: values[0], most: DialectLimits.batchCount) else {
            return .unusable(.notAnObject)
        }
        guard elements.count <= DialectLimits.batchCount else { return .overLimit(.batch) }
        // Newer than those that wait. Without a place it is none of them that was lost.
        let current = ArraySlice(values[1])
        if (try? feature.read(current) { feature throws(Unusable) in try Self.fix(feature) }) != nil {
            elements.append(current)
        }
        return Received(elements) { element throws(MessageFailure) in
            try feature.read(element) { feature throws(Unusable) in try Self.fix(feature) }
        }
    }

    private static func fix(_ feature: JSONMessage) throws(Unusable) -> ClaimedFix {
        let accuracy = try feature.accuracy(Field.accuracy.rawValue)
        // As Core Location has it: the position is invalid.
        if let accuracy, accuracy < 0 { throw .markedInvalid }
        let text = feature.text(Field.time.rawValue).map { Array($0.utf8) } ?? feature.values[Field.time.rawValue]
        guard let time = Timestamp(message: text) else { throw .noTime }
        let parts = JSONPieces.elements(of: feature.values[Field.coordinates.rawValue], most: 4) ?? []
        let position = JSONMessage(values: parts.map { Array($0) })
        return try ClaimedFix(
            latitude: parts.count >= 2 ? position.number(1) : nil,
            longitude: parts.count >= 2 ? position.number(0) : nil,
            time: time, accuracy: accuracy, device: feature.name(Field.device.rawValue))
    }
}
