import ArgumentParser
import CommandCore

/// The subcommands that `hereabouts-atlas` runs. Here they only stand in the list of subcommands.
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
