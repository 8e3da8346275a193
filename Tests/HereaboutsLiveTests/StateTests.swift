import FixedRandom
import Hereabouts
import HereaboutsLive
import Testing

/// What survives a restart, what does not, and what there may be at most.
@Suite(.endsAtAll) struct StateTests {
    private func desk(_ configuration: Desk.Configuration = Desk.Configuration()) throws -> Desk {
        try Desk(configuration: configuration, atlas: World.atlas.get(), now: moment(0))
    }

    /// A desk with something of everything that is kept.
    private func busyDesk() throws -> Desk {
        var desk = try desk()
        for device in 0..<5 { try desk.addDevice("d\(device)") }
        try desk.addConsumer(Consumer("a", fullAccuracyPurposes: ["trip", "rescue"]))
        try desk.addConsumer(Consumer("page", derivedFrom: "a"))
        try desk.addConsumer(Consumer("b", fullAccuracyPurposes: ["trip"], requiresExplicitServiceSession: true))
        try desk.grant(.reduced(), of: "d0", to: "b", at: moment(0))
        for device in 0..<4 {
            for seconds in [890.0, 1_790] {
                try desk.report(
                    fix(World.center(device), seconds), from: "d\(device)", at: moment(max(890, seconds)))
            }
        }
        try desk.advance(to: moment(1_800))
        let now = moment(1_800)
        try desk.grant(.reduced(.authorizedAlways), of: "d0", to: "a", at: now)
        try desk.grant(.fullAccuracy("trip", validity: .duration(.seconds(600))), of: "d0", to: "a", at: now)
        _ = try desk.openSession(of: "d0", for: "a", authorization: .always, at: now)
        try desk.openBackgroundSession(of: "d0", for: "a", at: now)
        try desk.grant(.reduced(validity: .session), of: "d1", to: "a", at: now)
        _ = try desk.subscribeToUpdates(of: "d1", for: "a", at: now)
        _ = try desk.openSession(
            of: "d1", for: "a", authorization: .whenInUse, fullAccuracyPurposeKey: "rescue", at: now)
        try desk.revoke(of: "d2", from: "a", at: now)
        _ = try desk.openSession(of: "d3", for: "b", authorization: .whenInUse, at: now)
        // Provisional always, with an answer that is held.
        try desk.grant(.reduced(), of: "d0", to: "b", at: now)
        let session = try desk.openSession(of: "d0", for: "b", authorization: .always, at: now)
        try desk.openBackgroundSession(of: "d0", for: "b", at: now)
        try desk.closeSession(session, at: now)
        try desk.advance(to: moment(1_811))
        _ = try desk.subscribeToPushes(of: "d0", for: "b", at: moment(1_811))
        return desk
    }

