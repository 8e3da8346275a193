import Files
import FixedRandom
import Foundation
import Hereabouts
import Testing

@testable import Traces

private let places: [(Double, Double)] = [
    (48.208234, 16.373721), (47.559612, 7.588634), (31.761934, -106.485021), (-33.92, 18.42), (51.5, -0.12),
]

/// Fixes of a few devices, on and off ticks.
private func rows(_ count: Int, seed: UInt64) -> [String] { sightings(count, seed: seed).map { "\($0.key)," + $0.row } }

/// A fix of a device.
private struct Sighting {
    /// As a table has it, quoted where it must be.
    var key: String
    /// Since 1970.
    var second: Int
    var place: (latitude: Double, longitude: Double)

    /// Of the interval that the fix is in, in seconds since 1970.
    var tick: Int { (second + 899) / 900 * 900 }
    var time: String { text(second) }
    var row: String { "\(second),\(place.latitude),\(place.longitude)\n" }
    var point: String { "<trkpt lat=\"\(place.latitude)\" lon=\"\(place.longitude)\"><time>\(time)</time></trkpt>\n" }
}

private func text(_ second: Int) -> String { Date(timeIntervalSince1970: Double(second)).formatted(.iso8601) }

/// Fixes of a few devices in order of time, on and off ticks, so far apart that no region holds for the next one.
private func sightings(_ count: Int, seed: UInt64, keyed: Bool = true) -> [Sighting] {
    var random = SplitMix64(seed: seed)
    return (0..<count).map { number in
        Sighting(
            key: keyed ? ["a", "b", "\"c, \"\"d\"\"\"", ""].randomElement(using: &random)! : "1",
            second: 1_772_323_200 + number * 50 + [0, 1, 49].randomElement(using: &random)!,
            place: places.randomElement(using: &random)!)
    }
}

/// The inputs that a person's recording may be in.
private enum Form: String, CaseIterable {
    case keyedTable, table, document

    func bytes(_ fixes: some Collection<Sighting>) -> [UInt8] {
        switch self {
        case .keyedTable: TracesTests.table(fixes.map { "\($0.key)," + $0.row })
        case .table: TracesTests.table(fixes.map(\.row), keyed: false)
        case .document: Array("<gpx><trk><trkseg>\n\(fixes.map(\.point).joined())</trkseg></trk></gpx>".utf8)
        }
    }
}

extension Outcome {
    /// How many fixes were late, by the notices.
    fileprivate var lateFixes: Int {
        notices.reduce(0) { if case .lateFixes(_, let count) = $1 { $0 + count } else { $0 } }
    }
}

/// What runs over one state write, by the rule alone: of each device and interval the newest fix of the first run that has
/// one is answered, and later fixes of the interval are late.
///
/// - Parameter runs: each run's fixes, in order of time.
/// - Returns: the rows, and how many fixes were late.
private func expected(_ runs: [ArraySlice<Sighting>], _ emission: Emission) throws -> (rows: [String], late: Int) {
    var found: [(second: Int, row: String)] = []
    var late = 0
    for device in Set(runs.joined().map(\.key)) {
        /// The fix of each answered tick.
        var answers: [Int: Sighting] = [:]
        func row(_ answer: Sighting?, at second: Int) throws -> (Int, String) {
            let columns = try answer.map { try reducedColumns($0.place.latitude, $0.place.longitude) } ?? ",,,,,"
            return (second, "\(device),\(text(second)),\(columns)")
        }
        for run in runs {
            let (fixes, opening) = (run.filter { $0.key == device }, answers.keys.max() ?? 0)
            late += fixes.count { $0.tick <= opening }
            for fix in fixes where fix.tick > opening { answers[fix.tick] = fix }
            guard emission == .fixes else { continue }
            for fix in fixes where fix.second >= opening {
                found.append(
                    try row(answers.filter { $0.key <= fix.second }.max { $0.key < $1.key }?.value, at: fix.second))
            }
        }
        var last: (latitude: Double, longitude: Double)?
        for (tick, fix) in answers.sorted(by: { $0.key < $1.key }) where emission != .fixes {
            if emission == .stays, answers[tick - 900].map({ $0.place != fix.place }) ?? true { continue }
            if emission != .recomputations, let last, last == fix.place { continue }
            last = fix.place
            found.append(try row(fix, at: tick))
        }
    }
    return (found.map(\.row).sorted(), late)
}

