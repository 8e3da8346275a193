// A phone and two consumers: the family has the region around it, a partner its position for two minutes, for a purpose.
// What is granted and published is stored before anybody is told.
//
//     consumers world.atlas
import Hereabouts
import HereaboutsLive
import Synchronization

/// A clock that is moved by hand, where a program has `SystemClock()`.
final class HandClock: Clock {
    let time = Mutex(Timestamp("2026-09-21T14:15:00Z") ?? .now)
    var now: Timestamp { time.withLock { $0 } }
    var minimumResolution: Duration { .nanoseconds(1) }
    func sleep(until deadline: Timestamp, tolerance: Duration?) async throws {
        try await Task.sleep(for: .seconds(3600))
    }
}

/// What a file would be.
let file = Mutex<[UInt8]>([])
let clock = HandClock()
let atlas = try Atlas(contentsOf: CommandLine.arguments[1])
let service = try LocationService(atlas: atlas, clock: clock) { snapshot in file.withLock { $0 = snapshot } }

/// Moves the clock and reports where the phone is then.
func report(_ latitude: Double, _ longitude: Double, at time: Timestamp) async throws {
    clock.time.withLock { $0 = time }
    let coordinate = Coordinate(latitude: latitude, longitude: longitude)
    try await service.report(Fix(coordinate: coordinate, time: time, horizontalAccuracy: 8), from: "phone")
}

func say(_ who: ConsumerID, _ update: LocationUpdate?) {
    guard let location = update?.location else { return print("\(who): none (\(update?.diagnostics ?? []))") }
    let place = location.reduced.map { "\($0.place?.name ?? "somewhere"), \($0.country)" } ?? "the exact position"
    print("\(who): \(place) at \(location.timestamp)")
}

func run() async throws {
    try await service.addDevice("phone")
    try await service.addConsumer(Consumer("family"))
    try await service.addConsumer(Consumer("partner", fullAccuracyPurposes: ["meet-up"]))
    try await service.grant(.reduced(), of: "phone", to: "family")
    try await service.grant(.fullAccuracy("meet-up", for: .seconds(120)), of: "phone", to: "partner")

    let session = try await service.session(
        of: "phone", for: "partner", authorization: .whenInUse, fullAccuracyPurposeKey: "meet-up")
    var family = service.updates(of: "phone", for: "family").makeAsyncIterator()
    var partner = service.updates(of: "phone", for: "partner").makeAsyncIterator()
    say("family", try await family.next())
    try await partner.open()
    try await report(31.7619, -106.4850, at: clock.now + .seconds(60))
    say("partner", try await partner.next())

    // At the tick the family has what is around; the two minutes of the other are over.
    clock.time.withLock { $0 += .seconds(840) }
    try await service.catchUp()
    say("family", try await family.next())
    say("partner", try await partner.next())

    // After a crash, from what was stored.
    let again = try LocationService(snapshot: file.withLock { $0 }, atlas: atlas, clock: clock)
    say("family", try await again.preview(of: "phone", for: "family"))
    session.invalidate()
}

try await run()
