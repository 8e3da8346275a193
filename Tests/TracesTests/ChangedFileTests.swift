import Foundation
import Testing

@testable import Traces

/// Files that change while they are read.
@Suite struct ChangedFileTests {
    let scratch = Scratch()

    /// Reads some bytes, has the file changed, and reads the rest.
    private func read(_ change: (_ path: String) throws -> Void) throws -> TraceError? {
        let path = scratch.write([UInt8](repeating: 65, count: 10_000), as: "file")
        var source = try ByteSource(.file(path))
        // SAFETY: so many bytes are allocated, and freed at the end.
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: 1000, alignment: 1)
        defer { unsafe bytes.deallocate() }
        _ = unsafe try source.read(into: bytes, count: 1000)
        try change(path)
        do throws(TraceError) {
            while unsafe try source.read(into: bytes, count: 1000) > 0 {}
            return nil
        } catch {
            return error
        }
    }

    @Test func `a file that grows or shrinks is an error`() throws {
        let unchanged = try read { _ in }
        #expect(unchanged == nil)
        let changed = TraceError.changedWhileRead(file: scratch.path("file"))
        for size in [0, 500, 5000, 9999, 10_001, 20_000] {
            let error = try read { path in
                // SAFETY: the path is a NUL-terminated copy for the time of the call.
                _ = unsafe truncate(path, off_t(size))
            }
            #expect(error == changed)
        }
        // The same size, other content.
        let rewritten = try read { path in
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            usleep(20_000)
            file.write(Data("B".utf8))
            try file.close()
        }
        #expect(rewritten == changed)
        // Another file of its name is none of it.
        let removed = try read { try FileManager.default.removeItem(atPath: $0) }
        #expect(removed == nil)
    }
}
