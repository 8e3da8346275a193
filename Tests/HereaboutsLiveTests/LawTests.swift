import FixedRandom
import Hereabouts
import Testing

@testable import HereaboutsLive

/// The laws of live location, as far as a library without bytes on a wire can show them; law 1 is in
/// `NonInterferenceTests`.
@Suite struct LawTests {
    private func desk(
        _ consumers: Int = 1, configuration: Desk.Configuration = Desk.Configuration()
    ) throws -> Desk {
        var desk = try Desk(configuration: configuration, atlas: World.atlas.get(), now: moment(0))
        try desk.addDevice("phone")
        for number in 0..<consumers {
            try desk.addConsumer(Consumer("c\(number)", fullAccuracyPurposes: ["trip", "rescue"]))
        }
        return desk
    }

    // MARK: Law 2

    @Test func `one answer per device and tick, the same for all, whenever they come`() throws {
        var random = SplitMix64(seed: 2)
        var desk = try desk(30)
        var fleet = Fleet(capacity: 1, atlas: desk.atlas)
        for number in 0..<30 { try desk.grant(.reduced(), of: "phone", to: "c\(number)", at: moment(0)) }
        var subscriptions: [SubscriptionID] = []
        for tick in 1...40 {
            for step in 1...3 {
                let seconds = Double(tick - 1) * 900 + Double(step) * 250
                let fix = fix(World.position(Int.random(in: 0..<3, using: &random), &random), seconds)
                try desk.report(fix, from: "phone", at: moment(seconds))
                _ = try fleet.report(fix, from: "phone")
                #expect(desk.takeDeliveries().isEmpty)
            }
            // Who comes between two ticks gets the standing answer.
            if tick <= 30 {
                let id = try desk.subscribeToUpdates(
                    of: "phone", for: "c\(tick - 1)", at: moment(Double(tick) * 900 - 1))
                subscriptions.append(id)
                let delivery = try #require(desk.takeDeliveries().first)
                guard case .update(let update) = delivery.content else { return }
                let standing = try fleet.region(of: "phone").map { try desk.atlas.reducedLocation(of: $0) }
                #expect(update.location?.reduced == standing)
            }
            var answers: [Desk.DeviceAnswer] = []
            try desk.advance(to: moment(Double(tick) * 900)) { answers.append($0) }
            var expected: Pacer.Answer?
            try fleet.tick(moment(Double(tick) * 900)) { expected = $0.answer }
            #expect(answers.count == 1)
            #expect(answers.first?.region == expected?.region && answers.first?.isNew == expected?.isNew)
            #expect(answers.first?.tick == moment(Double(tick) * 900))
            let deliveries = desk.takeDeliveries()
            #expect(Set(deliveries.map(\.content)).count <= 1)
            #expect(deliveries.isEmpty || deliveries.count == subscriptions.count)
            #expect(deliveries.allSatisfy { $0.time == moment(Double(tick) * 900) })
        }
    }

    @Test func `a fix less accurate than the circle is not answered, and full consumers have it`() throws {
        var desk = try desk(2)
        try desk.grant(.reduced(), of: "phone", to: "c0", at: moment(0))
        try desk.grant(.fullAccuracy("trip", validity: .untilRevoked), of: "phone", to: "c1", at: moment(0))
        let reduced = try desk.subscribeToUpdates(of: "phone", for: "c0", at: moment(0))
        _ = try desk.openSession(
            of: "phone", for: "c1", authorization: .whenInUse, fullAccuracyPurposeKey: "trip", at: moment(0))
        let full = try desk.subscribeToUpdates(of: "phone", for: "c1", at: moment(0))
        try desk.report(fix(World.center(1), 10), from: "phone", at: moment(10))
        try desk.advance(to: moment(900))
        #expect(try desk.update(reduced)?.place == 1)
        // The circles of these regions have 60 km.
        for seconds in stride(from: 1_000.0, to: 8_000, by: 900) {
            let place = Coordinate(latitude: 1, longitude: 6 + seconds / 1e5)
            try desk.report(fix(place, seconds, accuracy: 60_001), from: "phone", at: moment(seconds))
            // Less than the accuracy is no movement.
            let sent = try desk.update(full)
            #expect(sent.map { $0.location == Location(fix(place, seconds, accuracy: 60_001)) } ?? (seconds > 2_000))
            try desk.advance(to: moment(seconds + 800))
            // That it has been there for a while may be told anew.
            #expect(try desk.update(reduced).map { $0.place == 1 && $0.diagnostics.contains(.stationary) } ?? true)
        }
        try desk.advance(to: moment(9_000))
        #expect(try desk.update(reduced)?.diagnostics.contains(.locationUnavailable) == true)
        try desk.report(fix(World.center(2), 9_010, accuracy: 59_999), from: "phone", at: moment(9_010))
        try desk.advance(to: moment(9_900))
        #expect(try desk.update(reduced)?.place == 2)
    }

