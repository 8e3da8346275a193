import Files
import Foundation
import Hereabouts
import Testing

@testable import Traces

/// Whether gpsbabel is installed.
private let hasGPSBabel: Bool = {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    let isThere = folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/gpsbabel") }
    if !isThere { print("skipped: gpsbabel is not installed") }
    return isThere
}()

private let ride = """
    <?xml version="1.0"?><gpx version="1.1" creator="x" xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>
    <trkpt lat="48.208234" lon="16.373721"><ele>170</ele><time>2026-03-01T08:00:00Z</time></trkpt>
    <trkpt lat="48.208834" lon="16.374321"><ele>171</ele><time>2026-03-01T08:20:00Z</time></trkpt>
    <trkpt lat="47.559612" lon="7.588634"><ele>172</ele><time>2026-03-01T12:40:00Z</time></trkpt></trkseg></trk></gpx>
    """

/// What gpsbabel makes of a file.
///
/// - Parameter points: the options that name which kinds of points.
private func gpsbabel(_ input: [UInt8], from: String, to: String, points: [String] = ["-w", "-r", "-t"]) throws
    -> [UInt8]
{
    let scratch = Scratch()
    let file = scratch.write(input, as: "in")
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments =
        ["gpsbabel", "-p", ""] + points + ["-i", from, "-f", file, "-o", to, "-F", scratch.path("out")]
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return try #require(scratch.read("out"))
}

