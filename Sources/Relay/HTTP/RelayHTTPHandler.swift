import Dialects
import Hereabouts
import HereaboutsLive
import NIOCore
import NIOHTTP1

/// Notices the first byte of a request, for the time that a request may take.
final class RequestClockHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let clock: RequestClock

    init(_ clock: RequestClock) { self.clock = clock }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        clock.bytesCame()
        context.fireChannelRead(data)
    }
}

/// Closes a connection whose request takes too long, or that has been idle for too long.
final class RequestClock {
    private let channel: any Channel
    private let eventLoop: any EventLoop
    /// Whether others bound it.
    private let isExempt: Bool
    /// When it is closed; nil for a stream.
    private var deadline: NIODeadline?
    /// Looks at the deadline, no later than that.
    private var timer: Scheduled<Void>?
    private var timerTime = NIODeadline.distantFuture
    private var isReceiving = true
    /// When something came from it, or an answer was sent.
    private(set) var lastHeard: NIODeadline
    /// Whether the last request came with a token that holds.
    private(set) var isOfHolder = false

    /// From the first byte of a request to its answer.
    static let requestLimit = TimeAmount.seconds(10)
    /// Between two requests.
    static let idleLimit = TimeAmount.seconds(75)
    /// The same after a request without a token that holds. The page's own script asks at once.
    static let strangerIdleLimit = TimeAmount.seconds(3)

    init(_ channel: any Channel, isExempt: Bool) {
        (self.channel, self.isExempt, eventLoop) = (channel, isExempt, channel.eventLoop)
        lastHeard = eventLoop.now
        // A connection that says nothing at first is taken for half open.
        close(in: Self.requestLimit)
    }

    /// Whether it may be closed for another connection's sake.
    var mayGo: Bool { !isExempt && !(isOfHolder && isReceiving) }

    func close() { channel.close(promise: nil) }

    func bytesCame() {
        lastHeard = eventLoop.now
        guard !isReceiving else { return }
        isReceiving = true
        close(in: Self.requestLimit)
    }

    /// An answer was sent, and another request may come.
    ///
    /// - Parameter isToHolder: whether it was given to who presented a token that holds.
    func answered(isToHolder: Bool) {
        (isReceiving, isOfHolder, lastHeard) = (false, isToHolder, eventLoop.now)
        close(in: isToHolder || isExempt ? Self.idleLimit : Self.strangerIdleLimit)
    }

    /// The connection goes on for as long as its holder wants.
    func stream() {
        (isReceiving, isOfHolder) = (true, true)
        stop()
    }

    func stop() {
        deadline = nil
        timer?.cancel()
        (timer, timerTime) = (nil, .distantFuture)
    }

    /// Puts the deadline off or forward. A timer that fires too early is set again then: requests come much faster than they end.
    private func close(in limit: TimeAmount) {
        let time = lastHeard + limit
        deadline = time
        guard time < timerTime else { return }
        timer?.cancel()
        setTimer(time)
    }

    private func setTimer(_ time: NIODeadline) {
        timerTime = time
        timer = eventLoop.assumeIsolated().scheduleTask(deadline: time) { [weak self] in self?.look() }
    }

    private func look() {
        guard let deadline else { return }
        if deadline <= eventLoop.now { close() } else { setTimer(deadline) }
    }
}

