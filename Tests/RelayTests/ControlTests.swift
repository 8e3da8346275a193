import FixedRandom
import Foundation
import Hereabouts
import HereaboutsLive
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import Relay

@Suite("The owner's verbs") struct ControlTests {
    private let harness: Harness

    init() throws { harness = try Harness() }

    private func ask(_ request: ControlRequest) -> ControlAnswer {
        let answer = harness.relay.answer(request)
        harness.loop.run()
        return answer
    }

    private func grant(_ change: (inout ControlRequest.Grant) -> Void = { _ in }) -> ControlAnswer {
        var grant = ControlRequest.Grant(consumer: "family", device: "phone")
        change(&grant)
        return ask(.grant(grant))
    }

    private func standing(_ consumer: String) -> ControlAnswer.Standing? {
        guard case .consumers(let standings, _, _) = ask(.consumers) else { return nil }
        return standings.first { $0.consumer == consumer }
    }

    private var requests: [ControlAnswer.PendingRequest] {
        if case .requests(let requests) = ask(.requests) { requests } else { [] }
    }

    @Test func `a grant holds, is kept and is listed, until it is revoked`() throws {
        #expect(standing("family")?.device == nil && standing("family")?.status == "notDetermined")
        func awaitsReport(_ answer: ControlAnswer) throws -> Bool {
            guard case .granted(let standing, _, let links, let awaits, isPaused: false) = answer else {
                throw Unexpected()
            }
            #expect(standing == self.standing("family") && links == ["link"])
            return awaits
        }
        #expect(try awaitsReport(grant { $0.validity = .duration(seconds: 90) }))
        #expect(
            try awaitsReport(
                grant {
                    ($0.purpose, $0.isAlways, $0.hasExactVisitTimes) = ("pickup", true, true)
                }))
        let family = try #require(standing("family"))
        #expect(family.status == "authorizedAlways" && family.accuracy == "full" && family.device == "phone")
        #expect(family.grants.map(\.purpose) == [nil, "pickup"])
        #expect(family.grants.map(\.until) == ["2026-09-21T14:16:30+00:00", nil])
        #expect(family.grants.map(\.isAlways) == [false, true])
        #expect(family.grants.map(\.hasExactVisitTimes) == [false, true])
        let link = try #require(standing("link"))
        #expect(link.linkOf == "family" && link.accuracy == "reduced" && link.status == "authorizedWhenInUse")
        #expect(harness.store.content.decisions != nil)
        // Once the phone has reported, nothing needs to be said, until a view begins anew.
        let phone = try harness.token(.device("phone"))
        harness.pass(10)
        _ = try harness.post(Places.berlin, token: phone)
        #expect(try !awaitsReport(grant { $0.validity = .duration(seconds: 80) }))
        harness.pass(to: 901)
        #expect(try !awaitsReport(grant { $0.validity = .duration(seconds: 90) }))
        // What it takes the place of has ended by it.
        guard case .granted(_, let ended, _, _, _) = grant({ $0.validity = .duration(seconds: 50) }) else {
            throw Unexpected()
        }
        #expect(ended.map(\.until) == ["2026-09-21T14:31:31+00:00"])
        #expect(ask(.revoke(consumer: "family", device: "phone")) == .done)
        #expect(try awaitsReport(grant { $0.validity = .duration(seconds: 90) }))
        #expect(ask(.revoke(consumer: "family", device: "phone")) == .done)
        #expect(standing("family")?.status == "denied" && standing("family")?.grants == [])
        #expect(ask(.reset(consumer: "family", device: "phone")) == .done)
        #expect(standing("family")?.status == "notDetermined")
    }

    @Test func `who was served, and who is in use`() throws {
        let read = try harness.token(.consumer("family")), send = try harness.token(.device("phone"))
        _ = grant()
        #expect(standing("family")?.isInUse == false && standing("family")?.lastServed == nil)
        let stream = try harness.stream("/v1/devices/phone/updates", token: read)
        #expect(try harness.post(Places.elPaso, token: send).status == 200)
        harness.pass(to: 900)
        #expect(try harness.written(stream).contains("geometry"))
        let family = try #require(standing("family"))
        #expect(family.isInUse && family.lastServed == "2026-09-21T14:30:00+00:00")
    }

    @Test func `requests are accepted and declined by ids that stay`() throws {
        let read = try harness.token(.consumer("family"))
        _ = try harness.stream("/v1/devices/phone/updates", token: read)
        _ = try harness.stream("/v1/devices/tablet/updates?purpose=pickup", token: read)
        let first = try #require(requests.first { $0.device == "phone" })
        #expect(first.kind == "whenInUse" && first.purpose == nil && first.consumer == "family")
        #expect(first.time == "2026-09-21T14:15:00+00:00")
        #expect(first.id.count == 6 && requests.contains(first))
        #expect(Set(requests.map(\.id)).count == requests.count)
        let second = try #require(requests.first { $0.device == "tablet" })
        guard
            case .granted(let accepted, _, _, awaitsReport: true, _) = ask(
                .accept(id: first.id, validity: .session(seconds: 9)))
        else { throw Unexpected() }
        #expect(accepted.device == "phone" && accepted.grants.map(\.until) == ["2026-09-21T14:15:09+00:00"])
        #expect(standing("family")?.grants.first?.isForSession == true)
        #expect(!requests.contains(first))
        #expect(ask(.accept(id: first.id, validity: .untilRevoked)) != .done)
        #expect(ask(.decline(id: second.id)) == .done)
        #expect(ask(.decline(id: "")) != .done)
        _ = grant { $0.device = "tablet" }
        let purpose = try #require(requests.first { $0.kind == "fullAccuracy" })
        #expect(purpose.purpose == "pickup" && purpose.reason == "Fetching you from the station")
    }

    @Test func `pause and resume`() throws {
        let steps: [(ControlRequest, isPaused: Bool, isQuiet: Bool)] = [
            (.pause(isQuiet: false), true, false), (.pause(isQuiet: false), true, false),
            (.pause(isQuiet: true), true, true), (.resume, false, false), (.pause(isQuiet: true), true, true),
            (.pause(isQuiet: false), true, false), (.resume, false, false),
        ]
        for step in steps {
            #expect(ask(step.0) == .done)
            guard case .consumers(_, let isPaused, let isQuiet) = ask(.consumers) else {
                Issue.record("no consumers")
                continue
            }
            #expect(isPaused == step.isPaused && isQuiet == step.isQuiet)
        }
    }

    @Test func `tokens are made, listed and removed, and shown once`() throws {
        guard case .token(let id, let token) = ask(.addToken(.device("phone"), seconds: nil)) else {
            Issue.record("no token")
            return
        }
        #expect(harness.relay.tokens.holder(of: token.text.utf8) == .device("phone"))
        guard case .token = ask(.addToken(.consumer("family"), seconds: nil)),
            case .token = ask(.addToken(.owner, seconds: nil)),
            case .tokens(let entries) = ask(.tokens)
        else {
            Issue.record("no tokens")
            return
        }
        #expect(entries.map(\.kind) == ["send", "read", "owner"])
        #expect(entries.map(\.name) == ["phone", "family", nil])
        #expect(
            !"\(ask(.addToken(.owner, seconds: nil)))".contains(token.text) && !"\(ask(.tokens))".contains(token.text))
        #expect(ask(.removeToken(id)) == .done)
        #expect(harness.relay.tokens.holder(of: token.text.utf8) == nil)
        #expect(ask(.removeToken(id)) == .failed("there is no token \(id)"))
    }

    @Test func `what cannot be done is said in a sentence`() {
        for (answer, words) in [
            (grant { $0.consumer = "famly" }, "no consumer 'famly'; is 'family' meant?"),
            (grant { $0.device = "phon" }, "no device 'phon'; is 'phone' meant?"),
            (grant { $0.consumer = "link" }, "'link' is a read-only link: it has what 'family' is granted"),
            (grant { $0.purpose = "pikcup" }, "no purpose 'pikcup' in its table; there is 'pickup'"),
            (grant { ($0.consumer, $0.purpose) = ("anna", "x") }, "which is empty"),
            (grant { $0.validity = .duration(seconds: 0) }, "the validity ends before it begins"),
            (grant { ($0.isAlways, $0.validity) = (true, .session(seconds: 3600)) }, "never for always"),
            (grant { $0.validity = .untilTime(hour: 24, minute: 0) }, "no such day or time"),
            (
                grant { $0.validity = .untilDate(year: 2026, month: 2, day: 30, hour: 1, minute: 0) },
                "no such day or time"
            ),
            (
                grant { $0.validity = .untilDate(year: 2020, month: 1, day: 1, hour: 1, minute: 0) },
                "ends before it begins"
            ),
            (ask(.revoke(consumer: "", device: "phone")), "no consumer ''"),
            (ask(.reset(consumer: "family", device: "x")), "no device 'x'"),
            (ask(.addToken(.device("family"), seconds: nil)), "no device 'family'"),
            (ask(.addToken(.consumer("x"), seconds: nil)), "no consumer 'x'"),
        ] {
            guard case .failed(let sentence) = answer else {
                Issue.record("\(words): \(answer)")
                continue
            }
            #expect(sentence.contains(words), "\(sentence)")
        }
        #expect(requests.isEmpty && standing("family")?.grants == [])
    }

    @Test func `a decision that cannot be kept says so`() {
        harness.store.failure = .failed(13)
        guard case .failed(let sentence) = grant() else {
            Issue.record("done, and not kept")
            return
        }
        #expect(sentence.hasPrefix("it holds, but could not be kept: the state SQLite"))
    }

    @Test func `validities are in the owner's zone`() throws {
        // 2026-09-21 14:15 UTC is 16:15 in Berlin.
        let berlin = try #require(OwnerZone("Europe/Berlin"))
        #expect(berlin.validity(.untilMorning, at: moment(0)) == .untilMorning(secondsFromGMT: 7200))
        #expect(berlin.validity(.untilTime(hour: 18, minute: 0), at: moment(0)) == .until(moment(105 * 60)))
        #expect(berlin.validity(.untilTime(hour: 16, minute: 0), at: moment(0)) == .until(moment(86_400 - 900)))
        #expect(
            berlin.validity(.untilDate(year: 2026, month: 9, day: 21, hour: 16, minute: 16), at: moment(0))
                == .until(moment(60)))
        #expect(berlin.validity(.duration(seconds: 5), at: moment(0)) == .duration(.seconds(5)))
        #expect(berlin.validity(.session(seconds: 5), at: moment(0)) == .sessionWithin(.seconds(5)))
        #expect(berlin.validity(.untilRevoked, at: moment(0)) == .untilRevoked)
    }
}