@Suite(.enabled(if: hasGPSBabel)) struct GPSBabelTests {
    /// The answers for the ride as GPX.
    private let expected = convert(ride) { $0.format = .csv }.output

    @Test(arguments: [
        ("garmin_fit", "ride.fit"), ("gdb", "ride.gdb"), ("gtm", "ride.gtm"), ("magellanx", "-i gpx.UPT"),
        ("gtrnctr", "ride.tcx"),
        ("kml,track=1", "ride.kml"), ("kml", "ride.kml"),
    ])
    func `a ride in another format is the same ride`(_ format: String, _ name: String) throws {
        let file = try gpsbabel(Array(ride.utf8), from: "gpx", to: format)
        for readBytes in [100, 1 << 18] {
            let outcome = convert([(name: name, bytes: file)]) { ($0.format, $0.readBytes) = (.csv, readBytes) }
            #expect(outcome.error == nil && outcome.summary.badRecords == 0)
            #expect(outcome.output == expected)
        }
    }

    @Test func `a FIT file is known by its content and may be compressed`() throws {
        let file = try gpsbabel(Array(ride.utf8), from: "gpx", to: "garmin_fit")
        #expect(convert([file]) { $0.format = .csv }.output == expected)
        let compressor = Compressor(.gzip)
        var packed: [UInt8] = []
        unsafe file.withUnsafeBufferPointer { bytes in
            unsafe compressor.write(bytes, flush: .end) { unsafe packed += Array($0) }
        }
        #expect(convert([(name: "ride.fit.gz", bytes: packed)]) { $0.format = .csv }.output == expected)
    }

    @Test func `outputs are read back as they were written`() throws {
        for format in [TraceFormat.kml, .kmz, .gpx] {
            var written = convert(ride) { $0.format = format }.output
            // gpsbabel knows no archives.
            if format == .kmz { written = try unzipped(written) }
            let isGPX = format == .gpx
            let table = try gpsbabel(
                written, from: isGPX ? "gpx" : "kml", to: "unicsv", points: [isGPX ? "-t" : "-w"])
            let rows = String(decoding: table, as: UTF8.self).split(whereSeparator: \.isNewline).dropFirst()
            #expect(rows.count == 2)
            let vienna = try center(48.208234, 16.373721), basel = try center(47.559612, 7.588634)
            for (row, place) in zip(rows, [vienna, basel]) {
                let fields = row.split(separator: ",", omittingEmptySubsequences: false)
                #expect(Double(fields[1]) == Double(place.latitude) && Double(fields[2]) == Double(place.longitude))
            }
        }
    }

    /// The document of an archive, as Python reads it.
    private func unzipped(_ archive: [UInt8]) throws -> [UInt8] {
        let scratch = Scratch()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let program = """
            import sys, zipfile
            archive = zipfile.ZipFile(sys.argv[1])
            assert archive.testzip() is None and archive.namelist() == ['doc.kml']
            open(sys.argv[2], 'wb').write(archive.read('doc.kml'))
            """
        process.arguments = ["python3", "-c", program, scratch.write(archive, as: "in"), scratch.path("out")]
        try process.run()
        process.waitUntilExit()
        return try #require(scratch.read("out"))
    }

    @Test func `a damaged file is an error with gpsbabel's status`() throws {
        let file = try gpsbabel(Array(ride.utf8), from: "gpx", to: "garmin_fit")
        let outcome = convert([(name: "ride.fit", bytes: Array(file.prefix(60)))]) { $0.format = .csv }
        #expect(outcome.error == .gpsbabelFailed(file: "ride.fit", status: 1) && outcome.output.isEmpty)
        let none = convert([(name: "ride.gdb", bytes: [7, 3, 0, 9])])
        #expect(none.error == .gpsbabelFailed(file: "ride.gdb", status: 1))
    }

    @Test(arguments: ["gdb", "gtm", "magellanx", "garmin_fit", "lowranceusr,wversion=4"])
    func `contents say what a file is`(_ format: String) throws {
        let file = try gpsbabel(Array(ride.utf8), from: "gpx", to: format)
        for name in ["ride", "ride.dat", "ride.csv"] {
            #expect(convert([(name: name, bytes: file)]) { $0.format = .csv }.output == expected, "\(name)")
        }
    }

    /// Lowrance's USR 2 has no times for tracks, and no signature.
    @Test func `an extension says what bytes are that are no text`() throws {
        let file = try gpsbabel(Array(ride.utf8), from: "gpx", to: "lowranceusr")
        let outcome = convert([(name: "ride.usr", bytes: file)]) { $0.format = .csv }
        #expect(outcome.error == nil && outcome.summary.records == 3)
        #expect(convert([(name: "ride.dat", bytes: file)]).error == .notRead(file: "ride.dat", .binary))
    }

    /// A result without a point shows that the name misleads.
    @Test func `a guess by extension needs a point`() throws {
        let empty = try gpsbabel(
            Array("<gpx version=\"1.1\" creator=\"x\" xmlns=\"http://www.topografix.com/GPX/1/1\"/>".utf8), from: "gpx",
            to: "lowranceusr")
        #expect(convert([(name: "a.usr", bytes: empty)]).error == .gpsbabelFoundNothing(file: "a.usr"))
        // Named by an option it is the user's word.
        let named = convert([(name: "a.usr", bytes: empty)]) {
            $0.inputFormat = .gpsbabel(named: "gpsbabel:lowranceusr")
        }
        #expect(named.error == nil && named.notices == [.noPoints(file: "a.usr")])
    }

    /// What a text is, its first lines say, or an option.
    @Test func `a text is not gpsbabel's by its name`() throws {
        let table = "time,lat,lon\n2026-03-01T08:00:00Z,48.208234,16.373721\n"
        for name in ["a.plt", "a.trc", "a.usr", "a.fit", "a.xol", "a.upt", "a.gdb"] {
            #expect(convert([(name: name, bytes: Array(table.utf8))]) { $0.format = .csv }.summary.records == 1)
            let other = convert([(name: name, bytes: Array("Some notes\nof mine\n".utf8))])
            #expect(other.error == .noColumn(file: name, axis: .latitude, columns: []))
        }
        let xml = convert([(name: "a.xol", bytes: Array("<?xml version=\"1.0\"?><overlays/>".utf8))])
        #expect(xml.error == .otherRoot(file: "a.xol", format: "GPX"))
        #expect(
            GPSBabelFormat.hint(ofText: "x/a.xol.gz") == "if it is what gpsbabel calls xol, add --from gpsbabel:xol")
        #expect(GPSBabelFormat.hint(ofText: "x.xol/a.csv") == nil)
    }

    @Test func `an option names a format of gpsbabel's`() throws {
        // This program reads unicsv too; gpsbabel's reader is asked all the same.
        let text = Array("lat,lon,date,time\n48.208234,16.373721,2026/03/01,08:00:00\n".utf8)
        let outcome = convert([(name: "a.txt", bytes: text)]) {
            ($0.format, $0.inputFormat) = (.csv, .gpsbabel(named: "gpsbabel:unicsv"))
        }
        #expect(outcome.error == nil && outcome.rows[1].hasPrefix("1,2026-03-01T08:00:00Z,"))
        #expect(
            convert([(name: "a.txt", bytes: text)]) { $0.inputFormat = .gpsbabel(named: "gpsbabel:garmin_fit") }.error
                == .gpsbabelFailed(file: "a.txt", status: 1))
        for name in ["gpsbabel", "gpsbabel:", "gpsbabel:xcsv,style=x", "gpsbabel:../a", "gpx:x", "gpsbabel:a b"] {
            #expect(TraceFormat.gpsbabel(named: name) == nil)
        }
    }

    @Test func `contents of a known kind are not gpsbabel's`() throws {
        // Whatever the name says.
        #expect(convert([(name: "ride.gdb", bytes: Array(ride.utf8))]) { $0.format = .csv }.output == expected)
        #expect(
            convert([(name: "ride.fit", bytes: [0x89, 0x50, 0x4e, 0x47, 0, 0])]).error
                == .notRead(file: "ride.fit", .image))
    }
}

/// A program in gpsbabel's place that does as it likes.
@Suite struct SlowGPSBabelTests {
    private let scratch = Scratch()

