import CommandSupport
import Foundation
import Testing

/// `hereabouts version`, and the atlas's checksum.
@Suite struct VersionTests {
    let place = Workplace()

    private static let companion = command.deletingLastPathComponent().appendingPathComponent("hereabouts-atlas")

    /// The lines of `version --all` by their first words.
    private func lines(_ program: URL, atlas: String? = atlasPath) throws -> [String: String] {
        let result = try place.run(
            program, ["version", "--all"], environment: atlas.map { ["HEREABOUTS_ATLAS": $0] } ?? [:])
        #expect(result.status == 0 && result.errors.isEmpty)
        let pairs = result.output.split(separator: "\n").compactMap { line in
            line.firstIndex(of: " ").map { (String(line[..<$0]), line[$0...].trimmingCharacters(in: .whitespaces)) }
        }
        return Dictionary(pairs) { first, _ in first }
    }

    @Test func `version alone is one line`() throws {
        let flag = try place.hereabouts("--version"), verb = try place.hereabouts("version")
        #expect(flag.output == verb.output && flag.output.wholeMatch(of: /hereabouts \d+\.\d+\.\d+\n/) != nil)
    }

    @Test func `a program states the versions of what it links, and of nothing else`() throws {
        let libraries = [
            "libarchive": "libarchive.so", "libxml2": "libxml2.so", "libzstd": "libzstd.so",
            "simdjson": "libsimdjson.so", "zlib": "libz.so", "GEOS": "libgeos", "PROJ": "libproj.so",
        ]
        for program in [command, Self.companion] {
            let lines = try lines(program)
            let linked = try place.run(URL(fileURLWithPath: "/usr/bin/ldd"), [program.path]).output
            for (name, file) in libraries {
                #expect(
                    (lines[name]?.wholeMatch(of: /\d+\.\d+(\.\d+)?(-CAPI-.*)?/) != nil) == linked.contains(file),
                    "\(name)")
            }
            #expect(lines["nettle"]?.wholeMatch(of: /\d+\.\d+/) != nil)
            #expect(lines["commit"]?.wholeMatch(of: /unknown|[0-9a-f]{40}(, and changes)?/) != nil)
        }
    }

    @Test func `the versions of packages are those that Package.swift pins`() throws {
        let manifest = try String(
            contentsOf: projectFolder.appendingPathComponent("Package.swift"), encoding: .utf8)
        let source = try String(
            contentsOf: projectFolder.appendingPathComponent("Sources/TraceCommands/VersionCommand.swift"),
            encoding: .utf8)
        let stated = source.matches(of: /LinkedLibrary\("([^"]+)", "([^"]+)"\)/).map { ($0.output.1, $0.output.2) }
        let pinned = manifest.matches(of: /\/([A-Za-z-]+(?:\.swift)?)", exact: "([^"]+)"/)
        #expect(stated.count == pinned.count && stated.count == 7)
        for pin in pinned { #expect(stated.contains { $0 == (pin.output.1, pin.output.2) }, "\(pin.output.1)") }
    }

    @Test func `the atlas that would be used, or none, is named`() throws {
        let fingerprint = String(worldAtlas.fingerprint, radix: 16)
        let padded = String(repeating: "0", count: 16 - fingerprint.count) + fingerprint
        #expect(try lines(command)["atlas"] == "\(atlasPath), version 7, fingerprint \(padded)")
        place.write("no atlas", as: "bad.atlas")
        #expect(try lines(command, atlas: "bad.atlas")["atlas"]?.hasPrefix("none: bad.atlas ") == true)
        // Outside of any checkout.
        let copy = place.folder.appendingPathComponent("hereabouts")
        try FileManager.default.copyItem(at: command.resolvingSymlinksInPath(), to: copy)
        #expect(try lines(copy, atlas: nil)["atlas"] == "none")
    }

    @Test func `the atlas's checksum beside it holds, and is checked before an installation`() throws {
        let check = try place.shell("cd '\(projectFolder.path)/data' && sha256sum --check world.atlas.sha256")
        #expect(check.status == 0 && check.output == "world.atlas: OK\n")
        let first = try place.shell("make --no-print-directory -n -C '\(projectFolder.path)' install | head -n 1")
        #expect(first.output == "cd data && sha256sum --check --quiet world.atlas.sha256\n")
    }
}
