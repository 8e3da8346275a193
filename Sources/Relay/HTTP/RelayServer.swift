import Dialects
import Hereabouts
import HereaboutsLive
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Runs a relay on an event loop: its timer, its HTTP server and the streams. Confined to that loop.
package final class RelayServer {
    /// What there may be at once.
    package enum Limits {
        /// Connections, streams included.
        package static let connections = 2000
        /// Streams of events.
        package static let streams = 1000
        /// Those of a consumer that has no grant.
        package static let streamsWithoutGrant = 16
        /// Those that nobody else can take from the owner and from each consumer that has a grant; fewer where these are many.
        package static let reservedStreams = 10
        /// Maps that are being made, or have not left: in all, and those of one token.
        package static let waitingMaps = 16
        package static let waitingMapsOfToken = 4
    }

    package let relay: Relay
    let routes: RelayRoutes
    package let eventLoop: any EventLoop
    /// What is kept of bodies that have not ended.
    var bodies = OpenBodies()
    private var connections: [ObjectIdentifier: RequestClock] = [:]
    private var streamCounts: [String?: Int] = [:]
    private var streams: [ObjectIdentifier: (request: StreamRequest, stream: EventStream)] = [:]
    /// The last tick that streams were written to at.
    private var writtenTick: Timestamp
    /// Programs by what they named themselves lately.
    private var programs: [String: SenderProgram] = [:]
    private var isTurnScheduled = false
    private var timer: Scheduled<Void>?
    private var isClosed = false
    private var ownerStreams: [ObjectIdentifier: OwnerStream] = [:]
    private var listeners: [any Channel] = []
    private var endpoints: Endpoints?
    private var control: ControlServer?
    private var sockets: [UnixSocket] = []
    private let nearby: NearbyRegions?
    private let pool = NIOThreadPool(numberOfThreads: 1)
    private var waitingMaps: [Int64: Int] = [:]

    /// The clock is looked at so often at least: it may be set.
    private static let longestWait = TimeAmount.seconds(1)

    /// - Parameter nearby: what the page's maps are drawn from; nil for none.
    package init(_ relay: Relay, on eventLoop: any EventLoop, nearby: NearbyRegions? = nil) {
        (self.relay, self.eventLoop, self.nearby) = (relay, eventLoop, nearby)
        writtenTick = relay.desk.lastTick
        if nearby != nil { pool.start() }
        routes = RelayRoutes(relay)
        relay.onWork = { [unowned self] in scheduleTurn() }
        relay.openCounts = { [unowned self] in (connections.count, streams.count) }
        relay.onTokenRemoved = { [unowned self] in endStreams(of: $0) }
        scheduleTurn()
    }

    // MARK: The timer

    private func scheduleTurn() {
        guard !isTurnScheduled, !isClosed else { return }
        isTurnScheduled = true
        eventLoop.assumeIsolated().execute { [weak self] in self?.turn() }
    }

    private func turn() {
        isTurnScheduled = false
        guard !isClosed else { return }
        let next = turnRelay()
        let left = next.nanosecondsSince1970.subtractingReportingOverflow(relay.now.nanosecondsSince1970)
        let wait = left.overflow ? Self.longestWait : min(Self.longestWait, .nanoseconds(max(0, left.partialValue)))
        timer?.cancel()
        timer = eventLoop.assumeIsolated().scheduleTask(in: wait) { [weak self] in self?.scheduleTurn() }
        for stream in ownerStreams.values { stream.refresh(relay) }
    }

    /// Lets happen what is due. At a tick, each stream writes in one piece.
    private func turnRelay() -> Timestamp {
        let interval = Pacer.nanoseconds(in: relay.configuration.interval)
        // Where the clock was set back, the desk knows it after a turn.
        writtenTick = min(writtenTick, relay.desk.lastTick)
        guard relay.now >= writtenTick.advanced(by: interval) else { return relay.turn() }
        for (_, stream) in streams.values { stream.hold() }
        let next = relay.turn()
        // While answers are withheld, a tick is yet to come.
        let isTick = relay.desk.lastTick > writtenTick && relay.withheld == nil
        if isTick { writtenTick = relay.desk.lastTick }
        for (request, stream) in streams.values { stream.release(isTick: isTick && request.isReduced) }
        return next
    }

    // MARK: The beginning

    /// Why the relay does not listen.
    package enum StartError: Error, CustomStringConvertible {
        /// What it is that an address is for, and what the system says.
        case address(String, any Error)
        case endpoint(Endpoints.Failure)
        /// The path of a socket, and why it cannot be had.
        case socket(String, UnixSocket.Failure)

        package var description: String {
            switch self {
            case .address(let name, let error): "\(name): cannot listen: \(error)"
            case .endpoint(let failure): "\(failure)"
            case .socket(let path, let failure): "\(path): \(failure)"
            }
        }
    }

    /// Opens the owner's socket and the gpsd ports, begins feeds and pushes, and listens.
    ///
    /// - Parameter folder: of the state; the owner's socket is in it.
    /// - Returns: the port of HTTP, nil for a Unix socket.
    package func start(state folder: String, tls: NIOSSLContext?) -> EventLoopFuture<Int?> {
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        do throws(StartError) {
            let control = try control(folder + "/control.sock"), endpoints = try makeEndpoints()
            (self.control, self.endpoints) = (control, endpoints)
            return control.start().flatMap {
                bound.value.endpoints?.start() ?? bound.eventLoop.makeSucceededVoidFuture()
            }
            .flatMap { bound.value.listenForMonitoring() }
            .flatMap { bound.value.listen(tls) }
        } catch {
            return eventLoop.makeFailedFuture(error)
        }
    }

    private func control(_ path: String) throws(StartError) -> ControlServer {
        do throws(UnixSocket.Failure) {
            return try ControlServer(path: path, on: eventLoop) { [relay] in relay.answer($0) }
        } catch {
            throw .socket(path, error)
        }
    }

    private func makeEndpoints() throws(StartError) -> Endpoints {
        do throws(Endpoints.Failure) {
            return try Endpoints(relay.configuration, relay: relay, on: eventLoop)
        } catch {
            throw .endpoint(error)
        }
    }

    private func listen(_ tls: NIOSSLContext?) -> EventLoopFuture<Int?> {
        bind(relay.configuration.listen, proxy: relay.configuration.proxy, tls: tls, isMonitoring: false)
    }

    private func listenForMonitoring() -> EventLoopFuture<Void> {
        guard let address = relay.configuration.metrics else { return eventLoop.makeSucceededVoidFuture() }
        return bind(address, proxy: nil, tls: nil, isMonitoring: true).map { _ in }
    }

    // MARK: Connections

    private func bind(
        _ address: RelayConfiguration.Address, proxy: String?, tls: NIOSSLContext?, isMonitoring: Bool
    ) -> EventLoopFuture<Int?> {
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        let bootstrap = ServerBootstrap(group: eventLoop)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelOption(.writeBufferWaterMark, value: .init(low: 8 << 10, high: 32 << 10))
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try bound.value.accept(channel, proxy: proxy, tls: tls, isMonitoring: isMonitoring)
                }
            }
        let channel: EventLoopFuture<any Channel>
        switch address {
        case .host(let host, let port): channel = bootstrap.bind(host: host, port: port)
        case .unix(let path):
            do throws(UnixSocket.Failure) {
                // A proxy of the same group connects.
                let socket = try UnixSocket(path: path, mode: 0o660)
                sockets.append(socket)
                channel = bootstrap.withBoundSocket(socket.descriptor)
            } catch {
                return eventLoop.makeFailedFuture(StartError.socket(path, error))
            }
        }
        return channel.map { channel in
            bound.value.listeners.append(channel)
            return channel.localAddress?.port
        }
        .flatMapErrorThrowing { throw $0 as? StartError ?? StartError.address("\(address)", $0) }
    }

    private enum Refusal: Error { case tooMany, notTheProxy }

    /// Whether two texts are one address; a socket of IPv6 has those of IPv4 with a prefix.
    static func isSame(_ address: String, _ other: String) -> Bool {
        func plain(_ text: String) -> String { text.hasPrefix("::ffff:") ? String(text.dropFirst(7)) : text }
        return plain(address.lowercased()) == plain(other.lowercased())
    }

    /// Takes a connection.
    package func accept(
        _ channel: any Channel, proxy: String?, tls: NIOSSLContext?, isMonitoring: Bool = false
    ) throws {
        // Only the proxy reaches a Unix socket, which has no address.
        if let proxy, let address = channel.remoteAddress?.ipAddress, !Self.isSame(address, proxy) {
            throw Refusal.notTheProxy
        }
        guard connections.count < Limits.connections || closeIdlest() else { throw Refusal.tooMany }
        // What comes through a proxy is the proxy's to bound: many people share its connections.
        let isOfProxy = proxy != nil || relay.configuration.listen.isLocal
        let clock = RequestClock(channel, isExempt: isOfProxy), id = ObjectIdentifier(clock)
        connections[id] = clock
        channel.closeFuture.assumeIsolated().whenComplete { [weak self] _ in self?.connections[id] = nil }
        let pipeline = channel.pipeline.syncOperations
        if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
        // Who does not read answers is not read either.
        try pipeline.addHandler(BackPressureHandler())
        try pipeline.addHandler(RequestClockHandler(clock))
        var limits = NIOHTTPDecoderLimitConfiguration()
        (limits.maxHeaderFieldSize, limits.maxHeaderListSize, limits.maxHeaderFieldCount) = (8 << 10, 32 << 10, 100)
        try pipeline.configureHTTPServerPipeline(
            withPipeliningAssistance: true, withErrorHandling: false, withEncoderConfiguration: .init(),
            withDecoderLimitConfiguration: limits)
        try pipeline.addHandler(RelayHTTPHandler(self, clock, isMonitoring: isMonitoring))
    }

    /// Closes the connection that has been silent for the longest time: one that no token came with, or else one between two
    /// requests.
    ///
    /// - Returns: false where there is none that may go.
    private func closeIdlest() -> Bool {
        let idlest = connections.filter { $0.value.mayGo }
            .min {
                ($0.value.isOfHolder ? 1 : 0, $0.value.lastHeard) < ($1.value.isOfHolder ? 1 : 0, $1.value.lastHeard)
            }
        guard let idlest else { return false }
        connections[idlest.key] = nil
        idlest.value.close()
        return true
    }

    /// Which program names itself so.
    func program(_ userAgent: String?) -> SenderProgram {
        guard let userAgent else { return .another }
        if let known = programs[userAgent] { return known }
        if programs.count >= 100 { programs = [:] }
        let program = SenderProgram(userAgent: Array(userAgent.utf8.prefix(200)))
        if userAgent.utf8.count <= 200 { programs[userAgent] = program }
        return program
    }

    // MARK: Maps

    /// The outlines around a region; 404 for one that the atlas does not have, 503 while others are being made.
    ///
    /// - Returns: the answer, and what is to be called once it has left.
    func outlines(_ request: OutlinesRequest) -> (answer: EventLoopFuture<RelayAnswer>, onLeaving: () -> Void) {
        guard let nearby, waitingMaps.values.reduce(0, +) < Limits.waitingMaps,
            waitingMaps[request.token, default: 0] < Limits.waitingMapsOfToken
        else { return (eventLoop.makeSucceededFuture(RelayAnswer(503)), {}) }
        waitingMaps[request.token, default: 0] += 1
        let answer = pool.runIfActive(eventLoop: eventLoop) {
            do throws(NearbyRegions.Failure) {
                return RelayAnswer(200, .geoJSON, try nearby.answer(near: request.near))
            } catch {
                return RelayAnswer(error == .unknownRegion ? 404 : 503)
            }
        }
        return (answer.recover { _ in RelayAnswer(503) }, { [weak self] in self?.waitingMaps.count(request.token, -1) })
    }

    // MARK: Streams

    /// Opens a stream.
    ///
    /// - Returns: what is to be called when its connection is closed.
    func open(_ request: StreamRequest, _ stream: EventStream) throws(DeskError) -> () -> Void {
        let consumer = request.consumer
        guard hasRoom(for: consumer) else { throw .limitExceeded(.subscriptions) }
        let id = ObjectIdentifier(stream)
        var opening: Relay.Opening?
        switch request {
        case .of(let device, let consumer, let kind, let purpose, _):
            opening = try relay.open(kind, of: device, for: consumer, purpose: purpose, listener: stream)
        case .views:
            ownerStreams[id] = OwnerStream(stream)
            scheduleTurn()
        }
        streams[id] = (request, stream)
        streamCounts.count(consumer, 1)
        return { [weak self] in
            guard let self else { return }
            streams[id] = nil
            streamCounts.count(consumer, -1)
            ownerStreams[id] = nil
            if let opening { relay.close(opening) }
        }
    }

    /// Whether a consumer, or the owner, may have one more stream.
    private func hasRoom(for consumer: String?) -> Bool {
        let granted = Set(relay.desk.grantedConsumers.map(\.rawValue))
        let isGranted = consumer.map(granted.contains) ?? true
        guard isGranted || streamCounts[consumer, default: 0] < Limits.streamsWithoutGrant else { return false }
        let reserve = min(Limits.reservedStreams, Limits.streams / 2 / (granted.count + 1))
        let kept = ([nil] + granted.map(Optional.some)).filter { $0 != consumer }
            .reduce(0) { $0 + max(0, reserve - streamCounts[$1, default: 0]) }
        return streams.count + kept < Limits.streams
    }

    /// A connection takes more: what waits for its stream is sent.
    func streamBecameWritable() { scheduleTurn() }

    private func endStreams(of token: Int64) {
        for (request, stream) in streams.values where request.token == token { stream.end() }
    }

    /// Takes no more connections, ends the streams and keeps everything.
    package func close() -> EventLoopFuture<Void> {
        guard !isClosed else { return eventLoop.makeSucceededVoidFuture() }
        isClosed = true
        timer?.cancel()
        for stream in streams.values { stream.stream.end() }
        let ended = [endpoints?.stop(), control?.stop()].compactMap(\.self) + listeners.map { $0.close() }
        for socket in sockets { socket.removeName() }
        relay.close()
        pool.shutdownGracefully { _ in }
        return EventLoopFuture.andAllComplete(ended, on: eventLoop)
    }
}