    @Test func `a restart keeps decisions, requests, background sessions and pace`() throws {
        var desk = try busyDesk()
        let bytes = desk.snapshot()
        var restored = try Desk(snapshot: bytes, atlas: desk.atlas, now: desk.now)
        #expect(restored.snapshot() == bytes && restored.now == desk.now)
        #expect(restored.requests == desk.requests && desk.requests.count == 3)
        for consumer: ConsumerID in ["a", "b", "page"] {
            for device in 0..<5 {
                #expect(
                    try restored.authorization(of: "d\(device)", for: consumer)
                        == desk.authorization(of: "d\(device)", for: consumer))
            }
        }
        #expect(restored.hasBackgroundSession(of: "d0", for: "a"))
        // What a tick has answered is not answered again.
        #expect(try restored.report(fix(World.center(5), 1_795), from: "d0", at: moment(1_811)) == .late)
        // The grant ends when it would have.
        try restored.advance(to: moment(2_400))
        #expect(try restored.authorization(of: "d0", for: "a").accuracy == .reduced)
        // Whoever was in use had ten seconds to return.
        #expect(try restored.authorization(of: "d1", for: "a").status == .notDetermined)
        try desk.advance(to: moment(2_400))
        #expect(try desk.authorization(of: "d1", for: "a").status == .authorizedWhenInUse)
        // The held answer is there for the owner's decision.
        let always = try #require(restored.requests.first { $0.kind == .always })
        let pushes = try restored.subscribeToPushes(of: "d0", for: "b", at: moment(2_400))
        _ = restored.take(pushes)
        try restored.accept(always, validity: .untilRevoked, at: moment(2_401))
        guard case .update(let update) = try #require(restored.take(pushes).first).content else { return }
        #expect(update.place == 0)
    }

    /// A snapshot of version 1, as documented then: a phone with its state, and a grant for the family.
    private func firstVersion(_ state: DeviceState, isPaused: Bool, at now: Timestamp) -> [UInt8] {
        var bytes = Array("HEREDESK".utf8)
        func append(_ number: some FixedWidthInteger) {
            for byte in 0..<(number.bitWidth / 8) { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * byte))) }
        }
        func append(_ text: String) {
            append(UInt32(text.utf8.count))
            bytes += Array(text.utf8)
        }
        append(UInt32(1))
        append(UInt32(isPaused ? 1 : 0))
        append(Int64(900_000_000_000))
        append(now.nanosecondsSince1970)
        append(UInt64(1))
        append("phone")
        append(UInt8(1))
        bytes += state.bytes
        append(UInt64(1))
        append("family")
        append(UInt8(0))
        append("")
        append(UInt64(0))
        append(UInt64(1))
        append(UInt64(0))
        append(UInt64(0))
        append(UInt8(0))
        append(UInt8(0))
        append(Int64(0))
        append(UInt64(0))
        append(UInt64(0))
        append(UInt64(1))
        append("")
        append(AuthorizationStatus.authorizedWhenInUse.rawValue)
        append(Int64.max)
        append(UInt8(4))
        append(UInt64(0))
        return sealed(bytes)
    }

    @Test func `a snapshot of version 1 is read, its grants as they were, its pause as one of all times`() throws {
        var old = try desk()
        let phone = try old.addDevice("phone")
        try old.report(fix(World.center(3), 890), from: "phone", at: moment(890))
        try old.advance(to: moment(900))
        let state = try #require(old.state(ofDevice: phone))
        func restored(isPaused: Bool) throws -> Desk {
            try Desk(
                snapshot: firstVersion(state, isPaused: isPaused, at: moment(1_000)), atlas: old.atlas,
                otherAtlas: .keepingRegions(of: old.atlas), now: moment(1_000))
        }
        var desk = try restored(isPaused: false)
        #expect(try desk.preview(of: "phone", for: "family").place == 3 && !desk.isPaused)
        try desk.grant(.reduced(), of: "phone", to: "family", at: moment(1_001))
        #expect(try desk.preview(of: "phone", for: "family").place == 3)
        desk = try restored(isPaused: true)
        #expect(desk.isPaused)
        #expect(try desk.report(fix(World.center(4), 1_010), from: "phone", at: moment(1_010)) == .paused)
        try desk.resume(at: moment(1_020))
        #expect(try desk.report(fix(World.center(4), 950), from: "phone", at: moment(1_030)) == .paused)
        #expect(try desk.preview(of: "phone", for: "family").locationUnavailable)
        let again = try Desk(snapshot: desk.snapshot(), atlas: desk.atlas, now: desk.now)
        #expect(again.snapshot() == desk.snapshot())
    }

    @Test func `sessions return within the grace after a restart`() throws {
        let desk = try busyDesk()
        var restored = try Desk(snapshot: desk.snapshot(), atlas: desk.atlas, now: moment(5_000))
        _ = try restored.subscribeToUpdates(of: "d1", for: "a", at: moment(5_009))
        try restored.advance(to: moment(9_000))
        #expect(try restored.authorization(of: "d1", for: "a").status == .authorizedWhenInUse)
    }

    @Test func `devices are kept one by one as well`() throws {
        let desk = try busyDesk()
        var restored = try Desk(
            snapshot: desk.snapshot(includesDevices: false), atlas: desk.atlas, now: desk.now)
        for device in 0..<5 {
            let index = try #require(desk.deviceIndex("d\(device)"))
            guard let state = desk.state(ofDevice: index) else {
                #expect(device == 4)
                continue
            }
            let read = try #require(DeviceState(bytes: state.bytes))
            #expect(read == state && state.bytes.count == DeviceState.byteCount)
            try restored.restore(
                read, ofDevice: try #require(restored.deviceIndex("d\(device)")), from: desk.atlas.fingerprint)
        }
        #expect(restored.snapshot() == desk.snapshot())
        #expect(DeviceState(bytes: [UInt8](repeating: 0, count: DeviceState.byteCount)) == nil)
        #expect(DeviceState(bytes: []) == nil)
    }

    @Test func `bytes that are no snapshot are refused`() throws {
        let desk = try busyDesk()
        let bytes = desk.snapshot()
        func restore(_ bytes: [UInt8]) throws -> Desk {
            try Desk(snapshot: bytes, atlas: desk.atlas, now: desk.now)
        }
        #expect(throws: DeskSnapshotError.notASnapshot) { try restore([]) }
        for count in 8..<bytes.count {
            #expect(throws: DeskSnapshotError.damaged) { try restore(Array(bytes.prefix(count))) }
        }
        for offset in 8..<bytes.count {
            var damaged = bytes
            damaged[offset] ^= 1 << UInt8(offset % 8)
            #expect(throws: DeskSnapshotError.damaged) { try restore(damaged) }
        }
    }

    /// Forged bytes with the right checksum restore a desk or are refused; a restored one works.
    @Test func `forged snapshots do not trap`() throws {
        var random = SplitMix64(seed: 4)
        let bytes = try busyDesk().snapshot()
        var restored = 0
        for _ in 0..<3_000 {
            var forged = Array(bytes.dropLast(8))
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let offset = Int.random(in: 8..<forged.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: forged[offset] = UInt8.random(in: 0...255, using: &random)
                case 1: forged[offset] = [0, 1, 255].randomElement(using: &random)!
                default:
                    forged.removeSubrange(offset..<min(forged.count, offset + Int.random(in: 1...9, using: &random)))
                }
            }
            forged = sealed(forged)
            guard var desk = try? Desk(snapshot: forged, atlas: World.atlas.get(), now: moment(1_811)) else { continue }
            restored += 1
            let end = Timestamp(nanosecondsSince1970: desk.now.nanosecondsSince1970 &+ 3_600_000_000_000)
            try desk.advance(to: max(end, desk.now))
            _ = try? desk.subscribeToUpdates(of: "d0", for: "a", at: desk.now)
            _ = desk.snapshot()
        }
        #expect(restored > 100)
    }

    @Test func `limits are errors of their own`() throws {
        var configuration = Desk.Configuration()
        configuration.limits.devices = 2
        configuration.limits.consumers = 2
        configuration.limits.relations = 1
        configuration.limits.sessionsPerRelation = 2
        configuration.limits.subscriptions = 3
        configuration.limits.subscriptionsPerRelation = 2
        configuration.limits.purposes = 1
        configuration.limits.beacons = 1
        configuration.limits.nameByteCount = 8
        var desk = try desk(configuration)
        let now = moment(0)
        try desk.addDevice("a")
        try desk.addDevice("b")
        try desk.addConsumer(Consumer("c", fullAccuracyPurposes: ["p"]))
        func fails(_ error: DeskError, _ body: (inout Desk) throws -> Void) {
            #expect(throws: error) { try body(&desk) }
        }
        fails(.limitExceeded(.devices)) { try $0.addDevice("c") }
        fails(.nameTaken) { try $0.addDevice("a") }
        fails(.invalidName) { try $0.addDevice("") }
        fails(.invalidName) { try $0.addDevice("123456789") }
        fails(.nameTaken) { try $0.addConsumer(Consumer("c")) }
        fails(.limitExceeded(.purposes)) { try $0.addConsumer(Consumer("d", fullAccuracyPurposes: ["p", "q"])) }
        fails(.unknownConsumer) { try $0.addConsumer(Consumer("d", derivedFrom: "nobody")) }
        try desk.addConsumer(Consumer("d", derivedFrom: "c"))
        fails(.limitExceeded(.consumers)) { try $0.addConsumer(Consumer("e")) }
        fails(.notAGrant) { try $0.grant(.reduced(.denied), of: "a", to: "c", at: now) }
        fails(.invalidValidity) { try $0.grant(.reduced(validity: .until(now)), of: "a", to: "c", at: now) }
        fails(.invalidValidity) { try $0.grant(.reduced(validity: .duration(.zero)), of: "a", to: "c", at: now) }
        fails(.invalidValidity) {
            try $0.grant(.reduced(validity: .untilMorning(secondsFromGMT: .min + 1)), of: "a", to: "c", at: now)
        }
        fails(.unknownDevice) { try $0.grant(.reduced(), of: "x", to: "c", at: now) }
        fails(.unknownConsumer) { try $0.grant(.reduced(), of: "a", to: "x", at: now) }
        try desk.grant(.reduced(), of: "a", to: "c", at: now)
        fails(.limitExceeded(.relations)) { try $0.grant(.reduced(), of: "b", to: "c", at: now) }
        for _ in 0..<2 { _ = try desk.openSession(of: "a", for: "c", authorization: .none, at: now) }
        fails(.limitExceeded(.sessions)) { _ = try $0.openSession(of: "a", for: "c", authorization: .none, at: now) }
        for _ in 0..<2 { _ = try desk.subscribeToUpdates(of: "a", for: "c", at: now) }
        fails(.limitExceeded(.subscriptions)) { _ = try $0.subscribeToUpdates(of: "a", for: "c", at: now) }
        _ = try desk.subscribeToRequests(at: now)
        fails(.limitExceeded(.subscriptions)) { _ = try $0.subscribeToRequests(at: now) }
        let beacon = BeaconSighting(
            uuid: try #require(BeaconUUID(String(repeating: "0", count: 32))), major: 0, minor: 0)
        fails(.limitExceeded(.beacons)) { try $0.report(beacons: [beacon, beacon], from: "a", at: now) }
        fails(.coordinate(.latitudeOutOfRange)) {
            try $0.report(fix(Coordinate(latitude: 91, longitude: 0), 0), from: "a", at: now)
        }
        #expect(desk.counts.invalid == 1)
    }

    @Test func `fixes that change nothing are counted`() throws {
        var desk = try desk()
        try desk.addDevice("d")
        func report(_ time: Double, at now: Double) throws -> Desk.Reception {
            try desk.report(fix(World.center(1), time), from: "d", at: moment(now))
        }
        #expect(try report(100, at: 100) == .kept)
        #expect(try report(100, at: 101) == .late)
        #expect(try report(401.001, at: 101) == .future)
        #expect(try report(401, at: 101) == .kept)
        #expect(try report(140, at: 140) == .kept)
        #expect(try report(-10_000, at: 140) == .late)
        try desk.advance(to: moment(900))
        #expect(try report(899, at: 901) == .late)
        // A clock error of a device silences nobody: its next true fix counts.
        #expect(try report(905, at: 905) == .kept)
        // After its tick, which had none: it counts for the next one.
        try desk.advance(to: moment(2_700))
        #expect(try report(2_699, at: 2_701) == .kept)
        var answers = 0
        try desk.advance(to: moment(3_599)) { _ in answers += 1 }
        #expect(answers == 0)
        try desk.advance(to: moment(3_600)) { _ in answers += 1 }
        #expect(answers == 1)
        #expect(desk.counts.kept == 5 && desk.counts.late == 3 && desk.counts.future == 1)
        // A clock that is set back by a little is waited for.
        try desk.advance(to: moment(2_400))
        #expect(desk.now == moment(3_600))
    }

    /// A desk that slept over several ticks says nothing of when it would have been told, whether or not other devices
    /// moved.
    @Test func `ticks that nobody waited for are one`() throws {
        for isMoving in [true, false] {
            var desk = try desk()
            for name: DeviceID in ["phone", "other"] { try desk.addDevice(name) }
            try desk.addConsumer(Consumer("c"))
            try desk.grant(.reduced(), of: "phone", to: "c", at: moment(0))
            let id = try desk.subscribeToUpdates(of: "phone", for: "c", at: moment(0))
            try desk.report(fix(World.center(1), 100), from: "phone", at: moment(100))
            try desk.advance(to: moment(900))
            if isMoving { try desk.report(fix(World.center(2), 950), from: "other", at: moment(950)) }
            _ = desk.take(id)
            var ticks: [Timestamp] = []
            try desk.advance(to: moment(5_000)) { ticks.append($0.tick) }
            #expect(ticks == (isMoving ? [moment(1_800)] : []))
            let delivery = try #require(desk.take(id).first)
            #expect(delivery.time == moment(4_500))
            guard case .update(let update) = delivery.content else { return }
            #expect(update.stationary && update.location?.timestamp == moment(900))
        }
    }

    @Test func `the first and the last moment that there is`() throws {
        let atlas = try World.atlas.get()
        let (first, last) = (Timestamp(nanosecondsSince1970: .min), Timestamp(nanosecondsSince1970: .max))
        for begin in [first, moment(0), last] {
            var desk = try Desk(atlas: atlas, now: begin)
            try desk.addDevice("d")
            try desk.addConsumer(Consumer("c", fullAccuracyPurposes: ["p"]))
            _ = try? desk.grant(.reduced(validity: .until(last)), of: "d", to: "c", at: begin)
            _ = try? desk.grant(
                .fullAccuracy("p", validity: .untilMorning(secondsFromGMT: -64_800)), of: "d", to: "c", at: begin)
            _ = try desk.subscribeToVisits(of: "d", for: "c", at: begin)
            let id = try desk.openSession(of: "d", for: "c", authorization: .always, at: begin)
            for time in [first, begin, last] {
                _ = try desk.report(Fix(coordinate: World.center(1), time: time), from: "d", at: begin)
            }
            try desk.closeSession(id, at: begin)
            try desk.advance(to: last)
            try desk.advance(to: last)
            _ = try desk.report(Fix(coordinate: World.center(2), time: last), from: "d", at: last)
            #expect(try Desk(snapshot: desk.snapshot(), atlas: atlas, now: first).now == last)
        }
    }

    @Test func `forgetting devices buys no answer`() throws {
        var desk = try desk()
        for name: DeviceID in ["old", "waiting", "known"] { try desk.addDevice(name) }
        try desk.addConsumer(Consumer("c"))
        try desk.grant(.reduced(), of: "known", to: "c", at: moment(0))
        for name: DeviceID in ["old", "known"] {
            try desk.report(fix(World.center(1), 890), from: name, at: moment(890))
        }
        try desk.advance(to: moment(900))
        try desk.report(fix(World.center(1), 899), from: "waiting", at: moment(901))
        #expect(desk.forgetDevices(silentSince: moment(900)) == 1)
        #expect(desk.deviceCount == 2 && desk.deviceIndex("old") == nil)
        let index = try desk.addDevice("old")
        #expect(desk.deviceID(index) == "old")
        try desk.report(fix(World.center(2), 899), from: "old", at: moment(902))
        var answers: [Int] = []
        try desk.advance(to: moment(1_799)) { answers.append($0.device) }
        #expect(answers.isEmpty)
        try desk.removeDevice("old")
        #expect(throws: DeskError.unknownDevice) { try desk.removeDevice("old") }
        try desk.advance(to: moment(1_800)) { answers.append($0.device) }
        #expect(answers.count == 1)
    }

    @Test func `removing a device or a consumer ends what it had`() async throws {
        let bench = try await Bench()
        try await bench.grant()
        var updates = bench.updates().makeAsyncIterator()
        _ = try await updates.next()
        let app = Task { [updates] in
            var updates = updates
            return try await updates.next()
        }
        try await bench.service.removeConsumer(bench.family)
        #expect(try await app.value == nil)
        await #expect(throws: DeskError.unknownConsumer) {
            for try await _ in bench.updates() {}
        }
        #expect(try await bench.requests().isEmpty)
    }

    @Test func `the owner sees requests as they come and go`() async throws {
        let bench = try await Bench()
        var requests = bench.service.requests().makeAsyncIterator()
        #expect(try await requests.next()?.isEmpty == true)
        let session = try await bench.session(purpose: "trip")
        let first = try #require(await requests.next())
        #expect(first.map(\.kind) == [.whenInUse])
        try await bench.service.accept(first[0], validity: .untilRevoked)
        let second = try #require(await requests.next())
        #expect(second.map(\.kind) == [.fullAccuracy(purposeKey: "trip")])
        try await bench.service.decline(second[0])
        #expect(try await requests.next()?.isEmpty == true)
        await #expect(throws: DeskError.ended) { try await bench.service.decline(second[0]) }
        // Final for this purpose, whoever asks again.
        session.invalidate()
        let again = try await bench.session(purpose: "trip")
        var diagnostics = again.diagnostics.makeAsyncIterator()
        #expect(try await diagnostics.next() == .fullAccuracyDenied)
        #expect(try await bench.requests().isEmpty)
    }

    @Test func `a snapshot of another atlas is refused, or keeps the pace and those regions that are alike`() throws {
        var desk = try desk()
        try desk.addDevice("phone")
        try desk.addConsumer(Consumer("family"))
        try desk.grant(.reduced(), of: "phone", to: "family", at: moment(0))
        try desk.report(fix(World.center(1), 890), from: "phone", at: moment(890))
        try desk.advance(to: moment(900))
        let snapshot = desk.snapshot(), other = try World.other.get()
        func restored(_ otherAtlas: OtherAtlas) throws(DeskSnapshotError) -> Desk {
            try Desk(snapshot: snapshot, atlas: other, otherAtlas: otherAtlas, now: moment(901))
        }
        #expect(throws: DeskSnapshotError.otherAtlas) { () throws in _ = try restored(.refused) }
        #expect(throws: DeskSnapshotError.otherAtlas) { () throws in _ = try restored(.keepingRegions(of: other)) }
        var kept = try restored(.keepingPaces)
        #expect(try kept.preview(of: "phone", for: "family").location == nil)
        // Its tick was answered, and is not answered again.
        #expect(try kept.report(fix(World.center(1), 895), from: "phone", at: moment(901)) == .late)
        kept = try restored(.keepingRegions(of: desk.atlas))
        #expect(try kept.preview(of: "phone", for: "family").place == 1)
        #expect(kept.snapshotFingerprint == desk.atlas.fingerprint)
        let state = try #require(desk.state(ofDevice: 0))
        var bare = try Desk(atlas: other, now: moment(901))
        try bare.addDevice("phone")
        #expect(throws: DeskError.atlas(.otherAtlas)) {
            try bare.restore(state, ofDevice: 0, from: desk.atlas.fingerprint)
        }
    }

    @Test func `a configuration that no desk can have is refused`() throws {
        let changes: [(inout Desk.Configuration) -> Void] = [
            { $0.interval = .milliseconds(999) }, { $0.stationaryTicks = 1 }, { $0.spread = .seconds(-1) },
            { $0.spread = $0.interval }, { $0.stale = .seconds(1) }, { $0.grace = .seconds(-1) },
            { $0.futureTolerance = .seconds(-1) }, { $0.heldAnswerLifetime = .seconds(-1) },
        ]
        for change in changes {
            var configuration = Desk.Configuration()
            change(&configuration)
            #expect(throws: DeskError.invalidConfiguration) {
                _ = try Desk(configuration: configuration, atlas: World.atlas.get(), now: moment(0))
            }
        }
        #expect(Desk.Configuration().spreadKey != Desk.Configuration().spreadKey)
    }

    @Test func `the system's clock runs a service by itself`() async throws {
        var configuration = Desk.Configuration()
        configuration.interval = .seconds(1)
        configuration.spread = .zero
        let service = try LocationService(atlas: World.atlas.get(), configuration: configuration)
        try await service.addDevice("phone")
        try await service.addConsumer(Consumer("family"))
        try await service.grant(.reduced(), of: "phone", to: "family")
        let clock = SystemClock()
        let app = Task {
            try await service.updates(of: "phone", for: "family").first { $0.location != nil }
        }
        let now = clock.now
        let phone = Task {
            while !Task.isCancelled {
                try await service.report(Fix(coordinate: World.center(2), time: clock.now), from: "phone")
                try? await Task.sleep(for: .milliseconds(50))
            }
        }
        let update = try #require(await app.value)
        phone.cancel()
        #expect(update.place == 2)
        #expect(try #require(update.location).timestamp.nanosecondsSince1970 % 1_000_000_000 == 0)
        #expect(clock.now > now)
    }
}
