import ArgumentParser
import CommandCore
import Files
import Hereabouts
import Traces

/// The options for what a run says of itself.
struct RunArguments: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Write a summary of the run to this file, as JSON: files, records, bad ones by reason, reports, regions, \
            accuracies, answers withheld for --least, seconds, versions, and of convert devices, first and last tick.
            """, valueName: "file"), completion: .file())
    var stats: String?

    @Flag(
        name: .long,
        help:
            "Read everything, write nothing, and print what would be written and dropped; the exit status is the same.")
    var dryRun = false

    /// What is to be done when a run of files has ended; nil for nothing.
    ///
    /// - Parameters:
    ///   - least: the residents that a region has to promise; nil where any number will do.
    ///   - pace: interval and reports of `convert`; nil of `snap`.
    func finisher(
        inputs: [InputName], output: String?, atlas: Atlas, least: Int?,
        pace: (interval: Duration, emission: Emission)? = nil
    ) -> ((RunSummary, [String: Int]) throws(CommandFailure) -> Void)? {
        guard dryRun || stats != nil else { return nil }
        let start = ContinuousClock.now
        return { (summary, reasons) throws(CommandFailure) in
            if dryRun {
                let name = output ?? "standard output"
                let counts =
                    pace == nil
                    ? "\(summary.records) records, to \(name): \(summary.written) records"
                    : "\(summary.devices) devices, \(summary.records) fixes, to \(name): \(summary.written) reports"
                try printOutput("\(inputs.count) inputs, \(counts)")
                if let kept = summary.keptNames {
                    try printOutput("kept columns: \(kept.isEmpty ? "none" : kept.joined(separator: ", "))")
                }
            } else if let stats {
                var statistics = RunStatistics()
                statistics.converted = inputs.count
                (statistics.summary, statistics.devices, statistics.reasons) = (summary, summary.devices, reasons)
                statistics.reports = summary.statistics ?? ReportStatistics()
                (statistics.pace, statistics.least) = (pace, least)
                statistics.elapsed = ContinuousClock.now - start
                try statistics.write(to: stats, atlas: atlas)
            }
        }
    }

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

/// The option for which regions are published.
struct LeastArguments: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Withhold answers of regions that promise fewer residents than this, and count them in --stats. For data sets \
            of counts: it hides nobody, since a gap between two answers says where the device may have been.
            """, valueName: "residents"))
    var least: Int?

    func validate() throws {
        guard let least, !(1...1_000_000_000).contains(least) else { return }
        throw ValidationError("'--least' takes a number of residents from 1 to 1000000000.")
    }

    /// The regions that are withheld: those around zones, and those that promise too few.
    func withheld(besides zones: WithheldRegions?, _ atlas: Atlas) -> WithheldRegions? {
        guard let least else { return zones }
        return (zones ?? WithheldRegions([])).requiring(least, in: atlas)
    }
}

/// The part of a path before its last part.
private func folderPath(of path: String) -> String {
    let parent = Executable.parent(of: path)
    return parent.isEmpty ? path.hasPrefix("/") ? "/" : "." : parent
}
