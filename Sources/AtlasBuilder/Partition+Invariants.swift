extension Partition {
    /// What is wrong with regions made of parts, in words; nil where every invariant holds. Parts are of one country.
    ///
    /// - Each part is in exactly one region, and no region is empty.
    /// - A region's residents and area are the sums of its parts'.
    /// - Its center is a point of one of its parts, and on land if any of them has land.
    /// - Its reach is the distance from its center to the farthest corner of its parts.
    /// - Its reach is at most `reachLimit`, unless it is a single part: those are as wide as their cells.
    ///
    /// - Complexity: O(corners of all parts).
    static func brokenInvariant(_ groups: [Group], of parts: PartSet, reachLimit: (Group) -> Double) -> String? {
        var seen = [Bool](repeating: false, count: parts.count)
        for (index, group) in groups.enumerated() {
            if group.parts.isEmpty { return "region \(index) has no part" }
            for part in group.parts {
                if seen[Int(part)] { return "part \(part) is in two regions" }
                seen[Int(part)] = true
            }
            let population = group.parts.reduce(0) { $0 + parts.population[Int($1)] }
            let area = group.parts.reduce(0) { $0 + parts.area[Int($1)] }
            // Sums of the same numbers in another order.
            if abs(population - group.population) > 1e-9 * max(1, population) {
                return "region \(index) has residents that its parts do not have"
            }
            if abs(area - group.area) > 1e-9 * area { return "region \(index) has area that its parts do not have" }
            if !group.parts.contains(group.site.part) { return "region \(index) has its center in another" }
            if !parts.mayBeCenter(group.site, of: group.parts) { return "region \(index) has its center at sea" }
            let farthest = group.parts.flatMap { part in
                parts.corners(Int(part)).map { parts.hull[$0].distance(to: group.site.position) }
            }.max()!
            if abs(farthest - group.reach) > 1e-6 { return "region \(index) reaches \(farthest) m, not \(group.reach)" }
            if farthest > reachLimit(group), group.parts.count > 1 { return "region \(index) reaches too far" }
        }
        return seen.firstIndex(of: false).map { "part \($0) is in no region" }
    }

    /// Asserts the invariants after a pass; compiled out of release builds.
    @inline(__always)
    func checkInvariants(after pass: StaticString) {
        #if DEBUG
            if let problem = Self.brokenInvariant(groups, of: parts, reachLimit: { _ in reachLimit }) {
                preconditionFailure("after \(pass): \(problem)")
            }
        #endif
    }
}
