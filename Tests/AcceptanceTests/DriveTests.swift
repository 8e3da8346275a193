import Foundation
import Hereabouts
import Testing

extension Acceptance {
    /// Issue 2, item 1: the sample drives on either side of the Rio Grande, and real recordings.
    @Suite struct Drives {
        struct Drive: Sendable, CustomTestStringConvertible {
            var file: String
            var country: String
            /// The middle of the town.
            var downtown: Coordinate
            var testDescription: String { file }
        }

        static let drives = [
            Drive(
                file: "i10-el-paso.gpx", country: "US",
                downtown: Coordinate(latitude: 31.7592, longitude: -106.4888)),
            Drive(
                file: "juarez.gpx", country: "MX", downtown: Coordinate(latitude: 31.7383, longitude: -106.4872)),
        ]

        @Test(arguments: drives) func `on its own side of the river`(drive: Drive) throws {
            let recording = try Recording(projectFolder.appendingPathComponent("data/samples/\(drive.file)"))
            print("drives: \(recording.summary(drive.file))")
            try recording.expectCirclesContainTheirFixes()
            try recording.expectPaced()
            try recording.expectCountry(drive.country)
            #expect(recording.answers.map(\.report.horizontalAccuracy).max() ?? 0 >= 10_000)

            // The drive may be paced past the middle of the town, so that every fix is asked.
            var downtown: [Double] = []
            var abroad = 0, outside = 0
            for fix in recording.fixes {
                let circle = RegionTable.world[try atlas.snap(fix.coordinate)]
                if circle.country.code != drive.country { abroad += 1 }
                if try distance(circle.coordinate, fix.coordinate) > circle.horizontalAccuracy { outside += 1 }
                if try distance(drive.downtown, fix.coordinate) <= 2_000 { downtown.append(circle.horizontalAccuracy) }
            }
            #expect(abroad == 0 && outside == 0)
            print("drives: within 2 km of downtown \(Set(downtown).sorted()) m")
            #expect(!downtown.isEmpty && downtown.allSatisfy { (2_000...4_500).contains($0) })
        }

        /// Real recordings beside the project, with the country each was made in.
        static let recordings = ["korita-zbevnica": "HR", "limerick-bus": "IE"]
        static let sharedFolder = projectFolder.appendingPathComponent("../shared/traces").standardizedFileURL
        static func file(_ name: String) -> URL { sharedFolder.appendingPathComponent("\(name).gpx") }
        static let hasRecordings = recordings.keys.allSatisfy { FileManager.default.fileExists(atPath: file($0).path) }

        @Test(
            .enabled(if: hasRecordings, "skipped: there are no recordings in ../shared/traces"),
            arguments: recordings.sorted { $0.key < $1.key })
        func `real recordings`(name: String, country: String) throws {
            let recording = try Recording(Self.file(name))
            print("drives: \(recording.summary(name))")
            try recording.expectCirclesContainTheirFixes()
            try recording.expectPaced()
            try recording.expectCountry(country)
        }
    }
}
