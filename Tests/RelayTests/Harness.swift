import Dialects
import FixedRandom
import Foundation
import Hereabouts
import HereaboutsLive
import NIOCore
import NIOEmbedded
import Testing

@testable import Relay

/// A store in memory, which can be made to fail.
final class MemoryStore: RelayStore {
    struct Content {
        var decisions: [UInt8]?
        var devices: [String: DeviceState] = [:]
        var tokens: [KeptToken] = []
        var mark: Desk.PauseMode?
    }

    var content = Content()
    var failure: RelayStoreError?
    /// Why nothing can be said of a decision.
    var markFailure: RelayStoreError?
    private(set) var writeCount = 0

    private func write() throws(RelayStoreError) {
        if let failure { throw failure }
        writeCount += 1
    }

    var isInPlace = true

    func loadDecisions() throws(RelayStoreError) -> [UInt8]? { content.decisions }
    func keepDecisions(_ snapshot: [UInt8]) throws(RelayStoreError) {
        try write()
        content.decisions = snapshot
    }
    func loadMark() -> Desk.PauseMode? { content.mark }
    func keepMark(_ mode: Desk.PauseMode?) throws(RelayStoreError) {
        if let markFailure { throw markFailure }
        content.mark = mode
    }
    func loadDevices() throws(RelayStoreError) -> [(name: String, state: DeviceState)] {
        content.devices.map { (name: $0.key, state: $0.value) }
    }
    func keepDevices(_ states: [(name: String, state: DeviceState)]) throws(RelayStoreError) {
        try write()
        for (name, state) in states { content.devices[name] = state }
    }
    func forgetDevices(_ names: [String]) throws(RelayStoreError) {
        try write()
        for name in names { content.devices[name] = nil }
    }
    func spreadKey() throws(RelayStoreError) -> UInt64 { 7 }
    func loadTokens() throws(RelayStoreError) -> [KeptToken] { content.tokens }
    func addToken(
        _ holder: KeptToken.Holder, digest: [UInt8], madeDay: Int64, end: Int64?
    ) throws(RelayStoreError) -> Int64 {
        try write()
        let id = (content.tokens.map(\.id).max() ?? 0) + 1
        content.tokens.append(KeptToken(id: id, holder: holder, digest: digest, madeDay: madeDay, end: end))
        return id
    }
    func removeToken(_ id: Int64) throws(RelayStoreError) -> Bool {
        try write()
        let count = content.tokens.count
        content.tokens.removeAll { $0.id == id }
        return content.tokens.count < count
    }
    func noteUse(ofTokens ids: [Int64], day: Int64) throws(RelayStoreError) {
        try write()
        for place in content.tokens.indices where ids.contains(content.tokens[place].id) {
            content.tokens[place].usedDay = day
        }
    }
    func backup() throws(RelayStoreError) -> [UInt8] { content.decisions ?? [] }
    func close() {}
}

/// Where the tests are: the regions of real places.
enum Places {
    static let atlas = Result {
        try Atlas(
            contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().appendingPathComponent("data/world.atlas").path)
    }
    static let elPaso = Coordinate(latitude: 31.7619, longitude: -106.4850)
    static let juarez = Coordinate(latitude: 31.7202, longitude: -106.4608)
    static let berlin = Coordinate(latitude: 52.5200, longitude: 13.4050)
    static let country = Coordinate(latitude: 44.3, longitude: 3.6)
    static let all = [elPaso, juarez, berlin, country]

    /// Another position in the region of a place.
    static func other(_ place: Coordinate, _ random: inout some RandomNumberGenerator) throws -> Coordinate {
        let atlas = try atlas.get()
        let region = try atlas.region(at: place)
        while true {
            let position = Coordinate(
                latitude: place.latitude + .random(in: -0.02...0.02, using: &random),
                longitude: place.longitude + .random(in: -0.02...0.02, using: &random))
            if try atlas.region(at: position) == region { return position }
        }
    }
}

/// 2026-09-21 14:15:00 UTC, a tick of 900 s.
let start: Int64 = 1_790_000_100

func moment(_ seconds: Double) -> Timestamp {
    Timestamp(nanosecondsSince1970: start * 1_000_000_000 + Int64((seconds * 1e9).rounded()))
}

/// A relay on an event loop whose time a test moves, with connections in memory.
final class Harness {
    final class Clock { var now = moment(0) }

    let loop = EmbeddedEventLoop()
    let clock = Clock()
    let store: MemoryStore
    let relay: Relay
    let server: RelayServer
    private var channels: [EmbeddedChannel] = []

