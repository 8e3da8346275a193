#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Reads all of a file, a pipe or a device.
///
/// - Parameters:
///   - limit: the most bytes that there may be.
///   - flags: further flags of `open`.
/// - Returns: nil where there is more.
/// - Throws: what opening or reading it failed with. What was read before is no file.
package func readAll(path: String, limit: Int, flags: Int32 = 0) throws(SystemError) -> [UInt8]? {
    // SAFETY: the path is a NUL-terminated copy for the time of the call.
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | flags)
    guard descriptor >= 0 else { throw .last }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw .last }
    let size = status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : 0
    if size > limit { return nil }
    return try readAll(descriptor, limit: limit, expected: size)
}

/// The same from where an open file is read next.
///
/// - Parameter expected: how many bytes there will probably be.
package func readAll(_ descriptor: Int32, limit: Int, expected: Int = 0) throws(SystemError) -> [UInt8]? {
    // SAFETY: the call writes at most as many bytes as there are.
    unsafe try readAll(limit: limit, expected: expected) { unsafe read(descriptor, $0.baseAddress, $0.count) }
}

/// The same by a function that reads as the system's `read` does: some bytes, 0 at the end, or -1 and `errno`.
///
/// Memory is what is expected, or at most twice what there is.
func readAll(
    limit: Int, expected: Int = 0, _ read: (UnsafeMutableRawBufferPointer) -> Int
) throws(SystemError) -> [UInt8]? {
    precondition(limit >= 0, "a limit is a number of bytes")
    // One byte more than there may be, so that the end shows.
    let most = limit < .max ? limit + 1 : limit
    var bytes = [UInt8](repeating: 0, count: min(most, max(expected + 1, 1 << 16)))
    var count = 0
    while true {
        if count == bytes.count { bytes += repeatElement(0, count: min(count, most - count)) }
        let result = unsafe bytes.withUnsafeMutableBytes { bytes in
            // SAFETY: what is behind the first `count` bytes, which is not empty.
            unsafe read(UnsafeMutableRawBufferPointer(rebasing: bytes[count...]))
        }
        switch result {
        case 0:
            bytes.removeLast(bytes.count - count)
            return bytes
        case ..<0:
            if errno != EINTR { throw .last }
        default:
            count += result
            if count > limit { return nil }
        }
    }
}
