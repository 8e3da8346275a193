import FixedRandom
import Foundation
import Hereabouts
import Testing

@testable import Traces

/// A fix of a recording that is made up.
private struct Sighting {
    /// Since 2026-03-01 00:00:00 UTC.
    var milliseconds: Int
    var latitude: Double
    var longitude: Double
    /// In meters; nil for none.
    var accuracy: Int?

    /// ISO 8601.
    var time: String {
        let seconds = milliseconds / 1_000
        func digits(_ number: Int, _ count: Int = 2) -> String { String(String(1_000 + number).suffix(count)) }
        return "2026-03-01T\(digits(seconds / 3_600)):\(digits(seconds / 60 % 60)):\(digits(seconds % 60))."
            + "\(digits(milliseconds % 1_000, 3))Z"
    }

    func row(_ note: Int) -> String {
        "\(time),\(latitude),\(longitude),\(accuracy.map { String($0) } ?? ""),\(note)\n"
    }

    func element(_ name: String, _ note: Int) -> String {
        let dilution = accuracy.map { "<hdop>\($0)</hdop>" } ?? ""
        return
            "<\(name) lat=\"\(latitude)\" lon=\"\(longitude)\"><ele>\(note)</ele><time>\(time)</time>\(dilution)</\(name)>\n"
    }
}

/// What two recordings agree in: the newest fix of each interval that has one, and the track that it is in.
private struct FixesAtTicks {
    /// A track of a document.
    enum Kind: String, CaseIterable {
        case waypoints = "wpt", route = "rtept", track = "trkpt"

        func text(_ points: [String], _ random: inout SplitMix64) -> String {
            switch self {
            case .waypoints: return points.joined()
            case .route: return "<rte>\(points.joined())</rte>\n"
            case .track:
                let segments = points.map { Int.random(in: 0...3, using: &random) == 0 ? "</trkseg><trkseg>\($0)" : $0 }
                return "<trk><trkseg>\(segments.joined())</trkseg></trk>\n"
            }
        }
    }

    /// In milliseconds, as all times here.
    let interval: Int
    /// In order of time.
    var newest: [(fix: Sighting, track: Int)] = []
    /// Of each track.
    let kinds: [Kind]

    /// - Parameter interval: in seconds, at most an hour.
    init(interval: Int, _ random: inout SplitMix64) {
        self.interval = interval * 1_000
        // The waypoints are one track, wherever they stand; as the first it has the same number in both recordings.
        kinds = (0..<Int.random(in: 1...3, using: &random)).map {
            $0 == 0 ? .allCases.randomElement(using: &random)! : .track
        }
        var tick = Int.random(in: 1...4, using: &random)
        var (latitude, longitude) = (31.75, -106.48)
        for _ in 0..<Int.random(in: 1...5, using: &random) {
            // Now and then less than the margin, and on the way past several regions.
            let step = [0.0005, 0.002, 0.03].randomElement(using: &random)!
            latitude += random.uniform(-step, step)
            longitude += random.uniform(-step, step)
            let back = [0, 1, self.interval - 1, Int.random(in: 0..<self.interval, using: &random)].randomElement(
                using: &random)!
            let fix = Sighting(
                milliseconds: tick * self.interval - back, latitude: latitude, longitude: longitude,
                accuracy: [nil, 5, 50].randomElement(using: &random)!)
            newest.append((fix, Int.random(in: 0..<kinds.count, using: &random)))
            tick += Int.random(in: 1...3, using: &random)
        }
    }

    /// Fixes of the interval that are older than its newest, wherever and as many as chance has it.
    private func between(_ fix: Sighting, _ random: inout SplitMix64) -> [Sighting] {
        let start = (fix.milliseconds - 1) / interval * interval + 1
        guard start < fix.milliseconds else { return [] }
        let count = [0, 1, 2, 3, 8].randomElement(using: &random)!
        return (0..<count).map { _ in
            let reach = [0.001, 0.05, 30].randomElement(using: &random)!
            return Sighting(
                milliseconds: Int.random(in: start..<fix.milliseconds, using: &random),
                latitude: fix.latitude + random.uniform(-reach, reach),
                longitude: fix.longitude + random.uniform(-reach, reach),
                accuracy: [nil, 1, 1_000].randomElement(using: &random)!)
        }
    }

    /// Another fix with the time of one that there is, and that one's track: it comes after it.
    private func repeated(_ random: inout SplitMix64) -> (fix: Sighting, track: Int)? {
        guard Bool.random(using: &random), var chosen = newest.randomElement(using: &random) else { return nil }
        chosen.fix.latitude = -chosen.fix.latitude
        return chosen
    }

