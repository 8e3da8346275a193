#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Where records come from: a file or standard input.
package enum InputName: Hashable, Sendable {
    case standardInput
    case file(String)

    /// The name for messages.
    package var label: String {
        switch self {
        case .standardInput: "standard input"
        case .file(let path): path
        }
    }
}

/// An open input, read in chunks. Owns its descriptor unless it is standard input.
struct ByteSource: ~Copyable {
    /// The name for messages.
    let label: String
    private let descriptor: Int32
    private let isOwned: Bool

    init(_ name: InputName) throws(TraceError) {
        label = name.label
        switch name {
        case .standardInput:
            descriptor = 0
            isOwned = false
        case .file(let path):
            // SAFETY: the path is a NUL-terminated copy for the time of the call.
            descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
            isOwned = true
            guard descriptor >= 0 else { throw .cannotRead(file: path, reason: lastSystemError()) }
        }
    }

    deinit {
        if isOwned && descriptor >= 0 { close(descriptor) }
    }

    /// Reads at most `count` bytes to `destination`; 0 at the end. Returns what is at hand rather than waiting for
    /// more, so that a pipe's records come out as they come in.
    func read(into destination: UnsafeMutableRawPointer, count: Int) throws(TraceError) -> Int {
        while true {
            #if canImport(Glibc)
                let result = unsafe Glibc.read(descriptor, destination, count)
            #else
                let result = unsafe Darwin.read(descriptor, destination, count)
            #endif
            if result >= 0 { return result }
            if errno != EINTR { throw .cannotRead(file: label, reason: lastSystemError()) }
        }
    }
}

/// The text of `errno`.
func lastSystemError() -> String {
    // SAFETY: strerror returns a NUL-terminated string that is copied at once.
    unsafe String(cString: strerror(errno))
}

extension InputName {
    /// Device and inode, by which two names of one file are told; nil for what cannot be opened or is no file.
    private var identity: (device: UInt64, inode: UInt64)? {
        var status = stat()
        let found: Int32
        switch self {
        case .standardInput: found = unsafe fstat(0, &status)
        case .file(let path): found = unsafe stat(path, &status)
        }
        guard found == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return (UInt64(truncatingIfNeeded: status.st_dev), UInt64(truncatingIfNeeded: status.st_ino))
    }

    /// Whether this and `path` are one file, by whatever names.
    func isSameFile(as path: String) -> Bool {
        guard let mine = identity, let other = InputName.file(path).identity else { return false }
        return mine == other
    }

    /// The size in bytes of a regular file; nil for a pipe or a terminal.
    package var size: Int? {
        var status = stat()
        let found: Int32
        switch self {
        case .standardInput: found = unsafe fstat(0, &status)
        case .file(let path): found = unsafe stat(path, &status)
        }
        guard found == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int(status.st_size)
    }
}
