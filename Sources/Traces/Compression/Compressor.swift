import CZLib
import CZstd

/// Compresses a stream piece by piece.
@safe final class Compressor {
    /// What is to come out of what went in.
    enum Flush {
        /// As much as the codec likes.
        case none
        /// All, so that a reader has it.
        case all
        /// All, and the end of the stream.
        case end
    }

    @safe private enum Codec {
        case gzip(UnsafeMutablePointer<z_stream>)
        case zstd(OpaquePointer)
    }

    // SAFETY: as in `Decompressor`.
    private let codec: Codec
    private let packed: UnsafeMutablePointer<UInt8>
    private static let packedBytes = 1 << 16

    init(_ compression: Compression) {
        unsafe packed = .allocate(capacity: Self.packedBytes)
        switch compression {
        case .gzip:
            let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
            unsafe stream.initialize(to: z_stream())
            let status = unsafe hereabouts_gzip_init(stream)
            precondition(status == Z_OK, "no memory for zlib")
            unsafe codec = .gzip(stream)
        case .zstd:
            guard let context = unsafe ZSTD_createCStream() else { preconditionFailure("no memory for zstd") }
            // As the tool does, so that damage is noticed.
            let status = unsafe ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
            precondition(ZSTD_isError(status) == 0, "zstd has checksums")
            unsafe codec = .zstd(context)
        }
    }

    deinit {
        switch codec {
        case .gzip(let stream):
            unsafe deflateEnd(stream)
            unsafe stream.deallocate()
        case .zstd(let context): unsafe ZSTD_freeCStream(context)
        }
        unsafe packed.deallocate()
    }

    /// Compresses bytes, and hands on what comes out.
    func write<Failure: Error>(
        _ bytes: UnsafeBufferPointer<UInt8>, flush: Flush,
        to output: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        var rest = unsafe bytes
        while true {
            var written = 0
            let isDone: Bool
            switch codec {
            case .gzip(let stream): isDone = unsafe deflate(stream, &rest, flush, &written)
            case .zstd(let context): isDone = unsafe compress(context, &rest, flush, &written)
            }
            if written > 0 { unsafe try output(UnsafeBufferPointer(start: packed, count: written)) }
            if isDone { return }
        }
    }

    private func deflate(
        _ stream: UnsafeMutablePointer<z_stream>, _ rest: inout UnsafeBufferPointer<UInt8>, _ flush: Flush,
        _ written: inout Int
    ) -> Bool {
        let mode =
            switch flush {
            case .none: Z_NO_FLUSH
            case .all: Z_SYNC_FLUSH
            case .end: Z_FINISH
            }
        let step = min(rest.count, 1 << 30), isLast = step == rest.count
        // SAFETY: zlib does not write to its input, and reads it during the call only.
        unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: rest.baseAddress)
        unsafe stream.pointee.avail_in = UInt32(step)
        unsafe stream.pointee.next_out = packed
        unsafe stream.pointee.avail_out = UInt32(Self.packedBytes)
        let status = unsafe CZLib.deflate(stream, isLast ? mode : Z_NO_FLUSH)
        precondition(status != Z_STREAM_ERROR, "a stream that is used as it should be")
        unsafe rest = UnsafeBufferPointer(rebasing: rest[(step - Int(stream.pointee.avail_in))...])
        written = unsafe Self.packedBytes - Int(stream.pointee.avail_out)
        if flush == .end { return status == Z_STREAM_END }
        return unsafe rest.isEmpty && stream.pointee.avail_out > 0
    }

    private func compress(
        _ context: OpaquePointer, _ rest: inout UnsafeBufferPointer<UInt8>, _ flush: Flush, _ written: inout Int
    ) -> Bool {
        let mode =
            switch flush {
            case .none: ZSTD_e_continue
            case .all: ZSTD_e_flush
            case .end: ZSTD_e_end
            }
        // SAFETY: as in `deflate`.
        var input = unsafe ZSTD_inBuffer(src: rest.baseAddress, size: rest.count, pos: 0)
        var output = unsafe ZSTD_outBuffer(dst: packed, size: Self.packedBytes, pos: 0)
        let left = unsafe ZSTD_compressStream2(context, &output, &input, mode)
        precondition(ZSTD_isError(left) == 0, "no memory for zstd")
        unsafe rest = UnsafeBufferPointer(rebasing: rest[Int(input.pos)...])
        written = unsafe output.pos
        return flush == .none ? rest.isEmpty : left == 0 && rest.isEmpty
    }
}
