import Dialects
import FixedRandom
import Foundation
import Hereabouts
import HereaboutsLive
import NIOCore
import NIOSSL
import Testing

@testable import Relay

/// Targets on the loopback interface, of the consumer `family`.
@Suite("Push targets", .serialized) struct PushTargetTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]"
    private static let failed = "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n"

    private static func configuration(_ push: RelayConfiguration.Push) -> RelayConfiguration {
        var configuration = Harness.configuration
        configuration.devices[0].tracker = "AN"
        for index in configuration.consumers.indices where configuration.consumers[index].name == "family" {
            configuration.consumers[index].pushes = [push]
        }
        return configuration
    }

    /// A relay with one target that has been started.
    private static func harness(
        _ dialect: RelayConfiguration.Push.Dialect = .owntracks, to url: String, secret: String? = nil,
        isFull: Bool = false, roots: NIOSSLTrustRoots = .default, attempt: TimeAmount = .seconds(10)
    ) throws -> LoopHarness {
        var settings = RelayConfiguration.Push(device: "phone", dialect: dialect, url: try PushURL(url))
        settings.purpose = isFull ? "pickup" : nil
        let harness = try LoopHarness(configuration(settings))
        try harness.grant(
            isFull
                ? Grant.fullAccuracy("pickup", .authorizedAlways, validity: .untilRevoked) : .reduced(.authorizedAlways)
        )
        try harness.run { [settings] parts in
            var limits = PushTarget.Limits()
            limits.attempt = attempt
            let target = PushTarget(
                settings, of: "family", device: parts.relay.configuration.devices[0],
                secret: try secret.map { try PushSecret(line: Array($0.utf8)) }, stale: .seconds(7200),
                tls: try PushTarget.tlsContext(roots: roots), relay: parts.relay, on: parts.loop,
                random: SplitMix64(seed: 1), limits: limits)
            try target.start()
            parts.targets.append(target)
        }
        return harness
    }

    private static func count(_ harness: LoopHarness, _ outcome: PushOutcome) throws -> Int {
        try harness.run { $0.targets[0].counts.outcomes[outcome] ?? 0 }
    }

    private static func location(_ place: Coordinate) throws -> ReducedLocation {
        try Places.atlas.get().reducedLocation(at: place)
    }

    private static func text(_ degrees: Double) -> String { String(format: "%.5f", degrees) }

    @Test
    func `receivers get the reduced location and nothing more, to the byte`() throws {
        let place = try Self.location(Places.juarez)
        let (latitude, longitude) = (Self.text(place.coordinate.latitude), Self.text(place.coordinate.longitude))
        let accuracy = Int(place.horizontalAccuracy.rounded(.up))
        for dialect in RelayConfiguration.Push.Dialect.allCases {
            let server = try ScriptedServer([.answer(Self.ok)])
            let harness = try Self.harness(
                dialect, to: "http://127.0.0.1:\(server.port)/pub?u=anna", secret: "anna:open sesame\n")
            try harness.report(Places.juarez, at: 300)
            try harness.pass(to: 899)
            #expect(server.received.isEmpty)
            try harness.pass(to: 961)
            #expect(try harness.eventually { $0.targets[0].counts.outcomes == [.delivered: 1] })
            let body =
                switch dialect {
                case .owntracks:
                    "{\"_type\":\"location\",\"lat\":\(latitude),\"lon\":\(longitude),\"acc\":\(accuracy),\"tst\":\(start + 900),\"tid\":\"AN\"}"
                case .overland:
                    "{\"locations\":[{\"type\":\"Feature\",\"geometry\":{\"type\":\"Point\",\"coordinates\":[\(longitude),\(latitude)]},\"properties\":{\"timestamp\":\"2026-09-21T14:30:00Z\",\"horizontal_accuracy\":\(accuracy),\"device_id\":\"phone\"}}]}"
                case .osmand: ""
                }
            let query =
                dialect == .osmand
                ? "&id=phone&lat=\(latitude)&lon=\(longitude)&timestamp=\(start + 900)&accuracy=\(accuracy)" : ""
            let kind = dialect == .osmand ? "" : "Content-Type: application/json\r\n"
            #expect(
                server.received == [
                    "POST /pub?u=anna\(query) HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n"
                        + "Authorization: Basic YW5uYTpvcGVuIHNlc2FtZQ==\r\n\(kind)"
                        + "Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
                ])
            try harness.end()
            try server.end()
        }
    }

    @Test
    func `a receiver that fails gets the newest answer, once it does not`() throws {
        let server = try ScriptedServer([.answer(Self.failed), .answer(Self.ok)])
        let harness = try Self.harness(to: "http://127.0.0.1:\(server.port)/", secret: "token", isFull: true)
        try harness.report(Places.berlin, at: 1)
        #expect(try harness.eventually { $0.targets[0].counts.outcomes[.failed] == 1 })
        for second in 2...20 { try harness.report(Places.elPaso, at: Int64(second)) }
        #expect(try harness.eventually { $0.targets[0].counts.outcomes[.delivered] == 1 })
        try harness.end()
        try server.end()
        #expect(server.received.count == 2)
        #expect(
            server.received[0].contains("\"lat\":52.5200000,") && server.received[0].contains("\"tst\":\(start + 1),"))
        #expect(
            server.received[1].contains("\"lat\":31.7619000,") && server.received[1].contains("\"tst\":\(start + 20),"))
        #expect(server.received[1].contains("Authorization: Bearer token\r\n"))
    }

    @Test
    func `nobody listens, then somebody does`() throws {
        let first = try ScriptedServer([.stall])
        let port = first.port
        try first.end()
        let harness = try Self.harness(to: "http://127.0.0.1:\(port)/", isFull: true)
        try harness.report(Places.berlin, at: 1)
        #expect(try harness.eventually { $0.targets[0].counts.outcomes[.unreachable] == 1 })
        let server = try ScriptedServer([.answer(Self.ok)], port: port)
        #expect(try harness.eventually { $0.targets[0].counts.outcomes[.delivered] == 1 })
        try harness.end()
        try server.end()
        #expect(server.received.count == 1)
    }

    @Test
    func `a receiver that stalls, hangs up or talks nonsense is tried again`() throws {
        let short = TimeAmount.milliseconds(1500), long = TimeAmount.seconds(20)
        for (act, outcome, attempt) in [
            (ScriptedServer.Act.stall, PushOutcome.stalled, short), (.hangUp, .unreachable, long),
            (.answer("nonsense\r\n\r\n"), .unreachable, long), (.answer("HTTP/1.1 200"), .unreachable, long),
            (.endless("HTTP/1.1 200 OK\r\n", "X-A: a\r\n", every: nil), .unreachable, long),
            (.endless("HTTP/1.1 200 OK\r\n", "X-A: a\r\n", every: .milliseconds(50)), .stalled, short),
            (.endless("HTTP/1.1 503 No\r\n\r\n", "x", every: .milliseconds(50)), .failed, short),
        ] {
            let server = try ScriptedServer([act, .answer(Self.ok)])
            let harness = try Self.harness(
                to: "http://127.0.0.1:\(server.port)/", isFull: true, attempt: attempt)
            try harness.report(Places.berlin, at: 1)
            #expect(try harness.eventually { $0.targets[0].counts.outcomes == [outcome: 1, .delivered: 1] })
            #expect(soon { server.open == 0 })
            try harness.end()
            try server.end()
            #expect(server.received.count == 2)
        }
    }

    @Test
    func `an answer of any length is not read to its end`() throws {
        let kilobyte = String(repeating: "x", count: 1024)
        for interval in [nil, TimeAmount.milliseconds(50)] {
            let server = try ScriptedServer([.endless("HTTP/1.1 201 Yes\r\n\r\n", kilobyte, every: interval)])
            let harness = try Self.harness(
                to: "http://127.0.0.1:\(server.port)/", isFull: true, attempt: .milliseconds(1500))
            try harness.report(Places.berlin, at: 1)
            #expect(try harness.eventually { $0.targets[0].counts.outcomes == [.delivered: 1] })
            #expect(soon { server.open == 0 })
            try harness.end()
            try server.end()
            #expect(server.received.count == 1)
        }
    }

    @Test
    func `an answer may be announced, and have no length`() throws {
        for text in [
            "HTTP/1.1 100 Continue\r\n\r\n" + Self.ok, "HTTP/1.1 204 No\r\n\r\n", "HTTP/1.0 200 OK\r\n\r\nbody",
        ] {
            let server = try ScriptedServer([.answer(text)])
            let harness = try Self.harness(to: "http://127.0.0.1:\(server.port)/", isFull: true)
            try harness.report(Places.berlin, at: 1)
            #expect(try harness.eventually { $0.targets[0].counts.outcomes == [.delivered: 1] })
            try harness.end()
            try server.end()
        }
    }

    @Test
    func `what a receiver will never take is dropped, and redirects are not followed`() throws {
        for status in ["401 No", "404 No", "302 Elsewhere\r\nLocation: /other", "308 Elsewhere\r\nLocation: /other"] {
            let server = try ScriptedServer([
                .answer("HTTP/1.1 \(status)\r\nContent-Length: 0\r\n\r\n"), .answer(Self.ok),
            ])
            let harness = try Self.harness(to: "http://127.0.0.1:\(server.port)/", isFull: true)
            try harness.report(Places.berlin, at: 1)
            #expect(try harness.eventually { $0.targets[0].counts.outcomes == [.refused: 1] })
            try harness.report(Places.elPaso, at: 2)
            #expect(try harness.eventually { $0.targets[0].counts.outcomes == [.refused: 1, .delivered: 1] })
            try harness.end()
            try server.end()
            #expect(server.received.count == 2)
            #expect(server.received.last?.contains("31.7619") == true)
        }
    }

    @Test
    func `what the owner takes back is not posted any more`() throws {
        let server = try ScriptedServer([.answer(Self.failed), .answer(Self.ok)])
        let harness = try Self.harness(to: "http://127.0.0.1:\(server.port)/", isFull: true)
        try harness.report(Places.berlin, at: 1)
        #expect(try harness.eventually { $0.targets[0].counts.outcomes == [.failed: 1] })
        try harness.revoke()
        #expect(try harness.eventually { $0.targets[0].counts.displaced == 1 })
        try harness.report(Places.elPaso, at: 2)
        try harness.grant(.fullAccuracy("pickup", .authorizedAlways, validity: .untilRevoked))
        try harness.report(Places.juarez, at: 3)
        #expect(try harness.eventually { $0.targets[0].counts.outcomes == [.failed: 1, .delivered: 1] })
        try harness.end()
        try server.end()
        #expect(server.received.count == 2)
        #expect(server.received.last?.contains("\"tst\":\(start + 3),") == true)
    }

    @Test
    func `when full accuracy ends while a receiver fails, the reduced location follows`() throws {
        let server = try ScriptedServer([.answer(Self.ok), .answer(Self.failed), .answer(Self.ok)])
        let harness = try Self.harness(to: "http://127.0.0.1:\(server.port)/", isFull: true)
        try harness.grant(.reduced(.authorizedAlways))
        try harness.report(Places.berlin, at: 1)
        #expect(try harness.eventually { $0.targets[0].counts.outcomes[.delivered] == 1 })
        try harness.pass(to: 961)
        // Now the standing answer is that of 900, which full accuracy does not show.
        try harness.report(Places.berlin, at: 962)
        #expect(try harness.eventually { $0.targets[0].counts.outcomes[.failed] == 1 })
        try harness.grant(
            .fullAccuracy("pickup", .authorizedAlways, validity: .duration(.milliseconds(10))))
        try harness.pass(to: 963)
        #expect(try harness.eventually { $0.targets[0].counts.outcomes[.delivered] == 2 })
        try harness.end()
        try server.end()
        #expect(server.received.count == 3)
        let center = try Self.location(Places.berlin).coordinate
        #expect(server.received.last?.contains("\"lat\":\(Self.text(center.latitude)),") == true)
        #expect(server.received.last?.contains("\"tst\":\(start + 900),") == true)
    }

    @Test
    func `TLS: the receiver's certificate and name are verified, and its suites are forward secret`() throws {
        guard let openssl = Program.path("openssl") else { return }
        try withFolder { folder in
            for (name, subject) in [("good", "IP:127.0.0.1,DNS:localhost"), ("other", "DNS:other.example")] {
                _ = try Program.output(
                    of: openssl,
                    [
                        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                        "-subj", "/CN=test", "-addext", "subjectAltName=\(subject)", "-keyout", "\(folder)/\(name).key",
                        "-out", "\(folder)/\(name).pem",
                    ], seconds: 20)
            }
            for (certificate, roots, host, suite, outcome) in [
                ("good", "good", "127.0.0.1", nil as NIOTLSCipher?, PushOutcome.delivered),
                ("good", "good", "localhost", nil, .delivered), ("good", "other", "127.0.0.1", nil, .unreachable),
                ("other", "other", "127.0.0.1", nil, .unreachable), ("other", "other", "localhost", nil, .unreachable),
                ("good", "good", "localhost", .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .delivered),
                ("good", "good", "localhost", .TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA, .unreachable),
            ] {
                var configuration = TLSConfiguration.makeServerConfiguration(
                    certificateChain: try NIOSSLCertificate.fromPEMFile("\(folder)/\(certificate).pem").map {
                        .certificate($0)
                    },
                    privateKey: .privateKey(try NIOSSLPrivateKey(file: "\(folder)/\(certificate).key", format: .pem)))
                if let suite { (configuration.cipherSuiteValues, configuration.maximumTLSVersion) = ([suite], .tlsv12) }
                let server = try ScriptedServer(
                    [.answer(Self.ok)], tls: try NIOSSLContext(configuration: configuration))
                let harness = try Self.harness(
                    to: "https://\(host):\(server.port)/", isFull: true, roots: .file("\(folder)/\(roots).pem"))
                try harness.report(Places.berlin, at: 1)
                #expect(try harness.eventually { $0.targets[0].counts.outcomes == [outcome: 1] })
                try harness.end()
                try server.end()
                // Nothing is sent to somebody else.
                #expect(server.received.joined().contains("tid") == (outcome == .delivered))
            }
        }
    }
}

