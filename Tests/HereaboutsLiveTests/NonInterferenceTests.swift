import FixedRandom
import Hereabouts
import HereaboutsLive
import Testing

/// What happens to a desk at a moment.
private struct Event {
    let seconds: Double
    let action: (inout Run, Timestamp) throws(DeskError) -> Void
}

/// A desk under simulation, and all that its reduced consumers got.
private struct Run {
    var desk: Desk
    var log: [UInt8] = []
    /// Subscriptions of consumers with reduced accuracy, by the number that the script gave them.
    var watched: [SubscriptionID: Int] = [:]
    var opened: [Int: SubscriptionID] = [:]
    var sessions: [Int: SessionID] = [:]
    /// Whether all consumers are watched.
    var watchesAll = false
    /// Moments of pauses.
    var paused: [Timestamp] = []
    /// When the devices are switched off.
    var off: [ClosedRange<Timestamp>] = []

    init(deviceCount: Int) throws {
        var configuration = Desk.Configuration()
        configuration.stale = .seconds(1_800)
        configuration.spreadKey = 15
        desk = try Desk(configuration: configuration, atlas: World.atlas.get(), now: moment(0))
        for device in 0..<deviceCount { try desk.addDevice("d\(device)") }
        try desk.addConsumer(Consumer("reduced", fullAccuracyPurposes: ["trip"]))
        try desk.addConsumer(Consumer("link", derivedFrom: "reduced"))
        try desk.addConsumer(Consumer("full", fullAccuracyPurposes: ["trip"]))
    }

    /// Lets the clock run as a service does: event by event, each delivery taken at once.
    mutating func run(_ events: [Event]) throws {
        for event in events.sorted(by: { $0.seconds < $1.seconds }) {
            let time = moment(event.seconds)
            while desk.nextEvent <= time {
                try desk.advance(to: desk.nextEvent)
                drain()
            }
            do throws(DeskError) { try event.action(&self, time) } catch {}
            drain()
        }
    }

    private mutating func drain() {
        for delivery in desk.takeDeliveries() {
            guard let number = watched[delivery.subscription] else { continue }
            log += bytes(delivery, number, desk.now)
        }
    }

    /// What a device reports that is switched on.
    mutating func report(_ fix: Fix, from device: DeviceID, at now: Timestamp) throws(DeskError) {
        let time = min(fix.time, now)
        if !off.contains(where: { $0.contains(now) || $0.contains(time) }) {
            try desk.report(fix, from: device, at: now)
        }
    }

    mutating func report(beacons: [BeaconSighting], from device: DeviceID, at now: Timestamp) throws(DeskError) {
        if !off.contains(where: { $0.contains(now) }) { try desk.report(beacons: beacons, from: device, at: now) }
    }

    mutating func open(_ number: Int, _ isReduced: Bool, _ id: SubscriptionID) {
        opened[number] = id
        if isReduced || watchesAll { watched[id] = number }
    }
}

/// All that a consumer is told, and when.
private func bytes(_ delivery: Delivery, _ number: Int, _ now: Timestamp) -> [UInt8] {
    func text(_ location: Location?) -> String {
        guard let location else { return "none" }
        return "\(location.reduced.map { "r \($0)" } ?? "FULL") \(location.coordinate.latitude) "
            + "\(location.coordinate.longitude) \(location.timestamp.nanosecondsSince1970) "
            + "\(location.horizontalAccuracy ?? -1)"
    }
    let content =
        switch delivery.content {
        case .update(let update): "update \(text(update.location)) \(update.diagnostics)"
        case .visit(let visit):
            "visit \(text(visit.location)) \(visit.arrivalDate?.nanosecondsSince1970 ?? -1) "
                + "\(visit.departureDate?.nanosecondsSince1970 ?? -1)"
        case .event(let event):
            "event \(event.identifier) \(event.state) \(event.date.nanosecondsSince1970) \(event.beacons) "
                + "\(event.diagnostics)"
        case .diagnostics(let diagnostics): "diagnostics \(diagnostics)"
        case .authorization(let authorization): "authorization \(authorization)"
        case .requests: "requests"
        }
    return Array("\(now.nanosecondsSince1970) \(delivery.time.nanosecondsSince1970) #\(number) \(content)\n".utf8)
}

