#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A file that is written beside its destination and then replaces it atomically, or not at all.
///
/// Its name is unpredictable, and it is created exclusively, so that no planted file or link is opened. Unless published
/// it is removed with the value, or by `UnfinishedFiles.removeAll` if a signal ends the process first. Only SIGKILL or a failure of
/// the machine leaves it behind, as `NAME.….partial`.
package struct TemporaryFile: ~Copyable {
    /// The temporary path; absolute unless the folder cannot be resolved.
    package let path: String
    /// Open for writing.
    package let descriptor: Int32
    /// The path to replace; absolute likewise.
    package let destination: String
    private var slot: Int?
    /// Whether the file is removed with the value.
    private var isRemoved = true
    private var isOpen = true

    /// Creates the file, empty.
    ///
    /// - Parameters:
    ///   - destination: the path to replace. If it is a symbolic link, the file that it leads to is replaced and the
    ///     link stays. Another user's link in a folder such as `/tmp` is an error (EACCES).
    ///   - mode: the permissions; nil for those of the file to replace or, without one, 0o666 less the umask.
    package init(replacing destination: String, mode: mode_t? = nil) throws(SystemError) {
        let target = try Files.destination(of: destination)
        var status = stat()
        let kept = mode ?? (unsafe stat(target, &status) == 0 ? status.st_mode & 0o777 : nil)
        let folder = folder(of: target)
        let parent = folder == "/" ? "" : folder
        // A file name has at most 255 bytes; random part and extension take up to 22.
        let fileName = target.split(separator: "/").last ?? ""
        let name = String(decoding: fileName.utf8.prefix(200), as: UTF8.self)
        for _ in 0..<100 {
            let random = String(UInt64.random(in: .min ... .max), radix: 36)
            let path = "\(parent)/\(name).\(random).partial"
            let (descriptor, slot) = UnfinishedFiles.create(path) {
                unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode ?? 0o666)
            }
            if descriptor >= 0 {
                if let kept { _ = fchmod(descriptor, kept) }
                self.path = path
                self.descriptor = descriptor
                self.destination = "\(parent)/\(fileName)"
                self.slot = slot
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

    /// Keeps the file even if it is never published, for the next run to find.
    ///
    /// - Returns: the temporary path and the destination.
    package mutating func leave() -> (path: String, destination: String) {
        UnfinishedFiles.remove(slot)
        slot = nil
        isRemoved = false
        return (path, destination)
    }

    /// Undoes `leave`: the file is removed with the value again.
    package mutating func takeBack() { isRemoved = true }

    /// Waits until the content is durable (`fsync`).
    package func sync() throws(SystemError) { try Files.sync(descriptor) }

    /// Syncs the content, then renames the file to its destination: a failure of the machine leaves the old file or the new
    /// one, complete.
    ///
    /// - Parameters:
    ///   - exclusively: whether to fail with `EEXIST` if the destination exists by now.
    ///   - keepsOpen: whether to leave `descriptor` open, for the caller to close.
    ///   - syncsFolder: whether the new name is made durable too; else the caller does, with `Files.syncFolder`.
    package mutating func publish(
        exclusively: Bool = false, keepsOpen: Bool = false, syncsFolder: Bool = true
    ) throws(SystemError) {
        try sync()
        if !keepsOpen {
            isOpen = false
            // Some file systems report a failed write only on close.
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
        if syncsFolder { Files.syncFolder(folder(of: destination)) }
    }

    private func linkToDestination() throws(SystemError) {
        if unsafe link(path, destination) == 0 {
            _ = unsafe unlink(path)
            return
        }
        // Some file systems have no hard links.
        guard errno == EPERM || errno == ENOTSUP || errno == ENOSYS else { throw .last }
        guard unsafe access(destination, F_OK) != 0 else { throw SystemError(number: EEXIST) }
        guard unsafe rename(path, destination) == 0 else { throw .last }
    }
}

/// Makes the names in a folder durable, if the file system supports that; otherwise a failure may bring old files back.
package func syncFolder(_ path: String) {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    _ = fsync(descriptor)
    close(descriptor)
}

/// Writes a file that appears whole or not at all. Devices, pipes and descriptors are written in place.
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

/// Waits until what was written to a descriptor is durable (`fsync`). Does nothing for what does not support that, such as
/// a pipe.
package func sync(_ descriptor: Int32) throws(SystemError) {
    while fsync(descriptor) != 0 {
        switch errno {
        case EINTR: continue
        case EINVAL, ENOTSUP, EROFS: return
        default: throw .last
        }
    }
}
