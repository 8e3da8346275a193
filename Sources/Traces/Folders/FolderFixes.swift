import Hereabouts

/// The fixes of a folder's files, by the persons they are of, and then the answers.
struct FolderFixes {
    /// Whom fixes are of.
    private enum Owner: Hashable {
        /// A device with this key, in whichever file.
        case key([UInt8])
        /// The files of a name, a subfolder or all, as the options say.
        case group(String)
        /// A track of a file.
        case track(UInt32)
    }

    private let plan: FolderPlan
    private let options: FolderRun.Options
    private let isReserved: [Bool]
    private var owners: [Owner: Int] = [:]
    private var persons: [Person] = []
    private let records = FixRecords()
    private var files: [FileAnswers] = []
    private var trackCount: UInt32 = 0
    private var progress = FolderProgress()
    /// The options for how inputs are read that a file used; nil where none could be opened.
    private var usedOptions: InputOptions?
    /// How many files there are of each name without folder and extensions.
    private let filesOfName: [String: Int]
    /// Why nothing is answered.
    private var refusal: TraceError?
    private var keyNames: KeyNames

    init(_ plan: FolderPlan, options: FolderRun.Options, isReserved: [Bool]) {
        self.plan = plan
        self.options = options
        self.isReserved = isReserved
        keyNames = KeyNames(options.convert)
        filesOfName = Dictionary(plan.inputs.map { (InputName.file($0.file.name).stem, 1) }, uniquingKeysWith: +)
        progress.totalFiles = plan.inputs.count
        progress.totalBytes = plan.inputs.reduce(0) { $0 + $1.file.size }
    }

    // MARK: Reading

    /// Reads all files. A file that cannot be read to its end has no part in any answer.
    ///
    /// - Throws: `stopped` at the first bad record, if that is the policy; `unusedOptions`.
    mutating func read(observer: FolderObserver) throws(TraceError) {
        var next = 0
        while next < plan.inputs.count {
            if isSmall(next) {
                let first = next
                while next < plan.inputs.count, isSmall(next) { next += 1 }
                try readSideBySide(first..<next, observer: observer)
            } else {
                var result = FileRead(index: next)
                result.read(plan.inputs[next], options: options, threads: options.convert.threads)
                try take(&result, observer: observer)
                next += 1
            }
        }
        let unused = options.convert.given.subtracting(usedOptions ?? .all)
        if !unused.isEmpty { throw .unusedOptions(unused) }
    }

    private func isSmall(_ index: Int) -> Bool {
        options.convert.threads > 1 && plan.inputs[index].file.size <= FolderRun.smallBytes
    }

    private mutating func readSideBySide(_ range: Range<Int>, observer: FolderObserver) throws(TraceError) {
        let (plan, options) = (plan, options)
        var next = range.lowerBound
        try runWorkers(threads: options.convert.threads, cancellation: CancellationFlag()) {
            FileRead(index: -1)
        } take: { job in
            job = FileRead(index: next < range.upperBound ? next : -1)
            next += 1
            return job.index < 0 ? .end : .full
        } work: { job in
            job.read(plan.inputs[job.index], options: options, threads: 1)
        } emit: { (job) throws(TraceError) in
            if job.index >= 0 { try take(&job, observer: observer) }
        }
    }

    /// Adds a file's fixes to those of their persons.
    private mutating func take(_ result: inout FileRead, observer: FolderObserver) throws(TraceError) {
        if result.report.failure == .stopped { throw .stopped }
        progress.files += 1
        progress.bytes += plan.inputs[result.index].file.size
        progress.fixes += result.report.summary.records
        if let used = result.fixes.usedOptions { usedOptions = (usedOptions ?? []).union(used) }
        observer.read(result.report)
        observer.progress(progress)
        let first = trackCount
        var answers = FileAnswers(report: result.report, tracks: Int(first)..<Int(first))
        if result.report.failure == nil {
            if let name = result.fixes.keyName {
                do throws(TraceError) {
                    try keyNames.take(name, file: result.report.file)
                } catch {
                    refusal = refusal ?? error
                }
            }
            var people: [Int] = []
            for (number, person) in result.fixes.persons.enumerated() {
                let track = result.fixes.tracks.firstIndex { $0.person == number } ?? 0
                let owner = owner(result.index, result.fixes, track: track)
                let found = owners[owner] ?? persons.count
                if found == persons.count {
                    owners[owner] = found
                    persons.append(Person(interval: options.convert.interval))
                }
                var person = person
                if isWhole(owner) {
                    judge(person.first, in: result)
                    person.first = FirstFixes()
                }
                persons[found].merge(person, firstTrack: first, isReserved: isReserved[result.index])
                people.append(found)
            }
            try records.append(result.fixes.records, firstTrack: first)
            trackCount += UInt32(result.fixes.tracks.count)
            answers.tracks = Int(first)..<Int(trackCount)
            answers.kinds = result.fixes.tracks.map(\.kind)
            answers.keys = result.fixes.tracks.map(\.key)
            answers.persons = result.fixes.tracks.map { people[$0.person] }
            answers.untimed = result.fixes.untimed
            answers.isTimed = result.fixes.isTimed
        }
        result.fixes = FileFixes()
        files.append(answers)
    }

    private func owner(_ index: Int, _ fixes: FileFixes, track: Int) -> Owner {
        if options.convert.isOneDevice { return .group("") }
        if fixes.keyName != nil {
            // Records whose device is not known have no fix.
            return fixes.tracks[track].key.map { .key($0) } ?? .track(trackCount + UInt32(track))
        }
        let name = plan.inputs[index].file.name
        switch options.convert.devices {
        case .folder: return .group("")
        case .subfolders: return .group(name.firstIndex(of: "/").map { String(name[..<$0]) + "/" } ?? "")
        case .files: return .group(InputName.file(name).stem)
        case .tracks: return .track(trackCount + UInt32(track))
        }
    }

