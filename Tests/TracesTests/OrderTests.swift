import FixedRandom
import Foundation
import Hereabouts
import Testing

@testable import Traces

/// A record of a table with device keys.
private struct Row {
    var key: String
    /// Since 2026-05-01 08:00 UTC; nil of a record without a time that can be read.
    var second: Int?
    var latitude: Double
    var longitude: Double

    var time: String {
        second.map { Date(timeIntervalSince1970: 1_777_622_400 + Double($0)).formatted(.iso8601) } ?? "noon"
    }

    var text: String { "\(key),\(time),\(latitude),\(longitude)\n" }
}

private func table(_ rows: some Sequence<Row>) -> [UInt8] {
    Array(("device_id,time,lat,lon\n" + rows.map(\.text).joined()).utf8)
}

/// In order of time, those of one time as they stand.
private func sorted(_ rows: [Row]) -> [Row] {
    rows.indices.sorted { (rows[$0].second ?? .max, $0) < (rows[$1].second ?? .max, $1) }.map { rows[$0] }
}

/// Devices that drive about, in order of time.
private func drives(
    _ devices: Int, records: Int, step: ClosedRange<Int> = 1...600, _ random: inout SplitMix64
) -> [Row] {
    var places = (0..<devices).map { _ in (random.uniform(40, 50), random.uniform(0, 20)) }
    var second = 0
    return (0..<records).map { _ in
        let device = Int.random(in: 0..<devices, using: &random)
        // Whole tens of seconds, so that many are at one time and many on ticks.
        second += Int.random(in: step, using: &random) / 10 * 10
        places[device].0 += random.uniform(-0.2, 0.2)
        places[device].1 += random.uniform(-0.2, 0.2)
        return Row(key: "d\(device)", second: second, latitude: places[device].0, longitude: places[device].1)
    }
}

/// Orders that a table may be in.
private enum Disorder: CaseIterable {
    case newestFirst, shuffled, deviceByDevice, halves

    func rows(_ rows: [Row], _ random: inout SplitMix64) -> [Row] {
        switch self {
        case .newestFirst: rows.reversed()
        case .shuffled: rows.shuffled(using: &random)
        case .deviceByDevice:
            Dictionary(grouping: rows, by: \.key).sorted { $0.key > $1.key }.flatMap { $0.value.reversed() }
        case .halves: Array(rows[(rows.count / 2)...] + rows[..<(rows.count / 2)])
        }
    }
}

@Suite struct OrderTests {
    // MARK: The case

    private let newestFirst = """
        device_id,time,lat,lon
        a,2026-05-01T09:11:00Z,48.4582,16.6738
        a,2026-05-01T08:56:00Z,48.3582,16.5738
        a,2026-05-01T08:41:00Z,48.3082,16.5238
        a,2026-05-01T08:26:00Z,48.2582,16.4738
        a,2026-05-01T08:10:00Z,48.2082,16.3738

        """

    @Test func `a table that begins with the newest is answered in full`() throws {
        let lines = newestFirst.split(separator: "\n").map(String.init)
        let upwards = ([lines[0]] + lines.dropFirst().reversed()).joined(separator: "\n") + "\n"
        for format in TraceFormat.outputs {
            for emission in [Emission.changes, .recomputations] {
                let outcome = convert(newestFirst) { ($0.format, $0.emission) = (format, emission) }
                #expect(outcome.error == nil && outcome.notices.isEmpty && outcome.summary.lateRecords == 0)
                #expect(outcome.summary.written == (emission == .changes ? 3 : 5))
                #expect(outcome.output == convert(upwards) { ($0.format, $0.emission) = (format, emission) }.output)
            }
        }
        let rows = convert(newestFirst) { ($0.format, $0.emission) = (.csv, .recomputations) }.rows
        #expect(rows.dropFirst().map { $0.dropFirst(13).prefix(5) } == ["08:15", "08:30", "08:45", "09:00", "09:15"])
    }

    @Test func `records of fixes keep the inputs order`() {
        let rows = convert(newestFirst) { ($0.format, $0.emission) = (.csv, .fixes) }.rows.dropFirst()
        #expect(rows.map { $0.dropFirst(13).prefix(5) } == ["09:11", "08:56", "08:41", "08:26", "08:10"])
        // Each has the answer of the tick before it; the first in time has none.
        #expect(rows.map { $0.hasSuffix(",,,,,") } == [false, false, false, false, true])
    }

