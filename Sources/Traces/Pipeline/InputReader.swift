#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Bytes of an input, and the memory they are in.
@safe struct InputBuffer: ~Copyable {
    /// Readable bytes after the content, so that scanners may look ahead without a bounds check.
    static let padding = 64
    /// The longest record that is accepted, in bytes. A longer one is a file that is no table, or a quote left open; the
    /// limit keeps memory bounded whatever comes in.
    static let maximumRecordBytes = 1 << 20

    fileprivate var base: UnsafeMutablePointer<UInt8>
    fileprivate let capacity: Int
    fileprivate var range = 0..<0

    /// An empty buffer, for a record and so many more bytes.
    init(readBytes: Int) {
        // The decoder of UTF-16 needs room for a scalar.
        capacity = Self.maximumRecordBytes + max(readBytes, 4)
        // SAFETY: freed in deinit. The memory is zeroed; pages that no input reaches are never faulted.
        guard let zeros = unsafe calloc(capacity + Self.padding, 1) else { preconditionFailure("no memory for input") }
        unsafe base = zeros.bindMemory(to: UInt8.self, capacity: capacity + Self.padding)
    }

    deinit { unsafe free(base) }

    var count: Int { range.count }

    /// The content, until the buffer is filled again or goes; `padding` readable bytes follow it.
    var bytes: UnsafeBufferPointer<UInt8> {
        // SAFETY: the range lies within the initialized capacity.
        unsafe UnsafeBufferPointer(start: base + range.lowerBound, count: range.count)
    }
}

/// Where records end in a stream of bytes.
protocol Framing {
    /// The offset after the last whole record among `bytes`, if it was not known before: only bytes past those of the
    /// call before are scanned.
    mutating func lastRecordEnd(_ bytes: UnsafeBufferPointer<UInt8>) -> Int?

    /// The first `count` bytes, which are whole records, are gone.
    mutating func drop(_ count: Int)
}

/// Records that are lines.
struct LineFraming: Framing {
    private var scanned = 0

    mutating func lastRecordEnd(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        defer { scanned = bytes.count }
        return unsafe bytes[scanned...].lastIndex(of: 10).map { $0 + 1 }
    }

    mutating func drop(_ count: Int) { scanned -= count }
}

/// Reads an input piece by piece and hands it out in buffers, of whole records or of bytes as they come.
///
/// Where the first line ends with a carriage return alone, all of these are line ends, and read as line feeds. A buffer
/// of records ends with a line feed; one is added to a last line that lacks it. A table in UTF-16, which its byte-order
/// mark says, is read as UTF-8.
@safe struct InputReader: ~Copyable {
    private var source: ByteSource
    /// Bytes read at a time, which buffers have room for.
    let readBytes: Int
    /// The bytes not yet handed out, from the memory's start on.
    private var pending: InputBuffer
    private var count = 0
    private var isAtEnd = false
    private var mayHaveMark = true
    /// Whether lines end with a carriage return alone.
    private var endsLinesWithReturns = false
    /// Whether nothing of the file was consumed: its first line says how lines end.
    private var isAtStart = true
    /// The bytes of a text in UTF-16 that are not yet read as UTF-8.
    private var decoder: UTF16Decoder?
    /// Bytes that `lookAhead` read, which follow the pending ones; and how many of them are pending by now.
    private var ahead: [UInt8] = []
    private var aheadTaken = 0
    /// What ended the reading ahead, to be met when those bytes are used up.
    private var aheadEnd: AheadEnd?
    /// The most bytes that are looked at before the first record is handed out.
    private static let mostAheadBytes = 16 << 20
    /// Bytes of the file read so far.
    var bytesRead: Int { source.bytesRead }

    private enum AheadEnd {
        case end
        case failure(TraceError)
    }

    /// The name for messages.
    var label: String { source.label }

    /// Whether it is a file, which nobody waits for.
    var isOfFile: Bool { source.isOfFile }

    /// Whether the run was cancelled: what seems the end may be none.
    var isCancelled: Bool { source.isCancelled }

    /// A new reader of the same name and size for a pipe, which is closed with it.
    ///
    /// - Parameter patience: how long the pipe is waited for; what follows is its end.
    func reader(of descriptor: Int32, patience: Patience) -> InputReader {
        InputReader(source.source(of: descriptor, patience: patience), readBytes: readBytes)
    }

    /// A copy of the descriptor of a regular file that is not compressed, at its start; nil of any other input.
    func fileFromStart() throws(TraceError) -> Int32? { try source.fileFromStart() }

