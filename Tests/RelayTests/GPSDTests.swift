import Dialects
import FixedRandom
import Foundation
import Hereabouts
import HereaboutsLive
import NIOCore
import NIOEmbedded
import NIOPosix
import Synchronization
import Testing

@testable import Relay

private let watch = "?WATCH={\"enable\":true,\"json\":true};\n"
private let version =
    "{\"class\":\"VERSION\",\"release\":\"3.22\",\"rev\":\"3.22\",\"proto_major\":3,\"proto_minor\":14}\r\n"
private let watching =
    "{\"class\":\"DEVICES\",\"devices\":[{\"class\":\"DEVICE\",\"path\":\"hereabouts\"}]}\r\n"
    + "{\"class\":\"WATCH\",\"enable\":true,\"json\":true,\"nmea\":false,\"raw\":0,\"scaled\":false,\"timing\":false,\"split24\":false,\"pps\":false}\r\n"
private let nothing = "{\"class\":\"TPV\",\"device\":\"hereabouts\",\"mode\":1}\r\n"

private func report(_ location: Location?) -> String {
    String(decoding: GPSDMessage.position(location.map(OutgoingLocation.init), device: "hereabouts"), as: UTF8.self)
        + "\r\n"
}

extension Harness {
    fileprivate func gpsd(
        isReduced: Bool = false, purpose: String? = nil, limits: GPSDPort.Limits = GPSDPort.Limits()
    ) -> GPSDPort {
        var settings = RelayConfiguration.GPSDPort(device: "phone", address: .host("127.0.0.1", port: 0))
        (settings.isReduced, settings.purpose) = (isReduced, purpose)
        return GPSDPort(settings, of: "family", relay: relay, on: loop, limits: limits)
    }

    fileprivate func connect(_ port: GPSDPort) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(handler: GPSDConnection(port), loop: loop)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return channel
    }

    fileprivate func report(_ place: Coordinate, at seconds: Int64) {
        pass(to: Double(seconds))
        _ = relay.report(fix(place, at: seconds), from: "phone", by: .another)
        loop.run()
    }

    fileprivate func standing() throws -> Location? {
        final class Last: RelayListener {
            var location: Location?
            func deliver(_ delivery: Delivery) {
                if case .update(let update) = delivery.content { location = update.location }
            }
            func end() {}
        }
        let last = Last()
        let opening = try relay.open(.updates(reduced: true), of: "phone", for: "family", listener: last)
        loop.run()
        relay.close(opening)
        return last.location
    }
}

/// Connections in memory, whose time a test moves.
@Suite("gpsd ports") struct GPSDPortTests {
    @Test
    func `who watches gets what stands, then what ticks bring; once it is taken back, that`() throws {
        let harness = try Harness(), port = harness.gpsd()
        try harness.grant()
        harness.report(Places.juarez, at: 300)
        let channel = try harness.connect(port)
        #expect(try harness.written(channel) == version)
        #expect(port.status == GPSDPort.Status(connections: 1, sessions: 0, refused: 0))
        try harness.send(watch, to: channel)
        #expect(try harness.written(channel) == watching + nothing)
        #expect(port.status.sessions == 1)
        harness.pass(to: 899)
        #expect(try harness.written(channel).isEmpty)
        harness.pass(to: 900)
        let text = try harness.written(channel)
        #expect(try text == report(harness.standing()))
        #expect(text.contains("\"mode\":2,\"time\":\"2026-09-21T14:30:00.000Z\""))
        // Another fix in the region, and a poll, change nothing.
        harness.report(Places.juarez, at: 1000)
        #expect(try harness.written(channel).isEmpty)
        try harness.send("?POLL;\n", to: channel)
        #expect(try harness.written(channel).hasPrefix("{\"class\":\"POLL\",\"time\":\"2026-09-21T14:30:00.000Z\""))
        try harness.revoke()
        #expect(try harness.written(channel) == nothing)
        // What stood before the new grant is not of it.
        try harness.grant()
        #expect(try harness.written(channel).isEmpty)
        harness.pass(to: 1801)
        let again = try harness.written(channel)
        #expect(try again == report(harness.standing()) && again.contains("14:45:00.000Z"))
        // A second connection gets what stands at once, and so does a poll with the request to watch.
        let second = try harness.connect(port)
        try harness.send(watch + "?POLL;\n", to: second)
        let answer = try harness.written(second)
        #expect(answer.hasPrefix(version + watching + again + "{\"class\":\"POLL\""))
        #expect(answer.contains("\"tpv\":[{\"class\":\"TPV\",\"device\":\"hereabouts\",\"mode\":2"))
    }

