import Files
import Hereabouts

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A hidden file in a folder of outputs, while a run writes there: from it the next run knows whether the outputs that are
/// there are its own.
///
/// It is locked, so that two runs cannot write at once, and removed when all outputs are written. A run appends a line if the last
/// one is not the same, and the last whole line counts, so that no kill leaves less than what the run before knew. A line has a
/// checksum of the inputs' names, sizes and times of change, the settings and the atlas; `replacing` or `adding`; and the numbers of
/// the outputs that were there before. A checksum of all files together tells nothing of one.
///
/// - With the same checksum, the run goes on where the other was interrupted: the answers are the same, and of the outputs
///   the missing ones are written.
/// - Otherwise outputs that stay are *reserved*: any tick at which their inputs have fixes may have its answer there, and is
///   not answered with a fix of another file (contract C9).
/// - An interrupted run that replaced outputs left old ones beside new ones: then none stays.
struct RunMark: ~Copyable {
    static let name = ".hereabouts-run"
    /// More than the lines of any runs come to.
    static let maximumBytes = 1 << 28

    private let path: String
    private var descriptor: Int32 = -1
    private let line: String
    /// The length of the lines of earlier runs, in bytes, and the last of these.
    private let lengthBefore: Int
    private let lastBefore: Substring?
    /// Which outputs stay as they are, and which of them are reserved.
    let isKept, isReserved: [Bool]

    /// Decides what stays, and locks the folder unless the run is dry. The folder is made if there is none.
    init(
        output: String, plan: FolderPlan, atlas: Atlas, options: FolderRun.Options
    ) throws(TraceError) {
        path = "\(output)/\(Self.name)"
        if !options.isDry {
            try makeFolders(output)
            descriptor = try Self.openLocked(path, output: output)
        }
        let content: String
        do throws(TraceError) {
            content = try Self.contents(descriptor, path: path)
        } catch {
            if descriptor >= 0 { close(descriptor) }
            throw error
        }
        let existing = plan.inputs.map { unsafe access("\(output)/\($0.output)", F_OK) == 0 }
        // A line that is not whole was not written by a run that wrote anything else.
        let before = content[..<(content.lastIndex(of: "\n").map { content.index(after: $0) } ?? content.startIndex)]
        (lengthBefore, lastBefore) = (before.utf8.count, before.split(separator: "\n").last)
        let words = lastBefore?.split(separator: " ") ?? []
        let checksum = Self.checksum(plan, atlas: atlas, options: options)
        let wasReplacing = words.count > 1 && words[1] == "replacing"
        let isSame = words.count > 1 && words[0] == checksum
        let kept = options.skipsExisting && !wasReplacing ? existing : existing.map { _ in false }
        var reserved = kept
        if isSame {
            let numbers = Set(words.dropFirst(2).compactMap { Int($0) })
            reserved = kept.indices.map { kept[$0] && numbers.contains($0) }
        }
        let isReplacing = zip(existing, kept).contains { $0 && !$1 }
        line =
            ([checksum, isReplacing ? "replacing" : "adding"]
            + reserved.indices.filter { reserved[$0] }.map(String.init)).joined(separator: " ")
        (isKept, isReserved) = (kept, reserved)
    }

    deinit {
        guard descriptor >= 0 else { return }
        // A run that wrote nothing leaves nothing.
        if lengthBefore == 0 && !isWritten { _ = unsafe unlink(path) }
        close(descriptor)
    }

    private var isWritten = false

    /// Makes the mark safe. To be called before the first output gets its name.
    mutating func write() throws(TraceError) {
        isWritten = true
        do throws(SystemError) {
            if lastBefore != line[...] {
                let end = off_t(lengthBefore)
                guard ftruncate(descriptor, end) == 0, lseek(descriptor, end, SEEK_SET) == end else { throw .last }
                try writeAll(Array("\(line)\n".utf8), to: descriptor)
            }
            try sync(descriptor)
        } catch {
            throw .cannotWrite(file: path, error)
        }
    }

    /// Removes it: all outputs are there.
    mutating func remove() { _ = unsafe unlink(path) }

