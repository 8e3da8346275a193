internal import CKernels
internal import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The bytes of an atlas, mapped read-only for as long as this object lives, and what is known of them.
@safe final class AtlasFile: @unchecked Sendable {
    // SAFETY: the bytes are mapped read-only, never change, and are unmapped only when the last owner is gone. Threads
    // that find something out write down the same.
    let bytes: UnsafeRawBufferPointer
    /// What to do where damage shows only when a part is used.
    private let stop: (@Sendable (AtlasError) -> Never)?
    /// The top entries whose cells are proven.
    let entries: KnownWords
    /// Not zero for groups of regions whose places and labels are proven.
    let groups = KnownWords(count: AtlasLayout.maximumRegions / AtlasLayout.groupSize + 1)
    /// Not zero for chunks that match their checksums.
    private let chunks: KnownWords
    /// Where the sections and chunks end and the checksums begin.
    let contentEnd: Int
    /// One number for all of the content, as the header has it: the checksum of the chunks' checksums.
    let checksum: UInt64
    /// The mapped file, open; -1 for a copy.
    let descriptor: Int32
    /// When the file's inode was last changed, as far as its content was compared since; see `checkUnchanged`.
    private let changeTime: Atomic<Int64>

    /// Maps a file.
    ///
    /// - Parameter stop: for a file whose parts are proven when they are first used; nil for one that is proven at
    ///   once.
    convenience init(path: String, stop: (@Sendable (AtlasError) -> Never)? = nil) throws(AtlasError) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unreadable(errorNumber: errno) }
        var status = stat()
        var failure: AtlasError?
        if unsafe fstat(descriptor, &status) != 0 {
            failure = .unreadable(errorNumber: errno)
        } else if status.st_mode & S_IFMT != S_IFREG || status.st_size < AtlasLayout.headerSize {
            failure = .notAnAtlas
        }
        let size = Int(status.st_size)
        var flags = MAP_PRIVATE
        #if os(Linux)
            // One call brings in all pages, for a proof that reads every one of them.
            if stop == nil { flags |= Int32(MAP_POPULATE) }
        #endif
        let start = failure == nil ? unsafe mmap(nil, size, PROT_READ, flags, descriptor, 0) : nil
        guard let start = unsafe start, unsafe start != MAP_FAILED else {
            let failure = failure ?? .unreadable(errorNumber: errno)
            close(descriptor)
            throw failure
        }
        unsafe self.init(
            UnsafeRawBufferPointer(start: start, count: size), descriptor: descriptor,
            changeTime: Self.changeTime(status), stop: stop)
    }

    /// Copies bytes that are in memory already, at least a header's.
    convenience init(copying source: [UInt8], stop: (@Sendable (AtlasError) -> Never)? = nil) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: source.count, alignment: 8)
        unsafe copy.copyBytes(from: source)
        unsafe self.init(UnsafeRawBufferPointer(copy), descriptor: -1, changeTime: 0, stop: stop)
    }

    private init(
        _ bytes: UnsafeRawBufferPointer, descriptor: Int32, changeTime: Int64, stop: (@Sendable (AtlasError) -> Never)?
    ) {
        unsafe self.bytes = unsafe bytes
        self.descriptor = descriptor
        self.changeTime = Atomic(changeTime)
        self.stop = stop
        checksum = UInt64(littleEndian: unsafe bytes.loadUnaligned(fromByteOffset: 0x18, as: UInt64.self))
        entries = KnownWords(count: AtlasLayout.topCount)
        entries.touch()
        let chunkCount = AtlasLayout.chunkCount(fileSize: bytes.count)
        chunks = KnownWords(count: chunkCount)
        contentEnd = bytes.count - chunkCount * 8
    }

    deinit {
        entries.deallocate()
        groups.deallocate()
        chunks.deallocate()
        if descriptor >= 0 {
            unsafe munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress!), bytes.count)
            close(descriptor)
        } else {
            unsafe bytes.deallocate()
        }
    }

    /// The checksum of the chunks' checksums, which `checksum` should be.
    func tableChecksum() -> UInt64 {
        unsafe XXH64.hash(UnsafeRawBufferPointer(rebasing: bytes[contentEnd...]))
    }

    /// Nanoseconds since 1970, modulo 2⁶⁴.
    private static func changeTime(_ status: stat) -> Int64 {
        #if canImport(Darwin)
            let time = status.st_ctimespec
        #else
            let time = status.st_ctim
        #endif
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }

    /// Whether the file may have been changed since it was mapped: its inode was, or it is shorter. Async-signal-safe.
    func mayHaveChanged() -> Bool {
        guard descriptor >= 0 else { return false }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return true }
        return unsafe status.st_size != bytes.count || Self.changeTime(status) != changeTime.load(ordering: .relaxed)
    }

    /// Finds out whether all that was used of the file is still what it was.
    ///
    /// No write leaves an inode's change time as it was. Other things change it too (a new name, another file renamed
    /// over this one), so that where it did, everything that was used is compared with its checksums again.
    ///
    /// - Throws: `AtlasError.changedInUse`.
    /// - Complexity: a system call, mostly; else linear in what was used.
    func checkUnchanged() throws(AtlasError) {
        guard mayHaveChanged() else { return }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, unsafe status.st_size == bytes.count,
            tableChecksum() == checksum
        else { throw .changedInUse }
        for chunk in 0..<AtlasLayout.chunkCount(fileSize: unsafe bytes.count) where chunks[chunk] != 0 {
            guard matches(chunk) else { throw .changedInUse }
        }
        changeTime.store(Self.changeTime(status), ordering: .relaxed)
    }

    /// Compares the chunks that some bytes are in with their checksums, but for those that were compared before.
    ///
    /// - Parameter range: offsets in the file, not below the first chunk nor beyond the last.
    @inline(__always)
    func prove(_ range: Range<Int>) throws(AtlasError) {
        let first = chunk(of: range.lowerBound)
        if chunks[first] != 0 && range.upperBound &- 1 < chunkEnd(first) { return }
        try compareAll(range)
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
    private func compareAll(_ range: Range<Int>) throws(AtlasError) {
        guard !range.isEmpty else { return }
        for chunk in chunk(of: range.lowerBound)...chunk(of: range.upperBound - 1) where chunks[chunk] == 0 {
            try compare(chunk)
        }
    }

    private func compare(_ chunk: Int) throws(AtlasError) {
        guard matches(chunk) else { throw .checksumMismatch }
        chunks[chunk] = 1
    }

    /// Whether a chunk is what its checksum says.
    private func matches(_ chunk: Int) -> Bool {
        let start = AtlasLayout.chunkStart + chunk * AtlasLayout.chunkSize
        let end = min(start + AtlasLayout.chunkSize, contentEnd)
        let checksum = unsafe XXH64.hash(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
        let expected = unsafe bytes.loadUnaligned(fromByteOffset: contentEnd + chunk * 8, as: UInt64.self)
        return checksum == UInt64(littleEndian: expected)
    }

    /// Ends the use of a file in which a look-up came upon damage: it has no answer to give.
    func stop(_ error: AtlasError) -> Never {
        if let stop { stop(error) }
        preconditionFailure("an atlas that was proven when it was opened")
    }
}

/// Words that are zero until some thread finds out what they should be, which is the same whoever does it. Pages that
/// are never written cost nothing.
@safe struct KnownWords: @unchecked Sendable {
    // SAFETY: `AtlasFile`, which every atlas keeps alive, allocates and frees them; indices are of its tables. Loads
    // and stores are atomic, and nothing else hangs on their order: all else is in the file, which does not change.
    private let words: UnsafeMutablePointer<UInt32>
    private let count: Int

    init(count: Int) {
        self.count = count
        guard let zeros = unsafe calloc(count, 4) else { preconditionFailure("no memory for an atlas") }
        unsafe words = zeros.bindMemory(to: UInt32.self, capacity: count)
    }

    /// Has all pages in memory. One that is read first and then written is mapped twice, and the second time every
    /// other thread's processor is interrupted.
    func touch() { unsafe hereabouts_prefault(words, count &* 4) }

    func deallocate() { unsafe free(words) }

    subscript(index: Int) -> UInt32 {
        @inline(__always) get { unsafe relaxed_load(words + index) }
        nonmutating set { unsafe relaxed_store(words + index, newValue) }
    }
}

/// A stretch of the file, read at little-endian offsets.
@safe struct AtlasBytes: @unchecked Sendable {
    // SAFETY: made by `Atlas` from the mapping it keeps alive; offsets are proven before a look-up uses them.
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

    /// Asks for the cache line at an offset, which may lie anywhere.
    @inline(__always)
    func prefetch(_ offset: Int) {
        // SAFETY: a prefetch reads nothing and never faults; the address is made from bits, not from the pointer, so
        // that it may leave the mapping.
        if let address = unsafe UnsafeRawPointer(bitPattern: UInt(bitPattern: start) &+ UInt(bitPattern: offset)) {
            unsafe prefetch_line(address)
        }
    }
}
