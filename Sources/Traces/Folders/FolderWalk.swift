import Files

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// What is below a folder.
///
/// Hidden files and folders (a name that begins with a point) and symbolic links are not followed, so that no loop can
/// occur and nothing outside of the folder is read; nor is the folder of the output.
struct FolderWalk {
    /// A regular file.
    struct File {
        /// Its path below the folder.
        var name: String
        var size: Int
        /// Of its last change, in nanoseconds since 1970.
        var changed: Int64
        var identity: FileIdentity
    }

    /// The deepest nesting of folders that is entered.
    static let maximumDepth = 64

    /// The files, ordered by the bytes of their names.
    private(set) var files: [File] = []
    /// What is not read, by its kind.
    private(set) var skipped: [String: Int] = [:]
    /// Folders that could not be listed, and files that could not be looked at.
    private(set) var failures: [(name: String, error: SystemError)] = []

    /// Walks a folder. O(n log n) in the number of entries.
    ///
    /// - Parameter output: the folder that is not entered.
    /// - Throws: `cannotRead` where the folder itself cannot be listed.
    init(_ folder: String, besides output: FileIdentity?) throws(TraceError) {
        var folders = [(name: "", depth: 0)]
        while let next = folders.popLast() {
            do throws(SystemError) {
                for entry in try Self.entries(of: next.name.isEmpty ? folder : "\(folder)/\(next.name)") {
                    add(entry, in: next, of: folder, besides: output, to: &folders)
                }
            } catch {
                guard next.depth > 0 else { throw .cannotRead(file: folder, error) }
                failures.append((next.name, error))
            }
        }
        files.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        failures.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    private mutating func add(
        _ entry: Entry, in parent: (name: String, depth: Int), of folder: String, besides output: FileIdentity?,
        to folders: inout [(name: String, depth: Int)]
    ) {
        if entry.name.hasPrefix(".") { return skip("hidden files and folders") }
        let name = parent.name.isEmpty ? entry.name : "\(parent.name)/\(entry.name)"
        // No path leads to it: it is named, and the run has failed in this.
        guard entry.isUTF8 else { return failures.append((name, SystemError(number: EILSEQ))) }
        var status = stat()
        guard unsafe lstat("\(folder)/\(name)", &status) == 0 else { return failures.append((name, .last)) }
        let identity = FileIdentity(status)
        switch status.st_mode & S_IFMT {
        case S_IFREG:
            files.append(
                File(
                    name: name, size: Int(status.st_size), changed: FileVersion(status).nanoseconds, identity: identity)
            )
        case S_IFDIR where identity == output: skip("the folder of the output")
        case S_IFDIR where parent.depth >= Self.maximumDepth: failures.append((name, SystemError(number: ELOOP)))
        case S_IFDIR: folders.append((name, parent.depth + 1))
        case S_IFLNK: skip("symbolic links")
        default: skip("devices, pipes and sockets")
        }
    }

    private mutating func skip(_ kind: String) { skipped[kind, default: 0] += 1 }

    /// A name in a folder. Of one that is not UTF-8 `name` shows what can be shown.
    private struct Entry {
        var name: String
        var isUTF8: Bool
    }

    private static func entries(of folder: String) throws(SystemError) -> [Entry] {
        // SAFETY: the stream is closed below; entries are copied before the next is read.
        guard let stream = unsafe opendir(folder) else { throw .last }
        defer { unsafe closedir(stream) }
        var names: [Entry] = []
        errno = 0
        while let entry = unsafe readdir(stream) {
            let entry = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { name in
                    let valid = unsafe String(validatingCString: name)
                    return unsafe Entry(name: valid ?? String(cString: name), isUTF8: valid != nil)
                }
            }
            if entry.name != "." && entry.name != ".." { names.append(entry) }
            errno = 0
        }
        if errno != 0 { throw .last }
        return names
    }
}

/// What tells whether a file was changed.
struct FileVersion: Hashable {
    var size: Int
    /// Of the last change, in nanoseconds since 1970.
    var nanoseconds: Int64

    init(_ status: stat) {
        size = Int(status.st_size)
        #if canImport(Glibc)
            let time = status.st_mtim
        #else
            let time = status.st_mtimespec
        #endif
        nanoseconds = Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }

    /// That of an open regular file; nil for anything else.
    init?(descriptor: Int32) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        self.init(status)
    }
}
