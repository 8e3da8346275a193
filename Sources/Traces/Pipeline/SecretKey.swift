internal import CNettle
import Files

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A key for pseudonyms: the bytes of a file that nobody but its owner may read. They appear in no message, and in the
/// output only through HMAC-SHA256.
package struct SecretKey: Sendable {
    /// A key of as many bytes as a digest has, or more; and at most so many.
    static let leastBytes = 32, mostBytes = 4096

    private let bytes: [UInt8]

    /// - Precondition: at least `leastBytes` bytes.
    init(bytes: [UInt8]) {
        precondition(bytes.count >= Self.leastBytes, "a key that cannot be guessed")
        self.bytes = bytes
    }

    /// Reads a key from a file, or a pipe, whose every byte counts.
    ///
    /// - Throws: `TraceError.cannotRead`, `badKey`.
    package init(contentsOf path: String) throws(TraceError) {
        // SAFETY: the path is a NUL-terminated copy for the time of the call.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .cannotRead(file: path, .last) }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .cannotRead(file: path, .last) }
        if status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o077 != 0 { throw .badKey(file: path, .readable) }
        let content: [UInt8]?
        do throws(SystemError) {
            content = try readAll(descriptor, limit: Self.mostBytes)
        } catch {
            throw .cannotRead(file: path, error)
        }
        guard let content else { throw .badKey(file: path, .long) }
        guard content.count >= Self.leastBytes else { throw .badKey(file: path, .short) }
        // A file of zeros, as a disk that lost its content has.
        guard Set(content).count > 1 else { throw .badKey(file: path, .uniform) }
        bytes = content
    }

    /// HMAC-SHA256 of a message under the key: 32 bytes.
    func code(_ message: [UInt8]) -> [UInt8] {
        var context = hmac_sha256_ctx()
        var code = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_SIZE))
        // SAFETY: each call reads or writes as many bytes as it is told, which the arrays have.
        unsafe nettle_hmac_sha256_set_key(&context, bytes.count, bytes)
        unsafe nettle_hmac_sha256_update(&context, message.count, message)
        unsafe nettle_hmac_sha256_digest(&context, code.count, &code)
        return code
    }
}

extension TraceError {
    /// Why a file is no key.
    package enum KeyProblem: Error, Sendable {
        /// Others than its owner may read or write it.
        case readable
        /// It has fewer bytes than `SecretKey.leastBytes`.
        case short
        /// It has more bytes than `SecretKey.mostBytes`.
        case long
        /// All of its bytes are the same.
        case uniform

        var words: String {
            switch self {
            case .readable:
                "others than its owner may read or write this key; chmod 600 it, or make a new one if they may have"
            case .short:
                "a key has at least 32 bytes; make one: (umask 077; head -c 32 /dev/urandom > FILE)"
            case .long: "a key has at most 4096 bytes"
            case .uniform: "all bytes are the same; make a key: (umask 077; head -c 32 /dev/urandom > FILE)"
            }
        }
    }
}
