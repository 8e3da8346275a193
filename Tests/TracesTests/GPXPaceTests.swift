import FixedRandom
import Foundation
import Hereabouts
import Testing

@testable import Traces

private typealias Place = (latitude: Double, longitude: Double)

private let vienna: Place = (48.208234, 16.373721)
private let basel: Place = (47.559612, 7.588634)
private let elPaso: Place = (31.761934, -106.485021)

/// Far apart, so that each answer computed anew is another one.
private let places: [Place] = [
    vienna, basel, elPaso, (-33.92, 18.42), (51.5, -0.12), (35.68, 139.76), (-22.9, -43.2), (19.43, -99.13),
    (1.29, 103.85), (59.33, 18.06), (40.42, -3.7), (41.01, 28.98),
]

private func point(_ element: String, _ place: Place, second: Int?) -> String {
    let time = second.map {
        String(format: "<time>2026-03-01T%02d:%02d:%02dZ</time>", $0 / 3600, $0 / 60 % 60, $0 % 60)
    }
    return "<\(element) lat=\"\(place.latitude)\" lon=\"\(place.longitude)\">\(time ?? "")</\(element)>"
}

private func waypoint(_ place: Place, minute: Double?) -> String {
    point("wpt", place, second: minute.map { Int($0 * 60) })
}

private func track(_ fixes: [(Double, Place)]) -> String {
    "<trk><trkseg>" + fixes.map { point("trkpt", $0.1, second: Int($0.0 * 60)) }.joined() + "</trkseg></trk>"
}

private func route(_ fixes: [(Double?, Place)]) -> String {
    "<rte>" + fixes.map { fix in point("rtept", fix.1, second: fix.0.map { Int($0 * 60) }) }.joined() + "</rte>"
}

private func gpx(_ parts: String...) -> String { "<gpx>\(parts.joined())</gpx>" }

/// The reports as device, minute, region.
private func reports(_ outcome: Outcome) -> [(device: String, minute: Double, region: String)] {
    outcome.rows.dropFirst().map { row in
        let fields = row.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        let clock = fields[1].dropFirst(11).dropLast().split(separator: ":").map { Double($0)! }
        return (fields[0], clock[0] * 60 + clock[1] + clock[2] / 60, fields[5])
    }
}

private func region(_ place: Place) -> String {
    let coordinate = Coordinate(latitude: place.latitude, longitude: place.longitude)
    let location = try? worldAtlas.reducedLocation(at: coordinate)
    return location?.region.description ?? "nowhere"
}

private func converted(_ input: String, _ emission: Emission = .changes) -> Outcome {
    convert(input) { ($0.format, $0.emission) = (.csv, emission) }
}

@Suite struct GPXPaceTests {
    /// A waypoint one second after an answer is within an interval of one and a half.
    @Test func theIntervalIsNotCutToSeconds() {
        let input = gpx(
            waypoint(elPaso, minute: 1.0 / 60), track([(0, vienna)]), track([(1, basel)]))
        for (interval, expected) in [(1_000, elPaso), (1_500, vienna)] {
            let outcome = convert(input) {
                ($0.format, $0.emission, $0.interval) = (.csv, .fixes, .milliseconds(interval))
            }
            let waypoints = reports(outcome).filter { $0.minute == 1.0 / 60 }
            #expect(waypoints.map(\.region) == [region(expected)])
        }
    }

    @Test func aWaypointWithinATrackGetsTheAnswerThatStands() {
        let ride = track([(0, vienna), (10, vienna), (20, basel), (30, basel)])
        let outcome = converted(gpx(waypoint(elPaso, minute: 12), waypoint(elPaso, minute: 25), ride), .fixes)
        let waypoints = reports(outcome).filter { $0.device == "1" }
        #expect(waypoints.map(\.minute) == [12, 25])
        #expect(waypoints.map(\.region) == [region(vienna), region(basel)])
        #expect(outcome.problems.isEmpty && outcome.summary.records == 6)
        // A recomputation is none of the waypoints'.
        #expect(reports(converted(gpx(waypoint(elPaso, minute: 12), ride), .recomputations)).map(\.minute) == [0, 20])
    }

    @Test(arguments: [
        (-20.0, true), (-15.0, true), (-14.0, false), (-1.0, false), (31.0, false), (34.0, false), (35.0, true),
        (60.0, true),
    ])
    func aWaypointOutsideIsAnsweredOnlyAnIntervalAwayFromEveryAnswer(_ minute: Double, _ isAnswered: Bool) {
        // Answers at 100 and 120; the track ends at 130.
        let ride = track([(100, vienna), (110, vienna), (120, basel), (130, basel)])
        let outcome = converted(gpx(waypoint(elPaso, minute: 100 + minute), ride))
        let found = reports(outcome).filter { $0.device == "1" }.map(\.region)
        let standing = minute > 0 ? [region(basel)] : []
        #expect(found == (isAnswered ? [region(elPaso)] : standing))
        #expect(outcome.problems.isEmpty)
    }

