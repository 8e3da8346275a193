import Foundation
import Hereabouts
import HereaboutsLive
import NIOCore
import NIOEmbedded
import Testing

@testable import Relay

/// The scenarios of LIVE's list that a consumer can see over HTTP, by their numbers; those of the library alone are in
/// `HereaboutsLiveTests`.
@Suite("Scenarios over HTTP") struct ScenarioHTTPTests {
    private let harness: Harness
    private let phone: String
    private let family: String

    init() throws {
        harness = try Harness()
        (phone, family) = (try harness.token(.device("phone")), try harness.token(.consumer("family")))
    }

    private func pauseAll() throws {
        _ = try harness.relay.decide { desk, now throws(DeskError) in try desk.pause(at: now) }
        harness.loop.run()
    }

    @Test func `01 and 04 no location, then one, then rest, which is not the same as none`() throws {
        try harness.grant()
        let stream = try harness.stream("/v1/devices/phone/updates", token: family)
        #expect(try harness.written(stream).contains("\"geometry\":null"))
        var updates: [String] = []
        for tick in 0..<4 {
            harness.pass(to: Double(tick * 900 + 10))
            _ = try harness.post(Places.berlin, token: phone)
            harness.pass(to: Double(tick * 900 + 901))
            updates.append(try harness.written(stream))
        }
        #expect(updates[0].contains("\"country\":\"DE\""))
        #expect(!updates[0].contains("stationary"))
        #expect(!updates[1].contains("data:"))
        #expect(updates[2].contains("\"stationary\":true"))
        #expect(updates[2].contains("\"country\":\"DE\""))
        harness.pass(to: 4 * 900 + 8200)
        #expect(try harness.written(stream).contains("\"locationUnavailable\":true"))
    }

    @Test func `05 an exact stream pauses at rest, and goes on by itself`() throws {
        try harness.grant()
        try harness.grant(.fullAccuracy("pickup", validity: .untilRevoked))
        let stream = try harness.stream("/v1/devices/phone/updates?purpose=pickup", token: family)
        var seen = ""
        for second in 1...12 {
            harness.pass(to: Double(second * 60))
            _ = try harness.post(Places.elPaso, token: phone)
            seen = try harness.written(stream)
        }
        #expect(!seen.contains("data:"))
        harness.pass(30)
        _ = try harness.post(Coordinate(latitude: 31.7719, longitude: -106.4850), token: phone)
        let moved = try harness.written(stream)
        #expect(moved.contains("31.7719000"))
        #expect(!moved.contains("stationary"))
    }

    @Test
    func `03 a configuration says how often exact locations are wanted, and means nothing for reduced ones`() throws {
        try harness.grant()
        try harness.grant(.fullAccuracy("pickup", validity: .untilRevoked))
        let airborne = try harness.stream(
            "/v1/devices/phone/updates?purpose=pickup&configuration=airborne", token: family)
        let reduced = try harness.stream(
            "/v1/devices/phone/updates?accuracy=reduced&configuration=airborne", token: family)
        var updates = 0
        for second in 1...40 {
            harness.pass(1)
            _ = try harness.post(
                Coordinate(latitude: 31.7619, longitude: -106.4850 + Double(second) * 0.001), token: phone)
            updates += try harness.written(airborne).components(separatedBy: "event: update").count - 1
        }
        #expect((4...6).contains(updates))
        _ = try harness.written(reduced)
        harness.pass(to: 901)
        #expect(try harness.written(reduced).contains("\"country\":\"US\""))
        #expect(try harness.ask("GET", "/v1/devices/phone/updates?configuration=slow", token: family).status == 400)
    }

