import Benchmark
import Foundation
import Hereabouts
import PointSets

/// The command from file to file, start of the process included. An iteration is a million rows, so that `--scale` gives
/// the time of one; each result is checked before it counts.
let benchmarks: @Sendable () -> Void = {
    // Parsing alone: after a first answer for each device all others are too early, and nothing is written.
    let silent = ["--interval", "8760h", "--to", "csv", "--threads", "1"]
    measure("parse CSV, 10,000 devices", .drive, devices: 10_000, .csv, ["convert"] + silent, rowsOut: 10_001)
    measure("parse GPX, one track", .drive, devices: 1, .gpx, ["convert"] + silent, rowsOut: 2)
    // Printing as well, with next to no look-ups: a fix in thirty is answered, and each is written.
    measure(
        "parse and print CSV, 10,000 devices", .drive, devices: 10_000, .csv,
        ["convert", "--emit", "fixes", "--to", "csv", "--threads", "1"], rowsOut: rows + 1)
    measure(
        "parse and print GPX, one track", .drive, devices: 1, .gpx,
        ["convert", "--emit", "fixes", "--to", "csv", "--threads", "1"], rowsOut: rows + 1)
    // End to end.
    for set in [PointSet.mixed, .drive] {
        for threads in ["1", "2"] {
            measure(
                "snap CSV, \(set.title), --threads \(threads)", set, devices: 1_000, .csv,
                ["snap", "--threads", threads], rowsOut: rows + 1)
        }
    }
}

private let rows = 1_000_000

/// Registers one benchmark of the command.
///
/// - Parameter rowsOut: The lines that must come out.
private func measure(
    _ name: String, _ set: PointSet, devices: Int, _ form: TableWriter.Form, _ arguments: [String], rowsOut: Int
) {
    let configuration = Benchmark.Configuration(
        metrics: [.wallClock, .throughput], timeUnits: .nanoseconds, warmupIterations: 1, scalingFactor: .mega,
        maxDuration: .seconds(8), maxIterations: 20)
    Benchmark(name, configuration: configuration) { benchmark, files in
        let run = arguments + [files.input, "--atlas", Project.atlasPath]
        benchmark.startMeasurement()
        let process = ChildProcess(Project.commandPath, run, output: files.output)
        benchmark.stopMeasurement()
        if let fault = try files.fault(process, rowsOut: rowsOut, isSnap: arguments[0] == "snap") {
            benchmark.error(fault)
        }
    } setup: {
        try Files(set, devices: devices, form)
    } teardown: {
        try? FileManager.default.removeItem(atPath: Files.folder)
    }
}

/// The input and the output of a run, in a folder of the process.
private struct Files {
    static let folder = NSTemporaryDirectory() + "hereabouts-benchmark-\(ProcessInfo.processInfo.processIdentifier)"

    let input: String, output: String
    private let atlas: Atlas
    private let table: TableWriter

    init(_ set: PointSet, devices: Int, _ form: TableWriter.Form) throws {
        try FileManager.default.createDirectory(atPath: Self.folder, withIntermediateDirectories: true)
        input = "\(Self.folder)/input.\(form.rawValue)"
        output = "\(Self.folder)/output"
        atlas = try Atlas(contentsOf: Project.atlasPath)
        let points = PointMaker(atlas: atlas, count: rows).points(set)
        table = TableWriter(points: points, devices: devices, interval: 30)
        try table.write(rows: rows, as: form, to: input)
    }

    /// What is wrong with a run; nil where nothing is.
    func fault(_ process: ChildProcess?, rowsOut: Int, isSnap: Bool) throws -> String? {
        guard let process, process.status == 0 else { return "the command failed" }
        if isSnap {
            try TableCheck(atlas: atlas).check(output, rows: rows, of: table)
            return nil
        }
        let lines = try Data(contentsOf: URL(fileURLWithPath: output)).count { $0 == UInt8(ascii: "\n") }
        return lines == rowsOut ? nil : "\(lines) lines came out, not \(rowsOut)"
    }
}