/// What two streams have in common: the region at each tick, and what owner and consumers do.
private struct Story {
    static let intervals = 5
    static let deviceCount = 20

    /// By device and interval; nil where no fix comes.
    var places: [[Int?]]
    let script: [Event]

    init(_ random: inout SplitMix64, pauses: Bool = true) {
        places = (0..<Self.deviceCount).map { _ in
            var place = Int.random(in: 0..<World.count, using: &random)
            return (0..<Self.intervals).map { _ in
                switch Int.random(in: 0..<5, using: &random) {
                case 0: return nil
                case 1, 2:
                    place = Int.random(in: 0..<World.count, using: &random)
                    return place
                default: return place
                }
            }
        }
        var script: [Event] = []
        for device in 0..<Self.deviceCount { script += Self.events("d\(device)", device * 1_000, &random, pauses) }
        self.script = script
    }

    /// A second at which someone does something; often a tick, or near one.
    private static func second(_ random: inout SplitMix64) -> Double {
        let whole = Double(Int.random(in: 0...(intervals * 900), using: &random))
        return Bool.random(using: &random) ? whole : (whole / 900).rounded() * 900
    }

    private static func events(
        _ device: DeviceID, _ base: Int, _ random: inout SplitMix64, _ pauses: Bool
    ) -> [Event] {
        var events: [Event] = []
        for step in 0..<9 {
            let number = base + step
            let who: ConsumerID = ["reduced", "reduced", "link", "full"].randomElement(using: &random)!
            let isReduced = who != "full"
            let seconds = second(&random)
            func add(_ seconds: Double, _ action: @escaping (inout Run, Timestamp) throws(DeskError) -> Void) {
                events.append(Event(seconds: seconds, action: action))
            }
            func close(after seconds: Double) {
                add(seconds) { run, now throws(DeskError) in
                    if let id = run.opened[number] { try run.desk.close(id, at: now) }
                }
            }
            let later = seconds + Double(Int.random(in: 1...4_000, using: &random))
            switch Int.random(in: 0..<12, using: &random) {
            case 0, 1, 2:
                let validity: Validity = [
                    .untilRevoked, .session, .duration(.seconds(1_000)), .until(moment(2_700)),
                    .untilMorning(secondsFromGMT: -10 * 3_600 + 900),
                ].randomElement(using: &random)!
                let grant = Grant(
                    validity == .untilRevoked && Bool.random(using: &random) ? .authorizedAlways : .authorizedWhenInUse,
                    fullAccuracyPurposeKey: isReduced ? nil : "trip", validity: validity, hasExactVisitTimes: false)
                add(seconds) { run, now throws(DeskError) in
                    try run.desk.grant(grant, of: device, to: who, at: now)
                }
            case 3, 4, 5:
                let desired: AccuracyAuthorization = Bool.random(using: &random) ? .full : .reduced
                add(seconds) { run, now throws(DeskError) in
                    let id = try run.desk.subscribeToUpdates(
                        of: device, for: who, desiredAccuracy: desired, at: now)
                    run.open(number, isReduced, id)
                }
                close(after: later)
            case 6:
                add(seconds) { run, now throws(DeskError) in
                    run.open(number, isReduced, try run.desk.subscribeToVisits(of: device, for: who, at: now))
                }
                close(after: later)
            case 7:
                let beacon = BeaconIdentityCondition(uuid: beaconUUID)
                let center = World.center(Int.random(in: 0..<World.count, using: &random))
                add(seconds) { run, now throws(DeskError) in
                    let id = try run.desk.openMonitor(of: device, for: who, at: now)
                    run.open(number, isReduced, id)
                    let circle = CircularGeographicCondition(center: center, radius: 20_000)
                    try run.desk.addCondition(.circle(circle), identifier: "circle", to: id, at: now)
                    try run.desk.addCondition(.beacon(beacon), identifier: "beacon", to: id, at: now)
                    try run.desk.addCondition(
                        .country("BB"), identifier: "country", to: id, at: now)
                }
                close(after: later)
            case 8:
                let requirement: SessionRequirement = [.none, .whenInUse, .always].randomElement(using: &random)!
                // The owner never grants this consumer the purpose.
                let purpose: PurposeKey? = Bool.random(using: &random) ? "trip" : nil
                add(seconds) { run, now throws(DeskError) in
                    let session = try run.desk.openSession(
                        of: device, for: who, authorization: requirement, fullAccuracyPurposeKey: purpose, at: now)
                    run.sessions[number] = session
                    run.open(number, isReduced, try run.desk.subscribeToDiagnostics(of: session, at: now))
                    try run.desk.openBackgroundSession(of: device, for: who, at: now)
                    run.open(
                        number + 500, isReduced, try run.desk.subscribeToPushes(of: device, for: who, at: now))
                }
                add(later) { run, now throws(DeskError) in
                    if let id = run.sessions[number] { try run.desk.closeSession(id, at: now) }
                }
            case 9:
                let isAccepted = Bool.random(using: &random)
                add(seconds) { run, now throws(DeskError) in
                    for request in run.desk.requests where request.device == device {
                        if isAccepted && request.kind != trip {
                            try run.desk.accept(request, validity: .untilRevoked, at: now)
                        } else {
                            try run.desk.decline(request, at: now)
                        }
                    }
                }
            case 10:
                let isReset = Bool.random(using: &random)
                add(seconds) { run, now throws(DeskError) in
                    if isReset {
                        try run.desk.reset(of: device, for: "reduced", at: now)
                    } else {
                        try run.desk.revoke(of: device, from: "reduced", at: now)
                    }
                }
            default:
                add(seconds) { run, now throws(DeskError) in
                    run.open(number, isReduced, try run.desk.subscribeToAuthorization(of: device, for: who, at: now))
                }
                guard pauses, Int.random(in: 0..<8, using: &random) == 0 else { break }
                // From tick to tick: regions at ticks are what two streams have in common.
                let begin = (later / 900).rounded(.up) * 900
                add(begin) { run, now throws(DeskError) in try run.desk.pause(at: now) }
                add(begin + 900) { run, now throws(DeskError) in try run.desk.resume(at: now) }
            }
        }
        return events
    }

