import ArgumentParser
import CommandCore

/// `hereabouts serve`.
package struct ServeCommand: ParsableCommand, Sendable {
    package static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run a relay: fixes in from phones and receivers, to each consumer what it was granted.",
        discussion: """
            The configuration (TOML) names devices, consumers and where to listen; docs/live.md describes it. Who gets \
            what is granted, not configured:
              hereabouts serve --check
              hereabouts serve
              hereabouts token send phone
              hereabouts token read family
              hereabouts grant family phone --until tomorrow

            --check validates the configuration, prints every problem by file and line, and ends with status 2 if there \
            is any.

            The state folder has decisions, digests of tokens, and of each device its region and ticks (relay.sqlite); no \
            position. The owner's verbs reach the relay over control.sock in it, which is open to its user alone. One \
            relay at a time has a state.

            SIGTERM, SIGINT and SIGHUP end the relay with status 0.
            """)

    @Option(name: .long, help: ArgumentHelp("The configuration.", valueName: "file"), completion: .file())
    package var config = "/etc/hereabouts/relay.toml"

    @Option(
        name: .long, help: ArgumentHelp("The folder of the state; made if it is not there.", valueName: "folder"),
        completion: .directory)
    package var state = "/var/lib/hereabouts"

    @Flag(name: .long, help: "Validate the configuration, and serve nothing.")
    package var check = false

    @OptionGroup package var atlas: AtlasOptions

    package init() {}

    package func run() throws { try RelayVerb.serve(self).run() }
}