    @Test func `a device that is still there is answered anew, with the time of its fix for full consumers`() throws {
        for (isWatched, restart) in [(false, false), (true, false), (false, true)] {
            var desk = try desk(2)
            try desk.grant(.reduced(), of: "phone", to: "c0", at: moment(0))
            if isWatched {
                try desk.grant(.fullAccuracy("trip", validity: .untilRevoked), of: "phone", to: "c1", at: moment(0))
            }
            var reduced = try desk.subscribeToUpdates(of: "phone", for: "c0", at: moment(0))
            let home = fix(World.center(3), 1_000), before = fix(World.center(2), 100)
            #expect(try desk.report(before, from: "phone", at: moment(100)) == .kept)
            #expect(try desk.report(home, from: "phone", at: moment(1_000)) == .kept)
            try desk.advance(to: moment(1_800))
            #expect(try desk.update(reduced)?.place == 3)
            var ticks: [Timestamp] = []
            for hour in 1...30 {
                let seconds = Double(hour) * 3_600
                if restart, hour == 7 {
                    desk = try Desk(
                        snapshot: desk.snapshot(), configuration: Desk.Configuration(), atlas: desk.atlas,
                        now: moment(seconds))
                    reduced = try desk.subscribeToUpdates(of: "phone", for: "c0", at: moment(seconds))
                    #expect(try desk.update(reduced)?.place == 3)
                }
                // A ping has the last fix, or one from before that.
                let ping = hour % 5 == 0 ? before : home
                #expect(
                    try desk.report(ping, confirmed: moment(seconds - 5), from: "phone", at: moment(seconds)) == .kept)
                if isWatched { #expect(desk.devices.fix(0) == home) }
                try desk.advance(to: moment(seconds + 900)) { ticks.append($0.tick) }
                #expect(desk.devices.answer(0)?.tick == moment(seconds + 900))
                let update = try desk.update(reduced)
                #expect(update.map { $0.place == 3 } ?? true)
                #expect(desk.isStale(moment(1_000)) == (hour >= 3))
            }
            #expect(ticks.count == 30)
            if isWatched {
                _ = try desk.openSession(
                    of: "phone", for: "c1", authorization: .whenInUse, fullAccuracyPurposeKey: "trip",
                    at: moment(109_000))
                let full = try desk.subscribeToUpdates(of: "phone", for: "c1", at: moment(109_000))
                #expect(try desk.update(full)?.location == Location(home))
            }
            // Not beyond the clock's rule, and not what was said before the last answer.
            let later = moment(109_000)
            #expect(try desk.report(home, confirmed: moment(109_400), from: "phone", at: later) == .future)
            #expect(try desk.report(home, confirmed: moment(100_000), from: "phone", at: later) == .late)
            #expect(try desk.report(home, from: "phone", at: later) == .late)
            // Two hours after the last one it is unknown where it is.
            try desk.advance(to: moment(118_000))
            #expect(try desk.preview(of: "phone", for: "c0").diagnostics.contains(.locationUnavailable))
        }
    }