private func table(_ rows: some Collection<String>, keyed: Bool = true) -> [UInt8] {
    Array(((keyed ? "id," : "") + "time,lat,lon\n" + rows.joined()).utf8)
}

/// One run after the other over one state file.
private struct Series {
    let scratch = Scratch()
    var options = ConvertRun.Options()

    init(_ emission: Emission = .changes) {
        (options.now, options.earliest) = (testNow, Timestamp(nanosecondsSince1970: .min))
        options.format = .csv
        options.emission = emission
        options.state = scratch.path("state")
        // The places of most tests here are far apart.
        options.acceptsJumps = true
    }

    func run(_ inputs: [UInt8]...) -> Outcome {
        let files = inputs.enumerated().map { InputName.file(scratch.write($1, as: "input\($0)")) }
        _ = try? FileManager.default.removeItem(atPath: scratch.path("out"))
        var outcome = observed(scratch) { output, observer throws(TraceError) in
            try ConvertRun.run(files, to: output, atlas: worldAtlas, options: options, observer: observer)
        }
        outcome.forget(scratch)
        return outcome
    }

    var state: [UInt8] {
        get { scratch.read("state") ?? [] }
        nonmutating set { _ = scratch.write(newValue, as: "state") }
    }

    func journal() throws(TraceError) -> PaceJournal {
        try .opened(
            at: options.state!, fingerprint: fingerprint, interval: options.interval, emission: options.emission)
    }

    /// What the file keeps of a device.
    func state(of key: String) throws -> Pacer.State? { try journal().record(of: Array(key.utf8))?.state }

    /// Answers of which the file does not know whether they came out.
    func unconfirmed() throws -> [PaceRecord] { try journal().unconfirmed }

    /// A state without devices.
    var emptyState: [UInt8] {
        PaceFormat.sealed(
            PaceFormat.header(fingerprint: fingerprint, interval: options.interval, emission: options.emission), [])
    }

    /// Why the state file is refused, if it is.
    var problem: TraceError.StateProblem? {
        do throws(TraceError) {
            _ = try journal()
        } catch {
            if case .badState(_, let problem) = error { return problem }
        }
        return nil
    }
}

private let fingerprint = worldAtlas.fingerprint

@Suite struct StateTests {
    /// Contract C12: a stream that is stopped and started between two ticks, however often, gives the reports of one run.
    @Test(arguments: Emission.allCases, Form.allCases)
    fileprivate func `restarts at ticks change nothing`(_ emission: Emission, _ form: Form) throws {
        var random = SplitMix64(seed: 41)
        for seed in 1...2 as ClosedRange<UInt64> {
            let fixes = sightings(400, seed: seed, keyed: form == .keyedTable)
            let whole = Series(emission).run(form.bytes(fixes)).rows.dropFirst()
            let parts = Series(emission)
            var found: [String] = []
            var start = 0
            while start < fixes.count {
                var end = min(fixes.count, start + Int.random(in: 1...160, using: &random))
                while end < fixes.count, fixes[end].tick == fixes[end - 1].tick { end += 1 }
                let outcome = parts.run(form.bytes(fixes[start..<end]))
                #expect(outcome.error == nil && outcome.lateFixes == 0)
                found += outcome.rows.dropFirst()
                start = end
            }
            // What ends a run ends the intervals of all its devices; the order of one device's reports is theirs.
            #expect(form == .keyedTable ? found.sorted() == whole.sorted() : found == Array(whole))
            let rule = try expected([fixes[...]], emission)
            #expect(whole.count > (emission == .stays ? 0 : 10) && whole.sorted() == rule.rows && rule.late == 0)
        }
    }