/// An answer of another kind than was expected.
private struct Unexpected: Error {}

/// The socket with a handler that notes what comes.
private final class OwnerSocket: Sendable {
    let path: String
    private let folder: String
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let server: NIOLoopBound<ControlServer>

    init() throws {
        folder = NSTemporaryDirectory() + "control-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let path = folder + "/control.sock"
        self.path = path
        let loop = group.next()
        let noted = Noted()
        server = try loop.submit {
            let server = try ControlServer(path: path, on: loop) { request in
                noted.requests.withLock { $0.append(request) }
                return request == .tokens ? .failed("no ‘tokens’\nhere") : .done
            }
            return NIOLoopBound(server, eventLoop: loop)
        }.wait()
        self.noted = noted
        try loop.flatSubmit { [server] in server.value.start() }.wait()
    }

    private final class Noted: Sendable { let requests = Mutex<[ControlRequest]>([]) }
    private let noted: Noted

    var requests: [ControlRequest] { noted.requests.withLock { $0 } }

    func stop() throws { try group.next().flatSubmit { [server] in server.value.stop() }.wait() }

    func end() throws {
        try stop()
        try group.syncShutdownGracefully()
        try FileManager.default.removeItem(atPath: folder)
    }

    /// A connection that sends and receives bytes.
    func connect() throws -> FileHandle {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: Array(path.utf8)) }
        let status = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(status == 0)
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }
}

