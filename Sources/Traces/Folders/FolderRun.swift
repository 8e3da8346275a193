import Files
import Hereabouts

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// `hereabouts convert` of a folder: an output for each file, and one pace for each person, whatever files their fixes are in.
///
/// Three passes. The files are read, small ones side by side, and of each device and interval the newest fix is kept. Then
/// every person is answered, as if all of their files were one (contract C9). Then the outputs are written. Nothing of an
/// output depends on the order in which files are read or on the number of threads.
package enum FolderRun {
    /// What the command's options say.
    package struct Options: Sendable {
        /// As for a single output; its format, state and threads aside. `devices` may be `folder` and `subfolders`.
        package var convert = ConvertRun.Options()
        /// The format of all outputs; nil for that of each input, or GPX where that is not written.
        package var format: TraceFormat?
        package var compression: Compression?
        /// Whether outputs that are there stay as they are.
        package var skipsExisting = false
        /// Whether outputs have the names of their inputs beside zones too.
        package var keepsNames = false
        /// Whether nothing is written.
        package var isDry = false
        /// Whether every bad record of a file is kept for the observer, up to `FileReport.mostProblems`.
        package var namesAllProblems = false

        package init() {}
    }

    /// Files up to this size are read side by side, each by one thread; a larger one is read by all.
    static let smallBytes = 4 << 20
    /// More writers than this wait for the disk alone.
    static let mostWriters = 6

    /// Converts the files below `folder` to files below `output`.
    ///
    /// - Complexity: O(bytes). Memory is at most 8 MiB per thread and 20 MiB, some 700 bytes per file, 250 per file and
    ///   device, 150 per device and tick that has fixes, 20 per report, and 64 per point without a time.
    /// - Throws: what ends the run before anything is written: a folder that cannot be used, an output that would replace an
    ///   input, a first bad record where the policy is to stop, a person that jumps as none can.
    package static func run(
        _ folder: String, to output: String, atlas: Atlas, options: Options, observer: FolderObserver
    ) throws(TraceError) -> FolderSummary {
        precondition(options.convert.interval >= .seconds(1), "the interval is at least a second")
        var options = options
        options.convert.withheld = options.convert.withheld?.begun()
        let place = FileIdentity(path: output)
        guard place == nil || place != FileIdentity(path: folder) else { throw .inUse(file: output, as: .input) }
        let plan = try FolderPlan(
            folder, output: place, options: options.convert, format: options.format, compression: options.compression)
        let hasZones = options.convert.withheld?.hasZones == true
        // Of each input one by its name, or those that have an answer by the date of that.
        let keepsNames = !hasZones || options.keepsNames
        let own = plan.inputs.map(\.output)
        if keepsNames { try requireSeparate(own, plan, output: output, used: options.convert.usedFiles) }
        var mark = try RunMark(output: output, plan: plan, atlas: atlas, options: options)
        var fixes = FolderFixes(plan, options: options, isReserved: mark.isReserved)
        try fixes.read(observer: observer)
        try fixes.requirePlausible(folder: folder)
        try options.convert.withheld.requireOrder()
        let answers = try fixes.answer(atlas: atlas)
        try atlas.requireUnchanged()
        let writer = FolderWriter(
            plan: plan, output: output, isKept: mark.isKept, answers: answers, atlas: atlas, options: options)
        let outputs =
            hasZones ? try OutputNames(plan, writer: writer, mark: mark, keepsNames: keepsNames).names : own
        try requireSeparate(outputs.compactMap(\.self), plan, output: output, used: options.convert.usedFiles)
        var summary = try writer.write(outputs, mark: &mark, observer: observer)
        summary.hasWithheldNothing = options.convert.withheld.areIdle
        summary.longNames = answers.longNames
        summary.namesWithTimes = keepsNames ? outputs.count { $0.map(OutputNames.holdsTime) ?? false } : 0
        if hasZones, !options.isDry { summary.map = "\(output)/\(RunMark.name)" }
        return summary
    }

    /// - Throws: `inUse` where an output leads to an input or another file of the run.
    private static func requireSeparate(
        _ outputs: [String], _ plan: FolderPlan, output: String, used: [UsedFile]
    ) throws(TraceError) {
        let inputs = Set(plan.inputs.map(\.file.identity))
        for name in outputs {
            let path = "\(output)/\(name)"
            if let identity = FileIdentity(path: path), inputs.contains(identity) {
                throw .inUse(file: path, as: .input)
            }
            try UsedFile.check(path, besides: used)
        }
    }
}

