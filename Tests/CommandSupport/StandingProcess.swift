import Foundation
import Testing

extension Workplace {
    /// Starts `snap` of a program on a pipe, with core dumps allowed as far as the system goes, and waits until it has refused
    /// them, or for ten seconds.
    ///
    /// - Returns: what is wrong; nil where neither the process nor what it starts leaves its memory in a core file.
    package func dumpRefusal(of program: URL) throws -> String? {
        // What a process may not dump is root's; so that this shows where the user is root, the group is another.
        let isRoot = geteuid() == 0
        let process = process(
            URL(fileURLWithPath: "/bin/sh"),
            [
                "-c",
                "ulimit -c $(ulimit -Hc); exec \(isRoot ? "setpriv --regid=65534 --clear-groups " : "")\"$0\" snap -",
                program.path,
            ], environment: ["HEREABOUTS_ATLAS": atlasPath])
        let input = Pipe()
        process.standardInput = input
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        defer {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        let folder = "/proc/\(process.processIdentifier)"
        var problem: String?
        for _ in 0..<100 {
            problem = try problemWithDumps(folder, isRoot: isRoot)
            if problem == nil { break }
            usleep(100_000)
        }
        return problem
    }

    private func problemWithDumps(_ folder: String, isRoot: Bool) throws -> String? {
        let limits = try String(contentsOfFile: "\(folder)/limits", encoding: .utf8)
        let limit = limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") } ?? ""
        guard limit.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"] else { return String(limit) }
        let owner = try FileManager.default.attributesOfItem(atPath: "\(folder)/mem")
        let number = owner[isRoot ? .groupOwnerAccountID : .ownerAccountID] as? Int
        guard number == 0 else { return "it can be dumped" }
        let filter = try String(contentsOfFile: "\(folder)/coredump_filter", encoding: .utf8)
        return Int(filter.dropLast(), radix: 16) == 0 ? nil : "what it starts can be dumped"
    }

    /// Checks that a program says which limit is too low for it, and that it works with the least that it takes.
    package func checkLimits(of program: URL) throws {
        for (limit, message) in [
            ("-v 200000", "the limit of memory (ulimit -v or -d) is less than the 256 MiB that are needed"),
            ("-d 100000", "the limit of memory (ulimit -v or -d) is less than the 256 MiB that are needed"),
            ("-n 8", "the limit of open files (ulimit -n) is less than the 16 that are needed"),
        ] {
            let result = try shell("ulimit \(limit); exec '\(program.path)' snap 31.7619 -106.4850")
            #expect(result.status == 2 && !result.signalled && result.output.isEmpty)
            #expect(result.errors == "hereabouts: \(message)\n")
        }
        let least = try shell(
            "ulimit -v 262144; ulimit -n 16; exec '\(program.path)' snap --atlas '\(atlasPath)' 31.7619 -106.4850")
        #expect(least.status == 0)
    }
}
