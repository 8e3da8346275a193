import Dialects
import Foundation
import Hereabouts
import HereaboutsLive
import NIOCore
import Testing

@testable import Relay

@Suite("Endpoints", .serialized) struct EndpointsTests {
    /// A feed from one server, a gpsd port and a push to another.
    private static func configuration(feed: Int, port: Int, push: Int) throws -> RelayConfiguration {
        var configuration = Harness.configuration
        configuration.devices[0].gpsd = RelayConfiguration.GPSDSource(.host("127.0.0.1", port: feed))
        for index in configuration.consumers.indices where configuration.consumers[index].name == "family" {
            configuration.consumers[index].gpsd = [
                RelayConfiguration.GPSDPort(device: "phone", address: .host("127.0.0.1", port: port))
            ]
            configuration.consumers[index].pushes = [
                RelayConfiguration.Push(
                    device: "phone", dialect: .osmand, url: try PushURL("http://127.0.0.1:\(push)/"))
            ]
        }
        return configuration
    }

    private static func begin(_ harness: LoopHarness) throws {
        try harness.wait { parts in
            let endpoints = try Endpoints(parts.relay.configuration, relay: parts.relay, on: parts.loop)
            parts.endpoints = endpoints
            return endpoints.start()
        }
    }

    @Test
    func `a fix comes from gpsd, and goes to a receiver at its tick`() throws {
        let greeting =
            "{\"class\":\"VERSION\",\"release\":\"3.22\",\"rev\":\"3.22\",\"proto_major\":3,\"proto_minor\":14}\n"
        let fix =
            "{\"class\":\"TPV\",\"device\":\"/dev/ttyUSB0\",\"mode\":3,\"lat\":\(Places.berlin.latitude),\"lon\":\(Places.berlin.longitude)}\n"
        let gpsd = try ScriptedServer([.greet(greeting + fix)])
        let receiver = try ScriptedServer([.answer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")])
        let harness = try LoopHarness(Self.configuration(feed: gpsd.port, port: 0, push: receiver.port))
        try harness.grant(.reduced(.authorizedAlways))
        try Self.begin(harness)
        #expect(
            try harness.eventually { parts in
                parts.endpoints?.status.contains {
                    if case .feed("phone", let status) = $0 { status.fixes == 1 } else { false }
                } == true
            })
        try harness.pass(to: 961)
        let center = try Places.atlas.get().reducedLocation(at: Places.berlin)
        #expect(soon { !(receiver.received.first ?? "").isEmpty })
        #expect(
            receiver.received.first?.hasPrefix(
                "POST /?id=phone&lat=\(center.coordinate.latitude)&lon=\(center.coordinate.longitude)&timestamp=\(start + 900)&accuracy="
            )
                == true)
        #expect(
            try harness.eventually { parts in
                parts.endpoints?.status.contains {
                    if case .push("phone", "family", .osmand, isListening: true, let counts) = $0 {
                        counts.outcomes == [.delivered: 1]
                    } else {
                        false
                    }
                } == true
            })
        let count = try harness.run { $0.endpoints?.status.count }
        #expect(count == 3)
        try harness.end()
        #expect(soon { gpsd.open == 0 && receiver.open == 0 })
        try gpsd.end()
        try receiver.end()
    }

    @Test
    func `where one cannot begin, none is left running`() throws {
        let gpsd = try ScriptedServer([.stall]), taken = try ScriptedServer([.stall])
        let harness = try LoopHarness(Self.configuration(feed: gpsd.port, port: taken.port, push: 9))
        do {
            try Self.begin(harness)
            Issue.record("it began")
        } catch let failure as Endpoints.Failure {
            guard case .port(device: "phone", consumer: "family", .system(let error)) = failure else {
                Issue.record("another failure")
                return
            }
            #expect(error.number == EADDRINUSE)
            #expect("\(failure)" == "consumers.family: gpsd port for phone: cannot listen: \(error)")
        }
        #expect(gpsd.received.isEmpty)
        let counts = try harness.run { parts in
            parts.endpoints?.status.map { status in
                if case .push(_, _, _, let isListening, _) = status { isListening } else { false }
            }
        }
        #expect(counts == [false, false, false])
        try harness.end()
        try gpsd.end()
        try taken.end()
    }

    @Test
    func `what cannot be used is said, without a URL or a secret`() throws {
        for (file, text) in [("/nonexistent/secret", "No such file or directory"), ("/", "is no regular file")] {
            var push = RelayConfiguration.Push(
                device: "phone", dialect: .overland, url: try PushURL("https://recorder.example/"))
            push.credentialFile = file
            let failure = #expect(throws: Endpoints.Failure.self) { try Endpoints.secret(push, "family") }
            #expect(failure?.description == "consumers.family: push of phone: credential-file: \(text)")
        }
    }
}
