import AtlasInspection
import Foundation

extension AtlasSummary {
    /// The figures of finished regions.
    init(_ results: [(country: String, records: [RegionRecord], unreachable: Double)], limits: RegionLimits) {
        let records = results.flatMap(\.records)
        let residents = max(records.reduce(0) { $0 + $1.residents }, 1)
        let countries = results.map { country, records, unreachable in
            Country(
                code: country, regions: records.count, residents: records.reduce(0) { $0 + $1.residents },
                short: records.reduce(0) { $1.residents < limits.anonymity ? $0 + $1.residents : $0 },
                unreachable: unreachable)
        }
        self.init(
            regions: records.count, settledRegions: records.count { $0.residents > 0 }, residents: residents,
            shortShare: countries.reduce(0) { $0 + $1.short } / residents,
            unreachableShare: countries.reduce(0) { $0 + $1.unreachable } / residents,
            accuracyByPeople: Self.quantiles(records.map { (Int($0.accuracy), $0.residents) }),
            accuracyByRegion: Self.quantiles(records.map { (Int($0.accuracy), 1) }),
            anonymityByPeople: Self.quantiles(records.map { (Int($0.residents), $0.residents) }),
            anonymityByRegion: Self.quantiles(records.map { (Int($0.residents), 1) }), countries: countries)
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
