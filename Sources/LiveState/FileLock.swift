import Foundation

/// A lock on a file, which is made for it and stays: of those who want it one has it at a time, as long as it lives.
final class FileLock {
    private var descriptor: Int32

    /// - Throws: `StateFileError.inUse`, where another has it.
    init(_ path: String) throws(StateFileError) {
        descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .failed(errno == EACCES ? 3 : 14) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw .inUse
        }
    }

    deinit { release() }

    func release() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }
}
