import Hereabouts

/// A fix as a sender claims it. Printing, dumping or reflecting one shows nothing of it.
package struct ClaimedFix: Hashable, Sendable {
    /// Where; in range.
    package let coordinate: Coordinate
    /// When; nil where the message has no time.
    package let time: Timestamp?
    /// The radius in meters that holds the truth about two times in three, as the sender estimates it; positive. Nil for
    /// unknown.
    package let horizontalAccuracy: Double?
    /// A later moment at which the device says that it is still there; nil for a fix of its own time alone.
    package let confirmation: Timestamp?
    /// What the sender calls the device. It authenticates nobody: a token does.
    package let device: String?
    /// Which phone it is of, of those that may have the same token; nil where the protocol does not say.
    package let phone: OwnTracksPhone?

    /// The fix, taken at its time, or at that of its arrival where it has none.
    package func fix(receivedAt arrival: Timestamp) -> Fix {
        Fix(coordinate: coordinate, time: time ?? arrival, horizontalAccuracy: horizontalAccuracy)
    }

    /// Takes numbers in range.
    ///
    /// - Parameters:
    ///   - latitude: degrees; nil where there is none or it is no number.
    ///   - longitude: degrees, -180 … 180.
    ///   - accuracy: meters; nil, zero and less mean unknown.
    ///   - confirmation: one that is not after the time is none.
    init(
        latitude: Double?, longitude: Double?, time: Timestamp?, accuracy: Double?, confirmation: Timestamp? = nil,
        device: String?, phone: OwnTracksPhone? = nil
    ) throws(Unusable) {
        // Exactly 0, 0 is where receivers and servers put what they do not know.
        guard let latitude, let longitude, latitude != 0 || longitude != 0 else { throw .noPosition }
        // NaN is in no range.
        guard (-90...90).contains(latitude), (-180...180).contains(longitude) else { throw .positionOutOfRange }
        if let time, !(Self.earliest...Self.latest).contains(time) { throw .timeOutOfRange }
        if let accuracy, !(accuracy <= DialectLimits.accuracyMeters) { throw .accuracyOutOfRange }
        coordinate = Coordinate(latitude: latitude, longitude: longitude)
        (self.time, self.phone) = (time, phone)
        self.confirmation = confirmation.flatMap { confirmed in time.map { confirmed > $0 } == true ? confirmed : nil }
        horizontalAccuracy = accuracy.flatMap { $0 > 0 ? $0 : nil }
        if let device, device.utf8.count > DialectLimits.nameByteCount { throw .nameTooLong }
        self.device = device.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// 1990-01-01T00:00:00Z: no sender is older.
    private static let earliest = Timestamp(nanosecondsSince1970: 631_152_000_000_000_000)
    /// 2261-01-01T00:00:00Z: the last year that nanoseconds reach is left for arithmetic. Whether a time lies in the
    /// future is for those to say who have a clock.
    private static let latest = Timestamp(nanosecondsSince1970: 9_183_110_400_000_000_000)
}

extension ClaimedFix: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Shows nothing.
    package var description: String { "ClaimedFix(redacted)" }
    /// Shows nothing.
    package var debugDescription: String { description }
    /// Without children.
    package var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

/// A beacon that a device says it sees. Printing, dumping or reflecting one shows nothing of it.
package struct BeaconSighting: Hashable, Sendable {
    /// The proximity UUID: 32 hexadecimal digits in upper case, in groups with hyphens.
    package let uuid: String
    package let major: UInt16
    package let minor: UInt16
    /// The estimated distance in meters; positive. Nil for unknown.
    package let distance: Double?
    /// When the device saw it.
    package let time: Timestamp
    /// What the sender calls the device.
    package let device: String?
    /// Which phone it is of.
    package let phone: OwnTracksPhone?
}

extension BeaconSighting: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Shows nothing.
    package var description: String { "BeaconSighting(redacted)" }
    /// Shows nothing.
    package var debugDescription: String { description }
    /// Without children.
    package var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}
