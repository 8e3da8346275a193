import CommandCore
import Files
import Hereabouts
import LiveFilter
import TraceCommands
import Traces

/// A run of `hereabouts live`.
package enum LiveRun {
    package typealias StoreOpener = (_ path: String, _ atlas: Atlas) throws(LiveStoreError) -> any LiveStore

    /// Runs the command to its end.
    ///
    /// - Parameter open: opens the state that `--state` names. In the program that has none a run with a state becomes
    ///   the other program.
    /// - Throws: `CommandFailure`, and what argument parsing throws for options.
    package static func run(_ command: LiveCommand, open: StoreOpener? = nil) throws {
        if command.state != nil, open == nil {
            try Executable.become(.live, Array(CommandLine.arguments.dropFirst()))
        }
        var options = LiveOptions()
        options.source = command.from
        options.target = command.to
        options.isPadded = command.pad
        options.interval = command.tickInterval
        options.isReplay = command.replay
        options.reportsEveryAnswer = command.reportsEveryAnswer
        options.forgetAfter = command.lifetime
        options.maximumDevices = command.maxDevices
        options.table = try command.tableOptions()
        let atlas = try AtlasSearch.openLazily(option: command.atlas.atlas)
        let store = try store(command, atlas, open)
        let world = SystemWorld()
        world.catchSignals()
        let label = options.label
        let filter = LiveFilter(atlas: atlas, options: options, world: world, store: store) {
            show($0, label, isQuiet: command.isQuiet)
        }
        let summary: LiveSummary
        do throws(LiveFailure) {
            summary = try filter.run()
        } catch {
            store?.close()
            throw failure(error, command, label)
        }
        store?.close()
        printError(text(summary))
        if summary.end == .input, !summary.bad.isEmpty { throw CommandFailure(.badRecords) }
    }

    private static func store(
        _ command: LiveCommand, _ atlas: Atlas, _ open: StoreOpener?
    ) throws(CommandFailure) -> (any LiveStore)? {
        guard let path = command.state, let open else { return nil }
        do throws(LiveStoreError) {
            return try open(path, atlas)
        } catch {
            throw CommandFailure(.unusable, "\(path): \(error)")
        }
    }

    private static func failure(_ error: LiveFailure, _ command: LiveCommand, _ label: String) -> CommandFailure {
        switch error {
        case .trace(let error): CommandFailure(ofTrace: error)
        case .input(let error): CommandFailure(.unusable, "\(label): cannot be read: \(error)")
        case .output(let error): CommandFailure(.unusable, "standard output: \(error)")
        case .store(let error): CommandFailure(.unusable, "\(command.state ?? ""): \(error)")
        case .atlas(let error): CommandFailure(.unusable, "the atlas \(error.predicate)")
        }
    }

    private static func show(_ notice: LiveNotice, _ label: String, isQuiet: Bool) {
        switch notice {
        case .badLine(let line, let reason):
            let place = line > 0 ? "\(label):\(line)" : label
            printError("\(place): \(reason); more such lines are only counted")
        case .overlongLine(let limit):
            printError("\(label): a line is longer than \(limit) bytes; more are only counted")
        case .fullTable(let limit): printError("there are \(limit) devices; others are not answered, see --max-devices")
        case .clockSetBack:
            printError("the clock was ahead, and was set back: devices go on at its next tick that had no answer")
        case .columns(let notice): if !isQuiet { printNotice(notice) }
        }
    }

    /// What a run did, on a line.
    private static func text(_ summary: LiveSummary) -> String {
        var parts = ["\(summary.records) records"]
        let bad = summary.bad.values.reduce(0, +)
        if bad > 0 {
            let reasons = summary.bad.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            parts.append("\(bad) bad: " + reasons.map { "\($0.key) (\($0.value))" }.joined(separator: ", "))
        }
        for (count, name) in [
            (summary.others, "other messages"), (summary.late, "late"), (summary.future, "ahead of the clock"),
            (summary.refused, "of devices that had no room"), (summary.forgotten, "devices forgotten"),
        ] where count > 0 { parts.append("\(count) \(name)") }
        return parts.joined(separator: "; ") + "; \(summary.reports) reports; \(summary.devices) devices at the end"
    }
}
