import Files

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension SystemError {
    /// Whether nobody reads what was to be written.
    var isClosedPipe: Bool { number == EPIPE }
}
