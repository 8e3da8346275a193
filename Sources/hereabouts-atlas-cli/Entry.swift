import ArgumentParser
import CommandCore
import TraceCommands

/// The entry point of `hereabouts-atlas`, which `hereabouts` starts for all that needs GEOS or PROJ.
@main
enum Entry {
    static func main() {
        beginProcess()
        Signals.install()
        GeometryProvider.current.withLock { $0 = .linked }
        runProcess(as: PolygonCommands.self, Array(CommandLine.arguments.dropFirst()))
    }
}

/// The root command, with the same subcommands in the same order as that of `hereabouts`.
struct PolygonCommands: ParsableCommand {
    static let configuration = CommandConfiguration.hereabouts(
        subcommands: TraceCommands.all + [RegionCommand.self, AtlasCommand.self], groups: [TraceCommands.live])
}