    @Test func `what a web page posts begins no session, and uses up no grant`() throws {
        let harness = try Harness(), port = harness.gpsd()
        try harness.grant(.reduced(validity: .session))
        harness.report(Places.juarez, at: 300)
        for text in [
            "POST / HTTP/1.1\r\nHost: 127.0.0.1:2947\r\n\r\n\(watch)", "\r\n \n?", "PRI * HTTP/2.0\r\n\r\n\(watch)",
        ] {
            let channel = try harness.connect(port)
            #expect(try harness.written(channel) == version)
            for byte in text.utf8 where channel.isActive { try harness.send(String(UnicodeScalar(byte)), to: channel) }
            // A blank line says nothing, and what begins as a request is waited for.
            #expect(channel.isActive == text.hasSuffix("?"))
            #expect(try harness.written(channel).isEmpty)
        }
        #expect(port.status.sessions == 0)
        harness.pass(to: 930)
        let channel = try harness.connect(port)
        _ = try harness.written(channel)
        try harness.send("?NOTHING;\n?nothing;\n", to: channel)
        let error = "{\"class\":\"ERROR\",\"message\":\"Unrecognized request\"}\r\n"
        #expect(try harness.written(channel) == error + error)
        try harness.send(watch, to: channel)
        #expect(try harness.written(channel).hasPrefix(watching) && port.status.sessions == 1)
        #expect(harness.relay.desk.hasGrantForSession(of: "phone", for: "family"))
    }

