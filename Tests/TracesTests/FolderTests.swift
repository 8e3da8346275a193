import FixedRandom
import Foundation
import Hereabouts
import Synchronization
import Testing

@testable import Traces

/// A folder's files are paced as one recording, whatever they were cut into (contract C9).
@Suite struct FolderTests {
    let scratch = Scratch()

    typealias TimedPosition = (seconds: Int, latitude: Double, longitude: Double)

    /// A track of fixes along a drive.
    static func gpx(_ fixes: [TimedPosition]) -> [UInt8] {
        var text = "<gpx version=\"1.1\" creator=\"t\" xmlns=\"http://www.topografix.com/GPX/1/1\"><trk><trkseg>\n"
        for fix in fixes {
            text +=
                "<trkpt lat=\"\(fix.latitude)\" lon=\"\(fix.longitude)\"><time>\(Self.time(fix.seconds))</time></trkpt>\n"
        }
        return Array((text + "</trkseg></trk></gpx>\n").utf8)
    }

    static func time(_ seconds: Int) -> String {
        Date(timeIntervalSince1970: 1_772_323_200 + Double(seconds)).ISO8601Format()
    }

    /// A fix each minute for four hours, northward at 90 km/h.
    static let drive: [TimedPosition] = (0..<240).map { (minute: Int) -> TimedPosition in
        (minute * 60 + 7, 44 + Double(minute) * 0.0135, 5 + Double(minute) * 0.001)
    }

    /// The fixes of some minutes.
    static func drive(_ isPart: (_ minute: Int) -> Bool) -> [TimedPosition] {
        drive.indices.filter(isPart).map { drive[$0] }
    }

    private static var options: FolderRun.Options {
        var options = FolderRun.Options()
        (options.format, options.convert.emission, options.convert.devices) = (.csv, .recomputations, .folder)
        options.convert.threads = 2
        return options
    }

    private func plan(_ options: FolderRun.Options) throws -> FolderPlan {
        try FolderPlan(scratch.path("in"), output: nil, options: options.convert, format: .csv, compression: nil)
    }

    func run(
        _ folder: String = "in", to output: String = "out", _ change: (inout FolderRun.Options) -> Void = { _ in },
        observer: FolderObserver = FolderObserver()
    ) throws(TraceError) -> FolderSummary {
        var options = Self.options
        change(&options)
        return try FolderRun.run(
            scratch.path(folder), to: scratch.path(output), atlas: worldAtlas, options: options, observer: observer)
    }

    /// All rows of all outputs below a folder, by their times.
    func rows(_ output: String = "out") -> [String] {
        let paths = FileManager.default.subpaths(atPath: scratch.path(output)) ?? []
        return paths.filter { $0.hasSuffix(".csv") }.flatMap { path in
            String(decoding: scratch.read("\(output)/\(path)") ?? [], as: UTF8.self).split(separator: "\n").dropFirst()
                .map { $0.split(separator: ",", maxSplits: 1).last.map(String.init) ?? "" }
        }.sorted()
    }

    /// What a single file of all fixes gives.
    private func whole() throws -> [String] {
        _ = scratch.write(Self.gpx(Self.drive), as: "whole/all.gpx")
        _ = try run("whole", to: "one")
        return rows("one")
    }

