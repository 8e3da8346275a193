import CZLib
import CZstd

/// Decompresses a stream piece by piece: memory is what the format's window needs (32 KiB of gzip, at most 128 MiB of
/// zstd, which is what the file asks for) and 128 KiB, however large what comes out.
@safe final class Decompressor {
    /// What is wrong with a stream.
    enum Failure: Error {
        case truncated, damaged, windowTooLarge
    }

    @safe private enum Codec {
        case gzip(UnsafeMutablePointer<z_stream>)
        case zstd(OpaquePointer)
    }

    // SAFETY: both are owned by this value alone, freed in deinit, and used during its calls only. The stream has a place
    // of its own in memory, since zlib's state refers to it.
    private let codec: Codec
    private let packed: UnsafeMutablePointer<UInt8>
    private static let packedBytes = 1 << 17
    /// The bytes that were read and not yet taken.
    private var range = 0..<0
    /// Whether a member or frame has ended and no other begun.
    private var isBetween = false
    /// Whether more may come out without more going in.
    private var hasMore = false
    /// What is wrong behind the bytes that came out last.
    private var failure: Failure?
    /// How many bytes zstd takes next: at most one block, so that those before a damaged one come out first.
    private var step = 0
    private let firstStep: Int

    init(_ compression: Compression) {
        unsafe packed = .allocate(capacity: Self.packedBytes)
        switch compression {
        case .gzip:
            let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
            unsafe stream.initialize(to: z_stream())
            let status = unsafe hereabouts_gunzip_init(stream)
            precondition(status == Z_OK, "no memory for zlib")
            unsafe codec = .gzip(stream)
            firstStep = 0
        case .zstd:
            guard let context = unsafe ZSTD_createDStream() else { preconditionFailure("no memory for zstd") }
            unsafe codec = .zstd(context)
            firstStep = unsafe ZSTD_initDStream(context)
        }
        step = firstStep
    }

    deinit {
        switch codec {
        case .gzip(let stream):
            unsafe inflateEnd(stream)
            unsafe stream.deallocate()
        case .zstd(let context): unsafe ZSTD_freeDStream(context)
        }
        unsafe packed.deallocate()
    }

    /// Decompresses at most `count` bytes; none at the end.
    ///
    /// - Parameter refill: reads packed bytes, none at the end.
    func read<Other: Error>(
        into destination: UnsafeMutablePointer<UInt8>, count: Int, wrapping: (Failure) -> Other,
        refill: (UnsafeMutablePointer<UInt8>, Int) throws(Other) -> Int
    ) throws(Other) -> Int {
        while true {
            if let failure { throw wrapping(failure) }
            if range.isEmpty && !hasMore {
                let length = unsafe try refill(packed, Self.packedBytes)
                range = 0..<length
                if length == 0 {
                    if isBetween { return 0 }
                    throw wrapping(.truncated)
                }
            }
            let written =
                switch codec {
                case .gzip(let stream): unsafe inflate(stream, destination, count)
                case .zstd(let context): unsafe decompress(context, destination, count)
                }
            if written > 0 { return written }
        }
    }

    private func inflate(
        _ stream: UnsafeMutablePointer<z_stream>, _ destination: UnsafeMutablePointer<UInt8>, _ count: Int
    ) -> Int {
        if isBetween {
            // Another member; or zeros to the end of a block of a tape.
            while let first = range.first, unsafe packed[first] == 0 { range = range.dropFirst() }
            if range.isEmpty { return 0 }
            unsafe inflateReset(stream)
            isBetween = false
        }
        // SAFETY: the range lies within the packed bytes; the caller vouches for the destination.
        unsafe stream.pointee.next_in = packed + range.lowerBound
        unsafe stream.pointee.avail_in = UInt32(range.count)
        unsafe stream.pointee.next_out = destination
        unsafe stream.pointee.avail_out = UInt32(count)
        let status = unsafe CZLib.inflate(stream, Z_NO_FLUSH)
        if status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR { failure = .damaged }
        range = unsafe range.upperBound - Int(stream.pointee.avail_in)..<range.upperBound
        isBetween = status == Z_STREAM_END
        hasMore = unsafe stream.pointee.avail_out == 0 && !isBetween
        return unsafe count - Int(stream.pointee.avail_out)
    }

    private func decompress(
        _ context: OpaquePointer, _ destination: UnsafeMutablePointer<UInt8>, _ count: Int
    ) -> Int {
        // SAFETY: as in `inflate`.
        let end = hasMore ? range.lowerBound : min(range.lowerBound + step, range.upperBound)
        var input = unsafe ZSTD_inBuffer(src: packed, size: end, pos: range.lowerBound)
        var output = unsafe ZSTD_outBuffer(dst: destination, size: count, pos: 0)
        let status = unsafe ZSTD_decompressStream(context, &output, &input)
        if ZSTD_isError(status) != 0 {
            let isTooLarge = ZSTD_getErrorCode(status) == ZSTD_error_frameParameter_windowTooLarge
            failure = isTooLarge ? .windowTooLarge : .damaged
            hasMore = false
            return 0
        }
        range = unsafe input.pos..<range.upperBound
        isBetween = status == 0
        // What is asked for is a block and the header behind it, which may be damaged.
        let header = 3
        step = isBetween ? firstStep : status > header ? Int(status) - header : Int(status)
        hasMore = unsafe output.pos == count && !isBetween
        return unsafe output.pos
    }
}
