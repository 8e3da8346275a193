import ArgumentParser

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Runs the subcommand of `root` that the arguments name; ends the process where it fails, with the status that tells
/// how.
///
/// - Parameter arguments: Those of the process, without its name.
package func runProcess<Root: ParsableCommand>(as root: Root.Type, _ arguments: [String]) {
    do {
        var command = try root.parseAsRoot(CoordinateArgument.shielded(arguments))
        try command.run()
    } catch let error as CommandFailure {
        error.endProcess()
    } catch {
        // Help and version come this way too, as successes; everything else is a mistake in the arguments.
        let isSuccess = root.exitCode(for: error) == .success
        let text = root.fullMessage(for: error)
        guard isSuccess else {
            printError(CoordinateArgument.redacted(text, arguments: arguments), prefixed: false)
            exit(ExitStatus.unusable.rawValue)
        }
        do throws(CommandFailure) { try printOutput(text) } catch { error.endProcess() }
        exit(ExitStatus.success.rawValue)
    }
}
