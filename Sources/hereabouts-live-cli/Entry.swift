import ArgumentParser
import CommandCore
import LiveFilter
import LiveProcess
import LiveState
import TraceCommands

/// The entry point of `hereabouts-live`, which `hereabouts live --state`, `serve` and the verbs of its owner become.
@main
enum Entry {
    static func main() {
        beginProcess()
        Signals.install()
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

/// `live`, with its state in SQLite.
@Sendable private func runLive(_ command: LiveCommand) throws {
    try LiveRun.run(command) { path, atlas throws(LiveStoreError) in
        try SQLiteLiveStore(
            path: path, fingerprint: atlas.fingerprint, interval: command.tickInterval,
            reportsEveryAnswer: command.reportsEveryAnswer)
    }
}
