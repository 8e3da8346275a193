import ArgumentParser

/// The subcommands that read and write traces and tables. Both programs have them: `hereabouts`, and `hereabouts-atlas`,
/// which runs those that need GEOS or PROJ.
package enum TraceCommands {
    /// `snap` and `convert`.
    package static let all: [any ParsableCommand.Type] = [SnapCommand.self, ConvertCommand.self]
}
