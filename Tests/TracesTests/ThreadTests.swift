import FixedRandom
import Foundation
import Hereabouts
import Testing

@testable import Traces

/// A table of a few devices, some records bad, some quoted, as wide as `padding` makes it.
private func table(records: Int, seed: UInt64, padding: Int = 0) -> [UInt8] {
    var random = SplitMix64(seed: seed)
    var text = "id,time,lat,lon,note\n"
    for record in 0..<records {
        let latitude = String(format: "%.6f", Double.random(in: -89...89, using: &random))
        let longitude = String(format: "%.6f", Double.random(in: -180...180, using: &random))
        let device = Int.random(in: 0...9, using: &random)
        let note = String(repeating: "x", count: Int.random(in: 0...padding, using: &random))
        switch Int.random(in: 0...39, using: &random) {
        case 0: text += "\(device),\(record * 60),north,\(longitude),\(note)\n"
        case 1: text += "\(device),\(record * 60),\(latitude)\n"
        case 2: text += "\"\(device)\",\(record * 60),\"\(latitude)\",\(longitude),\"two\nlines\"\n"
        case 3: text += "\(device),noon,\(latitude),\(longitude),\(note)\n"
        case 4: text += "\n"
        default: text += "\(device),\(record * 60),\(latitude),\(longitude),\(note)\n"
        }
    }
    return Array(text.utf8)
}

/// Tracks, a route and waypoints, some bad.
private func document(points: Int, seed: UInt64) -> [UInt8] {
    var random = SplitMix64(seed: seed)
    var text = "<gpx>\n"
    func add(_ element: String, _ minute: Int) {
        let latitude =
            Int.random(in: 0...30, using: &random) == 0 ? "91" : "\(Double.random(in: -89...89, using: &random))"
        let time = String(format: "2026-03-%02dT%02d:%02d:00Z", 1 + minute / 1440, minute / 60 % 24, minute % 60)
        text += "<\(element) lat=\"\(latitude)\" lon=\"\(Double.random(in: -180...180, using: &random))\">"
        text += "<time>\(time)</time><hdop>1.5</hdop></\(element)>\n"
    }
    for _ in 0..<points / 10 { add("wpt", Int.random(in: 0..<2 * points, using: &random)) }
    text += "<rte>"
    for _ in 0..<points / 10 { add("rtept", Int.random(in: 0..<2 * points, using: &random)) }
    text += "</rte>"
    for track in 0..<5 {
        text += "<trk><trkseg>"
        for point in 0..<points / 5 { add("trkpt", track * points * 2 / 5 + point) }
        text += "</trkseg></trk>\n"
    }
    return Array((text + "</gpx>\n").utf8)
}

@Suite struct ThreadTests {
    @Test(arguments: ErrorPolicy.allCases)
    func `any number of threads snaps to the same bytes and errors`(_ policy: ErrorPolicy) {
        let input = table(records: 1500, seed: 11)
        let whole = snap(input) { $0.onError = policy }
        #expect(!whole.problems.isEmpty)
        for threads in [1, 2, 3, 8] {
            for chunk in [1, 13, 512, 1 << 18] {
                #expect(snap(input) { ($0.onError, $0.threads, $0.readBytes) = (policy, threads, chunk) } == whole)
            }
        }
    }

    @Test(arguments: TraceFormat.outputs)
    func `any number of threads converts to the same bytes and errors`(_ format: TraceFormat) {
        for input in [table(records: 1500, seed: 12), document(points: 600, seed: 13)] {
            for policy in [ErrorPolicy.skip, .stop] {
                let whole = convert([input]) { ($0.format, $0.onError, $0.acceptsJumps) = (format, policy, true) }
                #expect(!whole.problems.isEmpty && (policy == .stop || whole.summary.written > 10))
                for threads in [1, 2, 3, 8] {
                    for chunk in [1, 13, 512, 1 << 18] {
                        let outcome = convert([input]) {
                            ($0.format, $0.onError, $0.threads, $0.readBytes) = (format, policy, threads, chunk)
                            $0.acceptsJumps = true
                        }
                        #expect(outcome == whole)
                    }
                }
            }
        }
    }

    @Test func `documents that break off break off at the same point`() {
        let input = Array(document(points: 300, seed: 14).prefix(20_000)) + Array("</nonsense>".utf8)
        let whole = convert([input]) { $0.format = .csv }
        #expect(whole.error != nil && !whole.problems.isEmpty)
        for threads in [1, 2, 8] {
            for chunk in [7, 512] {
                #expect(convert([input]) { ($0.format, $0.threads, $0.readBytes) = (.csv, threads, chunk) } == whole)
            }
        }
    }

