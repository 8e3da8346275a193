import FixedRandom
import Foundation
import Hereabouts
import Testing

@testable import Traces

/// A point of a recording.
private struct Point {
    /// Since 1970.
    var second: Int
    var latitude: Double
    var longitude: Double

    /// With six decimals, which is what the sample has.
    var position: String { String(format: "lat=\"%.6f\" lon=\"%.6f\"", latitude, longitude) }

    var time: String { Date(timeIntervalSince1970: Double(second)).formatted(.iso8601) }

    /// In GPX.
    func element(_ name: String) -> String { "<\(name) \(position)><time>\(time)</time></\(name)>" }

    /// A row of a table.
    var row: String { time + String(format: ",%.6f,%.6f\n", latitude, longitude) }
}

/// The sample's drive of 2 h 24 min, every fifth of its fixes, and the last.
private let drive: [Point] = {
    let file = projectFolder.appendingPathComponent("data/samples/i10-el-paso.gpx")
    let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    let parser = ISO8601DateFormatter()
    let points = text.components(separatedBy: "<trkpt ").dropFirst().compactMap { piece -> Point? in
        let words = piece.components(separatedBy: "\"")
        let time = piece.components(separatedBy: "<time>").dropFirst().first?.components(separatedBy: "<").first
        guard words.count > 3, let latitude = Double(words[1]), let longitude = Double(words[3]),
            let date = time.flatMap({ parser.date(from: $0) })
        else { return nil }
        return Point(second: Int(date.timeIntervalSince1970), latitude: latitude, longitude: longitude)
    }
    return points.indices.filter { $0 % 5 == 0 || $0 == points.count - 1 }.map { points[$0] }
}()

/// The drive in pieces of a minute; with `sharesEnds`, each piece's last point is also the next one's first.
private func minutes(sharesEnds: Bool = false) -> [[Point]] {
    var pieces: [[Point]] = []
    for point in drive {
        if let first = pieces.last?.first, point.second / 60 == first.second / 60 {
            pieces[pieces.count - 1].append(point)
        } else {
            if sharesEnds, !pieces.isEmpty { pieces[pieces.count - 1].append(point) }
            pieces.append([point])
        }
    }
    return pieces
}

private func track(_ points: [Point]) -> String {
    "<trk><trkseg>" + points.map { $0.element("trkpt") }.joined(separator: "\n") + "</trkseg></trk>\n"
}

private func gpx(_ parts: [String]) -> [UInt8] { Array("<gpx>\n\(parts.joined())</gpx>\n".utf8) }

private func table(_ points: some Sequence<Point>) -> [UInt8] {
    Array(("time,lat,lon\n" + points.map(\.row).joined()).utf8)
}

/// An answer as the output has it.
private struct Answer: Hashable, Comparable {
    var time: String
    var region: String
    /// The number of the track.
    var track = "1"

    static func < (left: Answer, right: Answer) -> Bool { left.time < right.time }
}

/// The answers of a CSV output, in order of time.
private func answers(_ outcome: Outcome) -> [Answer] {
    outcome.rows.dropFirst().map { row in
        let fields = row.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        return Answer(time: fields[1], region: fields[5], track: fields[0])
    }.sorted()
}

extension [Answer] {
    /// Whatever tracks they came out in.
    fileprivate var merged: [Answer] { map { Answer(time: $0.time, region: $0.region) } }
}

