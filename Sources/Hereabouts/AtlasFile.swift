internal import CCells

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The bytes of an atlas, mapped read-only for as long as this object lives.
@safe final class AtlasFile: @unchecked Sendable {
    // SAFETY: the bytes are mapped read-only, never change, and are unmapped only when the last owner is gone.
    let bytes: UnsafeRawBufferPointer
    private let isMapped: Bool

    /// Maps a file.
    init(path: String) throws(AtlasError) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unreadable(errorNumber: errno) }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .unreadable(errorNumber: errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notAnAtlas }
        let size = Int(status.st_size)
        guard size >= AtlasLayout.headerSize else { throw .notAnAtlas }
        var flags = MAP_PRIVATE
        #if os(Linux)
        // One call brings in all pages; the checks read every one of them anyway.
        flags |= Int32(MAP_POPULATE)
        #endif
        let start = unsafe mmap(nil, size, PROT_READ, flags, descriptor, 0)
        guard let start = unsafe start, unsafe start != MAP_FAILED else { throw .unreadable(errorNumber: errno) }
        unsafe bytes = UnsafeRawBufferPointer(start: start, count: size)
        isMapped = true
    }

    /// Copies bytes that are in memory already.
    init(copying source: [UInt8]) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: source.count, alignment: 8)
        unsafe copy.copyBytes(from: source)
        unsafe bytes = UnsafeRawBufferPointer(copy)
        isMapped = false
    }

    deinit {
        if isMapped {
            unsafe munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress!), bytes.count)
        } else {
            unsafe bytes.deallocate()
        }
    }
}

/// A stretch of the file, read at little-endian offsets.
@safe struct AtlasBytes: @unchecked Sendable {
    // SAFETY: made by `Atlas` from the mapping it keeps alive; offsets are checked when the file is opened.
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
    func number<Number: FixedWidthInteger>(_ offset: Int, as _: Number.Type) -> Number {
        Number(littleEndian: unsafe start.loadUnaligned(fromByteOffset: offset, as: Number.self))
    }

    /// Asks for the cache line at an offset, which may lie anywhere.
    @inline(__always)
    func prefetch(_ offset: Int) {
        // SAFETY: a prefetch reads nothing and never faults; the address is made from bits, not from the pointer, so
        // that it may leave the mapping.
        if let address = unsafe UnsafeRawPointer(bitPattern: UInt(bitPattern: start) &+ UInt(bitPattern: offset)) {
            unsafe ccells_prefetch(address)
        }
    }
}