    /// Fixes with the story's regions at ticks, and nothing else that two streams have in common.
    func stream(_ random: inout SplitMix64) -> [Event] {
        var events: [Event] = []
        for (device, places) in places.enumerated() {
            let name: DeviceID = "d\(device)"
            for (interval, place) in places.enumerated() {
                let tick = Double(interval) * 900
                // The owner and the consumers act at whole seconds.
                let last = (tick + random.uniform(1, 898)).rounded(.down) + 0.5
                if let place {
                    let position = World.position(place, &random)
                    for _ in 0..<Int.random(in: 0...3, using: &random) {
                        let arrival = (random.uniform(tick, last)).rounded(.down) + 0.25
                        if arrival < last {
                            // A device may be at rest, or come from anywhere.
                            let other = Bool.random(using: &random) ? position : nil
                            events.append(
                                report(name, arrival, arrival + random.uniform(-2_000, 100), &random, at: other))
                        }
                    }
                    let ahead = Bool.random(using: &random) ? random.uniform(0, 300) : 0
                    let newest = fix(position, last + ahead, accuracy: random.uniform(1, 60))
                    events.append(
                        Event(seconds: last) { run, now throws(DeskError) in
                            try run.report(newest, from: name, at: now)
                        })
                }
                // What changes nothing: late, too far in the future, no position on Earth; and beacons.
                let limit = place != nil ? last : interval > 0 && places[interval - 1] != nil ? tick : tick - 900
                for _ in 0..<Int.random(in: 0...2, using: &random) {
                    let arrival = (random.uniform(last, tick + 899)).rounded(.down) + 0.75
                    let time =
                        Bool.random(using: &random)
                        ? limit - random.uniform(0, 5_000) : arrival + random.uniform(300.001, 90_000)
                    events.append(report(name, arrival, time, &random))
                }
                if Int.random(in: 0..<4, using: &random) == 0 {
                    let beacons = [BeaconSighting(uuid: beaconUUID, major: 1, minor: 2, accuracy: random.unit())]
                    events.append(
                        Event(seconds: tick + random.uniform(1, 899)) { run, now throws(DeskError) in
                            try run.report(
                                beacons: now.nanosecondsSince1970 % 2 == 0 ? beacons : [], from: name, at: now)
                        })
                }
            }
        }
        return events
    }

