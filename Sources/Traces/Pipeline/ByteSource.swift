import Files

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Where records come from: a file, standard input, or the command's own arguments.
package enum InputName: Hashable, Sendable {
    case standardInput
    case file(String)
    /// A file that was found in a folder: anything else that has its name is an error.
    case found(String)
    /// These lines.
    case arguments(String)

    /// The name for messages.
    package var label: String {
        switch self {
        case .standardInput: "standard input"
        case .file(let path), .found(let path): path
        case .arguments: "arguments"
        }
    }
}

/// An open input, read piece by piece, and decompressed where it starts as gzip or zstd does. Owns its descriptor unless
/// it is standard input.
struct ByteSource: ~Copyable {
    /// The name for messages.
    let label: String
    private let descriptor: Int32
    private let isOwned: Bool
    /// What there is to read where there is no descriptor.
    private var text: [UInt8] = []
    /// Gives more of it once that was read; nothing at the end.
    private var more: (() -> [UInt8])?
    /// Ends the wait for a pipe's next bytes.
    private let cancellation: CancellationFlag
    /// Whether there may be a wait: a file never waits.
    private let mayWait: Bool
    /// How long; nil where there is no limit.
    private var patience: Patience?
    /// Nil before the first bytes are there.
    private var content: Content?
    /// Bytes that came before it was known that they are not compressed.
    private var plain: [UInt8] = []
    /// Bytes of the file read so far.
    private(set) var bytesRead = 0
    /// What a regular file was like when it was opened.
    private let version: FileVersion?

    private enum Content {
        case plain
        case compressed(Decompressor)
    }

    init(_ name: InputName, cancellation: CancellationFlag = CancellationFlag()) throws(TraceError) {
        let descriptor = try Self.open(name)
        label = name.label
        self.cancellation = cancellation
        mayWait = name.size == nil
        self.descriptor = descriptor
        isOwned = descriptor >= 0 && name != .standardInput
        version = isOwned ? FileVersion(descriptor: descriptor) : nil
        if case .arguments(let text) = name { self.text = Array(text.utf8) }
    }