@Suite("The owner's socket", .serialized) struct ControlSocketTests {
    private func withSocket(_ body: (OwnerSocket) throws -> Void) throws {
        let socket = try OwnerSocket()
        do {
            try body(socket)
        } catch {
            try? socket.end()
            throw error
        }
        try socket.end()
    }

    /// What comes until the other side closes; empty where it does at once.
    private func rest(_ handle: FileHandle) -> String {
        String(decoding: (try? handle.readToEnd()) ?? Data(), as: UTF8.self)
    }

    @Test func `requests and answers come through as they are`() throws {
        try withSocket { socket in
            var grant = ControlRequest.Grant(consumer: "fa\"mily", device: "phöne")
            (grant.purpose, grant.isAlways) = ("pick\nup", true)
            grant.validity = .untilDate(year: 2026, month: 12, day: 1, hour: 18, minute: 0)
            let requests: [ControlRequest] = [
                .grant(grant), .revoke(consumer: "a", device: "b"), .reset(consumer: "a", device: "b"),
                .accept(id: "x", validity: .duration(seconds: 7)), .accept(id: "x", validity: .untilMorning),
                .decline(id: "y"), .requests, .consumers, .pause(isQuiet: true), .resume,
                .addToken(.device("a"), seconds: nil),
                .addToken(.consumer("b"), seconds: nil), .addToken(.owner, seconds: nil), .removeToken(7),
            ]
            for request in requests {
                let answer = try ControlClient.ask(request, at: socket.path)
                #expect(answer == .done)
            }
            #expect(socket.requests == requests)
            #expect(try ControlClient.ask(.tokens, at: socket.path) == .failed("no ‘tokens’\nhere"))
        }
    }

