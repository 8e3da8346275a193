import ArgumentParser

/// The subcommands that read and write traces and tables, and those of live location. All programs know them:
/// `hereabouts`; `hereabouts-atlas`, which runs those that need GEOS or PROJ; and `hereabouts-live`, which runs the live ones.
package enum TraceCommands {
    /// `snap`, `convert` and `version`.
    package static let all: [any ParsableCommand.Type] = [SnapCommand.self, ConvertCommand.self, VersionCommand.self]

    /// `live`, the relay and its owner's verbs.
    package static let live = CommandGroup(
        name: "Live location",
        subcommands: [
            LiveCommand.self, ServeCommand.self, TokenCommand.self, GrantCommand.self, RevokeCommand.self,
            RequestsCommand.self, ConsumersCommand.self, DevicesCommand.self, StatusCommand.self, PauseCommand.self,
            ResumeCommand.self,
            BackupCommand.self, RestoreCommand.self,
        ])
}