    /// Contracts C9 and C12: a run that ends within an interval answers its tick. That tick stays answered, and fixes of the
    /// interval that come in later runs are late: stopping and starting never buys an answer.
    @Test(arguments: Emission.allCases, Form.allCases)
    fileprivate func `ticks answered at the end of a run stay answered`(_ emission: Emission, _ form: Form) throws {
        var random = SplitMix64(seed: 43)
        for seed in 1...4 as ClosedRange<UInt64> {
            let fixes = sightings(300, seed: seed, keyed: form == .keyedTable)
            let series = Series(emission)
            var runs: [ArraySlice<Sighting>] = []
            var found: [String] = []
            var late = 0
            while let start = runs.last?.endIndex ?? 0 as Int?, start < fixes.count {
                runs.append(fixes[start..<min(fixes.count, start + Int.random(in: 1...60, using: &random))])
                let outcome = series.run(form.bytes(runs[runs.count - 1]))
                #expect(outcome.error == nil)
                found += outcome.rows.dropFirst()
                late += outcome.lateFixes
            }
            let rule = try expected(runs, emission)
            #expect(found.sorted() == rule.rows && late == rule.late && late > 20)
        }
    }

    @Test func `a failed run that published nothing keeps the old pace`() {
        let series = Series()
        #expect(series.run(table(["a,0,48.2,16.3\n"])).rows.count == 2)
        var failing = series
        failing.options.onError = .stop
        let failed = failing.run(table(["a,1000,47.5,7.5\n", "a,north,1,1\n"]))
        #expect(failed.error == .stopped && failed.output.isEmpty)
        #expect(series.run(table(["a,1000,47.5,7.5\n"])).rows.count == 2)
    }

