import ArgumentParser
import Traces

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The command's start: arguments in, an exit status out.
@main
enum Entry {
    static func main() {
        removePartialOutputOnSignals()
        let arguments = CoordinateArgument.shielded(Array(CommandLine.arguments.dropFirst()))
        do {
            var command = try HereaboutsCommand.parseAsRoot(arguments)
            try command.run()
        } catch let error as CommandFailure {
            if let message = error.message { printError(message) }
            exit(error.status.rawValue)
        } catch {
            // Help and version come this way too, as successes; everything else is a mistake in the arguments.
            let isSuccess = HereaboutsCommand.exitCode(for: error) == .success
            let text = HereaboutsCommand.fullMessage(for: error)
            if isSuccess { print(text) } else { printError(text, prefixed: false) }
            exit(isSuccess ? ExitStatus.success.rawValue : ExitStatus.unusable.rawValue)
        }
    }
}

/// What the exit status says.
enum ExitStatus: Int32 {
    /// All went well; a reader that closes the pipe early counts as well.
    case success = 0
    /// Some records were bad.
    case badRecords = 1
    /// A mistake in the arguments, or an input, an output or an atlas that cannot be used.
    case unusable = 2
}

/// Ends the command with a status and, perhaps, a line on standard error.
struct CommandFailure: Error {
    var status: ExitStatus
    var message: String?

    init(_ status: ExitStatus, _ message: String? = nil) {
        self.status = status
        self.message = message
    }

    /// What a run's failure means for the command.
    init(_ error: TraceError) {
        switch error {
        case .outputClosed: self.init(.success)
        case .stopped: self.init(.badRecords, "\(error)")
        default: self.init(.unusable, "\(error)")
        }
    }
}

/// Prints a line on standard error. Control characters (from a file's or a column's name) are shown as `?`.
func printError(_ message: String, prefixed: Bool = true) {
    let shown = message.unicodeScalars.map { scalar in
        scalar.value < 0x20 && scalar != "\n" || (0x7f...0x9f).contains(scalar.value) ? "?" : scalar
    }
    var text = prefixed ? "hereabouts: " : ""
    text.unicodeScalars.append(contentsOf: shown)
    text += "\n"
    // SAFETY: the bytes are the array's, for the time of the call.
    _ = unsafe Array(text.utf8).withUnsafeBytes { bytes in unsafe write(2, bytes.baseAddress, bytes.count) }
}