/// A queue that an expectation may change.
private final class Queue {
    private var queue = PushQueue(stale: .seconds(7200))
    private var random: any RandomNumberGenerator = SplitMix64(seed: 1)

    var counts: PushCounts { queue.counts }
    func offer(_ location: OutgoingLocation?) -> Bool { queue.offer(location) }
    func take(now: Timestamp) -> OutgoingLocation? { queue.take(now: now) }
    func resume(now: Timestamp) -> Bool { queue.resume(now: now) }
    func finish(_ outcome: PushOutcome?) -> PushQueue.Step { queue.finish(outcome, random: &random) }
}

/// What of a target waits.
@Suite("Push queue") struct PushQueueTests {
    private static func reduced(_ seconds: Double) throws -> OutgoingLocation {
        .reduced(try Places.atlas.get().reducedLocation(at: Places.berlin), tick: moment(seconds))
    }

    private static func full(_ seconds: Double) -> OutgoingLocation {
        .full(Fix(coordinate: Places.berlin, time: moment(seconds)))
    }

    @Test
    func `what the receiver has is not posted again, unless something else was`() throws {
        let queue = Queue()
        let first = try Self.reduced(0)
        #expect(queue.offer(first))
        #expect(queue.take(now: moment(1)) == first)
        #expect(!queue.offer(first))
        #expect(queue.finish(.delivered) == .rest)
        #expect(!queue.offer(first))
        #expect(!queue.offer(nil))
        #expect(!queue.offer(first))
        // Full accuracy begins and ends while a post of it is under way.
        #expect(queue.offer(Self.full(2)))
        #expect(queue.take(now: moment(2)) == Self.full(2))
        #expect(!queue.offer(first))
        #expect(queue.finish(.delivered) == .post)
        #expect(queue.take(now: moment(3)) == first)
        #expect(queue.finish(.delivered) == .rest)
    }

