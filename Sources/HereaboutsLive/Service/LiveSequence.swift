import Hereabouts

/// A stream of a service. Each iterator is a subscription of its own, from its first element to the end of its scope;
/// it holds one element, the newest.
///
/// Iteration throws `DeskError`, such as for an unknown name, and ends when the device or the consumer is removed.
public struct LiveSequence<Element: Sendable>: AsyncSequence, Sendable {
    /// What iteration throws.
    public typealias Failure = DeskError

    typealias Subscribe = @Sendable (inout Desk, Timestamp) throws(DeskError) -> SubscriptionID

    private let service: LocationService
    private let subscribe: Subscribe
    private let element: @Sendable (Delivery.Content) -> Element?

    init(
        service: LocationService, subscribe: @escaping Subscribe,
        element: @escaping @Sendable (Delivery.Content) -> Element?
    ) {
        (self.service, self.subscribe, self.element) = (service, subscribe, element)
    }

    /// An iterator, which is not open until its first element is asked for.
    public func makeAsyncIterator() -> Iterator {
        Iterator(service: service, subscribe: subscribe, element: element)
    }

    /// Iterates over a stream of a service.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        let service: LocationService
        let subscribe: Subscribe
        let element: @Sendable (Delivery.Content) -> Element?
        private(set) var subscribed: Subscribed?

        init(
            service: LocationService, subscribe: @escaping Subscribe,
            element: @escaping @Sendable (Delivery.Content) -> Element?
        ) {
            (self.service, self.subscribe, self.element) = (service, subscribe, element)
        }

        /// Opens the stream, unless it is open. The first `next()` does so too.
        public mutating func open() async throws(DeskError) {
            if subscribed == nil { subscribed = try await service.open(subscribe) }
        }

        /// The next element; nil at the end.
        public mutating func next() async throws(DeskError) -> Element? { try await next(isolation: nil) }

        /// The next element; nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(DeskError) -> Element? {
            if subscribed == nil { subscribed = try await service.open(subscribe) }
            while let id = subscribed?.id, let content = try await service.next(id) {
                if let element = element(content) { return element }
            }
            return nil
        }
    }
}
