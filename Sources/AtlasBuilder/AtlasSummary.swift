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