    @Test func `objects and features are answered alike`() {
        let records = newestFirst.split(separator: "\n").dropFirst().map { $0.split(separator: ",") }
        let lines = records.map {
            "{\"device_id\":\"\($0[0])\",\"time\":\"\($0[1])\",\"lat\":\($0[2]),\"lon\":\($0[3])}\n"
        }
        let features = records.map {
            """
            {"type":"Feature","properties":{"device_id":"\($0[0])","time":"\($0[1])"},
            "geometry":{"type":"Point","coordinates":[\($0[3]),\($0[2])]}}
            """
        }
        let expected = convert(newestFirst) { $0.format = .csv }.output
        #expect(convert(lines.joined()) { $0.format = .csv }.output == expected)
        #expect(convert("[\(lines.joined(separator: ","))]") { $0.format = .csv }.output == expected)
        let collection = "{\"type\":\"FeatureCollection\",\"features\":[\(features.joined(separator: ","))]}"
        #expect(convert(collection) { $0.format = .csv }.output == expected)
    }

    // MARK: The rule

    /// A table in no order gives, byte for byte, what the same table sorted by time gives.
    @Test(arguments: Disorder.allCases, [Emission.changes, .recomputations])
    fileprivate func `any order gives the same bytes`(_ disorder: Disorder, _ emission: Emission) {
        var random = SplitMix64(seed: 136)
        for round in 0..<12 {
            let rows = drives(1 + round % 5, records: 150, &random)
            let mixed = disorder.rows(rows, &random)
            for format in [TraceFormat.csv, .gpx, .geojson] {
                let outcome = convert([table(mixed)]) { ($0.format, $0.emission) = (format, emission) }
                let whole = convert([table(sorted(mixed))]) { ($0.format, $0.emission) = (format, emission) }
                #expect(outcome.output == whole.output && whole.summary.written > 5)
                #expect(outcome.error == nil && outcome.summary.devices == whole.summary.devices)
            }
        }
    }

    /// With a record for each fix, the records are those of the sorted table, in the order of the table.
    @Test(arguments: Disorder.allCases)
    fileprivate func `records are those of the sorted table`(_ disorder: Disorder) throws {
        var random = SplitMix64(seed: 137)
        for round in 0..<8 {
            // No two of a device at one time, of which the first counts.
            var rows = drives(1 + round % 4, records: 150, step: 10...600, &random)
            rows = disorder.rows(rows, &random)
            let outcome = convert([table(rows)]) { ($0.format, $0.emission) = (.csv, .fixes) }
            let whole = convert([table(sorted(rows))]) { ($0.format, $0.emission) = (.csv, .fixes) }
            #expect(outcome.rows.count == 151 && outcome.rows.sorted() == whole.rows.sorted())
            #expect(outcome.rows.dropFirst().map { String($0.prefix(23)) } == rows.map { "\($0.key),\($0.time)" })
        }
    }

    @Test func `bad records keep their places`() {
        var random = SplitMix64(seed: 138)
        var rows: [Row] = drives(2, records: 40, step: 10...600, &random).reversed()
        rows.insert(Row(key: "d0", second: nil, latitude: 45, longitude: 10), at: 3)
        rows.insert(Row(key: "d1", second: 5_000, latitude: 95, longitude: 10), at: 20)
        let outcome = convert([table(rows)]) { ($0.format, $0.emission, $0.onError) = (.csv, .fixes, .blank) }
        #expect(outcome.reasons == ["5: the time is not readable", "22: the latitude is out of range"])
        #expect(outcome.rows.count == 43 && outcome.rows[4].hasSuffix(",,,,,,") && outcome.rows[21].hasSuffix(",,,,,,"))
        let stopped = convert([table(rows)]) { ($0.format, $0.onError) = (.csv, .stop) }
        #expect(stopped.error == .stopped && stopped.problems.count == 1)
    }

    // MARK: The threshold

