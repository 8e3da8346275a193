import Files

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Where output goes: standard output, or a file that appears whole or not at all.
///
/// A file is written under a temporary name beside its own, which `publish` replaces. Without it (an error, a stopped
/// run, a signal that the command catches) the temporary file is removed and whatever had the name before is left as it
/// was. Devices and pipes (`/dev/null`, a FIFO) are written in place.
package struct OutputFile: ~Copyable {
    /// The name for messages.
    private let label: String
    /// What is written in place, or a copy of the temporary file's descriptor.
    private let descriptor: Int32
    private let isOwned: Bool
    /// Nil where output is written in place.
    private var temporary: TemporaryFile?
    /// The path of what `publish` replaces; nil where output is written in place.
    let destination: String?
    /// Nil where output is written as it is, and after its end.
    private var compressor: Compressor?

    /// Standard output, which must not be a file that the run uses. What was written before a failure stays written.
    package static func standard(
        besides used: [UsedFile] = [], compression: Compression? = nil
    ) throws(TraceError) -> OutputFile {
        try UsedFile.check(descriptor: 1, label: "standard output", besides: used)
        return OutputFile(
            label: "standard output", descriptor: 1, isOwned: false, temporary: nil, compression: compression)
    }

    /// Whether what is written appears at once, rather than with `publish`.
    var isImmediate: Bool { temporary == nil }

    private init(
        label: String, descriptor: Int32, isOwned: Bool, temporary: consuming TemporaryFile?,
        destination: String? = nil, compression: Compression?
    ) {
        self.label = label
        self.descriptor = descriptor
        self.isOwned = isOwned
        self.destination = destination
        self.temporary = temporary
        compressor = compression.map { Compressor($0) }
    }

    /// A file at `path`, which must not be any of those that the run uses.
    package static func file(
        _ path: String, besides used: [UsedFile] = [], compression: Compression? = nil
    ) throws(TraceError) -> OutputFile {
        try UsedFile.check(path, besides: used)
        do throws(SystemError) {
            if let descriptor = try openInPlace(path) {
                return OutputFile(
                    label: path, descriptor: descriptor, isOwned: true, temporary: nil, compression: compression)
            }
            let temporary = try TemporaryFile(replacing: path)
            let descriptor = temporary.descriptor
            return OutputFile(
                label: path, descriptor: descriptor, isOwned: false, temporary: temporary, destination: path,
                compression: compression)
        } catch {
            throw .cannotWrite(file: path, error)
        }
    }

    deinit {
        if isOwned { close(descriptor) }
    }

    /// Writes the buffer out and empties it. What is written in place can be read then, compressed or not.
    package func write(_ buffer: inout ByteBuffer) throws(TraceError) {
        do throws(SystemError) {
            unsafe try buffer.withBytes { bytes throws(SystemError) in
                if let compressor {
                    unsafe try compressor.write(bytes, flush: isImmediate ? .all : .none) {
                        packed throws(SystemError) in unsafe try writeAll(packed, to: descriptor)
                    }
                } else {
                    unsafe try writeAll(bytes, to: descriptor)
                }
            }
        } catch {
            throw failure(error)
        }
        buffer.removeAll()
    }

    /// Ends the compressed stream, once.
    private mutating func endStream() throws(TraceError) {
        guard let compressor else { return }
        self.compressor = nil
        let descriptor = descriptor
        do throws(SystemError) {
            unsafe try compressor.write(UnsafeBufferPointer(start: nil, count: 0), flush: .end) {
                packed throws(SystemError) in unsafe try writeAll(packed, to: descriptor)
            }
        } catch {
            throw failure(error)
        }
    }

    /// Makes all that was written safe, and leaves it where `publish` or another process can find it.
    ///
    /// - Returns: where that is; nil for what was written in place.
    mutating func stage() throws(TraceError) -> StagedFile? {
        if isImmediate { return nil }
        try endStream()
        do throws(SystemError) {
            try temporary!.sync()
        } catch {
            throw failure(error)
        }
        guard let identity = FileIdentity(descriptor: descriptor) else { throw failure(.last) }
        let (path, destination) = temporary!.leave()
        return StagedFile(path: path, destination: destination, identity: identity)
    }

    /// Takes `stage` back: the file goes with the value, if it is not published.
    mutating func unstage() {
        if !isImmediate { temporary!.takeBack() }
    }

    /// Gives the file its name. To be called once, after the last write.
    ///
    /// - Parameter syncsFolder: whether the name is made durable too; else the caller does.
    package mutating func publish(syncsFolder: Bool = true) throws(TraceError) {
        try endStream()
        do throws(SystemError) {
            if !isImmediate {
                try temporary!.publish(syncsFolder: syncsFolder)
            } else {
                // Closing a copy makes a file system report deferred write errors.
                let copy = dup(descriptor)
                guard copy >= 0, close(copy) == 0 else { throw .last }
            }
        } catch {
            throw failure(error)
        }
    }

    private func failure(_ error: SystemError) -> TraceError {
        error.number == EPIPE ? .outputClosed : .cannotWrite(file: label, error)
    }
}

/// A whole output under its temporary name.
struct StagedFile: Hashable {
    var path: String
    /// The name it is to get.
    var destination: String
    var identity: FileIdentity

    /// Whether it still has that name, and so was not published.
    var isThere: Bool { FileIdentity(path: path) == identity }

    /// Whether it has the other.
    var isPublished: Bool { FileIdentity(path: destination) == identity }
}

/// A file that a run reads or keeps, which no output may replace.
package struct UsedFile: Hashable, Sendable {
    /// What for.
    package enum Role: Sendable {
        case input, state, atlas, zones, key
    }

    var role: Role
    private var place: FilePlace?

    package init(_ input: InputName) {
        role = .input
        place = input.place
    }

    package init(state path: String) { (role, place) = (.state, FilePlace(path: path)) }
    package init(atlas path: String) { (role, place) = (.atlas, FilePlace(path: path)) }
    package init(zones path: String) { (role, place) = (.zones, FilePlace(path: path)) }
    package init(key path: String) { (role, place) = (.key, FilePlace(path: path)) }

    /// - Throws: `TraceError.inUse` where a path leads to one of these files.
    static func check(_ path: String, besides used: [UsedFile]) throws(TraceError) {
        guard let place = FilePlace(path: path) else { return }
        for file in used where file.place == place { throw .inUse(file: path, as: file.role) }
    }

    /// The same for a file that is open.
    static func check(descriptor: Int32, label: String, besides used: [UsedFile]) throws(TraceError) {
        guard let identity = FileIdentity(descriptor: descriptor) else { return }
        for file in used where file.place == .file(identity) { throw .inUse(file: label, as: file.role) }
    }
}
