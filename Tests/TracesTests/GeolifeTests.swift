import Foundation
import Hereabouts
import Testing

@testable import Traces

/// Geolife's trajectories, whose extension is OziExplorer's.
@Suite struct GeolifeTests {
    private static let header =
        "Geolife trajectory\r\nWGS 84\r\nAltitude is in Feet\r\nReserved 3\r\n0,2,255,My Track,0,0,2,8421376\r\n0\r\n"
    private static let beijing = """
        39.984702,116.318417,0,492,39744.1201851852,2008-10-23,02:53:04\r
        39.994683,116.318450,0,492,39744.1702546296,2008-10-23,04:05:10\r

        """

    private static func run(_ text: String, _ name: String = "a.plt", readBytes: Int = 1 << 18) -> Outcome {
        convert([(name: name, bytes: Array(text.utf8))]) {
            ($0.format, $0.emission, $0.readBytes) = (.csv, .recomputations, readBytes)
        }
    }

    private static func times(_ outcome: Outcome) -> [String] {
        outcome.rows.dropFirst().map { String($0.split(separator: ",", omittingEmptySubsequences: false)[1]) }
    }

    @Test func `times are GMT and positions latitude first`() throws {
        for (name, readBytes) in [("20081023025304.plt", 1 << 18), ("a.PLT", 7), ("log", 1), ("log.txt", 100)] {
            let outcome = Self.run(Self.header + Self.beijing, name, readBytes: readBytes)
            #expect(outcome.error == nil && outcome.summary.records == 2 && outcome.problems.isEmpty)
            #expect(Self.times(outcome) == ["2008-10-23T03:00:00Z", "2008-10-23T04:15:00Z"])
            let place = try center(39.984702, 116.318417)
            #expect(outcome.rows[1].contains("\(place.latitude),\(place.longitude)"))
        }
        // Lines that end with a line feed alone, and none after the last.
        let unix = (Self.header + Self.beijing).replacing("\r", with: "").dropLast()
        #expect(Self.run(String(unix)).output == Self.run(Self.header + Self.beijing).output)
    }

    @Test func `snap reads them too`() throws {
        let outcome = snap(Self.header + Self.beijing)
        #expect(outcome.rows[1].hasPrefix("1,2008-10-23T02:53:04Z,") && outcome.rows.count == 3)
        #expect(outcome.rows[1].hasSuffix(try reducedColumns(39.984702, 116.318417)))
    }

    /// Places elsewhere, a height that is not known, a year's end, and what the data set has beyond the poles.
    @Test func `records are read one by one`() throws {
        let outcome = Self.run(
            Self.header + """
                -33.868800,151.209300,0,-777,42735.9895833333,2016-12-31,23:45:00
                47.643300,-122.332300,0,131.2,42736.0104166667,2017-01-01,00:15:00
                400.166666,116.318417,0,492,42736.0416666667,2017-01-01,01:00:00
                39.984702,116.318417,0,492,42736.0416666667,2017-01-01
                39.984702,116.318417,492,0,42736.0416666667,2017-01-01,25:00:00
                39,984702,116.318417,0,492,42736.0416666667,2017-01-01,01:00:00
                39.984702,116.318417,0,492,39744.1201851852,2017-01-01,01:00:00
                39.984702,,0,492,42736.0416666667,2017-01-01,01:00:00

                """)
        #expect(Self.times(outcome) == ["2016-12-31T23:45:00Z", "2017-01-01T00:15:00Z"])
        #expect(
            outcome.reasons == [
                "9: the latitude is out of range", "10: 6 columns where the header has 7",
                "11: the time is not readable", "12: 8 columns where the header has 7", "13: the time is not readable",
                "14: the longitude is not a number",
            ])
    }

    @Test func `joined files have headers in between`() {
        let outcome = Self.run(
            Self.header + Self.beijing + Self.header
                + "39.994683,116.318450,0,492,39744.2119212963,2008-10-23,05:05:10\r\n")
        #expect(outcome.problems.isEmpty && outcome.summary.records == 3 && Self.times(outcome).count == 3)
    }

    @Test func `other files of that extension are not taken for it`() {
        let otherDatum = Self.header.replacing("WGS 84", with: "Tokyo") + Self.beijing
        #expect(Self.run(otherDatum).error == .noColumn(file: "a.plt", axis: .latitude, columns: []))
        #expect(Self.run("Geolife trajectory").error == .noColumn(file: "a.plt", axis: .latitude, columns: []))
        let header = Self.run(Self.header)
        #expect(header.error == nil && header.notices == [.noPoints(file: "a.plt")])
    }

    @Test func `a folder of them is read`() throws {
        let scratch = Scratch()
        _ = scratch.write(Array((Self.header + Self.beijing).utf8), as: "in/000/Trajectory/20081023025304.plt")
        _ = scratch.write(Array("notes\n".utf8), as: "in/000/labels.plt")
        var options = FolderRun.Options()
        (options.format, options.convert.devices) = (.csv, .folder)
        let summary = try FolderRun.run(
            scratch.path("in"), to: scratch.path("out"), atlas: worldAtlas, options: options,
            observer: FolderObserver())
        #expect(summary.converted == 1 && summary.failed == 0 && summary.skipped == ["other text": 1])
        #expect(summary.records.records == 2)
    }
}