    @Test
    func `what is too old is dropped, and a pause doubles up to a minute`() throws {
        let queue = Queue()
        #expect(queue.offer(Self.full(0)))
        for base in [1, 2, 4, 8, 16, 30, 30, 30] {
            #expect(queue.take(now: moment(10)) == Self.full(0))
            guard case .retry(let delay) = queue.finish(.failed) else {
                Issue.record("no retry")
                return
            }
            #expect(TimeAmount.seconds(Int64(base)) <= delay && delay <= .seconds(Int64(2 * base)))
            #expect(queue.resume(now: moment(10)))
        }
        #expect(queue.take(now: moment(7200)) == Self.full(0))
        guard case .retry = queue.finish(.stalled) else {
            Issue.record("no retry")
            return
        }
        #expect(!queue.resume(now: moment(7201)))
        #expect(queue.counts.outdated == 1)
        #expect(queue.offer(Self.full(7300)))
    }

    @Test
    func `law 6: of any answers and failures, what is posted is the newest, and nothing that was taken back`() throws {
        var random: any RandomNumberGenerator = SplitMix64(seed: 3)
        let queue = Queue()
        enum State { case resting, connecting, posting, pausing }
        var (state, newest) = (State.resting, OutgoingLocation?.none)
        // What the receiver has or refused, as far as that is known; what is being posted.
        var (held, posted) = (OutgoingLocation?.none, OutgoingLocation?.none)
        var posts = 0
        func follow(_ step: PushQueue.Step) {
            switch step {
            case .rest: state = .resting
            case .post: state = .connecting
            case .retry: state = .pausing
            }
        }
        for step in 0..<20_000 {
            let second = Double(step)
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1:
                let location =
                    switch Int.random(in: 0..<3, using: &random) {
                    case 0: OutgoingLocation?.none
                    case 1: try Self.reduced((second / 900).rounded(.down) * 900)
                    default: Self.full(second)
                    }
                newest = location
                if queue.offer(location) {
                    #expect(state == .resting)
                    state = .connecting
                }
            case 2 where state == .connecting:
                if let location = queue.take(now: moment(second)) {
                    #expect(location == newest)
                    posts += 1
                    (state, posted, held) = (.posting, location, nil)
                } else {
                    follow(queue.finish(nil))
                    #expect(state == .resting)
                }
            case 2 where state == .pausing:
                state = queue.resume(now: moment(second)) ? .connecting : .resting
            case 3 where state == .posting:
                let ends = [PushOutcome.delivered, .refused, .failed, .unreachable, .stalled]
                let outcome = ends.randomElement(using: &random)
                if outcome == .delivered || outcome == .refused { held = posted }
                posted = nil
                follow(queue.finish(outcome))
            case 3 where state == .connecting:
                follow(queue.finish(Bool.random(using: &random) ? .unreachable : .stalled))
            default: break
            }
            // Nothing is forgotten either.
            if state == .resting, let newest { #expect(held == newest) }
        }
        #expect(posts > 1000)
    }
}

