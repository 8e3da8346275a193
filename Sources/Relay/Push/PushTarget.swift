import Dialects
import Hereabouts
import HereaboutsLive
import NIOCore
import NIOSSL

/// Posts a consumer's answers to a receiver while nobody is connected. Confined to the relay's event loop.
///
/// Only locations are posted: without one, what was not posted yet is dropped, and the receiver keeps the last with its age.
/// Nothing of a receiver's answer but its status has an effect, and none on the device.
package final class PushTarget: RelayListener {
    /// What bounds a target.
    package struct Limits: Hashable, Sendable {
        /// Of one attempt, from looking up the receiver's name to the end of its answer.
        package var attempt = TimeAmount.seconds(10)

        package init() {}
    }

    let settings: RelayConfiguration.Push
    let consumer: String
    private let device: RelayConfiguration.Device
    private let secret: PushSecret?
    private let tls: NIOSSLContext?
    private let relay: Relay
    private let eventLoop: any EventLoop
    private let limits: Limits
    private var random: any RandomNumberGenerator
    private var queue: PushQueue
    private var opening: Relay.Opening?
    private var post: PushPost?
    private var timer: Scheduled<Void>?

    /// - Parameters:
    ///   - device: the one that the settings name.
    ///   - stale: a location that is older is not posted any more.
    ///   - tls: for a URL with TLS; see `PushTarget.tlsContext`.
    package init(
        _ settings: RelayConfiguration.Push, of consumer: String, device: RelayConfiguration.Device,
        secret: PushSecret?, stale: Duration, tls: NIOSSLContext?, relay: Relay, on eventLoop: any EventLoop,
        random: any RandomNumberGenerator, limits: Limits = Limits()
    ) {
        precondition(!settings.url.isSecure || tls != nil, "a URL with TLS has a context")
        (self.settings, self.consumer, self.device) = (settings, consumer, device)
        (self.secret, self.tls) = (secret, settings.url.isSecure ? tls : nil)
        (self.relay, self.eventLoop, self.random, self.limits) = (relay, eventLoop, random, limits)
        queue = PushQueue(stale: stale)
    }

    /// TLS 1.2 or 1.3 with the receiver's certificate and name verified.
    ///
    /// - Parameter roots: whom to trust; those of the system by default.
    package static func tlsContext(roots: NIOSSLTrustRoots = .default) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = .fullVerification
        configuration.minimumTLSVersion = .tlsv12
        configuration.cipherSuiteValues = NIOTLSCipher.forwardSecret
        configuration.trustRoots = roots
        configuration.applicationProtocols = ["http/1.1"]
        return try NIOSSLContext(configuration: configuration)
    }

    /// Begins to listen to the consumer's pushes. Nothing happens where it does already.
    package func start() throws(DeskError) {
        guard opening == nil else { return }
        opening = try relay.open(
            .pushes(reduced: settings.isReduced), of: settings.device, for: consumer, purpose: settings.purpose,
            listener: self)
    }

    /// Drops what waits, and ends an attempt that is under way.
    package func stop() {
        if let opening { relay.close(opening) }
        end()
    }

    /// Whether it listens: not before `start`, and not after the relay has ended it.
    package var isListening: Bool { opening != nil }
    package var counts: PushCounts { queue.counts }

    package func deliver(_ delivery: Delivery) {
        guard opening != nil, case .update(let update) = delivery.content else { return }
        if queue.offer(update.location.map(OutgoingLocation.init)) { attempt() }
    }

    package func end() {
        opening = nil
        _ = queue.offer(nil)
        post?.cancel()
        if let timer {
            timer.cancel()
            resume()
        }
    }

    private func attempt() {
        let post = PushPost(to: settings.url, tls: tls, on: eventLoop, limit: limits.attempt) { [weak self] in
            self?.request()
        } finished: { [weak self] in
            self?.finish($0)
        }
        self.post = post
        post.start()
    }

    private func request() -> PushRequest? {
        queue.take(now: relay.now).map {
            PushRequest($0, of: device, in: settings.dialect, to: settings.url, secret: secret)
        }
    }

    private func finish(_ outcome: PushOutcome?) {
        post = nil
        switch queue.finish(outcome, random: &random) {
        case .rest: break
        case .post: attempt()
        case .retry(let delay):
            timer = eventLoop.assumeIsolated().scheduleTask(in: delay) { [weak self] in self?.resume() }
        }
    }

    private func resume() {
        timer = nil
        if queue.resume(now: relay.now) { attempt() }
    }
}