    /// The descriptor of an input: that of standard input, -1 of arguments, else one to be closed.
    private static func open(_ name: InputName) throws(TraceError) -> Int32 {
        switch name {
        case .standardInput: return 0
        case .arguments: return -1
        case .file(let path):
            // SAFETY: the path is a NUL-terminated copy for the time of the call.
            #if canImport(Glibc)
                let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)
            #else
                let descriptor = unsafe Darwin.open(path, O_RDONLY | O_CLOEXEC)
            #endif
            guard descriptor >= 0 else { throw .cannotRead(file: path, .last) }
            return descriptor
        case .found(let path):
            let descriptor: Int32?
            do throws(SystemError) {
                descriptor = try openRegularFile(path)
            } catch {
                throw .cannotRead(file: path, error)
            }
            guard let descriptor else { throw .notAFile(file: path) }
            return descriptor
        }
    }

    private init(label: String, descriptor: Int32, cancellation: CancellationFlag, patience: Patience) {
        (self.label, self.descriptor, self.cancellation) = (label, descriptor, cancellation)
        self.patience = patience
        (isOwned, mayWait, version) = (true, true, nil)
    }

    /// Bytes as they come from a function, which gives none at the end. They are not compressed.
    init(label: String, more: @escaping () -> [UInt8]) {
        (self.label, self.more) = (label, more)
        (descriptor, isOwned, mayWait, version) = (-1, false, false, nil)
        (cancellation, content) = (CancellationFlag(), .plain)
    }

    /// Whether it is a file, or what the command was given, which nobody waits for.
    var isOfFile: Bool { !mayWait }

    /// Whether the run was cancelled.
    var isCancelled: Bool { cancellation.isSet }

    /// A source of the same name for a pipe, which is closed with it.
    func source(of descriptor: Int32, patience: Patience) -> ByteSource {
        ByteSource(label: label, descriptor: descriptor, cancellation: cancellation, patience: patience)
    }

    /// A copy of the descriptor of a regular file that is not compressed, at its start; nil of any other input. This
    /// source is of no more use then.
    func fileFromStart() throws(TraceError) -> Int32? {
        var status = stat()
        guard descriptor >= 0, case .plain? = content, unsafe fstat(descriptor, &status) == 0,
            status.st_mode & S_IFMT == S_IFREG
        else { return nil }
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0, lseek(copy, 0, SEEK_SET) == 0 else { throw .cannotRead(file: label, .last) }
        return copy
    }

    deinit {
        if isOwned && descriptor >= 0 { close(descriptor) }
    }

    /// Reads at most `count` bytes of the content to `destination`; 0 at the end, and when the run was cancelled. Returns
    /// what is there rather than waiting for more, so that a pipe's records come out as they come in.
    ///
    /// - Throws: `cannotRead`, `changedWhileRead`, `truncatedStream`, `damagedStream` or `windowTooLarge`.
    mutating func read(into destination: UnsafeMutableRawPointer, count: Int) throws(TraceError) -> Int {
        // SAFETY: here and below, the caller vouches for `count` writable bytes.
        switch content {
        case .plain?:
            guard plain.isEmpty else { return unsafe readPlain(into: destination, count: count) }
            return unsafe try readFile(into: destination, count: count)
        case .compressed(let decompressor)?:
            let label = label
            return unsafe try decompressor.read(
                into: destination.assumingMemoryBound(to: UInt8.self), count: count
            ) { failure in
                switch failure {
                case .truncated: TraceError.truncatedStream(file: label)
                case .damaged: TraceError.damagedStream(file: label)
                case .windowTooLarge: TraceError.windowTooLarge(file: label)
                }
            } refill: { (packed, count) throws(TraceError) in
                guard plain.isEmpty else { return unsafe readPlain(into: packed, count: count) }
                return unsafe try readFile(into: packed, count: count)
            }
        case nil:
            let length = unsafe try readFile(into: destination, count: count)
            // SAFETY: `length` bytes were written.
            guard length > 0, Compression.mayStart(with: unsafe destination.load(as: UInt8.self)) else {
                content = .plain
                return length
            }
            unsafe plain = Array(UnsafeRawBufferPointer(start: destination, count: length))
            try findContent()
            return unsafe try read(into: destination, count: count)
        }
    }

    /// Reads until it is known whether the content is compressed.
    private mutating func findContent() throws(TraceError) {
        while plain.count < Compression.magicBytes {
            var byte: UInt8 = 0
            if unsafe try readFile(into: &byte, count: 1) == 0 { break }
            plain.append(byte)
        }
        content = Compression(startingWith: plain).map { .compressed(Decompressor($0)) } ?? .plain
    }

    private mutating func readPlain(into destination: UnsafeMutableRawPointer, count: Int) -> Int {
        let length = min(count, plain.count)
        // SAFETY: the caller vouches for `count` writable bytes.
        unsafe UnsafeMutableRawBufferPointer(start: destination, count: length).copyBytes(from: plain[..<length])
        plain.removeFirst(length)
        return length
    }

    /// Reads bytes of the file as they are.
    private mutating func readFile(into destination: UnsafeMutableRawPointer, count: Int) throws(TraceError) -> Int {
        let length =
            unsafe try descriptor < 0
            ? readText(into: destination, count: count) : readDescriptor(into: destination, count: count)
        bytesRead += length
        return length
    }

    private func readDescriptor(into destination: UnsafeMutableRawPointer, count: Int) throws(TraceError) -> Int {
        while true {
            if !waitForInput() { return 0 }
            #if canImport(Glibc)
                let result = unsafe Glibc.read(descriptor, destination, count)
            #else
                let result = unsafe Darwin.read(descriptor, destination, count)
            #endif
            if result == 0, let version, FileVersion(descriptor: descriptor) != version {
                throw .changedWhileRead(file: label)
            }
            if result >= 0 { return result }
            if errno != EINTR { throw .cannotRead(file: label, .last) }
        }
    }

    private mutating func readText(into destination: UnsafeMutableRawPointer, count: Int) -> Int {
        if text.isEmpty, let more { text = more() }
        let length = min(count, text.count)
        // SAFETY: the caller vouches for `count` writable bytes.
        unsafe UnsafeMutableRawBufferPointer(start: destination, count: length).copyBytes(from: text[..<length])
        text.removeFirst(length)
        return length
    }

    /// Milliseconds between two looks at the cancellation flag while a pipe has nothing to read.
    private static let pollMilliseconds: Int32 = 50

    /// Returns when there is something to read (or an error to find out); false when the run was cancelled meanwhile, or
    /// the wait is over.
    private func waitForInput() -> Bool {
        guard mayWait else { return true }
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while !cancellation.isSet && patience?.isOver != true {
            // SAFETY: one request, alive for the call.
            if unsafe poll(&request, 1, Self.pollMilliseconds) != 0 { return true }
        }
        return false
    }
}

extension InputName {
    /// Where it leads; nil for what is no regular file.
    var place: FilePlace? {
        switch self {
        case .standardInput:
            var status = stat()
            guard unsafe fstat(0, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
            return .file(FileIdentity(status))
        case .file(let path), .found(let path): return FilePlace(path: path)
        case .arguments: return nil
        }
    }

    /// The size in bytes of a regular file; nil for a pipe or a terminal.
    package var size: Int? {
        var status = stat()
        let found: Int32
        switch self {
        case .standardInput: found = unsafe fstat(0, &status)
        case .file(let path), .found(let path): found = unsafe stat(path, &status)
        case .arguments(let text): return text.utf8.count
        }
        guard found == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int(status.st_size)
    }
}
