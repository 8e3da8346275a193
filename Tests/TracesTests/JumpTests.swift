import FixedRandom
import Foundation
import Hereabouts
import Testing

@testable import Traces

/// A fix of a recording: minutes since 2026-05-01 08:00 UTC, and where.
private typealias Place = (minute: Double, latitude: Double, longitude: Double)

private func time(_ minute: Double) -> String {
    Date(timeIntervalSince1970: 1_777_622_400 + 60 * minute).formatted(.iso8601)
}

/// A table without keys.
private func table(_ fixes: [Place], keys: [String]? = nil) -> [UInt8] {
    let rows = fixes.enumerated().map { index, fix in
        (keys.map { "\($0[index])," } ?? "") + "\(time(fix.minute)),\(fix.latitude),\(fix.longitude)\n"
    }
    return Array(((keys == nil ? "" : "device_id,") + "time,lat,lon\n" + rows.joined()).utf8)
}

private func gpx(_ tracks: [[Place]]) -> [UInt8] {
    let text = tracks.map { fixes in
        let points = fixes.map {
            "<trkpt lat=\"\($0.latitude)\" lon=\"\($0.longitude)\"><time>\(time($0.minute))</time></trkpt>"
        }
        return "<trk><trkseg>\(points.joined())</trkseg></trk>\n"
    }
    return Array("<gpx>\n\(text.joined())</gpx>\n".utf8)
}

private func geoJSON(_ fixes: [Place]) -> [UInt8] {
    let features = fixes.map {
        """
        {"type":"Feature","properties":{"time":"\(time($0.minute))"},
        "geometry":{"type":"Point","coordinates":[\($0.longitude),\($0.latitude)]}}
        """
    }
    return Array("{\"type\":\"FeatureCollection\",\"features\":[\(features.joined(separator: ","))]}".utf8)
}

/// A walk in Vienna, a fix each ten seconds.
private func walk(_ count: Int, from minute: Double = 0, latitude: Double = 48.2, longitude: Double = 16.37) -> [Place]
{
    (0..<count).map { (minute + Double($0) / 6, latitude + Double($0) * 1e-4, longitude) }
}

/// Two vans by turns: Vienna and Madrid.
private let vans: [Place] = [
    (10, 48.2082, 16.3738), (11, 40.4, -3.7), (80, 48.4082, 16.3738), (81, 40.5, -3.7),
]

extension Outcome {
    fileprivate var jumps: JumpReport? {
        if case .notOneDevice(_, let report) = error { report } else { nil }
    }
}

@Suite struct JumpTests {
    // MARK: What a jump is

    private func count(_ fixes: [Place]) -> JumpCount {
        var count = JumpCount()
        for fix in fixes {
            count.take(
                Coordinate(latitude: fix.latitude, longitude: fix.longitude),
                at: Timestamp(nanosecondsSince1970: Int64(fix.minute * 60e9)))
        }
        return count
    }

    /// A degree of latitude is 111.2 km: 1,500 km/h are 0.2248° a minute.
    @Test func `a jump is far and fast`() {
        func jumps(_ degrees: Double, minutes: Double) -> Int {
            count([(0, 10, 20), (minutes, 10 + degrees, 20)]).jumps
        }
        #expect(jumps(0.449, minutes: 0) == 0 && jumps(0.451, minutes: 0) == 1)
        #expect(jumps(13.4, minutes: 60) == 0 && jumps(13.6, minutes: 60) == 1)
        // Within a second is a second: no other speed is needed.
        #expect(jumps(0.451, minutes: 0.001) == 1)
        #expect(jumps(0.451, minutes: -5) == 1)
        // Across the antimeridian it is not far.
        #expect(count([(0, 10, 179.9), (1, 10, -179.9), (2, 10, 180.1)]).jumps == 0)
        #expect(count([(0, 10, 179.9), (1, 10, -179.9)]).steps == 1)
        #expect(count([(0, 10, 20), (1, 10.008, 20)]).steps == 0)
    }

    @Test func `the quick test of a step is the exact one`() {
        var random = SplitMix64(seed: 9)
        var differences = 0
        for _ in 0..<20_000 {
            let start: Place = (0, random.uniform(-90, 90), random.uniform(-180, 180))
            let reach = [0.2, 0.6, 5, 90].randomElement(using: &random)!
            let end: Place = (
                random.uniform(0, 20), max(-90, min(90, start.latitude + random.uniform(-reach, reach))),
                start.longitude + random.uniform(-reach, reach)
            )
            let isJump = JumpCount.isJump(
                from: Coordinate(latitude: start.latitude, longitude: start.longitude),
                at: Timestamp(nanosecondsSince1970: 0),
                to: Coordinate(latitude: end.latitude, longitude: end.longitude),
                at: Timestamp(nanosecondsSince1970: Int64(end.minute * 60e9)))
            if isJump != (count([start, end]).jumps == 1) { differences += 1 }
        }
        #expect(differences == 0)
    }

