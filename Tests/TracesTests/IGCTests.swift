import Foundation
import Hereabouts
import Testing

@testable import Traces

@Suite struct IGCTests {
    private let start = "AXXX123 recorder\r\nHFDTE010326\r\n"
    /// 2026-03-01T00:00:00Z.
    private let day = 1_772_323_200.0

    private func b(
        _ time: String, _ position: String = "4812492N01622424E", _ validity: String = "A", _ more: String = ""
    ) -> String {
        "B\(time)\(position)\(validity)0058700558\(more)\r\n"
    }

    private func fix(_ line: Int, _ seconds: Double, accuracy: Double? = nil, track: UInt32 = 1) -> ReadFix {
        ReadFix(
            line: line, latitude: 48.2082, longitude: 16.3737333333, seconds: seconds, accuracy: accuracy, track: track)
    }

    @Test func `fixes with and without altitude`() {
        let outcome = readInOrder(
            start + "HFPLTPILOTINCHARGE:Jane Doe\r\nC4812492N01622424EHome\r\nLXXX note\r\n" + b("120000")
                + b("120010", "4812492N01622424E", "V") + "F1200100102\r\nK12001000\r\nE120010PEV\r\nG1234ABCD\r\n")
        #expect(outcome.fixes == [fix(6, day + 43_200), fix(7, day + 43_210)])
        #expect(outcome.format == "igc" && outcome.error == nil)
        // No position at all.
        #expect(readInOrder(start + b("120000", "0000000N00000000E", "V")).fixes.isEmpty)
        #expect(readInOrder(start + b("120000", "0000000N00000000E", "A")).fixes.count == 1)
        let south = readInOrder(start + b("120000", "3352345S15112345W"))
        #expect(abs(south.fixes[0].latitude + 33.872416667) < 1e-9 && abs(south.fixes[0].longitude + 151.205750) < 1e-9)
    }

    @Test func `dates`() {
        for header in [
            "HFDTE010326", "HFDTEDATE:010326,01", "HFDTEDATE: 010326", "HFDTE: 010326", "HODTE010326",
            "HPDTEDATE:010326",
        ] {
            let outcome = readInOrder("AXXX\n\(header)\n" + b("120000"))
            #expect(outcome.fixes.map(\.seconds) == [day + 43_200], "\(header)")
            #expect(readInOrder("\(header)\n" + b("120000")).format == "igc")
        }
        let midnight = readInOrder(
            start + b("235959") + b("000000") + b("235959") + b("000002") + "HFDTE010326\n" + b("000003"))
        #expect(midnight.fixes.map(\.seconds) == [86_399, 86_400, 86_399, 86_402, 86_403].map { day + $0 })
        let next = readInOrder(start + b("235959") + "HFDTE030326\n" + b("000000"))
        #expect(next.fixes.map(\.seconds) == [day + 86_399, day + 172_800])
        let old = readInOrder("AXXX\nHFDTE160701\n" + b("110135"))
        #expect(old.fixes.map(\.seconds) == [995_281_295])
    }

    @Test func `several flights are tracks`() {
        let outcome = readInOrder(start + b("120000") + "AYYY\r\nHFDTE020326\r\n" + b("100000"))
        #expect(outcome.fixes == [fix(3, day + 43_200), fix(6, day + 122_400, track: 2)])
        let written = convert(start + b("120000") + "AYYY\r\nHFDTE020326\r\n" + b("100000")) { $0.format = .csv }
        #expect(written.rows.dropFirst().map { $0.prefix(2) } == ["1,"])
    }

    @Test func `a missing date is an error, or what the option says`() {
        let text = "AXXX\nHFPLT:x\n" + b("235959") + b("000001")
        func read(_ day: Int64?) -> ReadOutcome {
            readInOrder(text) { ($0.inputFormat, $0.firstDay) = (.igc, day) }
        }
        #expect(read(nil).error == .noDate(file: "input"))
        #expect(read(20_512).fixes.map(\.seconds) == [day - 1, day + 1])
        let second = readInOrder(start + b("120000") + "AYYY\n" + b("130000"))
        #expect(second.error == .noDate(file: "input") && second.fixes.count == 1)
    }

