import Dialects
import Hereabouts
import HereaboutsLive

/// Takes what a subscription delivers. Called on the relay's event loop.
package protocol RelayListener: AnyObject {
    /// Something came: the newest of its kind. Never called from within `Relay.open`.
    func deliver(_ delivery: Delivery)
    /// The subscription was ended by the owner or the configuration; nothing comes any more.
    func end()
}

/// The relay's state machine: a desk, who may use it, and what must be kept. Confined to one event loop; it does no I/O but
/// through its store.
package enum Relay {
    /// What a listener listens to.
    package enum Stream: Hashable, Sendable {
        case updates(reduced: Bool)
        case pushes(reduced: Bool)
        case visits
        case monitor
        case authorization
    }

    /// A listener's subscription, with the explicit session that lasts as long.
    package struct Opening: Hashable, Sendable {
        package let subscription: SubscriptionID
        package let session: SessionID?
    }
}
