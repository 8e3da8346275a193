import Files
import Hereabouts

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The file that carries devices' paces from one run of `convert` to the next (contract C12).
///
/// What a pacer needs is its last answer, that answer's tick and which regions stood before: fixes change nothing beyond
/// their tick. The file has a header, a *snapshot* (a record per device, as the last run that ended well left them), and, of
/// a run that goes on or was cut off, *frames* behind it. All numbers are little-endian; checksums are XXH64, seed 0.
///
/// ```text
/// header                                        frame
///  0  8  "HEREPACE"                              0  4  kind: 1 answers, 2 staged, 3 written
///  8  4  version, 4                              4  4  zero
/// 12  4  what is reported: 0 changes,            8  8  bytes of content
///        1 recomputations, 2 fixes, 3 stays
/// 16  8  fingerprint of the atlas, xor that     16  8  checksum of the content
///        of the zones, if there are any
/// 24  8  interval in nanoseconds                24  8  checksum of the 24 bytes before
/// 32  8  bytes of the snapshot                  32     content
/// 40  8  checksum of the snapshot
/// 48  8  checksum of the 48 bytes before        record
/// 56     the snapshot's records                  0  4  length of the device's key; 0xffffffff for the person of
///                                                      inputs without keys
///                                                4  4  flags: 1 if the answer was reported; of stays 2 if the last
///                                                      report is of the answer's region, 4 if it is of another
///                                                8 176 `Pacer.State`
///                                              184  8  with flag 4, the region of the last report
///                                                      the key
/// ```
///
/// Version 3 has zero in place of what is reported, which may be anything but stays, and flag 1 alone.
///
/// What is written where others see it at once follows a frame of *answers* (its records in order), safe on the disk
/// before the first byte is out, and is followed by a frame *written*. So a run that dies in between leaves answers of
/// which nobody knows whether they came out: the next run reports them again, the same as before.
///
/// A file that appears whole is first *staged* under its temporary name, then a frame says so (device, inode, lengths of
/// both paths, both paths, and a record for each device that was answered), then the file gets its name. If the temporary
/// file is still there when the frame is read, nobody has seen the answers: both are dropped, and the pace is as it was.
///
/// So a snapshot that is not as its checksum says is damage, wherever it was cut; and of the frames only a last one may
/// be incomplete, if it breaks off at the end of the file: nothing had come of it. The file is locked during a run,
/// replaced by renaming, readable by its owner alone, and used by no one else.
struct PaceJournal: ~Copyable {
    private let path: String
    private let header: [UInt8]
    /// Open for appending, and locked.
    private var descriptor: Int32
    private var keys = DeviceKeys()
    /// Each key's state, by its number, and that of the person of inputs without keys.
    private var memories: [Memory] = []
    private var unnamed: Memory?
    /// Which of `keys` were answered in this run, and whether the device without key was.
    private var isAnswered: [Bool] = []
    private var isUnnamedAnswered = false
    /// What is kept of a device.
    private struct Memory {
        var state: Pacer.State
        var lastReport: RegionID?

        init(_ record: PaceRecord) { (state, lastReport) = (record.state, record.lastReport) }

        func record(of key: [UInt8]?) -> PaceRecord {
            PaceRecord(key: key, state: state, isReported: true, lastReport: lastReport)
        }
    }

    /// Records of the next frame of answers.
    private var pending = ByteBuffer(capacity: 1 << 12)
    /// Bytes of the frames behind the snapshot.
    private var frameBytes = 0
    /// Frames of fewer bytes are left as they are: the file of a stream that never ends stays bounded.
    private static let leastRewritten = 1 << 20
    /// Where the frame begins that says what is staged.
    private var stagedAt: off_t = 0
    /// Outputs of the run before that are neither where they were written nor where they were to be: their answers count
    /// as given.
    private(set) var missing: [StagedFile] = []
    /// What of it went on where it was of another atlas; nil where it was not.
    private(set) var move: StateOrigin.Move?
    /// Answers of the run before of which nobody knows whether they came out.
    private(set) var unconfirmed: [PaceRecord] = []