@Suite("Where pushes go") struct PushURLTests {
    @Test
    func `URLs`() throws {
        let url = try PushURL("https://recorder.example/pub?u=anna&d=phone")
        #expect(url.isSecure && url.host == "recorder.example" && url.port == 443)
        #expect(url.target == "/pub?u=anna&d=phone" && url.authority == "recorder.example")
        #expect(try PushURL("HTTPS://recorder.example").target == "/")
        #expect(try PushURL("https://recorder.example?a=b").target == "/?a=b")
        #expect(try PushURL("https://[2001:db8::1]:8443/x").authority == "[2001:db8::1]:8443")
        #expect(try PushURL("http://localhost:8083/pub").port == 8083)
        #expect(try PushURL("http://[::1]/pub").port == 80)
        #expect("\(url)" == "PushURL(redacted)")
        for (text, failure) in [
            ("", PushURL.Failure.scheme), ("ftp://a/", .scheme), ("recorder.example", .scheme),
            ("http://recorder.example/", .plainText), ("http://192.168.1.2/", .plainText),
            ("http://127.0.0.1.example/", .plainText), ("http://0.0.0.0/", .plainText), ("http://[::]/", .plainText),
            ("https://a:b@c/", .credential), ("https:///x", .host), ("https://[::1/", .host),
            ("https://[::1]x/", .host),
            ("https://a_b%0d/", .host), ("https://[127.0.0.1]/", .host), ("https://[:1]:2]/", .host),
            ("https://a:0/", .port), ("https://a:/", .port), ("https://a:65536/", .port), ("https://a:+1/", .port),
            ("https://a:1:2/", .port), ("https://a:99999999999999999999/", .port), ("https://a/#b", .fragment),
            ("https://a#b", .fragment), ("https://a b/", .text), ("https://ä/", .text), ("https://a/ b", .text),
            ("https://a/\r\nX: y", .text), ("https://a/ä", .text), ("https://a/\u{7F}", .text),
        ] {
            #expect(throws: failure, "\(text)") { try PushURL(text) }
        }
    }

