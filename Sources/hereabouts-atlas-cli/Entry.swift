import ArgumentParser
import CommandCore

/// What `hereabouts atlas` and `hereabouts region` run.
@main
enum Entry {
    static func main() {
        openStandardDescriptors()
        Signals.install()
        runProcess(as: PolygonCommands.self, Array(CommandLine.arguments.dropFirst()))
    }
}

/// The root command again, with the subcommands that need polygons.
struct PolygonCommands: ParsableCommand {
    static let configuration = CommandConfiguration.hereabouts(subcommands: [RegionCommand.self, AtlasCommand.self])
}
