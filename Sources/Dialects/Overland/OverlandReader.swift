import Hereabouts

/// Reads what Overland posts: `{"locations":[…]}`, GeoJSON features (Overland's README, "API"). Of each,
/// `geometry.coordinates`, `properties.timestamp`, `horizontal_accuracy` and `device_id` are read, and nothing else.
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

    private let batch = JSONMessageReader([["locations"]])
    private let feature = JSONMessageReader(Field.allCases.map(\.path))

    package init() {}

    /// What came of a message. One with no location that can be used is unusable for the reason of its first one.
    ///
    /// - Complexity: O(size).
    package func received(_ body: some Collection<UInt8>) -> Received {
        let locations: [UInt8]
        do throws(MessageFailure) {
            locations = try batch.read(body) { message throws(Unusable) in
                guard message.has(0) else { throw .unknownType }
                return message.values[0]
            }
        } catch {
            return error.received
        }
        guard let elements = JSONArrayElements.of(locations, most: DialectLimits.batchCount) else {
            return .unusable(.notAnObject)
        }
        guard elements.count <= DialectLimits.batchCount else { return .overLimit(.batch) }
        var fixes: [ClaimedFix] = []
        var unusable: [Unusable: Int] = [:]
        var first: Unusable?
        for element in elements {
            do throws(MessageFailure) {
                fixes.append(try feature.read(element) { feature throws(Unusable) in try Self.fix(feature) })
            } catch {
                // The depth within the batch is limited already.
                guard case .unusable(let reason) = error else { return error.received }
                unusable[reason, default: 0] += 1
                if first == nil { first = reason }
            }
        }
        if fixes.isEmpty { return .unusable(first ?? .emptyBatch) }
        return .fixes(ReceivedFixes(fixes: fixes, unusable: unusable))
    }

    private static func fix(_ feature: JSONMessage) throws(Unusable) -> ClaimedFix {
        let accuracy = try feature.accuracy(Field.accuracy.rawValue)
        // As Core Location has it: the position is invalid.
        if let accuracy, accuracy < 0 { throw .markedInvalid }
        guard let text = feature.text(Field.time.rawValue), let time = Timestamp(iso: text.utf8) else { throw .noTime }
        let parts = JSONArrayElements.of(feature.values[Field.coordinates.rawValue], most: 4) ?? []
        let position = JSONMessage(values: parts.map { Array($0) })
        return try ClaimedFix(
            latitude: parts.count >= 2 ? position.number(1) : nil,
            longitude: parts.count >= 2 ? position.number(0) : nil,
            time: time, accuracy: accuracy, device: feature.name(Field.device.rawValue))
    }
}