    /// Devices in order of time, but for records of an interval before, which come behind.
    private func partly(late: Int, of records: Int) -> [Row] {
        (0..<records).map { number in
            let isLate = number >= records - late
            return Row(
                key: "a", second: isLate ? number - 10_000 : number * 60, latitude: 48.2 + Double(number) * 1e-4,
                longitude: 16.3)
        }
    }

    @Test func `more than a quarter is sorted`() {
        func isSorted(_ late: Int, of records: Int) -> Bool {
            let rows = partly(late: late, of: records)
            let outcome = convert([table(rows)]) { ($0.format, $0.emission) = (.csv, .recomputations) }
            let whole = convert([table(sorted(rows))]) { ($0.format, $0.emission) = (.csv, .recomputations) }
            return outcome.output == whole.output
        }
        // Those that come late are of a tick that no other has, unless there are none.
        #expect(isSorted(0, of: 100))
        #expect(!isSorted(25, of: 100))
        #expect(isSorted(26, of: 100))
        #expect(!isSorted(2, of: 5))
        #expect(isSorted(3, of: 8))
        #expect(!isSorted(2, of: 7))
    }

    @Test func `late records are counted and make the status`() {
        func late(_ late: Int, of records: Int) -> (notices: [Notice], counted: Int) {
            let outcome = convert([table(partly(late: late, of: records))]) { $0.format = .csv }
            return (outcome.notices, outcome.summary.lateRecords)
        }
        #expect(late(10, of: 100) == ([.lateFixes(file: "input0", count: 10)], 0))
        #expect(late(11, of: 100) == ([.lateFixes(file: "input0", count: 11)], 11))
        #expect(late(11, of: 1_100) == ([.lateFixes(file: "input0", count: 11)], 0))
        #expect(late(12, of: 1_100) == ([.lateFixes(file: "input0", count: 12)], 12))
    }

    /// What is late in its own interval changes nothing, and neither does what a run before has answered.
    @Test func `what loses nothing is not counted`() {
        let still: [Row] = (0..<400).map {
            Row(key: "a", second: $0 % 2 == 0 ? 400 - $0 : 60, latitude: 48.2082, longitude: 16.3738)
        }
        let outcome = convert([table(still)]) { $0.format = .csv }
        #expect(outcome.summary.lateRecords == 0 && outcome.notices.count == 1 && outcome.summary.written == 1)
        let scratch = Scratch()
        var random = SplitMix64(seed: 139)
        let rows = drives(3, records: 300, &random)
        func run(_ rows: [Row]) -> Outcome {
            convert([table(rows)]) { ($0.format, $0.state) = (.csv, scratch.path("state")) }
        }
        #expect(run(rows).summary.written > 20)
        let again = run(
            rows
                + drives(3, records: 100, &random).map {
                    Row(key: $0.key, second: $0.second! + 500_000, latitude: $0.latitude, longitude: $0.longitude)
                })
        #expect(again.summary.lateRecords == 0 && again.summary.written > 5)
    }

    @Test func `the first ten thousand records decide`() {
        let upwards = (0..<10_000).map {
            Row(key: "a", second: 100_000 + $0 * 10, latitude: 48.2082, longitude: 16.3738)
        }
        let older = (0..<5_000).map { Row(key: "a", second: $0 * 10, latitude: 48.2082, longitude: 16.3738) }
        let outcome = convert([table(upwards + older)]) { ($0.format, $0.emission) = (.csv, .recomputations) }
        #expect(outcome.summary.lateRecords == 5_000)
        #expect(outcome.notices == [.lateFixes(file: "input0", count: 5_000)])
        let mixed = convert([table(upwards.dropLast(4_000) + older + upwards.suffix(4_000))]) {
            ($0.format, $0.emission) = (.csv, .recomputations)
        }
        let whole = convert([table(older + upwards)]) { ($0.format, $0.emission) = (.csv, .recomputations) }
        #expect(mixed.output == whole.output && mixed.summary.lateRecords == 0)
    }

    // MARK: Runs