    private func report(
        _ name: DeviceID, _ arrival: Double, _ time: Double, _ random: inout SplitMix64, at position: Coordinate? = nil
    ) -> Event {
        var coordinate = position ?? World.position(Int.random(in: 0..<World.count, using: &random), &random)
        if Int.random(in: 0..<8, using: &random) == 0 { coordinate.latitude = 91 }
        let fix = fix(coordinate, time)
        return Event(seconds: arrival) { run, now throws(DeskError) in
            try run.report(fix, from: name, at: now)
        }
    }
}

private let beaconUUID = BeaconUUID("00000000-0000-0000-0000-00000000000F")!
private let trip = Authorization.Request.Kind.fullAccuracy(purposeKey: "trip")

/// Law 1: what a reduced consumer receives, and when, is a function of the regions at ticks, the grants, its own
/// requests and the clock.
@Suite struct NonInterferenceTests {
    private static let storiesPerBatch = 100
    /// What must occur in a batch for the comparison to mean something.
    private static let kinds = [
        " update none", " update r", " visit ", " event country satisfied", " event circle unknown", "authorization ",
        "stationary", "locationUnavailable", "insufficientlyInUse", "alwaysAuthorizationDenied", "fullAccuracyDenied",
        "authorizationRestricted", "authorizationRequestInProgress", "authorizationDeniedGlobally", "accuracyLimited",
    ]

    /// 10,000 pairs of streams with the same regions at ticks and nothing else in common. All that reduced consumers
    /// get is compared byte by byte with its times: updates, pushes, visits, monitors' events, diagnostics, silence.
    @Test(arguments: 0..<SampleSize.streams.count) func `streams with the same regions at ticks are indistinguishable`(
        _ batch: Int
    ) async throws {
        var random = SplitMix64(seed: 1_500 + UInt64(batch))
        var bytes = 0, noticed = 0
        var seen: Set<Int> = []
        for number in 0..<Self.storiesPerBatch {
            // Other tests want a thread too.
            await Task.yield()
            let story = Story(&random)
            func log(_ story: Story) throws -> [UInt8] {
                var run = try Run(deviceCount: Story.deviceCount)
                try run.run(story.script + story.stream(&random))
                return run.log
            }
            let (one, other) = (try log(story), try log(story))
            let isSame = one == other
            #expect(isSame)
            bytes += one.count
            // The comparison sees the difference of one region for each device.
            guard number % 10 == 0 else { continue }
            let text = String(decoding: one, as: UTF8.self)
            #expect(!text.contains("FULL"))
            for (kind, mark) in zip(Self.kinds.indices, Self.kinds) where !seen.contains(kind) {
                if text.contains(mark) { seen.insert(kind) }
            }
            var changed = story
            for device in changed.places.indices {
                for interval in 0..<Story.intervals {
                    changed.places[device][interval] = changed.places[device][interval].map { World.count - 1 - $0 }
                }
            }
            if try log(changed) != one { noticed += 1 }
        }
        #expect(seen.count == Self.kinds.count)
        #expect(noticed == Self.storiesPerBatch / 10)
        #expect(bytes > Self.storiesPerBatch * Story.deviceCount * 200)
    }

    // MARK: Pauses

