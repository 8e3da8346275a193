import ArgumentParser
import CommandCore
import GeoBridge
import PROJBridge
import TraceCommands
import Traces

/// The entry point of `hereabouts-atlas`, which `hereabouts` starts for all that needs GEOS or PROJ.
@main
enum Entry {
    static func main() {
        beginProcess()
        Signals.install()
        LinkedLibraries.others.withLock {
            $0 = {
                LinkedPackages.collections + [
                    LinkedLibrary("GEOS", GEOSContext.libraryVersion),
                    LinkedLibrary("PROJ", PositionTransform.libraryVersion),
                ]
            }
        }
        GeometryProvider.current.withLock { $0 = .linked }
        runProcess(as: PolygonCommands.self, Array(CommandLine.arguments.dropFirst()))
    }
}

/// The root command, with the same subcommands in the same order as that of `hereabouts`.
struct PolygonCommands: ParsableCommand {
    static let configuration = CommandConfiguration.hereabouts(
        subcommands: TraceCommands.all + [RegionCommand.self, AtlasCommand.self], groups: [TraceCommands.live])
}
