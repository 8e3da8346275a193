import Foundation
import Hereabouts

/// What a finished atlas is like, in figures: kept in the atlas, and printed after building.
package struct AtlasSummary: Codable, Sendable, Equatable {
    /// One country's people, and those for whom K cannot be reached.
    package struct Country: Codable, Sendable, Equatable {
        package var code: String
        package var regions: Int
        package var residents: Double
        /// Residents of regions short of K.
        package var short: Double
        /// Residents around whom no circle of the largest size holds K.
        package var unreachable: Double
    }

    package var regions: Int
    package var settledRegions: Int
    package var residents: Double
    /// Share of people in regions short of K.
    package var shortShare: Double
    /// Share of people around whom no circle of the largest size holds K.
    package var unreachableShare: Double
    /// Accuracy in meters at 5, 25, 50, 75 and 95 % of people, and of regions.
    package var accuracyByPeople: [Int]
    package var accuracyByRegion: [Int]
    /// Residents at the same shares.
    package var anonymityByPeople: [Int]
    package var anonymityByRegion: [Int]
    package var countries: [Country]

    static let shares = [0.05, 0.25, 0.5, 0.75, 0.95]

    init(_ results: [(country: String, records: [RegionRecord], unreachable: Double)], limits: RegionLimits) {
        let records = results.flatMap(\.records)
        let total = max(records.reduce(0) { $0 + $1.residents }, 1)
        regions = records.count
        settledRegions = records.count { $0.residents > 0 }
        residents = total
        countries = results.map { country, records, unreachable in
            Country(
                code: country, regions: records.count, residents: records.reduce(0) { $0 + $1.residents },
                short: records.reduce(0) { $1.residents < limits.anonymity ? $0 + $1.residents : $0 },
                unreachable: unreachable)
        }
        shortShare = countries.reduce(0) { $0 + $1.short } / total
        unreachableShare = countries.reduce(0) { $0 + $1.unreachable } / total
        accuracyByPeople = Self.quantiles(records.map { (Int($0.accuracy), $0.residents) })
        accuracyByRegion = Self.quantiles(records.map { (Int($0.accuracy), 1) })
        anonymityByPeople = Self.quantiles(records.map { (Int($0.residents), $0.residents) })
        anonymityByRegion = Self.quantiles(records.map { (Int($0.residents), 1) })
    }

    /// The values below which the shares of the weight lie.
    private static func quantiles(_ values: [(value: Int, weight: Double)]) -> [Int] {
        let sorted = values.sorted { $0.value < $1.value }
        let total = sorted.reduce(0) { $0 + $1.weight }
        var result: [Int] = [], sum = 0.0
        for (value, weight) in sorted {
            sum += weight
            while result.count < shares.count, sum >= shares[result.count] * total { result.append(value) }
        }
        while result.count < shares.count { result.append(sorted.last?.value ?? 0) }
        return result
    }

    /// The about text of the atlas: these figures, and what is said about the sources.
    func json(credits: String?) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let summary = String(decoding: try encoder.encode(self), as: UTF8.self)
        return "{\"sources\":\(credits ?? "[]"),\"summary\":\(summary)}"
    }
}

extension AtlasSummary: CustomStringConvertible {
    /// A page for the terminal.
    package var description: String {
        func percent(_ share: Double) -> String { String(format: "%.2f %%", 100 * share) }
        func row(_ name: String, _ values: [Int]) -> String {
            name.padding(toLength: 24, withPad: " ", startingAt: 0)
                + values.map { String(format: "%10d", $0) }.joined()
        }
        var lines = [
            "regions                 \(regions), \(settledRegions) of them with residents",
            "estimated residents     \(Int(residents))",
            "short of K              \(percent(shortShare)) of people (unavoidable: \(percent(unreachableShare)))",
            "",
            "                                5 %      25 %      50 %      75 %      95 %",
            row("accuracy, m, by people", accuracyByPeople), row("            by region", accuracyByRegion),
            row("residents, by people", anonymityByPeople), row("           by region", anonymityByRegion), "",
            "countries with most people short of K:",
        ]
        for country in countries.sorted(by: { ($0.short, $1.code) > ($1.short, $0.code) }).prefix(10) {
            let total = max(country.residents, 1)
            lines.append(
                "  \(country.code)  \(Int(country.short)) people, \(percent(country.short / total))"
                    + " (unavoidable: \(percent(country.unreachable / total)))")
        }
        return lines.joined(separator: "\n")
    }
}

/// What `hereabouts atlas info` prints.
package struct AtlasDescription {
    /// The text, without a final line end.
    package let text: String

    private struct About: Decodable {
        struct Source: Decodable {
            var name: String
            var version: String?
            var license: String?
            var attribution: String?

            /// `about` has had its member `licence` since format 1.
            enum CodingKeys: String, CodingKey {
                case name, version, attribution
                case license = "licence"
            }
        }
        var sources: [Source]
        var summary: AtlasSummary
    }

    package init(_ atlas: Atlas) throws {
        let about = try JSONDecoder().decode(About.self, from: Data(try atlas.aboutJSON.utf8))
        var lines = ["made from"]
        for source in about.sources {
            lines.append("  \(source.name) \(source.version ?? ""), \(source.license ?? "license not stated")")
            if let attribution = source.attribution { lines.append("    \(attribution)") }
        }
        let limits = atlas.limits
        lines += [
            "",
            "made for                K = \(limits.anonymity), accuracy \(Int(limits.smallestAccuracyMeters)) to "
                + "\(Int(limits.largestAccuracyMeters)) m, up to \(Int(limits.largestEmptyAccuracyMeters)) m where nobody lives",
            "steadiness              \(Int(atlas.steadinessMeters)) m beyond every region",
            about.summary.description,
        ]
        text = lines.joined(separator: "\n")
    }
}
