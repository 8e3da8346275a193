import CommandCore
import Files
import Foundation
import Hereabouts
import HereaboutsLive
import LiveState
import Relay
import TraceCommands
import Traces

/// A run of a verb of the relay's owner, or of the relay.
enum OwnerRun {
    @Sendable static func run(_ verb: RelayVerb) throws {
        switch verb {
        case .serve(let command): try serve(command)
        case .token(let verb, let options): try run(verb, options)
        case .importTokens(let file, let options): try importTokens(file, options)
        case .grant(let command): try grant(command)
        case .revoke(let command):
            let request =
                command.reset
                ? ControlRequest.reset(consumer: command.consumer, device: command.device)
                : .revoke(consumer: command.consumer, device: command.device)
            try done(request, command.relay)
        case .requests(let command): try requests(command)
        case .consumers(let options): try consumers(options)
        case .devices(let options): try devices(options)
        case .status(let options): try status(options)
        case .pause(let command): try done(.pause(isQuiet: command.quiet), command.relay)
        case .resume(let options): try done(.resume, options)
        case .backup(let command): try backup(command)
        case .restore(let command): try restore(command)
        }
    }

    // MARK: The relay

    private static func serve(_ command: ServeCommand) throws(CommandFailure) {
        let configuration: RelayConfiguration
        do throws(RelayConfigurationError) {
            configuration = try RelayConfiguration(file: command.config)
        } catch {
            // Each line with the command's name, as all messages.
            throw CommandFailure(
                .unusable, "\(error)".replacingOccurrences(of: "\n", with: "\nhereabouts: "))
        }
        if command.check {
            return try printOutput(
                "\(command.config): valid; devices: \(configuration.devices.count); consumers: "
                    + "\(configuration.consumers.count); listens at \(configuration.listen)")
        }
        let atlas = try AtlasSearch.open(option: command.atlas.atlas)
        let path = try AtlasSearch.path(option: command.atlas.atlas)
        try RelayRun.run(configuration, state: command.state, atlas: atlas, atlasPath: path) { port in
            var address = configuration.listen
            if case .host(let host, _) = address, let port { address = .host(host, port: port) }
            printError("listening at \(address)")
        }
    }

    // MARK: Verbs

    private static func run(_ verb: TokenVerb, _ options: RelayOptions) throws(CommandFailure) {
        let request: ControlRequest =
            switch verb {
            case .send(let device): .addToken(.device(device), seconds: nil)
            case .read(let consumer): .addToken(.consumer(consumer), seconds: nil)
            case .owner(let seconds): .addToken(.owner, seconds: seconds)
            case .list: .tokens
            case .revoke(let id): .removeToken(id)
            }
        switch try ask(request, options) {
        case .token(let id, let token):
            if options.json { return try printJSON(NewToken(id: id, token: token)) }
            // Alone on standard output, for scripts.
            try printOutput(token.text)
            printError("token \(id); it is shown this once", prefixed: false)
        case .tokens(let tokens):
            if options.json { return try printJSON(tokens) }
            try printTable(tokens)
        default: try printDone(options)
        }
    }

    private static func importTokens(_ file: String, _ options: RelayOptions) throws(CommandFailure) {
        let path = options.state + "/relay.sqlite"
        var tokens: [(holder: KeptToken.Holder, digest: [UInt8])] = []
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else {
            throw CommandFailure(.unusable, "\(file): cannot be read as text")
        }
        for (place, line) in text.split(separator: "\n").enumerated() {
            let parts = line.split(separator: " ")
            guard parts.count == 2, let token = Token(validating: String(parts[1])) else {
                throw CommandFailure(
                    .unusable, "\(file):\(place + 1): a name, a blank and a token of 22 characters are expected")
            }
            tokens.append((.device(String(parts[0])), token.digest))
        }
        do throws(RelayStoreError) {
            let store = try SQLiteRelayStore(path: path)
            defer { store.close() }
            try store.addTokens(tokens, madeDay: Timestamp.systemClock().nanosecondsSince1970 / 86_400_000_000_000)
        } catch {
            throw CommandFailure(.unusable, "\(path): \(error)")
        }
        try printDone(options)
    }

    private static func printTable(_ tokens: [ControlAnswer.TokenEntry]) throws(CommandFailure) {
        try printTable(
            ["id", "for", "of", "made", "last used", "until"],
            tokens.map { token in
                [
                    "\(token.id)", token.kind, token.name ?? "", token.made ?? "", token.used ?? "never",
                    token.until.map(shown) ?? "",
                ]
            })
    }