    /// Opens the file, made where there is none, and locks it.
    private static func openLocked(_ path: String, output: String) throws(TraceError) -> Int32 {
        while true {
            try requireFile(path)
            let descriptor = unsafe open(
                path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw .cannotWrite(file: output, .last) }
            do throws(TraceError) {
                guard let isNamed = lockFile(descriptor, named: path) else { throw .folderInUse(output) }
                // A run that ended may have removed it before we had the lock.
                if isNamed {
                    try requireOwn(descriptor, path: path)
                    return descriptor
                }
            } catch {
                close(descriptor)
                throw error
            }
            close(descriptor)
        }
    }

    /// - Throws: `notAFile` where something else has the name: opening it may do anything.
    private static func requireFile(_ path: String) throws(TraceError) {
        var status = stat()
        if unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG { throw .notAFile(file: path) }
    }

    /// - Throws: `foreignMark` where another user could have written it, or where writing to it changes another file.
    private static func requireOwn(_ descriptor: Int32, path: String) throws(TraceError) {
        switch ForeignFile.fault(ofFile: descriptor) {
        case nil: break
        case .otherKind: throw .notAFile(file: path)
        default: throw .foreignMark(file: path)
        }
    }

    /// The lines of the open file, or in a dry run of that which has its name; nothing of none.
    ///
    /// - Throws: `cannotRead`: a part of the lines would be another decision; `notAFile`, `foreignMark`.
    private static func contents(_ descriptor: Int32, path: String) throws(TraceError) -> String {
        if descriptor >= 0 { return try lines(descriptor, path: path) }
        let found: Int32?
        do throws(SystemError) {
            found = try openRegularFile(path, flags: O_NOFOLLOW)
        } catch {
            guard error.number == ENOENT || error.number == ENOTDIR else { throw .cannotRead(file: path, error) }
            return ""
        }
        guard let found else { throw .notAFile(file: path) }
        defer { close(found) }
        try requireOwn(found, path: path)
        return try lines(found, path: path)
    }

    private static func lines(_ descriptor: Int32, path: String) throws(TraceError) -> String {
        do throws(SystemError) {
            guard let bytes = try readAll(descriptor, limit: maximumBytes) else { throw SystemError(number: EFBIG) }
            return String(decoding: bytes, as: UTF8.self)
        } catch {
            throw .cannotRead(file: path, error)
        }
    }

    /// Of all that the answers and the outputs' names depend on.
    private static func checksum(_ plan: FolderPlan, atlas: Atlas, options: FolderRun.Options) -> String {
        var text = ByteBuffer(capacity: 1 << 12)
        for input in plan.inputs {
            let file = input.file
            text.append(text: "\(file.name)\0\(file.size) \(file.changed) \(file.identity.inode) \(input.output)\0")
        }
        var options = options
        (options.convert.now, options.convert.threads, options.skipsExisting) = (
            .init(nanosecondsSince1970: 0), 1, false
        )
        (options.isDry, options.namesAllProblems) = (false, false)
        // Another key gives another name; nothing of the key is in it.
        let name = String(decoding: options.convert.disguise.name(ofKey: Array("run".utf8)), as: UTF8.self)
        options.convert.disguise.renaming = nil
        text.append(text: "\(options)\0\(name) \(atlas.fingerprint)")
        let sum = unsafe text.withBytes { unsafe XXH64.hash(UnsafeRawBufferPointer($0)) }
        return String(sum, radix: 16)
    }
}

/// Makes a folder and those above it, where there are none.
func makeFolders(_ path: String) throws(TraceError) {
    if unsafe mkdir(path, 0o777) == 0 { return }
    switch errno {
    case EEXIST:
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw .cannotWrite(file: path, .last) }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw .cannotWrite(file: path, SystemError(number: ENOTDIR)) }
    case ENOENT:
        guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else {
            throw .cannotWrite(file: path, SystemError(number: ENOENT))
        }
        try makeFolders(String(path[..<slash]))
        if unsafe mkdir(path, 0o777) != 0 && errno != EEXIST { throw .cannotWrite(file: path, .last) }
    default: throw .cannotWrite(file: path, .last)
    }
}
