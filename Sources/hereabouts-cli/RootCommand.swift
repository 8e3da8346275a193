import ArgumentParser
import CommandCore
import LiveProcess
import TraceCommands

/// The entry point of `hereabouts`.
@main
enum Entry {
    static func main() {
        beginProcess()
        let arguments = Array(CommandLine.arguments.dropFirst())
        do throws(CommandFailure) {
            if DelegatedCommands.areNamed(by: arguments) || GeometryOptions.areNamed(by: arguments) {
                try Executable.become(.atlas, arguments)
            }
        } catch {
            error.endProcess()
        }
        Signals.install()
        LiveRunner.current.withLock { $0 = { try LiveRun.run($0) } }
        runProcess(as: HereaboutsCommand.self, arguments)
    }
}

/// The root command.
struct HereaboutsCommand: ParsableCommand {
    static let configuration = CommandConfiguration.hereabouts(
        subcommands: TraceCommands.all + [DelegatedCommands.Region.self, DelegatedCommands.Atlas.self],
        groups: [TraceCommands.live])
}
