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
        /// Accuracy in meters at 5, 25, 50, 75 and 95 % of its people.
        package var accuracyByPeople: [Int]

        package init(
            code: String, regions: Int, residents: Double, short: Double, unreachable: Double, accuracyByPeople: [Int]
        ) {
            (self.code, self.regions, self.residents) = (code, regions, residents)
            (self.short, self.unreachable, self.accuracyByPeople) = (short, unreachable, accuracyByPeople)
        }
    }

    /// What is short of K as one source counts residents: the estimate, the promise, or a source the estimate can be
    /// compared with.
    package struct Count: Codable, Sendable, Equatable {
        package var source: String
        /// Residents in all, as it counts.
        package var residents: Double
        /// Share of (estimated) people in regions of fewer than K residents, and of fewer than half of K, as it counts.
        package var shortShare: Double, halfShortShare: Double

        /// Compares the residents of regions as a source counts them with K.
        package init(_ source: String, _ counted: [Double], of people: [Double], anonymity: Double) {
            self.source = source
            residents = counted.reduce(0, +)
            let total = max(people.reduce(0, +), 1)
            func share(below least: Double) -> Double {
                zip(counted, people).reduce(0) { $1.0 < least ? $0 + $1.1 : $0 } / total
            }
            (shortShare, halfShortShare) = (share(below: anonymity), share(below: anonymity / 2))
        }
    }

    /// The people of regions that are about as densely settled, by residents within 16 km of the region's center, land
    /// and water.
    package struct Density: Codable, Sendable, Equatable {
        /// The least people per km²; the next class has the bound.
        package var peoplePerSquareKilometer: Double
        package var residents: Double
        /// Accuracy in meters at 5, 25, 50, 75 and 95 % of people.
        package var accuracyByPeople: [Int]

        /// The least people per km² of each class: countryside, villages and small towns, towns, big cities.
        package static let bounds = [0.0, 30, 300, 1_500]

        package init(peoplePerSquareKilometer: Double, residents: Double, accuracyByPeople: [Int]) {
            self.peoplePerSquareKilometer = peoplePerSquareKilometer
            (self.residents, self.accuracyByPeople) = (residents, accuracyByPeople)
        }
    }

    package var regions: Int
    package var settledRegions: Int
    package var residents: Double
    /// Residents that can be promised: what is held against K.
    package var promised: Double
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
    /// By source: the estimate, the promise, then single sources.
    package var counts: [Count]
    package var densities: [Density]
    package var countries: [Country]

    /// The shares of people, and of regions, for which `accuracyByPeople` and its kin have a value each.
    package static let shares = [0.05, 0.25, 0.5, 0.75, 0.95]

    package init(
        regions: Int, settledRegions: Int, residents: Double, promised: Double, shortShare: Double,
        unreachableShare: Double, accuracyByPeople: [Int], accuracyByRegion: [Int], anonymityByPeople: [Int],
        anonymityByRegion: [Int], counts: [Count], densities: [Density], countries: [Country]
    ) {
        (self.regions, self.settledRegions) = (regions, settledRegions)
        (self.residents, self.promised) = (residents, promised)
        (self.shortShare, self.unreachableShare) = (shortShare, unreachableShare)
        (self.accuracyByPeople, self.accuracyByRegion) = (accuracyByPeople, accuracyByRegion)
        (self.anonymityByPeople, self.anonymityByRegion) = (anonymityByPeople, anonymityByRegion)
        (self.counts, self.densities, self.countries) = (counts, densities, countries)
    }
}

extension AtlasSummary: CustomStringConvertible {
    /// A page for the terminal.
    package var description: String {
        func row(_ name: String, _ values: [Int]) -> String {
            name.padding(toLength: 24, withPad: " ", startingAt: 0)
                + values.map { String(format: "%10d", $0) }.joined()
        }
        var lines = [
            "regions                 \(regions), \(settledRegions) of them with residents",
            "estimated residents     \(Int(residents)), of whom \(Int(promised)) are promised",
            "short of K              \(Self.percent(shortShare)) of people (unavoidable: \(Self.percent(unreachableShare)))",
            "",
            "                                5 %      25 %      50 %      75 %      95 %",
            row("accuracy, m, by people", accuracyByPeople), row("            by region", accuracyByRegion),
            row("residents, by people", anonymityByPeople), row("           by region", anonymityByRegion), "",
            "accuracy, m, by people per km² within 16 km:",
        ]
        for (density, next) in zip(densities, densities.dropFirst().map(\.peoplePerSquareKilometer) + [.infinity]) {
            let range =
                next.isFinite
                ? "\(Int(density.peoplePerSquareKilometer)) to \(Int(next))"
                : "more than \(Int(density.peoplePerSquareKilometer))"
            let share = String(format: "%.0f %%", 100 * density.residents / max(residents, 1))
            lines.append(row("  \(range), \(share)", density.accuracyByPeople))
        }
        lines += ["", "accuracy, m, by people of the largest countries; short of K (unavoidable):"]
        for country in countries.sorted(by: { ($0.residents, $1.code) > ($1.residents, $0.code) }).prefix(20)
        where country.residents > 0 {
            let share = String(format: "%.1f %%", 100 * country.residents / max(residents, 1))
            lines.append(row("  \(country.code), \(share)", country.accuracyByPeople) + "   " + Self.short(country))
        }
        lines += ["", Self.table(of: counts), "", "countries with most people short of K, and their median accuracy:"]
        for country in countries.sorted(by: { ($0.short, $1.code) > ($1.short, $0.code) }).prefix(10) {
            lines.append(
                "  \(country.code)  \(Int(country.short)) people, \(Self.short(country)), \(country.accuracyByPeople[2]) m"
            )
        }
        return lines.joined(separator: "\n")
    }

    /// What is short of K as each source counts, for the terminal.
    package static func table(of counts: [Count]) -> String {
        let head = "people in regions with    fewer than K   than K / 2   residents in all"
        return
            ([head]
            + counts.map { count in
                "  as \(count.source)".padding(toLength: 24, withPad: " ", startingAt: 0)
                    + String(format: "%12.2f %% %10.2f %% ", 100 * count.shortShare, 100 * count.halfShortShare)
                    + String(format: "%18.0f", count.residents)
            }).joined(separator: "\n")
    }

    /// The share of a country's people short of K, and of those who are unavoidably.
    private static func short(_ country: Country) -> String {
        let total = max(country.residents, 1)
        return "\(percent(country.short / total)) (\(percent(country.unreachable / total)))"
    }

    private static func percent(_ share: Double) -> String { String(format: "%.2f %%", 100 * share) }
}
