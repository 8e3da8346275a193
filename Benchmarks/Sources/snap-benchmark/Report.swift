import Foundation
import Hereabouts

/// The whole run, printed as it goes.
struct Report {
    private let atlasPath: String, command: String
    private let atlas: Atlas
    /// Points of a set, rows of a file, and runs of each measurement.
    private let points: Int, rows: Int, runs: Int

    /// - Parameter isQuick: a hundredth of the work: shows that the benchmark still runs, measures nothing.
    init(atlasPath: String, command: String, isQuick: Bool) throws {
        self.atlasPath = atlasPath
        self.command = command
        atlas = try Atlas(contentsOf: atlasPath)
        points = isQuick ? 20_000 : 2_000_000
        rows = isQuick ? 10_000 : 1_000_000
        runs = isQuick ? 1 : 9
    }

    func print() throws {
        printMachine()
        try printSnaps()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("hereabouts-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try printRows(folder)
        try printStart(folder)
    }

    private func printMachine() {
        let machine = Machine()
        let bytes = (try? FileManager.default.attributesOfItem(atPath: atlasPath)[.size] as? Int) ?? 0
        Swift.print(
            """
            machine   \(machine.processor), \(machine.cores) cores, \(machine.system)
            compiler  \(machine.swift)
            atlas     \(decimals(Double(bytes) / 1_048_576, 2)) MiB, \(atlas.regionCount) regions

            """)
    }

    private func printSnaps() throws {
        Swift.print("Snap, one thread: nanoseconds per point, median of \(runs) runs (least to most)")
        Swift.print(row("points", ["one call each", "", "batch", "", "regions met"]))
        let sets = PointSets(atlas: atlas, count: points)
        let makers: [() -> PointSet?] = [
            sets.land, sets.mixed, sets.drive, { sets.sampleDrive("data/samples/i10-el-paso.gpx") }, sets.border,
            sets.ocean,
        ]
        for make in makers {
            guard let set = make() else { continue }
            let result = try SnapMeasurement(set, atlas: atlas, runs: runs)
            Swift.print(
                row(set.name, [
                    nanoseconds(result.single.median), range(result.single), nanoseconds(result.batch.median),
                    range(result.batch), "\(result.regionCount)",
                ]))
        }
    }

    private func printRows(_ folder: URL) throws {
        Swift.print("\n`hereabouts snap`, \(rows) rows of id,time,lat,lon, file to file, start of the process included")
        Swift.print(row("positions", ["ms", "(least–most)", "MB in", "rows/s", "MB/s in", "peak MiB"]))
        let sets = PointSets(atlas: atlas, count: rows)
        for set in [sets.mixed(), sets.drive()] {
            let result = try CommandMeasurement(
                set, atlas: atlas, atlasPath: atlasPath, command: command, folder: folder, runs: runs)
            let megabytes = Double(result.bytesIn) / 1e6, median = result.measurement.median
            Swift.print(
                row(result.name, [
                    decimals(median * 1e3, 0),
                    "(\(decimals(result.measurement.least * 1e3, 0))–\(decimals(result.measurement.most * 1e3, 0)))",
                    decimals(megabytes, 1), "\(Int(Double(result.rows) / median))", decimals(megabytes / median, 0),
                    decimals(result.peakMebibytes, 0),
                ]))
        }
    }

    /// From the start of the process to the end of one with a single answer.
    private func printStart(_ folder: URL) throws {
        let input = folder.appendingPathComponent("one.txt"), output = folder.appendingPathComponent("one.csv")
        try Data("31.7619 -106.4850\n".utf8).write(to: input)
        let start = try Measurement(runs: 3 * runs) {
            try CommandMeasurement.run(command, ["snap", input.path, "--atlas", atlasPath], output: output)
        }
        Swift.print(
            """

            One position, process start to end: \(decimals(start.median * 1e3, 1)) ms \
            (\(decimals(start.least * 1e3, 1))–\(decimals(start.most * 1e3, 1)))
            """)
    }

    // MARK: Text

    private func row(_ name: String, _ columns: [String]) -> String {
        let first = name + String(repeating: " ", count: max(0, 38 - name.count))
        return first + columns.map { String(repeating: " ", count: max(1, 14 - $0.count)) + $0 }.joined()
    }

    private func nanoseconds(_ seconds: Double) -> String { decimals(seconds * 1e9 / Double(points), 1) }

    private func range(_ measurement: Measurement) -> String {
        "(\(nanoseconds(measurement.least))–\(nanoseconds(measurement.most)))"
    }

    private func decimals(_ value: Double, _ count: Int) -> String { String(format: "%.\(count)f", value) }
}
