import Dialects
import Foundation
import Hereabouts
import HereaboutsLive
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization
import Testing

@testable import Relay

/// A relay on an event loop of its own, for tests with real connections. Its clock stands still unless a test moves it.
final class LoopHarness: Sendable {
    final class Parts {
        let clock: Harness.Clock
        let relay: Relay
        let server: RelayServer
        let loop: any EventLoop
        var ports: [GPSDPort] = []
        var feeds: [GPSDFeed] = []
        var targets: [PushTarget] = []
        var endpoints: Endpoints?

        init(_ configuration: RelayConfiguration, _ loop: any EventLoop) throws {
            let clock = Harness.Clock()
            relay = try Relay(
                configuration: configuration, atlas: try Places.atlas.get(), store: MemoryStore(),
                clock: { clock.now })
            (self.clock, self.loop) = (clock, loop)
            server = RelayServer(relay, on: loop)
        }
    }

    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop: any EventLoop
    private let parts: NIOLoopBound<Parts>

    init(_ configuration: RelayConfiguration = Harness.configuration) throws {
        let loop = group.next()
        self.loop = loop
        parts = try loop.submit { NIOLoopBound(try Parts(configuration, loop), eventLoop: loop) }.wait()
    }

    /// Does something on the event loop.
    @discardableResult
    func run<Result: Sendable>(_ body: @escaping @Sendable (Parts) throws -> Result) throws -> Result {
        try loop.submit { [parts] in try body(parts.value) }.wait()
    }

    /// Begins something on the event loop, and waits for its end.
    func wait(_ body: @escaping @Sendable (Parts) throws -> EventLoopFuture<Void>) throws {
        try loop.flatSubmit { [parts] () -> EventLoopFuture<Void> in
            do { return try body(parts.value) } catch { return parts.value.loop.makeFailedFuture(error) }
        }.wait()
    }

    /// Waits until something holds on the event loop; false after half a minute.
    func eventually(_ condition: @escaping @Sendable (Parts) throws -> Bool) throws -> Bool {
        try soon { try self.run(condition) }
    }

    func grant(_ grant: Grant, to consumer: ConsumerID = "family") throws {
        try run { parts in
            _ = try parts.relay.decide { desk, now throws(DeskError) in
                try desk.grant(grant, of: "phone", to: consumer, at: now)
            }
        }
    }

    func revoke(_ consumer: ConsumerID = "family") throws {
        try run { parts in
            _ = try parts.relay.decide { desk, now throws(DeskError) in
                try desk.revoke(of: "phone", from: consumer, at: now)
            }
        }
    }

    /// Moves the clock, and lets happen what is due.
    func pass(to seconds: Double) throws {
        try run { parts in
            parts.clock.now = moment(seconds)
            parts.relay.onWork()
        }
    }

    /// A fix at some second.
    func report(_ place: Coordinate, at seconds: Int64) throws {
        try run { parts in
            parts.clock.now = max(parts.clock.now, moment(Double(seconds)))
            _ = parts.relay.report(fix(place, at: seconds), from: "phone", by: .another)
        }
    }

    func end() throws {
        try wait { parts in
            let ends = parts.ports.map { $0.stop() } + parts.feeds.map { $0.stop() }
            for target in parts.targets { target.stop() }
            let endpoints = parts.endpoints.map { [$0.stop()] } ?? []
            return EventLoopFuture.andAllComplete(ends + endpoints + [parts.server.close()], on: parts.loop)
        }
        try group.syncShutdownGracefully()
    }
}

/// A fix as a phone reports it, `seconds` after `start`.
func fix(_ place: Coordinate, at seconds: Int64) -> Received {
    let body =
        "{\"_type\":\"location\",\"lat\":\(place.latitude),\"lon\":\(place.longitude),\"acc\":8,\"tst\":\(start + seconds)}"
    return DialectReader().received(body: Array(body.utf8), in: .ownTracks, at: Timestamp(nanosecondsSince1970: 0))
        .received
}

/// Waits until something holds; false after half a minute.
func soon(_ condition: () throws -> Bool) rethrows -> Bool {
    let deadline = Date().addingTimeInterval(30)
    while true {
        if try condition() { return true }
        if Date() >= deadline { return false }
        usleep(10_000)
    }
}

