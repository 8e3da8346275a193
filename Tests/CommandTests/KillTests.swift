import CommandSupport
import FixedRandom
import Foundation
import Testing

/// What a kill, at any moment, and a full disk do to answers and their state (contract C12): none is given early, none
/// that was published is lost, and the next run completes them.
@Suite(.serialized) struct KillTests {
    let place = Workplace()

    /// Each fix is answered, for it is in an interval of its own, somewhere else.
    private static let devices = 20, fixesPerDevice = SampleSize.fixes.count

    /// Whose fixes the table has.
    enum Table: CaseIterable {
        /// Devices with keys, which are answered as their fixes come.
        case devices
        /// One person, who is answered at the end.
        case person

        static let texts: [Table: String] = Dictionary(uniqueKeysWithValues: allCases.map { ($0, $0.made()) })

        private func made() -> String {
            var random = SplitMix64(seed: 17)
            var text = (self == .devices ? "id," : "") + "time,lat,lon\n"
            for fix in 0..<KillTests.devices * fixesPerDevice {
                let (latitude, longitude) = (random.uniform(-60, 60), random.uniform(-180, 180))
                let (round, device) = fix.quotientAndRemainder(dividingBy: KillTests.devices)
                switch self {
                case .devices: text += "d\(device),\(1_700_000_000 + round * 900 + device),"
                case .person: text += "\(1_700_000_000 + fix * 900),"
                }
                text += String(format: "%.4f,%.4f\n", latitude, longitude)
            }
            return text
        }
    }

    /// The reports of an output, or of as much of it as came out: key, time, and a line that says the rest.
    private func reports(_ text: String, _ format: String) -> [String] {
        var key = ""
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        // A last line that is not whole was not reported. In GeoJSON the line ends when another one follows.
        if let last = lines.last, !(format == "geojson" && last.hasSuffix("}}")) { lines.removeLast() }
        return lines.compactMap { line in
            switch format {
            case "csv": return line.contains(",region,") ? nil : String(line)
            case "geojson":
                guard line.hasPrefix("{\"type\":\"Feature\",") else { return nil }
                return String(line.hasSuffix(",") ? line.dropLast() : line)
            default:
                if line.hasPrefix("<trk>") { key = String(line) }
                return line.hasPrefix("<trkpt") ? key + line : nil
            }
        }
    }

    /// Runs the command, and kills it after some microseconds; whether it had ended by then.
    private func run(_ arguments: [String], standardOutput name: String, killedAfter microseconds: UInt32?) throws
        -> Bool
    {
        let process = place.process(command, arguments)
        place.write("", as: name)
        process.standardOutput = try FileHandle(forWritingTo: place.folder.appendingPathComponent(name))
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        if let microseconds {
            usleep(microseconds)
            kill(process.processIdentifier, SIGKILL)
        }
        process.waitUntilExit()
        return process.terminationReason == .exit && process.terminationStatus == 0
    }

    private func arguments(_ format: String, isFile: Bool) -> [String] {
        ["convert", "table.csv", "--to", format, "--state", "state", "--threads", "1", "--accept-jumps"]
            + (isFile ? ["-o", "out"] : [])
    }

    /// What a run gives that nothing disturbs, and how long it takes.
    private func clean(_ table: Table, _ arguments: [String], _ format: String, isFile: Bool) throws -> (
        reports: Set<String>, microseconds: Int
    ) {
        place.write(Table.texts[table]!, as: "table.csv")
        let start = ContinuousClock.now
        #expect(try run(arguments, standardOutput: "printed", killedAfter: nil))
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let found = reports(place.read(isFile ? "out" : "printed")!, format)
        #expect(found.count == Self.devices * Self.fixesPerDevice && Set(found).count == found.count)
        return (Set(found), Int(seconds * 1e6))
    }

    private func forget() throws {
        for name in place.names where name != "table.csv" {
            try FileManager.default.removeItem(atPath: place.path(name))
        }
    }

    /// A way to run the command.
    struct Way: CustomTestStringConvertible {
        var table: Table
        var format: String
        var isFile: Bool
        var testDescription: String { "\(table) to \(format), \(isFile ? "a file" : "standard output")" }

        static let all = Table.allCases.flatMap { table in
            ["csv", "geojson", "gpx"].flatMap { format in
                [false, true].map { Way(table: table, format: format, isFile: $0) }
            }
        }
    }

    @Test(arguments: Way.all) func `kills lose nothing and buy nothing`(_ way: Way) throws {
        let (format, isFile) = (way.format, way.isFile)
        let arguments = arguments(format, isFile: isFile)
        let (expected, microseconds) = try clean(way.table, arguments, format, isFile: isFile)
        var random = SplitMix64(seed: isFile ? 5 : 6)
        for _ in 0..<SampleSize.kills.count / Way.all.count {
            try forget()
            var published: [[String]] = []
            var isDone = false
            // Killed up to three times, then left alone.
            for attempt in 0..<4 {
                let wait = UInt32.random(in: 0...UInt32(microseconds + 2_000), using: &random)
                isDone = try run(arguments, standardOutput: "printed", killedAfter: attempt == 3 ? nil : wait)
                if !isFile { published.append(reports(place.read("printed")!, format)) }
                if isFile, let text = place.read("out") {
                    published.append(reports(text, format))
                    try FileManager.default.removeItem(atPath: place.path("out"))
                }
                if isDone { break }
            }
            #expect(isDone)
            // All of the answers and no other ones: each is where and when it would have been without the kills. As a
            // device's answers are then an interval apart, none is early.
            #expect(Set(published.joined()) == expected)
            // Only what was being written when the run was killed comes twice.
            if isFile { #expect(published.joined().count == expected.count) }
            let leftovers = place.names.filter { $0.hasPrefix("state.") }
            #expect(leftovers.count <= 3, "\(leftovers)")
        }
    }

    @Test(arguments: Way.all) func `after a full disk the retry is complete`(_ way: Way) throws {
        let (format, isFile) = (way.format, way.isFile)
        let arguments = arguments(format, isFile: isFile)
        let expected = try clean(way.table, arguments, format, isFile: isFile).reports
        for kibibytes in [10, 100, 0, 1, 700, 1_500, 3_000].prefix(SampleSize.disks.count) {
            try forget()
            // The largest size of a file, in blocks of 512 bytes.
            let line = "ulimit -f \(2 * kibibytes); exec hereabouts \(arguments.joined(separator: " ")) > first"
            let status = try place.shell(line).status
            let first = reports(place.read(isFile ? "out" : "first") ?? "", format)
            #expect(status == (Set(first) == expected ? 0 : 2))
            if status == 0 { continue }
            #expect(!isFile || first.isEmpty)
            #expect(try run(arguments, standardOutput: "printed", killedAfter: nil))
            let second = reports(place.read(isFile ? "out" : "printed") ?? "", format)
            #expect(Set(first + second) == expected)
            #expect(place.names.filter { $0.hasSuffix(".partial") }.isEmpty)
        }
    }
}
