import AtlasFixture
import CZLib
import Dialects
import Foundation
import Hereabouts
import HereaboutsLive
import NIOCore
import NIOEmbedded
import Testing

@testable import Relay

/// What who has no token, or a token and no grant, can do to the relay and to others.
@Suite("Doors") struct DoorTests {
    /// A relay that is reached without a proxy.
    private static func open() throws -> Harness {
        var configuration = Harness.configuration
        configuration.listen = .host("0.0.0.0", port: 8737)
        return try Harness(configuration)
    }

    // MARK: Streams

    @Test func `a consumer without a grant has 16 streams, and leaves room for others`() throws {
        let harness = try Harness()
        let strict = try harness.token(.consumer("strict")), family = try harness.token(.consumer("family"))
        let owner = try harness.token(.owner)
        try harness.grant()
        func status(_ token: String, _ target: String = "/v1/devices/phone/authorization") throws -> Int {
            let stream = try harness.stream(target, token: token)
            return try Int(harness.written(stream).split(separator: " ")[1]) ?? 0
        }
        #expect(
            try (0..<20).map { _ in try status(strict) } == Array(repeating: 200, count: 16) + [429, 429, 429, 429])
        #expect(try status(family) == 200)
        #expect(try status(owner, "/v1/owner/updates") == 200)
        // In a pause a grant is one still.
        #expect(harness.relay.answer(.pause(isQuiet: false)) == .done)
        #expect(try (0..<20).allSatisfy { _ in try status(family) == 200 })
    }

    @Test func `one with a grant leaves room for the owner and others who have one`() throws {
        let harness = try Harness()
        let family = try harness.token(.consumer("family")), anna = try harness.token(.consumer("anna"))
        let strict = try harness.token(.consumer("strict")), owner = try harness.token(.owner)
        try harness.grant()
        try harness.grant(to: "anna")
        func isOpened(_ token: String, _ target: String = "/v1/devices/phone/authorization") throws -> Bool {
            try harness.written(harness.stream(target, token: token)).hasPrefix("HTTP/1.1 200")
        }
        var count = 0
        while count < 2_000, try isOpened(family) { count += 1 }
        // Granted are anna, family and family's link; the owner has a reserve too.
        #expect(count == RelayServer.Limits.streams - 3 * RelayServer.Limits.reservedStreams)
        #expect(try !isOpened(strict))
        for _ in 0..<RelayServer.Limits.reservedStreams {
            #expect(try isOpened(anna) && isOpened(owner, "/v1/owner/updates"))
        }
        #expect(try !isOpened(anna) && !isOpened(family) && !isOpened(owner, "/v1/owner/updates"))
    }

    // MARK: Connections

    @Test func `a connection that no token came with is closed soon, and one of a holder is kept`() throws {
        let harness = try Self.open()
        let family = try harness.token(.consumer("family")), phone = try harness.token(.device("phone"))
        func connection(_ request: String) throws -> EmbeddedChannel {
            let channel = try harness.connect()
            try harness.send(request, to: channel)
            return channel
        }
        func get(_ path: String, _ token: String) -> String {
            "GET \(path) HTTP/1.1\r\nHost: relay\r\nAuthorization: Bearer \(token)\r\n\r\n"
        }
        let strangers = try [
            "GET / HTTP/1.1\r\nHost: relay\r\n\r\n", "GET /healthz HTTP/1.1\r\nHost: relay\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: relay\r\nContent-Length: 26\r\n\r\nid=nobody&lat=1&lon=1.0000",
        ].map(connection)
        let form = "id=\(phone)&lat=52.52&lon=13.4"
        let holders = try [
            get("/v1/devices", family), get("/v1/devices/phone", family),
            "POST / HTTP/1.1\r\nHost: relay\r\nContent-Length: \(form.utf8.count)\r\n\r\n\(form)",
        ].map(connection)
        let late = try connection("GET / HTTP/1.1\r\nHost: relay\r\n\r\n")
        for channel in strangers + holders + [late] {
            #expect(try harness.written(channel).hasPrefix("HTTP/1.1 "))
            #expect(channel.isActive)
        }
        harness.pass(1)
        try harness.send(get("/v1/devices", family), to: late)
        harness.pass(3)
        #expect(strangers.allSatisfy { !$0.isActive })
        #expect(holders.allSatisfy { $0.isActive } && late.isActive)
        harness.pass(80)
        #expect(holders.allSatisfy { !$0.isActive } && !late.isActive)
    }

    @Test func `when all are taken, the one that was silent the longest goes, strangers first`() throws {
        let harness = try Self.open()
        let family = try harness.token(.consumer("family"))
        let stream = try harness.stream("/v1/devices/phone/updates", token: family)
        let holder = try harness.connect()
        let request = "GET /v1/devices HTTP/1.1\r\nHost: relay\r\nAuthorization: Bearer \(family)\r\n\r\n"
        try harness.send(request, to: holder)
        _ = try harness.written(holder)
        var strangers = try (2..<RelayServer.Limits.connections).map { _ in
            let channel = try harness.connect()
            harness.loop.advanceTime(by: .milliseconds(1))
            return channel
        }
        // The first has said something since.
        try harness.send("GET / HT", to: strangers[0])
        #expect(strangers.allSatisfy { $0.isActive })
        for _ in 0..<2 {
            let channel = try harness.connect()
            try harness.send(request, to: channel)
            #expect(try harness.written(channel).hasPrefix("HTTP/1.1 200"))
        }
        #expect(strangers.map(\.isActive).filter { !$0 }.count == 2)
        #expect(strangers[0].isActive && !strangers[1].isActive && !strangers[2].isActive)
        #expect(holder.isActive && stream.isActive)
        // Where no stranger is left, a holder's connection between two requests goes; a stream never does.
        strangers.removeAll(where: { !$0.isActive })
        for channel in strangers {
            try harness.send(channel === strangers[0] ? "TP/1.1\r\nHost: relay\r\n\r\n" : request, to: channel)
            _ = try harness.written(channel)
        }
        harness.loop.advanceTime(by: .milliseconds(1))
        for isOpen in [true, false] {
            let channel = try harness.connect()
            try harness.send(request, to: channel)
            _ = try harness.written(channel)
            #expect(holder.isActive == isOpen)
        }
        #expect(stream.isActive)
    }

    // MARK: Bodies

    @Test func `open bodies of one sender take so much together, and of others there is room`() throws {
        let harness = try Harness()
        let phone = try harness.token(.device("phone")), tablet = try harness.token(.device("tablet"))
        let chunk = String(repeating: " ", count: 1 << 20)
        var open: [EmbeddedChannel] = [], refused = 0
        for _ in 0..<20 {
            let channel = try harness.connect()
            try harness.send(
                "POST /owntracks HTTP/1.1\r\nHost: relay\r\nAuthorization: Bearer \(phone)\r\nContent-Length: 2097152\r\n\r\n",
                to: channel)
            try harness.send(chunk, to: channel)
            let answer = try harness.written(channel)
            if answer.hasPrefix("HTTP/1.1 503") { refused += 1 } else { open.append(channel) }
        }
        #expect(open.count == OpenBodies.limitOfDevice >> 20 && refused == 20 - open.count)
        #expect(harness.server.bodies.byteCount == OpenBodies.limitOfDevice)
        #expect(harness.relay.receipts(of: "phone")?.counts == [.failed: refused])
        #expect(try harness.post(Places.berlin, token: tablet).status == 200)
        #expect(try harness.post(Places.berlin, token: phone).status == 503)
        // A refusal, and a connection that ends, give back what they held.
        try harness.send(chunk, to: open.removeLast())
        #expect(try harness.post(Places.berlin, token: phone).status == 200)
        try open.removeLast().close().wait()
        #expect(harness.server.bodies.byteCount == OpenBodies.limitOfDevice - (2 << 20))
        for channel in open { try channel.close().wait() }
        #expect(harness.server.bodies.byteCount == 0)
    }

    @Test func `all bodies together are bounded`() {
        var bodies = OpenBodies()
        let devices = (0..<100).map { "d\($0)" }
        for device in devices { while bodies.take(1 << 18, of: device) {} }
        #expect(bodies.byteCount == OpenBodies.limit)
        let more = bodies.take(1, of: nil)
        bodies.giveBack(1 << 18, of: "d0")
        let again = [bodies.take(1 << 18, of: nil), bodies.take(1, of: nil)]
        #expect(!more && again == [true, false])
    }

    // MARK: HTTP

    @Test func `a request of HTTP 1.1 says whom it asks, and one of 1.0 need not`() throws {
        let harness = try Harness()
        func status(_ head: String) throws -> String {
            let channel = try harness.connect()
            try harness.send(head + "\r\n\r\n", to: channel)
            return try String(harness.written(channel).prefix { $0 != "\r\n" })
        }
        #expect(try status("GET /healthz HTTP/1.1") == "HTTP/1.1 400 Bad Request")
        #expect(try status("GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b") == "HTTP/1.1 400 Bad Request")
        #expect(try status("GET /healthz HTTP/1.1\r\nHost: a") == "HTTP/1.1 204 No Content")
        #expect(try status("GET /healthz HTTP/1.0").hasSuffix(" 204 No Content"))
    }

    @Test func `a transfer encoding other than chunked alone is not taken for it`() throws {
        let harness = try Harness()
        let phone = try harness.token(.device("phone"))
        let body = "{\"_type\":\"location\",\"lat\":1,\"lon\":2,\"tst\":\(start)}"
        let chunked = String(body.utf8.count, radix: 16) + "\r\n\(body)\r\n0\r\n\r\n"
        func status(_ encoding: String) throws -> Int {
            let channel = try harness.connect()
            try harness.send(
                "POST /owntracks HTTP/1.1\r\nHost: relay\r\nAuthorization: Bearer \(phone)\r\n\(encoding)\r\n\r\n\(chunked)",
                to: channel)
            return try Int(harness.written(channel).split(separator: " ").dropFirst().first ?? "") ?? 0
        }
        #expect(try status("Transfer-Encoding: chunked") == 200)
        #expect(try status("transfer-encoding: Chunked") == 200)
        for encoding in [
            "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: identity, chunked",
            "Transfer-Encoding: chunked, chunked", "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked",
        ] {
            // Of some, what reads HTTP says that they are none.
            #expect(try [400, 501].contains(status(encoding)), "\(encoding)")
        }
        #expect(harness.relay.receipts(of: "phone")?.counts.values.reduce(0, +) == 2)
    }

    @Test func `what is no HTTP is answered with the headers of every answer`() throws {
        let harness = try Harness()
        for text in [
            "GARBAGE\r\n\r\n", "GET / HTTP/9.9\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "a", count: 40_000))\r\n\r\n",
            "POST /owntracks HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        ] {
            let channel = try harness.connect()
            _ = try? harness.send(text, to: channel)
            let answer = try harness.written(channel)
            #expect(answer.hasPrefix("HTTP/1.1 4"), "\(text.prefix(20))")
            for (name, value) in LivePage.headersOfEveryAnswer { #expect(answer.contains("\(name): \(value)\r\n")) }
            #expect(!channel.isActive)
        }
    }

    // MARK: Packed bodies

    private static func gzip(_ text: String, isZlib: Bool = false) -> [UInt8] {
        var stream = unsafe z_stream(), input = Array(text.utf8),
            output = [UInt8](repeating: 0, count: input.count + 1_000)
        // SAFETY: both arrays have as many bytes as zlib is told.
        unsafe input.withUnsafeMutableBufferPointer { input in
            unsafe output.withUnsafeMutableBufferPointer { output in
                _ =
                    unsafe isZlib
                    ? deflateInit_(&stream, 6, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
                    : hereabouts_gzip_init(&stream)
                unsafe (stream.next_in, stream.avail_in) = (input.baseAddress, UInt32(input.count))
                unsafe (stream.next_out, stream.avail_out) = (output.baseAddress, UInt32(output.count))
                _ = unsafe deflate(&stream, Z_FINISH)
                _ = unsafe deflateEnd(&stream)
            }
        }
        return unsafe Array(output.prefix(Int(stream.total_out)))
    }

    @Test func `a body that is packed is read, and one that cannot be is shown to the owner`() throws {
        let harness = try Harness()
        let phone = try harness.token(.device("phone"))
        func post(
            _ encoding: String, _ body: [UInt8], path: String = "/owntracks", token: String? = phone
        ) throws -> (status: Int, body: String) {
            let channel = try harness.connect()
            let authorization = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
            var bytes = ByteBuffer(
                string:
                    "POST \(path) HTTP/1.1\r\nHost: relay\r\n\(authorization)Content-Encoding: \(encoding)\r\nContent-Length: \(body.count)\r\n\r\n"
            )
            bytes.writeBytes(body)
            try channel.writeInbound(bytes)
            let answer = try harness.written(channel)
            return (
                Int(answer.split(separator: " ")[1]) ?? 0,
                answer.range(of: "\r\n\r\n").map { String(answer[$0.upperBound...]) } ?? ""
            )
        }
        func message() -> String {
            harness.pass(1)
            let seconds = harness.clock.now.nanosecondsSince1970 / 1_000_000_000
            return "{\"_type\":\"location\",\"lat\":52.52,\"lon\":13.4,\"tst\":\(seconds)}"
        }
        for (encoding, body) in [
            ("gzip", Self.gzip(message())), ("GZIP", Self.gzip(message())), ("x-gzip", Self.gzip(message())),
            ("deflate", Self.gzip(message(), isZlib: true)), ("identity", Array(message().utf8)),
        ] {
            #expect(try post(encoding, body).status == 200)
        }
        #expect(harness.relay.receipts(of: "phone")?.counts == [.used: 5])
        let cut = Self.gzip(message()).dropLast(5)
        for (encoding, body) in [
            ("br", Self.gzip(message())), ("gzip, gzip", Self.gzip(message())), ("gzip", Array(message().utf8)),
            ("gzip", Array(cut)), ("gzip", []),
        ] {
            #expect(try post(encoding, body).status == 200, "\(encoding)")
        }
        #expect(harness.relay.receipts(of: "phone")?.counts == [.used: 5, .unusable(.encoding): 5])
        // Two megabytes come out at most.
        let large = Self.gzip(String(repeating: " ", count: 3 << 20))
        #expect(large.count < 10_000)
        #expect(try post("gzip", large).status == 200)
        #expect(harness.relay.receipts(of: "phone")?.counts[.overLimit] == 1)
        let told = try post("br", [1], path: "/osmand")
        #expect(told.status == 200 && told.body.hasPrefix("not used: a content encoding"))
        // A stranger's is not unpacked, whatever is in it.
        let form = Self.gzip("id=\(phone)&lat=1&lon=2")
        for token in ["AAAAAAAAAAAAAAAAAAAAAA", nil] {
            #expect(try post("gzip", form, path: "/osmand", token: token).status == 401)
        }
    }

    // MARK: Decisions

    @Test func `a relay of another atlas keeps tokens, grants, requests and paces, and forgets regions`() throws {
        let store = MemoryStore()
        let first = try Harness(store: store)
        let family = try first.token(.consumer("family")), phone = try first.token(.device("phone"))
        try first.grant()
        _ = try first.stream("/v1/devices/phone/updates?purpose=pickup", token: family)
        first.pass(to: 77)
        _ = try first.post(Places.berlin, token: phone)
        first.pass(to: 901)
        #expect(try first.relay.desk.preview(of: "phone", for: "family").location != nil)
        let before = (first.relay.desk.standings.map(\.grants), first.relay.desk.requests)
        first.relay.close()
        let other = try Atlas(bytes: AtlasFixture.small.bytes)
        // The second time the state is of its atlas.
        for seconds in [902.0, 903] {
            let second = try Harness(store: store, at: seconds, atlas: other)
            #expect(second.relay.desk.standings.map(\.grants) == before.0 && second.relay.desk.requests == before.1)
            #expect(before.1.map(\.kind) == [.fullAccuracy(purposeKey: "pickup")])
            let kept = try store.loadDevices()
            #expect(kept.map(\.name) == ["phone"] && kept[0].state.pacer.region == nil)
            #expect(kept[0].state.pacer.tick == moment(900))
            let update = try second.ask("GET", "/v1/devices/phone", token: family)
            #expect(update.status == 200 && update.body.contains("\"locationUnavailable\":true"))
            // Its tick was answered, under another atlas.
            let fix = Fix(coordinate: Places.berlin, time: moment(899))
            let reception = try second.relay.decide { desk, now throws(DeskError) in
                try desk.report(fix, from: "phone", at: now)
            }
            #expect(reception == .late)
            second.relay.close()
        }
    }

    @Test func `what was taken back and could not be kept is paused by a restart`() throws {
        for (decision, pause) in [
            (ControlRequest.revoke(consumer: "family", device: "phone"), nil),
            (.revoke(consumer: "family", device: "phone"), false), (.removeToken(1), nil),
            (.reset(consumer: "family", device: "phone"), true),
        ] as [(ControlRequest, Bool?)] {
            let store = MemoryStore()
            let harness = try Harness(store: store)
            let family = try harness.token(.consumer("family"))
            try harness.grant()
            if let pause { #expect(harness.relay.answer(.pause(isQuiet: pause)) == .done) }
            store.failure = .failed(13)
            guard case .failed(let sentence) = harness.relay.answer(decision) else {
                Issue.record("it could be kept")
                continue
            }
            #expect(sentence.contains("could not be kept") && sentence.contains("a restart begins paused"))
            // The relay ends, and the disk has room again.
            let after = MemoryStore()
            after.content = store.content
            let restarted = try Harness(store: after)
            #expect(restarted.relay.hasBegunPaused)
            #expect(restarted.relay.desk.pauseMode == (pause == false ? .told : .quiet))
            let update = try restarted.ask("GET", "/v1/devices/phone", token: family)
            #expect(update.status == 401 || update.body.contains("\"geometry\":null"))
            // Once: the pause is the owner's to end.
            let again = MemoryStore()
            again.content = after.content
            #expect(try !Harness(store: again).relay.hasBegunPaused)
            // Where there is room before that, it is kept, and nothing is paused.
            store.failure = nil
            harness.pass(2)
            let whole = MemoryStore()
            whole.content = store.content
            let kept = try Harness(store: whole)
            #expect(!kept.relay.hasBegunPaused && kept.relay.desk.pauseMode == pause.map { $0 ? .quiet : .told })
            if case .removeToken = decision {
                #expect(whole.content.tokens.isEmpty)
            } else {
                #expect(kept.relay.desk.standings.allSatisfy { $0.grants.isEmpty })
            }
        }
    }

    @Test func `where it cannot be said that a decision is under way, all is paused and nothing decided`() throws {
        let harness = try Harness()
        let phone = try harness.token(.device("phone")), family = try harness.token(.consumer("family"))
        try harness.grant()
        let stream = try harness.stream("/v1/devices/phone/updates", token: family)
        _ = try harness.post(Places.berlin, token: phone)
        harness.store.markFailure = .failed(10)
        guard case .failed(let sentence) = harness.relay.answer(.revoke(consumer: "family", device: "phone")) else {
            Issue.record("it was decided")
            return
        }
        #expect(sentence.hasPrefix("nothing was changed, and everything is paused now"))
        #expect(harness.relay.desk.isPaused && harness.relay.desk.standings.contains { !$0.grants.isEmpty })
        harness.pass(to: 2000)
        #expect(try !harness.written(stream).contains("\"country\":"))
        #expect(harness.store.content.mark == nil)
        harness.store.markFailure = nil
        #expect(harness.relay.answer(.resume) == .done && harness.relay.desk.pauseMode == nil)
    }

    // MARK: Clocks

    @Test func `a relay goes on after a clock that was a year ahead, for streams and the owner's page too`() throws {
        let harness = try Harness()
        let phone = try harness.token(.device("phone")), family = try harness.token(.consumer("family"))
        let owner = try harness.token(.owner)
        try harness.grant()
        var steps = 0
        harness.relay.onClockStep = { steps += 1 }
        let stream = try harness.stream("/v1/devices/phone/updates?accuracy=reduced", token: family)
        let page = try harness.stream("/v1/owner/updates", token: owner)
        _ = try harness.post(Places.berlin, token: phone)
        harness.pass(to: 901)
        #expect(try harness.written(stream).contains("\"country\":\"DE\""))
        let real = harness.clock.now
        harness.clock.now = real.advanced(by: 365 * 86_400 * 1_000_000_000)
        harness.loop.advanceTime(by: .seconds(2))
        _ = try harness.post(Places.berlin, token: phone)
        let made = try harness.relay.addToken(.owner, for: 3_600).text
        harness.clock.now = real.advanced(by: 2_000_000_000)
        harness.loop.advanceTime(by: .seconds(2))
        #expect(try harness.post(Places.juarez, token: phone).status == 200)
        #expect(steps == 1)
        // A token of the time to come would hold for a year.
        harness.pass(1)
        #expect(try harness.ask("GET", "/v1/devices", token: made).status == 401)
        _ = try (harness.written(stream), harness.written(page))
        // The tick that the clock had passed is over, and the one after it is answered.
        for second in stride(from: 1_200.0, through: 2_700, by: 300) {
            harness.pass(to: second)
            _ = try harness.post(Places.juarez, token: phone)
        }
        harness.pass(to: 2_702)
        let written = try harness.written(stream)
        #expect(written.contains("\"country\":\"MX\"") && written.contains("200\r\n"))
        #expect(try harness.written(page).contains("\"country\":\"MX\""))
        let store = MemoryStore()
        store.content = harness.store.content
        #expect(try Harness(store: store, at: 2_703).relay.desk.lastTick == moment(2_700))
    }

    // MARK: What is told of devices

    @Test func `a consumer is told of the devices that it may have or has asked for`() throws {
        let harness = try Harness()
        let family = try harness.token(.consumer("family")), owner = try harness.token(.owner)
        func names(_ token: String) throws -> [String] {
            let body = try harness.ask("GET", "/v1/devices", token: token).body
            return ["phone", "tablet"].filter { body.contains("\"name\":\"\($0)\"") }
        }
        #expect(try names(family) == [] && names(owner) == ["phone", "tablet"])
        let stream = try harness.stream("/v1/devices/tablet/updates", token: family)
        #expect(try names(family) == ["tablet"])
        try harness.grant()
        #expect(try names(family) == ["phone", "tablet"])
        try stream.close().wait()
        var configuration = Harness.configuration
        configuration.devices = [RelayConfiguration.Device("phone")]
        let single = try Harness(configuration)
        #expect(try single.ask("GET", "/v1/devices", token: single.token(.consumer("family"))).body.contains("phone"))
    }
}
