import AtlasFixture
import Files
import FixedRandom
import Foundation
import Hereabouts
import Traces

/// The committed atlas, named by `HEREABOUTS_ATLAS`.
private let atlas: Atlas = {
    do {
        return try Atlas(contentsOf: ProcessInfo.processInfo.environment["HEREABOUTS_ATLAS"] ?? "data/world.atlas")
    } catch {
        fatalError("the atlas \(error)")
    }
}()

/// How a run divides its work, which must change nothing.
private struct Division {
    var threads: Int
    var readBytes: Int

    static let all = [
        Division(threads: 1, readBytes: 1 << 10), Division(threads: 2, readBytes: 1 << 18),
        Division(threads: 2, readBytes: 7),
    ]
}

/// What a run did and said.
private struct Outcome: Equatable {
    var output: [UInt8] = []
    var problems: [RecordProblem] = []
    var notices: [Notice] = []
    var summary = RunSummary()
    var error: TraceError?

    var text: String { String(decoding: output, as: UTF8.self) }
    /// The records of a table that was written, without its header.
    var rows: ArraySlice<Substring> { text.split(separator: "\n").dropFirst() }
    var isComplete: Bool { error == nil && summary.badRecords == 0 }

    func checkMessages(input: [UInt8]) {
        for problem in problems { checkPrivacy("\(problem.reason)", input: input) }
        for notice in notices { checkPrivacy("\(notice)", input: input) }
        if let error { checkPrivacy("\(error)", input: input) }
    }
}

private func observed(_ body: (consuming OutputFile, RunObserver) throws(TraceError) -> RunSummary) -> Outcome {
    final class Notes {
        var problems: [RecordProblem] = []
        var notices: [Notice] = []
    }
    let notes = Notes()
    var outcome = Outcome()
    _ = unsafe unlink("out")
    do throws(TraceError) {
        outcome.summary = try body(
            try OutputFile.file("out"),
            RunObserver(problem: { notes.problems.append($1) }, notice: { notes.notices.append($0) }))
    } catch {
        outcome.error = error
    }
    outcome.output = contents(of: "out")
    outcome.problems = notes.problems
    outcome.notices = notes.notices
    return outcome
}

private func snap(
    _ input: [UInt8], _ policy: ErrorPolicy = .skip, keep: [String] = [], to format: TraceFormat = .csv,
    _ division: Division = .all[0]
) -> Outcome {
    write(input, to: "input")
    var options = SnapRun.Options()
    options.format = format
    options.keep = keep
    options.onError = policy
    options.threads = division.threads
    options.readBytes = division.readBytes
    return observed { output, observer throws(TraceError) in
        try SnapRun.run([.file("input")], to: output, atlas: atlas, options: options, observer: observer)
    }
}

private func convert(
    _ input: [UInt8], _ format: TraceFormat = .csv, _ emission: Emission = .fixes, from inputFormat: TraceFormat? = nil,
    state: String? = nil,
    _ division: Division = .all[0]
) -> Outcome {
    write(input, to: "input")
    var options = ConvertRun.Options()
    options.inputFormat = inputFormat
    options.format = format
    options.emission = emission
    options.state = state
    options.acceptsUntimed = true
    options.acceptsJumps = true
    options.now = Timestamp(secondsSince1970: 1_893_456_000) ?? options.now
    options.threads = division.threads
    options.readBytes = division.readBytes
    return observed { output, observer throws(TraceError) in
        try ConvertRun.run([.file("input")], to: output, atlas: atlas, options: options, observer: observer)
    }
}

/// The outcome, which must be the same however the work is divided.
private func undivided(_ input: [UInt8], _ run: (Division) -> Outcome) -> Outcome {
    let outcome = run(Division.all[0])
    for division in Division.all.dropFirst() {
        check(
            run(division) == outcome, "another outcome with \(division.threads) threads, \(division.readBytes) bytes")
    }
    outcome.checkMessages(input: input)
    return outcome
}

/// A table of reports, reduced once more, is itself: each center lies in its own region.
///
/// - Parameter isKeyed: whether the first column is a device key, which `snap` copies where it is told to.
private func checkIsReduced(_ outcome: Outcome, isKeyed: Bool = false) {
    let key = isKeyed ? outcome.text.prefix { $0 != "," } : ""
    let again = snap(outcome.output, keep: isKeyed ? [String(key)] : [])
    check(again.isComplete && again.output == outcome.output, "the output is not its own reduction")
}

