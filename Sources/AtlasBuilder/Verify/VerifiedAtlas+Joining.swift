import GeoBridge
import Hereabouts

/// C6 and C7: regions short of residents or area are as large as they may be.
extension VerifiedAtlas {
    private typealias Clause = VerificationReport.Clause

    func checkAnonymity() throws -> Clause {
        let needed = tables.limits.anonymity
        var clause = Clause("C6", "a region holds \(needed) people or cannot be joined with another of its country")
        clause.checked = regionCount
        let residents = (0..<regionCount).map { tables.anonymity($0) }
        let short = (0..<regionCount).filter { residents[$0] < needed }
        let total = residents.reduce(0, +), affected = short.reduce(0) { $0 + residents[$1] }
        let settled = short.filter { residents[$0] > 0 }
        let share = Double(affected * 10_000 / max(total, 1)) / 100
        clause.notes.append(
            "\(affected) of \(total) people (\(share) %) live in the \(settled.count) regions with people but fewer than \(needed)")
        clause.notes.append("\(short.count - settled.count) regions have no people")
        let partners = try joinable(settled, among: { residents[$0] > 0 }, largest: tables.limits.largestAccuracy)
        let emptyPartners = try joinable(
            short.filter { residents[$0] == 0 }, among: { residents[$0] == 0 && isOfKind($0, $1) },
            largest: tables.limits.largestEmptyAccuracy)
        clause.add(
            (partners + emptyPartners).sorted { $0.region < $1.region }.map { pair in
                offender(
                    pair.region,
                    "it holds \(residents[pair.region]) people, and could be joined with \(tables.token(pair.partner)) of "
                        + "\(residents[pair.partner]) about \(pair.center)")
            })
        if isAshore == nil { clause.skipped.append("common centres other than the two regions' own: no land was given") }
        return clause
    }
}
