import Hereabouts
import HereaboutsLive
import Testing

/// The scenarios of the talks about Core Location, as an app developer writes them against this library.
@Suite(.endsAtAll) struct ScenarioTests {
    // MARK: Updates

    @Test func `01 iterate updates and stop when stationary`() async throws {
        let bench = try await Bench()
        try await bench.grant()
        let seen = Seen<Int?>()
        let app = Task {
            for try await update in bench.updates() {
                seen.append(update.place)
                if update.stationary { break }
            }
        }
        #expect(try await seen.first(1) == [nil])
        try await bench.answer(3, atTick: 1)
        #expect(try await seen.first(2) == [nil, 3])
        try await bench.answer(4, atTick: 2)
        #expect(try await seen.first(3).last == 4)
        try await bench.answer(4, atTick: 3)
        try await bench.answer(4, atTick: 4)
        #expect(try await seen.first(4) == [nil, 3, 4, 4])
        try await app.value
    }

    @Test func `02 take the first update that satisfies a predicate`() async throws {
        let bench = try await Bench()
        try await bench.grant(.reduced(validity: .session))
        let app = Task { try await bench.updates().first { $0.location != nil } }
        while await bench.service.counts.kept == 0 {
            try await bench.report(World.center(2), at: 100)
            await Task.yield()
        }
        // The app is there before the tick.
        var authorizations = bench.service.authorizations(of: bench.phone, for: bench.family).makeAsyncIterator()
        #expect(try await authorizations.next()?.status == .authorizedWhenInUse)
        try await bench.at(900)
        #expect(try await app.value.place == 2)
        // Leaving ended the session, and with it what was allowed once.
        try await bench.at(900)
        try await bench.at(911)
        #expect(try await authorizations.next()?.status == .notDetermined)
    }

    @Test(arguments: [
        (LocationUpdate.LiveConfiguration.default, 4), (.automotiveNavigation, 4), (.otherNavigation, 3), (.fitness, 2),
        (.airborne, 1),
    ])
    func `03 updates with a configuration`(_ configuration: LocationUpdate.LiveConfiguration, _ count: Int) async throws
    {
        let bench = try await Bench()
        try await bench.grant(.fullAccuracy("trip", validity: .untilRevoked))
        let session = try await bench.session(purpose: "trip")
        var updates = bench.updates(configuration).makeAsyncIterator()
        #expect(try await updates.next()?.locationUnavailable == true)
        var found = 0
        for seconds in [10, 10.5, 11, 14] {
            try await bench.report(World.center(1), at: seconds)
            if try await updates.isSilent() { continue }
            #expect(try await updates.next()?.location?.timestamp == moment(seconds))
            found += 1
        }
        #expect(found == count)
        // Meaningless for reduced accuracy.
        session.invalidate()
        #expect(try await updates.next()?.location == nil)
    }

    @Test func `04 no location, then one, and a device at rest`() async throws {
        let bench = try await Bench()
        try await bench.grant()
        var updates = bench.updates().makeAsyncIterator()
        let none = try #require(await updates.next())
        #expect(none.location == nil && none.locationUnavailable && !none.stationary)
        try await bench.answer(1, atTick: 1)
        let one = try #require(await updates.next())
        #expect(one.place == 1 && !one.locationUnavailable && !one.stationary)
        try await bench.at(3 * 900)
        let rest = try #require(await updates.next())
        #expect(rest.place == 1 && rest.stationary && !rest.locationUnavailable)
        // The answer is older than two hours.
        try await bench.at(10 * 900)
        let stale = try #require(await updates.next())
        #expect(stale.location == nil && stale.locationUnavailable && !stale.stationary)
    }

