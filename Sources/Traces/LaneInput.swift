/// The piece of the input that a lane took, and how that went.
struct LaneInput: ~Copyable {
    private(set) var block: Block
    /// Blocks from here on are worth the work of several threads.
    private let muchBytes: Int
    /// Bytes of the file that had been read when the block was.
    private(set) var bytesRead = 0
    /// Whether there is no block, for the file has ended or `failure` came up.
    private(set) var isAtEnd = false
    private(set) var failure: TraceError?

    init(chunkBytes: Int) {
        block = Block(chunkBytes: chunkBytes)
        muchBytes = chunkBytes / 2
    }

    /// Takes the next whole records.
    mutating func takeRecords(from reader: inout BlockReader) -> Taken {
        take(from: &reader) { (reader, block) throws(TraceError) in try reader.next(into: &block) }
    }

    /// Takes the next bytes, of whatever kind, for `parse`.
    mutating func takeBytes(
        from reader: inout BlockReader, parse: (borrowing Block) throws(TraceError) -> Void
    ) -> Taken {
        take(from: &reader) { (reader, block) throws(TraceError) in
            guard try reader.nextBytes(into: &block) else { return false }
            try parse(block)
            return true
        }
    }

    private mutating func take(
        from reader: inout BlockReader, _ next: (inout BlockReader, inout Block) throws(TraceError) -> Bool
    ) -> Taken {
        do {
            isAtEnd = try !next(&reader, &block)
        } catch {
            failure = error
            isAtEnd = true
        }
        bytesRead = reader.bytesRead
        if isAtEnd { return .nothing }
        return block.count >= muchBytes ? .much : .little
    }
}
