import ArgumentParser
import CommandCore

/// The entry point of `hereabouts-atlas`, which `hereabouts atlas` and `hereabouts region` start.
@main
enum Entry {
    static func main() {
        openStandardDescriptors()
        Signals.install()
        runProcess(as: PolygonCommands.self, Array(CommandLine.arguments.dropFirst()))
    }
}

/// The root command with the subcommands that need GEOS and PROJ.
struct PolygonCommands: ParsableCommand {
    static let configuration = CommandConfiguration.hereabouts(subcommands: [RegionCommand.self, AtlasCommand.self])
}
