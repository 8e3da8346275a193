import CommandCore
import Traces

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension InputName {
    /// The inputs that the arguments name: readable files, or standard input for `-` and for no argument.
    ///
    /// - Parameter takesPositions: whether the arguments may be positions instead of files.
    /// - Throws: `CommandFailure`, status 2, for a file that cannot be read.
    static func inputs(_ arguments: [String], takesPositions: Bool = false) throws(CommandFailure) -> [InputName] {
        if arguments.isEmpty { return [.standardInput] }
        if takesPositions, let lines = CoordinateArgument.lines(arguments),
            arguments.allSatisfy({ unsafe access($0, F_OK) != 0 })
        {
            return [.arguments(lines)]
        }
        var inputs: [InputName] = []
        for argument in arguments {
            if argument == "-" {
                inputs.append(.standardInput)
                continue
            }
            if unsafe access(argument, R_OK) != 0 {
                // A message must not repeat a position given in place of a file.
                if CoordinateArgument(argument) != nil || CoordinateArgument.isNumber(argument) {
                    throw CommandFailure(
                        .unusable,
                        takesPositions
                            ? "give either positions only, each as LAT,LON or LAT LON, or files only"
                            : "convert reads files, not positions; try: hereabouts snap LAT LON")
                }
                throw CommandFailure(.unusable, "\(argument): cannot be read")
            }
            inputs.append(.file(argument))
        }
        return inputs
    }
}

/// One run of `snap` or `convert`: opens the output, and reports problems, notices and progress on standard error.
struct Session {
    /// How many bad records of a file are named for one reason; the others are only counted.
    private static let namedProblems = 10

    let inputs: [InputName]
    let output: String?
    /// Nil to follow the extension of the output's name.
    let compression: Compression?
    /// Files of the run, besides the inputs, that the output must not replace.
    let used: [UsedFile]
    /// Whether every bad record is named.
    let isVerbose: Bool
    /// Whether notices are left out.
    var isQuiet = false
    /// Whether nothing is to be written.
    var isDry = false
    /// Called with what the run did, and how many records were bad for each reason.
    var finished: ((RunSummary, [String: Int]) throws(CommandFailure) -> Void)?

    /// Runs `body`, which publishes the output.
    ///
    /// - Throws: `CommandFailure`; status 1 if records were bad.
    func run(
        _ body: (consuming OutputFile, RunObserver) throws(TraceError) -> RunSummary
    ) throws(CommandFailure) {
        let console = Console(total: total, isVerbose: isVerbose, isQuiet: isQuiet)
        var summary = RunSummary()
        do {
            summary = try body(try openOutput(), console.observer)
        } catch {
            console.finish()
            throw CommandFailure(error)
        }
        console.finish()
        try finished?(summary, console.allProblems)
        let doubts = doubts(summary, console)
        if !doubts.isEmpty { throw CommandFailure(.badRecords, doubts.joined(separator: "; ")) }
    }

    /// What makes the run's status that of bad records.
    private func doubts(_ summary: RunSummary, _ console: Console) -> [String] {
        var doubts: [String] = []
        if summary.badRecords > 0 {
            doubts.append("\(summary.badRecords) of \(summary.records) records were bad: \(console.reasons)")
        }
        if summary.lateRecords > 0 {
            doubts.append(
                """
                \(summary.lateRecords) of \(summary.records) records came after others of later ticks, and their \
                answers are missing: sort the input by time
                """)
        }
        if let jumps = summary.jumpDoubt { doubts.append(jumps) }
        return doubts
    }

    private func openOutput() throws(TraceError) -> OutputFile {
        let used = inputs.map { UsedFile($0) } + used
        if isDry { return try .file("/dev/null") }
        guard let output else { return try .standard(besides: used, compression: compression) }
        return try .file(output, besides: used, compression: compression ?? Compression(ofFile: output))
    }

    /// The size of all inputs in bytes; nil if one is a pipe.
    private var total: Int? {
        var sum = 0
        for input in inputs {
            guard let size = input.size else { return nil }
            sum += size
        }
        return sum
    }

    /// Writes a run's problems, notices and progress to standard error.
    final class Console {
        private let total: Int?
        private let isVerbose, isQuiet: Bool
        private let start = ContinuousClock.now
        private let isTerminal = isatty(2) == 1
        private var lastShown = ContinuousClock.now
        /// How many records were bad for each reason, in the file being read and in all.
        private var problems: [String: Int] = [:]
        private(set) var allProblems: [String: Int] = [:]
        private var file = ""
        private var isShowingProgress = false

        init(total: Int?, isVerbose: Bool, isQuiet: Bool) {
            self.total = total
            (self.isVerbose, self.isQuiet) = (isVerbose, isQuiet)
        }

        /// What was wrong with bad records and how often, the most frequent first.
        var reasons: String {
            allProblems.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.key) (\($0.value))" }
                .joined(separator: ", ")
        }

        var observer: RunObserver {
            RunObserver(
                problem: { [self] in show($1, in: $0) },
                notice: { [self] in show($0) },
                progress: { [self] in showProgress($0) })
        }

