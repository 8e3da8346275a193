import ArgumentParser
import CommandCore
import TraceCommands

/// The entry point of `hereabouts-live`, which `hereabouts live` becomes.
@main
enum Entry {
    static func main() {
        openStandardDescriptors()
        Signals.install()
        LiveRunner.current.withLock { $0 = LiveRun.run }
        runProcess(as: LiveCommands.self, Array(CommandLine.arguments.dropFirst()))
    }
}

/// The root command.
struct LiveCommands: ParsableCommand {
    static let configuration = CommandConfiguration.hereabouts(subcommands: TraceCommands.all)
}
