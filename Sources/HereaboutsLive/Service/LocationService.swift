import Hereabouts
import Synchronization

/// Who gets what of located devices, and when, for programs that use Swift's concurrency: an actor around a `Desk`.
///
/// ```swift
/// let service = LocationService(desk: Desk(atlas: atlas, now: now))
/// try await service.addDevice("phone")
/// try await service.addConsumer(Consumer("family"))
/// try await service.grant(Grant(), to: "family", for: "phone")
/// for try await update in service.updates(of: "phone", for: "family") {
///     if let location = update.location { show(location) }
///     if update.stationary { break }
/// }
/// ```
///
/// A stream holds one answer for its iterator, the newest: a slow reader skips what is old and gets nothing that its
/// grant no longer covers. Streams are opened when the first element is asked for, and closed when their iterator goes
/// out of scope or its task is cancelled; sessions end when they go out of scope or by `invalidate()`.
public actor LocationService {
    private(set) var desk: Desk
    private let clock: LiveClock
    private let dropped = Dropped()
    private var waiters: [SubscriptionID: CheckedContinuation<Void, Never>] = [:]
    private var timer: Task<Void, Never>?
    private var timerDue: Timestamp?

    /// A service.
    ///
    /// - Parameters:
    ///   - desk: new, or restored from a snapshot.
    ///   - clock: the system's, or one for tests.
    public init(desk: Desk, clock: LiveClock = .system) {
        self.desk = desk
        self.clock = clock
    }

    /// A service with a desk of its own.
    ///
    /// - Parameters:
    ///   - configuration: how the desk works.
    ///   - atlas: the regions.
    ///   - clock: the system's, or one for tests.
    ///   - generator: gives the key by which pushes are spread over the time after a tick.
    public init(
        configuration: Desk.Configuration = Desk.Configuration(), atlas: Atlas, clock: LiveClock = .system,
        using generator: inout some RandomNumberGenerator
    ) {
        var configuration = configuration
        configuration.spreadKey = generator.next()
        desk = Desk(configuration: configuration, atlas: atlas, now: clock.now())
        self.clock = clock
    }

    deinit { timer?.cancel() }

    // MARK: Devices

    /// See `Desk.addDevice(_:)`.
    public func addDevice(_ name: String) throws(DeskError) {
        try change { desk, _ throws(DeskError) in _ = try desk.addDevice(name) }
    }

    /// See `Desk.removeDevice(_:)`. Its streams end.
    public func removeDevice(_ name: String) throws(DeskError) {
        try change { desk, _ throws(DeskError) in try desk.removeDevice(name) }
    }

    /// Takes a fix; see `Desk.report(_:from:at:)`.
    @discardableResult
    public func report(_ fix: Fix, from device: String) throws(DeskError) -> Desk.Reception {
        try change { desk, now throws(DeskError) in try desk.report(fix, from: device, at: now) }
    }

    /// Takes the beacons that a device sees; see `Desk.report(beacons:from:at:)`.
    public func report(beacons: [BeaconSighting], from device: String) throws(DeskError) {
        try change { desk, now throws(DeskError) in try desk.report(beacons: beacons, from: device, at: now) }
    }

    /// How many fixes came to what.
    public var counts: Desk.Counts { desk.counts }

    // MARK: Consumers and the owner

    /// See `Desk.addConsumer(_:)`.
    public func addConsumer(_ consumer: Consumer) throws(DeskError) {
        try change { desk, _ throws(DeskError) in try desk.addConsumer(consumer) }
    }

    /// See `Desk.removeConsumer(_:)`. Its streams end.
    public func removeConsumer(_ name: String) throws(DeskError) {
        try change { desk, _ throws(DeskError) in try desk.removeConsumer(name) }
    }

    /// See `Desk.grant(_:to:for:at:)`.
    public func grant(_ grant: Grant, to consumer: String, for device: String) throws(DeskError) {
        try change { desk, now throws(DeskError) in try desk.grant(grant, to: consumer, for: device, at: now) }
    }

    /// See `Desk.revoke(_:for:at:)`.
    public func revoke(_ consumer: String, for device: String) throws(DeskError) {
        try change { desk, now throws(DeskError) in try desk.revoke(consumer, for: device, at: now) }
    }

    /// See `Desk.reset(_:for:at:)`.
    public func reset(_ consumer: String, for device: String) throws(DeskError) {
        try change { desk, now throws(DeskError) in try desk.reset(consumer, for: device, at: now) }
    }

    /// See `Desk.accept(_:validity:at:)`.
    public func accept(_ request: Request, validity: Validity = .untilRevoked) throws(DeskError) {
        try change { desk, now throws(DeskError) in try desk.accept(request, validity: validity, at: now) }
    }

    /// See `Desk.decline(_:at:)`.
    public func decline(_ request: Request) throws(DeskError) {
        try change { desk, now throws(DeskError) in try desk.decline(request, at: now) }
    }

    /// See `Desk.pause(at:)`.
    public func pause() throws(DeskError) { try change { desk, now throws(DeskError) in try desk.pause(at: now) } }

    /// See `Desk.resume(at:)`.
    public func resume() throws(DeskError) { try change { desk, now throws(DeskError) in try desk.resume(at: now) } }

    /// All requests that wait for the owner, in order of their times.
    public func pendingRequests() throws(DeskError) -> [Request] {
        try change { desk, now throws(DeskError) in
            try desk.advance(to: now)
            return desk.requests
        }
    }

    /// The requests that wait, now and whenever they change.
    public nonisolated func requests() -> LiveSequence<[Request]> {
        LiveSequence(service: self) { desk, now throws(DeskError) in
            try desk.subscribeToRequests(at: now)
        } element: {
            if case .requests(let requests) = $0 { requests } else { nil }
        }
    }

    /// What a consumer may have of a device; see `Desk.authorization(of:for:)`.
    public func authorization(of device: String, for consumer: String) throws(DeskError) -> Authorization {
        try change { desk, now throws(DeskError) in
            try desk.advance(to: now)
            return try desk.authorization(of: device, for: consumer)
        }
    }

    /// What must survive a restart; see `Desk.snapshot(includesDevices:)`.
    public func snapshot() throws(DeskError) -> [UInt8] {
        try change { desk, now throws(DeskError) in
            try desk.advance(to: now)
            return desk.snapshot()
        }
    }

    // MARK: Streams of consumers

    /// The locations of a device as they come, as `CLLocationUpdate.liveUpdates(_:)`. Iterating is an implicit
    /// session: the owner is asked, and what comes is reduced unless an explicit session has a granted purpose.
    ///
    /// - Parameters:
    ///   - device: whose location.
    ///   - consumer: who has it.
    ///   - configuration: how often updates are wanted, where the accuracy is full.
    ///   - desiredAccuracy: at most this.
    public nonisolated func updates(
        of device: String, for consumer: String, _ configuration: LocationUpdate.LiveConfiguration = .default,
        desiredAccuracy: AccuracyAuthorization = .full
    ) -> LiveSequence<LocationUpdate> {
        LiveSequence(service: self) { desk, now throws(DeskError) in
            try desk.subscribeToUpdates(
                of: device, for: consumer, configuration: configuration, desiredAccuracy: desiredAccuracy, at: now)
        } element: {
            $0.update
        }
    }

    /// The stays of a device, as `CLLocationManager`'s visits. An implicit session. Why none come, a session's
    /// diagnostics say.
    public nonisolated func visits(of device: String, for consumer: String) -> LiveSequence<Visit> {
        LiveSequence(service: self) { desk, now throws(DeskError) in
            try desk.subscribeToVisits(of: device, for: consumer, at: now)
        } element: {
            if case .visit(let visit) = $0 { visit } else { nil }
        }
    }

    /// What a consumer may have of a device, now and whenever one of its dimensions changes. No session.
    public nonisolated func authorizations(
        of device: String, for consumer: String
    ) -> LiveSequence<Authorization> {
        LiveSequence(service: self) { desk, now throws(DeskError) in
            try desk.subscribeToAuthorization(of: device, for: consumer, at: now)
        } element: {
            if case .authorization(let authorization) = $0 { authorization } else { nil }
        }
    }

    /// Opens an explicit session, as `CLServiceSession.init(authorization:fullAccuracyPurposeKey:)`; see
    /// `Desk.openSession(of:for:authorization:fullAccuracyPurposeKey:at:)`.
    public func session(
        of device: String, for consumer: String, authorization: SessionRequirement,
        fullAccuracyPurposeKey: String? = nil
    ) throws(DeskError) -> ServiceSession {
        let id = try change { desk, now throws(DeskError) in
            try desk.openSession(
                of: device, for: consumer, authorization: authorization,
                fullAccuracyPurposeKey: fullAccuracyPurposeKey, at: now)
        }
        return ServiceSession(service: self, id: id, dropped: dropped)
    }

    /// Begins a background session while the consumer is in use, or takes up the one that is held; see
    /// `Desk.openBackgroundSession(of:for:at:)`.
    public func backgroundSession(
        of device: String, for consumer: String
    ) throws(DeskError) -> BackgroundActivitySession {
        try change { desk, now throws(DeskError) in
            try desk.openBackgroundSession(of: device, for: consumer, at: now)
        }
        return BackgroundActivitySession(service: self, device: device, consumer: consumer, dropped: dropped)
    }

    /// Opens a monitor without conditions. An implicit session.
    public func monitor(of device: String, for consumer: String) throws(DeskError) -> Monitor {
        let id = try change { desk, now throws(DeskError) in
            try desk.openMonitor(of: device, for: consumer, at: now)
        }
        return Monitor(service: self, id: id, dropped: dropped)
    }

    // MARK: Time

    /// Lets everything happen that is due by the clock. The service does so by itself; a test whose clock has moved
    /// may say when.
    public func catchUp() throws(DeskError) {
        try change { desk, now throws(DeskError) in try desk.advance(to: now) }
    }

    private func wake() {
        (timer, timerDue) = (nil, nil)
        // Damage in the atlas is thrown to those who wait for its answers, at their next call.
        try? catchUp()
    }

    /// Ends what went out of scope, lets the desk work, and wakes those who have something to take.
    func change<Result>(
        _ body: (inout Desk, Timestamp) throws(DeskError) -> Result
    ) throws(DeskError) -> Result {
        let now = clock.now()
        for item in dropped.takeAll() { end(item, at: now) }
        defer { settle() }
        return try body(&desk, now)
    }

    /// What goes out of scope may have ended with its consumer before.
    private func end(_ item: Dropped.Item, at now: Timestamp) {
        switch item {
        case .subscription(let id):
            try? desk.close(id, at: now)
            waiters.removeValue(forKey: id)?.resume()
        case .session(let id): try? desk.closeSession(id, at: now)
        case .background(let device, let consumer):
            try? desk.closeBackgroundSession(of: device, for: consumer, at: now)
        }
    }

    private func settle() {
        for id in desk.takeReady() { waiters.removeValue(forKey: id)?.resume() }
        let due = desk.nextEvent
        guard due != timerDue else { return }
        timer?.cancel()
        timerDue = due
        timer = Task { [weak self, clock] in
            do { try await clock.sleep(due) } catch { return }
            guard !Task.isCancelled else { return }
            await self?.wake()
        }
    }

    // MARK: Iterators

    func open(
        _ subscribe: (inout Desk, Timestamp) throws(DeskError) -> SubscriptionID
    ) throws(DeskError) -> Subscribed {
        Subscribed(service: self, id: try change(subscribe), dropped: dropped)
    }

    /// The next delivery of a subscription; nil when it was closed, or the task cancelled.
    func next(_ id: SubscriptionID) async throws(DeskError) -> Delivery.Content? {
        while !Task.isCancelled {
            try catchUp()
            if let delivery = desk.takeFirst(id) { return delivery.content }
            guard desk.isOpen(id) else { return nil }
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    if Task.isCancelled {
                        continuation.resume()
                    } else {
                        waiters.updateValue(continuation, forKey: id)?.resume()
                    }
                }
            } onCancel: {
                Task { await self.cancelWaiting(id) }
            }
        }
        return nil
    }

    private func cancelWaiting(_ id: SubscriptionID) { waiters.removeValue(forKey: id)?.resume() }

    /// What went out of scope and is still to be ended.
    func endDropped() { try? catchUp() }
}

