/// What came of verifying an atlas.
package struct VerificationReport: Sendable, CustomStringConvertible {
    /// A region that breaks a clause. Named as it is published, never by coordinates.
    package struct Offender: Hashable, Sendable, CustomStringConvertible {
        /// The region's token.
        package let region: String
        /// The country's code.
        package let country: String
        /// The region's name for people.
        package let place: String?
        /// What is wrong, in words.
        package let problem: String

        /// A line for people.
        package var description: String {
            "\(region) (\(place.map { "\($0), " } ?? "")\(country)): \(problem)"
        }
    }

    /// What came of one clause of the contract.
    package struct Clause: Sendable, CustomStringConvertible {
        /// `C1` to `C8`.
        package let name: String
        /// What the clause asks, in a few words.
        package let claim: String
        /// How many regions, or whatever the clause speaks of, were looked at.
        package internal(set) var checked = 0
        /// How often the clause is broken.
        package internal(set) var offenderCount = 0
        /// The first offenders.
        package internal(set) var offenders: [Offender] = []
        /// Breaches that belong to no region.
        package internal(set) var faults: [String] = []
        /// What could not be checked, and why.
        package internal(set) var skipped: [String] = []
        /// Figures for people.
        package internal(set) var notes: [String] = []

        /// Whether nothing that was checked broke the clause.
        package var passed: Bool { offenderCount == 0 && faults.isEmpty }

        static let namedOffenders = 10

        init(_ name: String, _ claim: String) {
            self.name = name
            self.claim = claim
        }

        /// Counts offenders and names the first.
        mutating func add(_ found: [Offender]) {
            offenderCount += found.count
            offenders.append(contentsOf: found.prefix(max(0, Self.namedOffenders - offenders.count)))
        }

        /// Some lines for people.
        package var description: String {
            var lines = ["\(name) \(passed ? "ok    " : "FAILED") \(claim): \(checked) checked"]
            if offenderCount > 0 { lines[0] += ", \(offenderCount) offenders" }
            lines += faults.map { "    \($0)" }
            lines += offenders.map { "    \($0)" }
            if offenderCount > offenders.count { lines.append("    and \(offenderCount - offenders.count) more") }
            lines += notes.map { "    \($0)" }
            lines += skipped.map { "    skipped: \($0)" }
            return lines.joined(separator: "\n")
        }
    }

    /// Regions of the atlas.
    package let regionCount: Int
    /// The clauses in order.
    package let clauses: [Clause]

    /// Whether every clause passed.
    package var passed: Bool { clauses.allSatisfy(\.passed) }

    /// The clause of a name.
    package func clause(_ name: String) -> Clause? { clauses.first { $0.name == name } }

    /// Text for a terminal.
    package var description: String {
        let verdict =
            passed ? "\(regionCount) regions, every clause holds" : "\(regionCount) regions, the contract is broken"
        return (clauses.map(\.description) + [verdict]).joined(separator: "\n")
    }
}
