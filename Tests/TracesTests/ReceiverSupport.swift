import Foundation
import Hereabouts

@testable import Traces

/// A record as a format's reader gives it to the stage.
struct ReadFix: Equatable, CustomStringConvertible {
    var line: Int
    var latitude = Double.nan
    var longitude = Double.nan
    var seconds: Double?
    var accuracy: Double?
    var track: UInt32 = 0
    var problem: RecordProblem.Reason?

    static func == (left: ReadFix, right: ReadFix) -> Bool { left.description == right.description }

    var description: String {
        if let problem { return "\(line): \(problem)" }
        return String(format: "%d: %.9f %.9f", line, latitude, longitude)
            + " \(seconds.map { "\($0)" } ?? "-") \(accuracy.map { "\($0)" } ?? "-") \(track)"
    }
}

/// What came of reading an input in order.
struct ReadOutcome: Equatable {
    var fixes: [ReadFix] = []
    var format = ""
    var error: TraceError?

    var good: [ReadFix] { fixes.filter { $0.problem == nil } }
    var reasons: [String] { fixes.filter { $0.problem != nil }.map(\.description) }
}

/// Reads an input with the reader of its format, or of the one that options name; however it is divided.
func readInOrder(
    _ bytes: [UInt8], name: String = "input", readBytes: Int = 1 << 18,
    _ configure: (inout ConvertRun.Options) -> Void = { _ in }
) -> ReadOutcome {
    let scratch = Scratch()
    var options = ConvertRun.Options()
    (options.now, options.readBytes) = (testNow, readBytes)
    configure(&options)
    var outcome = ReadOutcome()
    let path = scratch.write(bytes, as: name)
    do throws(TraceError) {
        var probe = InputReader(try ByteSource(.file(path)), readBytes: readBytes)
        if let named = options.inputFormat {
            outcome.format = named.name
        } else {
            outcome.format = try TraceFormat.recognized(&probe, among: options.formats).name
        }
        let input = try TraceFormat.open(
            InputReader(try ByteSource(.file(path)), readBytes: readBytes), options: options)
        var buffer = InputBuffer(readBytes: readBytes), batch = FixBatch()
        var line = input.firstLine, isAtEnd = false
        while !isAtEnd {
            batch.removeAll()
            var failure: TraceError?
            do throws(TraceError) { isAtEnd = try !input.next(&buffer, &batch) } catch { failure = error }
            outcome.append(batch, firstLine: line)
            if let failure { throw failure.at(line: line) }
            line += batch.lineCount
        }
    } catch {
        var outer = Outcome()
        outer.error = error
        outer.forget(scratch)
        outcome.error = outer.error
    }
    return outcome
}

extension ReadOutcome {
    fileprivate mutating func append(_ batch: borrowing FixBatch, firstLine: Int) {
        let problems = Dictionary(uniqueKeysWithValues: batch.problems.map { ($0.index, $0.reason) })
        for index in 0..<batch.count {
            fixes.append(
                ReadFix(
                    line: firstLine + batch.lines[index], latitude: batch.positions[index].latitude,
                    longitude: batch.positions[index].longitude,
                    seconds: batch.times[index].map { Double($0.nanosecondsSince1970 / 1000) / 1e6 },
                    accuracy: batch.horizontalAccuracy(index),
                    track: batch.tracks.count > 0 ? batch.tracks[index].number : 0, problem: problems[index]))
        }
    }
}

/// Reads a text, and expects the same however much of it is read at a time.
func readInOrder(_ text: String, _ configure: (inout ConvertRun.Options) -> Void = { _ in }) -> ReadOutcome {
    let bytes = Array(text.utf8)
    let outcome = readInOrder(bytes, configure)
    for readBytes in [1, 7, 100] {
        let other = readInOrder(bytes, readBytes: readBytes, configure)
        precondition(other == outcome, "another outcome with \(readBytes) bytes: \(other) and \(outcome)")
    }
    return outcome
}

/// Runs gpsbabel; nil, with a word about it, where it is not installed.
func gpsbabel(_ arguments: [String]) throws -> Bool {
    let program = ["/usr/bin/gpsbabel", "/usr/local/bin/gpsbabel", "/opt/homebrew/bin/gpsbabel"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }
    guard let program else {
        print("skipped: gpsbabel is not installed")
        return false
    }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus == 0
}

/// A GPX of a track with a point every `seconds` seconds, from a fixed seed.
func gpxTrack(points: Int, seconds: Int, start: String = "2026-03-01T23:50:00Z") -> (gpx: String, fixes: [ReadFix]) {
    let formatter = ISO8601DateFormatter()
    let first = formatter.date(from: start)!
    var state: UInt64 = 14
    func step() -> Double {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Double(Int64(state >> 33)) / Double(1 << 31) - 0.5
    }
    var (latitude, longitude) = (-33.86, 151.2)
    var gpx = "<?xml version=\"1.0\"?><gpx version=\"1.1\" xmlns=\"http://www.topografix.com/GPX/1/1\"><trk><trkseg>\n"
    var fixes: [ReadFix] = []
    for index in 0..<points {
        (latitude, longitude) = (latitude + step() / 1000, longitude + step() / 1000)
        let time = first.addingTimeInterval(Double(index * seconds))
        gpx += String(
            format: "<trkpt lat=\"%.7f\" lon=\"%.7f\"><ele>100</ele><time>%@</time><fix>3d</fix></trkpt>\n", latitude,
            longitude,
            formatter.string(from: time))
        fixes.append(ReadFix(line: 0, latitude: latitude, longitude: longitude, seconds: time.timeIntervalSince1970))
    }
    return (gpx + "</trkseg></trk></gpx>\n", fixes)
}

extension [ReadFix] {
    /// Whether both have the same times and, within a tolerance in degrees, positions.
    func agree(with other: [ReadFix], within tolerance: Double) -> Bool {
        count == other.count
            && zip(self, other).allSatisfy {
                $0.seconds == $1.seconds && abs($0.latitude - $1.latitude) <= tolerance
                    && abs($0.longitude - $1.longitude) <= tolerance
            }
    }
}