    init(_ source: consuming ByteSource, readBytes: Int) {
        self.source = source
        self.readBytes = readBytes
        pending = InputBuffer(readBytes: readBytes)
    }

    private var base: UnsafeMutablePointer<UInt8> { unsafe pending.base }

    /// What the file starts with: everything up to the end of its first line. Nothing is consumed; a byte-order mark is
    /// dropped.
    mutating func firstLine() throws(TraceError) -> UnsafeBufferPointer<UInt8> {
        while true {
            if mayHaveMark, count >= 2, let order = unsafe UTF16Decoder.order(base[0], base[1]) {
                mayHaveMark = false
                // SAFETY: the first `count` bytes are initialized.
                let bytes = unsafe UnsafeBufferPointer(start: base + 2, count: count - 2)
                var decoder = UTF16Decoder(order)
                unsafe decoder.append(bytes)
                if isAtEnd { decoder.isAtEnd = true }
                self.decoder = decoder
                (count, isAtEnd) = (0, false)
                try readChunk()
            }
            dropMark()
            if let length = firstLineEnd() { return unsafe UnsafeBufferPointer(start: base, count: length) }
            if isAtEnd { return unsafe UnsafeBufferPointer(start: base, count: count) }
            guard count <= InputBuffer.maximumRecordBytes else { throw .recordTooLong(file: label, line: 1) }
            try readChunk()
        }
    }

    /// Where the first line feed is, a carriage return at the end of a line of its own included, which becomes one.
    private mutating func firstLineEnd() -> Int? {
        let feed = offset(of: 10, from: 0)
        guard isAtStart, let found = offset(of: 13, from: 0), found < feed ?? count else { return feed }
        // The next byte decides which kind of line end it is.
        guard found + 1 < count || isAtEnd else { return nil }
        if feed == found + 1 { return feed }
        endsLinesWithReturns = true
        unsafe Self.replaceReturns(base, 0..<count)
        return found
    }

    private static func replaceReturns(_ base: UnsafeMutablePointer<UInt8>, _ range: Range<Int>) {
        // SAFETY: the range lies within the initialized bytes.
        for at in range where unsafe base[at] == 13 { unsafe base[at] = 10 }
    }

    /// Consumes the first line, its end included. To be called after `firstLine`, before the first `next`; the next line is
    /// the first one then.
    mutating func dropFirstLine() {
        isAtStart = false
        let length = offset(of: 10, from: 0).map { $0 + 1 } ?? count
        // SAFETY: both lie within the initialized bytes.
        unsafe memmove(base, base + length, count - length)
        count -= length
    }

    /// Whether the input has no bytes at all, as far as `firstLine` has read.
    var isEmpty: Bool { count == 0 }

    /// What the input is, by how it starts; nil for what may be a table. Nothing is consumed.
    mutating func kind() throws(TraceError) -> FileKind? {
        while true {
            // SAFETY: the first `count` bytes are initialized.
            let bytes = unsafe UnsafeBufferPointer(start: base, count: count)
            switch unsafe FileKind.recognize(bytes, isAtEnd: isAtEnd) {
            case .known(let kind): return kind
            case .none: return nil
            case .undecided: try readChunk()
            }
        }
    }

    /// Whether the input starts as XML does: with `<`, blanks and byte-order marks aside. Nothing is consumed.
    mutating func startsLikeXML() throws(TraceError) -> Bool {
        while true {
            var at = 0
            // SAFETY: `at` is tested against `count`.
            while at < count, unsafe Self.canPrecedeXML(base[at]) { at += 1 }
            if at < count { return unsafe base[at] == UInt8(ascii: "<") }
            if isAtEnd || count > InputBuffer.maximumRecordBytes { return false }
            try readChunk()
        }
    }

    /// Shows what the input starts with, after a byte-order mark, and more of it until `body` has enough, there is no more,
    /// or it is longer than a record. Nothing is consumed.
    mutating func peek(
        _ body: (_ bytes: UnsafeBufferPointer<UInt8>, _ isAtEnd: Bool) -> Bool
    ) throws(TraceError) {
        while true {
            if count >= 3 || isAtEnd {
                dropMark()
                // SAFETY: the first `count` bytes are initialized.
                let isEnough = unsafe body(UnsafeBufferPointer(start: base, count: count), isAtEnd)
                if isEnough || isAtEnd || count > InputBuffer.maximumRecordBytes { return }
            }
            try readChunk()
        }
    }

