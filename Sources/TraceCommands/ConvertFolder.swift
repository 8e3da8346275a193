import ArgumentParser
import CommandCore
import Hereabouts
import Traces

/// What `convert` does with a folder, and with the options of `RunArguments`.
extension ConvertCommand {
    /// Whether the input is a folder to walk.
    var isOfFolder: Bool { files.count == 1 && isFolder(files[0]) }

    func validateFolder() throws {
        guard isOfFolder else {
            if files.contains(where: isFolder) { throw ValidationError("Give one folder, or files.") }
            if runOptions.skipExisting { throw ValidationError("'--skip-existing' is for a folder.") }
            if devices == .folder || devices == .subfolders {
                throw ValidationError("'--devices \(devices?.rawValue ?? "")' is for a folder; see --one-device.")
            }
            return
        }
        guard output != nil else { throw ValidationError("Name the folder to write to: --output.") }
        if state != nil {
            throw ValidationError("A folder is paced as a whole each time, so it has no state: give files instead.")
        }
        if disguise.dateShift != nil {
            throw ValidationError("A folder's times cannot be moved: give '--date-shift' with files.")
        }
        if onError == .blank && to?.hasBlankRecords != true {
            throw ValidationError("'--on-error blank' writes a record per fix: add --to csv --emit fixes.")
        }
    }

    /// Converts the folder.
    func runFolder(_ convert: ConvertRun.Options, atlas: Atlas) throws(CommandFailure) {
        var options = FolderRun.Options()
        options.convert = convert
        options.format = to
        options.compression = compress
        options.skipsExisting = runOptions.skipExisting
        options.isDry = runOptions.dryRun
        options.namesAllProblems = messages.verbose
        try FolderSession(
            folder: files[0], output: output ?? "", atlas: atlas, options: options,
            stats: runOptions.stats
        ).run()
    }

    /// What is to be done when a run of files has ended; nil for nothing.
    func finisher(
        _ options: ConvertRun.Options, inputs: [InputName], atlas: Atlas
    ) -> ((RunSummary, [String: Int]) throws(CommandFailure) -> Void)? {
        guard runOptions.dryRun || runOptions.stats != nil else { return nil }
        let start = ContinuousClock.now
        return { (summary, reasons) throws(CommandFailure) in
            if runOptions.dryRun {
                let name = output ?? "standard output"
                try printOutput(
                    "\(inputs.count) inputs, \(summary.devices) devices, \(summary.records) fixes, to \(name): "
                        + "\(summary.written) reports")
            } else if let stats = runOptions.stats {
                var statistics = RunStatistics()
                statistics.converted = inputs.count
                (statistics.summary, statistics.devices, statistics.reasons) = (summary, summary.devices, reasons)
                statistics.reports = summary.statistics ?? ReportStatistics()
                (statistics.interval, statistics.emission) = (options.interval, options.emission)
                statistics.elapsed = ContinuousClock.now - start
                try statistics.write(to: stats, atlas: atlas)
            }
        }
    }
}
