import ArgumentParser
import CommandCore

/// `hereabouts token`.
package struct TokenCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Make, list and revoke the tokens that devices and consumers come with.",
        discussion: """
            A token is printed once, when it is made; of it the relay keeps its SHA-256 alone.
              hereabouts token send phone
              hereabouts token read family
              hereabouts token owner --for 1h
              hereabouts token list
              hereabouts token revoke 3
            """,
        subcommands: [Send.self, Read.self, Owner.self, List.self, Revoke.self, Import.self])

    package init() {}

    struct Send: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Make a token that sends a device's fixes.")
        @Argument(help: "The device.") var device: String
        @OptionGroup var relay: RelayOptions

        func run() throws { try RelayVerb.token(.send(device: device), relay).run() }
    }

    struct Read: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Make a token that reads as a consumer.")
        @Argument(help: "The consumer.") var consumer: String
        @OptionGroup var relay: RelayOptions

        func run() throws { try RelayVerb.token(.read(consumer: consumer), relay).run() }
    }

    struct Owner: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Make a token for the owner's page.")

        @Option(name: .customLong("for"), help: ArgumentHelp("For so long: 15m, 1h.", valueName: "duration"))
        var duration: Interval?

        @OptionGroup var relay: RelayOptions

        func run() throws { try RelayVerb.token(.owner(seconds: duration?.wholeSeconds), relay).run() }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List whose tokens there are, not the tokens.")
        @OptionGroup var relay: RelayOptions

        func run() throws { try RelayVerb.token(.list, relay).run() }
    }

    struct Revoke: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Revoke a token: it holds no more.")
        @Argument(help: "Its number in the list.") var id: Int64
        @OptionGroup var relay: RelayOptions

        func run() throws { try RelayVerb.token(.revoke(id: id), relay).run() }
    }

    /// For tests of load: asking for each of very many tokens takes a transaction.
    struct Import: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add tokens of devices, in lines of a name, a blank and a token, while no relay runs.",
            shouldDisplay: false)
        @Argument(help: "The file.", completion: .file()) var file: String
        @OptionGroup var relay: RelayOptions

        func run() throws { try RelayVerb.importTokens(file: file, relay).run() }
    }
}
