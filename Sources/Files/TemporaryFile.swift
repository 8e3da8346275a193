#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A file that is written beside its destination and takes its place whole, or not at all.
///
/// Its name cannot be predicted, and it is never opened where something of that name exists, be it a link. Without
/// `publish` it is removed with the value, and by `UnfinishedFiles.removeAll` where the process ends before. Only what cannot be
/// caught (SIGKILL, a failure of the machine) leaves it behind, as `NAME.….partial`.
package struct TemporaryFile: ~Copyable {
    /// The temporary name, absolute wherever the folder's could be found.
    package let path: String
    /// Open for writing.
    package let descriptor: Int32
    /// What it is to replace, absolute likewise.
    package let destination: String
    private var slot: Int?
    /// Whether the file is to go with the value.
    private var isRemoved = true
    private var isOpen = true

    /// Creates the file, empty.
    ///
    /// - Parameters:
    ///   - destination: what it is to replace. Where that is a symbolic link, the file it leads to is replaced, so that
    ///     the link itself survives.
    ///   - mode: the permissions; nil for those of the file to be replaced, or else the usual ones.
    package init(replacing destination: String, mode: mode_t? = nil) throws(SystemError) {
        let target = resolvedPath(destination)
        var status = stat()
        let kept = mode ?? (unsafe stat(target, &status) == 0 ? status.st_mode & 0o777 : nil)
        let folder = resolvedPath(folder(of: target))
        let parent = folder == "/" ? "" : folder
        // The longest name a folder takes is 255 bytes.
        let fileName = target.split(separator: "/").last ?? ""
        let name = String(decoding: fileName.utf8.prefix(200), as: UTF8.self)
        for _ in 0..<100 {
            let random = String(UInt64.random(in: .min ... .max), radix: 36)
            let path = "\(parent)/\(name).\(random).partial"
            let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode ?? 0o666)
            if descriptor >= 0 {
                if let kept { _ = fchmod(descriptor, kept) }
                self.path = path
                self.descriptor = descriptor
                self.destination = "\(parent)/\(fileName)"
                slot = UnfinishedFiles.add(path)
                return
            }
            guard errno == EEXIST else { throw .last }
        }
        throw SystemError(number: EEXIST)
    }

    deinit {
        if isOpen { close(descriptor) }
        if isRemoved { _ = unsafe unlink(path) }
        UnfinishedFiles.remove(slot)
    }

    /// From here on the file stays where it is if it is not published: it is somebody else's to find.
    ///
    /// - Returns: where it is, and where it was to be.
    package mutating func leave() -> (path: String, destination: String) {
        UnfinishedFiles.remove(slot)
        slot = nil
        isRemoved = false
        return (path, destination)
    }

    /// Takes `leave` back: the file goes with the value.
    package mutating func takeBack() { isRemoved = true }

    /// Waits until what was written is safe from a failure of the machine.
    package func sync() throws(SystemError) { try Files.sync(descriptor) }

    /// Gives the file its name, content first: after a failure of the machine there is the old file or the new one.
    ///
    /// - Parameters:
    ///   - exclusively: fails with `EEXIST` where the destination exists by now.
    ///   - keepsOpen: leaves `descriptor` open, for the caller to close.
    package mutating func publish(exclusively: Bool = false, keepsOpen: Bool = false) throws(SystemError) {
        try sync()
        if !keepsOpen {
            isOpen = false
            // Some file systems tell only now that they could not write.
            guard close(descriptor) == 0 else { throw .last }
        }
        if exclusively {
            try linkToDestination()
        } else if unsafe rename(path, destination) != 0 {
            throw .last
        }
        isRemoved = false
        isOpen = false
        UnfinishedFiles.remove(slot)
        slot = nil
        Self.syncFolder(of: destination)
    }

    private func linkToDestination() throws(SystemError) {
        if unsafe link(path, destination) == 0 {
            _ = unsafe unlink(path)
            return
        }
        // Some file systems have no links.
        guard errno == EPERM || errno == ENOTSUP || errno == ENOSYS else { throw .last }
        guard unsafe access(destination, F_OK) != 0 else { throw SystemError(number: EEXIST) }
        guard unsafe rename(path, destination) == 0 else { throw .last }
    }

    /// Makes a rename safe from a failure of the machine, where the system lets us; where not, there is the old file.
    private static func syncFolder(of path: String) {
        let descriptor = unsafe open(folder(of: path), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        _ = fsync(descriptor)
        close(descriptor)
    }
}

/// Writes a file that appears whole or not at all. What is no regular file is written in place.
package func writeFile(_ bytes: [UInt8], to path: String) throws(SystemError) {
    if let descriptor = try openInPlace(path) {
        defer { close(descriptor) }
        return try writeAll(bytes, to: descriptor)
    }
    var file = try TemporaryFile(replacing: path)
    try writeAll(bytes, to: file.descriptor)
    try file.publish()
}

/// Writes all of the bytes to a descriptor.
package func writeAll(_ bytes: [UInt8], to descriptor: Int32) throws(SystemError) {
    unsafe try bytes.withUnsafeBufferPointer { bytes throws(SystemError) in
        unsafe try writeAll(bytes, to: descriptor)
    }
}

/// Writes all of the bytes to a descriptor.
package func writeAll(_ bytes: UnsafeBufferPointer<UInt8>, to descriptor: Int32) throws(SystemError) {
    // SAFETY: `written` never exceeds the count.
    var written = 0
    while written < bytes.count {
        let result = unsafe write(descriptor, bytes.baseAddress! + written, bytes.count - written)
        if result >= 0 {
            written += result
        } else if errno != EINTR {
            throw .last
        }
    }
}

/// Waits until what was written to a descriptor is safe from a failure of the machine; does nothing for what cannot be,
/// such as a pipe.
package func sync(_ descriptor: Int32) throws(SystemError) {
    while fsync(descriptor) != 0 {
        switch errno {
        case EINTR: continue
        case EINVAL, ENOTSUP, EROFS: return
        default: throw .last
        }
    }
}
