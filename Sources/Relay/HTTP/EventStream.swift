import Dialects
import HereaboutsLive
import NIOCore
import NIOHTTP1

/// A stream of server-sent events to one connection. What the connection cannot take yet waits, the newest of its kind.
final class EventStream: RelayListener {
    private let channel: any Channel
    private let device: String
    /// What waits for the connection, in order; a kind is there once.
    private var waiting: [(kind: String, event: [UInt8])] = []
    private var hasEnded = false

    init(_ channel: any Channel, device: String) { (self.channel, self.device) = (channel, device) }

    func deliver(_ delivery: Delivery) {
        let kind: String
        if case .event(let event) = delivery.content { kind = event.identifier } else { kind = "" }
        send(RelayMessages.event(delivery, device: device), kind: kind)
    }

    /// Sends an event, or has it wait in the place of an older one of its kind.
    func send(_ event: [UInt8], kind: String) {
        guard !event.isEmpty, !hasEnded else { return }
        guard channel.isWritable, waiting.isEmpty else {
            waiting.removeAll { $0.kind == kind }
            waiting.append((kind, event))
            return
        }
        write(event)
    }

    /// The connection takes more.
    func becameWritable() {
        while channel.isWritable, !waiting.isEmpty { write(waiting.removeFirst().event) }
    }

    /// Keeps the connection open through what stands between; false if the connection has taken nothing for so long that it
    /// is to be closed.
    func keepAlive() -> Bool {
        guard channel.isWritable else { return false }
        write(ServerSentEvent.keepAlive)
        return true
    }

    func end() {
        guard !hasEnded else { return }
        hasEnded = true
        channel.writeAndFlush(HTTPServerResponsePart.end(nil), promise: nil)
        channel.close(promise: nil)
    }

    private func write(_ bytes: [UInt8]) {
        channel.writeAndFlush(
            HTTPServerResponsePart.body(.byteBuffer(channel.allocator.buffer(bytes: bytes))), promise: nil)
    }
}
