#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Device and inode: what two names of one file have in common.
package struct FileIdentity: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64

    package init(device: UInt64, inode: UInt64) { (self.device, self.inode) = (device, inode) }

    package init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(truncatingIfNeeded: status.st_ino)
    }

    /// Of what a path leads to; nil where that is nothing.
    package init?(path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Of an open file.
    package init?(descriptor: Int32) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }
}

/// Where a path leads: a file, or a name in a folder where there is no file yet.
package enum FilePlace: Hashable, Sendable {
    case file(FileIdentity)
    case name(String, folder: FileIdentity)

    /// Nil where the folder does not exist either, and for devices and pipes, which may be named twice.
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

/// Whether two paths lead to the same file, or would, if both are written.
package func leadToSameFile(_ first: String, _ second: String) -> Bool {
    guard let first = FilePlace(path: first), let second = FilePlace(path: second) else { return false }
    return first == second
}

/// The folder that a path names something in.
func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
}

/// A path with all its symbolic links followed; the path itself where there is no file yet.
package func resolvedPath(_ path: String) -> String {
    // SAFETY: realpath's answer is a malloc'ed C string, copied and then freed.
    guard let answer = unsafe realpath(path, nil) else { return path }
    defer { unsafe free(answer) }
    return unsafe String(cString: answer)
}
