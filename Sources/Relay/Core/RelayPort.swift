import Dialects
import Hereabouts
import HereaboutsLive

/// What gpsd ports, gpsd feeds and push targets need of the relay. Called on its event loop.
package protocol RelayPort: AnyObject {
    /// Opens a stream; with a purpose, in an explicit session that asks for full accuracy and lasts as long. The first answer
    /// comes soon, and never within this call.
    func open(
        _ stream: Relay.Stream, of device: String, for consumer: String, purpose: String?, listener: any RelayListener
    ) throws(DeskError) -> Relay.Opening
    /// Closes a stream, and its session.
    func close(_ opening: Relay.Opening)
    /// Takes a device's fixes.
    func report(_ fixes: [ClaimedFix], from device: String) -> Received
    /// The present.
    var now: Timestamp { get }
}
