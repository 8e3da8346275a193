import Hereabouts
import TextCoding

/// What a message says of a position, by the names of its parameters or members: those of the OsmAnd protocol, and those
/// that apps, servers and examples have in their place. Letters count the same in both cases.
struct PositionFields {
    private static let latitudes = ["lat", "latitude"]
    private static let longitudes = ["lon", "longitude", "lng", "long"]
    private static let positions = ["location"]
    /// The time of the fix before that of a message.
    private static let times = [
        "fixtime", "timestamp", "time", "tst", "tm", "unixtime", "stamp", "devicetime", "requesttimestamp",
        "received_at",
    ]
    private static let accuracies = ["accuracy", "acc", "gps_accuracy", "horizontal_accuracy", "hacc"]
    private static let identifiers = ["id", "deviceid", "device", "device_id"]
    private static let validities = ["valid"]
    private static let all = Set(latitudes + longitudes + positions + times + accuracies + identifiers + validities)

    /// How much later, in seconds, the device says that it is still there.
    var age: Double?
    private var values: [String: [UInt8]] = [:]
    private var repeated: Set<String> = []

    init() {}

    /// - Throws: `ExceededLimit.parameters`, `ExceededLimit.body`.
    init(form text: some Collection<UInt8>) throws(ExceededLimit) {
        for (name, value) in try FormText.pairs(text) { add(name, value) }
    }

    /// The members of an object that are text, numbers or truth values; of other JSON none.
    init(object: some Collection<UInt8>) {
        for (name, value) in JSONPieces.members(of: object, most: .max) ?? [] { add(name, value) }
    }

    /// Adds a member of JSON. Null is none, and neither are objects and arrays.
    private mutating func add(_ name: String, _ value: ArraySlice<UInt8>) {
        if let text = JSONPieces.text(value) {
            add(name, Array(text.utf8))
        } else if let first = value.first, !"{[n".utf8.contains(first) {
            add(name, Array(value))
        }
    }

    /// Adds what these do not have.
    mutating func add(_ others: PositionFields) {
        for (name, value) in others.values where values[name] == nil {
            values[name] = value
            if others.repeated.contains(name) { repeated.insert(name) }
        }
    }

    /// Adds a value under a name.
    mutating func add(_ name: String, _ value: [UInt8]) {
        if values.updateValue(value, forKey: name.lowercased()) != nil { repeated.insert(name.lowercased()) }
    }

    var isEmpty: Bool { values.isEmpty }

    /// Whether there is a name of a position.
    var hasPosition: Bool { (Self.latitudes + Self.longitudes + Self.positions).contains { values[$0] != nil } }

    /// Whether there is any name that is read.
    var hasKnownName: Bool { values.keys.contains { Self.all.contains($0) } }

    /// What the message calls its device; nil where it does not say.
    var identifier: [UInt8]? { try? value(Self.identifiers) }

    /// The first value of some names; nil for none, or only empty ones.
    private func value(_ names: [String]) throws(Unusable) -> [UInt8]? {
        for name in names {
            guard let value = values[name], !value.isEmpty else { continue }
            if repeated.contains(name) { throw .duplicateMember }
            return value
        }
        return nil
    }

    /// The fix that the values make. Without a time it is one of the moment of its arrival.
    ///
    /// - Parameter clock: the present, by which a number is known for a time.
    func fix(_ clock: Timestamp) throws(Unusable) -> ClaimedFix {
        if let valid = try value(Self.validities), ["false", "0"].contains(String(decoding: valid, as: UTF8.self)) {
            throw .markedInvalid
        }
        var latitude = try value(Self.latitudes).flatMap { MessageNumber.parse($0) }
        var longitude = try value(Self.longitudes).flatMap { MessageNumber.parse($0) }
        if latitude == nil, longitude == nil, let both = try value(Self.positions) {
            let parts = both.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            if parts.count == 2 {
                (latitude, longitude) = (MessageNumber.parse(parts[0]), MessageNumber.parse(parts[1]))
            }
        }
        guard latitude != nil, longitude != nil else { throw .noPosition }
        let time = try time(clock)
        var accuracy: Double?
        if let text = try value(Self.accuracies) {
            guard let meters = MessageNumber.parse(text) else { throw .accuracyOutOfRange }
            accuracy = meters
        }
        let confirmation = age.flatMap { age in
            time.flatMap { Timestamp(unixSeconds: Double($0.nanosecondsSince1970) / 1e9 + age) }
        }
        return try ClaimedFix(
            latitude: latitude, longitude: longitude, time: time, accuracy: accuracy, confirmation: confirmation,
            device: try value(Self.identifiers).map { String(decoding: $0, as: UTF8.self) })
    }

    /// - Throws: `Unusable.timeNameUnknown` where no known name has a time, and what another one has may be the fix's: one
    ///   that waited in a queue would be published as the present.
    private func time(_ clock: Timestamp) throws(Unusable) -> Timestamp? {
        if let text = try value(Self.times) {
            guard let time = Timestamp(message: text) else { throw .noTime }
            return time
        }
        let isDated = values.contains { name, value in !Self.all.contains(name) && Self.isTime(value, near: clock) }
        if isDated { throw .timeNameUnknown }
        return nil
    }

    /// A year and a day, in nanoseconds.
    private static let year: Int64 = 366 * 86_400_000_000_000

    /// Whether a value reads as a time within a year of the clock: 9 or 10 digits of seconds, 12 or 13 of milliseconds,
    /// perhaps with a fraction; or ISO 8601.
    private static func isTime(_ value: [UInt8], near clock: Timestamp) -> Bool {
        let digits = value.prefix { $0 &- 48 < 10 }.count
        let isNumber = [9, 10, 12, 13].contains(digits) && MessageNumber.parse(value) != nil
        guard isNumber || digits == 4, let time = Timestamp(message: value) else { return false }
        let (nanoseconds, overflow) = time.nanosecondsSince1970
            .subtractingReportingOverflow(clock.nanosecondsSince1970)
        return !overflow && nanoseconds.magnitude <= UInt64(year)
    }
}