    @Test func `a quiet pause is a phone that is switched off, for gpsd programs and pushes`() throws {
        func told(isQuiet: Bool) throws -> [String] {
            let harness = try Harness()
            try harness.grant(.reduced(.authorizedAlways))
            try harness.grant(.fullAccuracy("pickup", validity: .untilRevoked))
            final class Pushes: RelayListener {
                var seen: [String] = []
                func deliver(_ delivery: Delivery) { seen.append("\(delivery.time) \(delivery.content)") }
                func end() {}
            }
            let pushes = Pushes()
            for consumer in ["family"] {
                _ = try harness.relay.decide { desk, now throws(DeskError) in
                    try desk.armBackgroundSession(of: "phone", for: ConsumerID(consumer), at: now)
                }
                _ = try harness.relay.open(.pushes(reduced: true), of: "phone", for: consumer, listener: pushes)
            }
            let ports = [harness.gpsd(), harness.gpsd(purpose: "pickup")]
            let channels = try ports.map { try harness.connect($0) }
            for channel in channels { try harness.send(watch, to: channel) }
            var told: [String] = []
            for step in 0..<40 {
                harness.pass(300)
                if step == 6, isQuiet { #expect(harness.relay.answer(.pause(isQuiet: true)) == .done) }
                if step == 32, isQuiet { #expect(harness.relay.answer(.resume) == .done) }
                harness.pass(1)
                if isQuiet || !(6..<32).contains(step) {
                    let seconds = harness.clock.now.nanosecondsSince1970 / 1_000_000_000 - start
                    harness.report((8..<30).contains(step) ? Places.juarez : Places.elPaso, at: seconds)
                }
                for channel in channels {
                    try harness.send("?POLL;\n", to: channel)
                    told.append(try harness.written(channel))
                }
            }
            return told + pushes.seen
        }
        let one = try told(isQuiet: true), other = try told(isQuiet: false)
        let isSame = one == other
        #expect(isSame)
        let text = one.joined()
        #expect(text.contains("\"mode\":1}") && text.contains("\"lat\":31.7619") && !text.contains("31.7202"))
        #expect(text.contains("locationUnavailable") && !text.contains("DeniedGlobally"))
    }

    @Test
    func `a session lasts from watching to its end, or that of the connection`() throws {
        let harness = try Harness(), port = harness.gpsd()
        try harness.grant()
        harness.report(Places.juarez, at: 300)
        harness.pass(to: 901)
        let channel = try harness.connect(port)
        try harness.send("?VERSION;\n?DEVICES;\n?POLL;\n", to: channel)
        let asked = try harness.written(channel)
        // Who polls asks once, as by a request.
        #expect(asked.contains("\"tpv\":[{\"class\":\"TPV\",\"device\":\"hereabouts\",\"mode\":2,"))
        #expect(asked.contains("\"lat\"") && port.status.sessions == 0)
        // To poll, a client enables the device without reports.
        try harness.send("?WATCH={\"enable\":true,\"json\":false};\n", to: channel)
        #expect(try !harness.written(channel).contains("\"lat\""))
        #expect(port.status.sessions == 1)
        try harness.send("?POLL;\n", to: channel)
        #expect(try harness.written(channel).contains("\"mode\":2"))
        try harness.send("?WATCH={\"enable\":false};\n", to: channel)
        _ = try harness.written(channel)
        #expect(port.status.sessions == 0)
        try harness.send("?POLL;\n", to: channel)
        #expect(try harness.written(channel).contains("\"lat\""))
        try harness.send(watch, to: channel)
        #expect(try harness.written(channel).contains("\"mode\":2"))
        try harness.send("?WATCH={\"enable\":false};\n", to: channel)
        try harness.revoke()
        _ = try harness.written(channel)
        try harness.send("?POLL;\n", to: channel)
        let denied = try harness.written(channel)
        #expect(denied.contains("\"mode\":1}") && !denied.contains("\"lat\""))
        try channel.close().wait()
        harness.loop.run()
        #expect(port.status == GPSDPort.Status(connections: 0, sessions: 0, refused: 0))
    }

    @Test
    func `law 6: while a report has not left, the newest alone waits, and what is taken back does not`() throws {
        let harness = try Harness(), port = harness.gpsd(purpose: "pickup")
        try harness.grant(.fullAccuracy("pickup", validity: .untilRevoked))
        let channel = try harness.connect(port)
        try harness.send(watch, to: channel)
        harness.report(Places.berlin, at: 1)
        let first = try harness.written(channel)
        #expect(first.contains("\"lat\":52.5200000,"), "\(first)")
        channel.isWritable = false
        channel.pipeline.fireChannelWritabilityChanged()
        for second in 2..<20 { harness.report(Places.berlin, at: Int64(second)) }
        harness.report(Places.elPaso, at: 20)
        #expect(try harness.written(channel).isEmpty)
        channel.isWritable = true
        channel.pipeline.fireChannelWritabilityChanged()
        let text = try harness.written(channel)
        #expect(
            text.hasPrefix(
                "{\"class\":\"TPV\",\"device\":\"hereabouts\",\"mode\":2,\"time\":\"2026-09-21T14:15:20.000Z\""))
        #expect(text.split(separator: "\r\n").count == 1)
        channel.isWritable = false
        channel.pipeline.fireChannelWritabilityChanged()
        harness.report(Places.juarez, at: 21)
        try harness.revoke()
        channel.isWritable = true
        channel.pipeline.fireChannelWritabilityChanged()
        #expect(try harness.written(channel) == nothing)
    }

    @Test
    func `nothing is read from a client that does not read, nor before it is known what stands`() throws {
        final class Reads: ChannelOutboundHandler {
            typealias OutboundIn = ByteBuffer
            var count = 0
            func read(context: ChannelHandlerContext) { count += 1 }
        }
        let harness = try Harness(), port = harness.gpsd(), reads = Reads()
        let channel = EmbeddedChannel(handlers: [reads, GPSDConnection(port)], loop: harness.loop)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        reads.count = 0
        channel.read()
        #expect(reads.count == 1)
        channel.isWritable = false
        channel.pipeline.fireChannelWritabilityChanged()
        channel.read()
        channel.read()
        #expect(reads.count == 1)
        channel.isWritable = true
        channel.pipeline.fireChannelWritabilityChanged()
        #expect(reads.count == 2)
        // What stands comes on the loop's next turn.
        try channel.writeInbound(ByteBuffer(string: watch))
        let count = reads.count
        channel.read()
        #expect(reads.count == count)
        harness.loop.run()
        #expect(reads.count == count + 1)
    }

    @Test
    func `connections are limited, and idle or stalled ones are closed`() throws {
        let harness = try Harness(), port = harness.gpsd()
        let channels = try (0..<16).map { _ in try harness.connect(port) }
        let further = try harness.connect(port)
        harness.loop.run()
        #expect(!further.isActive && port.status == GPSDPort.Status(connections: 16, sessions: 0, refused: 1))
        try harness.send(watch, to: channels[0])
        try harness.send(watch, to: channels[1])
        harness.pass(600)
        try harness.send("?VERSION;\n", to: channels[2])
        harness.pass(301)
        #expect(channels.map(\.isActive) == [true, true, true] + Array(repeating: false, count: 13))
        channels[1].isWritable = false
        channels[1].pipeline.fireChannelWritabilityChanged()
        // What comes meanwhile does not prolong it.
        for _ in 0..<61 {
            harness.pass(1)
            harness.report(Places.berlin, at: (harness.clock.now.nanosecondsSince1970 / 1_000_000_000) - start)
        }
        #expect(channels[0].isActive && !channels[1].isActive)
        #expect(port.status == GPSDPort.Status(connections: 2, sessions: 1, refused: 1))
    }

    @Test
    func `a client that cannot be given a session is closed, and so are all when the relay ends`() throws {
        var configuration = Harness.configuration
        configuration.consumers = [RelayConfiguration.Consumer("other")]
        configuration.devices[0].consumer = nil
        let without = try Harness(configuration)
        let channel = try without.connect(without.gpsd())
        try without.send(watch, to: channel)
        #expect(!channel.isActive)
        let harness = try Harness(), port = harness.gpsd()
        let second = try harness.connect(port)
        try harness.send(watch, to: second)
        _ = try harness.written(second)
        harness.relay.close()
        harness.loop.run()
        #expect(!second.isActive && port.status.connections == 0)
        #expect(try harness.written(second) == nothing)
    }

    @Test
    func `only the loopback interface`() throws {
        let harness = try Harness()
        for host in ["0.0.0.0", "192.0.2.1", "::", "example.org"] {
            let settings = RelayConfiguration.GPSDPort(device: "phone", address: .host(host, port: 0))
            let port = GPSDPort(settings, of: "family", relay: harness.relay, on: harness.loop)
            #expect(throws: GPSDPort.Failure.notLoopback) { try port.start().wait() }
        }
    }
}

/// Real connections and programs.
@Suite("gpsd's programs and sockets", .serialized) struct GPSDSocketTests {
    /// A relay with a port where Juárez stands; its TCP port, 0 for a Unix socket.
    private func served(_ address: RelayConfiguration.Address) throws -> (harness: LoopHarness, port: Int) {
        let harness = try LoopHarness()
        try harness.grant(.reduced())
        try harness.report(Places.juarez, at: 300)
        try harness.pass(to: 901)
        try harness.wait { parts in
            let settings = RelayConfiguration.GPSDPort(device: "phone", address: address)
            let port = GPSDPort(settings, of: "family", relay: parts.relay, on: parts.loop)
            parts.ports.append(port)
            return port.start()
        }
        return (harness, try harness.run { $0.ports[0].localAddress?.port ?? 0 })
    }

