import Files
import HereaboutsLive
import NIOCore
import NIOPosix

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A gpsd port of a consumer: a server for programs that speak gpsd's protocol, on the loopback interface or at a Unix socket
/// of mode 0660. Confined to the relay's event loop.
package final class GPSDPort {
    /// What bounds a port.
    package struct Limits: Hashable, Sendable {
        /// Connections at a time; more are closed at once.
        package var connections = 16
        /// A connection that does not watch is closed after this time without a request.
        package var idle = TimeAmount.minutes(15)
        /// A connection whose client reads nothing is closed after this time.
        package var stall = TimeAmount.seconds(60)
        /// The send buffer of a connection in the system, in bytes.
        package var sendBuffer = 16 << 10

        package init() {}
    }

    /// Why a port cannot be opened.
    package enum Failure: Error, Hashable, Sendable {
        /// The address is not of the loopback interface: the protocol authenticates nobody.
        case notLoopback
        /// There is no socket at the path.
        case socket(UnixSocket.Failure)
        /// The system said no, to an address that is in use for instance.
        case system(SystemError)
    }

    /// What goes on, for `status`.
    package struct Status: Hashable, Sendable {
        package let connections: Int
        /// Those that watch.
        package let sessions: Int
        /// Connections that were closed because there were too many.
        package let refused: Int
    }

    let settings: RelayConfiguration.GPSDPort
    let consumer: String
    let relay: Relay
    let limits: Limits
    private let eventLoop: any EventLoop
    private var listener: (any Channel)?
    private var socket: UnixSocket?
    private var connections: [ObjectIdentifier: GPSDConnection] = [:]
    private var refused = 0
    private var stopping: EventLoopPromise<Void>?

    package init(
        _ settings: RelayConfiguration.GPSDPort, of consumer: String, relay: Relay, on eventLoop: any EventLoop,
        limits: Limits = Limits()
    ) {
        (self.settings, self.consumer, self.relay) = (settings, consumer, relay)
        (self.eventLoop, self.limits) = (eventLoop, limits)
    }

    /// Begins to listen. Fails with `Failure`.
    package func start() -> EventLoopFuture<Void> {
        let bound: EventLoopFuture<any Channel>
        do throws(Failure) {
            bound = try bind()
        } catch {
            return eventLoop.makeFailedFuture(error)
        }
        return bound.assumeIsolated().map { self.listener = $0 }.flatMapErrorThrowing { error in
            self.socket?.removeName()
            self.socket = nil
            throw Failure.system(SystemError(number: (error as? IOError)?.errnoCode ?? EIO))
        }.nonisolated()
    }

    /// Ends all connections, with their sessions, and listens no more.
    package func stop() -> EventLoopFuture<Void> {
        if let stopping { return stopping.futureResult }
        let promise = eventLoop.makePromise(of: Void.self)
        stopping = promise
        socket?.removeName()
        for connection in connections.values { connection.close() }
        listener?.close(promise: nil)
        let closed = listener?.closeFuture ?? eventLoop.makeSucceededVoidFuture()
        closed.assumeIsolated().whenComplete { _ in
            self.listener = nil
            self.finishStopping()
        }
        return promise.futureResult
    }

    /// Where it listens; nil while it does not.
    package var localAddress: SocketAddress? { listener?.localAddress }

    package var status: Status {
        Status(
            connections: connections.count, sessions: connections.values.lazy.filter(\.isInUse).count, refused: refused)
    }

    func admit(_ connection: GPSDConnection) -> Bool {
        guard connections.count < limits.connections, stopping == nil else {
            refused += 1
            return false
        }
        connections[ObjectIdentifier(connection)] = connection
        return true
    }

    func remove(_ connection: GPSDConnection) {
        connections[ObjectIdentifier(connection)] = nil
        finishStopping()
    }

    private func finishStopping() {
        if listener == nil, connections.isEmpty { stopping?.succeed(()) }
    }

    private func bind() throws(Failure) -> EventLoopFuture<any Channel> {
        switch settings.address {
        case .host(let host, let port):
            // What is local by its name is resolved; its address must be local, too.
            guard settings.address.isLocal,
                let address = try? SocketAddress.makeAddressResolvingHost(host, port: port),
                let text = address.ipAddress, RelayConfiguration.Address.host(text, port: port).isLocal
            else { throw .notLoopback }
            return Self.withKeepAlive(bootstrap()).bind(to: address)
        case .unix(let path):
            do throws(UnixSocket.Failure) {
                let socket = try UnixSocket(path: path, mode: 0o660)
                self.socket = socket
                return bootstrap().withBoundSocket(socket.descriptor)
            } catch {
                throw .socket(error)
            }
        }
    }

    private func bootstrap() -> ServerBootstrap {
        let server = NIOLoopBound(self, eventLoop: eventLoop)
        return ServerBootstrap(group: eventLoop)
            .serverChannelOption(.backlog, value: 16)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 1024))
            .childChannelOption(.socketOption(.so_sndbuf), value: SocketOptionValue(limits.sendBuffer))
            // What has not left yet is all that may wait.
            .childChannelOption(.writeBufferWaterMark, value: .init(low: 1, high: 1))
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(GPSDConnection(server.value))
                }
            }
    }

    /// A client that is gone without a word is found out after two minutes.
    private static func withKeepAlive(_ bootstrap: ServerBootstrap) -> ServerBootstrap {
        let bootstrap = bootstrap.childChannelOption(.socketOption(.so_keepalive), value: 1)
        #if canImport(Glibc)
            return
                bootstrap
                .childChannelOption(.tcpOption(.init(rawValue: CInt(TCP_KEEPIDLE))), value: 60)
                .childChannelOption(.tcpOption(.init(rawValue: CInt(TCP_KEEPINTVL))), value: 15)
                .childChannelOption(.tcpOption(.init(rawValue: CInt(TCP_KEEPCNT))), value: 4)
        #else
            return bootstrap
        #endif
    }
}