    @Test func `what was fixed in a pause is not confirmed, however long after it`() throws {
        for mode in [Desk.PauseMode.told, .quiet] {
            var desk = try desk()
            try desk.grant(.fullAccuracy("trip", validity: .untilRevoked), of: "phone", to: "c0", at: moment(0))
            try desk.report(fix(World.center(1), 100), from: "phone", at: moment(100))
            try desk.pause(mode, at: moment(1_000))
            try desk.resume(at: moment(5_000))
            try desk.advance(to: moment(500_000))
            let inside = fix(World.center(2), 3_000), before = fix(World.center(1), 100)
            let later = moment(500_010)
            #expect(try desk.report(inside, confirmed: later, from: "phone", at: later) == .paused)
            desk = try Desk(snapshot: desk.snapshot(), atlas: desk.atlas, now: later)
            #expect(try desk.report(inside, confirmed: later, from: "phone", at: later) == .paused)
            #expect(try desk.report(before, confirmed: later, from: "phone", at: later) == .kept)
            let month = moment(100 + 31 * 86_400)
            #expect(try desk.report(before, confirmed: month, from: "phone", at: month) == .late)
        }
    }

    @Test func `connecting and asking recompute nothing`() throws {
        var desk = try desk()
        try desk.grant(.reduced(), of: "phone", to: "c0", at: moment(10))
        try desk.report(fix(World.center(1), 890), from: "phone", at: moment(890))
        try desk.advance(to: moment(900))
        try desk.report(fix(World.center(2), 950), from: "phone", at: moment(950))
        _ = try desk.openSession(of: "phone", for: "c0", authorization: .always, at: moment(950))
        let id = try desk.subscribeToUpdates(of: "phone", for: "c0", at: moment(951))
        guard case .update(let update) = try #require(desk.take(id).first).content else { return }
        #expect(update.place == 1 && update.location?.timestamp == moment(900))
    }

    @Test func `a view begins with the answer of the tick after a grant where nothing stood, and after a pause`() throws
    {
        var desk = try desk()
        func place(_ seconds: Double) throws -> Int? {
            let update = try desk.preview(of: "phone", for: "c0")
            #expect(update.location != nil || update.locationUnavailable)
            return update.place
        }
        try desk.report(fix(World.center(1), 890), from: "phone", at: moment(890))
        try desk.advance(to: moment(900))
        // Whichever fix of the interval the answer comes from.
        try desk.report(fix(World.center(2), 950), from: "phone", at: moment(950))
        try desk.grant(.reduced(), of: "phone", to: "c0", at: moment(1_000))
        #expect(try place(1_000) == nil)
        try desk.advance(to: moment(1_799))
        #expect(try place(1_799) == nil)
        try desk.advance(to: moment(1_800))
        #expect(try place(1_800) == 2)
        // Renewing, extending and adding begin nothing.
        try desk.grant(.reduced(.authorizedAlways), of: "phone", to: "c0", at: moment(1_810))
        try desk.grant(.reduced(validity: .duration(.seconds(3_600))), of: "phone", to: "c0", at: moment(1_820))
        #expect(try place(1_820) == 2)
        // A restart neither.
        desk = try Desk(snapshot: desk.snapshot(), atlas: desk.atlas, now: moment(1_821))
        #expect(try place(1_821) == 2)
        // A new grant after a no does; at a tick it is the next one.
        try desk.revoke(of: "phone", from: "c0", at: moment(1_830))
        try desk.report(fix(World.center(3), 2_650), from: "phone", at: moment(2_650))
        try desk.grant(.reduced(), of: "phone", to: "c0", at: moment(2_700))
        #expect(try place(2_700) == nil)
        try desk.report(fix(World.center(4), 2_750), from: "phone", at: moment(2_750))
        try desk.advance(to: moment(3_600))
        #expect(try place(3_600) == 4)
        // What comes in a pause, and fixes of then that come later, are of no time.
        try desk.pause(at: moment(3_650))
        #expect(try desk.report(fix(World.center(5), 3_700), from: "phone", at: moment(3_700)) == .paused)
        try desk.resume(at: moment(4_400))
        #expect(try place(4_400) == nil)
        #expect(try desk.report(fix(World.center(5), 4_399), from: "phone", at: moment(4_410)) == .paused)
        desk = try Desk(snapshot: desk.snapshot(), atlas: desk.atlas, now: moment(4_411))
        #expect(try desk.report(fix(World.center(5), 4_399), from: "phone", at: moment(4_412)) == .paused)
        try desk.advance(to: moment(4_500))
        #expect(try place(4_500) == nil)
        #expect(try desk.report(fix(World.center(6), 4_600), from: "phone", at: moment(4_600)) == .kept)
        try desk.advance(to: moment(5_400))
        #expect(try place(5_400) == 6)
    }