        private func show(_ problem: RecordProblem, in file: String) {
            if file != self.file { (self.file, problems) = (file, [:]) }
            let summary = problem.reason.summary
            let count = problems[summary, default: 0] + 1
            problems[summary] = count
            allProblems[summary, default: 0] += 1
            guard isVerbose || count <= Session.namedProblems + 1 else { return }
            clearProgress()
            if isVerbose || count <= Session.namedProblems {
                printError("\(file):\(problem.line): \(problem.reason)", prefixed: false)
            } else {
                printError("\(file): more such records are only counted; --verbose names all: \(summary)")
            }
        }

        private func show(_ notice: Notice) {
            if isQuiet { return }
            clearProgress()
            Self.printNotice(notice)
        }

        /// Prints a notice on standard error.
        static func printNotice(_ notice: Notice) {
            switch notice {
            case .readAs(let file, let reading): printError("\(file): read as: \(reading.text)")
            case .rowNames(let file):
                printError("\(file): each record has a field more than the header has names: its first has no name")
            case .fewDecimals(let file):
                printError("\(file): no position has three decimals, so each may be a kilometer off; was it rounded?")
            case .noPoints(let file): printError("\(file): contains no points")
            case .outputMissing(let file):
                printError(
                    """
                    \(file): staged by an interrupted run, and missing now; its answers count as published and are not \
                    repeated
                    """)
            case .stateNotSealed(let file):
                printError(
                    "\(file): the state is complete but could not be rewritten; a truncation of it may go unnoticed")
            case .severalPersons(let count):
                printError(
                    """
                    the files are taken for those of \(count) persons, each answered at every tick; if they are one \
                    person's, add --one-device
                    """)
            case .stateRepaired(let file, let devices):
                printError("\(file): \(devices) devices were last answered in the future; they go on at the next tick")
            case .lateFixes(let file, let count):
                printError("\(file): \(count) late or repeated fixes changed nothing")
            case .untimedPlans(let file, let count):
                printError("\(file): \(count) waypoints and route points without a time were left out")
            case .untimed(let file):
                printError(
                    """
                    \(file): positions without times cannot be paced: every region on the way is written in order, \
                    which reveals the route and each crossing
                    """)
            case .manyDevices(let file, let devices, let records):
                printError(
                    """
                    \(file): \(devices) devices in \(records) records, so little or nothing was paced; if another column \
                    has the device, name it with --key-column
                    """)
            case .notAFile(let file): printError("\(file): is no file, and was not read")
            case .trackIsNoKey(let file, let column):
                printError(
                    """
                    \(file): the column "\(column)" may be a course or the number of a lap, so the file is one device; \
                    if the column has the device, name it with --key-column \(column)
                    """)
            case .timeColumns(let file, let taken, let others):
                printError(
                    """
                    \(file): the times are those of the column "\(taken)", not of \(others.joined(separator: ", ")); \
                    to read others, name their column with --time-column
                    """)
            case .nothingWithheld: printError("nothing was withheld: no answer is of a region around a zone")
            case .stateMoved(let file, let regions, let dropped):
                printError(
                    """
                    \(file): was of another atlas and is of this one now; all paces go on, and \(dropped) of \(regions) regions were \
                    dropped, which this atlas does not have cell by cell
                    """)
            case .onFoot(let file):
                printError(
                    """
                    \(file): is of somebody on foot, who is found to some 500 to 750 m when an answer changes; with --interval 60m \
                    to 1.2 km
                    """)
            case .longNames(let count):
                printError(
                    """
                    \(count) \(count == 1 ? "device has" : "devices have") reports of more than 60 days under one name: a \
                    commuter's true dates are found for 72 % from 90 days and 98 % from 180, and nine in ten who are renamed are \
                    matched to other outputs from two weeks of each. --rename-every 30d hides dates (15 %), and not people
                    """)
            case .timesInNames(let count):
                printError(
                    """
                    \(count) \(count == 1 ? "output has a name that holds" : "outputs have names that hold") a time of day: where \
                    it is that of a departure, a home is found to some 300 m by it. Rename them before you publish them
                    """)
            case .mapStays(let file):
                printError("\(file): says what each output is of; it is for the next run, and not for publication")
            }
        }

        /// Shows progress on a terminal, after the first second, at most ten times per second.
        private func showProgress(_ bytes: Int) {
            guard isTerminal else { return }
            let now = ContinuousClock.now
            guard now - start > .seconds(1), now - lastShown > .milliseconds(100) else { return }
            lastShown = now
            isShowingProgress = true
            let done = "\(bytes / 1_000_000)"
            let text = total.map { "\(done) of \($0 / 1_000_000) MB, \(100 * bytes / max($0, 1)) %" } ?? "\(done) MB"
            writeToTerminal("\r\(text)\u{1b}[K")
        }

        private func clearProgress() {
            guard isShowingProgress else { return }
            isShowingProgress = false
            writeToTerminal("\r\u{1b}[K")
        }

        func finish() { clearProgress() }

        private func writeToTerminal(_ text: String) {
            // SAFETY: the bytes are the array's, for the time of the call.
            _ = unsafe Array(text.utf8).withUnsafeBytes { unsafe write(2, $0.baseAddress, $0.count) }
        }
    }
}
