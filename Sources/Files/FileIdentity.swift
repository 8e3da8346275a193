#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Device and inode: equal for all names of one file.
package struct FileIdentity: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64

    package init(device: UInt64, inode: UInt64) { (self.device, self.inode) = (device, inode) }

    package init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(truncatingIfNeeded: status.st_ino)
    }

    /// The identity of the file that a path leads to, symbolic links followed; nil if there is none.
    package init?(path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// The identity of an open file; nil if the descriptor is not open.
    package init?(descriptor: Int32) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }
}

/// Locks an open file for this process alone.
///
/// - Returns: nil if another process has the lock; false if the file has lost its name, to a new file or to none, before this one
///   had the lock, which then guards nothing.
package func lockFile(_ descriptor: Int32, named path: String) -> Bool? {
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return nil }
    return FileIdentity(path: path) == FileIdentity(descriptor: descriptor)
}

/// Where a path leads: an existing file, or a name in a folder for a file yet to be made.
package enum FilePlace: Hashable, Sendable {
    case file(FileIdentity)
    case name(String, folder: FileIdentity)

    /// Nil if the folder does not exist either, and for devices and pipes, which a run may use twice.
    package init?(path: String) {
        var status = stat()
        if unsafe stat(path, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFREG else { return nil }
            self = .file(FileIdentity(status))
            return
        }
        let parts = path.split(separator: "/", omittingEmptySubsequences: true)
        guard let name = parts.last, let folder = FileIdentity(path: folder(of: path)) else { return nil }
        self = .name(String(name), folder: folder)
    }
}

/// Whether two paths lead to the same file, or would once both are written.
package func leadToSameFile(_ first: String, _ second: String) -> Bool {
    guard let first = FilePlace(path: first), let second = FilePlace(path: second) else { return false }
    return first == second
}

/// The folder part of a path: `.` if it has none.
func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
}

/// The absolute path with all symbolic links followed; the path itself if nothing exists there.
package func resolvedPath(_ path: String) -> String {
    // SAFETY: realpath's answer is a malloc'ed C string, copied and then freed.
    guard let answer = unsafe realpath(path, nil) else { return path }
    defer { unsafe free(answer) }
    return unsafe String(cString: answer)
}

/// Whether this process may create files in a path's folder.
package func isFolderWritable(of path: String) -> Bool { unsafe access(folder(of: path), W_OK) == 0 }

/// Where a path leads once the links that it ends in are followed, a file that is there or one yet to be made. Its folder is
/// absolute, unless there is none.
///
/// - Throws: EACCES where one of the links is another user's and must not be followed; see `isForeign`.
package func destination(of path: String) throws(SystemError) -> String {
    var path = path
    // Linux follows at most 40 links, too.
    for _ in 0..<40 {
        guard let target = try linkTarget(path) else {
            guard let name = path.split(separator: "/").last else { return path }
            let parent = resolvedPath(folder(of: path))
            return parent == "/" ? "/\(name)" : "\(parent)/\(name)"
        }
        path = target
    }
    throw SystemError(number: ELOOP)
}

/// What a link leads to, as a path from here; nil for anything but a link.
private func linkTarget(_ path: String) throws(SystemError) -> String? {
    var status = stat()
    guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return nil }
    guard !isForeign(status, in: folder(of: path)) else { throw SystemError(number: EACCES) }
    var target = [UInt8](repeating: 0, count: 4096)
    // SAFETY: the call writes at most as many bytes as there are.
    let length = unsafe target.withUnsafeMutableBytes { bytes in
        unsafe readlink(path, bytes.baseAddress!.assumingMemoryBound(to: CChar.self), bytes.count)
    }
    guard length > 0 else { return nil }
    let link = String(decoding: target[..<length], as: UTF8.self)
    return link.hasPrefix("/") ? link : "\(folder(of: path))/\(link)"
}

/// Whether something in a folder where everybody may create files, and nobody remove another's, as in `/tmp`, is of neither
/// this user nor the folder's owner. The kernel follows no such link and opens no such pipe to write, where
/// `fs.protected_symlinks` and `fs.protected_fifos` are set; but it does not see what was resolved before.
private func isForeign(_ status: stat, in folder: String) -> Bool {
    var parent = stat()
    guard unsafe stat(folder, &parent) == 0 else { return false }
    let isShared = parent.st_mode & S_ISVTX != 0 && parent.st_mode & S_IWOTH != 0
    return isShared && status.st_uid != geteuid() && status.st_uid != parent.st_uid
}

/// Opens for writing what must not be replaced by a new file: a device, a pipe, or a descriptor of this process
/// (`/dev/stdout`), even one of a regular file, which the parent may be writing to as well.
///
/// - Returns: a descriptor for the caller to close; nil if the path leads to a regular file or to nothing.
/// - Throws: EACCES for another user's link or pipe in a folder such as `/tmp`.
package func openInPlace(_ path: String) throws(SystemError) -> Int32? {
    let descriptor: Int32
    if let number = try descriptorNumber(path) {
        // A duplicate shares the file offset with the original; opening the path again would start at 0.
        descriptor = dup(number)
    } else {
        let path = try destination(of: path)
        var status = stat()
        guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG else { return nil }
        guard !isForeign(status, in: folder(of: path)) else { throw SystemError(number: EACCES) }
        descriptor = unsafe open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC)
    }
    guard descriptor >= 0 else { throw .last }
    return descriptor
}

/// The descriptor of this process that a path names: `/dev/stdout`, `/dev/fd/3`, `/proc/self/fd/3`, or a link to one.
private func descriptorNumber(_ path: String) throws(SystemError) -> Int32? {
    var path = path
    for _ in 0..<40 {
        let parent = resolvedPath(folder(of: path))
        let name = String(path.split(separator: "/").last ?? "")
        if parent == "/dev/fd" || parent == "/proc/\(getpid())/fd" { return Int32(name) }
        guard let target = try linkTarget(path) else { return nil }
        path = target
    }
    return nil
}