    /// Runs that differ only in what came during a pause, or is of one, give every consumer the same bytes for ever.
    @Test(arguments: 0..<2) func `nothing of a pause is ever told`(_ batch: Int) async throws {
        var random = SplitMix64(seed: 5_700 + UInt64(batch)), droppedCount = 0, bytes = 0
        for _ in 0..<40 {
            await Task.yield()
            let story = Story(&random)
            var events = story.script + story.stream(&random)
            for _ in 0..<2 {
                let begin = random.uniform(0, 4_000)
                events.append(Event(seconds: begin) { run, now throws(DeskError) in try run.desk.pause(at: now) })
                events.append(
                    Event(seconds: begin + random.uniform(1, 2_000)) { run, now throws(DeskError) in
                        try run.desk.resume(at: now)
                    })
            }
            let extras = (0..<400).map { _ in Self.ofPause(&random) }
            func run(_ events: [Event]) throws -> Run {
                var run = try Run(deviceCount: Story.deviceCount)
                run.watchesAll = true
                try run.run(events)
                return run
            }
            let one = try run(events), other = try run(events + extras)
            #expect(one.log == other.log)
            #expect(one.desk.snapshot() == other.desk.snapshot())
            droppedCount += other.desk.counts.paused - one.desk.counts.paused
            bytes += one.log.count
        }
        #expect(droppedCount > 2_000 && bytes > 100_000)
    }

    /// A quiet pause is, byte by byte and second by second, for every consumer, what it is that all devices are switched off.
    @Test(arguments: 0..<2) func `a quiet pause is a phone that is switched off`(_ batch: Int)
        async throws
    {
        var random = SplitMix64(seed: 8_800 + UInt64(batch)), droppedCount = 0, bytes = 0
        for _ in 0..<40 {
            await Task.yield()
            let story = Story(&random, pauses: false)
            let events = story.script + story.stream(&random)
            var pauses: [Event] = [], off: [ClosedRange<Timestamp>] = []
            var seconds = 0.0
            for _ in 0..<2 {
                let begin = seconds + random.uniform(1, 1_000)
                seconds = begin + random.uniform(1, 1_500)
                off.append(moment(begin)...moment(seconds))
                pauses.append(
                    Event(seconds: begin) { run, now throws(DeskError) in try run.desk.pause(.quiet, at: now) })
                pauses.append(Event(seconds: seconds) { run, now throws(DeskError) in try run.desk.resume(at: now) })
            }
            var one = try Run(deviceCount: Story.deviceCount), other = one
            (one.watchesAll, other.watchesAll, other.off) = (true, true, off)
            try one.run(events + pauses)
            try other.run(events)
            #expect(one.log == other.log)
            #expect(other.desk.counts.paused == 0)
            droppedCount += one.desk.counts.paused
            bytes += one.log.count
            // A restart keeps it, as it does a phone's silence.
            let quiet = try Desk(snapshot: one.desk.snapshot(), atlas: one.desk.atlas, now: one.desk.now)
            #expect(quiet.pauseMode == one.desk.pauseMode && quiet.snapshot() == one.desk.snapshot())
        }
        #expect(droppedCount > 2_000 && bytes > 100_000)
    }

    /// In a pause a fix of any time, or beacons; else a fix of a time in a pause.
    private static func ofPause(_ random: inout SplitMix64) -> Event {
        let device: DeviceID = "d\(Int.random(in: 0..<Story.deviceCount, using: &random))", pick = random.unit()
        let position = World.position(Int.random(in: 0..<World.count, using: &random), &random)
        let age = random.uniform(-50, 900)
        let second = Double(Int.random(in: 0..<(Story.intervals * 900), using: &random)) + 0.0625
        return Event(seconds: second) { run, now throws(DeskError) in
            if run.desk.isPaused {
                run.paused.append(now)
                if pick < 0.2 {
                    return try run.desk.report(
                        beacons: [BeaconSighting(uuid: beaconUUID, major: 1, minor: 2, accuracy: 1)], from: device,
                        at: now)
                }
                let time = Timestamp(nanosecondsSince1970: now.nanosecondsSince1970 - Int64(age * 1e9))
                _ = try run.desk.report(Fix(coordinate: position, time: time), from: device, at: now)
            } else if !run.paused.isEmpty {
                let time = run.paused[Int(pick * Double(run.paused.count))]
                _ = try run.desk.report(Fix(coordinate: position, time: time), from: device, at: now)
            }
        }
    }

