import Files
import Foundation

/// A lock on a file, which is made for it and stays: of those who want it one has it at a time, as long as it lives.
final class FileLock {
    private var descriptor: Int32

    /// - Parameter owner: whose the file may be, where it is not this process's.
    /// - Throws: `StateFileError.inUse`, where another has it.
    init(_ path: String, owner: uid_t = geteuid()) throws(StateFileError) {
        descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { throw .system(.last) }
        if let fault = ForeignFile.fault(ofFile: descriptor, owner: owner) {
            release()
            throw .foreign(fault)
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            release()
            throw .inUse
        }
    }

    deinit { release() }

    func release() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }
}