    @Test
    func `credentials`() throws {
        #expect(
            try PushSecret(line: Array("anna:open sesame\r\n".utf8)).authorization == "Basic YW5uYTpvcGVuIHNlc2FtZQ==")
        #expect(try PushSecret(line: Array("a:".utf8)).authorization == "Basic YTo=")
        #expect(try PushSecret(line: Array("a:ä".utf8)).authorization == "Basic YTrDpA==")
        #expect(try PushSecret(line: Array("abc.def-_~+/=".utf8)).authorization == "Bearer abc.def-_~+/=")
        #expect("\(try PushSecret(line: Array("abc".utf8)))" == "PushSecret(redacted)")
        for text in [
            "", "\n", "a b", "a\nb\n", "a\r\nX: y", "ä", "a:b\nc", "a\u{0}:b", String(repeating: "a", count: 1025),
        ] {
            #expect(throws: PushSecret.Failure.malformed) { try PushSecret(line: Array(text.utf8)) }
        }
    }

    @Test
    func `credential files`() throws {
        try withFolder { folder in
            let path = folder + "/secret"
            try Data("anna:open sesame\n".utf8).write(to: URL(fileURLWithPath: path))
            for (mode, isOpen) in [(0o600, false), (0o640, false), (0o644, true), (0o602, true)] {
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
                if isOpen {
                    #expect(throws: PushSecret.Failure.openToOthers) { try PushSecret(file: path) }
                } else {
                    #expect(try PushSecret(file: path).authorization == "Basic YW5uYTpvcGVuIHNlc2FtZQ==")
                }
            }
            #expect(throws: PushSecret.Failure.notAFile) { try PushSecret(file: folder) }
            #expect(throws: PushSecret.Failure.self) { try PushSecret(file: folder + "/none") }
            try Data(repeating: 0x61, count: 2000).write(to: URL(fileURLWithPath: path))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            #expect(throws: PushSecret.Failure.malformed) { try PushSecret(file: path) }
        }
    }
}