    @Test func routesKeepTheSamePace() {
        let ride = track([(0, vienna), (20, basel)])
        let outcome = converted(gpx(route([(5, elPaso), (30, elPaso), (50, elPaso)]), ride), .fixes)
        let found = reports(outcome).filter { $0.device == "1" }
        #expect(found.map(\.region) == [region(vienna), region(basel), region(elPaso)])
    }

    @Test func waypointsAloneAreAnsweredInOrderOfTime() {
        let input = gpx(
            waypoint(basel, minute: 40), waypoint(vienna, minute: 10), waypoint(elPaso, minute: 20),
            route([(30, basel), (60, vienna)]))
        let answered = reports(converted(input, .recomputations)).map { ($0.minute, $0.region) }
        #expect(answered.map(\.0) == [10, 30, 60])
        #expect(answered.map(\.1) == [region(vienna), region(basel), region(vienna)])
    }

    @Test func aTrackThatFollowsAnotherKeepsItsPace() {
        let rides = track([(0, vienna), (5, vienna)]) + track([(6, basel), (14, basel), (15, basel)])
        let answers = reports(converted(gpx(rides), .recomputations))
        #expect(answers.map(\.minute) == [0, 15] && answers.map(\.device) == ["1", "2"])
        // The second opens with the answer that stands.
        let changes = reports(converted(gpx(rides)))
        #expect(changes.map(\.minute) == [0, 6, 15])
        #expect(changes.map(\.region) == [region(vienna), region(vienna), region(basel)])
    }

    @Test func tracksThatOverlapAreDifferentDevices() {
        let rides = track([(0, vienna), (20, vienna)]) + track([(10, basel), (25, basel)])
        #expect(reports(converted(gpx(rides), .recomputations)).map(\.minute) == [0, 20, 10, 25])
    }

    @Test func pointsWithoutTimeBesideTimesAreBad() {
        let ride = track([(0, vienna)])
        let outcome = converted(gpx(waypoint(elPaso, minute: nil), route([(nil, basel)]), ride), .fixes)
        #expect(outcome.problems.map(\.reason) == [.timeMissing, .timeMissing])
        #expect(reports(outcome).map(\.device) == ["3"])
        let mixed = converted(gpx(waypoint(elPaso, minute: nil), waypoint(basel, minute: 5)), .fixes)
        #expect(mixed.problems.count == 1 && reports(mixed).map(\.region) == [region(basel)])
    }

    @Test func badPositionsWithinATrackAreStillBad() {
        let outcome = converted(gpx(waypoint((91, 0), minute: 5), track([(0, vienna), (10, vienna)])))
        #expect(outcome.problems.map(\.reason) == [.latitudeOutOfRange])
    }

    /// Contract C9 for the person of a file: over random files, the answers of all tracks, routes and waypoints taken
    /// together change at most four times in any half-open hour, counted on the output.
    @Test(arguments: [Emission.changes, .fixes])
    func aFilesPersonIsNeverAnsweredMoreThanFourTimesAnHour(_ emission: Emission) {
        var random = SplitMix64(seed: 31)
        var most = 0
        var written = 0
        for _ in 0..<200 {
            var parts = ""
            for _ in 0..<Int.random(in: 0...40, using: &random) {
                parts += point(
                    "wpt", places.randomElement(using: &random)!, second: Int.random(in: 0..<28_800, using: &random))
            }
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                parts += route(
                    (0..<Int.random(in: 1...10, using: &random)).map { _ in
                        (Double.random(in: 0..<480, using: &random), places.randomElement(using: &random)!)
                    })
            }
            var minute = Double.random(in: 0...200, using: &random)
            for _ in 0..<Int.random(in: 0...5, using: &random) {
                var fixes: [(Double, Place)] = []
                for _ in 0..<Int.random(in: 1...40, using: &random) {
                    fixes.append((minute, places.randomElement(using: &random)!))
                    minute += Double.random(in: 0.1...3, using: &random)
                }
                parts += track(fixes)
                minute += Double.random(in: 0.1...30, using: &random)
            }
            let outcome = converted(gpx(parts), emission)
            let sequence = reports(outcome).sorted { $0.minute < $1.minute }
            var changes: [Double] = []
            var last = ""
            for report in sequence where report.region != last {
                last = report.region
                changes.append(report.minute)
            }
            for start in changes { most = max(most, changes.filter { $0 >= start && $0 < start + 60 }.count) }
            written += sequence.count
        }
        #expect(most == 4 && written > 2000)
    }
}