/// A server on the loopback interface that a test tells what to do; ends with `end`.
final class ScriptedServer: Sendable {
    /// What becomes of a connection once its request (all bytes up to the end of a body, or nothing) is there.
    enum Act: Sendable {
        /// Sends a text and closes.
        case answer(String)
        /// Says nothing.
        case stall
        /// Closes without a word.
        case hangUp
        /// Sends a text, and another one again and again: at once, or at intervals.
        case endless(String, String, every: TimeAmount?)
        /// Sends a text at once, and keeps the connection.
        case greet(String)
    }

    let port: Int
    private let group: MultiThreadedEventLoopGroup
    private let channel: any Channel
    private let box = Box()

    /// - Parameter acts: of one connection each; the last one of all that follow.
    init(_ acts: [Act], port: Int = 0, tls: NIOSSLContext? = nil) throws {
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let state = box
        state.value.withLock { $0.acts = acts }
        channel = try ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
                    try channel.pipeline.syncOperations.addHandler(Handler(state))
                }
            }
            .bind(host: "127.0.0.1", port: port).wait()
        self.port = channel.localAddress?.port ?? 0
    }

    private final class Box: Sendable {
        let value = Mutex<(acts: [Act], received: [String], open: Int)>(([], [], 0))
    }

    /// What each connection sent, in the order of the connections.
    var received: [String] { box.value.withLock { $0.received } }
    /// Connections that are open.
    var open: Int { box.value.withLock { $0.open } }

    func end() throws {
        try channel.close().wait()
        try group.syncShutdownGracefully()
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let box: Box
        private let number: Int
        private let act: Act
        private var text = ""
        private var hasActed = false

        init(_ box: Box) {
            self.box = box
            (number, act) = box.value.withLock { state in
                let number = state.received.count
                state.received.append("")
                return (number, state.acts[min(number, state.acts.count - 1)])
            }
        }

        func channelActive(context: ChannelHandlerContext) {
            box.value.withLock { $0.open += 1 }
            if case .greet(let text) = act { send(context, text) }
        }

        func channelInactive(context: ChannelHandlerContext) { box.value.withLock { $0.open -= 1 } }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            text += String(buffer: unwrapInboundIn(data))
            let (number, text) = (number, text)
            box.value.withLock { $0.received[number] = text }
            guard !hasActed, isWhole else { return }
            hasActed = true
            switch act {
            case .answer(let text):
                send(context, text)
                context.close(promise: nil)
            case .stall, .greet: break
            case .hangUp: context.close(promise: nil)
            case .endless(let first, let next, let interval):
                send(context, first)
                more(context, next, interval)
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

        private var isWhole: Bool {
            guard let end = text.range(of: "\r\n\r\n") else { return false }
            let length = text.range(of: "Content-Length: ").map { text[$0.upperBound...].prefix { $0.isNumber } }
            return text[end.upperBound...].utf8.count >= length.flatMap { Int($0) } ?? 0
        }

        private func more(_ context: ChannelHandlerContext, _ text: String, _ interval: TimeAmount?) {
            guard context.channel.isActive else { return }
            if context.channel.isWritable { send(context, text) }
            context.eventLoop.assumeIsolated().scheduleTask(in: interval ?? .milliseconds(1)) {
                self.more(context, text, interval)
            }
        }

        private func send(_ context: ChannelHandlerContext, _ text: String) {
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
        }
    }
}

/// A program of the system, as a test runs it.
enum Program {
    /// Its path; nil, with a word about it, where it is missing.
    static func path(_ name: String) -> String? {
        for folder in ["/usr/bin/", "/usr/sbin/"] where FileManager.default.isExecutableFile(atPath: folder + name) {
            return folder + name
        }
        print("skipped: \(name) is missing; see the packages of make test-live")
        return nil
    }

    /// What it prints; it is interrupted after some seconds.
    static func output(of path: String, _ arguments: [String], seconds: Int) throws -> String {
        let pipe = Pipe()
        let process = try start(path, arguments, seconds: seconds, output: pipe)
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
    }

    /// Starts it; it is interrupted after some seconds, or when the process is terminated.
    static func start(_ path: String, _ arguments: [String], seconds: Int, output: Any) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/timeout")
        process.arguments = ["-s", "INT", "-k", "1", "\(seconds)", path] + arguments
        process.environment = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "TERM": "xterm"]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        // A program inherits the signals that a thread has blocked, as those of tests have SIGTERM.
        var none = sigset_t(), blocked = sigset_t()
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, &blocked)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &blocked, nil) }
        try process.run()
        return process
    }
}

/// A folder for a test, removed at the end.
func withFolder(_ body: (String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("hereabouts-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder.path)
}