    // MARK: Views

    /// What two runs with one view have in common: when it begins, the places of the fixes of the intervals from then on, and
    /// what the owner and the consumer do.
    private struct ViewStory {
        static let intervals = 14
        let isExact: Bool
        let begin: Double
        let places: [Int?]
        /// What owner and consumer do; of an exact view, all fixes from its beginning on.
        var shared: [Event] = []

        init(isExact: Bool, _ random: inout SplitMix64) {
            self.isExact = isExact
            begin = Double(Int.random(in: 1_000...3_500, using: &random)) + 0.3
            var place = 0
            places = (0..<Self.intervals).map { _ in
                switch Int.random(in: 0..<6, using: &random) {
                case 0: return nil
                case 1: place = Int.random(in: 0..<World.count, using: &random)
                default: break
                }
                return place
            }
            let who: ConsumerID = isExact ? "full" : "reduced"
            let first = Grant(
                Bool.random(using: &random) ? .authorizedAlways : .authorizedWhenInUse,
                fullAccuracyPurposeKey: isExact ? "trip" : nil, validity: .untilRevoked,
                hasExactVisitTimes: isExact && Bool.random(using: &random))
            act(begin) { run, now throws(DeskError) in try run.desk.grant(first, of: "d0", to: who, at: now) }
            // Renewing begins nothing; a no and a new grant begin another view.
            let later = random.uniform(begin + 1, 9_000)
            if Bool.random(using: &random) {
                act(later) { run, now throws(DeskError) in try run.desk.grant(first, of: "d0", to: who, at: now) }
            } else {
                act(later) { run, now throws(DeskError) in try run.desk.revoke(of: "d0", from: who, at: now) }
                act(random.uniform(later + 1, 10_000)) { run, now throws(DeskError) in
                    try run.desk.grant(first, of: "d0", to: who, at: now)
                }
            }
            for number in 0..<6 {
                let seconds = number < 3 ? begin + 0.1 : random.uniform(begin + 0.1, 9_000)
                act(seconds) { run, now throws(DeskError) in
                    var scope = PurposeScope.none
                    if isExact {
                        scope = .session(
                            try run.desk.openSession(
                                of: "d0", for: who, authorization: .whenInUse, fullAccuracyPurposeKey: "trip", at: now))
                    }
                    switch number % 3 {
                    case 0:
                        let reader = isExact || number == 0 ? who : "link"
                        let id = try run.desk.subscribeToUpdates(of: "d0", for: reader, purposes: scope, at: now)
                        run.open(number, true, id)
                    case 1:
                        let id = try run.desk.subscribeToVisits(of: "d0", for: who, purposes: scope, at: now)
                        run.open(number, true, id)
                    default:
                        let id = try run.desk.openMonitor(of: "d0", for: who, purposes: scope, at: now)
                        run.open(number, true, id)
                        let circle = CircularGeographicCondition(center: World.center(0), radius: 20_000)
                        try run.desk.addCondition(.circle(circle), identifier: "circle", to: id, at: now)
                        try run.desk.addCondition(
                            .country("BB"), identifier: "country", to: id, at: now)
                    }
                }
            }
            if isExact { shared += fixes(from: Int(begin / 900), &random).filter { $0.seconds > begin } }
            if isExact, let place = places[Int(begin / 900)] {
                // The region at the first tick is that of a fix of the view.
                let tick = (begin / 900).rounded(.up) * 900
                report(World.position(place, &random), random.uniform(begin + 0.01, tick - 0.01))
            }
        }

        private mutating func act(
            _ seconds: Double, _ action: @escaping (inout Run, Timestamp) throws(DeskError) -> Void
        ) { shared.append(Event(seconds: seconds, action: action)) }

        private mutating func report(_ position: Coordinate, _ seconds: Double) {
            shared.append(Self.report(position, seconds))
        }

        private static func report(_ position: Coordinate, _ seconds: Double) -> Event {
            let fix = fix(position, seconds)
            return Event(seconds: seconds) { run, now throws(DeskError) in
                _ = try run.desk.report(fix, from: "d0", at: now)
            }
        }