    @Test func `threads and pieces make no difference`() {
        var random = SplitMix64(seed: 140)
        let rows = drives(4, records: 300, &random)
        for rows in [rows, rows.reversed(), Array(rows.prefix(200).shuffled(using: &random)) + rows.suffix(100)] {
            for emission in Emission.allCases {
                let whole = convert([table(rows)]) { ($0.format, $0.emission) = (.csv, emission) }
                for threads in [1, 2, 7] {
                    for bytes in [8, 300, 1 << 18] {
                        let outcome = convert([table(rows)]) {
                            ($0.format, $0.emission, $0.threads, $0.readBytes) = (.csv, emission, threads, bytes)
                        }
                        #expect(outcome == whole)
                    }
                }
            }
        }
    }

    /// The state after a table in no order is that after the same table in order; so is what the next run gives.
    @Test(arguments: Emission.allCases)
    func `states go on`(_ emission: Emission) {
        var random = SplitMix64(seed: 141)
        let rows = drives(3, records: 240, step: 10...600, &random)
        func series(_ parts: [[Row]]) -> [[String]] {
            let scratch = Scratch()
            return parts.map { rows in
                convert([table(rows)]) {
                    ($0.format, $0.emission, $0.state) = (.csv, emission, scratch.path("state"))
                }.rows.sorted()
            }
        }
        let parts = stride(from: 0, to: 240, by: 60).map { Array(rows[$0..<$0 + 60]) }
        #expect(series(parts.map { $0.reversed() }) == series(parts))
        #expect(series(parts.map { $0.reversed() }).allSatisfy { $0.count > (emission == .stays ? 0 : 5) })
    }

    /// A second input goes on where the first left off.
    @Test func `inputs follow each other`() {
        var random = SplitMix64(seed: 142)
        let rows = drives(3, records: 200, &random)
        let (first, second) = (Array(rows.prefix(100)), Array(rows.suffix(100)))
        for emission in [Emission.changes, .recomputations] {
            func rows(_ inputs: [[Row]]) -> [String] {
                convert(inputs.map { table($0) }) { ($0.format, $0.emission) = (.csv, emission) }.rows
            }
            let expected = rows([first, second])
            #expect(rows([first.reversed(), second]).sorted() == expected.sorted())
            #expect(rows([first.reversed(), second.reversed()]).sorted() == expected.sorted())
            #expect(rows([first, second.shuffled(using: &random)]).sorted() == expected.sorted())
        }
    }

    @Test func `an input that breaks off is not answered in part`() {
        var random = SplitMix64(seed: 143)
        let lines = drives(2, records: 60, &random).reversed().map {
            "{\"device_id\":\"\($0.key)\",\"time\":\"\($0.time)\",\"lat\":\($0.latitude),\"lon\":\($0.longitude)}"
        }
        let outcome = convert("[" + lines.joined(separator: ",") + ",{]") { $0.format = .csv }
        #expect(outcome.output.isEmpty && (outcome.error != nil || !outcome.problems.isEmpty))
    }

    // MARK: In pieces on the disk

    @Test func `runs on the disk give the same intervals`() throws {
        var random = SplitMix64(seed: 144)
        let rows = drives(20, records: 4_000, &random).shuffled(using: &random)
        func intervals(_ length: Int) throws -> [[Int64]] {
            let sorted = SortedFixes(keys: KeyNumbers(), interval: .seconds(900), runLength: length, logLength: length)
            for row in rows {
                let device = Int(row.key.dropFirst())!, time = Int64(row.second!) * 1_000_000_000
                sorted.take(
                    Coordinate(latitude: row.latitude, longitude: row.longitude),
                    at: Timestamp(nanosecondsSince1970: time), horizontalAccuracy: nil, device: device)
                sorted.note(.init(nanoseconds: time, device: Int32(device)))
            }
            var found: [[Int64]] = []
            try sorted.forEachInterval { interval in
                found.append([
                    Int64(interval.device), interval.time, Int64(interval.count), Int64(interval.latitude * 1e9),
                ])
            }
            var records: [Int64] = []
            try sorted.forEachRecord { records.append($0.nanoseconds) }
            #expect(records == rows.map { Int64($0.second!) * 1_000_000_000 })
            return found
        }
        let whole = try intervals(1 << 20)
        #expect(whole.count > 1_000 && whole.map { $0[2] }.reduce(0, +) == 4_000)
        for length in [1, 7, 100, 1_500] { #expect(try intervals(length) == whole) }
    }
}
