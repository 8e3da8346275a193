import Hereabouts

extension LocationMonitor {
    /// What a monitor watches for.
    public enum Condition: Hashable, Sendable {
        /// The device is within a circle. Full accuracy only.
        case circle(CircularGeographicCondition)
        /// The device's published region is this one.
        case region(RegionCondition)
        /// The device's published region lies in this country.
        case country(CountryCondition)
        /// The device sees a beacon. Full accuracy only.
        case beacon(BeaconIdentityCondition)

        /// The device is within a circle. Full accuracy only.
        ///
        /// - Parameters:
        ///   - center: of the circle.
        ///   - radius: in meters, more than 0 and at most 1,000,000.
        public static func circle(center: Coordinate, radius: Double) -> Condition {
            .circle(CircularGeographicCondition(center: center, radius: radius))
        }
    }
}

/// A circle on the Earth. As Core Location's `CircularGeographicCondition`.
public struct CircularGeographicCondition: Hashable, Sendable {
    /// Its center.
    public let center: Coordinate
    /// Its radius in meters, more than 0 and at most 1,000,000.
    public let radius: Double

    /// Makes a condition; one with an invalid center or radius is not monitored, with `conditionUnsupported`.
    public init(center: Coordinate, radius: Double) { (self.center, self.radius) = (center, radius) }
}

/// A region of the atlas, for consumers of either accuracy: what is published is in it.
public struct RegionCondition: Hashable, Sendable {
    /// The region.
    public let region: RegionID
    /// Makes a condition; one whose region the atlas does not have is not monitored, with `conditionUnsupported`.
    public init(_ region: RegionID) { self.region = region }
}

/// A country, for consumers of either accuracy: what is published lies in it.
public struct CountryCondition: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The country.
    public let country: Country
    /// Makes a condition; one whose country the atlas does not have is not monitored, with `conditionUnsupported`.
    public init(_ country: Country) { self.country = country }
    /// A country's code in the source.
    public init(stringLiteral code: String) { country = Country(stringLiteral: code) }
}

/// The proximity UUID of beacons: 16 bytes.
public struct BeaconUUID: Hashable, Sendable, LosslessStringConvertible {
    private let high: UInt64
    private let low: UInt64

    /// Parses 32 hexadecimal digits, in groups of 8, 4, 4, 4 and 12 with hyphens or without any.
    public init?(_ description: String) {
        let digits = description.utf8.filter { $0 != UInt8(ascii: "-") }
        let groups = description.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false).map(\.count)
        guard groups == [8, 4, 4, 4, 12] || groups == [32] else { return nil }
        let text = String(decoding: digits, as: UTF8.self)
        guard text.utf8.count == 32, text.allSatisfy(\.isHexDigit), let high = UInt64(text.prefix(16), radix: 16),
            let low = UInt64(text.suffix(16), radix: 16)
        else { return nil }
        (self.high, self.low) = (high, low)
    }

    /// In upper-case groups with hyphens.
    public var description: String {
        let digits = [high, low].map {
            let text = String($0, radix: 16, uppercase: true)
            return String(repeating: "0", count: 16 - text.count) + text
        }.joined()
        var rest = digits[...]
        return [8, 4, 4, 4, 12].map { (count: Int) -> Substring in
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }.joined(separator: "-")
    }
}

/// Beacons by identity. As Core Location's `BeaconIdentityCondition`: what is nil is any.
public struct BeaconIdentityCondition: Hashable, Sendable {
    /// The proximity UUID.
    public let uuid: BeaconUUID
    /// The major number; nil for any.
    public let major: UInt16?
    /// The minor number; nil for any.
    public let minor: UInt16?

    /// Makes a condition. A minor number without a major one is not monitored, with `conditionUnsupported`.
    public init(uuid: BeaconUUID, major: UInt16? = nil, minor: UInt16? = nil) {
        (self.uuid, self.major, self.minor) = (uuid, major, minor)
    }

    func matches(_ sighting: BeaconSighting) -> Bool {
        uuid == sighting.uuid && (major ?? sighting.major) == sighting.major
            && (minor ?? sighting.minor) == sighting.minor
    }
}

/// A beacon that a device reports to see.
public struct BeaconSighting: Hashable, Sendable {
    /// The proximity UUID.
    public let uuid: BeaconUUID
    /// The major number.
    public let major: UInt16
    /// The minor number.
    public let minor: UInt16
    /// The estimated distance in meters; nil where it is unknown.
    public let accuracy: Double?

    /// Makes a sighting. A distance that is negative or not finite is taken as unknown.
    public init(uuid: BeaconUUID, major: UInt16, minor: UInt16, accuracy: Double? = nil) {
        (self.uuid, self.major, self.minor) = (uuid, major, minor)
        self.accuracy = accuracy.flatMap { $0 >= 0 && $0.isFinite ? $0 : nil }
    }

    /// Whether the left one is nearer; those at unknown distances come last.
    static func isNearer(_ left: BeaconSighting, _ right: BeaconSighting) -> Bool {
        (left.accuracy ?? .infinity) < (right.accuracy ?? .infinity)
    }
}

extension LocationMonitor {
    /// A change of a monitor's condition. As Core Location's `CLMonitor.Event`.
    public struct Event: Hashable, Codable, Sendable, Diagnosed {
        private enum CodingKeys: String, CodingKey {
            case identifier = "condition", state, date = "time", beacons, diagnostics
        }

        /// What a condition is.
        public enum State: UInt8, Hashable, Sendable {
            /// It is not known: there is no location, or it is withheld.
            case unknown
            /// It holds.
            case satisfied
            /// It does not hold.
            case unsatisfied
            /// It is not monitored; `diagnostics` says why.
            case unmonitored
        }

        /// The name that the condition was added with.
        public let identifier: String
        /// The state from now on.
        public let state: State
        /// When it was found: a tick, for a condition on published answers.
        public let date: Timestamp
        /// The beacons that satisfy a condition, nearest first; else none.
        public let beacons: [BeaconSighting]
        /// Why the state is unknown or unmonitored.
        public let diagnostics: Diagnostics

        /// Makes an event, for a test or a preview.
        public init(
            identifier: String, state: State, date: Timestamp, beacons: [BeaconSighting] = [],
            diagnostics: Diagnostics = []
        ) {
            (self.identifier, self.state, self.date) = (identifier, state, date)
            (self.beacons, self.diagnostics) = (beacons, diagnostics)
        }
    }

    /// What a monitor knows of a condition. As Core Location's `CLMonitor.Record`.
    public struct Record: Hashable, Sendable {
        /// What is watched for.
        public let condition: Condition
        /// The last change; nil before the first.
        public let lastEvent: Event?
    }
}