    @Test
    func `gpspipe gets the region, as JSON alone`() throws {
        guard let program = Program.path("gpspipe") else { return }
        let (harness, port) = try served(.host("127.0.0.1", port: 0))
        let location = try Places.atlas.get().reducedLocation(at: Places.juarez)
        let expected = version + watching + report(location)
        for option in ["-w", "-r"] {
            let text = try Program.output(of: program, [option, "-n", "4", "127.0.0.1:\(port)"], seconds: 10)
            let lines = text.split(whereSeparator: \.isNewline).map(String.init)
            if option == "-w" {
                #expect(lines == expected.split(whereSeparator: \.isNewline).map(String.init))
            } else {
                #expect(!lines.isEmpty && lines.allSatisfy { expected.contains($0) })
            }
        }
        #expect(try harness.eventually { $0.ports[0].status.connections == 0 })
        try harness.end()
    }

    private func report(_ location: ReducedLocation) -> String {
        let bytes = GPSDMessage.position(.reduced(location, tick: moment(900)), device: "hereabouts")
        return String(decoding: bytes, as: UTF8.self) + "\r\n"
    }

    @Test
    func `a client that never reads costs a bounded buffer`() throws {
        let (harness, port) = try served(.host("127.0.0.1", port: 0))
        let socket = Foundation.socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: port)
        let status = unsafe address.withSockAddr { unsafe connect(socket, $0, socklen_t($1)) }
        #expect(status == 0)
        _ = fcntl(socket, F_SETFL, O_NONBLOCK)
        let bytes = Array(String(repeating: "?POLL;\n", count: 10_000).utf8)
        let limit = 16 << 20
        var sent = 0, refused = 0
        // Until the relay has read nothing for a second: what was sent stays in the system's buffers.
        while sent < limit, refused < 100 {
            let count = unsafe send(socket, bytes, bytes.count, CInt(MSG_NOSIGNAL))
            refused = count > 0 ? 0 : refused + 1
            sent += max(0, count)
            if count <= 0 { usleep(10_000) }
        }
        #expect(refused == 100)
        #expect(try harness.run { $0.ports[0].status.connections } == 1)
        try harness.end()
    }