    @Test func `an exact view begins with the fixes of its time`() throws {
        var desk = try desk(2)
        try desk.grant(.fullAccuracy("trip", validity: .untilRevoked), of: "phone", to: "c1", at: moment(1))
        for seconds in stride(from: 10.0, through: 610, by: 100) {
            try desk.report(fix(World.center(1), seconds), from: "phone", at: moment(seconds))
        }
        try desk.grant(.fullAccuracy("trip", validity: .untilRevoked), of: "phone", to: "c0", at: moment(620))
        let session = try desk.openSession(
            of: "phone", for: "c0", authorization: .whenInUse, fullAccuracyPurposeKey: "trip", at: moment(621))
        #expect(try desk.preview(of: "phone", for: "c0").location == nil)
        let visits = try desk.subscribeToVisits(of: "phone", for: "c0", at: moment(622))
        try desk.report(fix(World.center(1), 630), from: "phone", at: moment(630))
        let update = try desk.preview(of: "phone", for: "c0")
        // Nothing tells that it has been here.
        #expect(update.location?.timestamp == moment(630) && !update.stationary && desk.take(visits).isEmpty)
        try desk.report(fix(World.center(1), 890), from: "phone", at: moment(890))
        #expect(desk.take(visits).isEmpty)
        try desk.report(fix(World.center(1), 930), from: "phone", at: moment(930))
        guard case .visit(let stay) = try #require(desk.take(visits).first).content else { return }
        #expect(stay.arrivalDate == nil && stay.departureDate == nil)
        try desk.report(fix(World.center(2), 990), from: "phone", at: moment(990))
        guard case .visit(let left) = try #require(desk.take(visits).first).content else { return }
        #expect(left.arrivalDate == nil && left.departureDate == moment(990))
        try desk.closeSession(session, at: moment(1_000))
    }

    // MARK: Law 3

    /// Random decisions, sessions and fixes, against a model that looks at all of it anew for each delivery.
    @Test func `nothing without a grant, full accuracy only for a purpose while it is valid, then the standing answer`()
        throws
    {
        var random = SplitMix64(seed: 3)
        var fullCount = 0, endCount = 0
        for _ in 0..<300 {
            var desk = try desk()
            // The model.
            var base: Double?, full: Double?, isPaused = false, sessions: [SessionID: Bool] = [:]
            var wasFull = false
            let id = try desk.subscribeToUpdates(of: "phone", for: "c0", at: moment(0))
            var seconds = 0.0
            for _ in 0..<60 {
                seconds += Double(Int.random(in: 1...200, using: &random))
                let now = moment(seconds)
                while desk.nextEvent <= now {
                    try desk.advance(to: desk.nextEvent)
                    let time = Double(desk.now.nanosecondsSince1970 - moment(0).nanosecondsSince1970) / 1e9
                    try check(time)
                }
                let validity = Double(Int.random(in: 1...1_000, using: &random))
                switch Int.random(in: 0..<10, using: &random) {
                case 0:
                    base = seconds + validity
                    try desk.grant(.reduced(validity: .duration(.seconds(validity))), of: "phone", to: "c0", at: now)
                case 1, 2:
                    full = seconds + validity
                    try desk.grant(
                        .fullAccuracy("trip", validity: .duration(.seconds(validity))), of: "phone", to: "c0", at: now)
                case 3 where Int.random(in: 0..<3, using: &random) == 0:
                    (base, full) = (nil, nil)
                    try desk.revoke(of: "phone", from: "c0", at: now)
                case 4 where Int.random(in: 0..<3, using: &random) == 0:
                    isPaused.toggle()
                    if isPaused { try desk.pause(at: now) } else { try desk.resume(at: now) }
                case 5, 6:
                    let isTrip = Bool.random(using: &random)
                    let session = try desk.openSession(
                        of: "phone", for: "c0", authorization: .whenInUse,
                        fullAccuracyPurposeKey: isTrip ? "trip" : "rescue", at: now)
                    sessions[session] = isTrip
                    if sessions.count > 3, let first = sessions.keys.first {
                        sessions[first] = nil
                        try desk.closeSession(first, at: now)
                    }
                case 7:
                    if let first = sessions.keys.first {
                        sessions[first] = nil
                        try desk.closeSession(first, at: now)
                    }
                default:
                    try desk.report(
                        fix(World.position(Int.random(in: 0..<4, using: &random), &random), seconds), from: "phone",
                        at: now)
                }
                try check(seconds)
            }
            func check(_ seconds: Double) throws {
                let isFull = !isPaused && full.map { seconds < $0 } == true && sessions.values.contains(true)
                let isGranted = !isPaused && (base.map { seconds < $0 } == true || full.map { seconds < $0 } == true)
                for delivery in desk.take(id) {
                    guard case .update(let update) = delivery.content else { continue }
                    #expect(update.location == nil || isGranted)
                    if let location = update.location, location.accuracy == .full {
                        #expect(isFull)
                        fullCount += 1
                        wasFull = true
                    } else if wasFull {
                        endCount += 1
                        wasFull = false
                    }
                }
                // When full accuracy ends, something else was there at once.
                if wasFull { #expect(isFull) }
            }
        }
        #expect(fullCount > 500 && endCount > 100)
    }

    @Test func `when full accuracy lapses, the grant that stood before stands again`() throws {
        var desk = try desk()
        try desk.grant(.reduced(.authorizedAlways), of: "phone", to: "c0", at: moment(0))
        try desk.grant(.fullAccuracy("trip", for: .seconds(120)), of: "phone", to: "c0", at: moment(10))
        #expect(try desk.authorization(of: "phone", for: "c0").accuracy == .full)
        try desk.advance(to: moment(130))
        #expect(
            try desk.authorization(of: "phone", for: "c0")
                == Authorization(status: .authorizedAlways, accuracy: .reduced))
        #expect(desk.standings.first?.grants.map(\.end) == [nil])
    }