    @Test func `three that are a tenth of the steps are too many`() {
        /// Jumps to places that differ, and back; then steps of two kilometers.
        func fixes(jumps: Int, steps: Int) -> [Place] {
            var fixes: [Place] = [(0, 48, 16)]
            for jump in 0..<jumps { fixes.append((Double(jump + 1), jump % 2 == 0 ? 52 + Double(jump * 4) : 48, 16)) }
            let last = fixes[fixes.count - 1]
            for step in 0..<steps {
                fixes.append((last.minute + Double(step + 1), last.latitude - Double(step + 1) * 0.018, 16))
            }
            return fixes
        }
        #expect(count(fixes(jumps: 3, steps: 0)).isImplausible)
        #expect(!count(fixes(jumps: 2, steps: 0)).isImplausible)
        #expect(count(fixes(jumps: 3, steps: 26)).isImplausible)
        #expect(!count(fixes(jumps: 3, steps: 27)).isImplausible)
        #expect(count(fixes(jumps: 3, steps: 27)).jumps == 3)
    }

    @Test func `three to and fro are too many`() {
        /// A drive of a thousand steps that is at another place for a fix, several times.
        func drive(_ places: [(latitude: Double, longitude: Double)]) -> [Place] {
            var fixes: [Place] = (0..<1_000).map { (Double($0), 45 + Double($0) * 0.01, 16) }
            for (number, place) in places.enumerated() {
                fixes[number * 100 + 50] = (fixes[number * 100 + 50].minute, place.latitude, place.longitude)
            }
            return fixes
        }
        #expect(!count(drive([(40, -3)])).isImplausible)
        #expect(count(drive([(40, -3), (40.3, -3.1)])).isImplausible)
        // Three degrees apart they are two places.
        #expect(!count(drive([(40, -3), (43, -3)])).isImplausible)
        let glitches = count(drive([(40, -3), (0, 30), (60, -40), (-10, 10)]))
        #expect(glitches.jumps == 8 && !glitches.isImplausible)
    }

    @Test func `flights and tunnels are none`() {
        var random = SplitMix64(seed: 56)
        for _ in 0..<200 {
            // Up to 1,200 km/h over ground in a jet stream, a fix in a second to an hour, gaps of receivers without a sky.
            var fixes: [Place] = [(0, random.uniform(-60, 60), random.uniform(-180, 180))]
            for _ in 0..<200 {
                let last = fixes[fixes.count - 1]
                let minutes = [1 / 60.0, 1, 10, 60].randomElement(using: &random)! * random.uniform(1, 3)
                let degrees = random.uniform(0, 1_200) / 111.2 * minutes / 60
                let latitude = last.latitude + random.uniform(-1, 1).sign(degrees / 2)
                guard latitude.magnitude < 80 else { break }
                fixes.append((last.minute + minutes, latitude, last.longitude + degrees / 2))
            }
            #expect(count(fixes).jumps == 0)
        }
        // 57 km under the Alps at 250 km/h, by a receiver that holds its last fix to the end.
        #expect(count([(0, 46.6, 8.77), (13.6, 46.6, 8.77), (13.7, 47.11, 8.77)]).jumps == 1)
        #expect(!count([(0, 46.6, 8.77), (13.6, 46.6, 8.77), (13.7, 47.11, 8.77)]).isImplausible)
    }

    // MARK: What is refused

    @Test func `two devices by turns are refused in every format`() throws {
        let inputs: [(name: String, bytes: [UInt8])] = [
            ("vans.csv", table(vans)), ("vans.gpx", gpx([vans])), ("vans.geojson", geoJSON(vans)),
            (
                "vans.ndjson",
                Array(
                    vans.map { "{\"time\":\"\(time($0.minute))\",\"lat\":\($0.latitude),\"lon\":\($0.longitude)}\n" }
                        .joined().utf8)
            ),
        ]
        for input in inputs {
            for emission in Emission.allCases {
                let outcome = convert([input]) { ($0.format, $0.emission) = (.csv, emission) }
                #expect(outcome.jumps?.jumps == 3 && outcome.jumps?.steps == 3 && outcome.output.isEmpty)
                let accepted = convert([input]) { ($0.format, $0.emission, $0.acceptsJumps) = (.csv, emission, true) }
                #expect(accepted.error == nil && accepted.summary.written >= (emission == .stays ? 0 : 2))
            }
        }
        let message = try #require(convert([inputs[0]]).error.map { "\($0)" })
        #expect(!message.contains("48.") && !message.contains("40.") && !message.contains("2026"))
    }