    /// Two phones, a family that may ask for the exact position to fetch somebody, a link and a recorder.
    static var configuration: RelayConfiguration {
        var configuration = RelayConfiguration()
        var phone = RelayConfiguration.Device("phone")
        phone.consumer = "anna"
        configuration.devices = [phone, RelayConfiguration.Device("tablet")]
        var family = RelayConfiguration.Consumer("family")
        family.purposes = ["pickup": "Fetching you from the station"]
        var link = RelayConfiguration.Consumer("link")
        link.linkOf = "family"
        var strict = RelayConfiguration.Consumer("strict")
        strict.requiresExplicitSession = true
        configuration.consumers = [RelayConfiguration.Consumer("anna"), family, link, strict]
        return configuration
    }

    init(
        _ configuration: RelayConfiguration = configuration, store: MemoryStore = MemoryStore(), at seconds: Double = 0,
        atlas: Atlas? = nil
    ) throws {
        self.store = store
        clock.now = moment(seconds)
        relay = try Relay(
            configuration: configuration, atlas: try atlas ?? Places.atlas.get(), store: store,
            clock: { [clock] in clock.now })
        server = RelayServer(relay, on: loop)
    }

    deinit {
        for channel in channels { _ = try? channel.finish() }
        try? loop.syncShutdownGracefully()
    }

    /// Lets time pass, a second at a time.
    func pass(_ seconds: Double) {
        var left = seconds
        while left > 0 {
            let step = min(1, left)
            clock.now = Timestamp(
                nanosecondsSince1970: clock.now.nanosecondsSince1970 + Int64((step * 1e9).rounded()))
            loop.advanceTime(by: .nanoseconds(Int64((step * 1e9).rounded())))
            left -= step
        }
    }

    /// Lets time pass up to a moment.
    func pass(to seconds: Double) {
        pass(Double(moment(seconds).nanosecondsSince1970 - clock.now.nanosecondsSince1970) / 1e9)
    }

    func token(_ holder: KeptToken.Holder) throws -> String { try relay.addToken(holder).text }

    func grant(
        _ grant: Grant = .reduced(), to consumer: ConsumerID = "family", for device: DeviceID = "phone"
    ) throws {
        _ = try relay.decide { desk, now throws(DeskError) in try desk.grant(grant, of: device, to: consumer, at: now)
        }
        loop.run()
    }

    func revoke(_ consumer: ConsumerID = "family", for device: DeviceID = "phone") throws {
        _ = try relay.decide { desk, now throws(DeskError) in try desk.revoke(of: device, from: consumer, at: now) }
        loop.run()
    }

    // MARK: Connections

    func connect(isMonitoring: Bool = false) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(loop: loop)
        try server.accept(channel, proxy: nil, tls: nil, isMonitoring: isMonitoring)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        channels.append(channel)
        return channel
    }

    /// Everything that was written to a connection since the last call.
    func written(_ channel: EmbeddedChannel) throws -> String {
        loop.run()
        var text = ""
        while let bytes = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: bytes) }
        return text
    }

    func send(_ text: String, to channel: EmbeddedChannel) throws {
        try channel.writeInbound(ByteBuffer(string: text))
        loop.run()
    }

    /// A request on a connection of its own, and the status and body of the answer.
    func ask(
        _ method: String = "GET", _ target: String, token: String? = nil, headers: [String] = [], body: String = "",
        isMonitoring: Bool = false
    ) throws -> (status: Int, body: String) {
        let channel = try connect(isMonitoring: isMonitoring)
        var lines = ["\(method) \(target) HTTP/1.1", "Host: relay"] + headers
        if let token { lines.append("Authorization: Bearer \(token)") }
        if !body.isEmpty { lines.append("Content-Length: \(body.utf8.count)") }
        try send(lines.joined(separator: "\r\n") + "\r\n\r\n" + body, to: channel)
        let answer = try written(channel)
        let status = Int(answer.split(separator: " ").dropFirst().first ?? "") ?? 0
        let content = answer.range(of: "\r\n\r\n").map { String(answer[$0.upperBound...]) } ?? ""
        return (status, content)
    }

    /// A stream of events: the connection, its head read.
    func stream(_ target: String, token: String) throws -> EmbeddedChannel {
        let channel = try connect()
        try send("GET \(target) HTTP/1.1\r\nHost: relay\r\nAuthorization: Bearer \(token)\r\n\r\n", to: channel)
        return channel
    }

    /// What OwnTracks posts.
    func post(_ place: Coordinate, token: String) throws -> (status: Int, body: String) {
        let seconds = clock.now.nanosecondsSince1970 / 1_000_000_000
        return try ask(
            "POST", "/owntracks", token: token,
            body:
                "{\"_type\":\"location\",\"lat\":\(place.latitude),\"lon\":\(place.longitude),\"acc\":8,\"tst\":\(seconds)}"
        )
    }
}
