/// A piece of an input: its bytes, the fixes that were read from it, and how that went.
struct Piece: ~Copyable {
    var buffer: InputBuffer
    var batch = FixBatch()
    /// Pieces of so many bytes are worth the work of several threads.
    private let fullBytes: Int
    /// Bytes of the input that had been read when the piece was.
    private(set) var bytesRead = 0
    /// Whether the input ends here, or cannot be read on.
    private(set) var isAtEnd = false
    private(set) var failure: TraceError?
    /// Lines that come before the piece's first record.
    private var linesBefore = 0

    init(readBytes: Int) {
        buffer = InputBuffer(readBytes: readBytes)
        fullBytes = readBytes / 2
    }

    /// Takes the next piece of an input.
    mutating func take(from input: any TraceInput) -> Taken {
        batch.removeAll()
        do throws(TraceError) {
            isAtEnd = try !input.next(&buffer, &batch)
        } catch {
            failure = error
            isAtEnd = true
        }
        linesBefore = batch.lineCount
        bytesRead = input.bytesRead
        if isAtEnd { return .end }
        return buffer.count >= fullBytes ? .full : .partial
    }

    /// Forgets what was read from the bytes, which are to be read anew.
    mutating func restart() {
        batch.removeAll()
        batch.lineCount = linesBefore
    }

    /// The bytes of a record's device key, until the piece changes.
    @inline(__always)
    func key(_ index: Int) -> UnsafeBufferPointer<UInt8> {
        unsafe batch.key(index, in: buffer)
    }
}