    @Test func `every answer comes through as it is`() throws {
        let standing = ControlAnswer.Standing(
            consumer: "a", title: "A", linkOf: "b", device: "c", status: "denied", accuracy: "full",
            grants: [
                .init(
                    purpose: "p", isAlways: true, given: "s", until: "t", isForSession: true, hasExactVisitTimes: true)
            ],
            isInUse: true, isInBackground: true, lastServed: "t")
        let token = Token()
        let answers: [ControlAnswer] = [
            .done, .granted(standing, ended: standing.grants, links: ["l"], awaitsReport: true, isPaused: true),
            .failed("x"),
            .devices(
                [
                    .init(
                        device: "a", title: "A", last: .init(time: "t", program: .overland, outcome: "used"),
                        lastUsed: "t",
                        counts: ["used": 1], phone: "aa", otherPhone: "bb")
                ], unauthorized: 2), .consumers([standing], isPaused: true, isQuiet: true),
            .token(id: 4, token: token), .tokens([.init(id: 1, kind: "owner")]),
            .requests([.init(id: "i", consumer: "a", device: "b", kind: "always", time: "t")]),
        ]
        for answer in answers {
            let bytes = try JSONEncoder().encode(answer)
            #expect(!bytes.contains(10))
            #expect(try JSONDecoder().decode(ControlAnswer.self, from: bytes) == answer)
            #expect(!"\(answer)".contains(token.text))
        }
    }

    @Test func `it is its owner's alone, and gone with its run`() throws {
        try withSocket { socket in
            let attributes = try FileManager.default.attributesOfItem(atPath: socket.path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            try socket.stop()
            #expect(!FileManager.default.fileExists(atPath: socket.path))
            #expect(throws: ControlClient.Failure.notRunning) {
                try ControlClient.ask(.pause(isQuiet: true), at: socket.path)
            }
        }
    }

