import Foundation
import Testing

/// The command's outputs against the files of Tests/Goldens, byte for byte. `make goldens` writes them anew.
@Suite(.serialized) struct GoldenTests {
    private static let folder = projectFolder.appendingPathComponent("Tests/Goldens")
    private static let isWriting = ProcessInfo.processInfo.environment["HEREABOUTS_WRITE_GOLDENS"] != nil

    struct Golden: CustomTestStringConvertible {
        var name: String
        var command: String
        var testDescription: String { name }
    }

    private static let goldens: [Golden] = {
        let text = try? String(contentsOf: folder.appendingPathComponent("commands.txt"), encoding: .utf8)
        return (text ?? "").split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
            let name = line.prefix { $0 != " " }
            return Golden(
                name: String(name), command: line.dropFirst(name.count).trimmingCharacters(in: .whitespaces))
        }
    }()

    @Test(arguments: Self.goldens) func theOutputIsAsItWas(_ golden: Golden) throws {
        let place = Workplace()
        for (link, target) in [("inputs", "Tests/Goldens/inputs"), ("samples", "data/samples")] {
            try FileManager.default.createSymbolicLink(
                at: place.folder.appendingPathComponent(link),
                withDestinationURL: projectFolder.appendingPathComponent(target))
        }
        // The atlas by a relative name, since messages repeat it; the width that help is wrapped at.
        try FileManager.default.createSymbolicLink(
            atPath: place.path("world.atlas"), withDestinationPath: atlasPath)
        let result = try place.run(
            URL(fileURLWithPath: "/bin/sh"), ["-c", golden.command],
            environment: ["HEREABOUTS_ATLAS": "world.atlas", "COLUMNS": "80", "LC_ALL": "C"])
        var output = result.output
        if result.status != 0 || !result.errors.isEmpty {
            output += "--- standard error\n\(result.errors)--- exit status \(result.status)\n"
        }
        let file = Self.folder.appendingPathComponent(golden.name)
        if Self.isWriting {
            try Data(output.utf8).write(to: file)
            return
        }
        let expected = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        let lines = output.split(separator: "\n", omittingEmptySubsequences: false)
        let expectedLines = expected.split(separator: "\n", omittingEmptySubsequences: false)
        let first = zip(lines, expectedLines).enumerated().first { $0.element.0 != $0.element.1 }
        #expect(
            output == expected,
            "\(golden.name):\((first?.offset ?? min(lines.count, expectedLines.count)) + 1) differs; see make goldens")
    }

    @Test func thereIsAFileForEachCommandAndNoOther() throws {
        let names = Self.goldens.map(\.name)
        #expect(names.count > 40 && Set(names).count == names.count)
        if Self.isWriting { return }
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(Set(files) == Set(names + ["commands.txt", "inputs"]))
    }
}
