import Foundation
import Hereabouts
import Testing
import Traces

/// A recording run through `convert`, with the fixes that its answers were given for.
struct Recording {
    /// A point of the file.
    struct Point {
        var coordinate: Coordinate
        /// Seconds since 1970; nil where it has no time.
        var seconds: Double?
    }

    /// The points of the file, in the schema's order: waypoints, routes, tracks; without those that have no time beside
    /// others that have one.
    let fixes: [Point]
    /// The answers, each with the fix that it was given for: the newest of the quarter of an hour up to it. Those of a
    /// device without times, which cannot be paced, are the answers to each fix.
    let answers: [(report: Report, fix: Point)]

    /// A row of `convert`'s CSV.
    struct Report: Hashable {
        var device: Substring
        var time: Substring
        var center: Coordinate
        var horizontalAccuracy: Double
        var country: Substring
        var place: Substring

        /// Columns: device, time, latitude, longitude, horizontal_accuracy, region, country, place.
        init(_ row: Substring) throws {
            let columns = row.split(separator: ",", maxSplits: 7, omittingEmptySubsequences: false)
            try #require(columns.count == 8)
            (device, time, country, place) = (columns[0], columns[1], columns[6], columns[7])
            let (latitude, longitude) = (Double(columns[2]), Double(columns[3]))
            center = Coordinate(latitude: try #require(latitude), longitude: try #require(longitude))
            let radius = Double(columns[4])
            horizontalAccuracy = try #require(radius)
        }

        /// Seconds since 1970.
        var seconds: Double {
            get throws {
                let date = ISO8601DateFormatter().date(from: String(time))
                return try #require(date).timeIntervalSince1970
            }
        }
    }

    init(_ file: URL) throws {
        let points = try Self.points(of: String(contentsOf: file, encoding: .utf8))
        let timed = points.filter { $0.seconds != nil }
        fixes = timed.isEmpty ? points : timed
        try #require(!fixes.isEmpty)
        let reports = try Self.convert(file)
        guard !timed.isEmpty else {
            try #require(reports.count == points.count)
            answers = Array(zip(reports, points))
            return
        }
        // Of points at one time the first of the file counts.
        answers = try reports.map { report in
            let tick = try report.seconds
            let interval = timed.filter { $0.seconds! > tick - 900 && $0.seconds! <= tick }
            let newest = try #require(interval.map { $0.seconds! }.max())
            return (report, try #require(interval.first { $0.seconds == newest }))
        }
        // Each tick that has a fix is answered, once.
        #expect(
            Set(timed.map { ($0.seconds! / 900).rounded(.up) * 900 }) == Set(try answers.map { try $0.report.seconds }))
    }

    /// Every point of a GPX file, in the schema's order, found without the reader under test.
    private static func points(of text: String) throws -> [Point] {
        var points: [Point] = []
        for name in ["wpt", "rtept", "trkpt"] {
            for piece in text.components(separatedBy: "<\(name) ").dropFirst() {
                let element = piece.components(separatedBy: "</\(name)>")[0]
                func attribute(_ name: String) throws -> Double {
                    let value = " \(element)".components(separatedBy: " \(name)=\"").dropFirst().first?.prefix {
                        $0 != "\""
                    }
                    let number = value.flatMap { Double($0) }
                    return try #require(number)
                }
                let time = element.components(separatedBy: "<time>").dropFirst().first?.prefix { $0 != "<" }
                points.append(
                    Point(
                        coordinate: Coordinate(latitude: try attribute("lat"), longitude: try attribute("lon")),
                        seconds: try time.map { try Self.seconds($0) }))
            }
        }
        return points
    }

    /// Seconds since 1970 of a time with or without a fraction.
    private static func seconds(_ text: Substring) throws -> Double {
        let fraction = text.split(separator: ".", maxSplits: 1).dropFirst().first?.prefix { $0.isNumber } ?? "0"
        let date = ISO8601DateFormatter().date(from: String(text.replacing(/\.\d+/, with: "")))
        return try #require(date).timeIntervalSince1970 + (Double("0.\(fraction)") ?? 0)
    }

    /// The answers of `convert`, one for each tick that has a fix.
    private static func convert(_ file: URL) throws -> [Report] {
        let result = FileManager.default.temporaryDirectory.appendingPathComponent(
            "hereabouts-\(UUID().uuidString).csv")
        defer { try? FileManager.default.removeItem(at: result) }
        var options = ConvertRun.Options()
        options.format = .csv
        options.emission = .recomputations
        let inputs = [InputName.file(file.path)]
        _ = try ConvertRun.run(
            inputs, to: try OutputFile.file(result.path), atlas: atlas, options: options, observer: RunObserver())
        let rows = try String(contentsOf: result, encoding: .utf8).split(separator: "\n")
        return try rows.dropFirst().map { try Report($0) }
    }

    // MARK: What is asked of every recording

    /// Every circle contains the fix it was given for, by PROJ.
    func expectCirclesContainTheirFixes() throws {
        for (report, fix) in answers {
            #expect(try distance(report.center, fix.coordinate) <= report.horizontalAccuracy)
        }
    }

    /// One answer at most for each tick, so four in an hour.
    func expectPaced() throws {
        let times = try answers.map(\.report).filter { !$0.time.isEmpty }.map { try $0.seconds }
        #expect(!times.isEmpty && Set(times).count == times.count)
        for time in times { #expect(time.truncatingRemainder(dividingBy: 900) == 0) }
    }

    /// Every report's country is the one expected, and so is the one its center lies in: in the atlas, and in the
    /// source where that is at hand.
    func expectCountry(_ code: String) throws {
        let centers = Set(answers.map(\.report.center))
        #expect(Set(answers.map { String($0.report.country) }) == [code])
        for center in centers { #expect(atlas.country(of: try atlas.snap(center)).code == code) }
        guard SourceFile.borders.exists else {
            print("skipped: no borders in .build/sources to look the centers up in")
            return
        }
        let points = centers.flatMap { [$0.longitude, $0.latitude] }
        for found in try PolygonOracle.borders.get().codes(of: points) { #expect(found == CountryCode(code)) }
    }

    /// What came of it, for the log.
    func summary(_ name: String) -> String {
        let reports = answers.map(\.report).filter { !$0.time.isEmpty }
        let radii = reports.map(\.horizontalAccuracy)
        let names = reports.map { "\($0.place) \(Int($0.horizontalAccuracy))" }
        return "\(name): \(fixes.count) fixes, \(reports.count) answers, accuracy \(Int(radii.min() ?? 0)) to "
            + "\(Int(radii.max() ?? 0)) m: \(names.joined(separator: ", "))"
    }
}
