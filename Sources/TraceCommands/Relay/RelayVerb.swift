import ArgumentParser
import CommandCore
import Synchronization

/// A verb of the relay's owner, or the relay itself. Only `hereabouts-live` runs them; the other programs become that.
package enum RelayVerb: Sendable {
    case serve(ServeCommand)
    case token(TokenVerb, RelayOptions)
    /// Adds the tokens of a file to the state of a relay that does not run.
    case importTokens(file: String, RelayOptions)
    case grant(GrantCommand)
    case revoke(RevokeCommand)
    case requests(RequestsCommand)
    case consumers(RelayOptions)
    case devices(RelayOptions)
    case status(RelayOptions)
    case pause(PauseCommand)
    case resume(RelayOptions)
    case backup(BackupCommand)
    case restore(RestoreCommand)

    func run() throws {
        guard let run = RelayRunner.current.withLock({ $0 }) else {
            try Executable.become(.live, Array(CommandLine.arguments.dropFirst()))
        }
        try run(self)
    }
}

/// What is done with tokens.
package enum TokenVerb: Sendable {
    case send(device: String)
    case read(consumer: String)
    case owner(seconds: Int64?)
    case list
    case revoke(id: Int64)
}

/// What runs the relay's verbs in the program that does; nil in the others.
package enum RelayRunner {
    package static let current = Mutex<(@Sendable (RelayVerb) throws -> Void)?>(nil)
}

/// The options of the owner's verbs.
package struct RelayOptions: ParsableArguments, Sendable {
    @Option(
        name: .long,
        help: ArgumentHelp("The folder of the relay's state, where its socket is.", valueName: "folder"),
        completion: .directory)
    package var state = "/var/lib/hereabouts"

    @Flag(name: .long, help: "Print JSON.")
    package var json = false

    package init() {}
}

/// How long a grant holds.
package struct ValidityOptions: ParsableArguments, Sendable {
    @Flag(
        name: .long,
        help: """
            Until the session ends: ten seconds after the consumer has gone, an hour at the latest, or --for.
            """)
    package var once = false

    @Option(name: .customLong("for"), help: ArgumentHelp("For so long: 90s, 15m, 2h.", valueName: "duration"))
    var duration: Interval?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Until then, in the owner's time zone: 18:00, 2026-12-01T18:00, or tomorrow, which begins at 04:00.
            """, valueName: "time"))
    package var until: UntilArgument?

    package init() {}

    /// Rounded up.
    package var seconds: Int64? {
        duration?.wholeSeconds
    }

    package func validate() throws {
        if until != nil, once || duration != nil {
            throw ValidationError("'--until' goes with neither '--once' nor '--for'.")
        }
    }

    /// Whether a grant of always can have it.
    var permitsAlways: Bool { !once && until != .tomorrow }
}

extension Interval {
    /// Seconds, rounded up.
    var wholeSeconds: Int64 { duration.components.seconds + (duration.components.attoseconds > 0 ? 1 : 0) }
}

/// The end of a grant as people write it.
package enum UntilArgument: ExpressibleByArgument, Hashable, Sendable {
    case tomorrow
    case time(hour: Int, minute: Int)
    case date(year: Int, month: Int, day: Int, hour: Int, minute: Int)

    package init?(argument: String) {
        if argument == "tomorrow" {
            self = .tomorrow
            return
        }
        let halves = argument.split(separator: "T", omittingEmptySubsequences: false)
        guard let last = halves.last, halves.count <= 2, let time = Self.numbers(last, ":", [2, 2]), time[0] < 24,
            time[1] < 60
        else { return nil }
        guard halves.count == 2 else {
            self = .time(hour: time[0], minute: time[1])
            return
        }
        guard let date = Self.numbers(halves[0], "-", [4, 2, 2]), (1...12).contains(date[1]), (1...31).contains(date[2])
        else { return nil }
        self = .date(year: date[0], month: date[1], day: date[2], hour: time[0], minute: time[1])
    }

    private static func numbers(_ text: Substring, _ mark: Character, _ digits: [Int]) -> [Int]? {
        let parts = text.split(separator: mark, omittingEmptySubsequences: false)
        guard parts.map(\.utf8.count) == digits, parts.allSatisfy({ $0.utf8.allSatisfy { (48...57).contains($0) } })
        else { return nil }
        return parts.compactMap { Int($0) }
    }
}
