import CZLib

/// The bytes of one zlib stream (RFC 1950), inflated 64 KiB at a time: memory does not grow with what comes out.
/// A class, since a surface has a varying number of streams; zlib's state is freed with it.
@safe final class InflatedStream {
    private let file: [UInt8]
    /// What is left of the packed bytes, as offsets in `file`.
    private var packed: Range<Int>
    /// How many bytes are still to come out.
    private var remaining: Int
    private var isAtEnd = false
    private var buffer: [UInt8]
    private var position = 0, filled = 0
    // SAFETY: zlib's state refers back to this structure, which therefore has a place of its own in memory. Allocated,
    // initialized and ended by this value alone, and used only during its calls.
    private let stream: UnsafeMutablePointer<z_stream>

    private static let bufferSize = 1 << 16

    /// A stream of `count` bytes, packed in a range of the file's bytes.
    init(_ file: [UInt8], packed: Range<Int>, count: Int) {
        self.file = file
        self.packed = packed
        remaining = count
        buffer = [UInt8](repeating: 0, count: Self.bufferSize)
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        let status = unsafe hereabouts_inflate_init(stream)
        precondition(status == Z_OK, "zlib has memory for its state")
    }

    deinit {
        unsafe inflateEnd(stream)
        unsafe stream.deinitialize(count: 1)
        unsafe stream.deallocate()
    }

    /// The next byte.
    /// - Throws: `SurfaceProblem.corruptStream`, also where the stream ends before its count.
    @inline(__always)
    func next() throws(SurfaceProblem) -> UInt8 {
        if position == filled { try refill() }
        defer { position += 1 }
        return buffer[position]
    }

    /// Asserts of the file that the stream has neither more bytes than its count, nor more packed than it needs.
    /// - Throws: `SurfaceProblem.corruptStream`.
    func finish() throws(SurfaceProblem) {
        guard remaining == 0, position == filled else { throw .corruptStream }
        (position, filled) = (0, 0)
        // The end of the stream, with its checksum, may still be packed.
        if !isAtEnd { try inflate() }
        guard isAtEnd, packed.isEmpty, filled == 0 else { throw .corruptStream }
    }

    private func refill() throws(SurfaceProblem) {
        guard remaining > 0, !isAtEnd else { throw .corruptStream }
        try inflate()
        guard filled > 0, filled <= remaining else { throw .corruptStream }
        remaining -= filled
    }

    /// Fills the buffer as far as the packed bytes go.
    private func inflate() throws(SurfaceProblem) {
        let available = UInt32(min(packed.count, 1 << 30))
        let status = unsafe file.withUnsafeBytes { file in
            unsafe buffer.withUnsafeMutableBytes { buffer in
                // SAFETY: both ranges lie in their arrays, which stay in place during the call; zlib does not write to
                // its input, and reads neither after the call.
                unsafe stream.pointee.next_in = UnsafeMutablePointer(
                    mutating: file.baseAddress!.advanced(by: packed.lowerBound).assumingMemoryBound(to: UInt8.self))
                unsafe stream.pointee.avail_in = available
                unsafe stream.pointee.next_out = buffer.baseAddress!.assumingMemoryBound(to: UInt8.self)
                unsafe stream.pointee.avail_out = UInt32(Self.bufferSize)
                return unsafe CZLib.inflate(stream, Z_NO_FLUSH)
            }
        }
        position = 0
        filled = Self.bufferSize - Int(unsafe stream.pointee.avail_out)
        packed = packed.dropFirst(Int(available - (unsafe stream.pointee.avail_in)))
        isAtEnd = status == Z_STREAM_END
        guard isAtEnd || status == Z_OK || status == Z_BUF_ERROR else { throw .corruptStream }
    }
}