    @Test func `what comes in any order is judged in order of time`() {
        #expect(convert([table([vans[3], vans[1], vans[0], vans[2]])]).jumps?.jumps == 3)
        // Two drives one after the other, whose rows alternate.
        let there = walk(40), later = walk(40, from: 600, latitude: 40.4, longitude: -3.7)
        #expect(convert([table(zip(there, later).flatMap { [$0, $1] })]).error == nil)
    }

    @Test func `untimed points beside timed ones do not hide jumps`() {
        let points = "<wpt lat=\"1\" lon=\"2\"/><wpt lat=\"1.1\" lon=\"2\"/>"
        let text = String(decoding: gpx([vans]), as: UTF8.self).replacingOccurrences(
            of: "<gpx>", with: "<gpx>" + points)
        #expect(convert([("vans.gpx", Array(text.utf8))]).jumps?.jumps == 3)
        #expect(convert([("vans.gpx", Array(text.utf8))]).output.isEmpty)
    }

    @Test func `the first ten thousand fixes are judged`() {
        let still: [Place] = (0..<9_996).map { (Double($0) / 600, 48.2, 16.37) }
        func later(_ fix: Place) -> Place { (fix.minute + 20, fix.latitude, fix.longitude) }
        #expect(convert([table(still + vans.map(later))]).jumps?.jumps == 3)
        #expect(convert([table(still + [(18, 48.2, 16.37)] + vans.map(later))]).error == nil)
    }

    @Test func `what tracks or files explain is proposed`() {
        let (first, second) = ([vans[0], vans[2]], [vans[1], vans[3]])
        #expect(convert([gpx([first, second])]).jumps?.explanations == [.tracks(2)])
        #expect(convert([gpx([first, second])]) { $0.devices = .tracks }.error == nil)
        let files = [("a.gpx", gpx([first])), ("b.gpx", gpx([second]))]
        #expect(convert(files) { $0.isOneDevice = true }.jumps?.explanations == [.files(2)])
        #expect(convert(files).error == nil)
        #expect(convert([("a.gpx", gpx([first])), ("old/a.gpx", gpx([second]))]).jumps?.hasSeveralFiles == true)
    }

