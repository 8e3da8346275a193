import Hereabouts

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A file that an output is about to replace.
enum ExistingOutput {
    /// Whether a file is there and has records, in whichever format; or something else that cannot be read as any, and so
    /// may be anything. A file without content has none, and neither has a table or document that is empty.
    static func hasRecords(_ path: String) -> Bool {
        var status = stat()
        guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        do throws(TraceError) {
            if try isBlank(path) { return false }
            var stage = CountingStage()
            try runPipeline(
                [.found(path)], through: &stage, threads: 1, readBytes: CountingStage.options.readBytes,
                observer: RunObserver())
            return false
        } catch {
            return true
        }
    }

    /// Whether there is nothing in a file, decompressed, but white space.
    private static func isBlank(_ path: String) throws(TraceError) -> Bool {
        var source = try ByteSource(.found(path))
        var bytes = [UInt8](repeating: 0, count: 1 << 12)
        while true {
            var count = 0, failure: TraceError?
            // SAFETY: as many bytes are writable.
            unsafe bytes.withUnsafeMutableBytes { bytes in
                do throws(TraceError) {
                    count = unsafe try source.read(into: bytes.baseAddress!, count: bytes.count)
                } catch {
                    failure = error
                }
            }
            if let failure { throw failure }
            if count == 0 { return true }
            if bytes[..<count].contains(where: { $0 != 0x20 && !(9...13).contains($0) }) { return false }
        }
    }

    /// Ends at the first record.
    private struct CountingStage: PipelineStage, ~Copyable {
        static let options = {
            var options = ConvertRun.Options()
            options.acceptsUntimed = true
            // No other program is started for it.
            options.formats = TraceFormat.all.filter { $0 != .gpsbabel }
            return options
        }()

        var summary = RunSummary()
        private let keys = DeviceKeys()

        func open(_ reader: consuming InputReader) throws(TraceError) -> any TraceInput {
            try TraceFormat.open(reader, options: Self.options)
        }

        func workerFactory(for input: any TraceInput) -> () -> PacingStage.Worker {
            let hash = keys.hash
            return { PacingStage.Worker(input, hash: hash, options: Self.options) }
        }

        func emit(
            _ piece: inout Piece, _ worker: PacingStage.Worker, from input: any TraceInput, firstLine: Int
        ) throws(TraceError) {
            if piece.batch.count > 0 { throw .stopped }
        }

        func close(_ input: any TraceInput) {}
    }
}
