import Hereabouts
import Testing

@testable import Traces

/// `--emit stays`: an answer that stood at the tick before as well, and differs from the last report.
@Suite struct StaysTests {
    private static let places = [
        "A": "48.2082,16.3738", "B": "47.5596,7.5886", "C": "31.7619,-106.485", "S": "0.1,-140",
    ]
    private static let start = 1_772_323_200

    /// A recording: at each tick from 00:15 on a place, `-` for no fix, `!` for one that is less accurate than any region.
    private static func table(_ ticks: String, from first: Int = 0, key: String? = "a") -> String {
        var text = "\(key == nil ? "" : "id,")time,lat,lon,accuracy\n"
        for (index, tick) in ticks.enumerated() where tick != "-" {
            let place = places[tick == "!" ? "A" : String(tick)] ?? ""
            let time = start + (first + index) * 900 + 600
            text += "\(key.map { "\($0)," } ?? "")\(time),\(place),\(tick == "!" ? 100_000 : 5)\n"
        }
        return text
    }

    /// The ticks of the reports, counted from 0, each with its region's place.
    private static func reports(_ outcome: Outcome, from first: Int = 0) throws -> String {
        let names = try places.mapValues { place in
            let numbers = place.split(separator: ",").compactMap { Double($0) }
            return try worldAtlas.reducedLocation(of: worldAtlas.snap(latitude: numbers[0], longitude: numbers[1]))
                .region.description
        }
        return try outcome.rows.dropFirst().map { row in
            let fields = row.split(separator: ",", omittingEmptySubsequences: false)
            let clock = fields[1].suffix(9).split(separator: ":").compactMap { Int($0) }
            let place = try #require(names.first { $0.value == fields[5] }).key
            return "\(clock[0] * 4 + clock[1] / 15 - 1)\(place)"
        }.joined(separator: " ")
    }

    private static func run(_ text: String, _ change: (inout ConvertRun.Options) -> Void = { _ in }) -> Outcome {
        convert(text) {
            ($0.format, $0.emission, $0.acceptsJumps) = (.csv, .stays, true)
            change(&$0)
        }
    }

    private static let cases = [
        ("A", ""), ("AA", "1A"), ("AAAA", "1A"), ("AB", ""), ("ABBA", "2B"), ("AABB", "1A 3B"),
        // Of a ride only its ends are left, and the last report is not repeated.
        ("AABCBCBB", "1A 7B"), ("AABCAA", "1A"), ("AABAABB", "1A 6B"),
        // A silence and a bad tick begin anew, and so does a tick that is withheld.
        ("A-A", ""), ("A-AA", "3A"), ("AAB-BB", "1A 5B"), ("A!A", ""), ("AAB!BB", "1A 5B"), ("BSB", ""), ("BSBB", "3B"),
        ("AASAA", "1A"), ("SSAA", "3A"),
    ]

    @Test(arguments: cases) func `what stood at two ticks is reported at the second`(
        _ ticks: String, _ expected: String
    ) throws {
        // Regions at sea promise nobody.
        let withheld = WithheldRegions([]).requiring(1, in: worldAtlas)
        for key in ["a", nil] {
            let outcome = Self.run(Self.table(ticks, key: key)) { $0.withheld = withheld }
            #expect(outcome.error == nil && outcome.problems.isEmpty)
            #expect(try Self.reports(outcome) == expected, "\(ticks), \(key ?? "no key")")
        }
        // As a table in no order, which is answered at its end.
        guard ticks.count(where: { $0 != "-" }) >= 4 else { return }
        let lines = Self.table(ticks).split(separator: "\n")
        let backwards = lines[0] + "\n" + lines.dropFirst().reversed().map { $0 + "\n" }.joined()
        #expect(try Self.reports(Self.run(String(backwards)) { $0.withheld = withheld }) == expected)
    }

    /// Contract C12: wherever the runs end, they report what one does.
    @Test(arguments: cases) func `runs go on`(_ ticks: String, _ expected: String) throws {
        let withheld = WithheldRegions([]).requiring(1, in: worldAtlas)
        for key in ["a", nil] {
            for cut in 0...ticks.count {
                let scratch = Scratch()
                let parts = [
                    Self.table(String(ticks.prefix(cut)), key: key),
                    Self.table(String(ticks.dropFirst(cut)), from: cut, key: key),
                ]
                let found = try parts.map {
                    try Self.reports(
                        Self.run($0) { ($0.withheld, $0.state) = (withheld, scratch.path("state")) })
                }
                #expect(found.filter { !$0.isEmpty }.joined(separator: " ") == expected, "\(ticks) at \(cut)")
            }
        }
    }

    @Test func `the files of a folder stay together`() throws {
        let folder = FolderTests()
        for (name, ticks, first) in [("1", "AA", 0), ("2", "AB", 2), ("3", "BC", 4), ("4", "CCAA", 6)] {
            _ = folder.scratch.write(Array(Self.table(ticks, from: first, key: nil).utf8), as: "in/\(name).csv")
        }
        _ = try folder.run { ($0.convert.emission, $0.convert.acceptsJumps) = (.stays, true) }
        let found = try (1...4).map { name in
            var outcome = Outcome()
            outcome.output = folder.scratch.read("out/\(name).csv") ?? []
            return try Self.reports(outcome)
        }
        // Each output begins with its first stay.
        #expect(found == ["1A", "2A", "4B", "6C 9A"])
    }
}