    @Test func `a column that explains is proposed`() {
        var first = FirstFixes()
        for (record, van) in vans.enumerated() {
            first.take(
                Coordinate(latitude: van.latitude, longitude: van.longitude),
                at: Timestamp(nanosecondsSince1970: Int64(van.minute * 60e9)), record: 2 * record)
        }
        let names = KeyCandidate(name: "vehicle", values: [0, 9, 1, 9, 0, 9, 1])
        let numbers = KeyCandidate(name: "row", values: [0, 1, 2, 3, 4, 5, 6])
        let color = KeyCandidate(name: "color", values: [0, 1, 0, 1, 1, 1, 1])
        #expect(JumpReport(first, candidates: [color, numbers])?.explanations == [])
        #expect(
            JumpReport(first, candidates: [color, numbers, names])?.explanations == [.keys(column: "vehicle", 2)])
        #expect(JumpReport(first)?.explanations == [])
    }

    @Test func `exchanged coordinates are proposed`() {
        // A flight along the 85th parallel, a degree of longitude a minute, written longitude first.
        var polar: [Place] = []
        for minute in 0..<40 { polar.append((Double(minute), Double(minute), 85)) }
        #expect(convert([table(polar)]).jumps?.explanations == [.swapped])
        #expect(convert([table(vans)]).jumps?.explanations == [])
    }

    // MARK: Devices with keys

    @Test func `a key of several devices is refused`() {
        for emission in Emission.allCases {
            let outcome = convert([table(vans, keys: ["a", "a", "a", "a"])]) {
                ($0.format, $0.emission) = (.csv, emission)
            }
            #expect(outcome.jumps?.isKeyed == true && outcome.jumps?.jumps == 3 && outcome.output.isEmpty)
            let accepted = convert([table(vans, keys: ["a", "a", "a", "a"])]) {
                ($0.format, $0.emission, $0.acceptsJumps) = (.csv, emission, true)
            }
            #expect(accepted.error == nil && accepted.summary.jumps == 0)
        }
        #expect(convert([table(vans, keys: ["a", "b", "a", "b"])]).error == nil)
        #expect(convert([table(vans, keys: ["a", "b", "a", "b"])]) { $0.isOneDevice = true }.jumps?.isKeyed == false)
        // A device among others, newest first.
        let others = walk(50).map { ($0, "c") }
        let mixed = (zip(vans, ["a", "a", "a", "a"]).map { ($0, $1) } + others).sorted { $0.0.minute > $1.0.minute }
        #expect(convert([table(mixed.map(\.0), keys: mixed.map(\.1))]).jumps?.jumps == 3)
    }

    @Test func `jumps after the first records make the status`() {
        let still: [Place] = (0..<10_000).map { (Double($0) / 60, 48.2, 16.37) }
        func jumps(after: Int, _ vans: [Place], _ change: (inout ConvertRun.Options) -> Void = { _ in }) -> Int? {
            let more: [Place] = (0..<after).map { (200 + Double($0) / 60, 48.2, 16.37) }
            let fixes = still + more + vans.map { ($0.minute + 300, $0.latitude, $0.longitude) }
            let outcome = convert([table(fixes, keys: fixes.map { _ in "a" })]) {
                $0.format = .csv
                change(&$0)
            }
            return outcome.error == nil ? outcome.summary.jumps : nil
        }
        #expect(jumps(after: 0, vans) == 3)
        #expect(jumps(after: 0, Array(vans.prefix(2))) == 0)
        #expect(jumps(after: 2_994, vans) == 3)
        #expect(jumps(after: 2_996, vans) == 0)
        #expect(jumps(after: 0, vans) { $0.acceptsJumps = true } == 0)
        #expect(jumps(after: 0, vans) { ($0.threads, $0.readBytes, $0.emission) = (3, 512, .fixes) } == 3)
    }

    // MARK: Real recordings

    @Test func `real recordings are taken alone`() throws {
        for trace in sharedTraces {
            #expect(convert([Array(try Data(contentsOf: trace))]).jumps == nil)
        }
    }

    @Test func `real recordings are taken together`() throws {
        let files = try sharedTraces.map { (name: $0.lastPathComponent, bytes: Array(try Data(contentsOf: $0))) }
        guard !files.isEmpty else { return }
        #expect(convert(files) { $0.isOneDevice = true }.jumps == nil)
    }

    // MARK: Folders

    private func folder(
        _ files: [(name: String, bytes: [UInt8])], _ change: (inout ConvertRun.Options) -> Void = { _ in }
    ) -> (error: TraceError?, outputs: [String], jumps: Int?) {
        let scratch = Scratch()
        for file in files { _ = scratch.write(file.bytes, as: "in/\(file.name)") }
        var options = FolderRun.Options()
        options.convert.devices = .folder
        change(&options.convert)
        var failure: TraceError?, jumps: Int?
        do throws(TraceError) {
            jumps = try FolderRun.run(
                scratch.path("in"), to: scratch.path("out"), atlas: worldAtlas, options: options,
                observer: FolderObserver()
            ).records.jumps
        } catch {
            failure = error
        }
        let outputs = try? FileManager.default.subpathsOfDirectory(atPath: scratch.path("out"))
        return (failure, (outputs ?? []).sorted(), jumps)
    }

    @Test func `a fleet in a folder is refused before anything is written`() {
        let files = [("one/van.csv", table([vans[0], vans[2]])), ("two/car.csv", table([vans[1], vans[3]]))]
        let outcome = folder(files)
        guard case .notOneDevice(let file, let report) = outcome.error else {
            Issue.record("not refused")
            return
        }
        #expect(file.hasSuffix("/in") && report.explanations == [.files(2)] && outcome.outputs == [])
        for devices in [DevicesOfTracks.files, .subfolders, .tracks] {
            let split = folder(files) { $0.devices = devices }
            #expect(split.error == nil && split.outputs.count == 4)
        }
        #expect(folder(files) { $0.acceptsJumps = true }.error == nil)
    }

    @Test func `jumps after the first records of a file are counted`() {
        let still: [Place] = (0..<10_000).map { (Double($0) / 60, 48.2, 16.37) }
        let fixes = still + vans.map { ($0.minute + 300, $0.latitude, $0.longitude) }
        let files = [
            ("a.csv", table(fixes, keys: fixes.map { _ in "a" })),
            ("b.csv", table(still, keys: still.map { _ in "b" })),
        ]
        #expect(folder(files).jumps == 3)
        #expect(folder(files) { $0.acceptsJumps = true }.jumps == 0)
        #expect(folder([files[1]]).jumps == 0)
    }

    @Test func `a file of a folder is judged by itself`() {
        let files = [("walk.csv", table(walk(20, from: 3_000))), ("vans.gpx", gpx([vans]))]
        for devices in [DevicesOfTracks.folder, .files, .tracks, .subfolders] {
            let outcome = folder(files) { $0.devices = devices }
            #expect(outcome.error != nil && outcome.outputs == [])
        }
        let keyed = [("vans.csv", table(vans, keys: ["a", "b", "a", "b"]))]
        #expect(folder(keyed).error == nil)
        let mixed = folder([("vans.csv", table(vans, keys: ["a", "a", "a", "a"]))])
        guard case .notOneDevice(_, let report) = mixed.error else {
            Issue.record("not refused")
            return
        }
        #expect(report.isKeyed)
    }
}

extension Double {
    /// A magnitude with this number's sign.
    fileprivate func sign(_ magnitude: Double) -> Double { self < 0 ? -magnitude : magnitude }
}
