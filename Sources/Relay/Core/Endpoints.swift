import HereaboutsLive
import NIOCore
import NIOSSL

/// The gpsd ports, gpsd feeds and push targets of a configuration. Confined to the relay's event loop.
package final class Endpoints {
    /// Why a configuration's endpoints cannot be made or started. No case carries a URL or a credential.
    package enum Failure: Error {
        /// A gpsd port cannot be opened.
        case port(device: String, consumer: String, GPSDPort.Failure)
        /// A push target names a device that is not configured.
        case unknownDevice(device: String, consumer: String)
        /// A push target's credential file cannot be used.
        case credential(device: String, consumer: String, PushSecret.Failure)
        /// The system's certificates cannot be used.
        case certificates
        /// The relay does not give a push target its answers.
        case pushes(device: String, consumer: String, DeskError)
    }

    /// What goes on at an endpoint, for `status`.
    package enum Status: Hashable, Sendable {
        case port(device: String, consumer: String, GPSDPort.Status)
        case feed(device: String, GPSDFeed.Status)
        case push(device: String, consumer: String, RelayConfiguration.Push.Dialect, isListening: Bool, PushCounts)
    }

    private var ports: [GPSDPort] = []
    private var feeds: [GPSDFeed] = []
    private var targets: [PushTarget] = []
    private let eventLoop: any EventLoop

    /// Reads the credential files. Nothing is connected or listened to yet.
    ///
    /// - Parameters:
    ///   - random: what delays are spread by.
    ///   - roots: which certificates receivers are verified against; those of the system by default.
    package init(
        _ configuration: RelayConfiguration, relay: Relay, on eventLoop: any EventLoop,
        random: any RandomNumberGenerator = SystemRandomNumberGenerator(), roots: NIOSSLTrustRoots = .default
    ) throws(Failure) {
        self.eventLoop = eventLoop
        for device in configuration.devices {
            guard let source = device.gpsd else { continue }
            feeds.append(GPSDFeed(source, of: device.name, relay: relay, on: eventLoop, random: random))
        }
        var tls: NIOSSLContext?
        for consumer in configuration.consumers {
            for port in consumer.gpsd {
                ports.append(GPSDPort(port, of: consumer.name, relay: relay, on: eventLoop))
            }
            for push in consumer.pushes {
                guard let device = configuration.devices.first(where: { $0.name == push.device }) else {
                    throw .unknownDevice(device: push.device, consumer: consumer.name)
                }
                let secret = try Self.secret(push, consumer.name)
                if push.url.isSecure, tls == nil {
                    do { tls = try PushTarget.tlsContext(roots: roots) } catch { throw .certificates }
                }
                targets.append(
                    PushTarget(
                        push, of: consumer.name, device: device, secret: secret, stale: configuration.stale,
                        tls: tls, relay: relay, on: eventLoop, random: random))
            }
        }
    }

    /// The credential of a push target; nil where it has none.
    static func secret(_ push: RelayConfiguration.Push, _ consumer: String) throws(Failure) -> PushSecret? {
        guard let file = push.credentialFile else { return nil }
        do throws(PushSecret.Failure) {
            return try PushSecret(file: file)
        } catch {
            throw .credential(device: push.device, consumer: consumer, error)
        }
    }

    /// Opens the ports, connects to the gpsds and listens for pushes. Fails with `Failure`, and nothing is left running then.
    package func start() -> EventLoopFuture<Void> {
        let opened = ports.map { port in
            let (device, consumer) = (port.settings.device, port.consumer)
            return port.start().flatMapErrorThrowing { error in
                guard let failure = error as? GPSDPort.Failure else { throw error }
                throw Failure.port(device: device, consumer: consumer, failure)
            }
        }
        return EventLoopFuture.andAllSucceed(opened, on: eventLoop).assumeIsolated()
            .flatMapThrowing {
                for target in self.targets { try Self.start(target) }
                for feed in self.feeds { feed.start() }
            }
            .flatMapError { error in
                self.stop().assumeIsolated().flatMapThrowing { throw error }.nonisolated()
            }.nonisolated()
    }

    private static func start(_ target: PushTarget) throws(Failure) {
        do throws(DeskError) {
            try target.start()
        } catch {
            throw .pushes(device: target.settings.device, consumer: target.consumer, error)
        }
    }

    /// Ends everything: sessions, connections and what waits.
    package func stop() -> EventLoopFuture<Void> {
        for target in targets { target.stop() }
        return EventLoopFuture.andAllComplete(ports.map { $0.stop() } + feeds.map { $0.stop() }, on: eventLoop)
    }

    package var status: [Status] {
        ports.map { .port(device: $0.settings.device, consumer: $0.consumer, $0.status) }
            + feeds.map { .feed(device: $0.device, $0.status) }
            + targets.map {
                .push(
                    device: $0.settings.device, consumer: $0.consumer, $0.settings.dialect, isListening: $0.isListening,
                    $0.counts)
            }
    }
}

extension Endpoints.Failure: CustomStringConvertible {
    /// A sentence for people, with the names of the configuration.
    package var description: String {
        switch self {
        case .port(let device, let consumer, let failure): "consumers.\(consumer): gpsd port for \(device): \(failure)"
        case .unknownDevice(let device, let consumer): "consumers.\(consumer): push: there is no device \(device)"
        case .credential(let device, let consumer, let failure):
            "consumers.\(consumer): push of \(device): credential-file: \(failure)"
        case .certificates: "the system's certificates cannot be used, which pushes are verified with"
        case .pushes(let device, let consumer, let error): "consumers.\(consumer): push of \(device): \(error)"
        }
    }
}

extension GPSDPort.Failure: CustomStringConvertible {
    /// What is wrong, and what to do.
    package var description: String {
        switch self {
        case .notLoopback: "listen is not this machine alone: gpsd's protocol asks nobody who they are"
        case .socket(let failure): "\(failure)"
        case .system(let error): "cannot listen: \(error)"
        }
    }
}

extension UnixSocket.Failure: CustomStringConvertible {
    /// What is wrong.
    package var description: String {
        switch self {
        case .invalidPath: "the socket's path is empty or too long"
        case .notASocket: "what is at the socket's path is no socket, and is left alone"
        case .inUse: "another program listens at the socket's path"
        case .system(let error): "cannot listen: \(error)"
        }
    }
}

extension PushSecret.Failure: CustomStringConvertible {
    /// What is wrong, and what to do, without anything of the file.
    package var description: String {
        switch self {
        case .system(let error): "\(error)"
        case .notAFile: "is no regular file"
        case .openToOthers: "everybody may read or write it: chmod o= makes it private"
        case .malformed: "has not one line with user:password or a token"
        }
    }
}
