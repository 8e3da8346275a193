import Foundation
import Hereabouts
import Testing

@testable import HereaboutsLive
@testable import Relay

/// Requests as programs send them: `Tests/Live/senders/`.
@Suite("Senders' requests") struct SenderTests {
    struct Fixture: Sendable, CustomTestStringConvertible {
        let name: String
        let method, target, token, comesTo: String
        let userAgent, time, shownAs: String?
        let body: String
        var testDescription: String { name }

        init(_ file: URL) throws {
            let json = try JSONSerialization.jsonObject(with: Data(contentsOf: file))
            guard let members = json as? [String: Any] else { throw CocoaError(.fileReadCorruptFile) }
            func text(_ member: String) -> String? { members[member] as? String }
            name = file.deletingPathExtension().lastPathComponent
            method = try #require(text("method"))
            target = try #require(text("target"))
            token = try #require(text("token"))
            comesTo = try #require(text("comesTo"))
            (userAgent, time, shownAs) = (text("userAgent"), text("time"), text("shownAs"))
            if let json = members["json"] {
                body = String(decoding: try JSONSerialization.data(withJSONObject: json), as: UTF8.self)
            } else {
                body = text("body") ?? ""
            }
        }

        static let all: [Fixture] = {
            let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .appendingPathComponent("Live/senders")
            let files =
                (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
            let fixtures = files.filter { $0.pathExtension == "json" }.compactMap { try? Fixture($0) }
            return fixtures.sorted { $0.name < $1.name }
        }()
    }

    @Test func `there are all of them`() { #expect(Fixture.all.count == 40) }

    @Test(arguments: Fixture.all)
    func `each gives its position and time, or its reason`(_ fixture: Fixture) throws {
        let harness = try Harness()
        let send = try harness.token(.device("phone")), read = try harness.token(.consumer("family"))
        // The owner granted before the position of a ping was fixed.
        try harness.grant(.fullAccuracy("pickup", validity: .untilRevoked))
        harness.pass(to: 300)
        var headers = fixture.userAgent.map { ["User-Agent: \($0)"] } ?? []
        if fixture.token == "basic" {
            headers.append("Authorization: Basic \(Data("phone:\(send)".utf8).base64EncodedString())")
        }
        let answer = try harness.ask(
            fixture.method, fixture.target.replacing("TOKEN", with: send),
            token: fixture.token == "bearer" ? send : nil,
            headers: headers, body: fixture.body.replacing("TOKEN", with: send))
        #expect(answer.status == 200)
        let receipts = try #require(harness.relay.receipts(of: "phone"))
        #expect(receipts.last?.outcome.words == fixture.comesTo)
        #expect(receipts.last?.program.rawValue == fixture.shownAs ?? "another program")
        let isUsed = fixture.comesTo == "used"
        if fixture.target.hasPrefix("/osmand") {
            // What depends on what is known is not told.
            let isTold = !isUsed && !fixture.comesTo.hasPrefix("older")
            #expect(answer.body == (isTold ? "not used: \(fixture.comesTo)\n" : ""))
        }
        #expect(!answer.body.contains("52."))
        // Reduced consumers have it at the tick, exact ones with the time that it was fixed at.
        harness.pass(to: 900)
        let feature = try harness.ask("GET", "/v1/devices/phone?accuracy=reduced", token: read).body
        #expect(feature.contains("\"country\":\"DE\"") == isUsed)
        guard isUsed else { return }
        let index = try #require(harness.relay.desk.deviceIndex("phone"))
        let fix = try #require(harness.relay.desk.devices.fix(index))
        #expect(fix.coordinate == Places.berlin)
        #expect(fix.horizontalAccuracy == (fixture.name.hasPrefix("the-things") ? nil : 12))
        let seconds = try #require(fixture.time.flatMap { Self.seconds($0) })
        #expect(abs(Double(fix.time.nanosecondsSince1970) / 1e9 - seconds) < 0.001)
    }

    private static func seconds(_ text: String) -> Double? {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: text.contains("."))
        return (try? style.parse(text))?.timeIntervalSince1970
    }
}