    /// Drops a byte-order mark, if there is one and nothing was dropped before.
    private mutating func dropMark() {
        // A mark of UTF-16 is for `firstLine`.
        guard mayHaveMark, count >= 3, unsafe UTF16Decoder.order(base[0], base[1]) == nil else { return }
        mayHaveMark = false
        // SAFETY: three bytes are there.
        if unsafe base[0] == 0xef && base[1] == 0xbb && base[2] == 0xbf {
            unsafe memmove(base, base + 3, count - 3)
            count -= 3
        }
    }

    /// Consumes what `peek` showed up to the first such byte; there is one. Line feeds before it stay.
    mutating func dropFirst(through byte: UInt8) {
        guard let end = offset(of: byte, from: 0) else { return }
        var kept = 0
        // SAFETY: all offsets are below `count`.
        for at in 0..<end where unsafe base[at] == 10 {
            unsafe base[kept] = 10
            kept += 1
        }
        unsafe memmove(base + kept, base + end + 1, count - end - 1)
        count -= end + 1 - kept
    }

    /// Blanks, the bytes of byte-order marks, and the zeros of UTF-16.
    private static func canPrecedeXML(_ byte: UInt8) -> Bool {
        switch byte {
        case 0, 9, 10, 13, 0x20, 0xef, 0xbb, 0xbf, 0xfe, 0xff: true
        default: false
        }
    }

    /// Fills `buffer` with the bytes as they come, records or not; false at the end.
    mutating func nextBytes(into buffer: inout InputBuffer) throws(TraceError) -> Bool {
        if count == 0 && !isAtEnd { try readChunk() }
        guard count > 0 else { return false }
        handOut(count, to: &buffer)
        return true
    }

    /// Fills `buffer` with whole records; false at the end. A record that is too long throws `recordTooLong` with line 0:
    /// it is the first of what was not handed out.
    mutating func nextRecords(
        into buffer: inout InputBuffer, framing: inout some Framing
    ) throws(TraceError) -> Bool {
        while !(isAtEnd && count == 0) {
            // SAFETY: the first `count` bytes are initialized.
            if let end = unsafe framing.lastRecordEnd(UnsafeBufferPointer(start: base, count: count)) {
                framing.drop(end)
                handOut(end, to: &buffer)
                return true
            }
            if isAtEnd {
                closeLastRecord()
                handOut(count, to: &buffer)
                return true
            }
            guard count <= InputBuffer.maximumRecordBytes else { throw .recordTooLong(file: label, line: 0) }
            try readChunk()
        }
        return false
    }

    /// Hands out the first `end` bytes with the memory they are in, and goes on in the buffer's.
    private mutating func handOut(_ end: Int, to buffer: inout InputBuffer) {
        precondition(buffer.capacity == pending.capacity, "a buffer of the reader's size")
        // SAFETY: both have the same capacity, which is at least `count`.
        unsafe memcpy(buffer.base, base + end, count - end)
        swap(&pending, &buffer)
        buffer.range = 0..<end
        count -= end
    }

    /// Copies what comes next, whole records of it, without consuming anything: so many lines, and at most 16 MiB. What is
    /// copied does not depend on how much is read at a time, unless a pipe is not waited for.
    ///
    /// - Parameter waits: whether a pipe is waited for until it has sent so many; else one line is enough.
    mutating func lookAhead(lines: Int, waits: Bool, framing: consuming some Framing) -> InputBuffer {
        var feeds = unsafe Self.lineFeeds(base, count)
        unsafe readAhead(while: { feeds < (waits ? lines : 1) }) { text, length in
            feeds += unsafe Self.lineFeeds(text, length)
        }
        var copy = InputBuffer(readBytes: count + ahead.count + 1)
        var all = unsafe copyAhead(to: copy.base)
        var isWhole = false
        if all <= Self.mostAheadBytes, case .end? = aheadEnd { isWhole = true }
        all = min(all, Self.mostAheadBytes)
        if feeds > lines {
            isWhole = false
            all = unsafe Self.end(ofLine: lines, copy.base, all)
        }
        if isWhole, all > 0, unsafe copy.base[all - 1] != 10 {
            unsafe copy.base[all] = 10
            all += 1
        }
        let whole = unsafe framing.lastRecordEnd(UnsafeBufferPointer(start: copy.base, count: all))
        copy.range = 0..<(isWhole ? all : whole ?? 0)
        return copy
    }

    /// Copies the next bytes, at most so many, without consuming anything. Waits for a pipe.
    mutating func lookAhead(bytes: Int) -> [UInt8] {
        unsafe readAhead(while: { true }, upTo: bytes) { _, _ in }
        return unsafe Array(unsafeUninitializedCapacity: count + ahead.count) { text, initialized in
            if let start = text.baseAddress { initialized = unsafe min(copyAhead(to: start), bytes) }
        }
    }

