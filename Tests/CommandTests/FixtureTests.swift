import AtlasFixture
import CommandSupport
import Foundation
import Testing

private let folder = projectFolder.appendingPathComponent("Tests/Fixtures")

/// The stored fixtures are what the code that makes them writes. `make fixtures` writes them anew.
@Suite(.serialized) struct FixtureFileTests {
    private static let files: [(name: String, bytes: [UInt8])] =
        [("sound.atlas", HostileFiles.sound.bytes)]
        + HostileFiles.atlases.map { ("\($0.name).atlas.patch", Array(HostileFiles.patch($0.bytes).utf8)) }
        + HostileFiles.states.map { ("\($0.name).state", $0.bytes) }

    @Test func `the stored files are those that are made`() throws {
        let isWriting = ProcessInfo.processInfo.environment["HEREABOUTS_WRITE_FIXTURES"] != nil
        for (name, bytes) in Self.files {
            let file = folder.appendingPathComponent(name)
            if isWriting { try Data(bytes).write(to: file) }
            #expect(try Array(Data(contentsOf: file)) == bytes, "\(name) differs; see make fixtures")
        }
        let stored = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(Set(stored) == Set(Self.files.map(\.name) + ["README.md"]))
    }
}

/// What the command says to each stored atlas and state, by the tables of Tests/Fixtures/README.md.
@Suite(.serialized) struct FixtureTests {
    let place = Workplace()

    /// A row: the file's name and what the command says to it.
    private static func rows(_ ending: String) throws -> [(name: String, message: String)] {
        let text = try String(contentsOf: folder.appendingPathComponent("README.md"), encoding: .utf8)
        return text.split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 5, cells[1].hasPrefix("`"), cells[1].hasSuffix(ending + "`") else { return nil }
            return (cells[1].trimmingCharacters(in: ["`"]), cells[3])
        }
    }

    private func stored(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: folder.appendingPathComponent(name)))
    }

    @Test func `every atlas gives its error`() throws {
        let sound = try stored("sound.atlas")
        place.write(sound, as: "sound.atlas")
        let answer = try place.hereabouts("snap", "--atlas", "sound.atlas", "31.76", "-106.49")
        #expect(answer.status == 0 && answer.output.hasSuffix(",AA,Alpha\n"))
        #expect(
            try place.hereabouts("atlas", "info", "--json", "sound.atlas").output
                == "{\"builder\":\"fixture\",\"sources\":[]}\n")
        let rows = try Self.rows(".atlas.patch")
        #expect(Set(rows.map(\.name)) == Set(HostileFiles.atlases.map { "\($0.name).atlas.patch" }))
        for (name, message) in rows {
            let patch = String(decoding: try stored(name), as: UTF8.self)
            let bytes = try #require(HostileFiles.applied(patch, to: sound), "\(name) is no patch")
            place.write(bytes, as: "hostile.atlas")
            let expected = "hereabouts: hostile.atlas \(message)\n"
            let whole = try place.hereabouts("atlas", "info", "--json", "hostile.atlas")
            #expect(
                whole.status == 2 && whole.output.isEmpty && whole.complaints == expected, "\(name): \(whole.errors)")
            // Read in parts, what is wrong elsewhere does not show, and must not change the answer.
            let parts = try place.hereabouts("snap", "--atlas", "hostile.atlas", "31.76", "-106.49")
            // The header may be out before the first position is looked up.
            let isUnanswered = parts.output.split(separator: "\n").count <= 1 && answer.output.hasPrefix(parts.output)
            let isRefused = parts.status == 2 && isUnanswered && parts.complaints == expected
            #expect(isRefused || parts.status == 0 && parts.output == answer.output, "\(name): \(parts)")
        }
    }

    @Test func `every state gives its error`() throws {
        place.write(try stored("sound.atlas"), as: "sound.atlas")
        place.write(
            "id,time,lat,lon\na,2026-03-01T08:00:00Z,-33.92,18.42\na,2026-03-01T08:05:00Z,-33.92,18.42\n",
            as: "table.csv")
        let rows = try Self.rows(".state")
        #expect(Set(rows.map(\.name)) == Set(HostileFiles.states.map { "\($0.name).state" }))
        for (name, message) in rows {
            let bytes = try stored(name)
            place.write(bytes, as: "pace")
            let result = try place.hereabouts(
                "convert", "--to", "csv", "--atlas", "sound.atlas", "--state", "pace", "table.csv")
            if message == "accepted" {
                // A fix of the tick that was answered is late. There is the next tick's answer, and before it perhaps the
                // last one once more.
                let rows = result.output.split(separator: "\n").dropFirst()
                let isPaced = rows.last?.contains("T08:15:00Z") == true && rows.dropLast().count <= 1
                let isQuiet = rows.dropLast().allSatisfy { $0.contains("T08:00:00Z") && $0.hasSuffix("Alpha") }
                let late = "hereabouts: table.csv: 1 late or repeated fixes changed nothing\n"
                #expect(result.status == 0 && result.complaints == late && isPaced && isQuiet, "\(name): \(result)")
            } else {
                let expected = "hereabouts: pace: \(message)\n"
                #expect(result.status == 2 && result.output.isEmpty, "\(name): \(result)")
                #expect(
                    result.errors.replacingOccurrences(of: place.folder.path + "/", with: "") == expected, "\(name)")
                #expect(try Array(Data(contentsOf: place.folder.appendingPathComponent("pace"))) == bytes, "\(name)")
            }
        }
    }
}