/// Any bytes as a table of positions.
func fuzzSnap(_ input: [UInt8]) {
    let policy = input.count % 2 == 0 ? ErrorPolicy.skip : .blank
    let outcome = undivided(input) { snap(input, policy, $0) }
    guard outcome.error == nil else { return }
    check(outcome.problems.count == outcome.summary.badRecords, "bad records were not reported")
    if policy == .skip {
        check(outcome.rows.count >= outcome.summary.written, "fewer rows than were written")
        checkIsReduced(outcome)
    }
}

/// Any bytes as lines after a record of JSON: each is a record, or blank, or no JSON.
func fuzzLines(_ input: [UInt8]) {
    let first = Array("{\"id\":1,\"time\":\"2026-03-01T08:00:00Z\",\"lat\":48.2,\"lon\":16.4}\n".utf8)
    let policy = input.count % 2 == 0 ? ErrorPolicy.skip : .blank
    let outcome = undivided(first + input) { snap(first + input, policy, keep: ["note"], to: .ndjson, $0) }
    guard outcome.error == nil else { return check(false, "lines that end the run: \(outcome.error!)") }
    var bad: Set<Int> = []
    for problem in outcome.problems where problem.reason == .notJSON { bad.insert(problem.line) }
    let deep = Set(outcome.problems.filter { $0.reason == .nestedTooDeep }.map(\.line))
    var records = 0
    for (index, line) in (first + input).split(separator: 10, omittingEmptySubsequences: false).enumerated() {
        if line.allSatisfy({ $0 == 0x20 || $0 == 9 || $0 == 13 }) { continue }
        records += 1
        if deep.contains(index + 1) { continue }
        check(bad.contains(index + 1) != JSONGrammar.isValue(Array(line)), "line \(index + 1) is JSON, or it is not")
    }
    check(outcome.summary.records == records, "a record is missing")
    let written = outcome.output.split(separator: 10)
    check(written.count == outcome.summary.written, "another number of objects than were written")
    check(written.allSatisfy { JSONGrammar.isValue(Array($0)) }, "a line that is no JSON")
}

/// Any bytes as recorded traces, of the format that they are recognized as.
func fuzzConvert(_ input: [UInt8]) { fuzzConvert(input, from: nil) }

/// Any bytes as recorded traces of a format.
func fuzzConvert(_ input: [UInt8], from inputFormat: TraceFormat?) {
    let formats = TraceFormat.outputs, format = formats[input.count % formats.count]
    let emission = Emission.allCases[input.count / 3 % 3]
    let outcome = undivided(input) { convert(input, format, emission, from: inputFormat, $0) }
    guard outcome.error == nil else { return }
    let written = outcome.summary.written
    switch format.name {
    case "csv":
        // Fixes before the first tick have blank rows, which are no positions.
        if emission != .fixes { checkIsReduced(outcome, isKeyed: true) }
    case "gpx", "kml", "kmz":
        let again = convert(outcome.output, .csv, .fixes)
        check(again.isComplete && again.summary.records == written, "\(format.name) of other points than were written")
    case "ndjson":
        let lines = Array(outcome.output.split(separator: 10))
        check(lines.count >= written, "fewer objects than were written")
        check(lines.allSatisfy { JSONGrammar.isValue(Array($0)) }, "a line that is no JSON")
    default:
        let value = try? JSONSerialization.jsonObject(with: Data(outcome.output)) as? [String: Any]
        check((value?["features"] as? [Any])?.count == written, "a GeoJSON of other features than were written")
    }
}

/// A state file, perhaps with checksums that fit.
func fuzzState(_ input: [UInt8]) {
    let table = Array("id,time,lat,lon\na,1772323200,48.208234,16.373721\nb,1772323201,31.761934,-106.485021\n".utf8)
    let state = repairedState(input)
    write(state, to: "state")
    let first = convert(table, .csv, .changes, state: "state")
    first.checkMessages(input: table + state)
    if first.error != nil {
        check(contents(of: "state") == state, "a state that was refused is not as it was")
    } else {
        let again = convert(table, .csv, .changes, state: "state")
        check(again.isComplete && again.rows.isEmpty, "answered again within the interval")
    }
    for name in ["state", "out"] { _ = unsafe unlink(name) }
}

/// The first byte says what is made to fit: the header, the frames, the devices' states.
private func repairedState(_ input: [UInt8]) -> [UInt8] {
    guard let flags = input.first else { return [] }
    var file = StateFile(Array(input.dropFirst()))
    if flags & 4 != 0 { file.sealRecords() }
    if flags & 2 != 0 { file.sealFrames() }
    if flags & 1 != 0 { file.sealHeader(fingerprint: atlas.fingerprint, intervalNanoseconds: 900_000_000_000) }
    return file.bytes
}