    @Test func `05 paused when stationary, and resumed by itself`() async throws {
        let bench = try await Bench()
        try await bench.grant()
        var updates = bench.updates().makeAsyncIterator()
        _ = try await updates.next()
        for tick in 1...3 { try await bench.answer(5, atTick: tick) }
        #expect(try await updates.next()?.stationary == true)
        for tick in 4...8 { try await bench.answer(5, atTick: tick) }
        #expect(try await updates.isSilent())
        try await bench.answer(6, atTick: 9)
        let moved = try #require(await updates.next())
        #expect(moved.place == 6 && !moved.stationary)

        // The same with full accuracy.
        try await bench.grant(.fullAccuracy("trip", validity: .untilRevoked))
        let session = try await bench.session(purpose: "trip")
        for seconds in stride(from: 8_200.0, through: 8_600, by: 100) {
            try await bench.report(World.center(6), at: seconds)
        }
        #expect(try await updates.next()?.stationary == true)
        try await bench.report(World.center(6), at: 8_700)
        #expect(try await updates.isSilent())
        try await bench.report(World.center(7), at: 8_800)
        let away = try #require(await updates.next())
        #expect(away.location?.coordinate == World.center(7) && !away.stationary)
        session.invalidate()
    }

    // MARK: Sessions

    @Test func `06 a push consumer's background session`() async throws {
        let bench = try await Bench()
        try await bench.grant(.reduced(.authorizedAlways))
        // It cannot arm itself.
        await #expect(throws: DeskError.insufficientlyInUse) {
            try await bench.service.backgroundSession(of: bench.phone, for: bench.family)
        }
        let inUse = try await bench.session(.always)
        let background = try await bench.service.backgroundSession(of: bench.phone, for: bench.family)
        inUse.invalidate()
        var pushes = background.updates().makeAsyncIterator()
        #expect(try await pushes.next()?.locationUnavailable == true)
        try await bench.answer(2, atTick: 1)
        try await bench.at(960)
        #expect(try await pushes.next().place == 2)

