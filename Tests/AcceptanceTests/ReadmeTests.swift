import CommandSupport
import Foundation
import Hereabouts
import Testing

/// The README says what the code does: its Swift is compiled, its commands are run.
extension Acceptance {
    @Suite struct ReadmeTests {
        private let readme: String

        init() throws {
            readme = try String(contentsOf: projectFolder.appendingPathComponent("README.md"), encoding: .utf8)
        }

        /// What stands in the fenced blocks of a language.
        private func blocks(_ language: String) -> [String] {
            readme.components(separatedBy: "\n```\(language)\n").dropFirst().map {
                $0.components(separatedBy: "\n```")[0] + "\n"
            }
        }

        @Test func `the Swift is the compiled one`() throws {
            let source = projectFolder.appendingPathComponent("Tests/AcceptanceTests/ReadmeExample.swift")
            #expect(blocks("swift") == [try String(contentsOf: source, encoding: .utf8)])
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
        private func commands() -> [(line: String, output: String)] {
            var commands: [(line: String, output: String)] = []
            for line in blocks("console").joined().split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
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
            let commands = commands()
            #expect(commands.count >= 3)
            for command in commands {
                #expect(try Self.run(command.line, path: folder) == command.output, "\(command.line)")
            }
        }

        /// The ten rows of the README and `results/peers.md` are those of the last measurement.
        @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3"), "python3 is missing"))
        func `the figures are those measured`() throws {
            #expect(
                try Self.run("python3 Benchmarks/peers/report.py --check README.md && echo same", path: "") == "same\n")
            let table = readme.components(separatedBy: "<!-- benchmark table")[1].components(separatedBy: "<!-- end")[0]
            let rows = table.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst()
            #expect((1...10).contains(rows.count))
        }

        /// What the README leaves to other pages is there.
        @Test func `the links lead somewhere`() throws {
            for link in readme.matches(of: /\]\(([^)#:]+)(#[^)]*)?\)/).map({ String($0.1) }) {
                #expect(
                    FileManager.default.fileExists(atPath: projectFolder.appendingPathComponent(link).path), "\(link)")
            }
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