    private struct NewToken: Encodable {
        let id: Int64
        let token: Token
    }

    private static func grant(_ command: GrantCommand) throws(CommandFailure) {
        var grant = ControlRequest.Grant(consumer: command.consumer, device: command.device)
        grant.isAlways = command.always
        grant.purpose = command.purpose
        grant.hasExactVisitTimes = command.exactVisitTimes
        grant.validity = validity(command.validity)
        try show(try ask(.grant(grant), command.relay), command.relay)
    }

    private static func validity(_ options: ValidityOptions) -> ControlRequest.Validity {
        if options.once { return .session(seconds: options.seconds ?? 3600) }
        if let seconds = options.seconds { return .duration(seconds: seconds) }
        return switch options.until {
        case nil: .untilRevoked
        case .tomorrow: .untilMorning
        case .time(let hour, let minute): .untilTime(hour: hour, minute: minute)
        case .date(let year, let month, let day, let hour, let minute):
            .untilDate(year: year, month: month, day: day, hour: hour, minute: minute)
        }
    }

    private static func requests(_ command: RequestsCommand) throws(CommandFailure) {
        for id in command.accept {
            try show(try ask(.accept(id: id, validity: validity(command.validity)), command.relay), command.relay)
        }
        for id in command.decline { _ = try ask(.decline(id: id), command.relay) }
        if !command.decline.isEmpty { try printDone(command.relay) }
        guard command.accept.isEmpty, command.decline.isEmpty else { return }
        guard case .requests(let requests) = try ask(.requests, command.relay) else { throw otherVersion }
        if command.relay.json { return try printJSON(requests) }
        try printTable(
            ["id", "consumer", "device", "asks for", "since"],
            requests.map { request in
                let wish =
                    switch request.kind {
                    case "whenInUse": "around-here, while in use"
                    case "always": "pushes too"
                    default: "exact, for \(request.purpose ?? ""): \(request.reason ?? "")"
                    }
                return [request.id, request.consumer, request.device, wish, shown(request.time)]
            })
    }

    private static func consumers(_ options: RelayOptions) throws(CommandFailure) {
        guard case .consumers(let standings, let isPaused, let isQuiet) = try ask(.consumers, options) else {
            throw otherVersion
        }
        if options.json {
            return try printJSON(Consumers(isPaused: isPaused, isQuiet: isQuiet, consumers: standings))
        }
        if isPaused {
            printError(
                isQuiet
                    ? "everything is paused quietly: consumers see a phone that is switched off, until 'hereabouts resume'"
                    : "everything is paused: nobody gets anything until 'hereabouts resume'")
        }
        try printTable(standings)
    }

    private static func printTable(_ standings: [ControlAnswer.Standing]) throws(CommandFailure) {
        try printTable(
            ["consumer", "device", "may have", "in use", "last served"],
            standings.map { standing in
                let link = standing.linkOf.map { " (link of \($0))" } ?? ""
                let use = standing.isInUse ? "yes" : standing.isInBackground ? "pushes" : "no"
                return [
                    standing.consumer + link, standing.device ?? "", words(standing), use,
                    standing.lastServed.map(shown) ?? "",
                ]
            })
    }

