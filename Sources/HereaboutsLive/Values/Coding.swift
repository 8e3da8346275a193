import Hereabouts

// JSON of what may be stored, sent or shown, with the names that the relay's has. A location of full accuracy is encoded like
// any other: who encodes one has been granted it.

extension AuthorizationStatus: Codable {
    private var name: String {
        switch self {
        case .notDetermined: "notDetermined"
        case .restricted: "restricted"
        case .denied: "denied"
        case .authorizedWhenInUse: "authorizedWhenInUse"
        case .authorizedAlways: "authorizedAlways"
        }
    }

    /// Decodes the name.
    public init(from decoder: any Decoder) throws {
        self = try decoder.value(
            of: [.notDetermined, .restricted, .denied, .authorizedWhenInUse, .authorizedAlways], named: \.name)
    }

    /// Encodes the name.
    public func encode(to encoder: any Encoder) throws { try encoder.encode(name) }
}

extension AccuracyAuthorization: Codable {
    private var name: String { self == .full ? "full" : "reduced" }

    /// Decodes the name.
    public init(from decoder: any Decoder) throws { self = try decoder.value(of: [.reduced, .full], named: \.name) }

    /// Encodes the name.
    public func encode(to encoder: any Encoder) throws { try encoder.encode(name) }
}

extension LocationMonitor.Event.State: Codable {
    private var name: String {
        switch self {
        case .unknown: "unknown"
        case .satisfied: "satisfied"
        case .unsatisfied: "unsatisfied"
        case .unmonitored: "unmonitored"
        }
    }

    /// Decodes the name.
    public init(from decoder: any Decoder) throws {
        self = try decoder.value(of: [.unknown, .satisfied, .unsatisfied, .unmonitored], named: \.name)
    }

    /// Encodes the name.
    public func encode(to encoder: any Encoder) throws { try encoder.encode(name) }
}

extension Diagnostics: Codable {
    /// Decodes the names, those that are not known passed over.
    public init(from decoder: any Decoder) throws {
        let names = Set(try decoder.singleValueContainer().decode([String].self))
        self = Self.names.reduce(into: []) { if names.contains($1.name) { $0.insert($1.diagnostic) } }
    }

    /// Encodes the names, in the order of their bits.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(Self.names.filter { contains($0.diagnostic) }.map(\.name))
    }
}

extension Validity: Codable {
    private enum CodingKeys: String, CodingKey { case kind, seconds, until, secondsFromGMT }

    /// Decodes `kind` and what it needs: `seconds`, `until` or `secondsFromGMT`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func duration() throws -> Duration { .seconds(try container.decode(Double.self, forKey: .seconds)) }
        switch try container.decode(String.self, forKey: .kind) {
        case "untilRevoked": self = .untilRevoked
        case "session":
            self = try container.contains(.seconds) ? .sessionWithin(duration()) : .session
        case "duration": self = .duration(try duration())
        case "until": self = .until(try container.decode(Timestamp.self, forKey: .until))
        case "untilMorning":
            self = .untilMorning(secondsFromGMT: try container.decode(Int.self, forKey: .secondsFromGMT))
        default:
            throw DecodingError.dataCorruptedError(forKey: .kind, in: container, debugDescription: "no validity")
        }
    }

    /// Encodes `kind` and what it needs.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        func encode(_ kind: String, _ duration: Duration? = nil) throws {
            try container.encode(kind, forKey: .kind)
            if let duration { try container.encode(duration / .seconds(1), forKey: .seconds) }
        }
        switch self {
        case .untilRevoked: try encode("untilRevoked")
        case .session: try encode("session")
        case .sessionWithin(let duration): try encode("session", duration)
        case .duration(let duration): try encode("duration", duration)
        case .until(let moment):
            try encode("until")
            try container.encode(moment, forKey: .until)
        case .untilMorning(let offset):
            try encode("untilMorning")
            try container.encode(offset, forKey: .secondsFromGMT)
        }
    }
}

extension Grant: Codable {
    private enum CodingKeys: String, CodingKey { case status, purpose, validity, hasExactVisitTimes }

