import ArgumentParser
import CommandCore

/// The subcommands that `hereabouts-atlas` runs. Here they exist for the list of subcommands only.
enum DelegatedCommands {
    struct Region: ParsableCommand {
        static let configuration = CommandConfiguration.region()
    }

    struct Atlas: ParsableCommand {
        static let configuration = CommandConfiguration.atlas()
    }

    /// Whether the arguments run one of these subcommands or ask for its help (`help atlas build`).
    static func areNamed(by arguments: [String]) -> Bool {
        let subcommand = arguments.first == "help" ? arguments.dropFirst().first : arguments.first
        return [Region.configuration, Atlas.configuration].contains { $0.commandName == subcommand }
    }
}
