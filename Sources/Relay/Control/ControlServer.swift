private import Foundation
import NIOCore
import NIOPosix

/// The owner's socket: each connection sends a request, a line of JSON, gets an answer, another, and is closed. Who may open
/// the socket is the owner: its mode is 0600. Confined to the relay's event loop.
package final class ControlServer {
    package enum Limits {
        /// Connections at a time; more are closed at once.
        package static let connections = 16
        /// The longest request, and the longest answer, in bytes.
        package static let requestBytes = 64 << 10, answerBytes = 64 << 20
        /// A connection is closed after this time.
        package static let lifetime = TimeAmount.seconds(30)
    }

    private let eventLoop: any EventLoop
    private let socket: UnixSocket
    private let handler: (ControlRequest) -> ControlAnswer
    private var listener: (any Channel)?
    private var connections: [ObjectIdentifier: any Channel] = [:]

    /// Takes the socket at a path; one that a dead run left is replaced.
    ///
    /// - Parameter handler: called on the event loop.
    /// - Throws: `UnixSocket.Failure`.
    package init(
        path: String, on eventLoop: any EventLoop, handler: @escaping (ControlRequest) -> ControlAnswer
    ) throws(UnixSocket.Failure) {
        socket = try UnixSocket(path: path, mode: 0o600)
        (self.eventLoop, self.handler) = (eventLoop, handler)
    }

    /// Begins to answer.
    package func start() -> EventLoopFuture<Void> {
        let server = NIOLoopBound(self, eventLoop: eventLoop)
        return ServerBootstrap(group: eventLoop)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ControlHandler(server.value))
                }
            }
            .withBoundSocket(socket.descriptor)
            .map { server.value.listener = $0 }
    }

    /// Removes the socket and closes all connections.
    package func stop() -> EventLoopFuture<Void> {
        socket.removeName()
        for connection in connections.values { connection.close(promise: nil) }
        let closed = listener?.close() ?? eventLoop.makeSucceededVoidFuture()
        listener = nil
        return closed
    }

    fileprivate func admit(_ channel: any Channel) -> Bool {
        guard connections.count < Limits.connections else { return false }
        connections[ObjectIdentifier(channel)] = channel
        return true
    }

    fileprivate func remove(_ channel: any Channel) { connections[ObjectIdentifier(channel)] = nil }

    /// The answer to a line.
    fileprivate func answer(_ line: [UInt8]) -> [UInt8] {
        let answer: ControlAnswer
        if let request = try? JSONDecoder().decode(ControlRequest.self, from: Data(line)) {
            answer = handler(request)
        } else {
            answer = .failed("the request is of another version of the command than the relay")
        }
        return ((try? JSONEncoder().encode(answer)).map { Array($0) } ?? []) + [10]
    }
}

/// A connection to the owner's socket.
private final class ControlHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let server: ControlServer
    private var request: [UInt8] = []
    private var isAnswered = false

    init(_ server: ControlServer) { self.server = server }

    func channelActive(context: ChannelHandlerContext) {
        guard server.admit(context.channel) else { return context.close(promise: nil) }
        let channel = context.channel
        let end = context.eventLoop.scheduleTask(in: ControlServer.Limits.lifetime) { channel.close(promise: nil) }
        channel.closeFuture.whenComplete { _ in end.cancel() }
    }

    func channelInactive(context: ChannelHandlerContext) { server.remove(context.channel) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isAnswered else { return }
        request += unwrapInboundIn(data).readableBytesView
        guard request.count <= ControlServer.Limits.requestBytes else { return context.close(promise: nil) }
        guard let end = request.firstIndex(of: 10) else { return }
        isAnswered = true
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: server.answer(Array(request[..<end])))))
            .whenComplete { _ in channel.close(promise: nil) }
    }

    /// A client that ends before its line does gets no answer.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event, !isAnswered { context.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
