import AtlasInspection
import Foundation

extension AtlasSummary {
    /// The figures of finished regions, by country and all in one order, and of single sources in that order.
    init(
        _ results: [(country: String, records: [RegionRecord], unreachable: Double)], _ records: [RegionRecord],
        _ bySource: SourceCount, limits: RegionLimits
    ) {
        let residents = max(records.reduce(0) { $0 + $1.people.residents }, 1)
        let countries = results.map { country, records, unreachable in
            Country(
                code: country, regions: records.count, residents: records.reduce(0) { $0 + $1.people.residents },
                short: records.reduce(0) { $1.people.promised < limits.anonymity ? $0 + $1.people.residents : $0 },
                unreachable: unreachable, accuracyByPeople: Self.accuracyByPeople(records))
        }
        let counts =
            [("estimate", records.map(\.people.residents)), ("promise", records.map(\.people.promised))]
            + zip(bySource.names, bySource.residents)
        self.init(
            regions: records.count, settledRegions: records.count { $0.people.residents > 0 }, residents: residents,
            promised: records.reduce(0) { $0 + $1.people.promised },
            shortShare: countries.reduce(0) { $0 + $1.short } / residents,
            unreachableShare: countries.reduce(0) { $0 + $1.unreachable } / residents,
            accuracyByPeople: Self.accuracyByPeople(records),
            accuracyByRegion: Self.quantiles(records.map { (Int($0.accuracy), 1) }),
            anonymityByPeople: Self.quantiles(records.map { (Int($0.people.residents), $0.people.residents) }),
            anonymityByRegion: Self.quantiles(records.map { (Int($0.people.residents), 1) }),
            counts: counts.map { name, counted in
                AtlasSummary.Count(
                    name, counted, of: records.map(\.people.residents), anonymity: limits.anonymity)
            },
            densities: Self.densities(records), countries: countries)
    }

    private static func densities(_ records: [RegionRecord]) -> [Density] {
        zip(Density.bounds, Density.bounds.dropFirst() + [.infinity]).map { low, high in
            let records = records.filter { low <= $0.density && $0.density < high }
            return Density(
                peoplePerSquareKilometer: low, residents: records.reduce(0) { $0 + $1.people.residents },
                accuracyByPeople: accuracyByPeople(records))
        }
    }

    private static func accuracyByPeople(_ records: [RegionRecord]) -> [Int] {
        quantiles(records.map { (Int($0.accuracy), $0.people.residents) })
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
