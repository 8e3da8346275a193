#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The files of the command: `hereabouts` itself, and `hereabouts-atlas`, which does what needs polygons.
///
/// They are two, as opening the libraries for polygons and geodesics takes several times as long as an answer does,
/// and to the user one: `hereabouts atlas` and `hereabouts region` become the other program, in the same process.
/// The second stands beside the first or, once installed, in `../libexec/hereabouts`, out of the search path.
package enum Executable {
    private static let companionName = "hereabouts-atlas"
    private static let companionFolder = "libexec/hereabouts"

    /// The folder of `hereabouts`, symbolic links resolved, whichever of the two is running; nil where the system
    /// does not tell.
    package static func commandFolder() -> String? {
        guard let folder = runningFile().map(parent) else { return nil }
        let suffix = "/" + companionFolder
        return folder.hasSuffix(suffix) ? folder.dropLast(suffix.count) + "/bin" : folder
    }

    /// The folder or file above a path; empty above the root's.
    package static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "" }
        return String(path[..<slash])
    }

    /// Makes this process `hereabouts-atlas`, with the same arguments and environment: exit status and signals are
    /// its own from then on.
    ///
    /// - Throws: `CommandFailure`, status 2, where that program is missing or cannot be started.
    package static func becomeCompanion(_ arguments: [String]) throws(CommandFailure) -> Never {
        let folder = commandFolder() ?? ""
        let places = ["\(folder)/\(companionName)", "\(parent(of: folder))/\(companionFolder)/\(companionName)"]
        guard let path = places.first(where: { unsafe access($0, X_OK) == 0 }) else {
            throw CommandFailure(
                .unusable,
                "the program \(companionName) is missing; it belongs beside the command or in ../\(companionFolder)")
        }
        // SAFETY: execv copies the strings, which are freed only where it fails and returns.
        var words: [UnsafeMutablePointer<CChar>?] = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
        unsafe execv(path, &words)
        unsafe words.forEach { unsafe free($0) }
        throw CommandFailure(.unusable, "\(path) cannot be started")
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
