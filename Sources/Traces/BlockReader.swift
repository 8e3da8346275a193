#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A piece of an input, and the memory it is in.
@safe struct Block: ~Copyable {
    /// Readable bytes after the content.
    static let slack = 64

    fileprivate var base: UnsafeMutablePointer<UInt8>
    fileprivate let capacity: Int
    fileprivate var range = 0..<0

    /// An empty block, for readers of such chunks.
    init(chunkBytes: Int) {
        capacity = CSVLayout.maximumRecordBytes + chunkBytes
        // SAFETY: freed in deinit. The memory is zeroed, and pages that no input reaches are never touched.
        guard let zeros = unsafe calloc(capacity + Self.slack, 1) else { preconditionFailure("no memory for input") }
        unsafe base = zeros.bindMemory(to: UInt8.self, capacity: capacity + Self.slack)
    }

    deinit {
        unsafe free(base)
    }

    var count: Int { range.count }

    /// The content, until the block is filled again or goes; `slack` readable bytes follow it.
    var bytes: UnsafeBufferPointer<UInt8> {
        // SAFETY: the range lies within the initialized capacity.
        unsafe UnsafeBufferPointer(start: base + range.lowerBound, count: range.count)
    }
}

/// Cuts an input into blocks of whole records.
///
/// A record ends at a line feed outside quotes. A quote opens only at the start of a field, as RFC 4180 has it: a
/// stray one inside a field (`5'10"`) does not swallow the lines after it. The state is carried from chunk to chunk,
/// so each byte is looked at once and where the chunks fall makes no difference.
///
/// Where the first line ends with a carriage return alone, all of these are line ends, and read as line feeds.
///
/// Every block ends with a line feed (one is added to a last line that lacks it), and `Block.slack` readable bytes follow
/// it: scanners may look ahead without a bounds test.
@safe struct BlockReader: ~Copyable {
    private var source: ByteSource
    private let chunkBytes: Int
    /// The bytes not yet handed out, from the memory's start on.
    private var buffer: Block
    /// How many those are; the first `scanned` of them were looked at.
    private var count = 0
    private var scanned = 0
    private var isAtEnd = false
    /// The separator of fields, after which a quote opens; nil where quotes have no meaning.
    private var delimiter: UInt8?
    private var isInQuotes = false
    /// Where the last quote closed; a quote right after it is an escaped one and opens again.
    private var lastClose = -1
    /// Whether lines end with a carriage return alone.
    private var endsLinesWithReturns = false
    /// Bytes read so far.
    private(set) var bytesRead = 0

    /// The name for messages.
    var label: String { source.label }

    init(_ source: consuming ByteSource, chunkBytes: Int) {
        self.source = source
        self.chunkBytes = chunkBytes
        buffer = Block(chunkBytes: chunkBytes)
    }

    private var base: UnsafeMutablePointer<UInt8> { unsafe buffer.base }

    /// What the file starts with: everything up to the end of its first line. Nothing is consumed; a byte-order mark is
    /// dropped.
    mutating func firstLine() throws(TraceError) -> UnsafeBufferPointer<UInt8> {
        var hasMark = true
        while true {
            if hasMark && count >= 3 {
                // SAFETY: three bytes are there.
                hasMark = false
                if unsafe base[0] == 0xef && base[1] == 0xbb && base[2] == 0xbf {
                    unsafe memmove(base, base + 3, count - 3)
                    count -= 3
                }
            }
            if let length = firstLineEnd() { return unsafe UnsafeBufferPointer(start: base, count: length) }
            if isAtEnd { return unsafe UnsafeBufferPointer(start: base, count: count) }
            guard count <= CSVLayout.maximumRecordBytes else { throw .recordTooLong(file: label, line: 1) }
            try readChunk()
        }
    }

    /// Where the first line feed is, a carriage return at the end of a line of its own included, which becomes one.
    private mutating func firstLineEnd() -> Int? {
        let feed = offset(of: 10, from: 0)
        guard let found = offset(of: 13, from: 0), found < feed ?? count else { return feed }
        // What follows tells which kind of line end it is.
        guard found + 1 < count || isAtEnd else { return nil }
        if feed == found + 1 { return feed }
        endsLinesWithReturns = true
        replaceReturns(0..<count)
        return found
    }

    private func replaceReturns(_ range: Range<Int>) {
        // SAFETY: the range lies within the initialized bytes.
        for at in range where unsafe base[at] == 13 { unsafe base[at] = 10 }
    }

    /// Consumes the first line, its end included. To be called after `firstLine`, before the first `next`.
    mutating func dropFirstLine() {
        let length = offset(of: 10, from: 0).map { $0 + 1 } ?? count
        // SAFETY: both lie within the initialized bytes.
        unsafe memmove(base, base + length, count - length)
        count -= length
    }