    /// Reads ahead while a condition holds and there is more.
    private mutating func readAhead(
        while isWanted: () -> Bool, upTo bytes: Int = InputReader.mostAheadBytes,
        _ note: (UnsafeMutablePointer<UInt8>, Int) -> Void
    ) {
        var chunk = [UInt8](repeating: 0, count: max(readBytes, 4))
        while aheadEnd == nil, isWanted(), count + ahead.count < bytes {
            do throws(TraceError) {
                let length = try unsafe chunk.withUnsafeMutableBufferPointer { chunk throws(TraceError) in
                    guard let start = chunk.baseAddress else { return 0 }
                    let length = unsafe try readText(into: start)
                    if endsLinesWithReturns { unsafe Self.replaceReturns(start, 0..<length) }
                    unsafe note(start, length)
                    return length
                }
                ahead += chunk.prefix(length)
                if length == 0 { aheadEnd = .end }
            } catch {
                aheadEnd = .failure(error)
            }
        }
    }

    /// Copies the pending bytes and those read ahead.
    ///
    /// - Returns: how many these are.
    private func copyAhead(to copy: UnsafeMutablePointer<UInt8>) -> Int {
        // SAFETY: the caller has room for both.
        unsafe memcpy(copy, base, count)
        unsafe ahead.withUnsafeBufferPointer { ahead in
            if let start = ahead.baseAddress { unsafe memcpy(copy + count, start, ahead.count) }
        }
        return count + ahead.count
    }

    /// The offset behind a line, counted from 1; the count where there are fewer.
    private static func end(ofLine number: Int, _ text: UnsafeMutablePointer<UInt8>, _ count: Int) -> Int {
        var at = 0, left = number
        // SAFETY: so many bytes are initialized.
        while left > 0, at < count, let feed = unsafe memchr(text + at, 10, count - at) {
            at = unsafe feed.assumingMemoryBound(to: UInt8.self) - text + 1
            left -= 1
        }
        return left > 0 ? count : at
    }

    private static func lineFeeds(_ start: UnsafeMutablePointer<UInt8>, _ count: Int) -> Int {
        // SAFETY: so many bytes are initialized.
        unsafe UnsafeBufferPointer(start: start, count: count).count { $0 == 10 }
    }

    private mutating func readChunk() throws(TraceError) {
        if aheadTaken < ahead.count { return takeAhead() }
        switch aheadEnd {
        case .end?:
            isAtEnd = true
            return
        case .failure(let error)?: throw error
        case nil: break
        }
        let length = unsafe try readText(into: base + count)
        if endsLinesWithReturns { unsafe Self.replaceReturns(base, count..<count + length) }
        count += length
        if length == 0 { isAtEnd = true }
    }

    /// Goes on with bytes that were looked at.
    private mutating func takeAhead() {
        let length = min(max(readBytes, 4), ahead.count - aheadTaken)
        unsafe ahead.withUnsafeBufferPointer { ahead in
            // SAFETY: callers saw to it that there is room for so many bytes, and so many are left.
            if let start = ahead.baseAddress { unsafe memcpy(base + count, start + aheadTaken, length) }
        }
        count += length
        aheadTaken += length
        if aheadTaken == ahead.count { (ahead, aheadTaken) = ([], 0) }
    }

    /// Reads the text's next bytes, in UTF-8; 0 at the end.
    private mutating func readText(into end: UnsafeMutablePointer<UInt8>) throws(TraceError) -> Int {
        // SAFETY: callers saw to it that there is room for `readBytes`, and for a scalar, however little is read at a time.
        guard decoder != nil else { return try unsafe source.read(into: end, count: readBytes) }
        while true {
            let length = unsafe decoder?.decode(into: end, room: max(readBytes, 4)) ?? 0
            if length > 0 || decoder?.isAtEnd != false { return length }
            let read = try unsafe source.read(into: end, count: readBytes)
            unsafe decoder?.append(UnsafeBufferPointer(start: end, count: read))
        }
    }

    /// Closes what is left at the end of the file with a line feed.
    private mutating func closeLastRecord() {
        // SAFETY: count ≤ capacity, and the padding has room for one more byte.
        unsafe base[count] = 10
        count += 1
    }

    private func offset(of byte: UInt8, from start: Int) -> Int? {
        // SAFETY: start ≤ count.
        guard let found = unsafe memchr(base + start, Int32(byte), count - start) else { return nil }
        return unsafe found.assumingMemoryBound(to: UInt8.self) - UnsafeMutablePointer(base)
    }
}
