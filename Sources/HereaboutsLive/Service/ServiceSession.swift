import Hereabouts

/// An explicit session: says that its consumer is in use and what it needs, for as long as it is held. As
/// `CLServiceSession`.
///
/// Sessions are immutable and layered: hold one for each feature, and the strongest goal of those that are held
/// counts. One ends when its last reference goes out of scope, or by `invalidate()`; within `Desk.Configuration.grace`
/// another one continues it.
public final class ServiceSession: Sendable {
    private let service: LocationService
    private let id: SessionID
    private let scope: Scope

    init(service: LocationService, id: SessionID, dropped: Dropped) {
        (self.service, self.id) = (service, id)
        scope = Scope(.session(id), service: service, dropped: dropped)
    }

    /// Why the session's goal is not met: at once, and whenever that changes. Ends with the session.
    public var diagnostics: LiveSequence<Diagnostics> {
        LiveSequence(service: service) { [id] desk, now throws(DeskError) in
            try desk.subscribeToDiagnostics(of: id, at: now)
        } element: {
            if case .diagnostics(let diagnostics) = $0 { diagnostics } else { nil }
        }
    }

    /// Ends the session before it goes out of scope.
    public func invalidate() { scope.end() }
}

/// Pushes of a device's locations to a consumer while nobody is connected. As `CLBackgroundActivitySession`: begun
/// while in use, held, and taken up again after a restart.
///
/// It needs `authorizedAlways`. It ends when its last reference goes out of scope, or by `invalidate()`; one that a
/// snapshot holds is taken up with `LocationService.backgroundSession(of:for:)`.
public final class BackgroundActivitySession: Sendable {
    private let service: LocationService
    private let device: DeviceID
    private let consumer: ConsumerID
    private let scope: Scope

    init(service: LocationService, device: DeviceID, consumer: ConsumerID, dropped: Dropped) {
        (self.service, self.device, self.consumer) = (service, device, consumer)
        scope = Scope(.background(device: device, consumer: consumer), service: service, dropped: dropped)
    }

    /// What is to be pushed. Iterating is no session: the consumer is not in use by it.
    ///
    /// - Parameter desiredAccuracy: at most this.
    public func updates(desiredAccuracy: AccuracyAuthorization = .full) -> LiveSequence<LocationUpdate> {
        LiveSequence(service: service) { [device, consumer] desk, now throws(DeskError) in
            try desk.subscribeToPushes(of: device, for: consumer, desiredAccuracy: desiredAccuracy, at: now)
        } element: {
            $0.update
        }
    }

    /// Ends the session before it goes out of scope.
    public func invalidate() { scope.end() }
}

/// Watches conditions of a device for a consumer. As `CLMonitor`: at most 20 conditions per consumer, and an event
/// with the initial state of each.
///
/// Conditions are in memory alone: after a restart a consumer opens its monitors anew.
public final class LocationMonitor: Sendable {
    private let service: LocationService
    private let id: SubscriptionID
    private let scope: Scope

    init(service: LocationService, id: SubscriptionID, dropped: Dropped) {
        (self.service, self.id) = (service, id)
        scope = Scope(.subscription(id), service: service, dropped: dropped)
    }

    /// Adds a condition; see `Desk.addCondition(_:identifier:assuming:to:at:)`.
    public func add(
        _ condition: Condition, identifier: String, assuming state: Event.State? = nil
    ) async throws(DeskError) {
        try await service.change(of: id) { desk, id, now throws(DeskError) in
            try desk.addCondition(condition, identifier: identifier, assuming: state, to: id, at: now)
        }
    }

    /// Removes a condition; see `Desk.removeCondition(identifier:from:at:)`.
    public func remove(_ identifier: String) async throws(DeskError) {
        try await service.change(of: id) { desk, id, now throws(DeskError) in
            try desk.removeCondition(identifier: identifier, from: id, at: now)
        }
    }

    /// The identifiers of the conditions, in the order in which they were added.
    public var identifiers: [String] {
        get async { await service.desk.conditionIdentifiers(of: id) }
    }

    /// What is known of a condition; nil where there is none with the identifier.
    public func record(for identifier: String) async -> Record? {
        await service.desk.record(for: identifier, of: id)
    }

    /// The events. One iterator at a time: several share them.
    public var events: Events { Events(service: service, id: id, monitor: self) }

    /// The events of a monitor.
    public struct Events: AsyncSequence, Sendable {
        /// What it gives.
        public typealias Element = LocationMonitor.Event
        /// What iteration throws.
        public typealias Failure = DeskError

        fileprivate let service: LocationService
        fileprivate let id: SubscriptionID
        fileprivate let monitor: LocationMonitor

        /// An iterator.
        public func makeAsyncIterator() -> Iterator { Iterator(service: service, id: id, monitor: monitor) }

        /// Iterates over the events of a monitor.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let service: LocationService
            fileprivate let id: SubscriptionID
            fileprivate let monitor: LocationMonitor

            /// The next event; nil when the monitor is closed.
            public mutating func next() async throws(DeskError) -> Event? { try await next(isolation: nil) }

            /// The next event; nil when the monitor is closed.
            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async throws(DeskError) -> Event? {
                guard case .event(let event) = try await service.next(id) else { return nil }
                return event
            }
        }
    }

    /// Closes the monitor before it goes out of scope.
    public func invalidate() { scope.end() }
}

extension LocationService {
    func change(
        of id: SubscriptionID, _ body: @Sendable (inout Desk, SubscriptionID, Timestamp) throws(DeskError) -> Void
    ) async throws(DeskError) {
        try await change { desk, now throws(DeskError) in try body(&desk, id, now) }
    }
}
