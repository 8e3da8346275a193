import Hereabouts
import Synchronization

/// Who gets what of located devices, and when, for programs that use Swift's concurrency: an actor around a `Desk`.
///
/// ```swift
/// let service = try LocationService(atlas: atlas)
/// try await service.addDevice("phone")
/// try await service.addConsumer(Consumer("family"))
/// try await service.grant(.reduced(), of: "phone", to: "family")
/// for try await update in service.updates(of: "phone", for: "family") {
///     if let location = update.location { show(location) }
///     if update.stationary { break }
/// }
/// ```
///
/// A stream holds one answer for its iterator, the newest (of visits a departure and an arrival): a slow reader skips what is
/// old and gets nothing that its grant no longer covers. Streams are opened when the first element is asked for, and closed
/// when their iterator goes out of scope or its task is cancelled; sessions end when they go out of scope or by `invalidate()`.
///
/// With a `Store` nothing is delivered before the state that covers it is stored, and no call that changes something returns
/// before.
public actor LocationService {
    /// Stores a snapshot, such that `init(snapshot:…)` will get it after a crash, and throws where it could not.
    ///
    /// Calls come one after the other, each when the last has returned. What happens meanwhile waits for the next.
    public typealias Store = @Sendable (_ snapshot: [UInt8]) async throws -> Void

    private(set) var desk: Desk
    private let now: @Sendable () -> Timestamp
    private let sleep: @Sendable (Timestamp) async throws -> Void
    private let dropped = Dropped()
    private var waiters: [SubscriptionID: CheckedContinuation<Void, Never>] = [:]
    private var timer: Task<Void, Never>?
    private var timerDue: Timestamp?

    private let store: Store?
    /// Counts what has changed, up to now and as far as it is stored.
    private var changeCount = 0, storedCount = 0
    private var storing: Task<Bool, Never>?
    /// What the last attempt to store covers.
    private var attemptedCount = 0
    /// After a failure, when to try again.
    private var retryTime: Timestamp?

    private static let retryInterval = Duration.seconds(1)
    /// The clock is looked at so often, to notice that it was set.
    private static let longestSleep = Duration.seconds(60)

    /// A service around a desk, new or restored.
    ///
    /// - Parameters:
    ///   - desk: it has the service's times from now on.
    ///   - clock: the system's, or one for tests.
    ///   - store: stores what must survive a crash; nil where nothing must.
    public init<C: Clock>(desk: Desk, clock: C = SystemClock(), store: Store? = nil) where C.Instant == Timestamp {
        self.desk = desk
        now = { clock.now }
        sleep = { try await clock.sleep(until: $0, tolerance: nil) }
        self.store = store
    }

    /// A service with a desk of its own.
    ///
    /// - Parameters:
    ///   - atlas: the regions.
    ///   - configuration: how the desk works.
    ///   - clock: the system's, or one for tests.
    ///   - store: stores what must survive a crash; nil where nothing must.
    /// - Throws: `DeskError.invalidConfiguration`.
    public init<C: Clock>(
        atlas: Atlas, configuration: Desk.Configuration = Desk.Configuration(), clock: C = SystemClock(),
        store: Store? = nil
    ) throws(DeskError) where C.Instant == Timestamp {
        self.init(
            desk: try Desk(configuration: configuration, atlas: atlas, now: clock.now), clock: clock, store: store)
    }

    /// Takes up what a service stored, or its `snapshot()`; see `Desk.init(snapshot:configuration:atlas:otherAtlas:now:)`.
    ///
    /// - Throws: `DeskSnapshotError`.
    public init<C: Clock>(
        snapshot: some Collection<UInt8>, atlas: Atlas, otherAtlas: OtherAtlas = .refused,
        configuration: Desk.Configuration = Desk.Configuration(), clock: C = SystemClock(), store: Store? = nil
    ) throws(DeskSnapshotError) where C.Instant == Timestamp {
        let desk = try Desk(
            snapshot: snapshot, configuration: configuration, atlas: atlas, otherAtlas: otherAtlas, now: clock.now)
        self.init(desk: desk, clock: clock, store: store)
    }

    deinit { timer?.cancel() }

    // MARK: Devices

    /// See `Desk.addDevice(_:)`.
    public func addDevice(_ id: DeviceID) async throws(DeskError) {
        try await change { desk, _ throws(DeskError) in _ = try desk.addDevice(id) }
    }

    /// See `Desk.removeDevice(_:)`. Its streams end.
    public func removeDevice(_ id: DeviceID) async throws(DeskError) {
        try await change { desk, _ throws(DeskError) in try desk.removeDevice(id) }
    }

    /// See `Desk.forgetDevices(silentSince:)`.
    @discardableResult
    public func forgetDevices(silentSince cutoff: Timestamp) async throws(DeskError) -> Int {
        try await change { desk, _ throws(DeskError) in desk.forgetDevices(silentSince: cutoff) }
    }

    /// Takes a fix; see `Desk.report(_:confirmed:from:at:)`. Nothing is stored for it: it is in memory until its tick.
    @discardableResult
    public func report(
        _ fix: Fix, confirmed confirmation: Timestamp? = nil, from device: DeviceID
    ) throws(DeskError) -> Desk.Reception {
        try apply(isKept: false) { desk, now throws(DeskError) in
            try desk.report(fix, confirmed: confirmation, from: device, at: now)
        }
    }

    /// Takes the beacons that a device sees; see `Desk.report(beacons:from:at:)`.
    public func report(beacons: [BeaconSighting], from device: DeviceID) throws(DeskError) {
        try apply(isKept: false) { desk, now throws(DeskError) in
            try desk.report(beacons: beacons, from: device, at: now)
        }
    }

    /// The devices, in no particular order.
    public var allDevices: [DeviceID] { desk.allDevices }

    /// How many fixes came to what.
    public var counts: Desk.Counts { desk.counts }

    // MARK: Consumers and the owner

    /// See `Desk.addConsumer(_:)`.
    public func addConsumer(_ consumer: Consumer) async throws(DeskError) {
        try await change { desk, _ throws(DeskError) in try desk.addConsumer(consumer) }
    }

    /// See `Desk.updateConsumer(_:at:)`.
    public func updateConsumer(_ consumer: Consumer) async throws(DeskError) {
        try await change { desk, now throws(DeskError) in try desk.updateConsumer(consumer, at: now) }
    }

    /// See `Desk.removeConsumer(_:)`. Its streams end.
    public func removeConsumer(_ id: ConsumerID) async throws(DeskError) {
        try await change { desk, _ throws(DeskError) in try desk.removeConsumer(id) }
    }

    /// The consumers, in no particular order.
    public var allConsumers: [Consumer] { desk.allConsumers }

    /// See `Desk.grant(_:of:to:at:)`.
    public func grant(_ grant: Grant, of device: DeviceID, to consumer: ConsumerID) async throws(DeskError) {
        try await change { desk, now throws(DeskError) in try desk.grant(grant, of: device, to: consumer, at: now) }
    }

    /// See `Desk.revoke(of:from:at:)`.
    public func revoke(of device: DeviceID, from consumer: ConsumerID) async throws(DeskError) {
        try await change { desk, now throws(DeskError) in try desk.revoke(of: device, from: consumer, at: now) }
    }

    /// See `Desk.reset(of:for:at:)`.
    public func reset(of device: DeviceID, for consumer: ConsumerID) async throws(DeskError) {
        try await change { desk, now throws(DeskError) in try desk.reset(of: device, for: consumer, at: now) }
    }

    /// See `Desk.accept(_:validity:at:)`.
    public func accept(_ request: Authorization.Request, validity: Validity) async throws(DeskError) {
        try await change { desk, now throws(DeskError) in try desk.accept(request, validity: validity, at: now) }
    }

    /// See `Desk.decline(_:at:)`.
    public func decline(_ request: Authorization.Request) async throws(DeskError) {
        try await change { desk, now throws(DeskError) in try desk.decline(request, at: now) }
    }

    /// See `Desk.pause(_:at:)`.
    public func pause(_ mode: Desk.PauseMode = .told) async throws(DeskError) {
        try await change { desk, now throws(DeskError) in try desk.pause(mode, at: now) }
    }

    /// See `Desk.resume(at:)`.
    public func resume() async throws(DeskError) {
        try await change { desk, now throws(DeskError) in try desk.resume(at: now) }
    }

    /// Whether everything is paused, and how; nil where nothing is.
    public var pauseMode: Desk.PauseMode? { desk.pauseMode }

    /// See `Desk.armBackgroundSession(of:for:at:)`.
    public func armBackgroundSession(of device: DeviceID, for consumer: ConsumerID) async throws(DeskError) {
        try await change { desk, now throws(DeskError) in
            try desk.armBackgroundSession(of: device, for: consumer, at: now)
        }
    }

    /// All requests that wait for the owner, in order of their times.
    public func pendingRequests() throws(DeskError) -> [Authorization.Request] {
        try present { (desk) throws(DeskError) in desk.requests }
    }

    /// The requests that wait, now and whenever they change.
    public nonisolated func requests() -> LiveSequence<[Authorization.Request]> {
        LiveSequence(service: self) { desk, now throws(DeskError) in
            try desk.subscribeToRequests(at: now)
        } element: {
            if case .requests(let requests) = $0 { requests } else { nil }
        }
    }

    /// What stands between each consumer and device; see `Desk.standings`.
    public func standings() throws(DeskError) -> [Standing] {
        try present { (desk) throws(DeskError) in desk.standings }
    }

    /// What a consumer's stream of updates would give now; see `Desk.preview(of:for:purposes:)`.
    public func preview(of device: DeviceID, for consumer: ConsumerID) throws(DeskError) -> LocationUpdate {
        try present { (desk) throws(DeskError) in try desk.preview(of: device, for: consumer) }
    }

    /// What a consumer may have of a device; see `Desk.authorization(of:for:)`.
    public func authorization(of device: DeviceID, for consumer: ConsumerID) throws(DeskError) -> Authorization {
        try present { (desk) throws(DeskError) in try desk.authorization(of: device, for: consumer) }
    }

    /// Whether a purpose of full accuracy is granted now; see `Desk.isGranted(fullAccuracyPurposeKey:of:for:)`.
    public func isGranted(
        fullAccuracyPurposeKey purpose: PurposeKey, of device: DeviceID, for consumer: ConsumerID
    ) throws(DeskError) -> Bool {
        try present { (desk) throws(DeskError) in
            try desk.isGranted(fullAccuracyPurposeKey: purpose, of: device, for: consumer)
        }
    }

    /// Whether a consumer waits for the device's next report; see `Desk.awaitsReport(of:for:)`.
    public func awaitsReport(of device: DeviceID, for consumer: ConsumerID) throws(DeskError) -> Bool {
        try present { (desk) throws(DeskError) in try desk.awaitsReport(of: device, for: consumer) }
    }

    /// The devices that a consumer is authorized for; see `Desk.authorizedDevices(for:)`.
    public func authorizedDevices(for consumer: ConsumerID) throws(DeskError) -> [DeviceID] {
        try present { (desk) throws(DeskError) in try desk.authorizedDevices(for: consumer) }
    }

    /// What must survive a restart; see `Desk.snapshot(includesDevices:)`.
    public func snapshot() throws(DeskError) -> [UInt8] { try present { (desk) throws(DeskError) in desk.snapshot() } }

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
        of device: DeviceID, for consumer: ConsumerID, _ configuration: LocationUpdate.LiveConfiguration = .default,
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
    public nonisolated func visits(of device: DeviceID, for consumer: ConsumerID) -> LiveSequence<Visit> {
        LiveSequence(service: self) { desk, now throws(DeskError) in
            try desk.subscribeToVisits(of: device, for: consumer, at: now)
        } element: {
            $0.visit
        }
    }

    /// What a consumer may have of a device, now and whenever one of its dimensions changes. No session.
    public nonisolated func authorizations(
        of device: DeviceID, for consumer: ConsumerID
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
        of device: DeviceID, for consumer: ConsumerID, authorization: SessionRequirement,
        fullAccuracyPurposeKey: PurposeKey? = nil
    ) async throws(DeskError) -> ServiceSession {
        let id = try apply(isKept: true) { desk, now throws(DeskError) in
            try desk.openSession(
                of: device, for: consumer, authorization: authorization,
                fullAccuracyPurposeKey: fullAccuracyPurposeKey, at: now)
        }
        // It ends with this handle, also where it cannot be stored.
        let session = ServiceSession(service: self, id: id, dropped: dropped)
        try await waitUntilStored()
        return session
    }

    /// Begins a background session while the consumer is in use, or takes up the one that is held; see
    /// `Desk.openBackgroundSession(of:for:at:)`.
    public func backgroundSession(
        of device: DeviceID, for consumer: ConsumerID
    ) async throws(DeskError) -> BackgroundActivitySession {
        try apply(isKept: true) { desk, now throws(DeskError) in
            try desk.openBackgroundSession(of: device, for: consumer, at: now)
        }
        let session = BackgroundActivitySession(service: self, device: device, consumer: consumer, dropped: dropped)
        try await waitUntilStored()
        return session
    }

    /// Opens a monitor without conditions. An implicit session.
    public func monitor(of device: DeviceID, for consumer: ConsumerID) async throws(DeskError) -> LocationMonitor {
        let id = try apply(isKept: true) { desk, now throws(DeskError) in
            try desk.openMonitor(of: device, for: consumer, at: now)
        }
        let monitor = LocationMonitor(service: self, id: id, dropped: dropped)
        try await waitUntilStored()
        return monitor
    }

    // MARK: Time

    /// Lets everything happen that is due by the clock. The service does so by itself; a test whose clock has moved
    /// may say when.
    public func catchUp() throws(DeskError) { try apply(isKept: false) { _, _ in } }

    private func wake() {
        (timer, timerDue) = (nil, nil)
        // Damage in the atlas is thrown to those who wait for its answers, at their next call.
        try? catchUp()
    }

    /// What the desk says at the present.
    private func present<Result>(_ body: (Desk) throws(DeskError) -> Result) throws(DeskError) -> Result {
        try apply(isKept: false) { desk, _ throws(DeskError) in try body(desk) }
    }

    /// Changes the desk, and returns when that is stored.
    func change<Result>(
        _ body: (inout Desk, Timestamp) throws(DeskError) -> Result
    ) async throws(DeskError) -> Result {
        let result = try apply(isKept: true, body)
        try await waitUntilStored()
        return result
    }

    /// Ends what went out of scope, lets happen what is due, and then `body`; wakes those who have something to take.
    ///
    /// - Parameter isKept: whether `body` changes what must survive a crash. What a tick answers must in any case.
    private func apply<Result>(
        isKept: Bool, _ body: (inout Desk, Timestamp) throws(DeskError) -> Result
    ) throws(DeskError) -> Result {
        let now = now()
        defer { settle() }
        for item in dropped.takeAll() {
            end(item, at: now)
            changeCount += 1
        }
        var isAnswered = false
        defer { if isAnswered { changeCount += 1 } }
        try desk.advance(to: now) { _ in isAnswered = true }
        if isKept { changeCount += 1 }
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
        let present = now()
        if isStored {
            for id in desk.takeReady() { waiters.removeValue(forKey: id)?.resume() }
        } else if storing == nil, retryTime.map({ $0 <= present }) ?? true {
            beginStoring()
        }
        let due = min(retryTime ?? desk.nextEvent, desk.nextEvent)
        guard due != timerDue else { return }
        timer?.cancel()
        timerDue = due
        timer = Task { [weak self, sleep] in
            do { try await sleep(min(due, present.advanced(by: Self.longestSleep))) } catch { return }
            guard !Task.isCancelled else { return }
            await self?.wake()
        }
    }

    // MARK: The store

    /// Whether everything that must be stored is.
    private var isStored: Bool { store == nil || storedCount == changeCount }

    private func waitUntilStored() async throws(DeskError) {
        guard store != nil else { return }
        let count = changeCount
        while storedCount < count {
            // One that is under way may have begun before.
            if await !(storing ?? beginStoring()).value, attemptedCount >= count { throw .notStored }
        }
    }

    @discardableResult
    private func beginStoring() -> Task<Bool, Never> {
        let task = Task { await storeOnce() }
        storing = task
        return task
    }

    private func storeOnce() async -> Bool {
        guard let store else { return true }
        let count = changeCount
        attemptedCount = count
        var isStored = true
        do { try await store(desk.snapshot()) } catch { isStored = false }
        storing = nil
        retryTime = isStored ? nil : now().advanced(by: Self.retryInterval)
        if isStored {
            storedCount = count
            // They look whether there is something for them.
            for continuation in waiters.values { continuation.resume() }
            waiters = [:]
        }
        settle()
        return isStored
    }

    // MARK: Iterators

    func open(
        _ subscribe: (inout Desk, Timestamp) throws(DeskError) -> SubscriptionID
    ) async throws(DeskError) -> Subscribed {
        let subscribed = Subscribed(service: self, id: try apply(isKept: true, subscribe), dropped: dropped)
        try await waitUntilStored()
        return subscribed
    }

    /// The next delivery of a subscription; nil when it was closed, or the task cancelled.
    func next(_ id: SubscriptionID) async throws(DeskError) -> Delivery.Content? {
        while !Task.isCancelled {
            try catchUp()
            if isStored, let delivery = desk.takeFirst(id) { return delivery.content }
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
        case background(device: DeviceID, consumer: ConsumerID)
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

    var visit: Visit? {
        if case .visit(let visit) = self { visit } else { nil }
    }
}
