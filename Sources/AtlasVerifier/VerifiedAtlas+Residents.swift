import AtlasFormat
import AtlasSources

/// C6: the residents that the file promises are those of the population.
extension VerifiedAtlas {
    /// By how much a count may differ from the builder's: it adds up points to 1/1024 of a resident, and parts to 1e-7.
    static func tolerance(_ counted: Double) -> Double { 0.5 + 1e-6 * counted }

    /// Compares the file's residents with those counted.
    func verifyResidents(_ count: ResidentCount.Count?, _ clause: inout Clause) {
        guard let count else {
            clause.skipped.append("residents were read from the file: give the population to count them from")
            return
        }
        let total = count.residents.reduce(0, +), promised = count.promised.reduce(0, +)
        clause.notes.append("\(Int(total)) people counted from the population, \(Int(promised)) of them promised")
        for region in 0..<regionCount {
            let given = tables.promisedRange(region), counted = count.promised[region]
            if !Self.isWithin(given, counted) {
                let problem = "the file promises \(tables.promised(region)) residents, the population \(Int(counted))"
                clause.add([offender(region, problem)])
            } else if !Self.isWithin(tables.residentsRange(region), count.residents[region]) {
                let problem =
                    "the file gives it \(tables.anonymity(region)) residents, the population "
                    + "\(Int(count.residents[region]))"
                clause.add([offender(region, problem)])
            }
        }
        clause.notes.append(contentsOf: table(count))
    }

    /// Whether a count is in a range of the file, as nearly as it can be told; the range without numbers is for nobody.
    private static func isWithin(_ range: Range<Double>, _ counted: Double) -> Bool {
        let slack = tolerance(counted)
        return counted == 0
            ? range.isEmpty || range.lowerBound <= slack
            : !range.isEmpty && range.lowerBound <= counted + slack && counted - slack < range.upperBound
    }

    /// Short of K as the estimate, the promise and each source count.
    private func table(_ count: ResidentCount.Count) -> [String] {
        let counts =
            [("estimate", count.residents), ("promise", count.promised)] + zip(count.sources, count.bySource)
        let people = max(count.residents.reduce(0, +), 1), needed = Double(tables.limits.anonymity)
        return counts.map { name, counted in
            func share(below least: Double) -> String {
                let affected = (0..<regionCount).reduce(0.0) {
                    counted[$1] + Self.tolerance(least) < least ? $0 + count.residents[$1] : $0
                }
                return "\((affected / people * 10_000).rounded() / 100) %"
            }
            return "as \(name) counts, \(share(below: needed)) of people live in regions of fewer than "
                + "\(Int(needed)), \(share(below: needed / 2)) in regions of fewer than half of that"
        }
    }
}
