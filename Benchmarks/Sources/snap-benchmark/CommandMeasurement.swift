import Foundation
import Hereabouts

/// Rows per second of `hereabouts snap`, a process of its own, from file to file.
struct CommandMeasurement {
    let name: String
    let rows: Int
    let bytesIn: Int
    /// The most memory the command held, MiB, the mapped atlas included.
    let peakMebibytes: Double
    let measurement: Measurement

    /// Writes the points as CSV (`id,time,lat,lon`) into a folder, runs the command on it, and checks every row.
    ///
    /// - Throws: `WrongResult` where the command fails or a row is not what the library answers.
    init(_ set: PointSet, atlas: Atlas, atlasPath: String, command: String, folder: URL, runs: Int) throws {
        name = set.name
        rows = set.coordinates.count
        let input = folder.appendingPathComponent("points.csv"), output = folder.appendingPathComponent("reduced.csv")
        let rounded = try Self.write(set.coordinates, to: input)
        var peak = 0.0
        measurement = try Measurement(runs: runs) {
            peak = max(peak, try Self.run(command, ["snap", input.path, "--atlas", atlasPath], output: output))
        }
        peakMebibytes = peak
        let written = try Data(contentsOf: output)
        bytesIn = try input.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
        try Self.check(written, rounded, atlas)
    }

    /// Runs the command with its standard output going to a file; returns the most memory it held, MiB.
    @discardableResult
    static func run(_ command: String, _ arguments: [String], output: URL) throws -> Double {
        guard let process = ChildProcess(command, arguments, output: output.path) else {
            throw WrongResult(description: "the command cannot be started")
        }
        guard process.status == 0 else {
            throw WrongResult(description: "the command ended with status \(process.status)")
        }
        return process.peakMebibytes
    }

    /// A thousand devices, a row a second each; returns the positions as written, to seven decimals.
    private static func write(_ coordinates: [Coordinate], to url: URL) throws -> [Coordinate] {
        var text = "id,time,lat,lon\n"
        text.reserveCapacity(coordinates.count * 56)
        var rounded: [Coordinate] = []
        rounded.reserveCapacity(coordinates.count)
        for (index, coordinate) in coordinates.enumerated() {
            let latitude = decimal(coordinate.latitude)
            let longitude = decimal(coordinate.longitude.remainder(dividingBy: 360))
            let second = index / 1_000
            let clock = "14:\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))"
            text += "d\(padded(index % 1_000, 5)),2026-05-09T\(clock)Z,"
            text += "\(latitude.text),\(longitude.text)\n"
            rounded.append(Coordinate(latitude: latitude.value, longitude: longitude.value))
        }
        try Data(text.utf8).write(to: url)
        return rounded
    }

    /// Degrees with seven decimals, and the number that text stands for.
    private static func decimal(_ degrees: Double) -> (text: String, value: Double) {
        let whole = Int((degrees * 1e7).rounded())
        let sign = whole < 0 ? "-" : ""
        let text = "\(sign)\(whole.magnitude / 10_000_000).\(padded(Int(whole.magnitude % 10_000_000), 7))"
        return (text, Double(whole) / 1e7)
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    /// Every row has the region that the library gives for the position written.
    private static func check(_ output: Data, _ coordinates: [Coordinate], _ atlas: Atlas) throws {
        let lines = output.split(separator: UInt8(ascii: "\n"))
        guard lines.count == coordinates.count + 1 else {
            throw WrongResult(description: "\(lines.count - 1) rows came out, not \(coordinates.count)")
        }
        let header = lines[0].split(separator: UInt8(ascii: ",")).map { String(decoding: $0, as: UTF8.self) }
        guard let column = header.firstIndex(of: "region") else {
            throw WrongResult(description: "the output has no column 'region'")
        }
        var identifiers: [Region: [UInt8]] = [:]
        for (line, coordinate) in zip(lines.dropFirst(), coordinates) {
            let region = try atlas.snap(coordinate)
            let expected = identifiers[region] ?? Array(atlas.reducedLocation(of: region).region.description.utf8)
            identifiers[region] = expected
            // The columns before it hold no quotes, since the input had none.
            let fields = line.split(separator: UInt8(ascii: ","), maxSplits: column + 1)
            guard fields.count > column, fields[column].elementsEqual(expected) else {
                throw WrongResult(description: "a row of the output has another region than the library gives")
            }
        }
    }
}
