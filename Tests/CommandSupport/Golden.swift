import Foundation
import Testing

/// A command and the file of Tests/Goldens that its output equals, byte for byte. `make goldens` writes them anew.
package struct Golden: CustomTestStringConvertible, Sendable {
    package let name: String
    let command: String
    package var testDescription: String { name }

    package static let folder = projectFolder.appendingPathComponent("Tests/Goldens")
    package static let isWriting = ProcessInfo.processInfo.environment["HEREABOUTS_WRITE_GOLDENS"] != nil

    /// The lists in that folder: the command's, and that of what needs the relay's program.
    package static let lists = ["commands.txt", "live-commands.txt"]

    /// What a list names.
    package static func all(_ list: String) -> [Golden] {
        let text = try? String(contentsOf: folder.appendingPathComponent(list), encoding: .utf8)
        return (text ?? "").split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
            let name = line.prefix { $0 != " " }
            return Golden(
                name: String(name), command: line.dropFirst(name.count).trimmingCharacters(in: .whitespaces))
        }
    }

    /// Runs the command and compares what it prints, or writes the file.
    package func check() throws {
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
            URL(fileURLWithPath: "/bin/sh"), ["-c", command],
            environment: ["HEREABOUTS_ATLAS": "world.atlas", "COLUMNS": "80", "LC_ALL": "C"])
        var output = result.output
        if result.status != 0 || !result.errors.isEmpty {
            output += "--- standard error\n\(result.errors)--- exit status \(result.status)\n"
        }
        let file = Self.folder.appendingPathComponent(name)
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
            "\(name):\((first?.offset ?? min(lines.count, expectedLines.count)) + 1) differs; see make goldens")
    }
}
