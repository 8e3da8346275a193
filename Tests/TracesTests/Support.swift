import Foundation
import Hereabouts
import Testing

@testable import Traces

/// The project's folder.
let projectFolder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

/// The committed atlas.
let worldAtlas: Atlas = {
    do {
        return try Atlas(contentsOf: projectFolder.appendingPathComponent("data/world.atlas").path)
    } catch {
        fatalError("data/world.atlas cannot be opened: \(error)")
    }
}()

/// Real recordings beside the project; empty, with a word about it, where they are missing.
let sharedTraces: [URL] = {
    let folder = projectFolder.appendingPathComponent("../shared/traces").standardizedFileURL
    let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
    let traces = files.filter { $0.pathExtension == "gpx" }.sorted { $0.path < $1.path }
    if traces.isEmpty { print("skipped: there are no recordings in ../shared/traces") }
    return traces
}()

/// A folder that is removed with the value.
final class Scratch {
    let folder: URL

    init() {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("hereabouts-\(UUID().uuidString)")
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    /// Writes a file and returns its path.
    func write(_ bytes: [UInt8], as name: String) -> String {
        let file = folder.appendingPathComponent(name)
        try? FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        _ = FileManager.default.createFile(atPath: file.path, contents: Data(bytes))
        return file.path
    }

    func read(_ name: String) -> [UInt8]? { FileManager.default.contents(atPath: path(name)).map { Array($0) } }

    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted() }
}

/// What a run did and said.
struct Outcome: Equatable {
    var output: [UInt8] = []
    var problems: [RecordProblem] = []
    var notices: [Notice] = []
    /// How the inputs were read.
    var readings: [InputReading] = []
    var summary = RunSummary()
    var error: TraceError?

    /// The columns of the first input that are not used.
    var dropped: [String] { readings.first?.dropped ?? [] }
    var text: String { String(decoding: output, as: UTF8.self) }
    var rows: [String] { text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init) }
    /// The key and the time of each row of a table.
    var keysAndTimes: [String] {
        rows.dropFirst().map { $0.split(separator: ",", omittingEmptySubsequences: false)[..<2].joined(separator: " ") }
    }

    /// Without file names, which differ from scratch folder to scratch folder.
    var reasons: [String] { problems.map { "\($0.line): \($0.reason)" } }
}

/// Runs `body` with an output file and an observer that takes notes. The file is left as it is where `body` throws.
func observed(
    _ scratch: Scratch,
    _ body: (consuming OutputFile, RunObserver) throws(TraceError) -> RunSummary
) -> Outcome {
    final class Notes {
        var problems: [RecordProblem] = []
        var notices: [Notice] = []
    }
    let notes = Notes()
    var outcome = Outcome()
    let observer = RunObserver(
        problem: { _, problem in notes.problems.append(problem) }, notice: { notes.notices.append($0) })
    do throws(TraceError) {
        outcome.summary = try body(try OutputFile.file(scratch.path("out")), observer)
    } catch {
        outcome.error = error
    }
    outcome.output = scratch.read("out") ?? []
    outcome.problems = notes.problems
    for notice in notes.notices {
        if case .readAs(_, let reading) = notice {
            outcome.readings.append(reading)
        } else {
            outcome.notices.append(notice)
        }
    }
    return outcome
}

/// `snap` of one input.
func snap(_ input: [UInt8], _ configure: (inout SnapRun.Options) -> Void = { _ in }) -> Outcome {
    let scratch = Scratch()
    var options = SnapRun.Options()
    configure(&options)
    let file = scratch.write(input, as: "input")
    var outcome = observed(scratch) { output, observer throws(TraceError) in
        try SnapRun.run([.file(file)], to: output, atlas: worldAtlas, options: options, observer: observer)
    }
    outcome.forget(scratch)
    return outcome
}

func snap(_ input: String, _ configure: (inout SnapRun.Options) -> Void = { _ in }) -> Outcome {
    snap(Array(input.utf8), configure)
}

/// The clock of runs in tests: 2030-01-01.
let testNow = Timestamp(nanosecondsSince1970: 1_893_456_000_000_000_000)

