import Files

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// What the exit status says.
package enum ExitStatus: Int32, Sendable {
    /// All went well; a reader that closes the pipe early counts as well.
    case success = 0
    /// Some records were bad.
    case badRecords = 1
    /// A mistake in the arguments, or an input, an output or an atlas that cannot be used.
    case unusable = 2
}

/// Ends the command with a status and, perhaps, a line on standard error.
package struct CommandFailure: Error {
    package var status: ExitStatus
    package var message: String?

    package init(_ status: ExitStatus, _ message: String? = nil) {
        self.status = status
        self.message = message
    }

    /// Says what there is to say and ends the process.
    package func endProcess() -> Never {
        if let message {
            printError(CoordinateArgument.redacted(message, arguments: Array(CommandLine.arguments.dropFirst())))
        }
        exit(status.rawValue)
    }
}

/// Prints a text and a line feed on standard output.
///
/// - Throws: `CommandFailure` where it cannot be written; a success where the reader has gone away.
package func printOutput(_ text: String) throws(CommandFailure) {
    do throws(SystemError) {
        try writeAll(Array((text + "\n").utf8), to: 1)
    } catch {
        throw error.number == EPIPE ? CommandFailure(.success) : CommandFailure(.unusable, "standard output: \(error)")
    }
}

/// Prints a line on standard error. Control characters (from a file's or a column's name) are shown as `?`.
package func printError(_ message: String, prefixed: Bool = true) {
    let shown = message.unicodeScalars.map { scalar in
        scalar.value < 0x20 && scalar != "\n" || (0x7f...0x9f).contains(scalar.value) ? "?" : scalar
    }
    var text = prefixed ? "hereabouts: " : ""
    text.unicodeScalars.append(contentsOf: shown)
    text += "\n"
    // SAFETY: the bytes are the array's, for the time of the call.
    _ = unsafe Array(text.utf8).withUnsafeBytes { bytes in unsafe write(2, bytes.baseAddress, bytes.count) }
}