/// What a person is to be answered, by contract C9: of the fixes of each interval the newest, and of equal ones that of a
/// track, else of a route, else the first of the input; in order of time to a `Pacer`. Tracks count as they are answered.
///
/// - Parameter kinds: of each track: 2 of a track, 1 of a route, 0 of waypoints; nil where all are alike.
private func expected(
    _ tracks: [[Point]], _ emission: Emission, kinds: [Int]? = nil, interval: Int = 900
) throws -> [Answer] {
    var newest: [Int: (point: Point, track: Int)] = [:]
    for (number, track) in tracks.enumerated() {
        for point in track {
            let tick = (point.second + interval - 1) / interval
            if let known = newest[tick] {
                let kind = kinds?[number] ?? 0, knownKind = kinds?[known.track] ?? 0
                if (known.point.second, knownKind) >= (point.second, kind) { continue }
            }
            newest[tick] = (point, number)
        }
    }
    var pacer = Pacer(interval: .seconds(interval))
    var found: [(answer: Answer, track: Int)] = []
    for (tick, (point, track)) in newest.sorted(by: { $0.key < $1.key }) {
        let fix = Fix(
            coordinate: Coordinate(
                latitude: try #require(Double(String(format: "%.6f", point.latitude))),
                longitude: try #require(Double(String(format: "%.6f", point.longitude)))),
            time: try #require(Timestamp(secondsSince1970: Int64(point.second))))
        let moment = try #require(Timestamp(secondsSince1970: Int64(tick * interval)))
        #expect(try pacer.report(fix, in: worldAtlas) == .kept(nil))
        let answer = try #require(try pacer.tick(moment, in: worldAtlas))
        guard answer.isNew || emission == .recomputations else { continue }
        let region = try worldAtlas.reducedLocation(of: answer.region).region.description
        let time = Date(timeIntervalSince1970: Double(tick * interval)).formatted(.iso8601)
        found.append((Answer(time: time, region: region), track))
    }
    let numbers = Set(found.map(\.track)).sorted()
    return try found.map { answer, track in
        let number = try #require(numbers.firstIndex(of: track)) + 1
        return Answer(time: answer.time, region: answer.region, track: String(number))
    }
}

/// Ways to cut the drive, or to copy it, that must change no answer.
private enum Cutting: String, CaseIterable {
    case segments, laps, lapsNewestFirst, twoCopies, copiesAMinuteApart, routes, waypoints, shuffledTable
    case keyedLaps, filesOfOnePerson, filesOfOneName, tablesOfOneName, documentAndTable

    /// The inputs, and the points of each track of them in order.
    fileprivate var inputs: (files: [(name: String, bytes: [UInt8])], tracks: [[Point]]) {
        let pieces = minutes(sharesEnds: self == .laps || self == .lapsNewestFirst)
        switch self {
        case .segments:
            let joined = pieces.map { $0.map { $0.element("trkpt") }.joined() }.joined(separator: "</trkseg><trkseg>")
            return ([("ride.gpx", gpx(["<trk><trkseg>\(joined)</trkseg></trk>"]))], [drive])
        case .laps: return ([("ride.gpx", gpx(pieces.map(track)))], pieces)
        case .lapsNewestFirst: return ([("ride.gpx", gpx(pieces.reversed().map(track)))], pieces.reversed())
        case .twoCopies: return ([("ride.gpx", gpx([track(drive), track(drive)]))], [drive, drive])
        case .copiesAMinuteApart:
            let copies = (0..<20).reversed().map { start in
                Array(drive.drop { $0.second < drive[0].second + 60 * start })
            }
            return ([("ride.gpx", gpx(copies.map(track)))], copies)
        case .routes:
            let routes = pieces.map { "<rte>" + $0.map { $0.element("rtept") }.joined() + "</rte>" }
            return ([("ride.gpx", gpx(routes))], pieces)
        case .waypoints: return ([("ride.gpx", gpx(drive.reversed().map { $0.element("wpt") }))], [drive])
        case .shuffledTable:
            var random = SplitMix64(seed: 3)
            return ([("ride.csv", table(drive.shuffled(using: &random)))], [drive])
        case .keyedLaps:
            let rows = pieces.enumerated().flatMap { number, piece in piece.map { "lap \(number),\($0.row)" } }
            return ([("ride.csv", Array(("device,time,lat,lon\n" + rows.joined()).utf8))], [drive])
        case .filesOfOnePerson:
            return (pieces.enumerated().map { ("ride\($0).gpx", gpx([track($1)])) }, pieces)
        case .filesOfOneName:
            return (pieces.enumerated().map { ("part\($0)/ride.\($0).gpx", gpx([track($1)])) }, pieces)
        case .tablesOfOneName:
            return (pieces.enumerated().map { ("part\($0)/ride.csv", table($1)) }, pieces)
        case .documentAndTable:
            let half = drive.count / 2
            return (
                [("ride.csv", table(drive[half...])), ("ride.gpx", gpx([track(Array(drive[...half]))]))],
                [Array(drive[half...]), Array(drive[...half])]
            )
        }
    }
}

@Suite struct PersonTests {
    private func convert(
        _ files: [(name: String, bytes: [UInt8])], _ emission: Emission,
        _ change: (inout ConvertRun.Options) -> Void = { _ in }
    ) -> Outcome {
        TracesTests.convert(files) {
            ($0.format, $0.emission) = (.csv, emission)
            change(&$0)
        }
    }

    @Test func `the drive has its answers`() throws {
        #expect(drive.count == 1_732 && minutes().count == 145)
        let recomputations = answers(convert([("ride.gpx", gpx([track(drive)]))], .recomputations))
        #expect(recomputations.map { $0.time.dropFirst(11) }.first == "14:00:00Z")
        #expect(recomputations.count == 11 && recomputations.last?.time == "2026-05-09T16:30:00Z")
        // Each is another than the one before.
        #expect(answers(convert([("ride.gpx", gpx([track(drive)]))], .changes)) == recomputations)
    }

    /// Contract C9: what a recording was cut into, in which order, and how often it was copied, changes no answer, and
    /// each answer comes out in the track that its fix is in.
    @Test(arguments: Cutting.allCases, [Emission.changes, .recomputations])
    fileprivate func `cutting changes no answer`(_ cutting: Cutting, _ emission: Emission) throws {
        let (files, tracks) = cutting.inputs
        let outcome = convert(files, emission) { $0.isOneDevice = [.filesOfOnePerson, .keyedLaps].contains(cutting) }
        let whole = try expected([drive], emission)
        #expect(answers(outcome).merged == whole)
        #expect(answers(outcome) == (try expected(tracks, emission)))
        #expect(outcome.error == nil && outcome.problems.isEmpty && outcome.notices.isEmpty)
        #expect(outcome.summary.records == tracks.reduce(0) { $0 + $1.count })
        // Joined, not even the tracks tell how it was cut (contract C16).
        let joined = convert(files, emission) {
            $0.isOneDevice = [.filesOfOnePerson, .keyedLaps].contains(cutting)
            ($0.joinsTracks, $0.format) = (true, .gpx)
        }
        let one = convert([("ride.gpx", gpx([track(drive)]))], emission) { $0.format = .gpx }
        #expect(joined.output == one.output && joined.error == nil)
    }

    /// The state of `--state` is of one person, whatever the files are called.
    @Test(arguments: [Emission.changes, .recomputations])
    func `with a state all inputs are one persons`(_ emission: Emission) throws {
        let scratch = Scratch()
        let files = minutes().enumerated().map { (name: "ride\($0).gpx", bytes: gpx([track($1)])) }
        let outcome = convert(files, emission) { $0.state = scratch.path("state") }
        #expect(answers(outcome).merged == (try expected([drive], emission)))
    }

    @Test func `files of other names are other persons`() throws {
        let files = minutes().enumerated().map { (name: "ride\($0).gpx", bytes: gpx([track($1)])) }
        let found = answers(convert(files, .recomputations))
        // Of each file one tick, and of the ten that begin on a tick, that one too.
        #expect(found.count == 155)
        // A person is answered when the last of its files has ended, whatever stands between.
        let half = drive.count / 2
        let parts = [
            gpx([track(Array(drive[half...]))]), gpx([track([drive[0]])]), gpx([track(Array(drive[..<half]))]),
        ]
        let mixed = convert(Array(zip(["a/ride.gpx", "b/walk.gpx", "c/ride.gpx"], parts)), .recomputations)
        let apart = [("ride.gpx", gpx([track(drive)])), ("walk.gpx", parts[1])].map { convert([$0], .recomputations) }
        #expect(answers(mixed).merged.sorted() == apart.flatMap { answers($0).merged }.sorted())
        #expect(mixed.rows.dropFirst().first?.hasPrefix("1,2026-05-09T14:00:00Z") == true)
        // Without a folder or an extension a name is as good.
        let bare = convert([("ride", parts[0]), (".ride", parts[2])], .recomputations)
        #expect(
            answers(bare).merged.sorted()
                == parts.indices.filter { $0 != 1 }.flatMap {
                    answers(convert([("x", parts[$0])], .recomputations)).merged
                }.sorted())
    }

    @Test func `untimed tracks beside a timed one are bad records`() throws {
        let untimed = minutes().map { "<trk><trkseg><trkpt \($0[0].position)/></trkseg></trk>\n" }
        for parts in [[track(drive)] + untimed, untimed + [track(drive)]] {
            let outcome = convert([("ride.gpx", gpx(parts))], .recomputations)
            #expect(answers(outcome) == (try expected([drive], .recomputations)))
            #expect(outcome.problems.map(\.reason) == Array(repeating: .timeMissing, count: 145))
            #expect(outcome.summary.badRecords == 145 && outcome.notices.isEmpty)
            let stopped = convert([("ride.gpx", gpx(parts))], .recomputations) { $0.onError = .stop }
            #expect(stopped.error == .stopped && stopped.output.isEmpty)
        }
        // The times may be in another file of that name.
        let files = [(name: "a/ride.gpx", bytes: gpx(untimed)), (name: "b/ride.gpx", bytes: gpx([track(drive)]))]
        let outcome = convert(files, .recomputations)
        #expect(answers(outcome) == (try expected([drive], .recomputations)))
        #expect(outcome.summary.badRecords == 145)
    }

    /// Waypoints and routes without times are mostly plans.
    @Test func `untimed plans beside a track are left out`() throws {
        let plans = [
            "<wpt \(drive[7].position)/>", "<rte><rtept \(drive[9].position)/><rtept \(drive[10].position)/></rte>",
        ]
        let outcome = convert([("ride.gpx", gpx(plans + [track(drive)]))], .recomputations)
        #expect(answers(outcome) == (try expected([drive], .recomputations)))
        #expect(outcome.notices == [.untimedPlans(file: "ride.gpx", count: 3)])
        #expect(outcome.problems.isEmpty && outcome.summary.records == drive.count + 3)
    }

    @Test func `a document without times is answered in its order`() {
        let untimed = "<trk><trkseg>" + drive.map { "<trkpt \($0.position)/>" }.joined() + "</trkseg></trk>"
        let outcome = convert([("ride.gpx", gpx([untimed]))], .changes)
        #expect(outcome.notices == [.untimed(file: "ride.gpx")] && outcome.problems.isEmpty)
        #expect(outcome.rows.count > 11 && outcome.rows.dropFirst().allSatisfy { $0.hasPrefix("1,,") })
    }

    /// A waypoint in an interval is nothing but one more fix.
    @Test func `a waypoint within a track is a fix of the person`() throws {
        let start = drive[0].second
        let elsewhere = { (second: Int) in Point(second: start + second, latitude: 48.208234, longitude: 16.373721) }
        let whole = convert([("ride.gpx", gpx([track(drive)]))], .recomputations)
        for second in [1, 450, 454, 899] {
            let parts = [elsewhere(second).element("wpt"), track(drive)]
            let outcome = convert([("ride.gpx", gpx(parts))], .recomputations)
            #expect(outcome.output == whole.output)
        }
        // At the time of the track's newest fix, that one counts.
        for order in [[0, 1], [1, 0]] {
            let parts = [elsewhere(900).element("wpt"), track(drive)]
            #expect(convert([("ride.gpx", gpx(order.map { parts[$0] }))], .recomputations).output == whole.output)
        }
        // After the last of the track it is the newest, and comes out as the waypoint that it is.
        let last = Point(second: drive[drive.count - 1].second + 1, latitude: 48.208234, longitude: 16.373721)
        let outcome = convert([("ride.gpx", gpx([last.element("wpt"), track(drive)]))], .recomputations)
        #expect(answers(outcome) == (try expected([[last], drive], .recomputations)))
        #expect(answers(outcome).last?.track == "1" && answers(outcome).merged != answers(whole).merged)
    }

    @Test func `with devices tracks each track is a person`() throws {
        let pieces = minutes(sharesEnds: true)
        for emission in [Emission.changes, .recomputations] {
            let outcome = convert([("rides.gpx", gpx(pieces.map(track)))], emission) { $0.devices = .tracks }
            var apart: [Answer] = []
            for (number, piece) in pieces.enumerated() {
                apart += try expected([piece], emission).map {
                    Answer(time: $0.time, region: $0.region, track: String(number + 1))
                }
            }
            let found = answers(outcome)
            #expect(Set(found) == Set(apart) && found.count == apart.count && found.count > 145)
        }
    }

    /// Every fix has a record with the answer that stood at its time, in the track that it is in.
    @Test func `every fix has the answer that stood`() throws {
        let pieces = minutes(sharesEnds: true).reversed()
        let outcome = convert([("ride.gpx", gpx(pieces.map(track)))], .fixes)
        let standing = try expected([drive], .recomputations)
        var rows: [Answer] = []
        for (number, piece) in pieces.enumerated() {
            for point in piece {
                let answer = try #require(standing.last { $0.time <= point.time })
                rows.append(Answer(time: point.time, region: answer.region, track: String(number + 1)))
            }
        }
        let found = outcome.rows.dropFirst().map { row in
            let fields = row.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            return Answer(time: fields[1], region: fields[5], track: fields[0])
        }
        #expect(found == rows)
        // Before the first answer there is a blank record in a table and none elsewhere.
        let late = Array(drive.dropFirst())
        let blanks = late.count { $0.second < drive[0].second + 900 }
        let table = convert([("ride.gpx", gpx([track(late)]))], .fixes)
        #expect(table.rows.count == 1 + late.count)
        #expect(table.rows[1...blanks].allSatisfy { $0.hasSuffix("Z,,,,,,") })
        #expect(table.rows[1 + blanks].hasPrefix("1,2026-05-09T14:15:00Z,"))
        for format in [TraceFormat.gpx, .geojson] {
            let outcome = convert([("ride.gpx", gpx([track(late)]))], .fixes) { $0.format = format }
            #expect(outcome.summary.written == late.count - blanks)
        }
    }

    @Test func `bad positions within a track are bad records`() {
        let outside = Point(second: drive[0].second + 450, latitude: 91, longitude: 0)
        let outcome = convert([("ride.gpx", gpx([outside.element("wpt"), track(drive)]))], .changes)
        #expect(outcome.problems.map(\.reason) == [.latitudeOutOfRange] && outcome.rows.count == 12)
    }

    /// Over random documents, the answers are those of the rule, whatever tracks, routes and waypoints they have, and there
    /// are at most four in any half-open hour.
    @Test func `random documents are answered by the rule`() throws {
        let places = [
            (48.208234, 16.373721), (47.559612, 7.588634), (31.761934, -106.485021), (-33.92, 18.42), (51.5, -0.12),
        ]
        var random = SplitMix64(seed: 31)
        var (most, count) = (0, 0)
        func points(_ range: ClosedRange<Int>) -> [Point] {
            (0..<Int.random(in: range, using: &random)).map { _ in
                let place = places.randomElement(using: &random)!
                // Whole tens of seconds, so that many are on ticks and many twice.
                return Point(
                    second: 1_772_323_200 + 10 * Int.random(in: 0...2_880, using: &random), latitude: place.0,
                    longitude: place.1)
            }
        }
        for _ in 0..<200 {
            let waypoints = points(0...20), routes = (0..<2).map { _ in points(1...5) }
            let tracks = (0..<4).map { _ in points(1...20) }
            let parts =
                waypoints.map { $0.element("wpt") }
                + routes.map { "<rte>\($0.map { $0.element("rtept") }.joined())</rte>" } + tracks.map(track)
            for emission in [Emission.changes, .recomputations] {
                let outcome = convert([("ride.gpx", gpx(parts))], emission) { $0.acceptsJumps = true }
                let all = (waypoints.isEmpty ? [] : [waypoints]) + routes + tracks
                let kinds = (waypoints.isEmpty ? [] : [0]) + routes.map { _ in 1 } + tracks.map { _ in 2 }
                #expect(answers(outcome) == (try expected(all, emission, kinds: kinds)))
                let times = answers(outcome).map(\.time)
                #expect(Set(times).count == times.count)
                for time in times {
                    let start = try #require(ISO8601DateFormatter().date(from: time))
                    let end = start.addingTimeInterval(3_600).formatted(.iso8601)
                    most = max(most, times.count { $0 >= time && $0 < end })
                }
                count += times.count
            }
        }
        #expect(most == 4 && count > 5_000)
    }
}