    @Test(arguments: 0..<6) func `how a drive is cut into files changes no answer`(_ seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed))
        let expected = try whole()
        #expect(expected.count == 16)
        // Files that overlap, cut anywhere, in folders, with names that are in no order.
        var parts: [Int: [TimedPosition]] = [:]
        let count = 2 + Int(random.uniform(0, 60))
        for (minute, fix) in Self.drive.enumerated() {
            let part = seed % 2 == 0 ? Int(random.uniform(0, Double(count))) : (minute * count / 240 * 37) % count
            parts[part, default: []].append(fix)
        }
        for (part, fixes) in parts { _ = scratch.write(Self.gpx(fixes), as: "in/\(part % 3)/\(part).gpx") }
        let summary = try run()
        #expect(summary.converted == parts.count && summary.devices == 1 && summary.records.records == 240)
        #expect(rows() == expected)
    }

    @Test func `the number of threads changes nothing`() throws {
        for part in 0..<40 {
            _ = scratch.write(Self.gpx(Self.drive { $0 % 40 == part }), as: "in/\(part).gpx")
        }
        _ = try run(to: "two")
        _ = try run(to: "one") { $0.convert.threads = 1 }
        for part in 0..<40 { #expect(scratch.read("one/\(part).csv") == scratch.read("two/\(part).csv")) }
    }

    /// A file is converted as it would be alone, but for its neighbors.
    @Test(arguments: [Emission.changes, .recomputations, .fixes]) func `one file is as it is alone`(
        _ emission: Emission
    ) throws {
        let path = scratch.write(Self.gpx(Self.drive), as: "in/a.gpx")
        _ = try run { $0.convert.emission = emission }
        var options = ConvertRun.Options()
        (options.format, options.emission) = (.csv, emission)
        let alone = observed(Scratch()) { (output, observer) throws(TraceError) in
            try ConvertRun.run([.file(path)], to: output, atlas: worldAtlas, options: options, observer: observer)
        }
        #expect(scratch.read("out/a.csv") == alone.output && !alone.output.isEmpty)
    }

    /// Keys and times are disguised as they are in a single file.
    @Test func `keys and times are disguised`() throws {
        let table =
            "id,time,lat,lon\n"
            + Self.drive.map { "van,\(Self.time($0.seconds)),\($0.latitude),\($0.longitude)\n" }.joined()
        let path = scratch.write(Array(table.utf8), as: "in/a.csv")
        var options = ConvertRun.Options()
        (options.format, options.emission) = (.csv, .recomputations)
        options.disguise.renaming = SecretKey(bytes: Array(0..<32))
        options.disguise.timePrecision = .seconds(3600)
        _ = try run { $0.convert.disguise = options.disguise }
        let alone = observed(Scratch()) { (output, observer) throws(TraceError) in
            try ConvertRun.run([.file(path)], to: output, atlas: worldAtlas, options: options, observer: observer)
        }
        #expect(scratch.read("out/a.csv") == alone.output)
        #expect(!String(decoding: alone.output, as: UTF8.self).contains("van"))
    }

    @Test func `a key is one device in whichever file`() throws {
        func table(_ minutes: [Int], _ keys: [String]) -> [UInt8] {
            var text = "id,time,lat,lon\n"
            for minute in minutes {
                for key in keys {
                    let fix = Self.drive[minute]
                    text += "\(key),\(Self.time(fix.seconds)),\(fix.latitude),\(fix.longitude)\n"
                }
            }
            return Array(text.utf8)
        }
        // The later part comes first in order of names, and both have fixes of the same interval.
        _ = scratch.write(table(Array(100..<240), ["x", "y"]), as: "in/a.csv")
        _ = scratch.write(table(Array(0..<100), ["x"]), as: "in/b.csv")
        _ = scratch.write(Self.gpx(Self.drive), as: "in/me.gpx")
        let summary = try run()
        #expect(summary.devices == 3 && summary.converted == 3)
        let all = ["a", "b"].flatMap {
            String(decoding: scratch.read("out/\($0).csv") ?? [], as: UTF8.self).split(separator: "\n")
        }
        #expect(all.count { $0.hasPrefix("x,") } == 16 && all.count { $0.hasPrefix("y,") } == 10)
        let times = all.filter { $0.hasPrefix("x,") }.map { $0.split(separator: ",")[1] }
        #expect(Set(times).count == 16)
    }

    @Test func `subfolders and names are devices if asked for`() throws {
        for name in ["ann/1.gpx", "ann/2.gpx", "bob/1.gpx", "3.gpx"] {
            _ = scratch.write(Self.gpx(Self.drive), as: "in/" + name)
        }
        #expect(try run().devices == 1 && rows().count == 16)
        #expect(try run { $0.convert.devices = .subfolders }.devices == 3 && rows().count == 3 * 16)
        #expect(try run { $0.convert.devices = .files }.devices == 3 && rows().count == 3 * 16)
        #expect(try run { $0.convert.devices = .tracks }.devices == 4 && rows().count == 4 * 16)
    }

    // MARK: Which files

    @Test func `what is not a trace is counted by its kind`() throws {
        _ = scratch.write(Self.gpx(Self.drive), as: "in/a.gpx")
        _ = scratch.write([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10], as: "in/photo.png")
        _ = scratch.write(Array("Read me, please\n".utf8), as: "in/README.md")
        _ = scratch.write(Array("<project/>".utf8), as: "in/pom.xml")
        _ = scratch.write(Self.gpx(Self.drive), as: "in/.hidden.gpx")
        _ = scratch.write(Self.gpx(Self.drive), as: "in/.git/b.gpx")
        _ = scratch.write(Self.gpx(Self.drive), as: "elsewhere/c.gpx")
        for (name, target) in [("link.gpx", "../elsewhere/c.gpx"), ("loop", "."), ("up", "..")] {
            try FileManager.default.createSymbolicLink(
                atPath: scratch.path("in/\(name)"), withDestinationPath: target)
        }
        let summary = try run("in", to: "in/out")
        #expect(summary.converted == 1)
        #expect(
            summary.skipped == [
                "an image": 1, "other text": 1, "XML": 1, "hidden files and folders": 2, "symbolic links": 3,
            ])
        // Nor is the output read the next time.
        #expect(try run("in", to: "in/out").skipped["the folder of the output"] == 1)
        #expect(try run("in", to: "in/out").converted == 1)
    }

    @Test func `no two outputs have one name`() throws {
        let names = [
            "a.gpx", "a.GPX", "a.gpx.gpx", "a.csv", "b.gpx", "A.csv.csv", "d/a.gpx", "e.2.gpx", ".x.gpx", "noext",
        ]
        let csv = Array("time,lat,lon\n2026-03-01T00:00:00Z,1,2\n".utf8)
        for name in names { _ = scratch.write(name.contains("csv") ? csv : Self.gpx(Self.drive), as: "in/\(name)") }
        let plan = try FolderPlan(
            scratch.path("in"), output: nil, options: .init(), format: .gpx, compression: nil)
        let outputs = Dictionary(uniqueKeysWithValues: plan.inputs.map { ($0.file.name, $0.output) })
        #expect(Set(outputs.values.map { $0.lowercased() }).count >= outputs.count - 1)
        #expect(Set(outputs.values).count == outputs.count && outputs.count == names.count - 1)
        #expect(outputs["a.csv"] == "a.csv.gpx" && outputs["b.gpx"] == "b.gpx" && outputs["d/a.gpx"] == "d/a.gpx")
        #expect(outputs["e.2.gpx"] == "e.2.gpx" && outputs["noext"] == "noext.gpx")
    }

    @Test func `outputs never replace inputs`() throws {
        _ = scratch.write(Self.gpx(Self.drive), as: "in/sub/sub/a.gpx")
        _ = scratch.write(Self.gpx(Self.drive), as: "in/sub/a.gpx")
        for (folder, output) in [("in", "in"), ("in/sub", "in")] {
            #expect(throws: TraceError.self) { try run(folder, to: output) { $0.format = .gpx } }
        }
        #expect(scratch.read("in/sub/a.gpx") == Self.gpx(Self.drive))
        #expect(!FileManager.default.fileExists(atPath: scratch.path("in/.hereabouts-run")))
    }

    // MARK: Bad files

    @Test func `a bad file has no part in any answer`() throws {
        let expected = try whole()
        _ = scratch.write(Self.gpx(Self.drive), as: "in/a.gpx")
        // Newer fixes of every interval, in a document that breaks off.
        let other = Self.drive.map { fix -> TimedPosition in (fix.seconds + 20, -fix.latitude, fix.longitude) }
        _ = scratch.write(Array(Self.gpx(other).dropLast(30)), as: "in/b.gpx")
        _ = scratch.write([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 2, 3], as: "in/c.gpx.gz")
        final class Notes { var failures: [String: TraceError] = [:] }
        let notes = Notes()
        let summary = try run(observer: FolderObserver(read: { notes.failures[$0.file] = $0.failure }))
        #expect(summary.converted == 1 && summary.failed == 2 && notes.failures.count == 2)
        #expect(rows() == expected)
    }

    @Test func `the first bad record may end the run`() throws {
        _ = scratch.write(Self.gpx(Self.drive), as: "in/a.gpx")
        _ = scratch.write(Array("time,lat,lon\n2026-03-01T00:00:00Z,99,2\n".utf8), as: "in/b.csv")
        #expect(throws: TraceError.stopped) { try run { $0.convert.onError = .stop } }
        #expect(FileManager.default.subpaths(atPath: scratch.path("out")) == [])
    }

    @Test func `points without times are not answered beside times`() throws {
        _ = scratch.write(Self.gpx(Self.drive), as: "in/a.gpx")
        let bare = Self.gpx(Self.drive).split(separator: UInt8(ascii: "\n")).map { line in
            String(decoding: line, as: UTF8.self).replacing(/<time>.*<\/time>/, with: "")
        }
        _ = scratch.write(Array(bare.joined(separator: "\n").utf8), as: "in/b.gpx")
        let summary = try run()
        #expect(summary.records.badRecords == 240 && rows().count == 16)
        // Of another person there are no times.
        #expect(try run { $0.convert.devices = .files }.records.badRecords == 0)
    }

    // MARK: Going on

    private func cut() {
        for part in 0..<24 {
            // Neighbors share an interval, and each has the newest fix of one.
            let fixes = Self.drive { $0 / 20 == part / 2 && $0 % 2 == part % 2 }
            _ = scratch.write(Self.gpx(fixes), as: "in/\(part).gpx")
        }
    }

    private func outputs() -> [String: [UInt8]] {
        let names = (try? FileManager.default.subpathsOfDirectory(atPath: scratch.path("out"))) ?? []
        return Dictionary(uniqueKeysWithValues: names.map { ($0, scratch.read("out/\($0)") ?? []) })
    }

    @Test func `what an interrupted run left is completed`() throws {
        cut()
        _ = try run()
        let complete = outputs()
        #expect(complete.count == 24)
        var random = SplitMix64(seed: 3)
        for _ in 0..<10 {
            try FileManager.default.removeItem(atPath: scratch.path("out"))
            // As if it had been interrupted: its mark is there, and some outputs are not.
            var mark = try RunMark(
                output: scratch.path("out"), plan: try plan(Self.options), atlas: worldAtlas, options: Self.options)
            try mark.write()
            _ = consume mark
            for (name, bytes) in complete where random.uniform(0, 1) < 0.5 {
                _ = scratch.write(bytes, as: "out/\(name)")
            }
            let summary = try run { $0.skipsExisting = true }
            #expect(summary.reserved == 0 && outputs() == complete)
        }
    }

    /// Whenever a run that goes on is killed, the next knows what that one knew.
    @Test func `a mark is never less than it was`() throws {
        cut()
        _ = try run()
        let complete = outputs()
        var options = Self.options
        options.skipsExisting = true
        let plan = try plan(options)
        func mark() throws -> [UInt8] {
            var mark = try RunMark(output: scratch.path("out"), plan: plan, atlas: worldAtlas, options: options)
            try mark.write()
            return try #require(scratch.read("out/\(RunMark.name)"))
        }
        try FileManager.default.removeItem(atPath: scratch.path("out"))
        let first = try mark()
        for (name, bytes) in complete { _ = scratch.write(bytes, as: "out/\(name)") }
        #expect(try mark() == first)
        // A run with other settings adds its line, and may be killed at each byte.
        options.convert.interval = .seconds(1800)
        let second = try mark()
        #expect(second.starts(with: first) && second.count > first.count + 20)
        for end in stride(from: first.count, to: second.count, by: 7) {
            _ = scratch.write(Array(second[..<end]), as: "out/\(RunMark.name)")
            for name in complete.keys.sorted().dropFirst(12) {
                try FileManager.default.removeItem(atPath: scratch.path("out/\(name)"))
            }
            let summary = try run { $0.skipsExisting = true }
            #expect(summary.reserved == 0 && summary.kept == 12 && outputs() == complete)
        }
        // Of a mark that never was whole nothing was written.
        _ = scratch.write(Array(first.dropLast()), as: "out/\(RunMark.name)")
        #expect(try run { $0.skipsExisting = true }.kept == 24)
        #expect(outputs() == complete)
    }

    /// Half of a mark would be another decision about what stays.
    @Test func `a mark that cannot be read ends the run`() throws {
        cut()
        let path = scratch.path("out/\(RunMark.name)")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        for isDry in [false, true] {
            #expect(throws: TraceError.notAFile(file: path)) { try run { $0.isDry = isDry } }
        }
    }

    @Test func `ticks of outputs that stay are not answered again`() throws {
        cut()
        // Odd minutes have the newest fix of most intervals, and come later.
        for part in 0..<24 where part % 2 == 1 {
            try FileManager.default.moveItem(
                atPath: scratch.path("in/\(part).gpx"), toPath: scratch.path("\(part).gpx"))
        }
        _ = try run()
        let before = outputs(), answered = rows()
        for part in 0..<24 where part % 2 == 1 {
            try FileManager.default.moveItem(
                atPath: scratch.path("\(part).gpx"), toPath: scratch.path("in/\(part).gpx"))
        }
        let summary = try run { $0.skipsExisting = true }
        #expect(summary.kept == 12 && summary.reserved > 100)
        let after = outputs()
        for (name, bytes) in before { #expect(after[name] == bytes) }
        #expect(rows() == answered)
        // Anew, all of it is answered from the newest fixes.
        #expect(try run().reserved == 0)
        let expected = try whole()
        #expect(rows() == expected)
    }

    @Test func `old and new outputs are not mixed`() throws {
        cut()
        _ = try run { $0.convert.interval = .seconds(1800) }
        // A run that replaces is interrupted, which is to say that its mark stays.
        let old = outputs()
        let options = FolderRun.Options()
        let plan = try plan(options)
        do {
            var mark = try RunMark(output: scratch.path("out"), plan: plan, atlas: worldAtlas, options: options)
            try mark.write()
        }
        #expect(try run { $0.skipsExisting = true }.kept == 0)
        let expected = try whole()
        #expect(rows() == expected && outputs() != old)
    }

    @Test func `two runs do not write to one folder`() throws {
        cut()
        _ = try run()
        let options = FolderRun.Options()
        let plan = try plan(options)
        let mark = try RunMark(output: scratch.path("out"), plan: plan, atlas: worldAtlas, options: options)
        #expect(throws: TraceError.folderInUse(scratch.path("out"))) { try run() }
        _ = consume mark
        _ = try run()
    }

    /// A run that ends removes its mark: one that had opened it by then must not hold a lock that the next does not see.
    @Test func `only one run holds a folder`() throws {
        cut()
        let output = scratch.path("out"), plan = try plan(Self.options)
        let holders = Atomic(0), others = Atomic(0), held = Atomic(0)
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            while held.load(ordering: .relaxed) < 2_000 {
                guard let mark = try? RunMark(output: output, plan: plan, atlas: worldAtlas, options: Self.options)
                else { continue }
                others.add(holders.add(1, ordering: .relaxed).oldValue, ordering: .relaxed)
                held.add(1, ordering: .relaxed)
                usleep(100)
                holders.subtract(1, ordering: .relaxed)
                _ = consume mark
            }
        }
        #expect(others.load(ordering: .relaxed) == 0)
    }

    @Test func `a dry run writes nothing`() throws {
        cut()
        let dry = try run { $0.isDry = true }
        #expect(scratch.names == ["in"])
        let wet = try run()
        #expect(dry.records == wet.records && dry.converted == wet.converted && dry.statistics == wet.statistics)
    }
}
