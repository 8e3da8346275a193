#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Where output goes: standard output, or a file that appears whole or not at all.
///
/// A file is written under a temporary name beside its own and renamed by `finish()`. Without `finish()` (an error, a
/// stopped run, or Ctrl-C once `removePartialOutputOnSignals` was called) the temporary file is removed and whatever
/// had the name before is left as it was. Devices and pipes (`/dev/null`, a FIFO) are written in place.
package struct OutputFile: ~Copyable {
    /// The name for messages.
    private let label: String
    private let descriptor: Int32
    /// The temporary file and the name it is to get; nil where output is written in place.
    private let renaming: (from: String, to: String)?
    private var isFinished = false

    /// Standard output. What was written before a failure stays written.
    package static var standard: OutputFile {
        OutputFile(label: "standard output", descriptor: 1, renaming: nil)
    }

    /// Whether what is written appears at once, rather than with `finish()`.
    var isImmediate: Bool { renaming == nil }

    private init(label: String, descriptor: Int32, renaming: (from: String, to: String)?) {
        self.label = label
        self.descriptor = descriptor
        self.renaming = renaming
    }

    /// A file at `path`, which must not be any of `inputs`.
    package static func file(_ path: String, inputs: [InputName]) throws(TraceError) -> OutputFile {
        for input in inputs where input.isSameFile(as: path) { throw .outputIsInput(file: path) }
        var status = stat()
        let exists = unsafe stat(path, &status) == 0
        let isInPlace = exists && status.st_mode & S_IFMT != S_IFREG
        let target = exists ? Self.resolved(path) : path
        let temporary = "\(target).\(getpid()).partial"
        let descriptor =
            isInPlace
            ? unsafe open(path, O_WRONLY | O_CLOEXEC)
            : unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        let reason = lastSystemError()
        guard descriptor >= 0 else { throw .cannotWrite(file: path, reason: reason) }
        if !isInPlace { PartialOutput.set(temporary) }
        return OutputFile(label: path, descriptor: descriptor, renaming: isInPlace ? nil : (temporary, target))
    }

    deinit {
        guard let renaming else { return }
        close(descriptor)
        if !isFinished {
            _ = unsafe unlink(renaming.from)
            PartialOutput.clear()
        }
    }

    /// Writes the buffer out and empties it.
    package func write(_ buffer: inout ByteBuffer) throws(TraceError) {
        unsafe try buffer.withBytes { bytes throws(TraceError) in unsafe try write(bytes) }
        buffer.removeAll()
    }

    private func write(_ bytes: UnsafeBufferPointer<UInt8>) throws(TraceError) {
        guard unsafe !writeAll(bytes, to: descriptor) else { return }
        throw errno == EPIPE ? .outputClosed : .cannotWrite(file: label, reason: lastSystemError())
    }

    /// Gives the file its name. To be called once, after the last write.
    package mutating func finish() throws(TraceError) {
        guard let renaming else { return }
        guard unsafe rename(renaming.from, renaming.to) == 0 else {
            throw .cannotWrite(file: label, reason: lastSystemError())
        }
        isFinished = true
        PartialOutput.clear()
    }

    /// The file a symbolic link points to in the end, so that the link itself survives.
    private static func resolved(_ path: String) -> String {
        // SAFETY: realpath's answer is a malloc'ed C string, copied and then freed.
        guard let answer = unsafe realpath(path, nil) else { return path }
        defer { unsafe free(answer) }
        return unsafe String(cString: answer)
    }
}

/// Writes all of the bytes to a descriptor; false where that fails, with the reason in `errno`.
func writeAll(_ bytes: UnsafeBufferPointer<UInt8>, to descriptor: Int32) -> Bool {
    // SAFETY: `written` never exceeds the count.
    var written = 0
    while written < bytes.count {
        #if canImport(Glibc)
            let result = unsafe Glibc.write(descriptor, bytes.baseAddress! + written, bytes.count - written)
        #else
            let result = unsafe Darwin.write(descriptor, bytes.baseAddress! + written, bytes.count - written)
        #endif
        if result >= 0 {
            written += result
        } else if errno != EINTR {
            return false
        }
    }
    return true
}

/// The temporary file to remove when a signal ends the process. Used by the command alone, which has one output.
private enum PartialOutput {
    /// Whether signals remove it: set once, before the first output is opened.
    nonisolated(unsafe) static var isArmed = false
    /// A NUL-terminated path, read by the signal handler; nil where there is nothing to remove.
    nonisolated(unsafe) static var path: UnsafeMutablePointer<CChar>?

    static func set(_ name: String) {
        guard unsafe isArmed else { return }
        unsafe path = strdup(name)
    }

    static func clear() {
        guard unsafe isArmed else { return }
        // SAFETY: a handler that runs in between sees either the whole path or none. The few bytes are not given back,
        // because the handler may be reading them.
        unsafe path = nil
    }
}

/// Removes the unfinished output file, for a process that is about to end. Async-signal-safe; does nothing before
/// `removePartialOutputOnSignals`.
@Sendable package func removePartialOutput() {
    // SAFETY: the path is NUL-terminated and never freed.
    if let path = unsafe PartialOutput.path { unsafe unlink(path) }
}

/// From here on an interrupt, hang-up or termination signal removes the unfinished output file before it ends the
/// process as it would have, and a closed pipe is an error of `write` rather than a signal.
///
/// A signal that the parent had us ignore (`nohup`) stays ignored. One that it blocked is unblocked: threads of a
/// parent often block all signals, and their children start out with that.
package func removePartialOutputOnSignals() {
    // SAFETY: the handler calls only async-signal-safe functions (unlink, signal, raise); the structs are plain data.
    signal(SIGPIPE, SIG_IGN)
    unsafe PartialOutput.isArmed = true
    var blocked = sigset_t()
    unsafe sigemptyset(&blocked)
    for number in [SIGINT, SIGTERM, SIGHUP] {
        let before = signal(number) { number in
            removePartialOutput()
            signal(number, SIG_DFL)
            raise(number)
        }
        let isIgnored = unsafe unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
        if isIgnored { signal(number, SIG_IGN) }
        unsafe sigaddset(&blocked, number)
    }
    unsafe pthread_sigmask(SIG_UNBLOCK, &blocked, nil)
}