extension Dictionary where Value == Int {
    /// Adds to a count. One that is zero is not kept.
    fileprivate mutating func count(_ key: Key, _ difference: Int) {
        let sum = self[key, default: 0] + difference
        self[key] = sum == 0 ? nil : sum
    }
}

/// The owner's stream: of each consumer and device what the consumer would see, the requests that wait, and what came of
/// each device's last message.
final class OwnerStream {
    private let stream: EventStream
    private var revision: UInt64?
    private var sent: [Relay.Pair: [UInt8]] = [:]
    private var sentRequests: [UInt8] = []
    private var sentReceipts: [UInt8] = []
    private var notBefore = Timestamp(nanosecondsSince1970: .min)

    init(_ stream: EventStream) { self.stream = stream }

    /// Sends what has changed, at most once a second.
    func refresh(_ relay: Relay) {
        let now = relay.now, second: Int64 = 1_000_000_000
        guard stream.isWritable, revision != relay.revision,
            now >= notBefore || now < notBefore.advanced(by: -second)
        else { return }
        revision = relay.revision
        notBefore = now.advanced(by: second)
        for pair in relay.shownPairs {
            guard let view = RelayMessages.view(relay, pair), sent[pair] != view else { continue }
            sent[pair] = view
            stream.send(ServerSentEvent.event("view", view))
        }
        let requests = RelayMessages.requests(relay.desk.requests)
        if sentRequests != requests {
            sentRequests = requests
            stream.send(ServerSentEvent.event("requests", requests))
        }
        let receipts = RelayMessages.receipts(relay)
        if sentReceipts != receipts {
            sentReceipts = receipts
            stream.send(ServerSentEvent.event("receipts", receipts))
        }
    }
}
