import ArgumentParser
import CommandCore

/// `hereabouts grant`.
package struct GrantCommand: ParsableCommand, Sendable {
    package static let configuration = CommandConfiguration(
        commandName: "grant",
        abstract: "Let a consumer have a device's location: around-here, or exact for a purpose.",
        discussion: """
            While the consumer is in use, that is connected, it gets the region of the device:
              hereabouts grant family phone
              hereabouts grant family phone --until tomorrow
              hereabouts grant family phone --full --purpose pickup --for 2h

            The last one adds exact locations, in sessions that state this purpose; what was granted before stays. A grant \
            takes the place of the one for the same purpose.
            """)

    @Argument(help: "Who.") package var consumer: String
    @Argument(help: "Of which device.") package var device: String

    @Flag(name: .long, help: "Exact locations, for a purpose.")
    package var full = false

    @Option(
        name: .long, help: ArgumentHelp("The purpose, a key of the consumer's table of purposes.", valueName: "key"))
    package var purpose: String?

    @Flag(name: .long, help: "Also pushed while the consumer is not connected.")
    package var always = false

    @Flag(name: .long, help: "Visits to the second. They tell when a door was passed.")
    package var exactVisitTimes = false

    @OptionGroup package var validity: ValidityOptions

    @OptionGroup package var relay: RelayOptions

    package init() {}

    package func validate() throws {
        if full != (purpose != nil) {
            throw ValidationError("'--full' and '--purpose' go together: exact locations are for a purpose.")
        }
        if always, !validity.permitsAlways {
            throw ValidationError("'--once' and '--until tomorrow' are for consumers in use, never for '--always'.")
        }
    }

    package func run() throws { try RelayVerb.grant(self).run() }
}

/// `hereabouts revoke`.
package struct RevokeCommand: ParsableCommand, Sendable {
    package static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Say no to a consumer: all its grants for a device end at once.",
        discussion: "It is final: the consumer cannot ask again, until a grant or --reset.")

    @Argument(help: "Who.") package var consumer: String
    @Argument(help: "Of which device.") package var device: String

    @Flag(name: .long, help: "Take the decision back instead: the consumer may ask again.")
    package var reset = false

    @OptionGroup package var relay: RelayOptions

    package init() {}

    package func run() throws { try RelayVerb.revoke(self).run() }
}

/// `hereabouts requests`.
package struct RequestsCommand: ParsableCommand, Sendable {
    package static let configuration = CommandConfiguration(
        commandName: "requests", abstract: "List what consumers ask for, and decide on it.",
        discussion: """
            A request is decided by its id in the list. Declined is what was asked for; what was granted before stays.
              hereabouts requests
              hereabouts requests --accept x7k2mq --until tomorrow
              hereabouts requests --decline x7k2mq
            """)

    @Option(name: .long, parsing: .upToNextOption, help: ArgumentHelp("Grant these.", valueName: "id"))
    package var accept: [String] = []

    @Option(name: .long, parsing: .upToNextOption, help: ArgumentHelp("Say no to these.", valueName: "id"))
    package var decline: [String] = []

    @OptionGroup package var validity: ValidityOptions

    @OptionGroup package var relay: RelayOptions

    package init() {}

    package func run() throws { try RelayVerb.requests(self).run() }
}

/// `hereabouts consumers`.
package struct ConsumersCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "consumers", abstract: "List who may have what and until when, who is in use, and who was last.")

    @OptionGroup package var relay: RelayOptions

    package init() {}

    package func run() throws { try RelayVerb.consumers(relay).run() }
}

/// `hereabouts devices`.
package struct DevicesCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "List what came of each device's messages: the last one, and how many came to what.",
        discussion: """
            It is of the time since the relay began, and in no file. A message that was not used is answered as if it had \
            been, for an app would send it again for ever: here is why.
              hereabouts devices
            """)

    @OptionGroup package var relay: RelayOptions

    package init() {}

    package func run() throws { try RelayVerb.devices(relay).run() }
}

/// `hereabouts status`.
package struct StatusCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Say whether the relay runs and can keep its state, and count what there is: no place and no name.",
        discussion: """
            The exit status is 0 where it does, else 2. With `metrics` in its configuration the relay gives the same numbers \
            to Prometheus.
              hereabouts status
            """)

    @OptionGroup package var relay: RelayOptions

    package init() {}

    package func run() throws { try RelayVerb.status(relay).run() }
}

/// `hereabouts pause`.
package struct PauseCommand: ParsableCommand, Sendable {
    package static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Give nobody anything, until 'resume'.",
        discussion: """
            What comes meanwhile is dropped: nobody ever gets anything of a pause. Consumers are told, by name. With --quiet \
            they see what they would if the phone had been switched off: the last region, until it is two hours old; then \
            none.
              hereabouts pause
              hereabouts pause --quiet
            """)

    @Flag(name: .long, help: "Tell nobody: as if the phone had been switched off.")
    package var quiet = false

    @OptionGroup package var relay: RelayOptions

    package init() {}

    package func run() throws { try RelayVerb.pause(self).run() }
}

/// `hereabouts resume`.
package struct ResumeCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Take up what 'pause' stopped.")

    @OptionGroup package var relay: RelayOptions

    package init() {}

    package func run() throws { try RelayVerb.resume(relay).run() }
}

/// `hereabouts backup`.
package struct BackupCommand: ParsableCommand, Sendable {
    package static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy the relay's state to a file, while it runs.",
        discussion: """
            The state is tokens' digests, grants, the pause, and of each device its region and tick; no position and no \
            token. A copy of relay.sqlite alone lacks what is in the log beside it.
              hereabouts backup relay.backup
              hereabouts restore relay.backup
            """)

    @Argument(help: "The file; one that is there is replaced.", completion: .file()) package var file: String

    @OptionGroup package var relay: RelayOptions

    package init() {}

    package func run() throws { try RelayVerb.backup(self).run() }
}

/// `hereabouts restore`.
package struct RestoreCommand: ParsableCommand, Sendable {
    package static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Put a backup in the place of the state of a relay that does not run.",
        discussion: """
            What was revoked since the backup holds again: look at what is printed, and revoke it before 'resume'. The relay \
            begins paused, as it was in the backup, or quietly. The state that is replaced is kept beside it.
              systemctl stop hereabouts-relay
              hereabouts restore relay.backup
              systemctl start hereabouts-relay
            """)

    @Argument(help: "What 'backup' wrote.", completion: .file()) package var file: String

    @OptionGroup package var atlas: AtlasOptions

    @OptionGroup package var relay: RelayOptions

    package init() {}

    package func run() throws { try RelayVerb.restore(self).run() }
}
