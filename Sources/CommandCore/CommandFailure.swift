import Files

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The exit statuses of the command.
package enum ExitStatus: Int32, Sendable {
    /// No failure and no bad record. A reader that closes the pipe early is a success.
    case success = 0
    /// Some records were bad.
    case badRecords = 1
    /// The arguments, an input, the output, the state or the atlas cannot be used.
    case unusable = 2
}

/// A reason to end the command: an exit status and, unless nil, a line for standard error.
package struct CommandFailure: Error {
    package var status: ExitStatus
    package var message: String?

    package init(_ status: ExitStatus, _ message: String? = nil) {
        self.status = status
        self.message = message
    }

    /// Prints the message on standard error and ends the process with the status.
    package func endProcess() -> Never {
        if let message {
            printError(CoordinateArgument.redacted(message, arguments: Array(CommandLine.arguments.dropFirst())))
        }
        exit(status.rawValue)
    }
}

/// Prints a text and a line feed on standard output.
///
/// - Throws: `CommandFailure`: unusable if the text cannot be written, success if the reader closed the pipe.
package func printOutput(_ text: String) throws(CommandFailure) {
    do throws(SystemError) {
        try writeAll(Array((text + "\n").utf8), to: 1)
    } catch {
        throw error.number == EPIPE ? CommandFailure(.success) : CommandFailure(.unusable, "standard output: \(error)")
    }
}

/// Prints a line on standard error. Control characters, which names of files and columns may contain, become `?`.
///
/// - Parameter prefixed: whether the line begins with the command's name.
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