    @Test
    func `a Unix socket is for owner and group, replaces one that nobody serves, and is removed`() throws {
        try withFolder { folder in
            let path = folder + "/family.sock"
            // A predecessor that has died.
            let old = try UnixSocket(path: path, mode: 0o600)
            close(old.descriptor)
            #expect(FileManager.default.fileExists(atPath: path))
            let (harness, _) = try served(.unix(path))
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o660)
            #expect(attributes[.type] as? FileAttributeType == .typeSocket)
            #expect(throws: UnixSocket.Failure.inUse) { try UnixSocket(path: path, mode: 0o660) }
            let client = try Client(path)
            #expect(soon { client.text.hasSuffix("\r\n") })
            client.send(watch)
            let all = version + watching + report(try Places.atlas.get().reducedLocation(at: Places.juarez))
            #expect(soon { client.text == all })
            try harness.end()
            #expect(soon { !client.isOpen })
            try client.end()
            #expect(!FileManager.default.fileExists(atPath: path))
            try Data().write(to: URL(fileURLWithPath: path))
            #expect(throws: UnixSocket.Failure.notASocket) { try UnixSocket(path: path, mode: 0o660) }
            #expect(throws: UnixSocket.Failure.invalidPath) {
                try UnixSocket(path: String(repeating: "a", count: 200), mode: 0o660)
            }
            #expect(throws: UnixSocket.Failure.self) { try UnixSocket(path: folder + "/no/a.sock", mode: 0o660) }
        }
    }
}

/// A connection to a Unix socket.
private final class Client: Sendable {
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let channel: any Channel
    private let box = LockedText()

    init(_ path: String) throws {
        let box = box
        channel = try ClientBootstrap(group: group)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Reader(box))
                }
            }
            .connect(unixDomainSocketPath: path).wait()
    }

    var text: String { box.text.withLock { $0 } }
    var isOpen: Bool { channel.isActive }
    func send(_ text: String) { channel.writeAndFlush(ByteBuffer(string: text), promise: nil) }
    func end() throws { try group.syncShutdownGracefully() }

    private final class Reader: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let box: LockedText
        init(_ box: LockedText) { self.box = box }
        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let text = String(buffer: unwrapInboundIn(data))
            box.text.withLock { $0 += text }
        }
    }
}