    @Test func `an exact location that waits is replaced when full accuracy ends`() throws {
        var desk = try desk()
        try desk.grant(.reduced(), of: "phone", to: "c0", at: moment(0))
        try desk.report(fix(World.center(1), 890), from: "phone", at: moment(890))
        try desk.grant(.fullAccuracy("trip", validity: .until(moment(1_000))), of: "phone", to: "c0", at: moment(900))
        _ = try desk.openSession(
            of: "phone", for: "c0", authorization: .whenInUse, fullAccuracyPurposeKey: "trip", at: moment(900))
        let id = try desk.subscribeToUpdates(of: "phone", for: "c0", at: moment(901))
        #expect(desk.take(id).count == 1)
        try desk.report(fix(World.center(2), 950), from: "phone", at: moment(950))
        try desk.advance(to: moment(1_000))
        let deliveries = desk.take(id)
        guard case .update(let update) = try #require(deliveries.first).content else { return }
        #expect(deliveries.count == 1 && update.place == 1 && update.location?.accuracy == .reduced)
        #expect(update.fullAccuracyDenied && deliveries[0].time == moment(1_000))
    }

    // MARK: Law 5

    @Test func `a precise position is in no state, description, dump or error`() throws {
        var desk = try desk()
        try desk.grant(.fullAccuracy("trip", validity: .untilRevoked), of: "phone", to: "c0", at: moment(0))
        _ = try desk.openSession(
            of: "phone", for: "c0", authorization: .whenInUse, fullAccuracyPurposeKey: "trip", at: moment(0))
        let id = try desk.subscribeToUpdates(of: "phone", for: "c0", at: moment(0))
        let monitor = try desk.openMonitor(of: "phone", for: "c0", at: moment(0))
        let position = Coordinate(latitude: 1.0234567, longitude: 4.0345678)
        try desk.addCondition(
            .circle(CircularGeographicCondition(center: position, radius: 100)), identifier: "home", to: monitor,
            at: moment(0))
        for seconds in [700.0, 890] { try desk.report(fix(position, seconds), from: "phone", at: moment(seconds)) }
        try desk.advance(to: moment(900))
        try desk.report(fix(position, 950), from: "phone", at: moment(950))
        var texts = ["\(desk)", String(reflecting: desk)]
        dump(desk, to: &texts[0])
        let deliveries = desk.take(id)
        dump(deliveries, to: &texts[1])
        texts += ["\(deliveries)", String(reflecting: deliveries)]
        for text in texts {
            for digits in ["0234", "0345", "1.02", "4.03"] { #expect(!text.contains(digits)) }
        }
        let snapshot = desk.snapshot()
        for number in [position.latitude, position.longitude] {
            func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
                (0..<number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
            }
            let doubles = bytes(number.bitPattern), floats = bytes(Float(number).bitPattern)
            let steps = bytes(Int32((number * 1e7).rounded()))
            for pattern in [doubles, floats, steps, Array(doubles.reversed())] {
                #expect(!snapshot.indices.contains { snapshot[$0...].starts(with: pattern) })
            }
        }
    }

    // MARK: Law 6

    @Test func `at most one answer waits, the newest`() throws {
        var desk = try desk()
        try desk.grant(.fullAccuracy("trip", validity: .untilRevoked), of: "phone", to: "c0", at: moment(0))
        _ = try desk.openSession(
            of: "phone", for: "c0", authorization: .whenInUse, fullAccuracyPurposeKey: "trip", at: moment(0))
        let full = try desk.subscribeToUpdates(of: "phone", for: "c0", at: moment(0))
        let reduced = try desk.subscribeToUpdates(
            of: "phone", for: "c0", desiredAccuracy: .reduced, at: moment(0))
        for seconds in 1...2_000 {
            try desk.report(
                fix(World.center(seconds / 900), Double(seconds)), from: "phone", at: moment(Double(seconds)))
        }
        let deliveries = desk.takeDeliveries()
        #expect(deliveries.count == 2)
        for delivery in deliveries {
            guard case .update(let update) = delivery.content else { continue }
            if delivery.subscription == full { #expect(update.location?.timestamp == moment(2_000)) }
            if delivery.subscription == reduced { #expect(update.location?.timestamp == moment(1_800)) }
        }
        #expect(desk.takeDeliveries().isEmpty)
    }

    @Test(.endsAtAll) func `a slow reader of a stream gets the newest, and nothing that was withdrawn`()
        async throws
    {
        let bench = try await Bench()
        try await bench.grant(.fullAccuracy("trip", validity: .untilRevoked))
        let session = try await bench.session(purpose: "trip")
        var updates = bench.updates().makeAsyncIterator()
        _ = try await updates.next()
        for seconds in 1...500 { try await bench.report(World.center(1), at: Double(seconds) / 2) }
        #expect(try await updates.next()?.location?.timestamp == moment(250))
        #expect(try await updates.isSilent())
        try await bench.report(World.center(2), at: 251)
        try await bench.service.revoke(of: bench.phone, from: bench.family)
        let denied = try #require(await updates.next())
        #expect(denied.location == nil && denied.authorizationDenied)
        #expect(try await updates.isSilent())
        withExtendedLifetime(session) {}
    }

    @Test func `a departure and the arrival after it are both told, though they come to be in one moment`() throws {
        var desk = try desk()
        try desk.grant(.reduced(hasExactVisitTimes: true), of: "phone", to: "c0", at: moment(0))
        let id = try desk.subscribeToVisits(of: "phone", for: "c0", at: moment(0))
        var visits: [Visit] = []
        // It comes to the second place ten minutes before a tick.
        for seconds in stride(from: 10.0, to: 2_000, by: 60) {
            try desk.report(fix(World.center(seconds < 1_190 ? 1 : 2), seconds), from: "phone", at: moment(seconds))
            try desk.advance(to: moment(seconds + 30))
            visits += desk.take(id).compactMap(\.content.visit)
        }
        #expect(visits.map(\.arrivalDate) == [nil, nil, moment(1_210)])
        #expect(visits.map(\.departureDate) == [nil, moment(1_210), nil])
    }

    /// While a grant holds.
    @Test(arguments: [false, true], [false, true])
    func `of visits a slow reader gets a part, arrivals and departures in turn, to the same end`(
        isExact: Bool, isFull: Bool
    ) throws {
        var random = SplitMix64(seed: isExact ? 61 : 62), slowCount = 0, fastCount = 0
        for _ in 0..<60 {
            var desk = try desk()
            try desk.grant(.reduced(hasExactVisitTimes: isExact), of: "phone", to: "c0", at: moment(0))
            try desk.grant(.fullAccuracy("trip", validity: .untilRevoked), of: "phone", to: "c0", at: moment(0))
            if isFull {
                _ = try desk.openSession(
                    of: "phone", for: "c0", authorization: .whenInUse, fullAccuracyPurposeKey: "trip", at: moment(0))
            }
            let fast = try desk.subscribeToVisits(of: "phone", for: "c0", at: moment(0))
            let slow = try desk.subscribeToVisits(of: "phone", for: "c0", at: moment(0))
            var seconds = 0.0, place = 0, stayEnd = 0.0
            var told: [SubscriptionID: [Visit]] = [fast: [], slow: []]
            func take(_ id: SubscriptionID) { told[id]? += desk.take(id).compactMap(\.content.visit) }
            while seconds < 40_000 {
                if seconds >= stayEnd {
                    place = Int.random(in: 0..<4, using: &random)
                    stayEnd = seconds + Double.random(in: 300...6_000, using: &random)
                }
                seconds += Double.random(in: 20...400, using: &random)
                try desk.report(fix(World.center(place), seconds), from: "phone", at: moment(seconds))
                take(fast)
                if Int.random(in: 0..<30, using: &random) == 0 { take(slow) }
            }
            take(slow)
            let (all, some) = (told[fast] ?? [], told[slow] ?? [])
            var rest = all[...]
            for visit in some {
                let found = rest.firstIndex(of: visit)
                #expect(found != nil)
                rest = rest[((found ?? rest.startIndex - 1) + 1)...]
            }
            for visits in [all, some] {
                for (place, visit) in visits.enumerated() {
                    #expect((visit.departureDate != nil) == (place % 2 == 1))
                    if place % 2 == 1 {
                        #expect(visit.arrivalDate == visits[place - 1].arrivalDate)
                        #expect(visit.location == visits[place - 1].location)
                    }
                }
            }
            #expect(some.count % 2 == all.count % 2 && (all.count % 2 == 0 || some.last == all.last))
            (slowCount, fastCount) = (slowCount + some.count, fastCount + all.count)
        }
        #expect(slowCount > 200 && fastCount > slowCount * 3 / 2)
    }

    @Test(arguments: ["revoke", "pause", "lapse", "accuracy"])
    func `what waits of a stay is dropped when its view ends`(end: String) throws {
        var desk = try desk()
        let validity = end == "lapse" ? Validity.until(moment(2_800)) : .untilRevoked
        try desk.grant(.reduced(validity: validity), of: "phone", to: "c0", at: moment(0))
        if end == "accuracy" {
            try desk.grant(
                .fullAccuracy("trip", validity: .until(moment(2_800)), hasExactVisitTimes: true), of: "phone", to: "c0",
                at: moment(0))
            _ = try desk.openSession(
                of: "phone", for: "c0", authorization: .whenInUse, fullAccuracyPurposeKey: "trip", at: moment(0))
        }
        let id = try desk.subscribeToVisits(of: "phone", for: "c0", at: moment(0))
        for seconds in stride(from: 10.0, to: 2_790, by: 60) {
            try desk.report(fix(World.center(1), seconds), from: "phone", at: moment(seconds))
        }
        try desk.advance(to: moment(2_790))
        #expect(desk.takesNow(id))
        switch end {
        case "revoke": try desk.revoke(of: "phone", from: "c0", at: moment(2_800))
        case "pause": try desk.pause(at: moment(2_800))
        default: try desk.advance(to: moment(2_800))
        }
        let visits = desk.take(id).compactMap(\.content.visit)
        #expect(visits.allSatisfy { end == "accuracy" && $0.location.accuracy == .reduced && $0.departureDate == nil })
    }

    @Test func `a reader that skipped two changes gets no duplicate`() throws {
        var desk = try desk()
        try desk.grant(.reduced(), of: "phone", to: "c0", at: moment(0))
        let id = try desk.subscribeToUpdates(of: "phone", for: "c0", at: moment(0))
        for (tick, place) in [1, 2, 1].enumerated() {
            let seconds = Double(tick) * 900 + 890
            try desk.report(fix(World.center(place), seconds), from: "phone", at: moment(seconds))
            try desk.advance(to: moment(Double(tick + 1) * 900))
            if tick == 0 { #expect(desk.take(id).count == 1) }
        }
        #expect(desk.take(id).isEmpty)
    }

    @Test func `pushes are spread over the minute after the tick, and withdrawn when the grant ends`() throws {
        var configuration = Desk.Configuration()
        configuration.spreadKey = 99
        var desk = try desk(40, configuration: configuration)
        var targets: Set<SubscriptionID> = []
        for number in 0..<40 {
            let name: ConsumerID = "c\(number)"
            try desk.grant(.reduced(.authorizedAlways), of: "phone", to: name, at: moment(0))
            let session = try desk.openSession(of: "phone", for: name, authorization: .always, at: moment(0))
            try desk.openBackgroundSession(of: "phone", for: name, at: moment(0))
            targets.insert(try desk.subscribeToPushes(of: "phone", for: name, at: moment(0)))
            try desk.closeSession(session, at: moment(0))
        }
        #expect(desk.takeDeliveries().count == 40)
        try desk.report(fix(World.center(1), 890), from: "phone", at: moment(890))
        var moments: [Timestamp] = []
        try desk.advance(to: moment(900))
        moments += desk.takeDeliveries().map { _ in desk.now }
        try desk.revoke(of: "phone", from: "c7", at: moment(900))
        let withdrawn = desk.takeDeliveries()
        #expect(withdrawn.count == 1 && moments.count < 5)
        while desk.nextEvent < moment(1_800) {
            try desk.advance(to: desk.nextEvent)
            for delivery in desk.takeDeliveries() {
                #expect(targets.contains(delivery.subscription) && delivery.time == moment(900))
                moments.append(desk.now)
            }
        }
        #expect(moments.count == 39 && Set(moments).count > 30)
        #expect(moments.allSatisfy { $0 >= moment(900) && $0 < moment(960) })
    }

    // MARK: Law 7

    @Test func `silence is explained once`() throws {
        var desk = try desk()
        let id = try desk.subscribeToUpdates(of: "phone", for: "c0", at: moment(0))
        func diagnostics() throws -> Diagnostics {
            let deliveries = desk.take(id)
            #expect(deliveries.count == 1)
            guard case .update(let update) = try #require(deliveries.first).content else { return [] }
            #expect(update.location == nil)
            return update.diagnostics
        }
        func silence(_ seconds: Double) throws {
            try desk.report(fix(World.center(1), seconds), from: "phone", at: moment(seconds))
            try desk.advance(to: moment(seconds + 2_000))
            #expect(desk.takeDeliveries().isEmpty)
        }
        #expect(try diagnostics() == .authorizationRequestInProgress)
        try silence(10)
        try desk.revoke(of: "phone", from: "c0", at: moment(3_000))
        #expect(try diagnostics() == .authorizationDenied)
        try silence(3_010)
        try desk.pause(at: moment(6_000))
        #expect(try diagnostics() == [.authorizationDenied, .authorizationDeniedGlobally])
        try silence(6_010)
        try desk.grant(.reduced(validity: .duration(.seconds(100))), of: "phone", to: "c0", at: moment(9_000))
        #expect(desk.takeDeliveries().isEmpty)
        try desk.advance(to: moment(20_000))
        try desk.resume(at: moment(20_000))
        #expect(try diagnostics() == .authorizationRequestInProgress)
        try desk.grant(.reduced(), of: "phone", to: "c0", at: moment(20_001))
        #expect(try diagnostics() == [.locationUnavailable, .accuracyLimited])
        try desk.advance(to: moment(40_000))
        #expect(desk.takeDeliveries().isEmpty)
    }
}

extension Desk {
    /// The newest update of a subscription; nil where none waits.
    fileprivate mutating func update(_ id: SubscriptionID) throws -> LocationUpdate? {
        guard let delivery = take(id).last else { return nil }
        guard case .update(let update) = delivery.content else { throw DeskError.ended }
        return update
    }
}
