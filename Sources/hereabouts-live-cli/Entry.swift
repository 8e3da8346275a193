import ArgumentParser
import CTOML
import CommandCore
import GeoBridge
import LiveFilter
import LiveProcess
import LiveState
import TraceCommands
import Traces

/// The entry point of `hereabouts-live`, which `hereabouts live --state`, `serve` and the verbs of its owner become.
@main
enum Entry {
    static func main() {
        beginProcess()
        Signals.install()
        LinkedLibraries.others.withLock { $0 = linkedLibraries }
        LiveRunner.current.withLock { $0 = runLive }
        RelayRunner.current.withLock { $0 = OwnerRun.run }
        runProcess(as: LiveCommands.self, Array(CommandLine.arguments.dropFirst()))
    }
}

/// The root command.
struct LiveCommands: ParsableCommand {
    static let configuration = CommandConfiguration.hereabouts(
        subcommands: TraceCommands.all, groups: [TraceCommands.live])
}

@Sendable private func linkedLibraries() -> [LinkedLibrary] {
    let toml = hereabouts_toml_version()
    return LinkedPackages.live + [
        LinkedLibrary("GEOS", GEOSContext.libraryVersion), LinkedLibrary("SQLite", sqliteVersion() ?? "unknown"),
        LinkedLibrary("toml++", "\(toml / 10_000).\(toml / 100 % 100).\(toml % 100)"),
    ]
}

/// `live`, with its state in SQLite.
@Sendable private func runLive(_ command: LiveCommand) throws {
    try LiveRun.run(command) { path, atlas throws(LiveStoreError) in
        try SQLiteLiveStore(
            path: path, fingerprint: atlas.fingerprint, interval: command.tickInterval,
            reportsEveryAnswer: command.reportsEveryAnswer)
    }
}
