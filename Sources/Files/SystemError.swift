#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The error of a failed system call.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The value of `errno`.
    package let number: Int32

    package init(number: Int32) { self.number = number }

    /// The error of the call that just failed on this thread (`errno`).
    package static var last: SystemError { SystemError(number: errno) }

    /// The system's message (`strerror`).
    package var description: String {
        // Said of file names alone: the system's words are of characters.
        if number == EILSEQ { return "its name is not UTF-8" }
        // SAFETY: strerror returns a NUL-terminated string, copied before another call can overwrite it.
        return unsafe String(cString: strerror(number))
    }
}
