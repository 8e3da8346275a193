#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The program files of the command: `hereabouts`, and its companions `hereabouts-atlas`, which links GEOS and PROJ, and
/// `hereabouts-live`, which links SQLite.
///
/// Loading those libraries takes several times as long as an answer of `snap`, so `hereabouts` does without.
/// `hereabouts atlas`, `hereabouts region` and runs with `--zones` or `--crs` replace the process by the first companion (`execv`),
/// the relay and `hereabouts live --state` by the second. They are installed beside `hereabouts` or, out of the search path, in `../libexec/hereabouts`.
package enum Executable {
    /// A program that does what `hereabouts` links no library for.
    package enum Companion: String { case atlas = "hereabouts-atlas", live = "hereabouts-live" }

    /// What tells a companion which version of `hereabouts` it goes on for.
    private static let callerVariable = "HEREABOUTS_CALLER"
    private static let companionFolder = "libexec/hereabouts"

    /// The folder of `hereabouts`, symbolic links resolved, whichever of the programs is running; nil if the system
    /// does not give the running program's path.
    package static func commandFolder() -> String? {
        guard let folder = runningFile().map(parent) else { return nil }
        let suffix = "/" + companionFolder
        return folder.hasSuffix(suffix) ? folder.dropLast(suffix.count) + "/bin" : folder
    }

    /// The part of a path before its last slash; empty if there is none.
    package static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "" }
        return String(path[..<slash])
    }

    /// Replaces this process by a companion, with the same arguments and environment.
    ///
    /// - Throws: `CommandFailure`, status 2, if that program is missing or cannot be started.
    package static func become(
        _ companion: Companion, _ arguments: [String]
    ) throws(CommandFailure) -> Never {
        let companionName = companion.rawValue
        let folder = commandFolder() ?? ""
        let candidates = ["\(folder)/\(companionName)", "\(parent(of: folder))/\(companionFolder)/\(companionName)"]
        guard let path = candidates.first(where: { unsafe access($0, X_OK) == 0 }) else {
            throw CommandFailure(
                .unusable,
                "the program \(companionName) is missing beside the command and in ../\(companionFolder): 'make install' brings it, 'make build' builds it"
            )
        }
        // SAFETY: setenv copies both, and no other thread reads the environment. execv copies the strings; they are freed
        // only if it fails and returns.
        unsafe setenv(callerVariable, hereaboutsVersion, 1)
        var words: [UnsafeMutablePointer<CChar>?] = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
        unsafe execv(path, &words)
        unsafe words.forEach { unsafe free($0) }
        throw CommandFailure(.unusable, "\(path): cannot be started")
    }

    /// Refuses to go on for a `hereabouts` of another version: half of an installation was replaced.
    ///
    /// - Throws: `CommandFailure`, status 2.
    package static func validateCaller() throws(CommandFailure) {
        // SAFETY: the string is copied before the environment changes; one thread runs.
        guard let value = unsafe getenv(callerVariable) else { return }
        let version = unsafe String(cString: value)
        unsafe unsetenv(callerVariable)
        guard version != hereaboutsVersion else { return }
        throw CommandFailure(
            .unusable,
            "the command is of version \(version), and its program \(runningFile() ?? "") of \(hereaboutsVersion): install both anew"
        )
    }

    /// The running program's own file, symbolic links resolved.
    private static func runningFile() -> String? {
        #if canImport(Glibc)
            let link = "/proc/self/exe"
        #else
            var size: UInt32 = 4096
            var name = [CChar](repeating: 0, count: Int(size))
            // SAFETY: the call writes at most `size` bytes, NUL included.
            guard unsafe _NSGetExecutablePath(&name, &size) == 0 else { return nil }
            let link = unsafe String(cString: name)
        #endif
        // SAFETY: realpath's answer is a malloc'ed C string, copied and then freed.
        guard let path = unsafe realpath(link, nil) else { return nil }
        defer { unsafe free(path) }
        return unsafe String(cString: path)
    }
}
