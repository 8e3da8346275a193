import ArgumentParser
import Hereabouts

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Parses the arguments and runs the subcommand of `root` that they name. Ends the process on failure, help and version.
///
/// - Parameter arguments: those of the process, without its name.
package func runProcess<Root: ParsableCommand>(as root: Root.Type, _ arguments: [String]) {
    do {
        try KernelSet.validateChoice()
        var command = try root.parseAsRoot(CoordinateArgument.escapingNegatives(arguments))
        try command.run()
    } catch let error as CommandFailure {
        error.endProcess()
    } catch {
        // The parser throws help and version as well, as successes; everything else is a mistake in the arguments.
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
