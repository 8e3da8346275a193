import FixedRandom
import Hereabouts
import Synchronization
import Testing

@testable import HereaboutsLive

/// A service that stores what must survive a crash before it says anything of it.
@Suite struct StoreTests {
    /// A store that a test holds up, and has fail.
    final class Disk: Sendable {
        struct Full: Error {}
        private struct State {
            var snapshots: [[UInt8]] = []
            var isHeld = false, failures = 0, attempts = 0, inside = 0, mostInside = 0
            var held: [CheckedContinuation<Void, Never>] = []
        }
        private let state = Mutex(State())

        var newest: [UInt8]? { state.withLock { $0.snapshots.last } }
        var attempts: Int { state.withLock { $0.attempts } }
        var mostInside: Int { state.withLock { $0.mostInside } }
        func hold() { state.withLock { $0.isHeld = true } }
        func fail(_ count: Int) { state.withLock { $0.failures = count } }
        func release() {
            let held = state.withLock { state in
                defer { (state.isHeld, state.held) = (false, []) }
                return state.held
            }
            for continuation in held { continuation.resume() }
        }

        func store(_ snapshot: [UInt8]) async throws {
            state.withLock { state in
                state.attempts += 1
                state.inside += 1
                state.mostInside = max(state.mostInside, state.inside)
            }
            defer { state.withLock { $0.inside -= 1 } }
            await withCheckedContinuation { continuation in
                let isHeld = state.withLock { state in
                    if state.isHeld { state.held.append(continuation) }
                    return state.isHeld
                }
                if !isHeld { continuation.resume() }
            }
            try state.withLock { state in
                if state.failures > 0 {
                    state.failures -= 1
                    throw Full()
                }
                state.snapshots.append(snapshot)
            }
        }

        /// Waits until the store is under way.
        func begun(_ attempts: Int) async throws {
            for _ in 0..<10_000 {
                if self.attempts >= attempts { return }
                try await Task.sleep(for: .microseconds(200))
            }
            Issue.record("the store was called \(self.attempts) times")
        }
    }

    private let disk = Disk()
    private let clock = TestClock()

    private func service() async throws -> LocationService {
        clock.now = moment(0)
        let service = try LocationService(atlas: World.atlas.get(), clock: clock, store: disk.store)
        try await service.addDevice("phone")
        try await service.addConsumer(Consumer("family", fullAccuracyPurposes: ["trip"]))
        try await service.grant(.reduced(), of: "phone", to: "family")
        return service
    }

