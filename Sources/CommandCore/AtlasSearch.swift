import Files
import Hereabouts

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Finds and opens the atlas.
package enum AtlasSearch {
    /// Opens an atlas and validates all of it. The path is the first of: `option`; `HEREABOUTS_ATLAS`; `world.atlas`
    /// beside the command; `../share/hereabouts/world.atlas`; `data/world.atlas` of the checkout that contains the
    /// command.
    package static func open(option: String?) throws(CommandFailure) -> Atlas {
        try open(option: option) { path throws(AtlasFileError) in try Atlas(contentsOf: path) }
    }

    /// Opens the same atlas lazily: each part is validated on first use. A corrupt part ends the process with the message
    /// and status of `open(option:)`; unfinished files are removed, and programs that run beside are ended.
    package static func openLazily(option: String?) throws(CommandFailure) -> Atlas {
        try open(option: option) { path throws(AtlasFileError) in
            try Atlas(contentsOf: path) { error in
                UnfinishedFiles.removeAll()
                RunningPrograms.killAll()
                printError("\(path) \(error.predicate)")
                _exit(ExitStatus.unusable.rawValue)
            }
        }
    }

    private static func open(
        option: String?, _ open: (String) throws(AtlasFileError) -> Atlas
    ) throws(CommandFailure) -> Atlas {
        let path = try path(option: option)
        do {
            let atlas = try open(path)
            Signals.watch(atlas)
            return atlas
        } catch {
            throw CommandFailure(.unusable, "\(error)")
        }
    }

    /// The path of the atlas, in the order that `open(option:)` states.
    package static func path(option: String?) throws(CommandFailure) -> String {
        guard let path = option ?? environment("HEREABOUTS_ATLAS") ?? candidates().first(where: isReadable) else {
            throw CommandFailure(
                .unusable, "no atlas found; name one with --atlas or with the environment variable HEREABOUTS_ATLAS")
        }
        return path
    }

    private static func environment(_ name: String) -> String? {
        // SAFETY: getenv's string is copied before anything could change the environment.
        guard let value = unsafe getenv(name) else { return nil }
        let text = unsafe String(cString: value)
        return text.isEmpty ? nil : text
    }

    private static func candidates() -> [String] {
        guard let folder = Executable.commandFolder() else { return [] }
        var paths = ["\(folder)/world.atlas", "\(folder)/../share/hereabouts/world.atlas"]
        var above = folder
        while !above.isEmpty {
            if isReadable("\(above)/Package.swift") { paths.append("\(above)/data/world.atlas") }
            above = Executable.parent(of: above)
        }
        return paths
    }

    /// Whether there is a regular file: nobody named it, and a pipe would keep the run waiting.
    private static func isReadable(_ path: String) -> Bool {
        var status = stat()
        return unsafe access(path, R_OK) == 0 && stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }
}
