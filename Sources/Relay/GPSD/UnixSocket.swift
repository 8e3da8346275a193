import Files
import NIOCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A Unix socket that listens at a path.
package struct UnixSocket: Sendable {
    /// Why none can.
    package enum Failure: Error, Hashable, Sendable {
        /// The path is longer than an address may be, or empty.
        case invalidPath
        /// Something that is no socket is there.
        case notASocket
        /// Somebody listens there.
        case inUse
        /// The system said no.
        case system(SystemError)
    }

    /// To be closed by whoever takes it.
    package let descriptor: CInt
    private let path: String
    private let identity: FileIdentity?

    /// Listens at a path. A socket there that nobody listens at any more is replaced.
    ///
    /// - Parameter mode: who may connect. The socket is at no moment open to others.
    package init(path: String, mode: mode_t) throws(Failure) {
        guard !path.isEmpty, let address = try? SocketAddress(unixDomainSocketPath: path) else { throw .invalidPath }
        try Self.removeStale(path, address)
        let descriptor = try Self.makeSocket()
        do throws(Failure) {
            // The mode of an unbound socket limits that of the name which `bind` makes.
            guard fchmod(descriptor, mode) == 0, unsafe Self.call(address, { unsafe bind(descriptor, $0, $1) }) == 0
            else { throw .system(.last) }
            identity = Self.identity(path)
            guard unsafe chmod(path, mode) == 0, listen(descriptor, 16) == 0 else { throw .system(.last) }
        } catch {
            close(descriptor)
            throw error
        }
        (self.descriptor, self.path) = (descriptor, path)
    }

    /// Removes the name, if it is still this socket's.
    package func removeName() {
        if let identity, Self.identity(path) == identity { unsafe unlink(path) }
    }

    private static func makeSocket() throws(Failure) -> CInt {
        #if canImport(Glibc)
            let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        #else
            let descriptor = socket(AF_UNIX, SOCK_STREAM, 0)
        #endif
        guard descriptor >= 0 else { throw .system(.last) }
        return descriptor
    }

    private static func removeStale(_ path: String, _ address: SocketAddress) throws(Failure) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else {
            guard errno == ENOENT else { throw .system(.last) }
            return
        }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw .notASocket }
        let descriptor = try makeSocket()
        defer { close(descriptor) }
        // One that listens and has no room says EAGAIN, which a blocking connect would wait for.
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        guard unsafe call(address, { unsafe connect(descriptor, $0, $1) }) != 0, errno == ECONNREFUSED else {
            throw .inUse
        }
        guard unsafe unlink(path) == 0 || errno == ENOENT else { throw .system(.last) }
    }

    /// Of the name itself, not of what a link leads to.
    private static func identity(_ path: String) -> FileIdentity? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? FileIdentity(status) : nil
    }

    private static func call(_ address: SocketAddress, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
        // SAFETY: the address outlives the call, and the size is its own.
        unsafe address.withSockAddr { unsafe body($0, socklen_t($1)) }
    }
}
