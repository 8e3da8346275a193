import Hereabouts

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The file that carries devices' paces from one run of `convert` to the next (contract C12).
///
/// Every answer is noted here before the report of it is written, so that a run that dies, however it dies, has bought
/// no answer that the next run does not know of. What a pacer needs is its last answer and that answer's time: fixes it
/// did not answer change nothing that comes later.
///
/// ```text
/// offset  size  content, little-endian
///      0     8  "HEREPACE"
///      8     4  version, 1
///     12     4  check sum: 32-bit FNV-1a of the other 28 bytes
///     16     8  fingerprint of the atlas
///     24     8  interval in nanoseconds
/// ```
///
/// then one record per answer; of a device's records the last counts:
///
/// ```text
///      0     4  length of the device's key; 0xffffffff for the device of a table without keys
///      4     4  check sum: 32-bit FNV-1a of the length, the state and the key
///      8    32  `Pacer.State`
///     40        the key
/// ```
///
/// Each run begins by writing the file anew, with one record per device, and renaming it into place. A last record that
/// breaks off was never answered by, and is dropped; any other damage is an error. The file is locked during a run.
struct PaceJournal: ~Copyable {
    private static let magic = Array("HEREPACE".utf8)
    private static let version: UInt32 = 1
    private static let headerBytes = 32
    private static let recordBytes = 8 + Pacer.State.byteCount
    private static let noKey = UInt32.max

    private let path: String
    /// Open for appending, and locked.
    private let descriptor: Int32
    /// The file as the run before left it: kept open for its lock, which another run may be waiting for.
    private let previous: Int32
    /// Records not yet written.
    private var pending = ByteBuffer(capacity: 1 << 12)
    private var keys = DeviceKeys()
    private var states: [Pacer.State] = []
    private var unnamed: Pacer.State?

    /// Opens the journal, or begins one where there is no file.
    ///
    /// - Parameter fingerprint: the atlas's.
    init(path: String, fingerprint: UInt64, interval: Duration) throws(TraceError) {
        let header = Self.header(fingerprint: fingerprint, interval: interval)
        let previous = try Self.openLocked(path)
        var keys = DeviceKeys()
        var states: [Pacer.State] = []
        var unnamed: Pacer.State?
        do throws(TraceError) {
            let bytes = try Self.contents(previous, path: path)
            if !bytes.isEmpty {
                try Self.check(bytes, header: header, path: path)
                try Self.readRecords(bytes, path: path) { key, state in
                    guard let key else { return unnamed = state }
                    let found = unsafe key.withUnsafeBufferPointer { unsafe keys.number(of: $0, hash: keys.hash($0)) }
                    if found.isNew { states.append(state) } else { states[found.number] = state }
                }
            }
            var fresh = ByteBuffer(capacity: 1 << 16)
            for byte in header { fresh.append(byte) }
            if let unnamed { Self.append(unnamed, key: nil, to: &fresh) }
            for (number, state) in states.enumerated() {
                Self.append(state, key: keys.key(number), to: &fresh)
            }
            descriptor = try Self.replace(path, with: fresh)
        } catch {
            close(previous)
            throw error
        }
        self.path = path
        self.previous = previous
        self.keys = keys
        self.states = states
        self.unnamed = unnamed
    }

    deinit {
        close(descriptor)
        close(previous)
    }

    /// What the runs before left of a device; nil of one they did not answer. `key` is nil in a table without keys.
    func state(of key: [UInt8]?) -> Pacer.State? {
        guard let key else { return unnamed }
        let number = unsafe key.withUnsafeBufferPointer { unsafe keys.find($0, hash: keys.hash($0)) }
        return number.map { states[$0] }
    }

    /// Notes an answer, to be written by `commit`.
    mutating func note(_ state: Pacer.State, of key: [UInt8]?) {
        Self.append(state, key: key, to: &pending)
    }

    /// Writes what was noted. To be called before the answers are published.
    mutating func commit() throws(TraceError) {
        guard pending.count > 0 else { return }
        try Self.write(pending, to: descriptor, path: path)
        pending.removeAll()
    }

    /// Writes what was noted, and waits until it is safe from a failure of the machine.
    mutating func finish() throws(TraceError) {
        try commit()
        guard fsync(descriptor) == 0 else { throw .cannotWrite(file: path, reason: lastSystemError()) }
    }
}

// MARK: Content

extension PaceJournal {
    private static func header(fingerprint: UInt64, interval: Duration) -> [UInt8] {
        var out = ByteBuffer(capacity: headerBytes)
        for byte in magic { out.append(byte) }
        out.append(littleEndian: UInt64(version), bytes: 4)
        let (seconds, attoseconds) = interval.components
        let nanoseconds = UInt64(seconds) &* 1_000_000_000 &+ UInt64(attoseconds / 1_000_000_000)
        var rest = ByteBuffer(capacity: 16)
        rest.append(littleEndian: fingerprint, bytes: 8)
        rest.append(littleEndian: nanoseconds, bytes: 8)
        let tail = rest.array
        var sum = FNV32()
        for byte in out.array + tail { sum.add(byte) }
        out.append(littleEndian: UInt64(sum.value), bytes: 4)
        return out.array + tail
    }

