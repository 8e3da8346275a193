import Dialects
import HereaboutsLive
import NIOCore
import NIOHTTP1

/// A stream of server-sent events to one connection. What the connection cannot take yet waits where it comes from.
///
/// At a tick a stream of reduced accuracy writes as many bytes with an event as without one: who sees the traffic, but not
/// what is in it, does not see that something has changed.
final class EventStream: RelayListener {
    private let channel: any Channel
    private let device: String
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

    var isWritable: Bool { channel.isWritable }

    func deliver(_ delivery: Delivery) { send(RelayMessages.event(delivery, device: device, interval: interval)) }

    func send(_ event: [UInt8]) {
        if !event.isEmpty, !hasEnded { write(event) }
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
        if isTick, !hasEnded, channel.isWritable {
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
