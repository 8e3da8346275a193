import AtlasFixture
import FixedRandom
import Hereabouts
import Synchronization
import Testing

@testable import HereaboutsLive

/// An atlas with regions of 72 km along the first parallel, one in each second degree of longitude, in two countries.
enum World {
    static let count = 14
    static let atlas = Result { try Atlas(bytes: fixture.bytes) }
    /// Another atlas with the same regions but for the last one's name.
    static let other = Result {
        var fixture = Self.fixture
        fixture.regions[fixture.regions.count - 1].country = 1
        return try Atlas(bytes: fixture.bytes)
    }

    private static let fixture: AtlasFixture = {
        var fixture = AtlasFixture.small
        fixture.countries = ["XZ", "AA", "BB"]
        for place in 0..<count {
            fixture.top[AtlasFixture.cell((1, Double(longitude(place))))] = .value(.region(fixture.regions.count))
            fixture.regions.append(
                AtlasFixture.Region(
                    latitude: 100_000, longitude: longitude(place) * 100_000, accuracy: 60_000,
                    country: place < count / 2 ? 1 : 2))
        }
        return fixture
    }()

    private static func longitude(_ place: Int) -> Int { 2 + 2 * place }

    /// The center of a region.
    static func center(_ place: Int) -> Coordinate {
        Coordinate(latitude: 1, longitude: Double(longitude(place)))
    }

    /// A position within 5 km of the center: far from all edges.
    static func position(_ place: Int, _ random: inout some RandomNumberGenerator) -> Coordinate {
        Coordinate(
            latitude: 1 + .random(in: -0.04...0.04, using: &random),
            longitude: Double(longitude(place)) + .random(in: -0.04...0.04, using: &random))
    }
}

/// 2026-09-21 14:15:00 UTC, a tick of 900 s.
let start: Int64 = 1_790_000_100

func moment(_ seconds: Double) -> Timestamp {
    Timestamp(nanosecondsSince1970: start * 1_000_000_000 + Int64((seconds * 1e9).rounded()))
}

func fix(_ coordinate: Coordinate, _ seconds: Double, accuracy: Double? = 10) -> Fix {
    Fix(coordinate: coordinate, time: moment(seconds), horizontalAccuracy: accuracy)
}

/// A clock that a test sets.
final class TestClock: Clock {
    private let time = Mutex(moment(0))

    var minimumResolution: Duration { .nanoseconds(1) }
    /// Nobody waits for it: a test says when it has moved.
    func sleep(until deadline: Timestamp, tolerance: Duration?) async throws {
        try await Task.sleep(for: .seconds(86_400))
    }

    var now: Timestamp {
        get { time.withLock { $0 } }
        set { time.withLock { $0 = newValue } }
    }
}

/// A service with one device and one consumer, and a clock that a test moves.
struct Bench {
    let clock = TestClock()
    let service: LocationService
    let phone: DeviceID = "phone", family: ConsumerID = "family"

    init(
        purposes: Set<PurposeKey> = ["trip", "rescue"], requiresExplicitServiceSession: Bool = false,
        snapshot: [UInt8]? = nil, at seconds: Double = 0
    ) async throws {
        let atlas = try World.atlas.get()
        clock.now = moment(seconds)
        if let snapshot {
            service = try LocationService(snapshot: snapshot, atlas: atlas, clock: clock)
            return
        }
        var configuration = Desk.Configuration()
        configuration.spreadKey = 15
        service = try LocationService(atlas: atlas, configuration: configuration, clock: clock)
        try await service.addDevice(phone)
        try await service.addConsumer(
            Consumer(
                family, fullAccuracyPurposes: purposes,
                requiresExplicitServiceSession: requiresExplicitServiceSession))
    }

    /// Moves the clock.
    func at(_ seconds: Double) async throws {
        clock.now = moment(seconds)
        try await service.catchUp()
    }

    /// Moves the clock and reports a fix of that moment.
    func report(_ coordinate: Coordinate, at seconds: Double) async throws {
        try await at(seconds)
        try await service.report(fix(coordinate, seconds), from: phone)
    }

    /// Reports a fix near the center of a region ten seconds before a tick, and moves the clock to the tick.
    func answer(_ place: Int, atTick tick: Int) async throws {
        try await report(World.center(place), at: Double(tick) * 900 - 10)
        try await at(Double(tick) * 900)
    }

    func grant(_ grant: Grant = .reduced()) async throws { try await service.grant(grant, of: phone, to: family) }

    func updates(
        _ configuration: LocationUpdate.LiveConfiguration = .default, desiredAccuracy: AccuracyAuthorization = .full
    ) -> LiveSequence<LocationUpdate> {
        service.updates(of: phone, for: family, configuration, desiredAccuracy: desiredAccuracy)
    }

    func session(
        _ authorization: SessionRequirement = .whenInUse, purpose: PurposeKey? = nil
    ) async throws -> ServiceSession {
        try await service.session(
            of: phone, for: family, authorization: authorization, fullAccuracyPurposeKey: purpose)
    }

    func requests() async throws -> [Authorization.Request.Kind] { try await service.pendingRequests().map(\.kind) }
}

extension Trait where Self == TimeLimitTrait {
    /// What waits for ever is named by its test. A test of tasks waits minutes for its turn where others take all
    /// processors, so the limit is far above what all tests take together.
    static var endsAtAll: Self { .timeLimit(.minutes(60)) }
}

/// What a task of an app saw.
final class Seen<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])

    func append(_ value: Value) { values.withLock { $0.append(value) } }

    /// What was seen, when it is so much; it fails where it does not come to that.
    func first(_ count: Int) async throws -> [Value] {
        for _ in 0..<10_000 {
            let values = values.withLock { $0 }
            if values.count >= count { return values }
            try await Task.sleep(for: .microseconds(200))
        }
        Issue.record("\(values.withLock { $0.count }) of \(count) values came")
        throw CancellationError()
    }
}

extension LiveSequence.Iterator {
    /// Whether the stream is open and nothing is to be had now.
    func isSilent() async throws -> Bool { await !service.hasWaiting(try #require(subscribed).id) }
}

extension LocationService {
    func hasWaiting(_ id: SubscriptionID) -> Bool {
        try? catchUp()
        return desk.takesNow(id)
    }
}

extension Desk {
    /// Whether something can be taken now.
    func takesNow(_ id: SubscriptionID) -> Bool {
        var copy = self
        return !copy.take(id).isEmpty
    }
}

extension Optional where Wrapped == LocationUpdate {
    /// The region's place in `World`; nil where there is none.
    var place: Int? {
        self?.location?.reduced.flatMap { reduced in
            (0..<World.count).first {
                World.center($0).longitude == reduced.coordinate.longitude && reduced.coordinate.latitude == 1
            }
        }
    }
}

extension LocationUpdate {
    var place: Int? { Optional(self).place }
}

/// Bytes and their checksum.
func sealed(_ bytes: [UInt8]) -> [UInt8] {
    let hash = XXH64.hash(bytes)
    return bytes + (0..<8).map { UInt8(truncatingIfNeeded: hash >> (8 * $0)) }
}
