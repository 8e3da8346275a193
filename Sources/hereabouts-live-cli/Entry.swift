import ArgumentParser
import CommandCore
import TraceCommands

/// The entry point of `hereabouts-live`, which `hereabouts live`, `serve` and the verbs of its owner become.
@main
enum Entry {
    static func main() {
        openStandardDescriptors()
        Signals.install()
        LiveRunner.current.withLock { $0 = LiveRun.run }
        RelayRunner.current.withLock { $0 = OwnerRun.run }
        runProcess(as: LiveCommands.self, Array(CommandLine.arguments.dropFirst()))
    }
}

/// The root command.
struct LiveCommands: ParsableCommand {
    static let configuration = CommandConfiguration.hereabouts(
        subcommands: TraceCommands.all, groups: [TraceCommands.live])
}