/// One connection of HTTP/1.1: requests in their order, one at a time, or a stream of events until it is closed.
final class RelayHTTPHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private enum State {
        case idle
        /// A request whose body is not kept.
        case discarding(BodylessRequest)
        /// One for the outlines around a region, whose body is not kept either.
        case discardingForOutlines(OutlinesRequest)
        /// A sender's message; `body` is nil once it is too long.
        case reading(SenderRequest, limit: Int, body: [UInt8]?)
        /// A stream that opens at the request's end.
        case opening(StreamRequest)
        case streaming
        /// The answer is being made.
        case waiting
        /// Nothing more is read.
        case closing
    }

    private let server: RelayServer
    private let clock: RequestClock
    private let isMonitoring: Bool
    private var state = State.idle
    private var isKeptAlive = false
    private var isHead = false
    private var byteCount = 0
    /// What is kept of a body, and whose.
    private var kept: (count: Int, device: String?) = (0, nil)
    private var isEndHeld = false
    private var stream: EventStream?
    private var onClose: (() -> Void)?
    private var keepAlive: Scheduled<Void>?

    /// A body that is not kept is read no further than this.
    private static let discardedByteCount = 8 << 20
    private static let keepAliveInterval = TimeAmount.seconds(25)

    init(_ server: RelayServer, _ clock: RequestClock, isMonitoring: Bool) {
        (self.server, self.clock, self.isMonitoring) = (server, clock, isMonitoring)
    }

    func channelInactive(context: ChannelHandlerContext) {
        finish()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { finish() }

    private func finish() {
        clock.stop()
        keepAlive?.cancel()
        keepAlive = nil
        stream = nil
        state = .closing
        giveBack()
        let onClose = onClose
        self.onClose = nil
        onClose?()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if stream != nil, context.channel.isWritable { server.streamBecameWritable() }
        if isEndHeld, context.channel.isWritable {
            isEndHeld = false
            end(context)
        }
        context.fireChannelWritabilityChanged()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let isAnswering =
            switch state {
            case .streaming, .waiting, .closing: true
            case .idle, .discarding, .discardingForOutlines, .reading, .opening: false
            }
        // What is no HTTP.
        guard error is HTTPParserError, !isAnswering else { return context.close(promise: nil) }
        isHead = false
        refuse(RelayAnswer(400), context)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // What was asked for before has been answered.
        if let event = event as? ChannelEvent, event == .inputClosed { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): begin(head, context)
        case .body(let bytes): take(bytes, context)
        case .end: end(context)
        }
    }

    // MARK: Requests

    private func begin(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        if case .closing = state { return }
        (isKeptAlive, isHead, byteCount) = (head.isKeepAlive, head.method == .HEAD, 0)
        let method: RelayRequest.Method =
            switch head.method {
            case .GET, .HEAD: .get
            case .POST: .post
            default: .other
            }
        let fields = RequestFields(head.headers)
        // A client of HTTP/1.0 need not say whom it asks.
        guard fields.authorization.count <= 1,
            fields.hostCount == 1 || fields.hostCount == 0 && head.version == .http1_0,
            var request = RelayRequest(
                method: method, target: head.uri, authorization: fields.authorization.first.map { Array($0.utf8) })
        else { return refuse(RelayAnswer(400), context) }
        guard
            fields.transferEncoding.isEmpty || fields.transferEncoding.joined(separator: ",").lowercased() == "chunked"
        else { return refuse(RelayAnswer(501), context) }
        if !fields.contentEncoding.isEmpty { request.encoding = BodyEncoding(fields.contentEncoding) }
        request.program = server.program(fields.userAgent)
        let expectsInterim = fields.expect.contains { $0.lowercased() == "100-continue" }
        switch isMonitoring ? server.routes.monitoringAction(request) : server.routes.action(request) {
        case .refuse(let answer):
            if expectsInterim { return refuse(answer, context) }
            isKeptAlive = false
            state = .discarding(.answer(answer))
        case .discardBody(let request): state = .discarding(request)
        case .outlines(let request): state = .discardingForOutlines(request)
        case .readBody(let request, let limit): state = .reading(request, limit: limit, body: [])
        case .stream(let request): state = .opening(request)
        }
        if expectsInterim {
            let interim = HTTPResponseHead(version: .http1_1, status: .continue)
            context.writeAndFlush(wrapOutboundOut(.head(interim)), promise: nil)
        }
    }

    private func take(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        byteCount += bytes.readableBytes
        guard byteCount <= Self.discardedByteCount else {
            switch state {
            case .closing: return
            // A sender would send it again for ever.
            case .reading(let request, _, _) where request.device != nil:
                return refuse(server.routes.receive(request, nil), context)
            default: return refuse(RelayAnswer(413), context)
            }
        }
        guard case .reading(let request, let limit, var body?) = state else { return }
        state = .idle
        if body.count + bytes.readableBytes > limit {
            giveBack()
            state = .reading(request, limit: limit, body: nil)
        } else if server.bodies.take(bytes.readableBytes, of: request.device) {
            kept = (kept.count + bytes.readableBytes, request.device)
            body.append(contentsOf: bytes.readableBytesView)
            state = .reading(request, limit: limit, body: body)
        } else {
            refuse(server.routes.refuseForNow(request), context)
        }
    }

    private func giveBack() {
        guard kept.count > 0 else { return }
        server.bodies.giveBack(kept.count, of: kept.device)
        kept = (0, nil)
    }

    private func end(_ context: ChannelHandlerContext) {
        guard context.channel.isWritable else {
            // Earlier answers wait to be read; requests that follow wait behind this one.
            isEndHeld = true
            return
        }
        switch state {
        case .idle, .streaming, .waiting, .closing: return
        case .discarding(let request): answer(server.routes.answer(request), context)
        case .discardingForOutlines(let request): outlines(request, context)
        case .reading(let request, _, let body): answer(server.routes.receive(request, body), context)
        case .opening(let request): open(request, context)
        }
    }

    /// Outlines take milliseconds to make, and are made by another thread meanwhile.
    private func outlines(_ request: OutlinesRequest, _ context: ChannelHandlerContext) {
        state = .waiting
        let context = NIOLoopBound(context, eventLoop: context.eventLoop)
        let (outlines, onLeaving) = server.outlines(request)
        outlines.assumeIsolated().whenSuccess { [self] in
            guard case .waiting = state else { return onLeaving() }
            var outlines = $0
            outlines.isToHolder = true
            answer(outlines, context.value, onLeaving: onLeaving)
        }
    }

    // MARK: Answers

    private func head(_ answer: RelayAnswer) -> HTTPResponseHead {
        var headers = HTTPHeaders()
        if let type = answer.contentType { headers.add(name: "Content-Type", value: type.rawValue) }
        for field in answer.headers { headers.add(name: field[0], value: field[1]) }
        for (name, value) in LivePage.headersOfEveryAnswer where !headers.contains(name: name) {
            headers.add(name: name, value: value)
        }
        if answer.status != 204 { headers.add(name: "Content-Length", value: String(answer.body.count)) }
        headers.add(name: "Connection", value: isKeptAlive ? "keep-alive" : "close")
        return HTTPResponseHead(
            version: .http1_1, status: HTTPResponseStatus(statusCode: answer.status), headers: headers)
    }

    /// Sends an answer.
    ///
    /// - Parameter onLeaving: called once it has left, which the connection's reader may put off.
    private func answer(_ answer: RelayAnswer, _ context: ChannelHandlerContext, onLeaving: (() -> Void)? = nil) {
        state = .idle
        giveBack()
        context.write(wrapOutboundOut(.head(head(answer))), promise: nil)
        if !isHead, !answer.body.isEmpty {
            context.write(
                wrapOutboundOut(.body(.byteBuffer(context.channel.allocator.buffer(bytes: answer.body)))), promise: nil)
        }
        guard onLeaving != nil || !isKeptAlive else {
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            return clock.answered(isToHolder: answer.isToHolder)
        }
        let channel = context.channel, end = context.writeAndFlush(wrapOutboundOut(.end(nil)))
        if let onLeaving { end.assumeIsolated().whenComplete { _ in onLeaving() } }
        if isKeptAlive {
            clock.answered(isToHolder: answer.isToHolder)
        } else {
            state = .closing
            end.assumeIsolated().whenComplete { _ in channel.close(promise: nil) }
        }
    }

    /// Answers before the request's end, and closes.
    private func refuse(_ answer: RelayAnswer, _ context: ChannelHandlerContext) {
        isKeptAlive = false
        self.answer(answer, context)
    }

    // MARK: Streams

    private func open(_ request: StreamRequest, _ context: ChannelHandlerContext) {
        guard !isHead else { return refuse(RelayAnswer(405), context) }
        let device = if case .of(let device, _, _, _, _) = request { device } else { "" }
        let stream = EventStream(
            context.channel, device: device, interval: Pacer.nanoseconds(in: server.relay.configuration.interval))
        do throws(DeskError) {
            onClose = try server.open(request, stream)
        } catch {
            return refuse(RelayRoutes.refusal(error), context)
        }
        clock.stream()
        (self.stream, state) = (stream, .streaming)
        var headers = HTTPHeaders()
        headers.add(name: "Content-Type", value: "text/event-stream")
        for (name, value) in LivePage.headersOfEveryAnswer { headers.add(name: name, value: value) }
        // nginx passes events on as they come.
        headers.add(name: "X-Accel-Buffering", value: "no")
        context.writeAndFlush(
            wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .ok, headers: headers))), promise: nil)
        keepAlive(context.channel, stream)
    }

    /// Writes something now and then, so that nothing between the two ends takes the stream for dead.
    private func keepAlive(_ channel: any Channel, _ stream: EventStream) {
        keepAlive = channel.eventLoop.assumeIsolated().scheduleTask(in: Self.keepAliveInterval) { [weak self] in
            guard stream.keepAlive() else { return channel.close(promise: nil) }
            self?.keepAlive(channel, stream)
        }
    }
}