/// A latitude and a longitude as texts, against the C library's reading of them.
func fuzzNumber(_ input: [UInt8]) {
    guard input.count <= 60, !input.contains(where: { [0x0A, 0x0D, 0x22, 0x2C].contains($0) }) else { return }
    let text = String(decoding: input, as: UTF8.self).trimmingCharacters(in: CharacterSet(charactersIn: " \t"))
    let isNumber = text.wholeMatch(of: /[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?/) != nil
    // Degrees, minutes and seconds, and hemispheres, are no numbers of the C library's.
    guard isNumber || !text.utf8.contains(where: { $0 >= 0x80 || "NSEWnsewd:' \t".utf8.contains($0) }) else { return }
    let value = isNumber ? unsafe strtod(text, nil) : .nan
    let rows = [input + Array(",10.5\n".utf8), Array("10.5,".utf8) + input + Array("\n".utf8)]
    for (row, place) in zip(rows, [(value, 10.5), (10.5, value)]) {
        let outcome = snap(Array("lat,lon\n".utf8) + row)
        outcome.checkMessages(input: input)
        let location = try? atlas.reducedLocation(at: Coordinate(latitude: place.0, longitude: place.1))
        check(
            outcome.error == nil && outcome.summary.written == (location == nil ? 0 : 1), "another opinion of a number")
        guard let location else { continue }
        let columns = outcome.rows.first?.split(separator: ",", omittingEmptySubsequences: false)
        check(columns?[3] == "\(location.region)", "another number")
    }
}

/// A time as a text: what is written for it is read as the same time, and RFC 3339 in UTC is written as it is.
func fuzzTime(_ input: [UInt8]) {
    guard input.count <= 60, !input.contains(where: { [0x0A, 0x0D, 0x22, 0x2C].contains($0) }) else { return }
    func written(_ time: [UInt8]) -> String? {
        let outcome = convert(Array("id,time,lat,lon\na,".utf8) + time + Array(",48.208234,16.373721\n".utf8))
        outcome.checkMessages(input: time)
        // What may be seconds since 2001 is refused.
        if case .epochUnknown? = outcome.error { return nil }
        check(outcome.error == nil, "a time ended the run")
        return outcome.rows.first.map { String($0.split(separator: ",", omittingEmptySubsequences: false)[1]) }
    }
    let time = written(input)
    if let time { check(written(Array(time.utf8)) == time, "a time is read as another one than was written") }
    let text = String(decoding: input, as: UTF8.self)
    if isRFC3339(text) { check(time == text, "a time of RFC 3339 is not itself") }
    check(time != "", "a record without a time was answered")
}

/// Whether a text is a valid date and time of whole seconds in UTC, of the years from 1990 to that of the run's clock.
private func isRFC3339(_ text: String) -> Bool {
    guard let match = text.wholeMatch(of: /([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})Z/),
        let year = Int(match.1), let month = Int(match.2), let day = Int(match.3), let hour = Int(match.4),
        let minute = Int(match.5), let second = Int(match.6), (1990...2029).contains(year), (1...12).contains(month)
    else { return false }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    return (1...days[month - 1]).contains(day) && hour < 24 && minute < 60 && second < 60
}

/// A table whose fields are out of place, drawn by the bytes: no coordinate of it reaches an output or a message.
func fuzzMisplaced(_ input: [UInt8]) {
    var random = SplitMix64(seed: input.reduce(14_695_981_039_346_656_037) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 })
    let table = MisplacedTable(&random), bytes = Array(table.text.utf8)
    let rows = snap(bytes, .blank), fixes = convert(bytes, state: "state")
    for outcome in [rows, fixes] {
        // The reduced location is in the last six columns.
        let copied = outcome.rows.map { $0.split(separator: ",", omittingEmptySubsequences: false).prefix(2) }
        check(!leaks("\(copied)", table.secrets), "a coordinate reached an output")
        check(
            !leaks("\(outcome.notices) \(outcome.problems) \(outcome.error.map { "\($0)" } ?? "")", table.secrets),
            "a coordinate reached a message")
    }
    check(
        !leaks(String(decoding: contents(of: "state").map { $0 < 0x80 ? $0 : 0x20 }, as: UTF8.self), table.secrets),
        "a coordinate reached a state")
    for name in ["state", "out"] { _ = unsafe unlink(name) }
}

/// Whether a text has one of some runs of seven digits.
private func leaks(_ text: String, _ secrets: Set<String>) -> Bool {
    text.split { !$0.isASCII || !$0.isNumber }.contains { digits in
        digits.count >= 7
            && digits.indices.contains { start in
                digits[start...].count >= 7 && secrets.contains(String(digits[start...].prefix(7)))
            }
    }
}
