import Dialects
import HereaboutsLive
import NIOCore

/// A client's connection to a gpsd port. While the client watches, its consumer is in use.
///
/// Nothing queues up: while a report has not left, of those that follow the newest alone is sent; and nothing is read from
/// a client that does not read its answers.
final class GPSDConnection: ChannelDuplexHandler, RelayListener {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let port: GPSDPort
    private let relay: Relay
    private var server = GPSDServer()
    private var context: ChannelHandlerContext?
    private var opening: Relay.Opening?
    /// What stands for this connection; nil while it has no session, too.
    private var standing: OutgoingLocation?
    /// Whether the client has yet to be told what stands.
    private var isReportWaiting = false
    /// Requests that begin a session. They are answered once it is known what stands.
    private var heldRequests: [UInt8]?
    private var isReadHeld = false
    private var timer: Scheduled<Void>?
    private var timed = Timed.nothing

    /// What ends a connection that goes on as it is.
    private enum Timed { case nothing, idling, stalling }

    init(_ port: GPSDPort) { (self.port, relay) = (port, port.relay) }

    /// Whether the client has a session.
    var isInUse: Bool { opening != nil }

    func close() { context?.close(promise: nil) }

    // MARK: The channel

    func channelActive(context: ChannelHandlerContext) {
        self.context = context
        guard port.admit(self) else { return context.close(promise: nil) }
        send(server.greeting)
        arm()
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
        endSession()
        heldRequests = nil
        self.context = nil
        port.remove(self)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = Array(unwrapInboundIn(data).readableBytesView)
        guard server.admits(bytes) else { return context.close(promise: nil) }
        if heldRequests != nil {
            heldRequests? += bytes
        } else if begins(bytes) {
            do throws(DeskError) {
                opening = try relay.open(
                    .updates(reduced: port.settings.isReduced), of: port.settings.device, for: port.consumer,
                    purpose: port.settings.purpose, listener: self)
                heldRequests = bytes
            } catch {
                context.close(promise: nil)
            }
        } else {
            answer(bytes)
        }
        arm(isActivity: true)
    }

    func read(context: ChannelHandlerContext) {
        if heldRequests == nil, context.channel.isWritable {
            context.read()
        } else {
            isReadHeld = true
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            if isReportWaiting { report() }
            resumeReading()
        }
        arm()
        context.fireChannelWritabilityChanged()
    }

    // MARK: The relay

    func deliver(_ delivery: Delivery) {
        guard opening != nil, case .update(let update) = delivery.content else { return }
        let location = update.location.map(OutgoingLocation.init)
        defer { arm() }
        if let requests = heldRequests {
            (standing, heldRequests) = (location, nil)
            answer(requests)
            resumeReading()
        } else if location != standing {
            standing = location
            report()
        }
    }

    func end() {
        opening = nil
        standing = nil
        heldRequests = nil
        send(server.report(nil))
        close()
    }

    // MARK: Requests and reports

    /// Whether some requests end in watching, where there is no session yet.
    private func begins(_ bytes: [UInt8]) -> Bool { opening == nil && server(after: bytes).isActive }

    /// What some requests would make of the server.
    private func server(after bytes: [UInt8]) -> GPSDServer {
        var server = server
        _ = server.receive(bytes, standing: nil, tick: relay.desk.lastTick, now: relay.now)
        return server
    }

    private func answer(_ bytes: [UInt8]) {
        if opening == nil, server(after: bytes).hasPolled {
            // Without a session one asks as by a request of its own.
            let settings = port.settings
            let update = try? relay.current(
                of: settings.device, for: port.consumer, purpose: settings.isReduced ? nil : settings.purpose)
            standing = update?.location.map(OutgoingLocation.init)
        }
        let text = server.receive(bytes, standing: standing, tick: relay.desk.lastTick, now: relay.now)
        if !server.isActive { endSession() }
        send(text)
    }

    private func endSession() {
        if let opening { relay.close(opening) }
        opening = nil
        standing = nil
        isReportWaiting = false
    }

    private func report() {
        guard let context else { return }
        isReportWaiting = !context.channel.isWritable
        if !isReportWaiting { send(server.report(standing)) }
    }

    private func send(_ bytes: [UInt8]) {
        guard let context, !bytes.isEmpty else { return }
        context.writeAndFlush(wrapOutboundOut(context.channel.allocator.buffer(bytes: bytes)), promise: nil)
    }

    private func resumeReading() {
        guard isReadHeld, let context, heldRequests == nil, context.channel.isWritable else { return }
        isReadHeld = false
        context.read()
    }

    /// Sets the time after which the connection is closed, if it goes on as it is.
    private func arm(isActivity: Bool = false) {
        guard let context else { return }
        let next: Timed = !context.channel.isWritable ? .stalling : !server.isActive ? .idling : .nothing
        guard next != timed || isActivity && next == .idling else { return }
        timed = next
        timer?.cancel()
        timer = nil
        guard next != .nothing else { return }
        timer = context.eventLoop.assumeIsolated().scheduleTask(
            in: next == .stalling ? port.limits.stall : port.limits.idle
        ) { [weak self] in self?.close() }
    }
}