    private static func check(_ bytes: [UInt8], header: [UInt8], path: String) throws(TraceError) {
        guard bytes.starts(with: magic), bytes.count >= headerBytes else { throw .badState(file: path, .notAState) }
        guard integer(bytes, 8, 4) == UInt64(version) else { throw .badState(file: path, .version) }
        var sum = FNV32()
        for byte in bytes[..<12] + bytes[16..<headerBytes] { sum.add(byte) }
        guard integer(bytes, 12, 4) == UInt64(sum.value) else { throw .badState(file: path, .damaged) }
        guard bytes[16..<24] == header[16..<24] else { throw .badState(file: path, .otherAtlas) }
        guard bytes[24..<32] == header[24..<32] else { throw .badState(file: path, .otherInterval) }
    }

    private static func readRecords(
        _ bytes: [UInt8], path: String, _ take: (_ key: [UInt8]?, _ state: Pacer.State) -> Void
    ) throws(TraceError) {
        var at = headerBytes
        while bytes.count - at >= recordBytes {
            let length = UInt32(truncatingIfNeeded: integer(bytes, at, 4))
            let keyLength = length == noKey ? 0 : Int(length)
            // What is longer than any key is damage, not a record that breaks off.
            guard keyLength <= CSVLayout.maximumRecordBytes else { throw .badState(file: path, .damaged) }
            guard bytes.count - at - recordBytes >= keyLength else { return }
            let state = bytes[(at + 8)..<(at + recordBytes)]
            let key = bytes[(at + recordBytes)..<(at + recordBytes + keyLength)]
            var sum = FNV32()
            for byte in bytes[at..<at + 4] + state + key { sum.add(byte) }
            guard integer(bytes, at + 4, 4) == UInt64(sum.value), let read = try? Pacer.State(bytes: state) else {
                throw .badState(file: path, .damaged)
            }
            take(length == noKey ? nil : Array(key), read)
            at += recordBytes + keyLength
        }
    }

    private static func append(_ state: Pacer.State, key: [UInt8]?, to out: inout ByteBuffer) {
        let (content, length) = (state.bytes + (key ?? []), key.map { UInt32($0.count) } ?? noKey)
        var sum = FNV32()
        for shift in stride(from: 0 as UInt32, to: 32, by: 8) { sum.add(UInt8(truncatingIfNeeded: length >> shift)) }
        for byte in content { sum.add(byte) }
        out.append(littleEndian: UInt64(length), bytes: 4)
        out.append(littleEndian: UInt64(sum.value), bytes: 4)
        for byte in content { out.append(byte) }
    }

    private static func integer(_ bytes: [UInt8], _ offset: Int, _ count: Int) -> UInt64 {
        bytes[offset..<offset + count].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// 32-bit FNV-1a.
private struct FNV32 {
    private(set) var value: UInt32 = 0x811c_9dc5

    mutating func add(_ byte: UInt8) { value = (value ^ UInt32(byte)) &* 0x0100_0193 }
}

extension ByteBuffer {
    fileprivate mutating func append(littleEndian value: UInt64, bytes count: Int) {
        for index in 0..<count { append(UInt8(truncatingIfNeeded: value >> UInt64(8 * index))) }
    }
}

// MARK: File

extension PaceJournal {
    /// Opens the file, made where there is none, and locks it.
    private static func openLocked(_ path: String) throws(TraceError) -> Int32 {
        while true {
            let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw .cannotRead(file: path, reason: lastSystemError()) }
            var mine = stat()
            var named = stat()
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                close(descriptor)
                throw .badState(file: path, .inUse)
            }
            guard unsafe fstat(descriptor, &mine) == 0, mine.st_mode & S_IFMT == S_IFREG else {
                close(descriptor)
                throw .badState(file: path, .notAState)
            }
            // Another run may have put a new file into place before we had the lock on the old one.
            if unsafe stat(path, &named) == 0, named.st_ino == mine.st_ino, named.st_dev == mine.st_dev {
                return descriptor
            }
            close(descriptor)
        }
    }

    private static func contents(_ descriptor: Int32, path: String) throws(TraceError) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe chunk.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
            if count == 0 { return bytes }
            guard count > 0 else {
                if errno == EINTR { continue }
                throw .cannotRead(file: path, reason: lastSystemError())
            }
            bytes += chunk[..<count]
        }
    }

    /// Puts a new file in the place of the old one, whole or not at all; returns it open and locked.
    private static func replace(_ path: String, with content: borrowing ByteBuffer) throws(TraceError) -> Int32 {
        let temporary = "\(path).\(getpid()).partial"
        let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .cannotWrite(file: path, reason: lastSystemError()) }
        do throws(TraceError) {
            try write(content, to: descriptor, path: path)
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, fsync(descriptor) == 0,
                unsafe rename(temporary, path) == 0
            else { throw .cannotWrite(file: path, reason: lastSystemError()) }
        } catch {
            close(descriptor)
            _ = unsafe unlink(temporary)
            throw error
        }
        return descriptor
    }

    private static func write(
        _ content: borrowing ByteBuffer, to descriptor: Int32, path: String
    ) throws(TraceError) {
        let isWritten = unsafe content.withBytes { bytes in unsafe writeAll(bytes, to: descriptor) }
        guard isWritten else { throw .cannotWrite(file: path, reason: lastSystemError()) }
    }
}