    // MARK: Judging

    /// Whether no other file has fixes that are judged with those of a file's person. A key's are judged by the file.
    private func isWhole(_ owner: Owner) -> Bool {
        switch owner {
        case .key, .track: true
        case .group(let name):
            options.convert.devices == .files && !options.convert.isOneDevice && filesOfName[name] == 1
        }
    }

    /// Judges a person whose fixes are all of one file.
    private mutating func judge(_ first: FirstFixes, in result: borrowing FileRead) {
        guard refusal == nil, !options.convert.acceptsJumps else { return }
        let report = JumpReport(
            first, isKeyed: result.fixes.keyName != nil, candidates: result.fixes.keyCandidates)
        refusal = report.map { .notOneDevice(file: result.report.file, $0) }
    }

    /// To be called when all files are read.
    ///
    /// - Throws: `notOneDevice` where a person jumps as none can.
    func requirePlausible(folder: String) throws(TraceError) {
        if let refusal { throw refusal }
        guard !options.convert.acceptsJumps else { return }
        for (owner, number) in owners.sorted(by: { $0.value < $1.value }) {
            guard case .group(let name) = owner, !isWhole(owner), let report = JumpReport(persons[number].first)
            else { continue }
            throw .notOneDevice(file: name.isEmpty ? folder : "\(folder)/\(name)", report)
        }
    }

    // MARK: Answering

    /// Answers all persons, each of whose fixes are forgotten then.
    consuming func answer(atlas: Atlas) throws(TraceError) -> FolderAnswers {
        var answers = FolderAnswers(files: files, trackCount: Int(trackCount))
        var standing: [PersonAnswers?] = []
        // Each file has its own first report, so that those are left in which equal the one in the file before.
        let rule = ReportRule(options.convert.emission, interval: options.convert.interval, repeats: true)
        var spans = options.convert.disguise.renaming == nil ? nil : NameSpans()
        let keyed = Set(owners.compactMap { if case .key = $0.key { $0.value } else { nil } })
        for number in persons.indices {
            spans?.add(.device([]))
            let person = persons[number]
            persons[number] = Person(interval: options.convert.interval)
            answers.isTimed.append(!person.isEmpty)
            answers.reserved += person.reservedFixes
            var pacer = Pacer(interval: options.convert.interval), memory = ReportRule.Memory()
            let outcome = try person.answer(
                &pacer, &memory, rule, atlas: atlas, withheld: options.convert.withheld, keepsStates: false
            ) { track, region, time in
                if region != nil { spans?.note(time, of: number) }
                answers.reports.append(Report(device: track, region: region ?? .invalid, time: time))
            }
            answers.tooFew += outcome.tooFew
            standing.append(outcome.standing)
        }
        answers.longNames = spans?.count(of: keyed) ?? 0
        let personOfTrack = files.flatMap(\.persons)
        try records.forEach(standing: standing, person: { personOfTrack[Int($0)] }) { track, region, time in
            answers.reports.append(Report(device: track, region: region ?? .invalid, time: time))
        }
        return answers
    }
}

/// What one file has in the answers.
struct FileAnswers {
    var report: FileReport
    /// Its tracks, by their numbers in the run.
    var tracks: Range<Int>
    var kinds: [ReportKind] = []
    var keys: [[UInt8]?] = []
    /// The person of each.
    var persons: [Int] = []
    var untimed: [PersonInputs.Untimed] = []
    var isTimed = true
}

/// The answers of a folder's persons, by the tracks whose fixes they were given for.
struct FolderAnswers {
    var files: [FileAnswers]
    var trackCount: Int
    var reports = HeldReports()
    /// Whether each person has fixes with times.
    var isTimed: [Bool] = []
    /// Fixes that were left out for the sake of outputs that stay.
    var reserved = 0
    /// Devices with keys that have reports over more than `NameSpans.mostDays`, where keys are renamed.
    var longNames = 0
    /// Answers that were withheld since their regions promise too few residents.
    var tooFew = 0

    init(files: [FileAnswers], trackCount: Int) {
        self.files = files
        self.trackCount = trackCount
    }
}

/// The reading of one file, by one thread.
private struct FileRead: ~Copyable {
    let index: Int
    var report = FileReport(file: "", output: "", format: .gpx, outputFormat: .gpx)
    var fixes = FileFixes()

    init(index: Int) { self.index = index }

    mutating func read(_ input: FolderPlan.Input, options: FolderRun.Options, threads: Int) {
        final class Log {
            var report: FileReport
            init(_ report: FileReport) { self.report = report }
        }
        let log = Log(
            FileReport(
                file: input.path, output: input.output, format: input.format, outputFormat: input.outputFormat))
        let limit = options.namesAllProblems ? FileReport.mostProblems : FileReport.mostPerReason
        let observer = RunObserver(
            problem: { _, problem in
                let count = log.report.problemCounts[problem.reason.summary, default: 0] + 1
                log.report.problemCounts[problem.reason.summary] = count
                if count <= limit, log.report.problems.count < FileReport.mostProblems {
                    log.report.problems.append(problem)
                }
            },
            notice: { log.report.notices.append($0) })
        var convert = options.convert
        convert.inputFormat = input.format
        var stage = FileFixesStage(options: convert, observer: observer)
        do throws(TraceError) {
            try runPipeline(
                [.found(input.path)], through: &stage, threads: threads, readBytes: convert.readBytes,
                observer: observer)
        } catch {
            log.report.failure = error
        }
        fixes = stage.fixes
        report = log.report
        report.summary = fixes.summary
        report.keyName = fixes.keyName
    }
}
