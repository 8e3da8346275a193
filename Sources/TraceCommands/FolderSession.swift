import CommandCore
import Files
import Hereabouts
import Traces

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Whether a path leads to a folder.
func isFolder(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
}

/// A run of `convert` over a folder: tells on standard error of bad records, files and progress, and ends with a summary.
struct FolderSession {
    let folder: String
    let output: String
    let atlas: Atlas
    let options: FolderRun.Options
    /// The file of `--stats`.
    let stats: String?
    /// Whether notices are left out.
    let isQuiet: Bool

    /// - Throws: `CommandFailure`: status 2 if a file failed, else 1 if records were bad.
    func run() throws(CommandFailure) {
        let console = FolderConsole(isVerbose: options.namesAllProblems, isQuiet: isQuiet, isDry: options.isDry)
        let start = ContinuousClock.now
        let summary: FolderSummary
        do throws(TraceError) {
            summary = try FolderRun.run(
                folder, to: output, atlas: atlas, options: options, observer: console.observer)
        } catch {
            console.showReadings()
            throw CommandFailure(error)
        }
        console.showReadings()
        console.clearProgress()
        if options.isDry { try printPlan(console.plan) }
        for line in lines(summary, console) { printError(line) }
        if !isQuiet {
            if summary.hasWithheldNothing { Session.Console.printNotice(.nothingWithheld) }
            if summary.namesWithTimes > 0 { Session.Console.printNotice(.timesInNames(summary.namesWithTimes)) }
            if summary.longNames > 0 { Session.Console.printNotice(.longNames(summary.longNames)) }
            if let map = summary.map { Session.Console.printNotice(.mapStays(file: map)) }
        }
        if let stats, !options.isDry {
            var statistics = RunStatistics()
            (statistics.converted, statistics.kept) = (summary.converted, summary.kept)
            (statistics.failures, statistics.skipped) = (summary.failures, summary.skipped)
            (statistics.summary, statistics.devices) = (summary.records, summary.devices)
            (statistics.reports, statistics.reasons) = (summary.statistics, console.reasons)
            statistics.least = options.convert.withheld?.least
            statistics.pace = (options.convert.interval, options.convert.emission)
            statistics.elapsed = ContinuousClock.now - start
            try statistics.write(to: stats, atlas: atlas)
        }
        if summary.failed > 0 { throw CommandFailure(.unusable) }
        if summary.records.badRecords > 0 || summary.records.jumps > 0 { throw CommandFailure(.badRecords) }
    }

    private func printPlan(_ lines: [String]) throws(CommandFailure) {
        for line in lines { try printOutput(line) }
    }

    private func lines(_ summary: FolderSummary, _ console: FolderConsole) -> [String] {
        let verb = options.isDry ? "would be converted" : "converted"
        var text = "\(summary.converted) files \(verb)"
        if summary.kept > 0 { text += " (\(summary.kept) were there)" }
        text += ", \(summary.records.records) fixes, \(summary.records.written) reports"
        var lines = [text]
        if summary.failed > 0 { lines.append("\(summary.failed) files failed: \(Self.list(summary.failures))") }
        if summary.records.badRecords > 0 {
            lines.append("\(summary.records.badRecords) records were bad: \(Self.list(console.reasons))")
        }
        if let jumps = summary.records.jumpDoubt { lines.append(jumps) }
        if !summary.skipped.isEmpty { lines.append("not read: \(Self.list(summary.skipped))") }
        if summary.reserved > 0 {
            lines.append(
                """
                \(summary.reserved) fixes were left out: outputs that stay may have the answers of their ticks; without \
                --skip-existing all is written anew
                """)
        }
        return lines
    }

    /// Reasons and how often each, the most frequent first.
    private static func list(_ counts: [String: Int]) -> String {
        counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.key) (\($0.value))" }
            .joined(separator: ", ")
    }
}

/// Writes what a folder's run tells to standard error.
private final class FolderConsole {
    private let isVerbose, isQuiet, isDry: Bool
    private let isTerminal = isatty(2) == 1
    private var start = ContinuousClock.now
    private var lastShown = ContinuousClock.now
    private var wasWriting = false
    private var isShowingProgress = false
    private var dropped: [String: [String]] = [:]
    /// How many files were read in each way, until it is shown.
    private var readings: [String: Int] = [:]
    /// Notices that were shown, without the file.
    private var shown: Set<String> = []
    /// How many records were bad for each reason.
    private(set) var reasons: [String: Int] = [:]
    /// What a dry run prints.
    private(set) var plan: [String] = []

