import Foundation

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

        package init(code: String, regions: Int, residents: Double, short: Double, unreachable: Double) {
            (self.code, self.regions, self.residents) = (code, regions, residents)
            (self.short, self.unreachable) = (short, unreachable)
        }
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

    /// The shares of people, and of regions, for which `accuracyByPeople` and its kin have a value each.
    package static let shares = [0.05, 0.25, 0.5, 0.75, 0.95]

    package init(
        regions: Int, settledRegions: Int, residents: Double, shortShare: Double, unreachableShare: Double,
        accuracyByPeople: [Int], accuracyByRegion: [Int], anonymityByPeople: [Int], anonymityByRegion: [Int],
        countries: [Country]
    ) {
        (self.regions, self.settledRegions, self.residents) = (regions, settledRegions, residents)
        (self.shortShare, self.unreachableShare) = (shortShare, unreachableShare)
        (self.accuracyByPeople, self.accuracyByRegion) = (accuracyByPeople, accuracyByRegion)
        (self.anonymityByPeople, self.anonymityByRegion) = (anonymityByPeople, anonymityByRegion)
        self.countries = countries
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
