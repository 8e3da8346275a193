import Files
private import Foundation

/// What the owner's verbs ask a relay with.
package enum ControlClient {
    /// Why there is no answer.
    package enum Failure: Error, Hashable, Sendable {
        /// Nobody listens at the socket.
        case notRunning
        /// The socket is another user's.
        case notPermitted
        /// The socket is not of the user whose folder it is in.
        case foreign
        /// The path is longer than a socket's may be.
        case invalidPath
        /// No answer came in time, or it broke off.
        case noAnswer
        /// The answer is of another version.
        case malformed
        case system(SystemError)
    }

    /// How long an answer is waited for, in seconds.
    private static let patienceSeconds = 30

    /// Sends a request and waits for the answer.
    ///
    /// - Parameter path: of the socket.
    package static func ask(_ request: ControlRequest, at path: String) throws(Failure) -> ControlAnswer {
        guard let line = try? JSONEncoder().encode(request), line.count < ControlServer.Limits.requestBytes else {
            throw .malformed
        }
        try checkOwner(path)
        let descriptor = try connect(path)
        defer { close(descriptor) }
        let answer: [UInt8]?
        do throws(SystemError) {
            try writeAll(Array(line) + [10], to: descriptor)
            answer = try readAll(descriptor, limit: ControlServer.Limits.answerBytes)
        } catch {
            throw .noAnswer
        }
        guard let answer, answer.last == 10 else { throw .noAnswer }
        guard let answer = try? JSONDecoder().decode(ControlAnswer.self, from: Data(answer)) else { throw .malformed }
        return answer
    }

    /// The socket is of the folder's owner, who asks here, unless root does: what another has put there would learn who is
    /// granted what, and could answer anything.
    private static func checkOwner(_ path: String) throws(Failure) {
        var status = stat()
        guard let slash = path.lastIndex(of: "/"), unsafe stat(String(path[...slash]), &status) == 0 else { return }
        let owner = status.st_uid
        guard geteuid() == 0 || geteuid() == owner else { throw .notPermitted }
        guard unsafe lstat(path, &status) == 0 else { return }
        guard status.st_uid == owner, status.st_mode & S_IFMT == S_IFSOCK else { throw .foreign }
    }

    private static func connect(_ path: String) throws(Failure) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let isShort = unsafe withUnsafeMutableBytes(of: &address.sun_path) { place in
            guard !bytes.isEmpty, bytes.count < place.count, !bytes.contains(0) else { return false }
            unsafe place.copyBytes(from: bytes)
            return true
        }
        guard isShort else { throw .invalidPath }
        #if canImport(Glibc)
            let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        #else
            let descriptor = socket(AF_UNIX, SOCK_STREAM, 0)
        #endif
        guard descriptor >= 0 else { throw .system(.last) }
        var patience = timeval(tv_sec: patienceSeconds, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            // SAFETY: the option's value has the size that is said.
            unsafe setsockopt(
                descriptor, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
        }
        // SAFETY: the address outlives the call and has the size that is said.
        let status = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status != 0 else { return descriptor }
        let error = SystemError.last
        close(descriptor)
        switch error.number {
        case ENOENT, ECONNREFUSED, ENOTDIR: throw .notRunning
        case EACCES, EPERM: throw .notPermitted
        default: throw .system(error)
        }
    }
}