    /// Whether the input has no bytes at all, as far as `firstLine` has read.
    var isEmpty: Bool { count == 0 }

    /// Whether the input starts as XML does: with `<`, blanks and byte-order marks aside. Nothing is consumed.
    mutating func startsLikeXML() throws(TraceError) -> Bool {
        while true {
            var at = 0
            // SAFETY: `at` is tested against `count`.
            while at < count, unsafe Self.canPrecedeXML(base[at]) { at += 1 }
            if at < count { return unsafe base[at] == UInt8(ascii: "<") }
            if isAtEnd || count > CSVLayout.maximumRecordBytes { return false }
            try readChunk()
        }
    }

    /// Blanks, the bytes of byte-order marks, and the zeros of UTF-16.
    private static func canPrecedeXML(_ byte: UInt8) -> Bool {
        switch byte {
        case 0, 9, 10, 13, 0x20, 0xef, 0xbb, 0xbf, 0xfe, 0xff: true
        default: false
        }
    }

    /// Fills `block` with the bytes as they come, records or not; false at the end.
    mutating func nextBytes(into block: inout Block) throws(TraceError) -> Bool {
        if count == 0 && !isAtEnd { try readChunk() }
        guard count > 0 else { return false }
        scanned = count
        handOut(count, to: &block)
        return true
    }

    /// Sets the separator of fields; nil switches quotes off. To be called before the first `next`.
    mutating func setDelimiter(_ delimiter: UInt8?) {
        self.delimiter = delimiter
    }

    /// Fills `block` with whole records; false at the end. A record that is too long throws `recordTooLong` with line 0:
    /// it is the first of what was not handed out.
    mutating func next(into block: inout Block) throws(TraceError) -> Bool {
        while true {
            if let end = findRecordEnd() {
                handOut(end, to: &block)
                return true
            }
            if isAtEnd {
                guard count > 0 else { return false }
                closeLastRecord()
                handOut(count, to: &block)
                return true
            }
            guard count <= CSVLayout.maximumRecordBytes else { throw .recordTooLong(file: label, line: 0) }
            try readChunk()
        }
    }

    /// Gives the first `end` bytes away with the memory they are in, and goes on in the block's.
    private mutating func handOut(_ end: Int, to block: inout Block) {
        precondition(block.capacity == buffer.capacity, "a block of the reader's size")
        // SAFETY: both have the same capacity, which is at least `count`.
        unsafe memcpy(block.base, base + end, count - end)
        swap(&buffer, &block)
        block.range = 0..<end
        count -= end
        scanned -= end
        lastClose -= end
    }

    private mutating func readChunk() throws(TraceError) {
        // SAFETY: callers saw to it that `count` ≤ capacity - chunkBytes.
        let length = try unsafe source.read(into: base + count, count: chunkBytes)
        if endsLinesWithReturns { replaceReturns(count..<count + length) }
        count += length
        bytesRead += length
        if length == 0 { isAtEnd = true }
    }

    /// Closes what is left at the end of the file with a line feed.
    private mutating func closeLastRecord() {
        // SAFETY: count ≤ capacity, and the slack has room for one more byte.
        unsafe base[count] = 10
        count += 1
        scanned = count
    }

    /// The end of the last whole record in the buffer, looking only at bytes not looked at before.
    private mutating func findRecordEnd() -> Int? {
        var recordEnd: Int?
        var at = scanned
        // SAFETY: `at` and every result lie within the `count` initialized bytes.
        while at < count {
            let quote = delimiter == nil ? nil : offset(of: UInt8(ascii: "\""), from: at)
            if isInQuotes {
                guard let quote else { break }
                isInQuotes = false
                lastClose = quote
                at = quote + 1
                continue
            }
            if let feed = lastFeed(in: at..<(quote ?? count)) { recordEnd = feed + 1 }
            guard let quote else { break }
            let before = quote == 0 ? 10 : unsafe base[quote - 1]
            isInQuotes = before == 10 || before == delimiter || quote == lastClose + 1
            at = quote + 1
        }
        scanned = count
        return recordEnd
    }

    /// The last line feed of a range. Records are short beside chunks, so that it is soon found from the end.
    private func lastFeed(in range: Range<Int>) -> Int? {
        var at = range.upperBound
        while at > range.lowerBound {
            at -= 1
            // SAFETY: the range lies within the initialized bytes.
            if unsafe base[at] == 10 { return at }
        }
        return nil
    }

    private func offset(of byte: UInt8, from start: Int) -> Int? {
        // SAFETY: start ≤ count.
        guard let found = unsafe memchr(base + start, Int32(byte), count - start) else { return nil }
        return unsafe found.assumingMemoryBound(to: UInt8.self) - UnsafeMutablePointer(base)
    }
}