    @Test func `10 and 11 a session's diagnostics: asked, granted for once, lapsed, denied, paused`()
        throws
    {
        let session = try harness.stream("/v1/devices/phone/session", token: family)
        #expect(try harness.written(session).contains("authorizationRequestInProgress"))
        try harness.grant(.reduced(validity: .duration(.seconds(60))))
        #expect(try harness.written(session).contains("data: {\"device\":\"phone\"}"))
        harness.pass(61)
        let lapsed = try harness.written(session)
        #expect(lapsed.contains("event: diagnostics"))
        #expect(!lapsed.contains("data: {\"device\":\"phone\"}"))
        try harness.revoke()
        #expect(try harness.written(session).contains("{\"device\":\"phone\",\"authorizationDenied\":true}"))
        try pauseAll()
        #expect(try harness.written(session).contains("\"authorizationDeniedGlobally\":true"))
    }

    @Test
    func `12 and 23 a purpose holds for the connection that states it, and gives no other anything`() throws {
        try harness.grant()
        try harness.grant(.fullAccuracy("pickup", .authorizedAlways, validity: .untilRevoked))
        _ = try harness.relay.decide { desk, now throws(DeskError) in
            try desk.armBackgroundSession(of: "phone", for: "family", at: now)
        }
        let circle = "circle=31.76,-106.48,2000"
        let others = try ["updates", "visits", "monitor?\(circle)", "authorization"].map {
            try harness.stream("/v1/devices/phone/\($0)", token: family)
        }
        let watch = try PurposelessGPSD(harness)
        let pushes = Deliveries()
        _ = try harness.relay.open(.pushes(reduced: false), of: "phone", for: "family", listener: pushes)
        let session = try harness.stream("/v1/devices/phone/session?purpose=pickup", token: family)
        let stating = try harness.stream("/v1/devices/phone/updates?purpose=pickup", token: family)
        var seen = "", exact = ""
        for second in stride(from: 10.0, to: 2000, by: 97) {
            harness.pass(to: second)
            _ = try harness.post(Places.elPaso, token: phone)
            for other in others + [session] { seen += try harness.written(other) }
            seen += try watch.written()
            seen += try harness.ask("GET", "/v1/devices/phone", token: family).body
            seen += try harness.ask("GET", "/v1/devices/phone?purpose=pickup&accuracy=reduced", token: family).body
            seen += try harness.ask("POST", "/v1/geolocate?key=\(family)&device=phone").body
            seen += try harness.ask("POST", "/v1/geolocate?key=\(family)&device=phone&purpose=pickup").body
            exact += try harness.written(stating)
        }
        #expect(!seen.contains("31.7619") && seen.contains("\"region\":") && seen.contains("accuracyLimited"))
        #expect(pushes.locations.allSatisfy { $0.reduced != nil } && !pushes.locations.isEmpty)
        #expect(exact.contains("31.7619000"))
        #expect(
            try harness.ask("GET", "/v1/devices/phone?purpose=pickup", token: family).body.contains("31.7619000"))
        let monitor = try harness.stream("/v1/devices/phone/monitor?purpose=pickup&\(circle)", token: family)
        #expect(try harness.written(monitor).contains("\"satisfied\""))
        // The session of the other streams ends: this one goes on.
        for other in others + [session] { try other.close().wait() }
        harness.pass(30)
        _ = try harness.post(Places.berlin, token: phone)
        #expect(try harness.written(stating).contains("52.5200000"))
    }

    @Test func `a request with a purpose that is not granted is reduced, and asks nobody`() throws {
        try harness.grant()
        harness.pass(to: 10)
        _ = try harness.post(Places.elPaso, token: phone)
        harness.pass(to: 901)
        let body = try harness.ask("GET", "/v1/devices/phone?purpose=pickup", token: family).body
        #expect(body.contains("\"region\":") && body.contains("\"fullAccuracyDenied\":true"))
        #expect(harness.relay.desk.requests.isEmpty)
        #expect(try harness.ask("GET", "/v1/devices/phone?purpose=other", token: family).status == 400)
        // One that is granted once lasts for the request and the grace, and no longer.
        try harness.grant(.fullAccuracy("pickup", validity: .session))
        _ = try harness.post(Places.elPaso, token: phone)
        #expect(try harness.ask("GET", "/v1/devices/phone?purpose=pickup", token: family).body.contains("31.7619000"))
        harness.pass(12)
        _ = try harness.post(Places.elPaso, token: phone)
        let after = try harness.ask("GET", "/v1/devices/phone?purpose=pickup", token: family).body
        #expect(!after.contains("31.7619000") && after.contains("\"fullAccuracyDenied\":true"))
    }

    @Test func `15 allow once: across a dip of some seconds, not across a longer one`() throws {
        try harness.grant(.reduced(validity: .session))
        let first = try harness.stream("/v1/devices/phone/updates", token: family)
        #expect(try harness.written(first).contains("locationUnavailable"))
        try first.close().wait()
        harness.pass(8)
        let second = try harness.stream("/v1/devices/phone/updates", token: family)
        #expect(try harness.written(second).contains("locationUnavailable"))
        try second.close().wait()
        harness.pass(12)
        let third = try harness.stream("/v1/devices/phone/updates", token: family)
        #expect(try harness.written(third).contains("authorizationRequestInProgress"))
    }

    @Test func `15 a relay that is killed in a session that was allowed once does not begin it again`()
        throws
    {
        try harness.grant(.reduced(validity: .session))
        let stream = try harness.stream("/v1/devices/phone/updates", token: family)
        #expect(try harness.written(stream).contains("locationUnavailable"))
        // Its end is not kept: the process is gone.
        let store = MemoryStore()
        store.content = harness.store.content
        let after = try Harness(store: store, at: 1)
        after.pass(12)
        #expect(
            try after.ask("GET", "/v1/devices/phone", token: family).body.contains("authorizationRequestInProgress"))
    }

    @Test func `17 until tomorrow morning`() throws {
        // 14:15 UTC; 04:00 in Berlin's summer is 02:00 UTC.
        try harness.grant(.reduced(validity: .untilMorning(secondsFromGMT: 7200)))
        let stream = try harness.stream("/v1/devices/phone/updates", token: family)
        #expect(try harness.written(stream).contains("locationUnavailable"))
        harness.pass(to: (11 * 60 + 44) * 60)
        #expect(try !harness.written(stream).contains("data:"))
        harness.pass(to: (11 * 60 + 45) * 60 + 1)
        #expect(try harness.written(stream).contains("authorizationRequestInProgress"))
    }

    @Test func `18 a circle with full accuracy, and the twenty-first condition`() throws {
        try harness.grant()
        try harness.grant(.fullAccuracy("pickup", validity: .untilRevoked))
        harness.pass(1)
        _ = try harness.post(Places.elPaso, token: phone)
        let circles = (0..<20).map { "circle=31.7619,-106.4850,\(200 + $0)" }
        let stream = try harness.stream(
            "/v1/devices/phone/monitor?purpose=pickup&\(circles.joined(separator: "&"))&country=US", token: family)
        let first = try harness.written(stream)
        #expect(first.components(separatedBy: "\"state\":\"satisfied\"").count == 21)
        #expect(first.contains("\"condition\":\"country=US\",\"state\":\"unmonitored\""))
        #expect(first.contains("conditionLimitExceeded"))
        harness.pass(30)
        _ = try harness.post(Coordinate(latitude: 31.7819, longitude: -106.4850), token: phone)
        #expect(try harness.written(stream).contains("\"state\":\"unsatisfied\""))
    }

    @Test func `20 beacons by UUID, major and minor, for full accuracy`() throws {
        try harness.grant()
        try harness.grant(.fullAccuracy("pickup", validity: .untilRevoked))
        let uuid = "CA271EAE-5FA8-4E80-8F08-2A302A95A959"
        let stream = try harness.stream(
            "/v1/devices/phone/monitor?purpose=pickup&beacon=\(uuid)&beacon=\(uuid),1&beacon=\(uuid),2,7", token: family
        )
        _ = try harness.written(stream)
        harness.pass(1)
        for minor in [7, 8] {
            let seconds = harness.clock.now.nanosecondsSince1970 / 1_000_000_000
            _ = try harness.ask(
                "POST", "/owntracks", token: phone,
                body:
                    "{\"_type\":\"beacon\",\"uuid\":\"\(uuid)\",\"major\":1,\"minor\":\(minor),\"acc\":\(minor),\"tst\":\(seconds)}"
            )
        }
        let seen = try harness.written(stream)
        #expect(seen.contains("\"condition\":\"beacon=\(uuid)\",\"state\":\"satisfied\""))
        #expect(seen.contains("\"condition\":\"beacon=\(uuid),1\",\"state\":\"satisfied\""))
        #expect(!seen.contains("\"condition\":\"beacon=\(uuid),2,7\",\"state\":\"satisfied\""))
    }

    @Test func `21 a visit of a reduced consumer: regions and ticks`() throws {
        try harness.grant()
        let stream = try harness.stream("/v1/devices/phone/visits", token: family)
        let places =
            [Places.berlin, Places.berlin, Places.berlin, Places.berlin]
            + [Places.country, Places.country, Places.country, Places.elPaso]
        for (tick, place) in places.enumerated() {
            harness.pass(to: Double(tick * 900 + 77))
            _ = try harness.post(place, token: phone)
            harness.pass(to: Double(tick * 900 + 901))
        }
        let visits = try harness.written(stream)
        // The stay in which the view began may have begun before it.
        #expect(visits.contains("event: visit\ndata: {\"arrival\":null,\"location\":"))
        #expect(visits.contains("{\"arrival\":null,\"departure\":\"2026-09-21T15:30:00Z\""))
        #expect(visits.contains("{\"arrival\":\"2026-09-21T15:30:00Z\",\"location\":"))
        #expect(visits.contains("{\"arrival\":\"2026-09-21T15:30:00Z\",\"departure\":\"2026-09-21T16:15:00Z\""))
        #expect(!visits.contains("52.52000"))
    }

    @Test
    func `law 6: a connection that takes nothing gets a departure and the newest arrival`()
        throws
    {
        try harness.grant(.reduced(hasExactVisitTimes: true))
        // What keeps the stream alive comes at other seconds than the ticks.
        harness.pass(7)
        let stream = try harness.stream("/v1/devices/phone/visits", token: family)
        func setWritable(_ isWritable: Bool) {
            stream.isWritable = isWritable
            stream.pipeline.fireChannelWritabilityChanged()
            harness.loop.run()
        }
        /// Comes to a place eight minutes before a tick; the connection takes nothing about the tick.
        func come(to place: Coordinate, tick: Int, meanwhile: () throws -> Void = {}) throws {
            for minute in stride(from: tick * 15 - 8, to: tick * 15, by: 1) {
                harness.pass(to: Double(minute * 60))
                _ = try harness.post(place, token: phone)
            }
            harness.pass(to: Double(tick * 900 - 2))
            _ = try harness.written(stream)
            setWritable(false)
            harness.pass(to: Double(tick * 900 + 2))
            #expect(try harness.written(stream).isEmpty)
            try meanwhile()
            setWritable(true)
        }
        try come(to: Places.berlin, tick: 1)
        let first = try harness.written(stream).components(separatedBy: "event: visit")
        try #require(first.count == 2)
        #expect(first[1].contains("{\"arrival\":null,\"location\":"))
        try come(to: Places.elPaso, tick: 2)
        let second = try harness.written(stream).components(separatedBy: "event: visit")
        try #require(second.count == 3)
        #expect(second[1].contains("{\"arrival\":null,\"departure\":\"2026-09-21T14:37:00Z\""))
        #expect(second[2].contains("{\"arrival\":\"2026-09-21T14:37:00Z\",\"location\":"))
        try come(to: Places.berlin, tick: 3) { try harness.revoke() }
        #expect(try !harness.written(stream).contains("event: visit"))
    }

    @Test func `22 the drive along the border: every answer on its own side`() throws {
        try harness.grant()
        try harness.grant(to: "anna")
        let anna = try harness.token(.consumer("anna"))
        let streams = try [family, anna].map { try harness.stream("/v1/devices/phone/updates", token: $0) }
        for stream in streams { _ = try harness.written(stream) }
        let atlas = try Places.atlas.get()
        var last: Region?
        for tick in 0..<12 {
            let position = Coordinate(
                latitude: tick % 2 == 0 ? 31.7619 : 31.7202, longitude: -106.50 + Double(tick) * 0.008)
            let region = try atlas.region(at: position)
            let country = try atlas.reducedLocation(of: region).country.code
            harness.pass(to: Double(tick * 900 + 450))
            _ = try harness.post(position, token: phone)
            harness.pass(to: Double(tick * 900 + 901))
            let seen = try streams.map { try harness.written($0) }
            #expect(seen[0] == seen[1])
            // The river bends: two fixes may be in one region, and an equal answer is not repeated.
            #expect(seen[0].contains("\"country\":") == (region != last))
            #expect(region == last || seen[0].contains("\"country\":\"\(country)\""))
            last = region
        }
    }

    @Test func `16 and 06 a push target: armed by the owner, asked for once, and there again after a restart`()
        throws
    {
        var configuration = Harness.configuration
        configuration.consumers[1].pushes = [
            RelayConfiguration.Push(device: "phone", dialect: .owntracks, url: try PushURL("http://127.0.0.1:1/"))
        ]
        let store = MemoryStore()
        let harness = try Harness(configuration, store: store)
        let phone = try harness.token(.device("phone"))
        final class Listener: RelayListener {
            var seen: [LocationUpdate] = []
            func deliver(_ delivery: Delivery) {
                if case .update(let update) = delivery.content { seen.append(update) }
            }
            func end() {}
        }
        let listener = Listener()
        _ = try harness.relay.open(
            .pushes(reduced: false), of: "phone", for: "family", purpose: nil, listener: listener)
        try harness.grant()
        _ = try harness.post(Places.berlin, token: phone)
        harness.pass(to: 1000)
        #expect(listener.seen.allSatisfy { $0.location == nil })
        #expect(harness.relay.desk.requests.map(\.kind) == [.always])
        try harness.grant(.reduced(.authorizedAlways))
        #expect(listener.seen.last?.location?.reduced?.country.code == "DE")

        let again = try Harness(configuration, store: store, at: 1010)
        let second = Listener()
        _ = try again.relay.open(.pushes(reduced: false), of: "phone", for: "family", purpose: nil, listener: second)
        again.pass(1)
        #expect(second.seen.last?.location?.reduced?.country.code == "DE")
    }
}

/// A client of a gpsd port that states no purpose.
private final class PurposelessGPSD {
    private let harness: Harness
    private let channel: EmbeddedChannel

    init(_ harness: Harness) throws {
        self.harness = harness
        let settings = RelayConfiguration.GPSDPort(device: "phone", address: .host("127.0.0.1", port: 0))
        let port = GPSDPort(settings, of: "family", relay: harness.relay, on: harness.loop)
        channel = EmbeddedChannel(handler: GPSDConnection(port), loop: harness.loop)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        try harness.send("?WATCH={\"enable\":true,\"json\":true};\n", to: channel)
    }

    deinit { _ = try? channel.finish() }

    func written() throws -> String { try harness.written(channel) }
}

private final class Deliveries: RelayListener {
    private(set) var locations: [Location] = []

    func deliver(_ delivery: Delivery) {
        if case .update(let update) = delivery.content, let location = update.location { locations.append(location) }
    }

    func end() {}
}
