import Foundation
import Testing

@testable import Traces

@Suite struct OutputFileTests {
    private func write(_ text: String, to path: String, finishing: Bool) throws(TraceError) {
        var file = try OutputFile.file(path)
        var buffer = ByteBuffer(capacity: 16)
        buffer.append(text: text)
        try file.write(&buffer)
        if finishing { try file.publish() }
    }

    @Test func `appears whole or not at all`() throws {
        let scratch = Scratch()
        try write("half", to: scratch.path("new"), finishing: false)
        #expect(scratch.names.isEmpty)
        try write("whole", to: scratch.path("new"), finishing: true)
        #expect(scratch.names == ["new"] && scratch.read("new") == Array("whole".utf8))
        try write("half", to: scratch.path("new"), finishing: false)
        #expect(scratch.names == ["new"] && scratch.read("new") == Array("whole".utf8))
    }

    @Test func `symbolic links survive`() throws {
        let scratch = Scratch()
        _ = scratch.write([], as: "target")
        try FileManager.default.createSymbolicLink(atPath: scratch.path("link"), withDestinationPath: "target")
        try write("new", to: scratch.path("link"), finishing: true)
        #expect(scratch.read("target") == Array("new".utf8))
        #expect((try? FileManager.default.destinationOfSymbolicLink(atPath: scratch.path("link"))) == "target")
    }

    @Test func `devices are written in place`() throws {
        try write("gone", to: "/dev/null", finishing: true)
        var status = stat()
        #expect(unsafe stat("/dev/null", &status) == 0 && status.st_mode & S_IFMT == S_IFCHR)
    }

    @Test func `inputs are not overwritten`() throws {
        let scratch = Scratch()
        let input = scratch.write([1], as: "input")
        try FileManager.default.linkItem(atPath: input, toPath: scratch.path("same"))
        for name in ["input", "same"] {
            #expect(throws: TraceError.inUse(file: scratch.path(name), as: .input)) {
                _ = try OutputFile.file(scratch.path(name), besides: [UsedFile(.file(input))])
            }
        }
        #expect(scratch.read("input") == [1])
    }

    @Test func `folders that are not there are errors`() {
        let scratch = Scratch()
        #expect(throws: TraceError.self) { _ = try OutputFile.file(scratch.path("no/file")) }
    }
}