    @Test func `extensions refine the position and give its accuracy`() {
        let extensions = "I033638FXA3940LAD4142LOD\r\n"
        let outcome = readInOrder(start + extensions + b("120000", "4812492N01622424E", "A", "0122507"))
        // 48° 12.49225', 16° 22.42407'
        #expect(outcome.fixes.count == 1)
        #expect(abs(outcome.fixes[0].latitude - (48 + 12.49225 / 60)) < 1e-12)
        #expect(abs(outcome.fixes[0].longitude - (16 + 22.42407 / 60)) < 1e-12)
        #expect(outcome.fixes[0].accuracy == 12)
        let south = readInOrder(start + extensions + b("120000", "4812492S01622424W", "A", "0002507"))
        #expect(abs(south.fixes[0].latitude + (48 + 12.49225 / 60)) < 1e-12 && south.fixes[0].accuracy == nil)
        // What is no digits, or not there, adds nothing; another flight has its own.
        for more in ["", "012", "xxxyyzz"] {
            let fixes = readInOrder(start + extensions + b("120000", "4812492N01622424E", "A", more)).fixes
            #expect(abs(fixes[0].latitude - 48.2082) < 1e-12, "\(more)")
        }
        for header in ["I", "I99", "I013600LAD", "I010102LAD", "I019999LAD", "I013699LAD", "I0x3638LAD", "I023638"] {
            let outcome = readInOrder(start + header + "\n" + b("120000", "4812492N01622424E", "A", "1234567890123"))
            #expect(outcome.fixes.count == 1 && abs(outcome.fixes[0].latitude - 48.2082) < 1e-4, "\(header)")
        }
    }

    @Test func `bad records`() {
        let cases: [(String, RecordProblem.Reason)] = [
            ("B\n", .recordTooShort), ("B1200004812492N01622424E\n", .recordTooShort),
            (b("120000", "4860000N01622424E"), .latitudeUnreadable),
            (b("120000", "48x2492N01622424E"), .latitudeUnreadable),
            (b("120000", "4812492N01660000E"), .longitudeUnreadable),
            (b("120000", "4812492N0162242 E"), .longitudeUnreadable),
            (b("120000", "4812492E01622424N"), .hemisphereUnreadable),
            (b("120000", "4812492n01622424e"), .hemisphereUnreadable),
            (b("120000", "4812492N01622424E", "X"), .fixValidityUnreadable), (b("240000"), .timeUnreadable),
            (b("12 000"), .timeUnreadable), ("HFDTE310226\n", .timeUnreadable), ("HFDTE\n", .timeUnreadable),
        ]
        for (text, reason) in cases {
            let outcome = readInOrder(start + text + b("120000"))
            #expect(outcome.reasons == ["3: \(reason)"], "\(text)")
            #expect(outcome.good.count == 1 && outcome.error == nil)
        }
        #expect(convert(start + b("120000", "9100000N01622424E")).reasons == ["3: the latitude is out of range"])
        let zeros = start + b("120000", "9960000N01622424E")
        #expect(readInOrder(zeros).reasons == ["3: the latitude is not a number"])
        for count in 0..<(start + b("120000")).utf8.count {
            _ = readInOrder(Array((start + b("120000")).utf8.prefix(count))) { $0.inputFormat = .igc }
        }
        let turns = start + String(repeating: b("110000") + b("100000"), count: 60_000)
        #expect(readInOrder(Array(turns.utf8)).fixes.count == 120_000)
        let long = Array(start.utf8) + [UInt8](repeating: 0x42, count: 2 << 20)
        #expect(readInOrder(long).error == .recordTooLong(file: "input", line: 3))
    }

    @Test func `tables are not taken for flights`() {
        for table in ["Apos,lat,lon\nHFDTE010326\n", "AREA;lat;lon\n1;2;3\n", "lat lon\n", "ABCD\nlat,lon\n1,2\n"] {
            #expect(readInOrder(table) { $0.acceptsUntimed = true }.format != "igc", "\(table)")
        }
        #expect(readInOrder(Array("AXXX\n".utf8), name: "x.IGC").format == "igc")
    }

    @Test func `gpsbabel's flight is the track that it was given`() throws {
        let scratch = Scratch(), track = gpxTrack(points: 2000, seconds: 4)
        _ = scratch.write(Array(track.gpx.utf8), as: "in.gpx")
        guard
            try gpsbabel(
                ["-t", "-i", "gpx", "-f", scratch.path("in.gpx"), "-o", "igc", "-F", scratch.path("out.igc")])
        else { return }
        let outcome = readInOrder(scratch.read("out.igc") ?? [], name: "out.igc")
        // Thousandths of minutes.
        #expect(outcome.fixes.agree(with: track.fixes, within: 0.0006 / 60), "\(outcome.fixes.count)")
        #expect(outcome.error == nil && outcome.format == "igc")
    }
}
