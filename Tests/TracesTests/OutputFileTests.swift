import Files
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

    /// What the kernel does with `fs.protected_symlinks` in a folder such as /tmp, whether that is set or not.
    @Test(.enabled(if: getuid() == 0, "skipped: only root can make another user's link"))
    func `another user's link in a sticky folder is not followed`() throws {
        let scratch = Scratch()
        let folder = scratch.path("sticky"), link = scratch.path("sticky/link")
        _ = scratch.write([7], as: "target")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        #expect(unsafe chmod(folder, 0o1777) == 0)
        let files = FileManager.default
        for target in ["../target", "../new", "/dev/null", "/dev/stdout", "../own"] {
            // A link of one's own may lead to it.
            try? files.removeItem(atPath: scratch.path("own"))
            try files.createSymbolicLink(atPath: scratch.path("own"), withDestinationPath: "sticky/second")
            try? files.removeItem(atPath: scratch.path("sticky/second"))
            try files.createSymbolicLink(atPath: scratch.path("sticky/second"), withDestinationPath: "../new")
            #expect(unsafe lchown(scratch.path("sticky/second"), 65534, 65534) == 0)
            try? files.removeItem(atPath: link)
            try files.createSymbolicLink(atPath: link, withDestinationPath: target)
            #expect(unsafe lchown(link, 65534, 65534) == 0)
            for path in [link, scratch.path("own")] {
                #expect(throws: TraceError.cannotWrite(file: path, SystemError(number: EACCES)), "\(target)") {
                    try write("x", to: path, finishing: true)
                }
            }
            #expect(scratch.read("target") == [7] && scratch.read("new") == nil)
        }
        // The folder's owner may have made it, and in any other folder everybody.
        try files.removeItem(atPath: link)
        try files.createSymbolicLink(atPath: link, withDestinationPath: "../target")
        try write("own", to: link, finishing: true)
        #expect(scratch.read("target") == Array("own".utf8))
        #expect(unsafe lchown(link, 65534, 65534) == 0 && chown(folder, 65534, 65534) == 0)
        try write("folder's", to: link, finishing: true)
        #expect(scratch.read("target") == Array("folder's".utf8))
        #expect(unsafe chown(folder, 0, 0) == 0 && chmod(folder, 0o755) == 0)
        try write("not sticky", to: link, finishing: true)
        #expect(scratch.read("target") == Array("not sticky".utf8))
    }

    /// As the kernel does with `fs.protected_fifos`, for whoever creates files there.
    @Test(.enabled(if: getuid() == 0, "skipped: only root can make another user's pipe"))
    func `another user's pipe in a sticky folder is not written to`() throws {
        let scratch = Scratch()
        let folder = scratch.path("sticky"), pipe = scratch.path("sticky/pipe")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        #expect(unsafe chmod(folder, 0o1777) == 0 && mkfifo(pipe, 0o666) == 0 && chown(pipe, 65534, 65534) == 0)
        // So that nobody waits.
        let reader = unsafe open(pipe, O_RDWR | O_CLOEXEC)
        defer { close(reader) }
        #expect(throws: TraceError.cannotWrite(file: pipe, SystemError(number: EACCES))) {
            try write("x", to: pipe, finishing: true)
        }
        #expect(unsafe chown(pipe, 0, 0) == 0)
        try write("x", to: pipe, finishing: true)
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