        private func fixes(from first: Int, _ random: inout SplitMix64) -> [Event] {
            (first..<Self.intervals).flatMap { interval -> [Event] in
                guard let place = places[interval] else { return [] }
                let last = Double(interval) * 900 + random.uniform(300, 899)
                let rest = World.position(place, &random), isAtRest = Bool.random(using: &random)
                let before = (0..<Int.random(in: 0...4, using: &random)).map { _ in
                    let other = World.position(Int.random(in: 0..<World.count, using: &random), &random)
                    return Self.report(
                        isAtRest ? rest : other, Double(interval) * 900 + random.uniform(1, 290))
                }
                return before + [Self.report(rest, last)]
            }
        }

        /// The shared events, with others before the view, and of others.
        func run(_ random: inout SplitMix64) -> [Event] {
            var events = shared
            for interval in 0..<Int(begin / 900) where Bool.random(using: &random) {
                for _ in 0..<Int.random(in: 1...5, using: &random) {
                    let place = Int.random(in: 0..<World.count, using: &random)
                    events.append(
                        Self.report(World.position(place, &random), Double(interval) * 900 + random.uniform(1, 899)))
                }
            }
            if isExact {
                let start = (begin / 900).rounded(.down) * 900
                let place = Int.random(in: 0..<World.count, using: &random)
                if places[Int(begin / 900)] != nil {
                    events.append(Self.report(World.position(place, &random), random.uniform(start, begin)))
                }
            } else {
                events += fixes(from: Int(begin / 900), &random)
            }
            let other: ConsumerID = isExact ? "reduced" : "full"
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                let grant = Grant(
                    .authorizedWhenInUse, fullAccuracyPurposeKey: Bool.random(using: &random) ? "trip" : nil,
                    validity: .untilRevoked, hasExactVisitTimes: Bool.random(using: &random))
                let seconds = random.uniform(0, 12_000), pick = random.unit()
                events.append(
                    Event(seconds: seconds) { run, now throws(DeskError) in
                        switch pick {
                        case ..<0.5: try run.desk.grant(grant, of: "d0", to: other, at: now)
                        case ..<0.7: try run.desk.revoke(of: "d0", from: other, at: now)
                        case ..<0.85: _ = try run.desk.subscribeToUpdates(of: "d0", for: other, at: now)
                        default:
                            _ = try run.desk.openSession(
                                of: "d0", for: other, authorization: .whenInUse, fullAccuracyPurposeKey: "trip",
                                at: now)
                        }
                    })
            }
            return events
        }
    }

    /// Runs that agree from the beginning of a consumer's view on give it the same bytes, whatever came before, and whatever
    /// others were or are granted: of a reduced view in the regions at ticks, of an exact one in the fixes.
    @Test(arguments: [false, true], 0..<2)
    func `a view tells nothing from before it, and of nobody else's grants`(
        isExact: Bool, batch: Int
    ) async throws {
        var random = SplitMix64(seed: 5_750 + UInt64(batch)), seen = "", differing = 0
        for number in 0..<150 {
            await Task.yield()
            let story = ViewStory(isExact: isExact, &random)
            func log(_ events: [Event]) throws -> [UInt8] {
                var run = try Run(deviceCount: 1)
                try run.run(events + [Event(seconds: Double(ViewStory.intervals) * 900 + 1) { _, _ in }])
                return run.log
            }
            let one = story.run(&random), other = story.run(&random)
            let logs = (try log(one), try log(other))
            #expect(logs.0 == logs.1, "story \(number)")
            seen += String(decoding: logs.0, as: UTF8.self)
            if one.count != other.count { differing += 1 }
        }
        for mark in ["locationUnavailable", " visit ", " -1 -1", "stationary", "country satisfied", "country unknown"] {
            #expect(seen.contains(mark), "\(mark)")
        }
        #expect(seen.contains("FULL") == isExact && seen.contains("circle satisfied") == isExact)
        #expect(differing > 50)
    }
}
