#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Opens a file that was found and not named by the user: anybody may have put something else there. A pipe without a
/// writer would keep the call waiting, and a device may do something when it is opened.
///
/// - Parameter flags: further flags of `open`. Without `O_NOFOLLOW` symbolic links are followed.
/// - Returns: the descriptor, for the caller to close; nil where there is no regular file but something else.
package func openRegularFile(_ path: String, flags: Int32 = 0) throws(SystemError) -> Int32? {
    var status = stat()
    let followed = flags & O_NOFOLLOW == 0 ? unsafe stat(path, &status) : unsafe lstat(path, &status)
    guard followed == 0 else { throw .last }
    guard status.st_mode & S_IFMT == S_IFREG else { return nil }
    // SAFETY: the path is a NUL-terminated copy for the time of the call.
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags)
    guard descriptor >= 0 else { throw .last }
    // It may be another by now.
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
        close(descriptor)
        return nil
    }
    return descriptor
}

/// Reads all of such a file.
///
/// - Returns: nil where it is no regular file, or has more than `limit` bytes.
package func readRegularFile(_ path: String, limit: Int) throws(SystemError) -> [UInt8]? {
    guard let descriptor = try openRegularFile(path) else { return nil }
    defer { close(descriptor) }
    return try readAll(descriptor, limit: limit)
}