    /// The rows of a table without keys, in any order.
    func table(_ random: inout SplitMix64) -> String {
        var fixes = newest.flatMap { between($0.fix, &random) + [$0.fix] }.shuffled(using: &random)
        if let repeated = repeated(&random) { fixes.append(repeated.fix) }
        return fixes.map { $0.row(Int.random(in: 0...999, using: &random)) }.joined()
    }

    /// All fixes but repeated ones, of which the first counts.
    func anyOrder(_ random: inout SplitMix64) -> [Sighting] {
        newest.flatMap { between($0.fix, &random) + [$0.fix] }.shuffled(using: &random)
    }

    /// The rows of a device in a table with keys: in order of the intervals, and some late.
    func stream(_ random: inout SplitMix64) -> [Sighting] {
        var fixes: [Sighting] = []
        for (number, (fix, _)) in newest.enumerated() {
            var rows = (between(fix, &random) + [fix]).shuffled(using: &random)
            if number > 0, Bool.random(using: &random) {
                // Not newer than what was there before.
                let late = between(newest[number - 1].fix, &random) + [newest[number - 1].fix]
                for row in late { rows.insert(row, at: Int.random(in: 0...rows.count, using: &random)) }
            }
            fixes += rows
        }
        if let repeated = repeated(&random) { fixes.append(repeated.fix) }
        return fixes
    }

    /// A document: the tracks in their order, the points of each in any, and among them tracks that have no newest fix.
    func document(_ random: inout SplitMix64) -> String {
        var tracks = kinds.map { _ in [Sighting]() }
        var others = (0..<Int.random(in: 0...3, using: &random)).map { _ in [Sighting]() }
        for (fix, track) in newest {
            tracks[track].append(fix)
            for other in between(fix, &random) {
                let place = Int.random(in: 0..<(tracks.count + others.count), using: &random)
                if place < tracks.count {
                    tracks[place].append(other)
                } else {
                    others[place - tracks.count].append(other)
                }
            }
        }
        func text(_ fixes: [Sighting], _ kind: Kind) -> String {
            var points = fixes.shuffled(using: &random).map {
                $0.element(kind.rawValue, Int.random(in: 0...999, using: &random))
            }
            if Int.random(in: 0...4, using: &random) == 0 {
                points.insert(
                    "<\(kind.rawValue) lat=\"1\" lon=\"2\"/>\n", at: Int.random(in: 0...points.count, using: &random))
            }
            return kind.text(points, &random)
        }
        var parts = zip(tracks, kinds).map { text($0, $1) }
        // All waypoints are one track: there are others only where it has no newest fix.
        for other in others {
            let first = kinds[0] == .waypoints ? 1 : 0
            let kind = Kind.allCases.dropFirst(first).randomElement(using: &random)!
            parts.insert(text(other, kind), at: Int.random(in: first...parts.count, using: &random))
        }
        if let (fix, track) = repeated(&random) {
            let kind = kinds[track]
            if kind == .track, Bool.random(using: &random) {
                // A route's goes behind a track's wherever it stands.
                parts.insert(text([fix], .route), at: 0)
            } else {
                parts.append(text([fix], kind))
            }
        }
        return "<gpx>\n\(parts.joined())</gpx>\n"
    }
}

/// What inputs the recordings are in.
private enum Form: CaseIterable {
    case keyedTable, tables, documents

    /// Recordings as inputs of one run: devices of a table, or a file each.
    func inputs(_ recordings: [FixesAtTicks], _ random: inout SplitMix64) -> [(name: String, bytes: [UInt8])] {
        let header = "time,lat,lon,accuracy,note\n"
        switch self {
        case .keyedTable:
            var text = "device,\(header)"
            for (number, recording) in recordings.enumerated() {
                for fix in recording.stream(&random) {
                    text += "d\(number)," + fix.row(Int.random(in: 0...999, using: &random))
                }
            }
            return [("all.csv", Array(text.utf8))]
        case .tables:
            return recordings.enumerated().map { ("ride\($0).csv", Array((header + $1.table(&random)).utf8)) }
        case .documents: return recordings.enumerated().map { ("ride\($0).gpx", Array($1.document(&random).utf8)) }
        }
    }
}

/// Contract C16: what is published is a function of the fixes at ticks.
@Suite struct NonInterferenceTests {
    private static let pairsPerBatch = 139

