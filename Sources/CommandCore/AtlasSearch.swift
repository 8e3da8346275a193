import Files
import Hereabouts

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Finds the atlas without a flag.
package enum AtlasSearch {
    /// Opens the atlas that `option` names; else the one `HEREABOUTS_ATLAS` names; else the first there is of
    /// `world.atlas` beside the command, `../share/hereabouts/world.atlas`, and `data/world.atlas` in the checkout
    /// above the command.
    package static func open(option: String?) throws(CommandFailure) -> Atlas {
        try open(option: option) { path throws(AtlasError) in try Atlas(contentsOf: path) }
    }

    /// Opens that atlas at once: what it is used for shows whether it is sound. Where it is not, the process ends with
    /// the message and status that `open(option:)` would have given, its unfinished files removed.
    package static func openAtOnce(option: String?) throws(CommandFailure) -> Atlas {
        try open(option: option) { path throws(AtlasError) in
            try Atlas(contentsOf: path) { error in
                UnfinishedFiles.removeAll()
                printError("\(path) \(error)")
                _exit(ExitStatus.unusable.rawValue)
            }
        }
    }

    private static func open(
        option: String?, _ open: (String) throws(AtlasError) -> Atlas
    ) throws(CommandFailure) -> Atlas {
        let path = try path(option: option)
        do {
            let atlas = try open(path)
            Signals.watch(atlas)
            return atlas
        } catch {
            throw CommandFailure(.unusable, "\(path) \(error)")
        }
    }

    /// Where that atlas is.
    package static func path(option: String?) throws(CommandFailure) -> String {
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
        guard let folder = Executable.commandFolder() else { return [] }
        var paths = ["\(folder)/world.atlas", "\(folder)/../share/hereabouts/world.atlas"]
        var above = folder
        while !above.isEmpty {
            if isReadable("\(above)/Package.swift") { paths.append("\(above)/data/world.atlas") }
            above = Executable.parent(of: above)
        }
        return paths
    }

    private static func isReadable(_ path: String) -> Bool { unsafe access(path, R_OK) == 0 }
}
