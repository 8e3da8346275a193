#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Why a file or folder cannot be taken for one's own: others may have put it there, or may change it.
package enum ForeignFile: Error, Hashable, Sendable, CustomStringConvertible {
    case otherKind
    case otherOwner
    /// A file with several names: one of them may be in another's hands.
    case otherNames
    case writableByOthers
    /// A symbolic link that neither root nor this process's user made.
    case foreignLink
    /// A folder in which others can put another file in its place.
    case openFolder

    /// What is said of it, after its name.
    package var description: String {
        switch self {
        case .otherKind: "is of another kind"
        case .otherOwner: "is another user's"
        case .otherNames: "has other names, by hard links"
        case .writableByOthers: "can be written to by others"
        case .foreignLink: "is a symbolic link of another user"
        case .openFolder: "is in a folder where others can put another in its place"
        }
    }

    /// Looks at an open file.
    ///
    /// - Parameter owner: whose it may be, where it is not this process's.
    package static func fault(ofFile descriptor: Int32, owner: uid_t = geteuid()) -> ForeignFile? {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return .otherKind }
        return fault(status, S_IFREG, owner)
    }

    /// Looks at a file by its name, which is not followed; nil too where there is none.
    package static func fault(ofFile path: String, owner: uid_t = geteuid()) -> ForeignFile? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? fault(status, S_IFREG, owner) : nil
    }

    private static func fault(_ status: stat, _ kind: mode_t, _ owner: uid_t) -> ForeignFile? {
        if status.st_mode & S_IFMT != kind { return .otherKind }
        if status.st_uid != owner, status.st_uid != geteuid() { return .otherOwner }
        if kind == S_IFREG, status.st_nlink != 1 { return .otherNames }
        return status.st_mode & 0o022 == 0 ? nil : .writableByOthers
    }

    /// Looks at a folder that must be this user's alone. A symbolic link to it may be root's, as systemd's to the state of a
    /// dynamic user.
    ///
    /// - Throws: `SystemError`: there is none.
    package static func fault(ofFolder path: String) throws(SystemError) -> ForeignFile? {
        // With a slash behind it the name would be followed.
        var name = path
        while name.count > 1, name.last == "/" { name.removeLast() }
        var status = stat()
        guard unsafe lstat(name, &status) == 0 else { throw .last }
        if status.st_mode & S_IFMT == S_IFLNK, status.st_uid != 0, status.st_uid != geteuid() { return .foreignLink }
        let descriptor = unsafe open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .last }
        defer { close(descriptor) }
        guard unsafe fstat(descriptor, &status) == 0 else { throw .last }
        return fault(status, S_IFDIR, geteuid())
    }

    /// Looks at the folder of a file: whether others can put another in the file's place.
    ///
    /// - Parameter owner: whose it may be, where it is neither root's nor this process's.
    package static func fault(ofFolderOf path: String, owner: uid_t = geteuid()) -> ForeignFile? {
        var status = stat()
        guard unsafe stat(folder(of: path), &status) == 0 else { return nil }
        let isTrusted = [0, geteuid(), owner].contains(status.st_uid)
        return isTrusted && (status.st_mode & 0o002 == 0 || status.st_mode & S_ISVTX != 0) ? nil : .openFolder
    }
}
