#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// What a system call said when it failed.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The value of `errno`.
    package let number: Int32

    package init(number: Int32) { self.number = number }

    /// That of the call that just failed on this thread.
    package static var last: SystemError { SystemError(number: errno) }

    /// The system's text.
    package var description: String {
        // SAFETY: strerror returns a NUL-terminated string that is copied at once.
        unsafe String(cString: strerror(number))
    }
}