    /// Converts a file by a script.
    private func run(_ script: String, bytes: Int = 100, seconds: Int = 1) -> (outcome: Outcome, time: Duration) {
        let path = scratch.write(Array("#!/bin/sh\n\(script)\n".utf8), as: "program")
        #expect(unsafe chmod(path, 0o755) == 0)
        let start = ContinuousClock.now
        let outcome = convert([(name: "a.bin", bytes: [UInt8](repeating: 7, count: bytes))]) {
            ($0.format, $0.inputFormat) = (.csv, .gpsbabel(named: "gpsbabel:ozi"))
            ($0.gpsbabel.name, $0.gpsbabel.seconds, $0.gpsbabel.bytesPerSecond) = (path, seconds, 1000)
        }
        return (outcome, ContinuousClock.now - start)
    }

    private static let head = "echo '<gpx version=\"1.1\" creator=\"x\" xmlns=\"http://www.topografix.com/GPX/1/1\">'"

    /// It says nothing, or has said all and does not end, or does not end saying something.
    @Test(arguments: [
        "exec sleep 100", "\(head); echo '</gpx>'; exec >&-; sleep 100", "\(head); while :; do echo '<wpt/>'; done",
        "\(head); while :; do echo ' '; sleep 0.1; done",
    ])
    func `a program that does not end is killed in time`(_ script: String) {
        let (outcome, time) = run(script)
        #expect(outcome.error == .gpsbabelTooSlow(file: "a.bin", seconds: 1) && outcome.output.isEmpty)
        #expect(time >= .seconds(1) && time < .seconds(20))
    }

    @Test func `a large file has more time`() {
        let script =
            "sleep 2; \(Self.head); echo '<wpt lat=\"1\" lon=\"2\"><time>2026-03-01T08:00:00Z</time></wpt></gpx>'"
        #expect(run(script, bytes: 999).outcome.error == .gpsbabelTooSlow(file: "a.bin", seconds: 1))
        let (outcome, _) = run(script, bytes: 30_000)
        #expect(outcome.error == nil && outcome.summary.records == 1)
        #expect(GPSBabelProgram().seconds(forBytes: 99_999) == 60 && GPSBabelProgram().seconds(forBytes: 1 << 20) == 70)
    }

    /// Whether it ends by itself or is killed.
    @Test(arguments: ["wait", "\(head); echo '</gpx>'; exit 0", "exit 3"])
    func `what a program started ends with it`(_ end: String) throws {
        let file = scratch.path("pids")
        let (_, time) = run(
            "sleep 300 >/dev/null & echo $! >'\(file)'; (sleep 300 >/dev/null & echo $! >>'\(file)'); \(end)")
        #expect(time < .seconds(20))
        let children = String(decoding: try #require(scratch.read("pids")), as: UTF8.self).split(separator: "\n")
        #expect(children.count == 2)
        for child in children {
            let number = try #require(pid_t(child))
            // Whoever inherits it may not have waited for it yet.
            var isGone = false
            for _ in 0..<500 where !isGone {
                let state = try? String(contentsOfFile: "/proc/\(number)/stat", encoding: .utf8)
                isGone = kill(number, 0) != 0 || state?.contains(") Z ") == true
                if !isGone { usleep(10_000) }
            }
            #expect(isGone)
        }
    }
}

@Suite struct ChildProcessTests {
    private func output(_ arguments: [String], input: [UInt8]) throws -> (text: String, status: Int32) {
        let scratch = Scratch()
        let file = try #require(FileHandle(forReadingAtPath: scratch.write(input, as: "in")))
        var process = try ChildProcess(arguments, input: file.fileDescriptor)
        let handle = FileHandle(fileDescriptor: process.takeOutput(), closeOnDealloc: true)
        let text = String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self)
        let status = process.wait()
        return (text, try #require(status))
    }

    @Test func `output and status come back`() throws {
        #expect(try output(["cat"], input: Array("abc".utf8)) == ("abc", 0))
        #expect(try output(["sh", "-c", "exit 7"], input: []) == ("", 7))
        #expect(try output(["sh", "-c", "kill -9 $$"], input: []) == ("", 137))
        // Signals that we ignore are not ignored there, and our files are closed.
        #expect(try output(["sh", "-c", "kill -PIPE $$; echo no"], input: []) == ("", 141))
        #expect(
            try output(["sh", "-c", "env | grep -v ^PWD= | cut -d= -f1 | sort"], input: []).text.contains(
                "LC_ALL\nPATH\n"))
        #expect(throws: SystemError(number: ENOENT)) { try output(["no-such-program-here"], input: []) }
    }

    @Test func `a program that runs on is killed with the value`() throws {
        let null = try #require(FileHandle(forReadingAtPath: "/dev/null"))
        let start = ContinuousClock.now
        for _ in 0..<3 { _ = try ChildProcess(["sleep", "100"], input: null.fileDescriptor) }
        #expect(ContinuousClock.now - start < .seconds(20))
    }
}