    /// 10,008 pairs of recordings with the same newest fix in each interval and nothing else in common: how many fixes
    /// there are between, where, how accurate, in which order and in which tracks. Either is converted with many others at
    /// once, of which each is a device or a person of its own.
    @Test(
        arguments: Form.allCases, TraceFormat.outputs.flatMap { [($0, Emission.changes), ($0, .recomputations)] })
    fileprivate func `recordings that agree at ticks give the same bytes`(
        _ form: Form, _ output: (format: TraceFormat, emission: Emission)
    ) throws {
        var random = SplitMix64(seed: 16)
        for batch in 0..<SampleSize.recordings.count {
            let interval = [60, 300, 900, 3_600][batch % 4]
            var recordings = (0..<Self.pairsPerBatch).map { _ in FixesAtTicks(interval: interval, &random) }
            func convert() -> (inputs: [[UInt8]], outcome: Outcome) {
                let inputs = form.inputs(recordings, &random)
                let outcome = TracesTests.convert(inputs) {
                    ($0.format, $0.emission, $0.interval) = (output.format, output.emission, .seconds(interval))
                    // Fixes between those at ticks are anywhere.
                    $0.acceptsJumps = true
                }
                return (inputs.map(\.bytes), outcome)
            }
            let (one, other) = (convert(), convert())
            #expect(zip(one.inputs, other.inputs).count { $0 != $1 } > one.inputs.count * 3 / 4)
            #expect(one.outcome.error == nil && one.outcome.summary.written >= Self.pairsPerBatch)
            #expect(one.outcome.output == other.outcome.output)
            // The comparison sees the difference of one fix at one tick.
            let chosen = Int.random(in: 0..<recordings.count, using: &random)
            recordings[chosen].newest[0].fix.latitude += 1
            #expect(convert().outcome.output != one.outcome.output)
        }
    }

    /// Where the rows of devices alternate, the order of different devices' reports is that of the input. What is reported
    /// is the same.
    @Test(arguments: [Emission.changes, .recomputations])
    func `interleaved devices give the same reports`(_ emission: Emission) {
        var random = SplitMix64(seed: 17)
        for _ in 0..<20 {
            let recordings = (0..<25).map { _ in FixesAtTicks(interval: 900, &random) }
            let rows = (0..<2).map { _ in
                var streams = recordings.map { $0.stream(&random)[...] }
                var text = "device,time,lat,lon,accuracy,note\n"
                while let next = streams.indices.filter({ !streams[$0].isEmpty }).randomElement(using: &random) {
                    text += "d\(next)," + streams[next].removeFirst().row(0)
                }
                return convert(text) { ($0.format, $0.emission, $0.acceptsJumps) = (.csv, emission, true) }.rows
            }
            #expect(rows[0].sorted() == rows[1].sorted() && rows[0].count > 25)
        }
    }

    /// So they are where the rows are in no order of time, whether they are answered as they come or sorted.
    @Test(arguments: [Emission.changes, .recomputations])
    func `tables in any order give the same reports`(_ emission: Emission) {
        var random = SplitMix64(seed: 18)
        var sides = [0, 0]
        for _ in 0..<30 {
            let recordings = (0..<25).map { _ in FixesAtTicks(interval: 900, &random) }
            func convert(_ rows: [(device: Int, fix: Sighting)]) -> [String] {
                var ticks: [Int: Int] = [:], late = 0
                for row in rows {
                    let tick = (row.fix.milliseconds + 899_999) / 900_000
                    if tick < ticks[row.device, default: 0] { late += 1 }
                    ticks[row.device] = max(tick, ticks[row.device, default: 0])
                }
                sides[4 * late > rows.count ? 1 : 0] += 1
                let text = rows.map { "d\($0.device),\($0.fix.row(0))" }.joined()
                return TracesTests.convert("device,time,lat,lon,accuracy,note\n" + text) {
                    ($0.format, $0.emission, $0.acceptsJumps) = (.csv, emission, true)
                }.rows
            }
            func rows(_ part: (FixesAtTicks) -> [Sighting]) -> [(device: Int, fix: Sighting)] {
                recordings.enumerated().flatMap { number, recording in part(recording).map { (number, $0) } }
            }
            let inOrder = convert(rows { $0.stream(&random) })
            let shuffled = convert(rows { $0.anyOrder(&random) }.shuffled(using: &random))
            let downwards = convert(
                rows { $0.anyOrder(&random) }.sorted { $0.fix.milliseconds > $1.fix.milliseconds })
            #expect(inOrder.sorted() == shuffled.sorted() && inOrder.sorted() == downwards.sorted())
            #expect(inOrder.count > 25)
        }
        #expect(sides[0] >= 20 && sides[1] >= 50)
    }
}
