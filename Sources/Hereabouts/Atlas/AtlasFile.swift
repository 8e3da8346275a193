internal import CKernels
internal import Synchronization

/// The bytes of an atlas, mapped read-only while this object lives, and which parts of them are validated.
@safe final class AtlasFile: @unchecked Sendable {
    // SAFETY: the mapping is read-only and is unmapped in deinit. Everything mutable is atomic, and every thread stores
    // the same values.
    let bytes: UnsafeRawBufferPointer
    /// Called when lazy validation finds damage; nil where the lookup reports it.
    private let whenDamaged: (@Sendable (AtlasError) -> Never)?
    /// Once-table of the top entries of validated cells.
    let entries: OnceTable
    /// Once-table: nonzero for groups of regions whose center and label records are validated.
    let groups = OnceTable(count: AtlasLayout.maximumRegions / AtlasLayout.groupSize + 1)
    /// Once-table: nonzero for chunks that match their checksums.
    private let chunks: OnceTable
    /// Where the sections and chunks end and the checksums begin.
    let contentEnd: Int
    /// The header's checksum of the chunks' checksums, which identifies the content.
    let checksum: UInt64
    /// The open file descriptor of the mapped file; -1 for a copy in memory.
    let descriptor: Int32
    /// The inode change time up to which the content is known to be unchanged; see `checkUnchanged`.
    private let changeTime: Atomic<Int64>
    private let wasValidated = Atomic(false)
    /// Whether a lookup found damage. A thread that found some sees it: same thread, same atomic.
    private let foundDamage = Atomic(false)

    /// Maps a file.
    ///
    /// - Parameters:
    ///   - readsAll: whether the file is about to be validated as a whole.
    ///   - whenDamaged: called when a lookup finds damage; nil where the lookup reports it.
    convenience init(
        path: String, readsAll: Bool, whenDamaged: (@Sendable (AtlasError) -> Never)? = nil
    ) throws(AtlasError) {
        let (descriptor, status) = try Self.open(path)
        let size = Int(clamping: status.size)
        var error: Int32 = 0
        guard let start = unsafe hereabouts_map(descriptor, size, readsAll, &error) else {
            hereabouts_close_file(descriptor)
            throw .unreadable(errorNumber: error)
        }
        unsafe self.init(
            UnsafeRawBufferPointer(start: start, count: size), descriptor: descriptor, changeTime: status.change_time,
            whenDamaged: whenDamaged)
    }

    /// Reads a file into memory of its own. Nothing of it stays open.
    convenience init(copyingFile path: String) throws(AtlasError) {
        let (descriptor, status) = try Self.open(path)
        defer { hereabouts_close_file(descriptor) }
        let size = Int(clamping: status.size)
        guard let start = unsafe hereabouts_zeros(size, 1) else { throw .unreadable(errorNumber: Self.noMemory) }
        let error = unsafe hereabouts_read(descriptor, start, size)
        guard error == 0 else {
            unsafe hereabouts_free(start)
            throw error < 0 ? .wrongSize : .unreadable(errorNumber: error)
        }
        unsafe self.init(
            UnsafeRawBufferPointer(start: start, count: size), descriptor: -1, changeTime: 0, whenDamaged: nil)
    }

    /// Opens a regular file that is long enough.
    private static func open(_ path: String) throws(AtlasError) -> (descriptor: Int32, status: file_status) {
        // The system would open what stands before it.
        guard !path.utf8.contains(0) else { throw .unreadable(errorNumber: invalidArgument) }
        var error: Int32 = 0
        let descriptor = unsafe hereabouts_open_file(path, &error)
        guard descriptor >= 0 else { throw .unreadable(errorNumber: error) }
        var status = file_status()
        error = unsafe hereabouts_status(descriptor, &status)
        guard error == 0, status.is_regular, status.size >= AtlasLayout.headerSize else {
            hereabouts_close_file(descriptor)
            throw error == 0 ? .notAnAtlas : .unreadable(errorNumber: error)
        }
        return (descriptor, status)
    }

    // The system's numbers, everywhere.
    static let noMemory: Int32 = 12
    private static let invalidArgument: Int32 = 22

