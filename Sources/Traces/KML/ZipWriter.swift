import CArchive

/// Writes a zip archive of one file, with libarchive, piece by piece. The same content gives the same bytes: the entry has
/// no time.
@safe final class ZipWriter {
    // SAFETY: freed in deinit. Its callback gets `packed`, which lives as long.
    private let archive: OpaquePointer
    private let packed = Packed()
    /// Bytes of the file so far.
    private var written = 0

    private final class Packed {
        var bytes = ByteBuffer(capacity: 1 << 16)
    }

    /// Begins the archive and its file.
    init(name: String) {
        guard let archive = unsafe archive_write_new(), let entry = unsafe archive_entry_new() else {
            preconditionFailure("no memory for an archive")
        }
        unsafe self.archive = archive
        defer { unsafe archive_entry_free(entry) }
        unsafe archive_write_set_format_zip(archive)
        unsafe archive_write_zip_set_compression_deflate(archive)
        // Map programs know no 64-bit extension.
        unsafe archive_write_set_format_option(archive, "zip", "zip64", nil)
        unsafe archive_write_set_bytes_per_block(archive, 0)
        let opened = unsafe archive_write_open(
            archive, Unmanaged.passUnretained(packed).toOpaque(), nil,
            { _, packed, bytes, count in
                // SAFETY: `packed` lives as long as the archive; there are so many bytes.
                let packed = unsafe Unmanaged<Packed>.fromOpaque(packed!).takeUnretainedValue()
                unsafe packed.bytes.append(
                    UnsafeBufferPointer(start: bytes?.assumingMemoryBound(to: UInt8.self), count: count))
                return count
            }, nil)
        precondition(opened == ARCHIVE_OK, "an archive in memory can be opened")
        unsafe archive_entry_set_pathname(entry, name)
        unsafe archive_entry_set_filetype(entry, hereabouts_archive_regular())
        unsafe archive_entry_set_perm(entry, 0o644)
        let begun = unsafe archive_write_header(archive, entry)
        precondition(begun == ARCHIVE_OK, "an entry in memory can be begun")
    }

    deinit { unsafe archive_write_free(archive) }

    /// Appends to the file and empties the buffer.
    ///
    /// - Throws: `archiveTooLarge`.
    func write(_ text: inout ByteBuffer) throws(TraceError) {
        written += text.count
        if written > ZipReader.maximumBytes { throw .archiveTooLarge(file: "KMZ output") }
        let count = unsafe text.withBytes { unsafe archive_write_data(archive, $0.baseAddress, $0.count) }
        guard count == text.count else { throw .archiveTooLarge(file: "KMZ output") }
        text.removeAll()
    }

    /// Ends the file and the archive. To be called once.
    func finish() throws(TraceError) {
        guard unsafe archive_write_close(archive) == ARCHIVE_OK else { throw .archiveTooLarge(file: "KMZ output") }
    }

    /// Calls `body` with what is packed so far and not taken before.
    func takePacked(_ body: (inout ByteBuffer) throws(TraceError) -> Void) throws(TraceError) {
        if packed.bytes.count > 0 { try body(&packed.bytes) }
    }
}