@Suite("gpsd feeds", .serialized) struct GPSDFeedTests {
    private static let greeting = version.replacingOccurrences(of: "\r", with: "")
    private static func position(_ place: Coordinate, at seconds: Int64, receiver: String = "/dev/ttyUSB0") -> String {
        let time = ISO8601DateFormatter().string(from: Date(timeIntervalSince1970: Double(start + seconds)))
        return
            "{\"class\":\"TPV\",\"device\":\"\(receiver)\",\"mode\":3,\"time\":\"\(time)\",\"lat\":\(place.latitude),\"lon\":\(place.longitude),\"alt\":1,\"eph\":5}\n"
    }

    private static func feed(_ harness: Harness, receiver: String? = nil) -> GPSDFeed {
        GPSDFeed(
            RelayConfiguration.GPSDSource(.host("127.0.0.1", port: 1), receiver: receiver), of: "phone",
            relay: harness.relay, on: harness.loop, random: SplitMix64(seed: 1))
    }

    private static func connect(_ harness: Harness, _ feed: GPSDFeed) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(loop: harness.loop)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        try channel.pipeline.syncOperations.addHandler(GPSDFeedConnection(feed))
        return channel
    }

    @Test
    func `fixes of the receiver are the device's`() throws {
        let harness = try Harness()
        try harness.grant()
        let feed = Self.feed(harness, receiver: "/dev/ttyUSB0")
        let channel = try Self.connect(harness, feed)
        try harness.send(Self.greeting, to: channel)
        #expect(try harness.written(channel) == watch)
        harness.pass(to: 10)
        try harness.send(
            Self.position(Places.berlin, at: 9) + Self.position(Places.berlin, at: 10)
                + Self.position(Places.elPaso, at: 10, receiver: "/dev/ttyUSB1") + "{\"class\":\"SKY\"}\nnonsense\n"
                + "{\"class\":\"TPV\",\"device\":\"/dev/ttyUSB0\",\"mode\":1}\n", to: channel)
        #expect(feed.status.fixes == 2 && feed.status.foreign == 1 && feed.status.unusable == 1)
        #expect(feed.status.isConnected && feed.status.connections == 1)
        harness.pass(to: 900)
        let region = try Places.atlas.get().reducedLocation(at: Places.berlin)
        #expect(try harness.standing()?.coordinate == region.coordinate)
        // It has said nothing since.
        #expect(!channel.isActive && !feed.status.isConnected)
    }

    @Test
    func `a server that says nothing is asked, and left if it is gone`() throws {
        let harness = try Harness()
        let feed = Self.feed(harness)
        let mute = try Self.connect(harness, feed)
        harness.pass(9)
        #expect(mute.isActive)
        harness.pass(2)
        #expect(!mute.isActive && feed.status.failures == 1)
        let channel = try Self.connect(harness, feed)
        try harness.send(Self.greeting, to: channel)
        #expect(try harness.written(channel) == watch)
        for _ in 0..<3 {
            harness.pass(31)
            #expect(try harness.written(channel) == "?VERSION;\n")
            harness.pass(10)
            try harness.send(Self.greeting, to: channel)
        }
        harness.pass(31)
        #expect(try harness.written(channel) == "?VERSION;\n" && channel.isActive)
        harness.pass(16)
        #expect(!channel.isActive && !feed.status.isConnected)
    }

    @Test
    func `a server that is no gpsd is left at once`() throws {
        for text in [
            "HTTP/1.1 400 Bad Request\r\n", "\u{0}\u{0}\n",
            version.replacingOccurrences(of: "\"proto_major\":3", with: "\"proto_major\":4"),
        ] {
            let harness = try Harness()
            let feed = Self.feed(harness)
            let channel = try Self.connect(harness, feed)
            try harness.send(text, to: channel)
            #expect(!channel.isActive && feed.status.failures == 1 && feed.status.connections == 0)
        }
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `hostile bytes, in any pieces, do no harm`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let harness = try Harness()
        let feed = Self.feed(harness)
        let channel = try Self.connect(harness, feed)
        try harness.send(Self.greeting, to: channel)
        let good = Array(Self.position(Places.berlin, at: 0).utf8)
        for _ in 0..<500 {
            var bytes = good
            for _ in 0..<Int.random(in: 0..<4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if Bool.random(using: &random) { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random)) }
            try channel.writeInbound(ByteBuffer(bytes: bytes))
        }
        try channel.writeInbound(ByteBuffer(repeating: 0x61, count: 1 << 20))
        #expect(channel.isActive)
        try channel.writeInbound(ByteBuffer(bytes: [10] + good))
        #expect(feed.status.fixes > 0 && feed.status.unusable > 0)
    }

    @Test
    func `it connects again: to a server that comes late, and to one that comes back`() throws {
        let first = try ScriptedServer([.stall])
        let port = first.port
        try first.end()
        let harness = try LoopHarness()
        try harness.run { parts in
            let feed = GPSDFeed(
                RelayConfiguration.GPSDSource(.host("127.0.0.1", port: port)), of: "phone", relay: parts.relay,
                on: parts.loop, random: SplitMix64(seed: 1))
            parts.feeds.append(feed)
            feed.start()
        }
        #expect(try harness.eventually { $0.feeds[0].status.failures > 0 })
        for count in 1...2 {
            let text = Self.greeting + Self.position(Places.berlin, at: Int64(count))
            let server = try ScriptedServer([.greet(text)], port: port)
            #expect(
                try harness.eventually {
                    $0.feeds[0].status.connections == count && $0.feeds[0].status.fixes == count
                        && $0.feeds[0].status.isConnected
                })
            #expect(soon { server.received.last == watch })
            try server.end()
            #expect(try harness.eventually { !$0.feeds[0].status.isConnected })
        }
        try harness.end()
    }

    @Test
    func `gpsfake and gpsd, and gpsd again`() throws {
        guard Program.path("gpsd") != nil, let program = Program.path("gpsfake") else { return }
        try withFolder { folder in
            let free = try ScriptedServer([.stall])
            let port = free.port
            try free.end()
            let log = folder + "/drive.nmea"
            try Data(Self.drive().utf8).write(to: URL(fileURLWithPath: log))
            let harness = try LoopHarness()
            try harness.run { parts in
                let feed = GPSDFeed(
                    RelayConfiguration.GPSDSource(.host("127.0.0.1", port: port)), of: "phone", relay: parts.relay,
                    on: parts.loop, random: SplitMix64(seed: 1))
                parts.feeds.append(feed)
                feed.start()
            }
            var fixes = 0
            for count in 1...2 {
                // It plays the drive again and again, for it does not wait for anybody who listens.
                let process = try Program.start(
                    program, ["-q", "-c", "0.1", "-P", "\(port)", log], seconds: 60, output: FileHandle.nullDevice)
                let before = fixes
                #expect(
                    try harness.eventually {
                        $0.feeds[0].status.connections >= count && $0.feeds[0].status.fixes > before + 5
                    })
                process.terminate()
                process.waitUntilExit()
                #expect(try harness.eventually { !$0.feeds[0].status.isConnected })
                fixes = try harness.run { $0.feeds[0].status.fixes }
            }
            try harness.end()
        }
    }

    /// A minute of a receiver's sentences.
    private static func drive() -> String {
        func sentence(_ text: String) -> String {
            "$" + text + String(format: "*%02X\r\n", text.utf8.reduce(0, ^))
        }
        return (0..<60).map { second in
            let clock = String(format: "0815%02d.00", second)
            let place = String(
                format: "48%07.4f,N,016%07.4f,E", 12.5 + Double(second) * 0.001, 22.4 + Double(second) * 0.002)
            return sentence("GPGGA,\(clock),\(place),1,08,0.9,545.4,M,46.9,M,,")
                + sentence("GPGSA,A,3,04,05,09,12,24,25,29,31,,,,,2.5,1.3,2.1")
                + sentence("GPRMC,\(clock),A,\(place),022.4,084.4,010326,003.1,W")
        }.joined()
    }
}

private final class LockedText: Sendable {
    let text = Mutex("")
}
