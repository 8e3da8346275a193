import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOTLS

/// One attempt to post: a connection of its own, one request, one answer. Redirects are not followed.
final class PushPost: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    /// Of an answer's body more is not read, in bytes.
    private static let bodyLimit = 64 << 10

    private let url: PushURL
    private let tls: NIOSSLContext?
    private let eventLoop: any EventLoop
    private let limit: TimeAmount
    private var request: (() -> PushRequest?)?
    private var finished: ((PushOutcome?) -> Void)?
    private var channel: (any Channel)?
    private var timer: Scheduled<Void>?
    private var status: UInt?
    private var bodyCount = 0

    /// - Parameters:
    ///   - tls: nil for plain HTTP.
    ///   - limit: of everything from looking up the name to the end of the answer.
    ///   - request: called once there is a connection, with TLS where the URL says so; nil for nothing.
    ///   - finished: called once; nil where there was nothing to post.
    init(
        to url: PushURL, tls: NIOSSLContext?, on eventLoop: any EventLoop, limit: TimeAmount,
        request: @escaping () -> PushRequest?, finished: @escaping (PushOutcome?) -> Void
    ) {
        (self.url, self.tls, self.eventLoop, self.limit) = (url, tls, eventLoop, limit)
        (self.request, self.finished) = (request, finished)
    }

    func start() {
        timer = eventLoop.assumeIsolated().scheduleTask(in: limit) { [weak self] in self?.finish(.stalled) }
        ClientBootstrap(group: eventLoop)
            .connectTimeout(limit)
            .channelOption(.autoRead, value: false)
            .connect(host: url.host, port: url.port)
            .assumeIsolated().whenComplete { result in
                switch result {
                case .success(let channel): self.adopt(channel)
                case .failure: self.finish(.unreachable)
                }
            }
    }

    func cancel() { finish(nil) }

    private func adopt(_ channel: any Channel) {
        guard finished != nil else { return channel.close(promise: nil) }
        self.channel = channel
        do {
            let pipeline = channel.pipeline.syncOperations
            if let tls {
                // The name of an address cannot be indicated; the certificate is verified against the address then.
                let isAddress = (try? SocketAddress(ipAddress: url.host, port: 0)) != nil
                try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: isAddress ? nil : url.host))
            }
            try pipeline.addHandlers(
                HTTPRequestEncoder(), ByteToMessageHandler(HTTPResponseDecoder(leftOverBytesStrategy: .dropBytes)), self
            )
            try channel.syncOptions?.setOption(.autoRead, value: true)
            if tls == nil { post(channel) }
        } catch {
            finish(.unreachable)
        }
    }

    private func post(_ channel: any Channel) {
        guard let request = self.request?() else { return finish(nil) }
        self.request = nil
        let pipeline = channel.pipeline.syncOperations
        pipeline.write(wrapOutboundOut(.head(request.head)), promise: nil)
        if !request.body.isEmpty {
            pipeline.write(
                wrapOutboundOut(.body(.byteBuffer(channel.allocator.buffer(bytes: request.body)))), promise: nil)
        }
        pipeline.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    // MARK: The channel

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted = event as? TLSUserEvent, request != nil { post(context.channel) }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            status = head.status.code
        case .body(let body):
            bodyCount += body.readableBytes
            if bodyCount > Self.bodyLimit { finish(.unreachable) }
        case .end: finish(.unreachable)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        finish(.unreachable)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { finish(.unreachable) }

    /// Ends the attempt; what the answer's status says counts for more than how the connection ended.
    private func finish(_ outcome: PushOutcome?) {
        guard let finished else { return }
        self.finished = nil
        request = nil
        timer?.cancel()
        timer = nil
        channel?.close(promise: nil)
        channel = nil
        finished(status.map(PushOutcome.init(status:)) ?? outcome)
    }
}
