import CommandSupport
import Foundation
import Hereabouts
import Testing

/// The README and the pages by task say what the code does: the README's Swift is compiled, all commands are run.
extension Acceptance {
    @Suite struct ReadmeTests {
        /// The README, and the pages it leads to.
        static let pages = [
            "README.md", "CONTRIBUTING.md", "docs/tables.md", "docs/convert.md", "docs/live.md", "docs/atlas.md",
            "docs/library.md",
            "docs/privacy.md",
        ]

        private func text(_ page: String) throws -> String {
            try String(contentsOf: projectFolder.appendingPathComponent(page), encoding: .utf8)
        }

        /// What stands in a page's fenced blocks of a language.
        private func blocks(_ language: String, of page: String) throws -> [String] {
            try text(page).components(separatedBy: "\n```\(language)\n").dropFirst().map {
                $0.components(separatedBy: "\n```")[0] + "\n"
            }
        }

        @Test func `the Swift is the compiled one`() throws {
            let source = projectFolder.appendingPathComponent("Tests/AcceptanceTests/ReadmeExample.swift")
            #expect(try blocks("swift", of: "README.md") == [try String(contentsOf: source, encoding: .utf8)])
        }

        @Test func `the Swift does what it says`() throws {
            let start = 1_778_335_200 * 1_000_000_000
            let fixes = (0..<7_200).map { second in
                Fix(
                    coordinate: Coordinate(latitude: 31.70 + Double(second) * 5e-5, longitude: -106.40),
                    time: Timestamp(nanosecondsSince1970: Int64(start + second * 1_000_000_000)))
            }
            var published: [ReducedLocation] = []
            try reduce(fixes, atlasPath: atlasPath) { published.append($0) }
            #expect(published.first?.country.code == "US")
            // The place, then at most one answer at the start and in every quarter of an hour after it.
            #expect((3...9).contains(published.count))
        }

        /// Each `$ command` and what it prints, standard output only.
        private func commands(of page: String) throws -> [(line: String, output: String)] {
            var commands: [(line: String, output: String)] = []
            for line in try blocks("console", of: page).joined().split(
                separator: "\n", omittingEmptySubsequences: false
            ).dropLast() {
                if line.hasPrefix("$ ") {
                    commands.append((String(line.dropFirst(2)), ""))
                } else if !commands.isEmpty, !line.isEmpty {
                    commands[commands.count - 1].output += line + "\n"
                }
            }
            return commands
        }

        @Test func `the commands print what they say`() throws {
            let folder = command.deletingLastPathComponent().path
            // Those of the live page need a relay.
            let commands = try Self.pages.filter { $0 != "docs/live.md" }.flatMap(commands)
            #expect(commands.count >= 7)
            for command in commands {
                #expect(try Self.run(command.line, path: folder) == command.output, "\(command.line)")
            }
        }

        /// The ten rows of the README and `results/peers.md` are those of the last measurement.
        @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3"), "python3 is missing"))
        func `the figures are those measured`() throws {
            #expect(
                try Self.run("python3 Benchmarks/peers/report.py --check README.md && echo same", path: "") == "same\n")
            let table = try text("README.md").components(separatedBy: "<!-- benchmark table")[1].components(
                separatedBy: "<!-- end")[0]
            let rows = table.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst()
            #expect((1...10).contains(rows.count))
        }

        /// What a page leaves to others is there, and so are the headings it leads to.
        @Test(arguments: pages) func `the links lead somewhere`(_ page: String) throws {
            let folder = projectFolder.appendingPathComponent(page).deletingLastPathComponent()
            for link in try text(page).matches(of: /\]\(([^)#:]*)(?:#([^)]*))?\)/) {
                let target = link.1.isEmpty ? page : String(link.1)
                let file =
                    link.1.isEmpty ? projectFolder.appendingPathComponent(page) : folder.appendingPathComponent(target)
                #expect(FileManager.default.fileExists(atPath: file.path), "\(link.0)")
                guard let anchor = link.2 else { continue }
                let headings = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
                    .filter { $0.hasPrefix("#") }.map { heading in
                        heading.drop { $0 == "#" || $0 == " " }.lowercased()
                            .filter { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" || $0 == " " }
                            .replacing(" ", with: "-")
                    }
                #expect(headings.contains(String(anchor)), "\(link.0)")
            }
        }

        @Test func `the README is read in seven minutes`() throws {
            let readme = try text("README.md")
            #expect(readme.split(separator: "\n", omittingEmptySubsequences: false).count <= 166)
            #expect(readme.split(whereSeparator: \.isWhitespace).count <= 1_800)
        }

        private static func run(_ line: String, path: String) throws -> String {
            let process = Process(), output = Pipe()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = ["-c", line]
            process.currentDirectoryURL = projectFolder
            process.environment = ProcessInfo.processInfo.environment.merging(
                ["PATH": "\(path):/usr/bin:/bin", "HEREABOUTS_ATLAS": atlasPath]) { $1 }
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            try process.run()
            let data = output.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return String(decoding: data, as: UTF8.self)
        }
    }
}
