import Dialects
import HereaboutsLive
import NIOCore
import NIOHTTP1

/// A stream of server-sent events to one connection. What the connection cannot take yet waits, the newest of its kind.
///
/// At a tick a stream of reduced accuracy writes as many bytes with an event as without one: who sees the traffic, but not
/// what is in it, does not see that something has changed.
final class EventStream: RelayListener {
    private let channel: any Channel
    private let device: String
    /// What waits for the connection, in order; a kind is there once.
    private var waiting: [(kind: String, event: [UInt8])] = []
    private var hasEnded = false
    private let interval: Int64
    /// What is to be written together; nil while everything is written as it comes.
    private var held: [UInt8]?

    /// At ticks a multiple of so many bytes is written.
    static let tickByteCount = 512

    /// - Parameter interval: of ticks, in nanoseconds.
    init(_ channel: any Channel, device: String, interval: Int64) {
        (self.channel, self.device, self.interval) = (channel, device, interval)
    }

    func deliver(_ delivery: Delivery) {
        let kind: String
        if case .event(let event) = delivery.content { kind = event.identifier } else { kind = "" }
        send(RelayMessages.event(delivery, device: device, interval: interval), kind: kind)
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

    /// Writes together what comes until `release`.
    func hold() { held = held ?? [] }

    /// Writes what was held.
    ///
    /// - Parameter isTick: whether it is filled up.
    func release(isTick: Bool) {
        guard var bytes = held else { return }
        held = nil
        if isTick, !hasEnded, channel.isWritable, waiting.isEmpty {
            let rest = bytes.count % Self.tickByteCount
            if bytes.isEmpty || rest > 0 { bytes += ServerSentEvent.padding(Self.tickByteCount - rest) }
        }
        if !bytes.isEmpty { write(bytes) }
    }

    func end() {
        guard !hasEnded else { return }
        release(isTick: false)
        hasEnded = true
        channel.writeAndFlush(HTTPServerResponsePart.end(nil), promise: nil)
        channel.close(promise: nil)
    }

    private func write(_ bytes: [UInt8]) {
        guard held == nil else {
            held? += bytes
            return
        }
        channel.writeAndFlush(
            HTTPServerResponsePart.body(.byteBuffer(channel.allocator.buffer(bytes: bytes))), promise: nil)
    }
}