/// `convert` of inputs whose files have these names and whose times may count from 0; a name may have a folder.
func convert(
    _ inputs: [(name: String, bytes: [UInt8])], _ configure: (inout ConvertRun.Options) -> Void = { _ in }
) -> Outcome {
    let scratch = Scratch()
    var options = ConvertRun.Options()
    (options.now, options.earliest) = (testNow, Timestamp(nanosecondsSince1970: .min))
    configure(&options)
    let files = inputs.map { InputName.file(scratch.write($0.bytes, as: $0.name)) }
    var outcome = observed(scratch) { output, observer throws(TraceError) in
        try ConvertRun.run(files, to: output, atlas: worldAtlas, options: options, observer: observer)
    }
    outcome.forget(scratch)
    return outcome
}

/// `convert` of inputs whose files are called `input0` and so on.
func convert(_ inputs: [[UInt8]], _ configure: (inout ConvertRun.Options) -> Void = { _ in }) -> Outcome {
    convert(inputs.enumerated().map { ("input\($0)", $1) }, configure)
}

func convert(_ input: String, _ configure: (inout ConvertRun.Options) -> Void = { _ in }) -> Outcome {
    convert([Array(input.utf8)], configure)
}

/// `convert` to a table with a row for each recomputation, and the bounds of times as the command has them.
func convertToTable(_ input: String, _ configure: (inout ConvertRun.Options) -> Void = { _ in }) -> Outcome {
    convert(input) {
        ($0.format, $0.emission, $0.earliest) = (.csv, .recomputations, TimeBounds.earliest)
        configure(&$0)
    }
}