    /// Opens the journal, or begins one where there is no file.
    ///
    /// - Parameters:
    ///   - fingerprint: that of the atlas and the zones.
    ///   - origin: the atlas that it may be of instead, and the one that it becomes one of.
    static func opened(
        at path: String, fingerprint: UInt64, interval: Duration, emission: Emission,
        from origin: (StateOrigin, to: Atlas)? = nil
    ) throws(TraceError) -> PaceJournal {
        let place: String
        do throws(SystemError) { place = try destination(of: path) } catch { throw .cannotRead(file: path, error) }
        var journal = try PaceJournal(
            path: place, header: PaceFormat.header(fingerprint: fingerprint, interval: interval, emission: emission))
        let other = origin.map {
            PaceFormat.header(fingerprint: $0.0.fingerprint, interval: interval, emission: emission)
        }
        try journal.load(from: origin, header: other)
        return journal
    }

    /// A journal that knows nothing yet.
    private init(path: String, header: [UInt8]) throws(TraceError) {
        guard isFolderWritable(of: path) else { throw .cannotWrite(file: path, SystemError(number: EACCES)) }
        descriptor = try Self.openLocked(path, header: header)
        self.path = path
        self.header = header
    }

    /// Takes over what the runs before left.
    private mutating func load(
        from origin: (StateOrigin, to: Atlas)?, header other: [UInt8]?
    ) throws(TraceError) {
        let bytes = try Self.contents(descriptor, path: path)
        let content: PaceFormat.Content
        do throws(TraceError.StateProblem) {
            if let origin, let other, PaceFormat.isOfOtherAtlas(bytes, than: header) {
                let old = try PaceFormat.read(bytes, expecting: other)
                let (moved, move) = origin.0.moved(old, to: origin.to)
                (content, self.move) = (moved, move)
            } else {
                content = try PaceFormat.read(bytes, expecting: header)
            }
        } catch {
            throw .badState(file: path, error)
        }
        for record in content.confirmed { set(record) }
        unconfirmed = content.unconfirmed
        missing = content.missing
        if content.hasFrames || move != nil { try rewrite() }
        // Only now that no frame speaks of them: without its file a frame says that the file was published.
        for staged in content.dropped { _ = unsafe unlink(staged.path) }
    }

    deinit { close(descriptor) }

    /// What the runs before left of a device; nil of one they did not answer. `key` is nil for the person of inputs without keys.
    func record(of key: [UInt8]?) -> PaceRecord? {
        guard let key else { return unnamed?.record(of: nil) }
        let number = unsafe key.withUnsafeBufferPointer { unsafe keys.find($0, hash: keys.hash($0)) }
        return number.map { memories[$0].record(of: key) }
    }

    /// Notes an answer, to be kept by `commit` or `stage`.
    ///
    /// - Parameter isStaged: whether it is the latter: then only a device's last answer counts.
    mutating func note(_ record: PaceRecord, isStaged: Bool) {
        if let number = set(record) {
            isAnswered[number] = true
        } else {
            isUnnamedAnswered = true
        }
        if !isStaged { pending.append(bytes: PaceFormat.record(record)) }
    }

    /// - Returns: the key's number.
    @discardableResult
    private mutating func set(_ record: PaceRecord) -> Int? {
        guard let key = record.key else {
            unnamed = Memory(record)
            return nil
        }
        let found = unsafe key.withUnsafeBufferPointer { unsafe keys.number(of: $0, hash: keys.hash($0)) }
        if found.isNew {
            memories.append(Memory(record))
            isAnswered.append(false)
        } else {
            memories[found.number] = Memory(record)
        }
        return found.number
    }

    /// Forgets the unconfirmed answers, which were noted again.
    mutating func takeUnconfirmed() -> [PaceRecord] {
        defer { unconfirmed = [] }
        return unconfirmed
    }

    /// Makes what was noted safe. To be called before it is written where others see it.
    ///
    /// - Returns: whether there was something.
    mutating func commit() throws(TraceError) -> Bool {
        guard pending.count > 0 else { return false }
        try append(PaceFormat.frame(.answers, pending.array), safely: true)
        pending.removeAll()
        return true
    }

    /// Says that what was committed has been written.
    mutating func confirm() throws(TraceError) {
        try append(PaceFormat.frame(.written, []), safely: false)
        if frameBytes > max(Self.leastRewritten, 4 * PaceFormat.leastRecordBytes * memories.count) { try rewrite() }
    }

    /// Says that all answers of the run appear with a file that is about to get its name.
    mutating func stage(_ file: StagedFile) throws(TraceError) {
        stagedAt = lseek(descriptor, 0, SEEK_END)
        var content = PaceFormat.staged(file)
        for number in memories.indices where isAnswered[number] {
            content += PaceFormat.record(memories[number].record(of: keys.key(number)))
        }
        if isUnnamedAnswered, let unnamed { content += PaceFormat.record(unnamed.record(of: nil)) }
        try append(PaceFormat.frame(.staged, content), safely: true)
    }