/// Sessions and subscriptions whose handles went out of scope, until the service ends them: before anything else it
/// does.
final class Dropped: Sendable {
    enum Item: Sendable {
        case subscription(SubscriptionID)
        case session(SessionID)
        case background(device: String, consumer: String)
    }

    private let items = Mutex<[Item]>([])

    func append(_ item: Item) { items.withLock { $0.append(item) } }

    func takeAll() -> [Item] {
        items.withLock { items in
            defer { items = [] }
            return items
        }
    }
}

/// Ends something when it goes out of scope.
final class Scope: Sendable {
    private let item: Dropped.Item
    private let dropped: Dropped
    private weak let service: LocationService?
    private let isEnded = Atomic(false)

    init(_ item: Dropped.Item, service: LocationService, dropped: Dropped) {
        (self.item, self.service, self.dropped) = (item, service, dropped)
    }

    func end() {
        guard !isEnded.exchange(true, ordering: .relaxed) else { return }
        dropped.append(item)
        guard let service else { return }
        Task { await service.endDropped() }
    }

    deinit { end() }
}

/// An open subscription, closed when it goes out of scope.
struct Subscribed: Sendable {
    let id: SubscriptionID
    private let scope: Scope

    init(service: LocationService, id: SubscriptionID, dropped: Dropped) {
        self.id = id
        scope = Scope(.subscription(id), service: service, dropped: dropped)
    }
}

extension Delivery.Content {
    var update: LocationUpdate? {
        if case .update(let update) = self { update } else { nil }
    }
}
