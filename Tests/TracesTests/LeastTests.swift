import Hereabouts
import Testing

@testable import Traces

/// `--least`: answers of regions that promise too few residents are withheld and counted.
@Suite struct LeastTests {
    /// Vienna, and the middle of the Pacific.
    private static let table = """
        id,time,lat,lon
        a,2026-05-01T10:05:00Z,48.2082,16.3738
        a,2026-05-01T10:25:00Z,0.1,-140
        a,2026-05-01T10:40:00Z,0.1,-140
        a,2026-05-01T10:50:00Z,48.2082,16.3738

        """

    private static let keyless = table.split(separator: "\n").map { $0.split(separator: ",").dropFirst() }
        .map { $0.joined(separator: ",") + "\n" }.joined()

    @Test(arguments: [Emission.changes, .recomputations, .fixes], [table, keyless]) func `their answers are withheld`(
        _ emission: Emission, _ table: String
    ) throws {
        func run(_ least: Int) -> Outcome {
            convert(table) {
                ($0.format, $0.emission, $0.acceptsJumps, $0.wantsStatistics) = (.csv, emission, true, true)
                $0.withheld = WithheldRegions([]).requiring(least, in: worldAtlas)
            }
        }
        let all = run(0), some = run(1), none = run(1_000_000_000)
        #expect(all.text.contains(",XZ,") && !some.text.contains(",XZ,") && some.text.contains("Vienna"))
        #expect(all.summary.statistics?.tooFew == 0 && some.summary.statistics?.tooFew == 2)
        #expect(!none.text.contains("Vienna") && none.summary.statistics?.tooFew == 4)
        #expect(some.notices.allSatisfy { $0 != .nothingWithheld })
    }

    @Test func `snap leaves their columns empty`() throws {
        let sea = try worldAtlas.snap(latitude: 0.1, longitude: -140)
        for (zones, count) in [(Set<Region>(), 2), ([sea], 0)] {
            let outcome = snap(Self.table) {
                ($0.format, $0.wantsStatistics) = (.csv, true)
                $0.withheld = WithheldRegions(zones).requiring(1, in: worldAtlas)
            }
            #expect(outcome.rows.count == 5 && outcome.rows.count { $0.hasSuffix(",,,,,") } == 2)
            // What a zone withholds is not counted.
            #expect(outcome.summary.statistics?.tooFew == count && outcome.summary.statistics?.reports == 2)
        }
    }

    @Test func `a state is of one number`() throws {
        let least = WithheldRegions([]).requiring(1, in: worldAtlas)
        #expect(least.fingerprint != WithheldRegions([]).fingerprint)
        #expect(least.fingerprint != WithheldRegions([]).requiring(2, in: worldAtlas).fingerprint)
        #expect(least.zonesFingerprint == WithheldRegions([]).zonesFingerprint && !least.hasZones)
    }
}