    @Test func `several files and wide records make no difference`() {
        let inputs = (0..<3).map { table(records: 300, seed: 20 + $0, padding: 2000) }
        let whole = convert(inputs) { ($0.format, $0.acceptsJumps) = (.csv, true) }
        for threads in [2, 8] {
            let outcome = convert(inputs) {
                ($0.format, $0.threads, $0.readBytes, $0.acceptsJumps) = (.csv, threads, 512, true)
            }
            #expect(outcome == whole)
        }
    }

    @Test func `records that are too long are told by the same line`() {
        let input = Array(String(repeating: "1,2\n", count: 1000).utf8) + [UInt8](repeating: 0x31, count: 1 << 21)
        for threads in [1, 2, 8] {
            for chunk in [512, 1 << 18, 4 << 20] {
                let outcome = snap(input) { ($0.threads, $0.readBytes) = (threads, chunk) }
                #expect(outcome.error == .recordTooLong(file: "input", line: 1001))
            }
        }
    }

    @Test func `endless lines end the run`() {
        let scratch = Scratch()
        for threads in [1, 2] {
            var options = SnapRun.Options()
            options.threads = threads
            let outcome = observed(scratch) { output, observer throws(TraceError) in
                try SnapRun.run(
                    [.file("/dev/zero")], to: output, atlas: worldAtlas, options: options, observer: observer)
            }
            #expect(outcome.error == .notRead(file: "/dev/zero", .binary))
            let converted = observed(scratch) { output, observer throws(TraceError) in
                try ConvertRun.run(
                    [.file("/dev/zero")], to: output, atlas: worldAtlas, options: .init(), observer: observer)
            }
            #expect(converted.error == .notRead(file: "/dev/zero", .binary))
        }
    }

    @Test func `a first line that is too long ends the run`() {
        let long = String(repeating: "x", count: 3 << 20)
        #expect(snap(long).error == .recordTooLong(file: "input", line: 1))
        #expect(convert("# a\n" + long).error == .recordTooLong(file: "input0", line: 2))
        #expect(snap("lat,lon\n" + long).error == .recordTooLong(file: "input", line: 2))
    }

    /// A thread that waits for a pipe's next bytes must not keep the run from ending.
    @Test func `a run that stops does not wait for more input`() throws {
        let scratch = Scratch()
        let pipe = scratch.path("pipe")
        try #require(unsafe mkfifo(pipe, 0o600) == 0)
        // Open for reading and writing, so that neither side waits for the other, nor sees an end.
        let descriptor = unsafe open(pipe, O_RDWR)
        defer { close(descriptor) }
        let text = Array("lat,lon\n1,2\n1,2\nnorth,2\n1,2\n".utf8)
        func feed() -> Int { unsafe write(descriptor, text, text.count) }
        #expect(feed() == text.count)
        for threads in [2, 8] {
            var options = SnapRun.Options()
            (options.threads, options.onError, options.readBytes) = (threads, .stop, 8)
            let outcome = observed(scratch) { output, observer throws(TraceError) in
                try SnapRun.run([.file(pipe)], to: output, atlas: worldAtlas, options: options, observer: observer)
            }
            #expect(outcome.error == .stopped && outcome.problems.count == 1)
            #expect(feed() == text.count)
        }
    }

    @Test func `regions that find no room are rendered each time`() throws {
        var random = SplitMix64(seed: 15)
        let regions = (0..<3000).map { _ in
            Region(index: UInt32.random(in: 0..<UInt32(worldAtlas.regionCount), using: &random))
        }
        var all = RegionTextWriter(RegionTextCache(atlas: worldAtlas, form: .csv))
        var few = RegionTextWriter(RegionTextCache(atlas: worldAtlas, form: .csv, arenaBytes: 1 << 15))
        var expected = ByteBuffer(capacity: 0)
        var found = ByteBuffer(capacity: 0)
        for region in regions + regions {
            all.append(region, to: &expected)
            few.append(region, to: &found)
        }
        #expect(expected.array == found.array)
        let location = try worldAtlas.reducedLocation(of: regions[0])
        let first = try reducedColumns(location.coordinate.latitude, location.coordinate.longitude)
        #expect(String(decoding: expected.array, as: UTF8.self).hasPrefix(first + "\n"))
    }
}
