import AtlasInspection
import Foundation
import Hereabouts
import Testing

extension Acceptance {
    /// Issue 2, item 3: how accuracy and anonymity are spread, and the size of the file.
    @Suite struct Spread {
        private struct About: Decodable { var summary: AtlasSummary }

        @Test func `accuracy and anonymity by people`() throws {
            let summary = try JSONDecoder().decode(About.self, from: Data(try atlas.aboutJSON.utf8)).summary
            print("spread: \(summary.description.replacingOccurrences(of: "\n", with: "\nspread: "))")
            try #require(summary.accuracyByPeople.count == 5)
            #expect((3_000...7_000).contains(summary.accuracyByPeople[2]))
            #expect(summary.unreachableShare <= summary.shortShare)
            #expect(summary.shortShare <= 1.6 * summary.unreachableShare)
            #expect(summary.counts.prefix(2).map(\.source) == ["estimate", "promise"])
            #expect(summary.counts.allSatisfy { $0.halfShortShare <= $0.shortShare })
            // The denser the surroundings, the smaller the circles; in thin country they are all of the largest size.
            let medians = summary.densities.map { $0.accuracyByPeople[2] }
            #expect(medians[1...].elementsEqual(medians[1...].sorted(by: >)))
            #expect(medians[0] > medians[2])
        }

        /// The summary again, from the atlas's tables.
        @Test func `the summary tells the truth`() throws {
            let summary = try JSONDecoder().decode(About.self, from: Data(try atlas.aboutJSON.utf8)).summary
            #expect(summary.regions == atlas.regionCount)
            var people = 0.0
            var short = 0.0
            let regions = try (0..<atlas.regionCount).map { index in
                let region = Region(index: UInt32(index))
                return (
                    radius: atlas.horizontalAccuracy(of: region), residents: Double(try atlas.anonymity(of: region)),
                    promised: try atlas.anonymityLowerBound(of: region)
                )
            }
            for region in regions {
                people += region.residents
                #expect(Double(region.promised) <= region.residents + 1)
                if region.promised < atlas.limits.anonymity { short += region.residents }
            }
            // Residents are kept to 2.2 %, rounded to the nearest.
            #expect(abs(people / summary.residents - 1) < 0.01)
            #expect(abs(short / people - summary.shortShare) <= 0.002)
            var sum = 0.0
            let median = regions.sorted { $0.radius < $1.radius }.first { region in
                sum += region.residents
                return sum >= people / 2
            }
            let found = try #require(median).radius
            print(
                String(
                    format: "spread: from the tables, median %.0f m, %.2f %% short of K", found, 100 * short / people))
            #expect(abs(found - Double(summary.accuracyByPeople[2])) <= 20)
        }

        @Test func `the file is small`() throws {
            let attributes = try FileManager.default.attributesOfItem(atPath: atlasPath)
            let size = try #require(attributes[.size] as? Int)
            print(String(format: "spread: %d bytes, %.2f MiB", size, Double(size) / 1_048_576))
            #expect(size <= 24 << 20)
        }
    }
}
