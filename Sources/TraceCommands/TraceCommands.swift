import ArgumentParser

/// The subcommands that read and write traces and tables. All programs know them: `hereabouts`; `hereabouts-atlas`,
/// which runs those that need GEOS or PROJ; and `hereabouts-live`, which runs `live`.
package enum TraceCommands {
    /// `snap`, `convert` and `live`.
    package static let all: [any ParsableCommand.Type] = [SnapCommand.self, ConvertCommand.self, LiveCommand.self]
}