        // Taken up again after a restart, though nobody is in use.
        let saved = try await bench.service.snapshot()
        let restarted = try await Bench(snapshot: saved, at: 1_000)
        try await restarted.at(1_100)
        let rejoined = try await restarted.service.backgroundSession(of: bench.phone, for: bench.family)
        var more = rejoined.updates().makeAsyncIterator()
        #expect(try await more.next().place == 2)
        // Letting go of it ends it.
        rejoined.invalidate()
        #expect(try await more.next() == nil)
        await #expect(throws: DeskError.insufficientlyInUse) {
            try await restarted.service.backgroundSession(of: bench.phone, for: bench.family)
        }
    }

    @Test(arguments: [true, false])
    func `07 and 08 updates in a session or without, and a denial`(isExplicit: Bool) async throws {
        let bench = try await Bench()
        let session = isExplicit ? try await bench.session() : nil
        var updates = bench.updates().makeAsyncIterator()
        let waiting = try #require(await updates.next())
        #expect(waiting.authorizationRequestInProgress && waiting.location == nil)
        let request = try #require(await bench.service.pendingRequests().first)
        #expect(request.kind == .whenInUse && request.consumer == bench.family && request.device == bench.phone)
        try await bench.service.decline(request)
        let denied = try #require(await updates.next())
        #expect(denied.diagnostics == .authorizationDenied && denied.location == nil)
        // Final: a new need does not ask again.
        var others = bench.updates().makeAsyncIterator()
        #expect(try await others.next()?.authorizationDenied == true)
        #expect(try await bench.requests().isEmpty)
        withExtendedLifetime(session) {}
    }

    @Test func `09 explicit sessions required`() async throws {
        let bench = try await Bench(requiresExplicitServiceSession: true)
        try await bench.grant()
        try await bench.answer(1, atTick: 1)
        var updates = bench.updates().makeAsyncIterator()
        let none = try #require(await updates.next())
        #expect(none.diagnostics == .serviceSessionRequired && none.location == nil)
        let session = try await bench.session()
        #expect(try await updates.next().place == 1)
        session.invalidate()
        #expect(try await updates.next()?.serviceSessionRequired == true)
    }

    @Test func `10 diagnostics until no request is in progress`() async throws {
        let bench = try await Bench()
        let session = try await bench.session()
        let app = Task {
            var count = 0
            for try await diagnostics in session.diagnostics {
                count += 1
                if !diagnostics.authorizationRequestInProgress { break }
            }
            return count
        }
        try await bench.service.accept(
            try #require(await bench.service.pendingRequests().first), validity: .untilRevoked)
        #expect(try await app.value >= 1)
        // Decided already: at once.
        var iterator = session.diagnostics.makeAsyncIterator()
        #expect(try await iterator.next() == [])
    }

    @Test func `11 diagnostics for as long as the feature lives`() async throws {
        let bench = try await Bench()
        let session = try await bench.session()
        var diagnostics = session.diagnostics.makeAsyncIterator()
        #expect(try await diagnostics.next() == .authorizationRequestInProgress)
        try await bench.grant(.reduced(validity: .duration(.seconds(3_600))))
        #expect(try await diagnostics.next() == [])
        try await bench.at(3_600)
        #expect(try await diagnostics.next() == .authorizationRequestInProgress)
        try await bench.service.revoke(of: bench.phone, from: bench.family)
        #expect(try await diagnostics.next() == .authorizationDenied)
        try await bench.grant()
        #expect(try await diagnostics.next() == [])
        try await bench.service.pause()
        #expect(try await diagnostics.next() == [.authorizationDenied, .authorizationDeniedGlobally])
        try await bench.service.resume()
        #expect(try await diagnostics.next() == [])
        session.invalidate()
        #expect(try await diagnostics.next() == nil)

        // What was allowed once has lapsed when the feature comes back.
        try await bench.service.reset(of: bench.phone, for: bench.family)
        let once = try await bench.session()
        try await bench.grant(.reduced(validity: .session))
        once.invalidate()
        try await bench.at(3_600)
        try await bench.at(3_611)
        let again = try await bench.session()
        var later = again.diagnostics.makeAsyncIterator()
        #expect(try await later.next() == .authorizationRequestInProgress)
    }

    @Test(arguments: [true, false])
    func `12 two layered sessions, each ended alone`(isPurposeFirst: Bool) async throws {
        let bench = try await Bench()
        let plain = try await bench.session()
        try await bench.grant()
        try await bench.answer(1, atTick: 1)
        var updates = bench.updates().makeAsyncIterator()
        #expect(try await updates.next()?.location?.accuracy == .reduced)
        let trip = try await bench.session(purpose: "trip")
        #expect(try await updates.next()?.authorizationRequestInProgress == true)
        try await bench.service.accept(
            try #require(await bench.service.pendingRequests().first), validity: .session)
        try await bench.report(World.center(2), at: 1_000)
        let full = try #require(await updates.next())
        #expect(full.location?.coordinate == World.center(2) && full.location?.accuracy == .full)
        if isPurposeFirst {
            trip.invalidate()
            let reduced = try #require(await updates.next())
            #expect(reduced.place == 1)
            plain.invalidate()
        } else {
            plain.invalidate()
            #expect(try await updates.isSilent())
            trip.invalidate()
            #expect(try await updates.next().place == 1)
        }
        // The stream itself is a session.
        try await bench.answer(3, atTick: 2)
        #expect(try await updates.next().place == 3)
    }

    @Test func `13 an unknown purpose`() async throws {
        let bench = try await Bench()
        await #expect(throws: DeskError.unknownPurpose) { try await bench.session(purpose: "curiosity") }
        await #expect(throws: DeskError.unknownPurpose) {
            try await bench.grant(.fullAccuracy("curiosity", validity: .untilRevoked))
        }
        #expect(try await bench.requests().isEmpty)
    }

    @Test func `14 full granted and reduced asked`() async throws {
        let bench = try await Bench()
        try await bench.grant(.fullAccuracy("trip", validity: .untilRevoked))
        let session = try await bench.session(purpose: "trip")
        try await bench.answer(1, atTick: 1)
        var reduced = bench.updates(desiredAccuracy: .reduced).makeAsyncIterator()
        var full = bench.updates().makeAsyncIterator()
        let asked = try #require(await reduced.next())
        #expect(asked.place == 1 && !asked.accuracyLimited)
        #expect(try await full.next()?.location?.accuracy == .full)
        try await bench.report(World.center(2), at: 950)
        #expect(try await full.next()?.location?.coordinate == World.center(2))
        #expect(try await reduced.isSilent())
        withExtendedLifetime(session) {}
    }

    // MARK: Validity

    @Test func `15 allow once`() async throws {
        let bench = try await Bench()
        var session: ServiceSession? = try await bench.session()
        try await bench.service.accept(
            try #require(await bench.service.pendingRequests().first), validity: .session)
        // Across a dip.
        session = nil
        try await bench.at(0)
        try await bench.at(9)
        session = try await bench.session()
        #expect(try await bench.requests().isEmpty)
        #expect(
            try await bench.service.authorization(of: bench.phone, for: bench.family).status == .authorizedWhenInUse)
        // Not across a longer gap.
        session = nil
        try await bench.at(20)
        try await bench.at(30)
        #expect(try await bench.service.authorization(of: bench.phone, for: bench.family).status == .notDetermined)
        #expect(try await bench.requests().isEmpty)
        // Asked again only for a new need.
        session = try await bench.session()
        #expect(try await bench.requests() == [.whenInUse])
        withExtendedLifetime(session) {}
    }

    @Test func `16 provisional always`() async throws {
        let bench = try await Bench()
        try await bench.grant()
        let session = try await bench.session(.always)
        // To the consumer it looks like always.
        #expect(
            try await bench.service.authorization(of: bench.phone, for: bench.family).status == .authorizedAlways)
        #expect(try await bench.requests().isEmpty)
        let background = try await bench.service.backgroundSession(of: bench.phone, for: bench.family)
        var pushes = background.updates().makeAsyncIterator()
        _ = try await pushes.next()
        session.invalidate()
        try await bench.at(1)
        try await bench.at(20)
        // The first answer that nobody is there for is held, and the owner asked.
        try await bench.answer(1, atTick: 1)
        #expect(try await bench.requests() == [.always])
        try await bench.at(970)
        #expect(try await pushes.next()?.authorizationRequestInProgress == true)
        // A newer one displaces it, and nobody is asked twice.
        try await bench.answer(2, atTick: 2)
        #expect(try await bench.requests() == [.always])
        #expect(try await pushes.isSilent())
        try await bench.service.accept(
            try #require(await bench.service.pendingRequests().first), validity: .untilRevoked)
        #expect(try await pushes.next().place == 2)
    }

    @Test func `16 what was held too long is dropped, and a no is offered once`() async throws {
        for isAccepted in [true, false] {
            let bench = try await Bench()
            try await bench.grant()
            let session = try await bench.session(.always)
            let background = try await bench.service.backgroundSession(of: bench.phone, for: bench.family)
            session.invalidate()
            try await bench.at(1)
            try await bench.at(20)
            var pushes = background.updates().makeAsyncIterator()
            _ = try await pushes.next()
            try await bench.answer(1, atTick: 1)
            try await bench.at(970)
            _ = try await pushes.next()
            let request = try #require(await bench.service.pendingRequests().first)
            try await bench.at(900 + 3_601)
            if isAccepted {
                try await bench.service.accept(request, validity: .untilRevoked)
                #expect(try await pushes.isSilent())
                try await bench.answer(2, atTick: 6)
                try await bench.at(6 * 900 + 60)
                #expect(try await pushes.next().place == 2)
            } else {
                try await bench.service.decline(request)
                let refused = try #require(await pushes.next())
                #expect(refused.alwaysAuthorizationDenied && refused.insufficientlyInUse && refused.location == nil)
                let again = try await bench.session(.always)
                var diagnostics = again.diagnostics.makeAsyncIterator()
                #expect(try await diagnostics.next()?.alwaysAuthorizationDenied == true)
                #expect(try await bench.requests().isEmpty)
            }
        }
    }

    @Test func `17 until tomorrow morning`() async throws {
        let bench = try await Bench()
        // 14:15 UTC is 16:15 two hours east; the morning is at 02:00 UTC.
        await #expect(throws: DeskError.alwaysExcluded) {
            try await bench.grant(.reduced(.authorizedAlways, validity: .untilMorning(secondsFromGMT: 7_200)))
        }
        try await bench.grant(.reduced(validity: .untilMorning(secondsFromGMT: 7_200)))
        let end = 11 * 3_600.0 + 45 * 60
        try await bench.at(end - 1)
        #expect(
            try await bench.service.authorization(of: bench.phone, for: bench.family).status == .authorizedWhenInUse)
        try await bench.at(end)
        #expect(try await bench.service.authorization(of: bench.phone, for: bench.family).status == .notDetermined)
    }

    // MARK: Monitors and visits

    private let near = CircularGeographicCondition(center: World.center(4), radius: 200)

    @Test func `18 a circle with full accuracy, and withheld without`() async throws {
        let bench = try await Bench()
        try await bench.grant()
        let monitor = try await bench.service.monitor(of: bench.phone, for: bench.family)
        var events = monitor.events.makeAsyncIterator()
        try await monitor.add(.circle(near), identifier: "home")
        let withheld = try #require(await events.next())
        #expect(withheld.identifier == "home" && withheld.state == .unknown && withheld.accuracyLimited)

        try await bench.grant(.fullAccuracy("trip", validity: .untilRevoked))
        try await bench.report(World.center(3), at: 10)
        let session = try await bench.session(purpose: "trip")
        #expect(try await events.next()?.state == .unsatisfied)
        try await bench.report(World.center(4), at: 20)
        let entered = try #require(await events.next())
        #expect(entered.state == .satisfied && entered.date == moment(20))
        try await bench.report(World.center(3), at: 30)
        #expect(try await events.next()?.state == .unsatisfied)
        session.invalidate()
        #expect(try await events.next()?.accuracyLimited == true)
    }

    @Test func `18 the twenty-first condition`() async throws {
        let bench = try await Bench()
        try await bench.grant()
        let monitor = try await bench.service.monitor(of: bench.phone, for: bench.family)
        for number in 1...20 {
            try await monitor.add(.country("AA"), identifier: "\(number)", assuming: .unknown)
        }
        try await monitor.add(.country("BB"), identifier: "21")
        var events = monitor.events.makeAsyncIterator()
        var last: LocationMonitor.Event?
        for _ in 0..<21 {
            last = try await events.next()
            if last?.identifier == "21" { break }
        }
        #expect(last?.conditionLimitExceeded == true && last?.state == .unmonitored)
        try await monitor.remove("1")
        try await monitor.add(
            .circle(CircularGeographicCondition(center: World.center(1), radius: .nan)), identifier: "22")
        while last?.identifier != "22" { last = try await events.next() }
        #expect(last?.conditionUnsupported == true && last?.state == .unmonitored)
    }

    @Test func `19 region and country for a reduced consumer`() async throws {
        let bench = try await Bench()
        try await bench.grant()
        try await bench.answer(6, atTick: 1)
        var updates = bench.updates().makeAsyncIterator()
        let region = try #require(await updates.next()?.location?.reduced?.region)
        let monitor = try await bench.service.monitor(of: bench.phone, for: bench.family)
        var events = monitor.events.makeAsyncIterator()
        try await monitor.add(.region(RegionCondition(region)), identifier: "here")
        let initial = try #require(await events.next())
        #expect(initial.state == .satisfied && initial.date == moment(900) && !initial.accuracyLimited)
        try await monitor.add(.country("BB"), identifier: "abroad")
        #expect(try await events.next()?.state == .unsatisfied)
        // Not when the border is crossed, but at the tick.
        try await bench.report(World.center(7), at: 1_000)
        try await bench.at(1_800)
        let first = try #require(await events.next()), second = try #require(await events.next())
        #expect(first.identifier == "here" && first.state == .unsatisfied && first.date == moment(1_800))
        #expect(second.identifier == "abroad" && second.state == .satisfied && second.date == moment(1_800))
    }

    @Test func `20 beacons by UUID alone, by major, by minor`() async throws {
        let bench = try await Bench()
        let uuid = try #require(BeaconUUID("e2c56db5-dffb-48d2-b060-d0f5a71096e0"))
        #expect("\(uuid)" == "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0")
        try await bench.grant()
        let monitor = try await bench.service.monitor(of: bench.phone, for: bench.family)
        var events = monitor.events.makeAsyncIterator()
        try await monitor.add(.beacon(BeaconIdentityCondition(uuid: uuid)), identifier: "any")
        #expect(try await events.next()?.accuracyLimited == true)
        try await bench.grant(.fullAccuracy("trip", validity: .untilRevoked))
        try await bench.at(1)
        let session = try await bench.session(purpose: "trip")
        #expect(try await events.next()?.state == .unsatisfied)
        try await monitor.add(.beacon(BeaconIdentityCondition(uuid: uuid, major: 7)), identifier: "major")
        #expect(try await events.next()?.state == .unsatisfied)
        try await monitor.add(.beacon(BeaconIdentityCondition(uuid: uuid, major: 7, minor: 2)), identifier: "minor")
        #expect(try await events.next()?.state == .unsatisfied)
        try await bench.service.report(
            beacons: [
                BeaconSighting(uuid: uuid, major: 7, minor: 1),
                BeaconSighting(uuid: uuid, major: 7, minor: 2, accuracy: 9),
                BeaconSighting(uuid: uuid, major: 8, minor: 3, accuracy: 2),
            ], from: bench.phone)
        var found: [String: [UInt16]] = [:]
        for _ in 0..<3 {
            let event = try #require(await events.next())
            #expect(event.state == .satisfied)
            found[event.identifier] = event.beacons.map(\.minor)
        }
        #expect(found == ["any": [3, 2, 1], "major": [2, 1], "minor": [2]])
        try await bench.service.report(beacons: [], from: bench.phone)
        #expect(try await events.next()?.state == .unsatisfied)
        withExtendedLifetime(session) {}
    }

    @Test func `a monitor's records, and countries that the atlas does not have`() async throws {
        let bench = try await Bench()
        try await bench.grant()
        let monitor = try await bench.service.monitor(of: bench.phone, for: bench.family)
        try await monitor.add(.country("AA"), identifier: "here")
        try await monitor.add(.circle(center: World.center(1), radius: 100), identifier: "home")
        for code in ["aa", "QQ"] {
            let country = try #require(Country(code))
            try await monitor.add(.country(CountryCondition(country)), identifier: code)
        }
        #expect(await monitor.identifiers == ["here", "home"])
        try await bench.answer(1, atTick: 1)
        let record = try #require(await monitor.record(for: "here"))
        #expect(record.condition == .country("AA") && record.lastEvent?.state == .satisfied)
        #expect(await monitor.record(for: "aa") == nil)
        var events: [String: Diagnostics] = [:]
        var iterator = monitor.events.makeAsyncIterator()
        while events.count < 4, let event = try await iterator.next() { events[event.identifier] = event.diagnostics }
        #expect(
            events == ["here": [], "home": .accuracyLimited, "aa": .conditionUnsupported, "QQ": .conditionUnsupported])
    }

    @Test func `21 a visit for a reduced and a full consumer`() async throws {
        let bench = try await Bench()
        try await bench.grant()
        var visits = bench.service.visits(of: bench.phone, for: bench.family).makeAsyncIterator()
        try await visits.open()
        try await bench.answer(1, atTick: 1)
        for tick in 2...4 { try await bench.answer(5, atTick: tick) }
        let arrival = try #require(await visits.next())
        #expect(arrival.arrivalDate == moment(1_800) && arrival.departureDate == nil)
        #expect(arrival.location.coordinate == World.center(5) && arrival.location.accuracy == .reduced)
        try await bench.answer(6, atTick: 6)
        let departure = try #require(await visits.next())
        #expect(departure.arrivalDate == moment(1_800) && departure.departureDate == moment(6 * 900))

        try await bench.service.addConsumer(Consumer("partner", fullAccuracyPurposes: ["trip"]))
        try await bench.service.grant(.fullAccuracy("trip", validity: .untilRevoked), of: bench.phone, to: "partner")
        let session = try await bench.service.session(
            of: bench.phone, for: "partner", authorization: .whenInUse, fullAccuracyPurposeKey: "trip")
        var exact = bench.service.visits(of: bench.phone, for: "partner").makeAsyncIterator()
        try await exact.open()
        try await bench.report(World.center(7), at: 5_402)
        for seconds in stride(from: 5_410.0, through: 5_710, by: 100) {
            try await bench.report(World.center(8), at: seconds)
        }
        let stay = try #require(await exact.next())
        #expect(stay.arrivalDate == moment(5_410) && stay.location.coordinate == World.center(8))
        try await bench.report(World.center(9), at: 5_777)
        let left = try #require(await exact.next())
        #expect(left.departureDate == moment(5_777) && left.arrivalDate == moment(5_410))
        withExtendedLifetime(session) {}
    }

    @Test func `21 exact times where they are granted, reduced in space`() async throws {
        let bench = try await Bench()
        try await bench.grant(.reduced(hasExactVisitTimes: true))
        var visits = bench.service.visits(of: bench.phone, for: bench.family).makeAsyncIterator()
        try await visits.open()
        try await bench.report(World.center(4), at: 100)
        for seconds in stride(from: 123.0, through: 823, by: 100) {
            try await bench.report(World.center(5), at: seconds)
        }
        #expect(try await visits.isSilent())
        try await bench.at(900)
        let arrival = try #require(await visits.next())
        #expect(arrival.arrivalDate == moment(123) && arrival.location.accuracy == .reduced)
        try await bench.report(World.center(6), at: 1_001)
        #expect(try await visits.isSilent())
        try await bench.at(1_800)
        #expect(try await visits.next()?.departureDate == moment(1_001))
    }

    // MARK: Companions

    @Test func `22 the drive along the border`() async throws {
        let bench = try await Bench()
        try await bench.grant()
        try await bench.service.addConsumer(Consumer("partner", fullAccuracyPurposes: ["trip"]))
        try await bench.service.grant(.fullAccuracy("trip", validity: .untilRevoked), of: bench.phone, to: "partner")
        let session = try await bench.service.session(
            of: bench.phone, for: "partner", authorization: .whenInUse, fullAccuracyPurposeKey: "trip")
        var reduced = bench.updates().makeAsyncIterator()
        var full = bench.service.updates(of: bench.phone, for: "partner").makeAsyncIterator()
        _ = try await (reduced.next(), full.next())
        // 6 is the last region of AA, 7 the first of BB.
        for (tick, place) in [6, 7, 6, 7].enumerated() {
            try await bench.report(World.center(13 - place), at: Double(tick) * 900 + 300)
            try await bench.report(World.center(place), at: Double(tick) * 900 + 600)
            #expect(try await full.next()?.location?.coordinate == World.center(place))
            try await bench.at(Double(tick + 1) * 900)
            let seen = try #require(await reduced.next()?.location?.reduced)
            #expect(seen.country.code == (place == 6 ? "AA" : "BB"))
        }
        withExtendedLifetime(session) {}
    }

    @Test func `23 a companion connection shares temporary authorization`() async throws {
        let bench = try await Bench()
        let session = try await bench.session(purpose: "trip")
        try await bench.service.accept(
            try #require(await bench.service.pendingRequests().first), validity: .session)
        try await bench.service.accept(
            try #require(await bench.service.pendingRequests().first), validity: .session)
        try await bench.report(World.center(3), at: 10)
        var phone = bench.updates().makeAsyncIterator(), watch = bench.updates().makeAsyncIterator()
        #expect(try await phone.next()?.location?.accuracy == .full)
        #expect(try await watch.next()?.location?.accuracy == .full)
        #expect(try await bench.requests().isEmpty)
        withExtendedLifetime(session) {}
    }

    @Test func `24 a read-only link`() async throws {
        let bench = try await Bench()
        try await bench.service.addConsumer(Consumer("page", derivedFrom: bench.family))
        var updates = bench.service.updates(of: bench.phone, for: "page").makeAsyncIterator()
        #expect(try await updates.next()?.diagnostics == .authorizationRestricted)
        #expect(try await bench.requests().isEmpty)
        await #expect(throws: DeskError.readOnlyLink) {
            try await bench.service.session(of: bench.phone, for: "page", authorization: .whenInUse)
        }
        await #expect(throws: DeskError.readOnlyLink) {
            try await bench.service.grant(.reduced(), of: bench.phone, to: "page")
        }
        try await bench.grant(.fullAccuracy("trip", validity: .untilRevoked))
        #expect(try await updates.next()?.locationUnavailable == true)
        let session = try await bench.session(purpose: "trip")
        try await bench.answer(3, atTick: 1)
        // Reduced, whatever its consumer has.
        let update = try #require(await updates.next())
        #expect(update.place == 3 && update.accuracyLimited)
        try await bench.service.revoke(of: bench.phone, from: bench.family)
        #expect(try await updates.next()?.authorizationDenied == true)
        withExtendedLifetime(session) {}
    }
}