    /// What goes to a pipe is published at once, whether the run then fails or not.
    @Test func `a failed run that published keeps its answers`() {
        let series = Series()
        var failing = series.options
        failing.onError = .stop
        failing.readBytes = 16
        let rows = ["a,0,48.2,16.3\n", "a,1000,47.5,7.5\n", "a,north,1,1\n"]
        let input = InputName.file(series.scratch.write(table(rows), as: "stream"))
        let observer = RunObserver()
        #expect(throws: TraceError.stopped) {
            _ = try ConvertRun.run(
                [input], to: try OutputFile.file("/dev/null"), atlas: worldAtlas, options: failing, observer: observer)
        }
        #expect(series.run(table(["a,0,47.5,7.5\n"])).rows.count == 1)
        // The fix that waited for its tick was not answered.
        #expect(series.run(table(["a,1800,47.5,7.5\n"])).rows.count == 2)
    }

    /// Contract C2, for the file as for the reports: the region counts, not where in it a device was.
    @Test func `the state tells nothing of the place within a region`() throws {
        // In the middle, where no other region is within the distance that a state remembers.
        let middle = try center(48.208234, 16.373721)
        let here = (try #require(Double(middle.latitude)), try #require(Double(middle.longitude)))
        let there = (here.0 - 0.000623, here.1 - 0.000778)
        let regions = try [here, there].map { try worldAtlas.snap(latitude: $0.0, longitude: $0.1) }
        try #require(regions[0] == regions[1])
        let states = [here, there].map { place in
            let series = Series()
            _ = series.run(table(["a,0,\(place.0),\(place.1)\n", "a,900,\(place.0),\(place.1)\n"]))
            return series.state
        }
        #expect(states[0].count > 56 && states[0] == states[1])
    }

    @Test func `fixes without times leave no state`() {
        var series = Series()
        series.options.acceptsUntimed = true
        #expect(series.run(Array("id,lat,lon\na,48.2,16.3\na,47.5,7.5\n".utf8)).rows.count == 3)
        #expect(series.state.count == 56)
    }

    @Test func `files of other runs are refused`() {
        let series = Series()
        _ = series.run(table(rows(50, seed: 1)))
        let good = series.state
        #expect(series.problem == nil)

        var other = series
        other.options.interval = .seconds(600)
        #expect(other.problem == .otherInterval)
        other = series
        for emission in Emission.allCases.dropFirst() {
            other.options.emission = emission
            #expect(other.problem == .otherEmission)
        }
        // The version before did not say, and knew no stays.
        series.state = sealed(good) { $0.replaceSubrange(8..<12, with: [3, 0, 0, 0]) }
        for emission in Emission.allCases {
            other.options.emission = emission
            #expect(other.problem == (emission == .stays ? .otherEmission : nil))
        }
        var bytes = good
        bytes[8] = 1
        series.state = bytes
        #expect(series.problem == .version)
        series.state = sealed(good) { $0[20] ^= 1 }
        #expect(series.problem == .otherAtlas)
        series.state = Array("id,time,lat,lon\n1,2,3,4\n and something longer".utf8)
        #expect(series.problem == .notAState)
        #expect(String(decoding: series.state, as: UTF8.self).hasPrefix("id,time"))  // and left alone
    }

    /// A state with another header, whose checksum is right.
    private func sealed(_ state: [UInt8], _ change: (inout [UInt8]) -> Void) -> [UInt8] {
        var bytes = state
        change(&bytes)
        let sum = XXH64.hash(Array(bytes[..<48]))
        for k in 0..<8 { bytes[48 + k] = UInt8(truncatingIfNeeded: sum >> UInt64(8 * k)) }
        return bytes
    }

    /// Every flipped bit and every cut of the state of twenty devices.
    @Test func `any damage is refused`() {
        let series = Series()
        let rows = (0..<20).map { "d\($0),\(1_772_323_200 + $0),48.2,\($0)\n" }
        #expect(series.run(table(rows)).rows.count == 21)
        let good = series.state
        #expect(good.count > 20 * 40 && series.problem == nil && series.state == good)
        for bit in 0..<8 * good.count {
            var bytes = good
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            series.state = bytes
            #expect(series.problem != nil, "bit \(bit)")
        }
        for length in good.indices {
            series.state = Array(good[..<length])
            #expect(series.problem != nil, "length \(length)")
            #expect(series.state.count == length)  // and left alone
        }
        series.state = good
        #expect(series.run(table(rows.map { $0.replacing("48.2", with: "1.5") })).rows.count == 1)
    }

    /// The state of a run that was cut off: bits of it are refused, and a last frame that breaks off is dropped.
    @Test func `damage of frames is refused`() throws {
        let series = Series()
        let states = try states(of: ["a,0,48.2,16.3\n", "b,1,1.5,2.5\n"])
        var good = series.emptyState
        good += PaceFormat.frame(.answers, PaceFormat.record(states[0]))
        good += PaceFormat.frame(.written, [])
        let start = good.count
        good += PaceFormat.frame(.answers, PaceFormat.record(states[1]))
        for bit in 0..<8 * good.count {
            var bytes = good
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            series.state = bytes
            #expect(series.problem != nil, "bit \(bit)")
        }
        for length in start...good.count {
            series.state = Array(good[..<length])
            #expect(try series.state(of: "a") == states[0].state)
            series.state = Array(good[..<length])
            #expect(try series.unconfirmed() == (length < good.count ? [] : [states[1]]))
        }
        for length in series.emptyState.count..<start {
            series.state = Array(good[..<length])
            #expect(try series.unconfirmed().count <= 1)
        }
    }

    /// What one run keeps of these rows.
    private func states(of rows: [String]) throws -> [PaceRecord] {
        let series = Series()
        _ = series.run(table(rows))
        return try rows.map { row in
            let key = String(row.prefix { $0 != "," })
            return PaceRecord(key: Array(key.utf8), state: try #require(try series.state(of: key)), isReported: true)
        }
    }

    /// A run that was cut off between keeping its answers and writing them, or while it wrote them.
    @Test(arguments: TraceFormat.outputs)
    func `what may not have come out is reported again`(_ format: TraceFormat) throws {
        var series = Series()
        series.options.format = format
        var states = try states(of: ["a,0,48.2,16.3\n", "b,1,1.5,2.5\n"])
        states.append(PaceRecord(key: Array("c".utf8), state: states[1].state, isReported: false))
        let cut = series.emptyState + PaceFormat.frame(.answers, states.flatMap(PaceFormat.record))
        series.state = cut
        let retry = series.run(table(["a,0,48.2,16.3\n", "b,1,1.5,2.5\n", "c,1,1.5,2.5\n"]))
        var clean = Series()
        clean.options.format = format
        #expect(retry.output == clean.run(table(["a,0,48.2,16.3\n", "b,1,1.5,2.5\n"])).output)
        // It is out now.
        let next = series.run(table(["a,0,48.2,16.3\n", "b,901,48.2,16.3\n"]))
        #expect(next.output != retry.output && next.summary.written == 1)
        // Even if the retry fails before it gets so far.
        series.state = cut
        var failing = series
        failing.options.onError = .stop
        #expect(failing.run(table(["a,north,1,1\n"])).error == .stopped)
        #expect(try series.unconfirmed() == states)
    }

    /// A run that was cut off between writing a file and giving it its name.
    @Test func `a file that was never published counts for nothing`() throws {
        let series = Series()
        let states = try states(of: ["a,0,48.2,16.3\n"])
        let path = series.scratch.write([1, 2, 3], as: "out.partial")
        let identity = try #require(FileIdentity(path: path))
        let content =
            PaceFormat.staged(StagedFile(path: path, destination: series.scratch.path("out"), identity: identity))
            + PaceFormat.record(states[0])
        series.state = series.emptyState + PaceFormat.frame(.staged, content)
        #expect(try series.state(of: "a") == nil)
        #expect(!series.scratch.names.contains("out.partial"))
        #expect(series.run(table(["a,1,48.2,16.3\n"])).rows.count == 2)
    }

    /// One that got its name, or whose temporary name another file has by now, may have been seen.
    @Test func `a file that may have been published counts`() throws {
        let series = Series()
        let states = try states(of: ["a,0,48.2,16.3\n"])
        let path = series.scratch.write([1, 2, 3], as: "out.partial")
        let identity = try #require(FileIdentity(path: path))
        let content =
            PaceFormat.staged(StagedFile(path: path, destination: series.scratch.path("out"), identity: identity))
            + PaceFormat.record(states[0])
        try FileManager.default.moveItem(atPath: path, toPath: series.scratch.path("out"))
        for isReplaced in [false, true] {
            if isReplaced { _ = series.scratch.write([4], as: "out.partial") }
            series.state = series.emptyState + PaceFormat.frame(.staged, content)
            #expect(try series.state(of: "a") == states[0].state)
            #expect(series.scratch.names.contains("out.partial") == isReplaced)
        }
    }

    /// A stream that never ends keeps its devices, not its answers.
    @Test func `frames do not pile up`() throws {
        let series = Series()
        var journal = try series.journal()
        let state = try states(of: ["a,0,48.2,16.3\n"])[0].state
        var largest = 0
        for number in 0..<3_000 {
            for _ in 0..<20 {
                journal.note(PaceRecord(key: [UInt8(number % 7)], state: state, isReported: true), isStaged: false)
            }
            #expect(try journal.commit())
            try journal.confirm()
            let size = try FileManager.default.attributesOfItem(atPath: series.options.state!)[.size] as? Int
            largest = max(largest, size ?? .max)
        }
        #expect(largest < 2 << 20)
        _ = consume journal
        #expect(try series.state(of: "\u{6}") == state)
    }

    @Test func `the state is its owners`() throws {
        let series = Series()
        let old = umask(0)
        defer { umask(old) }
        _ = series.run(table(["a,0,48.2,16.3\n"]))
        let attributes = try FileManager.default.attributesOfItem(atPath: series.options.state!)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(series.scratch.names == ["input0", "out", "state"])
        if getuid() == 0 {
            #expect(unsafe chown(series.options.state!, 65_534, 65_534) == 0)
            #expect(series.problem == .otherOwner)
        }
    }

    /// The pace is of the file that a link leads to.
    @Test func `a link to the state survives`() throws {
        let series = Series()
        try FileManager.default.createDirectory(atPath: series.scratch.path("deep"), withIntermediateDirectories: true)
        _ = series.scratch.write(series.emptyState, as: "deep/real")
        try FileManager.default.createSymbolicLink(atPath: series.options.state!, withDestinationPath: "deep/real")
        _ = series.run(table(["a,0,48.2,16.3\n"]))
        #expect((try? FileManager.default.destinationOfSymbolicLink(atPath: series.options.state!)) == "deep/real")
        #expect(series.run(table(["a,0,1,1\n"])).rows.count == 1)
    }

    @Test func `two runs do not share a state`() throws {
        let series = Series()
        let path = series.scratch.path("state")
        let first = try PaceJournal.opened(
            at: path, fingerprint: fingerprint, interval: .seconds(900), emission: .changes)
        #expect(series.problem == .inUse)
        #expect(series.run(table([])).error == .badState(file: path, .inUse))
        _ = consume first
        #expect(series.problem == nil)
    }

    @Test func `a state is no input`() {
        let bare = table(["0,1,2\n"], keyed: false)
        var same = Series()
        same.options.state = same.scratch.path("input0")
        #expect(same.run(bare).error == .inUse(file: same.options.state!, as: .input))
    }
}