    /// Takes `stage` back, where the file got no name.
    ///
    /// - Returns: whether that is certain.
    func unstage() -> Bool { ftruncate(descriptor, stagedAt) == 0 && fsync(descriptor) == 0 }

    /// Ends the run: the file is written anew, without frames. To be called when all answers are published.
    ///
    /// - Returns: whether that succeeded. Where not, the frames say the same, but would not miss some at their end.
    func seal() -> Bool {
        guard frameBytes > 0 else { return true }
        do throws(SystemError) {
            var file = try TemporaryFile(replacing: path, mode: 0o600)
            try writeAll(PaceFormat.sealed(header, snapshot()), to: file.descriptor)
            try file.publish()
            return true
        } catch {
            return false
        }
    }

    /// Writes the journal anew, so that what was dropped is gone, and what is unconfirmed stays so.
    private mutating func rewrite() throws(TraceError) {
        let locked = try Self.failing(path) { () throws(SystemError) in
            var file = try TemporaryFile(replacing: path, mode: 0o600)
            let descriptor = file.descriptor
            try writeAll(PaceFormat.sealed(header, snapshot()), to: descriptor)
            if !unconfirmed.isEmpty {
                try writeAll(PaceFormat.frame(.answers, unconfirmed.flatMap(PaceFormat.record)), to: descriptor)
            }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw .last }
            try file.publish(keepsOpen: true)
            return descriptor
        }
        close(descriptor)
        descriptor = locked
        frameBytes = 0
    }

    /// A record for each device.
    private func snapshot() -> [UInt8] {
        var records: [UInt8] = []
        if let unnamed { records += PaceFormat.record(unnamed.record(of: nil)) }
        for number in memories.indices { records += PaceFormat.record(memories[number].record(of: keys.key(number))) }
        return records
    }
}

// MARK: File

extension PaceJournal {
    private static func failing<Result>(
        _ path: String, _ body: () throws(SystemError) -> Result
    ) throws(TraceError) -> Result {
        do throws(SystemError) { return try body() } catch { throw .cannotWrite(file: path, error) }
    }

    private mutating func append(_ bytes: [UInt8], safely: Bool) throws(TraceError) {
        frameBytes += bytes.count
        try Self.failing(path) { () throws(SystemError) in
            try writeAll(bytes, to: descriptor)
            if safely { try sync(descriptor) }
        }
    }

    /// Opens the file, made where there is none, and locks it.
    private static func openLocked(_ path: String, header: [UInt8]) throws(TraceError) -> Int32 {
        let flags = O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        while true {
            let descriptor = unsafe open(path, flags)
            guard descriptor >= 0 else {
                guard errno == ENOENT else { throw .cannotRead(file: path, .last) }
                try create(path, header: header)
                continue
            }
            do throws(TraceError) {
                // Another run may have put a new file into place before we had the lock on the old one.
                if try lock(descriptor, path: path) { return descriptor }
            } catch {
                close(descriptor)
                throw error
            }
            close(descriptor)
        }
    }

    /// - Returns: whether the file still has its name.
    private static func lock(_ descriptor: Int32, path: String) throws(TraceError) -> Bool {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .cannotRead(file: path, .last) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .badState(file: path, .notAState) }
        guard status.st_uid == geteuid() else { throw .badState(file: path, .otherOwner) }
        guard let isNamed = lockFile(descriptor, named: path) else { throw .badState(file: path, .inUse) }
        return isNamed
    }

    /// Makes an empty journal: never an empty file, which is what a truncated one looks like.
    private static func create(_ path: String, header: [UInt8]) throws(TraceError) {
        do throws(SystemError) {
            var file = try TemporaryFile(replacing: path, mode: 0o600)
            try writeAll(PaceFormat.sealed(header, []), to: file.descriptor)
            try file.publish(exclusively: true)
        } catch {
            if error.number != EEXIST { throw .cannotWrite(file: path, error) }
        }
    }

    private static func contents(_ descriptor: Int32, path: String) throws(TraceError) -> [UInt8] {
        do throws(SystemError) {
            guard let bytes = try readAll(descriptor, limit: .max) else { throw SystemError(number: EFBIG) }
            return bytes
        } catch {
            throw .cannotRead(file: path, error)
        }
    }
}