    @Test func `one that a dead run left is replaced, a living one is not`() throws {
        try withSocket { socket in
            let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
            defer { try? group.syncShutdownGracefully() }
            let loop = group.next(), path = socket.path
            #expect(throws: UnixSocket.Failure.inUse) {
                try loop.submit { _ = try ControlServer(path: path, on: loop) { _ in .done } }.wait()
            }
            #expect(try ControlClient.ask(.pause(isQuiet: true), at: path) == .done)
            // A name that nobody listens at.
            let other = path + "2"
            let dead = DeadSocket.bound(other)
            close(dead)
            #expect(throws: ControlClient.Failure.notRunning) {
                try ControlClient.ask(.pause(isQuiet: true), at: other)
            }
            try loop.flatSubmit {
                do {
                    let server = try ControlServer(path: other, on: loop) { _ in .failed("new") }
                    return server.start()
                } catch {
                    return loop.makeFailedFuture(error)
                }
            }.wait()
            #expect(try ControlClient.ask(.pause(isQuiet: true), at: other) == .failed("new"))
        }
    }

    @Test func `hostile connections are closed and harm nobody`() throws {
        try withSocket { socket in
            var random = SplitMix64(seed: 3)
            // No request: a sentence.
            for text in [
                "", "{}", "null", "[]", "\"pause\"", "{\"pause\":{},\"resume\":{}}", "{\"nonsense\":{}}", "\u{0}",
            ] {
                let handle = try socket.connect()
                try handle.write(contentsOf: Data((text + "\n").utf8))
                #expect(rest(handle).hasPrefix("{\"failed\":"), "\(text)")
            }
            // Too long: no answer.
            let long = try socket.connect()
            let chunk = Data(repeating: 0x20, count: 32 << 10)
            for _ in 0..<3 { try? long.write(contentsOf: chunk) }
            #expect(rest(long) == "")
            // Closed before its end: no answer.
            let half = try socket.connect()
            try half.write(contentsOf: Data("{\"pause\":".utf8))
            shutdown(half.fileDescriptor, Int32(SHUT_WR))
            #expect(rest(half) == "")
            for _ in 0..<50 {
                let handle = try socket.connect()
                let bytes = (0..<Int.random(in: 0..<200, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                try? handle.write(contentsOf: Data(bytes + [10]))
                _ = rest(handle)
            }
            #expect(socket.requests.isEmpty)
            // Byte by byte, and a second request that nobody answers.
            let slow = try socket.connect()
            for byte in "{\"pause\":{\"isQuiet\":true}}\n{\"resume\":{}}\n".utf8 {
                try? slow.write(contentsOf: Data([byte]))
            }
            #expect(rest(slow) == "{\"done\":{}}\n")
            #expect(socket.requests == [.pause(isQuiet: true)])
        }
    }

    @Test func `there are so many connections, and room again when some close`() throws {
        try withSocket { socket in
            let idle = try (0..<ControlServer.Limits.connections).map { _ in try socket.connect() }
            // The relay takes connections in order.
            #expect(throws: ControlClient.Failure.noAnswer) {
                try ControlClient.ask(.pause(isQuiet: true), at: socket.path)
            }
            for connection in idle { try connection.close() }
            var answer: ControlAnswer?
            for _ in 0..<200 where answer == nil {
                answer = try? ControlClient.ask(.pause(isQuiet: true), at: socket.path)
                if answer == nil { usleep(20_000) }
            }
            #expect(answer == .done)
        }
    }

    @Test func `paths that cannot be`() {
        #expect(throws: ControlClient.Failure.notRunning) {
            try ControlClient.ask(.pause(isQuiet: true), at: "/nonexistent/x")
        }
        #expect(throws: ControlClient.Failure.invalidPath) { try ControlClient.ask(.pause(isQuiet: true), at: "") }
        #expect(throws: ControlClient.Failure.invalidPath) {
            try ControlClient.ask(.pause(isQuiet: true), at: "/" + String(repeating: "a", count: 200))
        }
    }
}

/// A socket that is bound to a name, as a process that was killed leaves it.
private enum DeadSocket {
    static func bound(_ path: String) -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: Array(path.utf8)) }
        _ = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        return descriptor
    }
}
