extension Partition {
    /// Straightens borders between regions along coarser cells (`CellAligner`).
    mutating func alignToCells() {
        let limits = limits, reachLimit = reachLimit
        groups = CellAligner(parts: parts, limits: limits, groups: groups) { group in
            // People who cannot be helped lose nothing by a wider circle.
            if group.population < limits.anonymity { return reachLimit }
            let least = limits.reach(ofAccuracy: limits.smallestAccuracy)
            return min(reachLimit, max(group.reach * Self.slack(ofReach: group.reach), least))
        }.aligned()
    }

    /// How many times as wide a circle may become. In between lies the width that half of all people's regions have; those
    /// of the densest places are hardly wider than the least, and the widest, three of four, are most of the tables.
    private static func slack(ofReach reach: Double) -> Double { (3_000...8_000).contains(reach) ? 1.08 : 1.3 }
}
