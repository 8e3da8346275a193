import Foundation
import Hereabouts
import HereaboutsLive
import Testing

/// The article quotes a file that is compiled and run here, and the table of features names tests that there are.
@Suite(.endsAtAll) struct LiveDocumentationTests {
    private static let project = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Self.project.appendingPathComponent(path), encoding: .utf8)
    }

    @Test func `the article quotes the compiled example`() throws {
        let article = try text("Sources/HereaboutsLive/HereaboutsLive.docc/FromCoreLocation.md")
        let block = article.components(separatedBy: "```swift\n")[1].components(separatedBy: "```")[0]
        #expect(try block == text("Tests/HereaboutsLiveTests/Examples/CoreLocationExample.swift"))
    }

    @Test func `the table of features names tests that there are`() throws {
        let section = try #require(text("docs/ARCHITECTURE.md").components(separatedBy: "### Live location\n").last)
            .components(separatedBy: "\n### ")[0]
        let tests = try ["HereaboutsLiveTests", "RelayTests"].flatMap { target in
            let folder = Self.project.appendingPathComponent("Tests/\(target)").path
            return try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".swift") }
                .map { try text("Tests/\(target)/\($0)") }
        }.joined()
        let rows = section.components(separatedBy: "\n").filter { $0.hasPrefix("| ") }.dropFirst()
        var count = 0
        for row in rows {
            let names = row.components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
                .filter { $0.contains(" ") }
            #expect(!names.isEmpty, "\(row)")
            for name in names {
                #expect(tests.contains("func `\(name)`"), "\(name)")
                count += 1
            }
        }
        #expect(count >= 30)
    }

    @Test func `the example runs`() async throws {
        let clock = TestClock()
        let service = try LocationService(atlas: World.atlas.get(), clock: clock)
        try await setUp(service)
        clock.now = moment(890)
        try await service.report(fix(World.center(8), 890), from: "phone")
        #expect(try await meetUp(service)?.coordinate == World.center(8))
        clock.now = moment(900)
        try await service.catchUp()
        #expect(try await arrival(in: "BB", service) == moment(900))
        clock.now = moment(2_700)
        var seen: [LocationUpdate] = []
        try await follow(service) { seen.append($0) }
        #expect(seen.count == 1 && seen[0].stationary && seen[0].place == 8)
        try await service.addConsumer(Consumer("page"))
        let session = try await service.session(of: "phone", for: "page", authorization: .whenInUse)
        try await decide(service)
        #expect(try await decision(session) == [])
    }
}
