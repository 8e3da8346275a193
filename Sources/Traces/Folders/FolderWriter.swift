import Files
import Hereabouts

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Writes the outputs of a folder's files, some side by side.
struct FolderWriter {
    let plan: FolderPlan
    let output: String
    let isKept: [Bool]
    let answers: FolderAnswers
    let atlas: Atlas
    var options: FolderRun.Options

    /// One file's output.
    private struct Job: ~Copyable {
        var index = -1
        /// What happened since the file was read.
        var report: FileReport?
        var statistics = ReportStatistics()
        /// The persons that have a report in it.
        var persons: Set<Int> = []
        var first: FirstAnswer?

        /// Notes an answer of the output.
        mutating func note(_ time: Timestamp?) {
            first = FirstAnswer(time: [first?.time, time].compactMap(\.self).min())
        }
    }

    /// The first answer of an output.
    struct FirstAnswer {
        /// Nil where no fix of the output has a time.
        var time: Timestamp?
    }

    /// Which files could be read.
    var answered: [Bool] { answers.files.map { $0.report.failure == nil } }

    /// The first answer of each output; nil of one that has none. Each is written to nowhere for that.
    func firstAnswers() throws(TraceError) -> [FirstAnswer?] {
        var writer = self
        writer.options.isDry = true
        var first = [FirstAnswer?](repeating: nil, count: plan.inputs.count)
        try writer.forEachFile(plan.inputs.map(\.output)) { (job: borrowing Job) in
            first[job.index] = job.first
        }
        return first
    }

    /// Writes the files' outputs side by side, and calls a function with each in order of the files.
    ///
    /// - Parameter outputs: the paths below the folder; nil where there is to be none.
    private func forEachFile(
        _ outputs: [String?], _ body: (borrowing Job) throws(TraceError) -> Void
    ) throws(TraceError) {
        let groups = answers.reports.groups(devices: answers.trackCount)
        var next = 0
        try runWorkers(
            threads: min(options.convert.threads, FolderRun.mostWriters), cancellation: CancellationFlag()
        ) {
            Job()
        } take: { job in
            job = Job(index: next < answers.files.count ? next : -1)
            next += 1
            return job.index < 0 ? .end : .full
        } work: { job in
            if job.index >= 0 { write(&job, to: outputs[job.index], groups) }
        } emit: { (job) throws(TraceError) in
            if job.index >= 0 { try body(job) }
        }
    }

    /// Writes what is to be written. Of a file that cannot be written the observer is told, and the others are written.
    ///
    /// - Parameter outputs: the paths below the folder; nil where there is to be none.
    func write(
        _ outputs: [String?], mark: inout RunMark, observer: FolderObserver
    ) throws(TraceError) -> FolderSummary {
        var summary = FolderSummary()
        summary.skipped = plan.skipped
        summary.reserved = answers.reserved
        summary.statistics.tooFew = answers.tooFew
        for (path, error) in plan.failures {
            summary.failures[error.reason(of: path), default: 0] += 1
            var report = FileReport(file: path, output: "", format: .gpx, outputFormat: .gpx)
            report.failure = error
            observer.read(report)
        }
        if !options.isDry { try mark.write(outputs, answered: answered) }
        var progress = FolderProgress(totalFiles: plan.inputs.count, isWriting: true)
        var isComplete = true, persons: Set<Int> = []
        try forEachFile(outputs) { (job: borrowing Job) in
            guard let report = job.report else { return }
            let read = answers.files[job.index].report
            summary.records.records += read.summary.records
            summary.records.jumps += read.summary.jumps
            summary.records.badRecords += read.summary.badRecords + report.summary.badRecords
            summary.records.written += report.summary.written
            summary.statistics.add(job.statistics)
            persons.formUnion(job.persons)
            if let failure = report.failure {
                let name = read.failure == nil ? "\(output)/\(report.output ?? "")" : report.file
                summary.failures[failure.reason(of: name), default: 0] += 1
                if read.failure == nil { isComplete = false }
            } else {
                summary.converted += 1
                if report.isKept && report.output != nil { summary.kept += 1 }
            }
            if read.failure == nil { observer.written(report) }
            progress.files += 1
            observer.progress(progress)
        }
        summary.devices = persons.count
        if !options.isDry {
            // Until all names are durable the mark says that some may be missing.
            for folder in Set(outputs.compactMap { $0.map(folder) }) { syncFolder(folder) }
            if isComplete { mark.end() }
        }
        return summary
    }

    /// The folder of an output.
    private func folder(of name: String) -> String {
        let path = "\(output)/\(name)"
        return String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    }

    private func write(_ job: inout Job, to name: String?, _ groups: borrowing HeldReports.Groups) {
        let file = answers.files[job.index]
        var report = file.report
        (report.summary, report.problems, report.problemCounts, report.notices) = (RunSummary(), [], [:], [])
        report.isKept = isKept[job.index]
        report.output = name
        if report.failure == nil, !report.isKept, let name {
            do throws(TraceError) {
                try write(file, to: "\(output)/\(name)", &report, &job, groups)
            } catch {
                report.failure = error
            }
        }
        job.report = report
    }

