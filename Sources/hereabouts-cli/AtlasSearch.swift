import Hereabouts

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Finds the atlas without a flag.
enum AtlasSearch {
    /// Opens the atlas that `option` names; else the one `HEREABOUTS_ATLAS` names; else the first there is of
    /// `world.atlas` beside the command, `../share/hereabouts/world.atlas`, and `data/world.atlas` in the checkout
    /// above the command.
    static func open(option: String?) throws(CommandFailure) -> Atlas {
        let path = try path(option: option)
        do {
            return try Atlas(contentsOf: path)
        } catch {
            throw CommandFailure(.unusable, "\(path) \(error)")
        }
    }

    /// Where that atlas is.
    static func path(option: String?) throws(CommandFailure) -> String {
        guard let path = option ?? environment("HEREABOUTS_ATLAS") ?? candidates().first(where: isReadable) else {
            throw CommandFailure(.unusable, "no atlas found; name one with --atlas or HEREABOUTS_ATLAS")
        }
        return path
    }

    private static func environment(_ name: String) -> String? {
        // SAFETY: getenv's string is copied at once, and nothing here sets variables.
        guard let value = unsafe getenv(name) else { return nil }
        let text = unsafe String(cString: value)
        return text.isEmpty ? nil : text
    }

    private static func candidates() -> [String] {
        guard let command = executablePath() else { return [] }
        let folder = parent(of: command)
        var paths = ["\(folder)/world.atlas", "\(folder)/../share/hereabouts/world.atlas"]
        var above = folder
        while !above.isEmpty {
            if isReadable("\(above)/Package.swift") { paths.append("\(above)/data/world.atlas") }
            above = parent(of: above)
        }
        return paths
    }

    private static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "" }
        return String(path[..<slash])
    }

    private static func isReadable(_ path: String) -> Bool { unsafe access(path, R_OK) == 0 }

    /// The running program's own file, symbolic links resolved.
    private static func executablePath() -> String? {
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
