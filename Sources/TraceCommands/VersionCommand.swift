import ArgumentParser
import CommandCore
import Hereabouts
import Synchronization
import Traces

/// `hereabouts version`.
struct VersionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "version", abstract: "Print the version; with --all, what the program was built from.",
        discussion: """
            With --all, a line for each of: the program; the commit that it was built from, if that is known; the libraries \
            that this program links; the atlas that it would use. The other programs tell of themselves, as \
            libexec/hereabouts/hereabouts-atlas version --all does.
            """)

    @Flag(name: .long, help: "Print the commit, the libraries' versions and the atlas as well.")
    var all = false

    @OptionGroup var atlas: AtlasOptions

    func run() throws {
        guard all else { return try printOutput("hereabouts \(hereaboutsVersion)") }
        var lines = [("hereabouts", hereaboutsVersion), ("commit", BuildCommit.description)]
        let libraries = TraceLibraries.versions + LinkedPackages.parser + LinkedLibraries.others.withLock { $0() }
        lines += libraries.sorted { ($0.name, $0.version) < ($1.name, $1.version) }.map { ($0.name, $0.version) }
        lines.append(("atlas", describeAtlas()))
        let width = lines.map(\.0.count).max() ?? 0
        try printOutput(
            lines.map { name, text in name + String(repeating: " ", count: width - name.count + 2) + text }
                .joined(separator: "\n"))
    }

    private func describeAtlas() -> String {
        guard let path = try? AtlasSearch.path(option: atlas.atlas) else { return "none" }
        do throws(AtlasFileError) {
            return "\(path), version \(AtlasLayout.version), fingerprint \(try Atlas(contentsOf: path).name)"
        } catch {
            return "none: \(error)"
        }
    }
}

/// What a program links beyond what all link; set where it begins.
package enum LinkedLibraries {
    package static let others = Mutex<@Sendable () -> [LinkedLibrary]>({ [] })
}

/// The Swift packages that our own builds pin. A test compares them with Package.swift.
package enum LinkedPackages {
    #if HEREABOUTS_PINNED
        static let parser = [LinkedLibrary("swift-argument-parser", "1.8.2")]
        package static let collections = [LinkedLibrary("swift-collections", "1.6.0")]
    #else
        // A build that chooses them itself.
        static let parser: [LinkedLibrary] = []
        package static let collections: [LinkedLibrary] = []
    #endif
    package static let live = [
        LinkedLibrary("GRDB.swift", "7.10.0"), LinkedLibrary("swift-nio", "2.101.2"),
        LinkedLibrary("swift-nio-ssl", "2.37.6"), LinkedLibrary("swift-atomics", "1.3.0"),
        LinkedLibrary("swift-system", "1.8.1"),
    ]
}
