import ArgumentParser
import CommandCore
import Files
import Traces

/// The options of `convert` for folders, and for what a run says of itself.
struct RunArguments: ParsableArguments {
    @Flag(
        name: .long,
        help: """
            Of a folder, leave outputs that are there as they are, as after an interrupted run. All files are read again, \
            since the pace goes over all of them.
            """)
    var skipExisting = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Write a summary of the run to this file, as JSON: files, records, bad ones by reason, reports, devices, \
            regions, first and last tick, accuracies, seconds, versions.
            """, valueName: "file"))
    var stats: String?

    @Flag(
        name: .long,
        help:
            "Read everything, write nothing, and print what would be written and dropped; the exit status is the same.")
    var dryRun = false

    /// - Throws: `CommandFailure` where the file of `--stats` is another file of the run, or cannot be written.
    func validateStats(besides inputs: [String], output: String?) throws(CommandFailure) {
        guard let stats else { return }
        for path in inputs + [output].compactMap(\.self) {
            let isWithin = isFolder(path) && resolvedPath(folderPath(of: stats)).hasPrefix(resolvedPath(path))
            if isWithin || leadToSameFile(stats, path) {
                throw CommandFailure(
                    .unusable, "--stats \(stats): is an input or output of this run; write to another file")
            }
        }
        guard isFolderWritable(of: stats) else {
            throw CommandFailure(.unusable, "--stats \(stats): cannot be written")
        }
    }
}

/// The part of a path before its last part.
private func folderPath(of path: String) -> String {
    let parent = Executable.parent(of: path)
    return parent.isEmpty ? path.hasPrefix("/") ? "/" : "." : parent
}