    /// Copies bytes from memory; at least a header's.
    convenience init(
        copying source: some Collection<UInt8>, whenDamaged: (@Sendable (AtlasError) -> Never)? = nil
    ) throws(AtlasError) {
        guard let start = unsafe hereabouts_zeros(source.count, 1) else {
            throw .unreadable(errorNumber: Self.noMemory)
        }
        let copy = unsafe UnsafeMutableRawBufferPointer(start: start, count: source.count)
        unsafe copy.copyBytes(from: source)
        unsafe self.init(UnsafeRawBufferPointer(copy), descriptor: -1, changeTime: 0, whenDamaged: whenDamaged)
    }

    private init(
        _ bytes: UnsafeRawBufferPointer, descriptor: Int32, changeTime: Int64,
        whenDamaged: (@Sendable (AtlasError) -> Never)?
    ) {
        unsafe self.bytes = unsafe bytes
        self.descriptor = descriptor
        self.changeTime = Atomic(changeTime)
        self.whenDamaged = whenDamaged
        checksum = UInt64(littleEndian: unsafe bytes.loadUnaligned(fromByteOffset: 0x18, as: UInt64.self))
        entries = OnceTable(count: AtlasLayout.topCount)
        entries.prefault()
        let chunkCount = AtlasLayout.chunkCount(fileSize: bytes.count)
        chunks = OnceTable(count: chunkCount)
        contentEnd = bytes.count - chunkCount * 8
    }

    deinit {
        entries.deallocate()
        groups.deallocate()
        chunks.deallocate()
        if descriptor >= 0 {
            unsafe hereabouts_unmap(bytes.baseAddress!, bytes.count)
            hereabouts_close_file(descriptor)
        } else {
            unsafe hereabouts_free(UnsafeMutableRawPointer(mutating: bytes.baseAddress!))
        }
    }

    /// The checksum of the chunks' checksums, which `checksum` should be.
    func tableChecksum() -> UInt64 {
        unsafe XXH64.hash(UnsafeRawBufferPointer(rebasing: bytes[contentEnd...]))
    }

    /// Whether the file may have been changed since it was mapped: its inode was, or it is shorter. Async-signal-safe.
    func mayHaveChanged() -> Bool {
        guard descriptor >= 0 else { return false }
        var status = file_status()
        guard unsafe hereabouts_status(descriptor, &status) == 0 else { return true }
        return unsafe status.size != bytes.count || status.change_time != changeTime.load(ordering: .relaxed)
    }

    /// Validates that the file was not modified while in use.
    ///
    /// Every write advances the inode's change time. So do harmless operations (a hard link, another file renamed over
    /// this one); therefore, when it advanced, all chunks in use are validated against their checksums again.
    ///
    /// - Throws: `AtlasError.changedInUse`.
    /// - Complexity: one system call; linear in the chunks in use where the change time advanced.
    func checkUnchanged() throws(AtlasError) {
        guard mayHaveChanged() else { return }
        var status = file_status()
        guard unsafe hereabouts_status(descriptor, &status) == 0, unsafe status.size == bytes.count,
            tableChecksum() == checksum
        else { throw .changedInUse }
        for chunk in 0..<AtlasLayout.chunkCount(fileSize: unsafe bytes.count) where chunks[chunk] != 0 {
            guard matches(chunk) else { throw .changedInUse }
        }
        changeTime.store(status.change_time, ordering: .relaxed)
    }

    /// Validates the checksums of the chunks that a byte range lies in, once each.
    ///
    /// - Parameter range: offsets in the file, not below the first chunk nor beyond the last.
    @inline(__always)
    func validate(_ range: Range<Int>) throws(AtlasError) {
        let first = chunk(of: range.lowerBound)
        if chunks[first] != 0 && range.upperBound &- 1 < chunkEnd(first) { return }
        try validateChunks(range)
    }

    /// The chunk that an offset is in.
    @inline(__always)
    private func chunk(of offset: Int) -> Int {
        Int(bitPattern: UInt(bitPattern: offset &- AtlasLayout.chunkStart) / UInt(AtlasLayout.chunkSize))
    }

    @inline(__always)
    private func chunkEnd(_ chunk: Int) -> Int { AtlasLayout.chunkStart &+ (chunk &+ 1) &* AtlasLayout.chunkSize }

    /// Where the chunk ends that an offset is in.
    func chunkEnd(offset: Int) -> Int { chunkEnd(chunk(of: offset)) }

    @inline(never)
    private func validateChunks(_ range: Range<Int>) throws(AtlasError) {
        guard !range.isEmpty else { return }
        for chunk in chunk(of: range.lowerBound)...chunk(of: range.upperBound - 1) where chunks[chunk] == 0 {
            guard matches(chunk) else { throw .checksumMismatch }
            chunks[chunk] = 1
        }
    }