    /// Decodes the members; `purpose` is missing for reduced accuracy. One of full accuracy must say how long.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let purpose = try container.decodeIfPresent(PurposeKey.self, forKey: .purpose)
        let validity =
            try purpose == nil
            ? container.decodeIfPresent(Validity.self, forKey: .validity)
            : container.decode(Validity.self, forKey: .validity)
        self.init(
            try container.decodeIfPresent(AuthorizationStatus.self, forKey: .status) ?? .authorizedWhenInUse,
            fullAccuracyPurposeKey: purpose, validity: validity ?? .untilRevoked,
            hasExactVisitTimes: try container.decodeIfPresent(Bool.self, forKey: .hasExactVisitTimes) ?? false)
    }

    /// Encodes the members.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(status, forKey: .status)
        try container.encodeIfPresent(fullAccuracyPurposeKey, forKey: .purpose)
        try container.encode(validity, forKey: .validity)
        try container.encode(hasExactVisitTimes, forKey: .hasExactVisitTimes)
    }
}

extension Authorization.Request.Kind: Codable {
    private enum CodingKeys: String, CodingKey { case kind, purpose }

    /// Decodes `kind`, and `purpose` of full accuracy.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        switch try container.decode(String.self, forKey: .kind) {
        case "whenInUse": self = .whenInUse
        case "always": self = .always
        case "fullAccuracy":
            self = .fullAccuracy(purposeKey: try container.decode(PurposeKey.self, forKey: .purpose))
        default:
            throw DecodingError.dataCorruptedError(forKey: .kind, in: container, debugDescription: "no request")
        }
    }

    /// Encodes `kind`, and `purpose` of full accuracy.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .whenInUse: try container.encode("whenInUse", forKey: .kind)
        case .always: try container.encode("always", forKey: .kind)
        case .fullAccuracy(let purpose):
            try container.encode("fullAccuracy", forKey: .kind)
            try container.encode(purpose, forKey: .purpose)
        }
    }
}

extension Location: Codable {
    private enum CodingKeys: String, CodingKey {
        case time, latitude, longitude, horizontalAccuracy = "horizontal_accuracy", region
    }

    /// Decodes one of reduced accuracy where it has a `region`, else one of full accuracy.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let time = try container.decode(Timestamp.self, forKey: .time)
        if container.contains(.region) {
            self.init(try ReducedLocation(from: decoder), tick: time)
            return
        }
        let coordinate = Coordinate(
            latitude: try container.decode(Double.self, forKey: .latitude),
            longitude: try container.decode(Double.self, forKey: .longitude))
        do { try coordinate.validate() } catch {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: container.codingPath, debugDescription: "not a position on Earth"))
        }
        self.init(
            Fix(
                coordinate: coordinate, time: time,
                horizontalAccuracy: try container.decodeIfPresent(Double.self, forKey: .horizontalAccuracy)))
    }

    /// Encodes `time`, and the members of a `ReducedLocation`; of one of full accuracy its position.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(timestamp, forKey: .time)
        if let reduced { return try reduced.encode(to: encoder) }
        try container.encode(coordinate.latitude, forKey: .latitude)
        try container.encode(coordinate.longitude, forKey: .longitude)
        try container.encodeIfPresent(horizontalAccuracy, forKey: .horizontalAccuracy)
    }
}

extension BeaconUUID: Codable {
    /// Decodes the text.
    public init(from decoder: any Decoder) throws {
        self = try decoder.value(orElse: "not a UUID") { BeaconUUID($0) }
    }

    /// Encodes the text.
    public func encode(to encoder: any Encoder) throws { try encoder.encode(description) }
}

extension BeaconSighting: Codable {
    private enum CodingKeys: String, CodingKey { case uuid, major, minor, accuracy }

    /// Decodes the members.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            uuid: try container.decode(BeaconUUID.self, forKey: .uuid),
            major: try container.decode(UInt16.self, forKey: .major),
            minor: try container.decode(UInt16.self, forKey: .minor),
            accuracy: try container.decodeIfPresent(Double.self, forKey: .accuracy))
    }

    /// Encodes the members.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(uuid, forKey: .uuid)
        try container.encode(major, forKey: .major)
        try container.encode(minor, forKey: .minor)
        try container.encodeIfPresent(accuracy, forKey: .accuracy)
    }
}

extension Decoder {
    /// The value with the name that is decoded.
    fileprivate func value<Value>(of values: [Value], named name: (Value) -> String) throws -> Value {
        try value(orElse: "no such name") { text in values.first { name($0) == text } }
    }
}