extension Outcome {
    /// Takes the scratch folder's name out of all file names.
    mutating func forget(_ scratch: Scratch) {
        func short(_ file: String) -> String { file.replacingOccurrences(of: scratch.folder.path + "/", with: "") }
        notices = notices.map { notice in
            switch notice {
            case .readAs(let file, let reading): .readAs(file: short(file), reading)
            case .rowNames(let file): .rowNames(file: short(file))
            case .fewDecimals(let file): .fewDecimals(file: short(file))
            case .noPoints(let file): .noPoints(file: short(file))
            case .severalPersons(let count): .severalPersons(count)
            case .stateRepaired(let file, let devices): .stateRepaired(file: short(file), devices: devices)
            case .lateFixes(let file, let count): .lateFixes(file: short(file), count: count)
            case .untimedPlans(let file, let count): .untimedPlans(file: short(file), count: count)
            case .outputMissing(let file): .outputMissing(file: short(file))
            case .stateNotSealed(let file): .stateNotSealed(file: short(file))
            case .untimed(let file): .untimed(file: short(file))
            case .manyDevices(let file, let devices, let records):
                .manyDevices(file: short(file), devices: devices, records: records)
            case .trackIsNoKey(let file, let column): .trackIsNoKey(file: short(file), column: column)
            case .timeColumns(let file, let taken, let others):
                .timeColumns(file: short(file), taken: taken, others: others)
            case .nothingWithheld, .timesInNames, .longNames: notice
            case .mapStays(let file): .mapStays(file: short(file))
            case .stateMoved(let file, let regions, let dropped):
                .stateMoved(file: short(file), regions: regions, dropped: dropped)
            case .onFoot(let file): .onFoot(file: short(file))
            case .notAFile(let file): .notAFile(short(file))
            }
        }
        error = error.map { error in
            switch error {
            case .notAFile(let file): .notAFile(file: short(file))
            case .noKeysToRename(let file): .noKeysToRename(file: short(file))
            case .foreignMark(let file): .foreignMark(file: short(file))
            case .recordTooLong(let file, let line): .recordTooLong(file: short(file), line: line)
            case .noColumn(let file, let axis, let columns): .noColumn(file: short(file), axis: axis, columns: columns)
            case .bareAxes(let file, let x, let y): .bareAxes(file: short(file), x: x, y: y)
            case .notRead(let file, let kind): .notRead(file: short(file), kind)
            case .noTimeColumn(let file, let columns): .noTimeColumn(file: short(file), columns: columns)
            case .noDate(let file): .noDate(file: short(file))
            case .noTimes(let file): .noTimes(file: short(file))
            case .ambiguousColumn(let file, let name): .ambiguousColumn(file: short(file), name: name)
            case .unknownColumn(let file, let name, let columns):
                .unknownColumn(file: short(file), name: name, columns: columns)
            case .unitOfPosition(let file, let name): .unitOfPosition(file: short(file), name: name)
            case .unknownReference(let file): .unknownReference(file: short(file))
            case .refusedReference(let file): .refusedReference(file: short(file))
            case .noUTMZone(let file): .noUTMZone(file: short(file))
            case .utmHemisphere(let file, let name): .utmHemisphere(file: short(file), name: name)
            case .utmZoneDiffers(let file, let name): .utmZoneDiffers(file: short(file), name: name)
            case .timeOffsets(let file, let name): .timeOffsets(file: short(file), name: name)
            case .otherDatum(let file, let name, let datum): .otherDatum(file: short(file), name: name, datum)
            case .epochUnknown(let file, let column, let proposals):
                .epochUnknown(file: short(file), column: column, proposals: proposals)
            case .rowNumbers(let file, let column, let proposals):
                .rowNumbers(file: short(file), column: column, proposals: proposals)
            case .lateKey(let file, let line, let name): .lateKey(file: short(file), line: line, name: name)
            case .keysDiffer(let file, let name, let first):
                .keysDiffer(file: short(file), name: name, first: first)
            case .otherHeader(let file, let line): .otherHeader(file: short(file), line: line)
            case .headersDiffer(let file): .headersDiffer(file: short(file))
            case .mixedKeys(let file): .mixedKeys(file: short(file))
            case .malformedXML(let file, let line): .malformedXML(file: short(file), line: line)
            case .documentType(let file, let line): .documentType(file: short(file), line: line)
            case .nestedTooDeep(let file, let line): .nestedTooDeep(file: short(file), line: line)
            case .tokenTooLong(let file, let line): .tokenTooLong(file: short(file), line: line)
            case .tagTooLong(let file, let line): .tagTooLong(file: short(file), line: line)
            case .tooManyNames(let file, let line): .tooManyNames(file: short(file), line: line)
            case .wrongEncoding(let file, let line): .wrongEncoding(file: short(file), line: line)
            case .tooManyColumns(let file): .tooManyColumns(file: short(file))
            case .headerQuote(let file, let line): .headerQuote(file: short(file), line: line)
            case .otherRoot(let file, let format): .otherRoot(file: short(file), format: format)
            case .placemarkTooLong(let file, let line): .placemarkTooLong(file: short(file), line: line)
            case .badArchive(let file): .badArchive(file: short(file))
            case .archiveTooLarge(let file): .archiveTooLarge(file: short(file))
            case .noDocument(let file): .noDocument(file: short(file))
            case .gpsbabelMissing(let file): .gpsbabelMissing(file: short(file))
            case .unknownToGPSBabel(let file): .unknownToGPSBabel(file: short(file))
            case .gpsbabelFoundNothing(let file): .gpsbabelFoundNothing(file: short(file))
            case .gpsbabelTooSlow(let file, let seconds): .gpsbabelTooSlow(file: short(file), seconds: seconds)
            case .gpsbabelFailed(let file, let status): .gpsbabelFailed(file: short(file), status: status)
            case .noMember(let file, let axis): .noMember(file: short(file), axis: axis)
            case .noTimeMember(let file): .noTimeMember(file: short(file))
            case .summaryBesideSamples(let file, let filter):
                .summaryBesideSamples(file: short(file), filter: filter)
            case .malformedJSON(let file, let line): .malformedJSON(file: short(file), line: line)
            case .featureTooLong(let file, let line): .featureTooLong(file: short(file), line: line)
            case .truncatedStream(let file): .truncatedStream(file: short(file))
            case .damagedStream(let file): .damagedStream(file: short(file))
            default: error
            }
        }
    }
}

/// The reduced columns of a position, written by other means than the code under test.
func reducedColumns(_ latitude: Double, _ longitude: Double) throws -> String {
    let location = try worldAtlas.reducedLocation(of: try worldAtlas.snap(latitude: latitude, longitude: longitude))
    let place = location.place?.description ?? ""
    let quoted =
        place.contains { ",\"\n\r".contains($0) } ? "\"\(place.replacingOccurrences(of: "\"", with: "\"\""))\"" : place
    return String(format: "%.5f,%.5f,", location.coordinate.latitude, location.coordinate.longitude)
        + "\(Int(location.horizontalAccuracy.rounded(.up))),\(location.region),\(location.country),\(quoted)"
}

/// The center of a position's region as the output writes it: `31.75,-106.25` with five decimals each.
func center(_ latitude: Double, _ longitude: Double) throws -> (latitude: String, longitude: String) {
    let location = try worldAtlas.reducedLocation(of: try worldAtlas.snap(latitude: latitude, longitude: longitude))
    return (
        String(format: "%.5f", location.coordinate.latitude), String(format: "%.5f", location.coordinate.longitude)
    )
}