    /// Whether a chunk matches its checksum.
    private func matches(_ chunk: Int) -> Bool {
        let start = AtlasLayout.chunkStart + chunk * AtlasLayout.chunkSize
        let end = min(start + AtlasLayout.chunkSize, contentEnd)
        let checksum = unsafe XXH64.hash(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
        let expected = unsafe bytes.loadUnaligned(fromByteOffset: contentEnd + chunk * 8, as: UInt64.self)
        return checksum == UInt64(littleEndian: expected)
    }

    /// Notes damage that a lookup found; ends the program where it asked for that.
    func report(_ error: AtlasError) {
        if let whenDamaged { whenDamaged(error) }
        foundDamage.store(true, ordering: .relaxed)
    }

    /// Whether all of it was validated. Whoever does not see it yet validates again.
    var isValidated: Bool { wasValidated.load(ordering: .relaxed) }
    func noteValidated() { wasValidated.store(true, ordering: .relaxed) }

    /// Whether any lookup found damage, this thread's included.
    @inline(__always)
    var hasDamage: Bool { foundDamage.load(ordering: .relaxed) }

    /// The value of a body that cannot fail in an atlas that was validated as a whole.
    ///
    /// For code inside the package, which opens its atlas as a whole or with a handler for damage.
    @inline(__always)
    func required<Value>(_ body: () throws(AtlasError) -> Value) -> Value {
        do throws(AtlasError) { return try body() } catch { end(error) }
    }

    @inline(never)
    private func end(_ error: AtlasError) -> Never {
        if let whenDamaged { whenDamaged(error) }
        preconditionFailure("the atlas was opened by the package as a whole or with a handler for damage")
    }
}

/// A once-table: zero-initialized atomic words that threads fill idempotently. Pages never written cost no memory.
@safe struct OnceTable: @unchecked Sendable {
    // SAFETY: `AtlasFile`, which every atlas keeps alive, owns the allocation; indices are within its tables. Relaxed
    // order suffices: the words describe a mapping that does not change.
    private let words: UnsafeMutablePointer<UInt32>
    private let count: Int

    init(count: Int) {
        self.count = count
        guard let zeros = unsafe hereabouts_zeros(count, 4) else { preconditionFailure("no memory for an atlas") }
        unsafe words = zeros.bindMemory(to: UInt32.self, capacity: count)
    }

    /// Prefaults all pages: reading first maps the shared zero page, and the write then costs a second fault and a TLB
    /// shootdown.
    func prefault() { unsafe hereabouts_prefault(words, count &* 4) }

    func deallocate() { unsafe hereabouts_free(words) }

    subscript(index: Int) -> UInt32 {
        @inline(__always) get { unsafe relaxed_load(words + index) }
        nonmutating set { unsafe relaxed_store(words + index, newValue) }
    }
}

/// A section of the file, read at little-endian offsets.
@safe struct AtlasBytes: @unchecked Sendable {
    // SAFETY: made by `Atlas` from the mapping it keeps alive; offsets are validated before a lookup uses them.
    let start: UnsafeRawPointer
    let count: Int

    @inline(__always)
    func byte(_ offset: Int) -> UInt8 { unsafe start.load(fromByteOffset: offset, as: UInt8.self) }

    @inline(__always)
    func uint16(_ offset: Int) -> UInt16 {
        UInt16(littleEndian: unsafe start.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
    }

    @inline(__always)
    func uint32(_ offset: Int) -> UInt32 {
        UInt32(littleEndian: unsafe start.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }

    @inline(__always)
    func uint64(_ offset: Int) -> UInt64 {
        UInt64(littleEndian: unsafe start.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    @inline(__always)
    func fourUInt32(_ offset: Int) -> SIMD4<UInt32> {
        let words = unsafe start.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt32>.self)
        #if _endian(big)
            return SIMD4(words.x.byteSwapped, words.y.byteSwapped, words.z.byteSwapped, words.w.byteSwapped)
        #else
            return words
        #endif
    }

    /// Prefetches the cache line at an offset, which may lie outside the section.
    @inline(__always)
    func prefetch(_ offset: Int) {
        // SAFETY: a prefetch never faults. The address is computed on integers, so it may leave the mapping.
        if let address = unsafe UnsafeRawPointer(bitPattern: UInt(bitPattern: start) &+ UInt(bitPattern: offset)) {
            unsafe prefetch_line(address)
        }
    }
}
