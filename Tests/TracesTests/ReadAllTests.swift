import Foundation
import Testing

@testable import Files

@Suite struct ReadAllTests {
    /// A reader as the system's: each call has the next result.
    private struct Reader {
        enum Result {
            case bytes(Int)
            case error(Int32)
        }

        let content: [UInt8]
        var results: [Result]
        private(set) var place = 0

        init(_ content: [UInt8], _ results: [Result]) { (self.content, self.results) = (content, results) }

        mutating func read(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
            let isEmpty = unsafe buffer.isEmpty
            #expect(!isEmpty, "an empty read looks like the end")
            let result = results.isEmpty ? .bytes(.max) : results.removeFirst()
            guard case .bytes(let most) = result else {
                if case .error(let number) = result { errno = number }
                return -1
            }
            let count = min(most, buffer.count, content.count - place)
            unsafe buffer.copyBytes(from: content[place..<place + count])
            place += count
            return count
        }
    }

    private func read(
        _ content: [UInt8], limit: Int = 1 << 20, _ results: [Reader.Result]
    ) throws(SystemError) -> [UInt8]? {
        var reader = Reader(content, results)
        return unsafe try readAll(limit: limit) { unsafe reader.read($0) }
    }

    private let content = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

    @Test func `short reads are not the end of a file`() throws {
        for length in [1, 2, 4095, 65_535, 65_536] {
            let results = Array(repeating: Reader.Result.bytes(length), count: content.count / length + 1)
            #expect(try read(content, results) == content, "\(length)")
        }
        #expect(try read([], []) == [])
        #expect(try read([1, 2, 3], [.bytes(1), .bytes(1)]) == [1, 2, 3])
    }

    @Test func `an interrupted read is made again`() throws {
        #expect(try read(content, [.error(EINTR), .bytes(7), .error(EINTR), .error(EINTR)]) == content)
        #expect(try read([], [.error(EINTR)]) == [])
    }

    /// Whoever takes the first part for all decides by half a file.
    @Test(arguments: [EIO, EISDIR, EAGAIN, ESTALE]) func `an error is an error wherever it occurs`(_ number: Int32) {
        for before in [[], [Reader.Result.bytes(7)], [.bytes(65_536), .error(EINTR)]] {
            #expect(throws: SystemError(number: number)) { try read(content, before + [.error(number)]) }
        }
    }

    @Test func `more than the limit is nothing`() throws {
        for count in [0, 1, 65_535, 65_536, 65_537, 200_000] {
            let part = Array(content[..<count])
            for results in [[], Array(repeating: Reader.Result.bytes(1000), count: 300)] {
                #expect(try read(part, limit: count, results) == part, "\(count)")
                #expect(try read(part, limit: .max, results) == part, "\(count)")
                if count > 0 { #expect(try read(part, limit: count - 1, results) == nil, "\(count)") }
            }
        }
    }

    @Test func `files and pipes are read, and no folder`() throws {
        let scratch = Scratch()
        let file = scratch.write(content, as: "file")
        #expect(try readAll(path: file, limit: content.count) == content)
        #expect(try readAll(path: file, limit: content.count - 1) == nil)
        #expect(throws: SystemError(number: ENOENT)) { try readAll(path: scratch.path("none"), limit: 10) }
        #expect(throws: SystemError(number: EISDIR)) { try readAll(path: scratch.folder.path, limit: 10) }
        try FileManager.default.createSymbolicLink(atPath: scratch.path("link"), withDestinationPath: file)
        #expect(try readAll(path: scratch.path("link"), limit: content.count) == content)
        #expect(throws: SystemError(number: ELOOP)) {
            try readAll(path: scratch.path("link"), limit: 10, flags: O_NOFOLLOW)
        }
        let pipe = Pipe()
        let writer = pipe.fileHandleForWriting
        let (first, second) = (Data(content[..<100_000]), Data(content[100_000...]))
        Thread.detachNewThread {
            try? writer.write(contentsOf: first)
            usleep(20_000)
            try? writer.write(contentsOf: second)
            try? writer.close()
        }
        #expect(try readAll(pipe.fileHandleForReading.fileDescriptor, limit: content.count) == content)
    }
}