    private static func devices(_ options: RelayOptions) throws(CommandFailure) {
        guard case .devices(let devices, let unauthorized) = try ask(.devices, options) else { throw otherVersion }
        if options.json { return try printJSON(Devices(devices: devices, unauthorized: unauthorized)) }
        try printTable(
            ["device", "last message", "from", "came to", "last used"],
            devices.map { device in
                [
                    device.device, device.last.map { shown($0.time) } ?? "none yet",
                    device.last?.program.rawValue ?? "", device.last?.outcome ?? "", device.lastUsed.map(shown) ?? "",
                ]
            })
        for device in devices {
            for (words, count) in device.counts.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
                try printOutput("\(device.device): \(count) \(words)")
            }
            if let phone = device.phone, let other = device.otherPhone {
                printError(
                    "\(device.device): two phones have its token: '\(phone)' counts, '\(other)' does not until that one has "
                        + "been silent for two intervals; give each its own device and token")
            }
        }
        if unauthorized > 0 { printError("messages and requests with a token that does not hold: \(unauthorized)") }
    }

    private static func status(_ options: RelayOptions) throws(CommandFailure) {
        guard case .status(let status) = try ask(.status, options) else { throw otherVersion }
        if options.json {
            try printJSON(status)
        } else {
            try printTable(["value", "of"], status.numbers.map { ["\($0.value)", $0.meaning] })
        }
        guard status.isStateUsable else {
            throw CommandFailure(.unusable, "\(options.state): the relay's state is gone, or cannot be written")
        }
    }

    private struct Devices: Encodable {
        let devices: [ControlAnswer.Device]
        let unauthorized: Int
    }

    private struct Consumers: Encodable {
        let isPaused, isQuiet: Bool
        let consumers: [ControlAnswer.Standing]
    }

    /// What a consumer may have, and until when.
    private static func words(_ standing: ControlAnswer.Standing) -> String {
        guard standing.grants.isEmpty else { return standing.grants.map(words).joined(separator: "; ") }
        return switch standing.status {
        case "notDetermined": "undecided"
        case "denied": "nothing: denied"
        case "restricted": "nothing yet"
        default: standing.accuracy == "full" ? "exact" : "around-here"
        }
    }

    private static func words(_ grant: ControlAnswer.HeldGrant) -> String {
        let what = grant.purpose.map { "exact for \($0)" } ?? "around-here"
        let end = (grant.isForSession ? " once" : "") + (grant.until.map { " until \(shown($0))" } ?? "")
        let visits = grant.hasExactVisitTimes ? ", exact visit times" : ""
        let since = grant.given.map { " since \(shown($0))" } ?? ""
        return "\(what)\(grant.isAlways ? ", pushed" : "")\(visits)\(since)\(end)"
    }

    /// The owner's local time, to the minute.
    private static func shown(_ time: String) -> String {
        time.prefix(16).replacingOccurrences(of: "T", with: " ")
    }

    // MARK: The state

    private static func backup(_ command: BackupCommand) throws(CommandFailure) {
        guard case .backup(let text) = try ask(.backup, command.relay), let bytes = Base64.bytes(text) else {
            throw otherVersion
        }
        // Whole or not at all, and for its owner alone.
        do throws(SystemError) {
            var file = try TemporaryFile(replacing: command.file, mode: 0o600)
            try writeAll(bytes, to: file.descriptor)
            try file.publish()
        } catch {
            throw CommandFailure(.unusable, "\(command.file): \(error)")
        }
        try printDone(command.relay)
    }

    private static func restore(_ command: RestoreCommand) throws(CommandFailure) {
        let atlas = try AtlasSearch.open(option: command.atlas.atlas)
        let now = Timestamp.systemClock(), folder = command.relay.state
        var tokens: [ControlAnswer.TokenEntry] = [], standings: [ControlAnswer.Standing] = []
        var isQuiet = false
        let replaced: String?
        do {
            let stamp = OwnerZone.utc.text(now).prefix(19).filter { $0 != ":" && $0 != "-" }
            replaced = try RelayRestore.restore(command.file, in: folder, stamp: String(stamp)) { store in
                var desk: Desk
                if let decisions = try store.loadDecisions() {
                    // At its own moment, so that a pause since then is within the one that begins now.
                    desk = try Desk(
                        snapshot: decisions, atlas: atlas, otherAtlas: .keepingPaces,
                        now: Timestamp(nanosecondsSince1970: .min))
                } else {
                    desk = try Desk(atlas: atlas, now: now)
                }
                try Relay.takeOver(store, from: desk.snapshotFingerprint, to: atlas)
                let now = desk.now
                // As it stood; where nothing was paused, nobody is to be told. All views begin anew: who was revoked
                // since does not see what the backup knows.
                let mode = desk.pauseMode ?? .quiet
                try desk.pause(.told, at: now)
                try desk.resume(at: now)
                try desk.pause(mode, at: now)
                isQuiet = mode == .quiet
                try store.keepDecisions(desk.snapshot(includesDevices: false))
                tokens = try store.loadTokens().map { Relay.entry($0, .utc) }
                standings = desk.standings.map { standing in
                    var entry = Relay.entry(standing, .utc)
                    (entry.isInUse, entry.isInBackground) = (false, false)
                    return entry
                }
            }
        } catch {
            throw restoreFailure(error, command)
        }
        if command.relay.json {
            return try printJSON(Restored(tokens: tokens, consumers: standings, isQuiet: isQuiet, replaced: replaced))
        }
        try printTable(tokens)
        try printOutput("")
        try printTable(standings)
        if let replaced { printError("the state before is kept as \(replaced)") }
        printError(
            "times are in UTC; the relay begins paused\(isQuiet ? " quietly" : ""), and nobody sees anything from before; what was revoked or granted since the backup is as it was "
                + "then: see 'token revoke' and 'revoke' before 'resume'")
    }

    private struct Restored: Encodable {
        let tokens: [ControlAnswer.TokenEntry]
        let consumers: [ControlAnswer.Standing]
        let isQuiet: Bool
        let replaced: String?
    }

    private static func restoreFailure(_ error: any Error, _ command: RestoreCommand) -> CommandFailure {
        switch error {
        case RelayRestore.Failure.backup(let error): CommandFailure(.unusable, "\(command.file): \(error)")
        case RelayRestore.Failure.state(.inUse):
            CommandFailure(.unusable, "\(command.relay.state): the relay runs: stop it before its state is replaced")
        case RelayRestore.Failure.state(let error):
            CommandFailure(.unusable, "\(command.relay.state)/relay.sqlite: \(error)")
        case RelayRestore.Failure.system(let path, let error): CommandFailure(.unusable, "\(path): \(error)")
        default: CommandFailure(.unusable, "\(command.file): \(RelayStoreError.damaged)")
        }
    }

    // MARK: The socket

    private static func done(_ request: ControlRequest, _ options: RelayOptions) throws(CommandFailure) {
        _ = try ask(request, options)
        try printDone(options)
    }

    /// Shows what a grant came to: what stands, what it ended, and why there is nothing to see yet.
    private static func show(_ answer: ControlAnswer, _ options: RelayOptions) throws(CommandFailure) {
        guard case .granted(let standing, let ended, let links, let awaitsReport, let isPaused) = answer else {
            return try printDone(options)
        }
        if options.json {
            try printJSON(
                Granted(
                    standing: standing, ended: ended, links: links, awaitsReport: awaitsReport, isPaused: isPaused))
        } else {
            try printTable([standing])
        }
        for grant in ended { printError("ended: \(words(grant))") }
        for link in links { printError("'\(link)' is a link of '\(standing.consumer)' and sees it too, around-here") }
        if isPaused { printError("everything is paused: nobody gets anything until 'hereabouts resume'") }
        if awaitsReport, let device = standing.device {
            printError("nothing is known of \(device) until its next message, and no region before the tick after it")
        }
    }

    private struct Granted: Encodable {
        let standing: ControlAnswer.Standing
        let ended: [ControlAnswer.HeldGrant]
        let links: [String]
        let awaitsReport, isPaused: Bool
    }

    private static func ask(
        _ request: ControlRequest, _ options: RelayOptions
    ) throws(CommandFailure) -> ControlAnswer {
        let answer: ControlAnswer
        do throws(ControlClient.Failure) {
            answer = try ControlClient.ask(request, at: options.state + "/control.sock")
        } catch {
            throw CommandFailure(.unusable, "\(options.state)/control.sock: \(reason(error))")
        }
        if case .failed(let sentence) = answer { throw CommandFailure(.unusable, sentence) }
        return answer
    }

    private static func reason(_ failure: ControlClient.Failure) -> String {
        switch failure {
        case .notRunning: "no relay is running here; start 'hereabouts serve', or name its folder by --state"
        case .notPermitted: "the relay is another user's; try sudo"
        case .foreign: "the socket is not of the folder's owner, and is not asked"
        case .invalidPath: "the path is too long for a socket"
        case .noAnswer: "the relay did not answer; see its log"
        case .malformed: "the relay is of another version than this command"
        case .system(let error): "\(error)"
        }
    }

    private static let otherVersion = CommandFailure(.unusable, "the relay is of another version than this command")

    // MARK: Output

    private static func printDone(_ options: RelayOptions) throws(CommandFailure) {
        if options.json { try printJSON(["done": true]) }
    }

    private static func printJSON(_ value: some Encodable) throws(CommandFailure) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(value) else { throw otherVersion }
        try printOutput(String(decoding: data, as: UTF8.self))
    }

    /// Prints columns as wide as their cells, two blanks between them; nothing but the titles where there are no rows.
    private static func printTable(_ titles: [String], _ rows: [[String]]) throws(CommandFailure) {
        let all = [titles.map { $0.uppercased() }] + rows
        let widths = titles.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        let lines = all.map { cells in
            var line = ""
            for (cell, width) in zip(cells, widths) {
                line += cell + String(repeating: " ", count: width - cell.count + 2)
            }
            while line.last == " " { line.removeLast() }
            return line
        }
        try printOutput(lines.joined(separator: "\n"))
    }
}
