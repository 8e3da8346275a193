import Files
import Foundation

/// An input file open for reading, from its start to its end; closed when it goes out of scope.
struct InputFile: ~Copyable {
    /// The path as the user gave it, for messages.
    let path: String
    private let descriptor: CInt

    /// Opens a file, a pipe or a device.
    /// - Throws: `InputError.unreadable`.
    init(path: String) throws(InputError) {
        // SAFETY: the path is null-terminated for the length of the call.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw InputFile.unreadable(path) }
        self.path = path
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Reads on into `buffer[offset...]`, as much as comes in one go.
    /// - Returns: how many bytes were read; 0 at the end of the file or where the buffer is full.
    /// - Throws: `InputError.unreadable`.
    func read(into buffer: inout [UInt8], at offset: Int) throws(InputError) -> Int {
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { bytes in
                // SAFETY: the rest of the buffer begins at `offset`, which the slice checks.
                let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[offset...])
                return unsafe Foundation.read(descriptor, rest.baseAddress, rest.count)
            }
            if count >= 0 { return count }
            if errno != EINTR { throw InputFile.unreadable(path) }
        }
    }

    /// The size of a regular file in bytes; nil for a pipe, a device or whatever else.
    var regularSize: Int? {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int(status.st_size)
    }

    /// Reads everything there is. O(n) memory.
    /// - Throws: `InputError.unreadable`.
    static func contents(of path: String) throws(InputError) -> [UInt8] {
        try contents(of: path, limit: .max) ?? []
    }

    /// Reads everything there is; nil where that is more than `limit` bytes. Memory is at most twice the limit.
    /// - Throws: `InputError.unreadable`.
    static func contents(of path: String, limit: Int) throws(InputError) -> [UInt8]? {
        do throws(SystemError) {
            return try readAll(path: path, limit: limit)
        } catch {
            throw unreadable(path, error)
        }
    }

    private static func unreadable(_ path: String, _ error: SystemError = .last) -> InputError {
        .unreadable(file: path, reason: "\(error)")
    }
}
