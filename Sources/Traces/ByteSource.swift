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
    /// What ends the wait for input that is slow to come; nil for a file, which never is.
    private let stop: StopSign?

    init(_ name: InputName, stop: StopSign = StopSign()) throws(TraceError) {
        label = name.label
        self.stop = name.size == nil ? stop : nil
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

    /// Reads at most `count` bytes to `destination`; 0 at the end, and when the run was stopped. Returns what is at hand
    /// rather than waiting for more, so that a pipe's records come out as they come in.
    func read(into destination: UnsafeMutableRawPointer, count: Int) throws(TraceError) -> Int {
        while true {
            if !waitForInput() { return 0 }
            #if canImport(Glibc)
                let result = unsafe Glibc.read(descriptor, destination, count)
            #else
                let result = unsafe Darwin.read(descriptor, destination, count)
            #endif
            if result >= 0 { return result }
            if errno != EINTR { throw .cannotRead(file: label, reason: lastSystemError()) }
        }
    }

    /// Milliseconds between two looks at the stop sign while a pipe has nothing to read.
    private static let patience: Int32 = 50

    /// Returns when there is something to read (or an error to find out); false when the run was stopped meanwhile.
    private func waitForInput() -> Bool {
        guard let stop else { return true }
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while !stop.isRaised {
            // SAFETY: one request, alive for the call.
            if unsafe poll(&request, 1, Self.patience) != 0 { return true }
        }
        return false
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
