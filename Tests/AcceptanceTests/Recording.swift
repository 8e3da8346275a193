import Foundation
import Hereabouts
import Testing
import Traces

/// A recording run through `convert`, with the fixes that its reports were made from.
struct Recording {
    /// A point of the file, in the file's order.
    let fixes: [Coordinate]
    /// One row per fix: what stood when it came.
    let standing: [Report]
    /// The recomputations, each with the index of the fix it was made from. Those of a device without times, which
    /// cannot be paced, are the changes of its answer.
    let recomputations: [(report: Report, fix: Int)]

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
        fixes = try Self.points(of: String(contentsOf: file, encoding: .utf8))
        standing = try Self.convert(file, .fixes)
        try #require(standing.count == fixes.count && !fixes.isEmpty)
        var next = 0
        var found: [(Report, Int)] = []
        for report in try Self.convert(file, .recomputations) {
            // Rows come in the order of the fixes, and a recomputation's is among them.
            next = try #require(standing[next...].firstIndex(of: report))
            found.append((report, next))
        }
        recomputations = found
    }

    /// Where every point of a GPX file is, found without the reader under test.
    private static func points(of text: String) throws -> [Coordinate] {
        // Waypoints without times beside a track are refused, so that they do not count.
        var pieces = text.components(separatedBy: "<wpt ")
        for index in pieces.indices.dropFirst() where text.contains("<trkpt ") {
            if let end = pieces[index].range(of: "</wpt>"), !pieces[index][..<end.lowerBound].contains("<time>") {
                pieces[index] = String(pieces[index][end.upperBound...])
            } else {
                pieces[index] = "<wpt " + pieces[index]
            }
        }
        let timed = text.contains("<trkpt ") ? pieces.joined() : text
        return try timed.split(separator: "<").filter { tag in
            ["wpt ", "rtept ", "trkpt "].contains { tag.hasPrefix($0) }
        }.map { tag in
            func attribute(_ name: String) throws -> Double {
                let value = tag.components(separatedBy: " \(name)=\"").dropFirst().first?.prefix { $0 != "\"" }
                let number = value.flatMap { Double($0) }
                return try #require(number)
            }
            return Coordinate(latitude: try attribute("lat"), longitude: try attribute("lon"))
        }
    }

    private static func convert(_ file: URL, _ emission: Emission) throws -> [Report] {
        let result = FileManager.default.temporaryDirectory.appendingPathComponent(
            "hereabouts-\(UUID().uuidString).csv")
        defer { try? FileManager.default.removeItem(at: result) }
        var options = ConvertRun.Options()
        options.format = .csv
        options.emission = emission
        let inputs = [InputName.file(file.path)]
        _ = try ConvertRun.run(
            inputs, to: try OutputFile.file(result.path), atlas: atlas, options: options, observer: RunObserver())
        let rows = try String(contentsOf: result, encoding: .utf8).split(separator: "\n")
        return try rows.dropFirst().map { try Report($0) }
    }

    // MARK: What is asked of every recording

    /// Every circle contains the fix it was made from, by PROJ.
    func expectCirclesContainTheirFixes() throws {
        for (report, fix) in recomputations {
            #expect(try distance(report.center, fixes[fix]) <= report.horizontalAccuracy)
        }
    }

    /// At most four recomputations of a device in any hour that includes its start and not its end.
    func expectPaced() throws {
        let timed = recomputations.map(\.report).filter { !$0.time.isEmpty }
        #expect(!timed.isEmpty)
        for (_, reports) in Dictionary(grouping: timed, by: \.device) {
            let times = try reports.map { try $0.seconds }
            for index in times.indices.dropFirst(4) { #expect(times[index] - times[index - 4] >= 3600) }
        }
    }

    /// Every report's country is the one expected, and so is the one its center lies in: in the atlas, and in the
    /// source where that is at hand.
    func expectCountry(_ code: String) throws {
        let centers = Set(recomputations.map(\.report.center))
        #expect(Set(standing.map { String($0.country) }) == [code])
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
        let reports = recomputations.map(\.report).filter { !$0.time.isEmpty }
        let radii = reports.map(\.horizontalAccuracy)
        let names = reports.map { "\($0.place) \(Int($0.horizontalAccuracy))" }
        return "\(name): \(fixes.count) fixes, \(reports.count) recomputations, accuracy \(Int(radii.min() ?? 0)) to "
            + "\(Int(radii.max() ?? 0)) m: \(names.joined(separator: ", "))"
    }
}