    /// Writes one output.
    private func write(
        _ file: FileAnswers, to path: String, _ report: inout FileReport, _ job: inout Job,
        _ groups: borrowing HeldReports.Groups
    ) throws(TraceError) {
        guard let makeSink = report.outputFormat.makeSink else { preconditionFailure("a format that can be written") }
        var target = try open(path)
        var devices = PacedDevices(
            atlas: atlas, sink: makeSink(atlas), interval: options.convert.interval,
            emission: options.convert.emission, withheld: options.convert.withheld, disguise: options.convert.disguise)
        devices.statistics = ReportStatistics()
        if let name = file.report.keyName { devices.sink.setKeyName(Array(name.utf8)) }
        var out = ByteBuffer(capacity: 1 << 12)
        var numbers: [Int: Int] = [:]
        let joinsTracks = options.convert.joinsTracks && file.report.keyName == nil
        func device(_ track: Int, _ devices: inout PacedDevices) -> Int {
            let at = track - file.tracks.lowerBound
            // A person's tracks, or each by itself.
            let written = joinsTracks ? file.persons[at] : track
            if let known = numbers[written] { return known }
            let key = file.keys[at]
            let number = devices.add(
                key: key, kind: joinsTracks ? .track : file.kinds[at], clock: key.map { .device($0) } ?? .person(""))
            numbers[written] = number
            return number
        }
        for held in reports(of: file, groups) {
            let track = Int(held.device), at = track - file.tracks.lowerBound
            if file.report.keyName != nil && file.keys[at] == nil {
                devices.writeBlank(device: nil, at: held.time, to: &out)
            } else {
                let written = devices.written
                devices.write(
                    held.region == .invalid ? nil : held.region, at: held.time, of: device(track, &devices), to: &out)
                job.persons.insert(file.persons[at])
                if held.region != .invalid, devices.written > written { job.note(held.time) }
            }
            if out.count > 1 << 20 && !devices.sink.holdsReports { try target.write(&out) }
        }
        var plans = 0
        for point in file.untimed {
            let track = file.tracks.lowerBound + Int(point.track)
            if file.isTimed && answers.isTimed[file.persons[Int(point.track)]] {
                // Beside the times of its person an answer would be one between ticks.
                if file.kinds[Int(point.track)] == .track {
                    report.refuse(.timeMissing, line: point.line)
                } else {
                    plans += 1
                }
                continue
            }
            let outcome = devices.take(
                point.coordinate, at: nil, horizontalAccuracy: point.horizontalAccuracy, of: device(track, &devices),
                to: &out)
            switch outcome {
            case .bad(let reason): report.refuse(reason, line: point.line)
            case .secondUntimed: report.notices.append(.untimed(file: report.file))
            case .kept, .late: job.persons.insert(file.persons[Int(point.track)])
            }
            if devices.written > 0 { job.note(nil) }
        }
        if plans > 0 { report.notices.append(.untimedPlans(file: report.file, count: plans)) }
        try atlas.requireUnchanged()
        try devices.sink.finish(&out, to: target)
        try target.publish(syncsFolder: false)
        report.summary.written = devices.written
        if let statistics = devices.statistics { job.statistics.add(statistics) }
    }

    /// The output under its temporary name, in its folder; what discards all that is written, in a dry run.
    private func open(_ path: String) throws(TraceError) -> OutputFile {
        if options.isDry { return try .file("/dev/null", compression: options.compression) }
        try makeFolders(String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]))
        // Nobody named it: a pipe of this name would keep the run waiting.
        var status = stat()
        if unsafe stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG { throw .notAFile(file: path) }
        return try .file(path, compression: options.compression)
    }

    /// A file's reports in the order in which they are written: track by track, or of devices with keys and tracks that are
    /// joined by time. Of the answers of a person that equal the one before in the file only the first, if changes or stays are wanted.
    private func reports(of file: FileAnswers, _ groups: borrowing HeldReports.Groups) -> [Report] {
        var reports: [Report] = []
        for track in file.tracks {
            for place in groups.starts[track]..<groups.starts[track + 1] {
                reports.append(answers.reports[groups[place]])
            }
        }
        func person(_ report: Report) -> Int { file.persons[Int(report.device) - file.tracks.lowerBound] }
        if [.changes, .stays].contains(options.convert.emission) {
            var last: [Int: Region] = [:]
            var isRepeated = [Bool](repeating: false, count: reports.count)
            for index in Self.byTime(reports) {
                isRepeated[index] = last[person(reports[index])] == reports[index].region
                last[person(reports[index])] = reports[index].region
            }
            reports = reports.indices.filter { !isRepeated[$0] }.map { reports[$0] }
        }
        let isByTime = file.report.keyName != nil || options.convert.joinsTracks
        guard isByTime, options.convert.emission != .fixes else { return reports }
        return Self.byTime(reports).map { reports[$0] }
    }

    /// The numbers of reports by their times, else in the same order.
    private static func byTime(_ reports: [Report]) -> [Int] {
        func nanoseconds(_ index: Int) -> Int64 { reports[index].time?.nanosecondsSince1970 ?? .min }
        return reports.indices.sorted { (nanoseconds($0), $0) < (nanoseconds($1), $1) }
    }
}

extension FileReport {
    /// Counts a bad record.
    fileprivate mutating func refuse(_ reason: RecordProblem.Reason, line: Int) {
        summary.badRecords += 1
        let count = problemCounts[reason.summary, default: 0] + 1
        problemCounts[reason.summary] = count
        if count <= Self.mostPerReason { problems.append(RecordProblem(line: line, reason: reason)) }
    }
}
