#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Opens a temporary file, empty, for reading and writing, in `TMPDIR` or else in `/tmp`. It has no name, so that it can be
/// reached by the descriptor alone, and goes with it, however the process ends.
///
/// - Returns: the descriptor, for the caller to close.
package func openAnonymousFile() throws(SystemError) -> Int32 {
    let folder = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? ""
    var name = Array(((folder.isEmpty ? "/tmp" : folder) + "/hereabouts.XXXXXX").utf8CString)
    return unsafe try name.withUnsafeMutableBufferPointer { name throws(SystemError) in
        guard let path = name.baseAddress else { throw SystemError(number: EINVAL) }
        // SAFETY: the path is NUL-terminated and ends with the six letters that are replaced.
        let descriptor = unsafe mkstemp(path)
        guard descriptor >= 0 else { throw .last }
        guard unsafe unlink(path) == 0, fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else {
            let error = SystemError.last
            close(descriptor)
            throw error
        }
        return descriptor
    }
}
