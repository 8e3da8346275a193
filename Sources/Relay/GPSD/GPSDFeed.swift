import Dialects
import Hereabouts
import NIOCore
import NIOPosix

/// A device's fixes from a gpsd. It connects again and again, for as long as the relay runs. Confined to the relay's event
/// loop.
package final class GPSDFeed {
    /// What bounds a feed.
    package struct Limits: Hashable, Sendable {
        /// A connection is made within this time.
        package var connect = TimeAmount.seconds(10)
        /// A server greets within this time.
        package var greeting = TimeAmount.seconds(10)
        /// A server that says nothing for this time is asked for its version.
        package var silence = TimeAmount.seconds(30)
        /// It answers that within this time.
        package var reply = TimeAmount.seconds(15)

        package init() {}
    }

    /// What went on, for `status`.
    package struct Status: Hashable, Sendable {
        /// Whether a server has greeted and is connected.
        package internal(set) var isConnected = false
        /// Connections to a server that greeted.
        package internal(set) var connections = 0
        /// Attempts that came to none.
        package internal(set) var failures = 0
        /// Fixes that were reported to the relay.
        package internal(set) var fixes = 0
        /// Fixes of other receivers.
        package internal(set) var foreign = 0
        /// Lines that could not be used.
        package internal(set) var unusable = 0
    }

    package internal(set) var status = Status()
    let source: RelayConfiguration.GPSDSource
    let device: String
    let relay: Relay
    let limits: Limits
    private let eventLoop: any EventLoop
    private var random: any RandomNumberGenerator
    private var backoff = Backoff()
    private var isStarted = false
    private var isConnecting = false
    private var timer: Scheduled<Void>?
    private var channel: (any Channel)?

    package init(
        _ source: RelayConfiguration.GPSDSource, of device: String, relay: Relay, on eventLoop: any EventLoop,
        random: any RandomNumberGenerator, limits: Limits = Limits()
    ) {
        (self.source, self.device, self.relay) = (source, device, relay)
        (self.eventLoop, self.random, self.limits) = (eventLoop, random, limits)
    }

    package func start() {
        guard !isStarted else { return }
        isStarted = true
        connect()
    }

    package func stop() -> EventLoopFuture<Void> {
        isStarted = false
        timer?.cancel()
        timer = nil
        guard let channel else { return eventLoop.makeSucceededVoidFuture() }
        channel.close(promise: nil)
        return channel.closeFuture
    }

    private func connect() {
        guard isStarted, !isConnecting, channel == nil else { return }
        isConnecting = true
        let bootstrap = ClientBootstrap(group: eventLoop)
            .connectTimeout(limits.connect)
            .channelOption(.autoRead, value: false)
            .channelOption(.maxMessagesPerRead, value: 1)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 16 << 10))
        let connected =
            switch source.address {
            case .host(let host, let port): bootstrap.connect(host: host, port: port)
            case .unix(let path): bootstrap.connect(unixDomainSocketPath: path)
            }
        connected.assumeIsolated().whenComplete { result in
            self.isConnecting = false
            switch result {
            case .success(let channel): self.adopt(channel)
            case .failure: self.retry()
            }
        }
    }

    private func adopt(_ channel: any Channel) {
        guard isStarted else { return channel.close(promise: nil) }
        do {
            try channel.pipeline.syncOperations.addHandler(GPSDFeedConnection(self))
            try channel.syncOptions?.setOption(.autoRead, value: true)
        } catch {
            channel.close(promise: nil)
            return retry()
        }
        self.channel = channel
    }

    private func retry() {
        status.failures += 1
        schedule()
    }

    private func schedule() {
        guard isStarted else { return }
        timer = eventLoop.assumeIsolated().scheduleTask(in: backoff.next(&random)) { [weak self] in self?.connect() }
    }

    // MARK: The connection

    /// A server has greeted.
    func begin() {
        status.isConnected = true
        status.connections += 1
    }

    /// A report has come: the server is worth an early return.
    func receive(_ reports: [GPSDReportReader.Report]) {
        var fixes: [ClaimedFix] = []
        for report in reports {
            switch report {
            case .fix(let fix):
                if let receiver = source.receiver, fix.device != receiver {
                    status.foreign += 1
                } else {
                    fixes.append(fix)
                }
            case .unusable, .overLimit: status.unusable += 1
            case .version: break
            case .noFix, .error, .other: backoff.reset()
            }
        }
        guard !fixes.isEmpty else { return }
        backoff.reset()
        status.fixes += fixes.count
        relay.report(fixes, from: device, by: .gpsd)
    }

    /// The connection has ended.
    func end() {
        if !status.isConnected { status.failures += 1 }
        status.isConnected = false
        channel = nil
        schedule()
    }
}

/// A connection of a feed.
final class GPSDFeedConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let question = "?VERSION;\n"
    private let feed: GPSDFeed
    private var client = GPSDClient()
    private var isGreeted = false
    private var isAsked = false
    private var hasEnded = false
    private var timer: Scheduled<Void>?

    init(_ feed: GPSDFeed) { self.feed = feed }

    func handlerAdded(context: ChannelHandlerContext) { arm(context, feed.limits.greeting) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasEnded else { return }
        let output = client.receive(unwrapInboundIn(data).readableBytesView)
        guard output.failure == nil else { return context.close(promise: nil) }
        if !output.request.isEmpty { send(context, context.channel.allocator.buffer(bytes: output.request)) }
        guard !output.reports.isEmpty else { return }
        if !isGreeted {
            isGreeted = true
            feed.begin()
        }
        isAsked = false
        arm(context, feed.limits.silence)
        feed.receive(output.reports)
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
        if !hasEnded {
            hasEnded = true
            feed.end()
        }
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func send(_ context: ChannelHandlerContext, _ bytes: ByteBuffer) {
        context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
    }

    /// A server that is gone without a word, or never was a gpsd, says nothing. One that has no fix says nothing either, but
    /// answers.
    private func arm(_ context: ChannelHandlerContext, _ limit: TimeAmount) {
        timer?.cancel()
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: limit) { [weak self] in
            guard let self, !self.hasEnded else { return }
            guard self.isGreeted, !self.isAsked else { return context.close(promise: nil) }
            self.isAsked = true
            self.send(context, context.channel.allocator.buffer(string: Self.question))
            self.arm(context, self.feed.limits.reply)
        }
    }
}