/// What became of a file of a folder.
package struct FileReport: Sendable {
    /// The most bad records of a file that are kept one by one.
    package static let mostProblems = 100_000
    /// The most that are kept for one reason, where not all are asked for.
    package static let mostPerReason = 10

    /// Its path, as messages have it.
    package var file: String
    /// Where its output goes, below the folder; nil where it has no answer and there is none.
    package var output: String?
    package var format: TraceFormat
    package var outputFormat: TraceFormat
    /// The name of the column or member of device keys; nil where there is none.
    package var keyName: String?
    /// Whether its output was there and stays.
    package var isKept = false
    package var summary = RunSummary()
    /// Bad records, the first ones of each reason or all; and how many there were of each.
    package var problems: [RecordProblem] = []
    package var problemCounts: [String: Int] = [:]
    package var notices: [Notice] = []
    /// Why there is no output.
    package var failure: TraceError?
}

/// How far a folder's run is.
package struct FolderProgress: Sendable {
    package var files = 0
    package var totalFiles = 0
    package var bytes = 0
    package var totalBytes = 0
    package var fixes = 0
    package var isWriting = false
}

/// What a folder's run reports its events to. All are called by one thread at a time, in order of the files.
package struct FolderObserver {
    /// A file was read, or could not be.
    package var read: (FileReport) -> Void
    /// A file's output was written, stays, or could not be written.
    package var written: (FileReport) -> Void
    package var progress: (FolderProgress) -> Void

    package init(
        read: @escaping (FileReport) -> Void = { _ in }, written: @escaping (FileReport) -> Void = { _ in },
        progress: @escaping (FolderProgress) -> Void = { _ in }
    ) {
        (self.read, self.written, self.progress) = (read, written, progress)
    }
}

/// What a folder's run did.
package struct FolderSummary: Sendable {
    /// Files that were converted, those whose outputs were there and those without answers included.
    package var converted = 0
    /// Outputs that were there and stay.
    package var kept = 0
    /// Records, bad ones, and reports written.
    package var records = RunSummary()
    /// Devices that were answered.
    package var devices = 0
    /// Files without an output, by the reason.
    package var failures: [String: Int] = [:]
    /// What was not read, by its kind.
    package var skipped: [String: Int] = [:]
    /// Fixes that were not taken for a tick because an output that stays may have its answer.
    package var reserved = 0
    /// Whether there are zones, and no answer was withheld for their sake.
    package var hasWithheldNothing = false
    /// How many outputs have names that hold a time of day.
    package var namesWithTimes = 0
    /// How many devices have reports over more than `NameSpans.mostDays` under one name.
    package var longNames = 0
    /// The file that says what each output is of; nil where there is none.
    package var map: String?
    package var statistics = ReportStatistics()

    package var failed: Int { failures.values.reduce(0, +) }
}

extension TraceError {
    /// What is wrong with a file, without its name and lines: to count files by.
    package func reason(of file: String) -> String {
        if case .cannotRead(_, let error) = self { return "\(error)" }
        if case .cannotWrite(_, let error) = self { return "\(error)" }
        var text = Substring(description)
        if text.hasPrefix(file) { text = text.dropFirst(file.count) }
        // A line number, the separator, and what a file has in parentheses.
        text = text.drop { ":0123456789 ".contains($0) }
        if let list = text.range(of: " (it has ") { text = text[..<list.lowerBound] }
        return String(text)
    }
}

extension Substring {
    /// Where a text first occurs.
    fileprivate func range(of text: String) -> Range<Substring.Index>? {
        indices.first { self[$0...].hasPrefix(text) }.map { $0..<index($0, offsetBy: text.count) }
    }
}