    init(isVerbose: Bool, isQuiet: Bool, isDry: Bool) {
        (self.isVerbose, self.isQuiet, self.isDry) = (isVerbose, isQuiet, isDry)
    }

    var observer: FolderObserver {
        FolderObserver(
            read: { [self] in showRead($0) }, written: { [self] in showWritten($0) },
            progress: { [self] in showProgress($0) })
    }

    private func showRead(_ report: FileReport) {
        show(report)
        for case .readAs(_, let reading) in report.notices {
            readings[reading.kind, default: 0] += 1
            guard isDry, reading.droppedCount > 0 else { continue }
            let more = reading.droppedCount - reading.dropped.count
            dropped[report.file] = reading.dropped + (more > 0 ? ["\(more) more"] : [])
        }
        if let failure = report.failure { print(CommandFailure(failure).message ?? "\(failure)") }
    }

    private func showWritten(_ report: FileReport) {
        showReadings()
        show(report)
        if let failure = report.failure { print(CommandFailure(failure).message ?? "\(failure)") }
        guard isDry, report.failure == nil else { return }
        let device = report.keyName.map { "devices by \($0)" } ?? "no device keys"
        let columns = dropped.removeValue(forKey: report.file).map { "; dropped: \($0.joined(separator: ", "))" } ?? ""
        let what = report.isKept ? "is there and stays" : "\(report.summary.written) reports"
        let output = report.output.map { "to \($0): \(what)" } ?? "no answer, and no output"
        plan.append("\(report.file): \(report.format.name), \(device), \(output)\(columns)")
    }

    /// How the tables and JSON of the folder were read, once for each kind.
    func showReadings() {
        for (kind, count) in readings.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) where !isQuiet {
            print("\(count) \(count == 1 ? "file" : "files") read as: \(kind)")
        }
        readings = [:]
    }

    /// Bad records and notices.
    private func show(_ report: FileReport) {
        for problem in report.problems { print("\(report.file):\(problem.line): \(problem.reason)", prefixed: false) }
        for (reason, count) in report.problemCounts.sorted(by: { $0.key < $1.key }) {
            reasons[reason, default: 0] += count
            if !isVerbose && count > FileReport.mostPerReason {
                print("\(report.file): more such records are only counted; --verbose names all: \(reason)")
            }
        }
        for notice in report.notices where !isQuiet {
            if case .readAs = notice { continue }
            // What is said of one file is not said of the thousand like it.
            let known = "\(notice)".split(separator: report.file).joined()
            guard isVerbose || shown.insert(known).inserted else { continue }
            clearProgress()
            Session.Console.printNotice(notice)
        }
    }

    private func print(_ text: String, prefixed: Bool = true) {
        clearProgress()
        printError(text, prefixed: prefixed)
    }

    /// Shows progress on a terminal, after the first second, at most ten times per second.
    private func showProgress(_ progress: FolderProgress) {
        guard isTerminal else { return }
        let now = ContinuousClock.now
        if progress.isWriting && !wasWriting { (wasWriting, start) = (true, now) }
        guard now - start > .seconds(1), now - lastShown > .milliseconds(100) else { return }
        lastShown = now
        let seconds = (now - start) / .seconds(1)
        let share =
            progress.isWriting
            ? Double(progress.files) / Double(max(progress.totalFiles, 1))
            : Double(progress.bytes) / Double(max(progress.totalBytes, 1))
        let left = share > 0 ? Int((seconds / share - seconds).rounded(.up)) : 0
        var text = progress.isWriting ? "writing: " : "reading: "
        text += "\(progress.files) of \(progress.totalFiles) files"
        if !progress.isWriting { text += ", \(Int(Double(progress.fixes) / seconds)) fixes/s" }
        text += ", \(left) s left"
        isShowingProgress = true
        writeToTerminal("\r\(text)\u{1b}[K")
    }

    func clearProgress() {
        guard isShowingProgress else { return }
        isShowingProgress = false
        writeToTerminal("\r\u{1b}[K")
    }

    private func writeToTerminal(_ text: String) {
        // SAFETY: the bytes are the array's, for the time of the call.
        _ = unsafe Array(text.utf8).withUnsafeBytes { unsafe write(2, $0.baseAddress, $0.count) }
    }
}