    private func restored() throws -> LocationService {
        try LocationService(
            snapshot: try #require(disk.newest), atlas: World.atlas.get(), clock: clock, store: disk.store)
    }

    private func answer(_ place: Int, atTick tick: Double, _ service: LocationService) async throws {
        clock.now = moment(tick * 900 - 10)
        try await service.report(fix(World.center(place), tick * 900 - 10), from: "phone")
        clock.now = moment(tick * 900)
        try await service.catchUp()
    }

    @Test(.endsAtAll) func `after a crash nobody is told less than was delivered before`() async throws {
        var service = try await service()
        for tick in 1...5 {
            var updates = service.updates(of: "phone", for: "family").makeAsyncIterator()
            try await updates.open()
            try await answer(tick, atTick: Double(tick), service)
            var update = try await updates.next()
            if update?.location?.timestamp != moment(Double(tick) * 900) { update = try await updates.next() }
            #expect(update.place == tick)
            // The process ends, without a word.
            service = try restored()
            #expect(try await service.preview(of: "phone", for: "family").place == tick)
        }
    }

    @Test(.endsAtAll) func `while a tick is stored nothing of it is delivered, and what comes meanwhile is not lost`()
        async throws
    {
        let service = try await service()
        let seen = Seen<Int?>()
        let app = Task {
            for try await update in service.updates(of: "phone", for: "family") { seen.append(update.place) }
        }
        _ = try await seen.first(1)
        disk.hold()
        let attempts = disk.attempts
        try await answer(3, atTick: 1, service)
        try await disk.begun(attempts + 1)
        // Reports are taken while it is under way, and another tick passes.
        try await answer(4, atTick: 2, service)
        try await Task.sleep(for: .milliseconds(20))
        #expect(try await seen.first(1) == [nil])
        disk.release()
        #expect(try await seen.first(2) == [nil, 4])
        #expect(try restoredPlace() == 4)
        #expect(disk.mostInside == 1)
        app.cancel()
    }

    private func restoredPlace() throws -> Int? {
        let desk = try Desk(snapshot: try #require(disk.newest), atlas: World.atlas.get(), now: clock.now)
        return try desk.preview(of: "phone", for: "family").place
    }

    @Test(.endsAtAll) func `a decision returns when it is stored, in its order`() async throws {
        let service = try await service()
        disk.hold()
        let attempts = disk.attempts
        let done = Seen<Int>()
        let revoke = Task {
            try await service.revoke(of: "phone", from: "family")
            done.append(1)
        }
        try await disk.begun(attempts + 1)
        let grant = Task {
            try await service.grant(.reduced(.authorizedAlways), of: "phone", to: "family")
            done.append(2)
        }
        try await Task.sleep(for: .milliseconds(20))
        #expect(try await done.first(0).isEmpty)
        disk.release()
        try await revoke.value
        try await grant.value
        #expect(try await done.first(2) == [1, 2])
        let desk = try Desk(snapshot: try #require(disk.newest), atlas: World.atlas.get(), now: clock.now)
        #expect(try desk.authorization(of: "phone", for: "family").status == .authorizedAlways)
    }

    @Test(.endsAtAll) func `what cannot be stored is in force, and delivers nothing until it is`() async throws {
        let service = try await service()
        let seen = Seen<Int?>()
        let app = Task {
            for try await update in service.updates(of: "phone", for: "family") { seen.append(update.place) }
        }
        _ = try await seen.first(1)
        disk.fail(1)
        try await answer(5, atTick: 1, service)
        try await Task.sleep(for: .milliseconds(20))
        #expect(try await seen.first(1) == [nil])
        // A second later it is tried again.
        clock.now = moment(901)
        try await service.catchUp()
        #expect(try await seen.first(2) == [nil, 5])
        disk.fail(1)
        await #expect(throws: DeskError.notStored) { try await service.revoke(of: "phone", from: "family") }
        #expect(try await service.authorization(of: "phone", for: "family").status == .denied)
        try await Task.sleep(for: .milliseconds(20))
        #expect(try await seen.first(2).count == 2)
        clock.now = moment(903)
        try await service.catchUp()
        #expect(try await seen.first(3) == [nil, 5, nil])
        app.cancel()
    }

    @Test(.endsAtAll) func `a stream or a session that cannot be stored is not left open`() async throws {
        let service = try await service()
        disk.fail(1)
        var updates = service.updates(of: "phone", for: "family").makeAsyncIterator()
        await #expect(throws: DeskError.notStored) { try await updates.open() }
        disk.fail(1)
        await #expect(throws: DeskError.notStored) {
            _ = try await service.session(of: "phone", for: "family", authorization: .whenInUse)
        }
        // What was open has ended, and its grace is over.
        for seconds in [20.0, 40] {
            clock.now = moment(seconds)
            try await service.catchUp()
        }
        #expect(try await service.standings().allSatisfy { !$0.isInUse })
    }

    @Test(.endsAtAll) func `who is cancelled does not cancel the store`() async throws {
        let service = try await service()
        disk.hold()
        let attempts = disk.attempts
        let revoke = Task { try await service.revoke(of: "phone", from: "family") }
        try await disk.begun(attempts + 1)
        revoke.cancel()
        disk.release()
        try await revoke.value
        let desk = try Desk(snapshot: try #require(disk.newest), atlas: World.atlas.get(), now: clock.now)
        #expect(try desk.authorization(of: "phone", for: "family").status == .denied)
    }
}
