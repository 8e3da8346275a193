import CArchive

/// The KML documents of a zip archive, one after the other, with libarchive. The archive is read from front to back, so
/// that a pipe will do and nothing of it is stored.
@safe final class ZipReader {
    /// Entries of an archive, at most.
    static let maximumEntries = 1 << 16
    /// Unpacked bytes of an archive, at most: the limit of zip archives before their 64-bit extension.
    static let maximumBytes = 1 << 32 - 1

    // SAFETY: freed in deinit. Its callback gets the source, which lives as long as the reader.
    private let archive: OpaquePointer
    private let source: Source
    private var entries = 0
    private var unpacked = 0

    /// The packed bytes.
    private final class Source {
        var input: InputReader
        var buffer: InputBuffer
        var failure: TraceError?

        init(_ input: consuming InputReader) {
            buffer = InputBuffer(readBytes: input.readBytes)
            self.input = input
        }

        /// The next packed bytes, until the next call; none at the end or after a failure.
        func next() -> UnsafeBufferPointer<UInt8> {
            do throws(TraceError) {
                if try input.nextBytes(into: &buffer) { return unsafe buffer.bytes }
            } catch {
                failure = error
            }
            return unsafe UnsafeBufferPointer(start: nil, count: 0)
        }
    }

    /// Bytes read so far.
    var bytesRead: Int { source.input.bytesRead }
    private var file: String { source.input.label }

    init(_ reader: consuming InputReader) {
        source = Source(reader)
        guard let archive = unsafe archive_read_new() else { preconditionFailure("no memory for an archive") }
        unsafe self.archive = archive
        unsafe archive_read_support_format_zip_streamable(archive)
        unsafe archive_read_open(
            archive, Unmanaged.passUnretained(source).toOpaque(), nil,
            { _, source, start in
                // SAFETY: the source lives as long as the archive, and its buffer until the next call.
                let source = unsafe Unmanaged<Source>.fromOpaque(source!).takeUnretainedValue()
                let bytes = unsafe source.next()
                unsafe start!.pointee = UnsafeRawPointer(bytes.baseAddress)
                return source.failure == nil ? bytes.count : -1
            }, nil)
    }

    deinit { unsafe archive_read_free(archive) }

    /// Goes on to the next document; false at the end of the archive.
    ///
    /// - Throws: `badArchive`, `archiveTooLarge`, or why the archive cannot be read.
    func nextDocument() throws(TraceError) -> Bool {
        var entry: OpaquePointer?
        while true {
            let result = unsafe archive_read_next_header(archive, &entry)
            if result == ARCHIVE_EOF { return false }
            guard result >= ARCHIVE_WARN, let entry = unsafe entry else { throw failure }
            entries += 1
            if entries > Self.maximumEntries { throw .archiveTooLarge(file: file) }
            if unsafe Self.isDocument(entry) { return true }
            try unsafe skip(entry)
        }
    }

    /// Reads bytes of the document; none at its end.
    func read(into buffer: inout [UInt8]) throws(TraceError) -> Int {
        // SAFETY: the buffer has so many bytes.
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe archive_read_data(archive, $0.baseAddress, $0.count) }
        guard count >= 0 else { throw failure }
        unpacked += count
        if unpacked > Self.maximumBytes { throw .archiveTooLarge(file: file) }
        return count
    }

    /// Skips an entry. Where its length is not known before, it is unpacked to find its end, which counts.
    private func skip(_ entry: OpaquePointer) throws(TraceError) {
        if unsafe archive_entry_size_is_set(entry) != 0 {
            guard unsafe archive_read_data_skip(archive) >= ARCHIVE_WARN else { throw failure }
            return
        }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while try read(into: &buffer) > 0 {}
    }

    private var failure: TraceError { source.failure ?? .badArchive(file: file) }

    /// Whether an entry is a file whose name ends with `.kml`.
    private static func isDocument(_ entry: OpaquePointer) -> Bool {
        // SAFETY: the name lives as long as the entry.
        guard unsafe UInt32(archive_entry_filetype(entry)) == hereabouts_archive_regular(),
            let name = unsafe archive_entry_pathname(entry) ?? archive_entry_pathname_utf8(entry)
        else { return false }
        return unsafe isDocument(name: String(cString: name).utf8)
    }

    /// Whether the name of an entry is that of a document.
    static func isDocument(name: some BidirectionalCollection<UInt8>) -> Bool {
        name.suffix(4).map { $0 | 0x20 } == [0x2e, 0x6b, 0x6d, 0x6c]
    }
}

extension InputReader {
    /// Whether the input is a zip archive with a KML document: one that begins within its first MiB, or any in a file
    /// whose name says so. Nothing is consumed.
    mutating func startsLikeKMZ() throws(TraceError) -> Bool {
        guard try kind() == .zip else { return false }
        let signature: [UInt8] = [0x50, 0x4b, 3, 4]
        var at = 0
        var isFound = false
        unsafe try peek { bytes, _ in
            // An entry's name stands 30 bytes behind its start, and its length 4 bytes before that.
            while at + 30 <= bytes.count {
                // SAFETY: the slices are within the bytes.
                if unsafe bytes[at] == 0x50, unsafe bytes[at..<at + 4].elementsEqual(signature) {
                    let length = unsafe Int(bytes[at + 26]) | Int(bytes[at + 27]) << 8
                    guard at + 30 + length <= bytes.count else { return false }
                    isFound = unsafe ZipReader.isDocument(name: bytes[(at + 30)..<(at + 30 + length)])
                    if isFound { return true }
                }
                at += 1
            }
            return false
        }
        return isFound || label.lowercased().hasSuffix(".kmz")
    }
}
