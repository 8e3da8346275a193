import AtlasFormat
import ParallelMap

/// C6: leftovers, settled regions that are small and promise few residents amid others of their country: what is left when circles
/// of the largest size have been cut.
extension VerifiedAtlas {
    /// A circle below this share of the largest accuracy of a region with residents is small; below the second, and with fewer than
    /// this share of K, hardly anybody is hidden in it.
    private static let small = 0.75, smallest = 0.375, fewest = 0.05
    /// How far outside of a region it is asked what lies around it, in accuracies; at so many points, of which at least so many must
    /// lie in other regions, and all of these in settled ones of its country.
    private static let ring = 1.3, ringPoints = 12, fewestAround = 10

    /// Why a leftover stays: why none around it joins it, and none gives it parts.
    private enum Exception: String, CaseIterable {
        case fits = "fit one of the regions around them, in a circle as large as with a leftover it may be"
        case poor = "fit none, and touch only regions that promise fewer than half of K, which need their parts"
        case needed = "fit none, and do not get enough of the parts around them, which are needed there or too far"
    }

    func verifyLeftovers(
        promised: [Double], residents: [Double], _ isSettled: [Bool], _ bounds: AtlasVerifier.LeftoverBounds,
        _ clause: inout Clause
    ) throws {
        let limits = tables.limits, needed = Double(limits.anonymity)
        let candidates = (0..<regionCount).filter {
            isSettled[$0] && tables.accuracy($0) < Self.small * limits.largestAccuracy
                && promised[$0] + Self.tolerance(needed) < needed / 2
        }
        let isLeftover = try parallelMap(count: candidates.count) { try isAmidSettled(candidates[$0], isSettled) }
        let leftovers = zip(candidates, isLeftover).filter(\.1).map(\.0)
        let smallest = leftovers.filter {
            tables.accuracy($0) < Self.smallest * limits.largestAccuracy && promised[$0] < Self.fewest * needed
        }
        func sum(_ regions: [Int]) -> Int { Int(regions.reduce(0) { $0 + residents[$1] }) }
        clause.notes.append(
            "\(leftovers.count) leftovers with \(sum(leftovers)) residents: small, and short of half of K amid settled regions of "
                + "their country; \(smallest.count) with \(sum(smallest)) residents are smallest, with fewer than "
                + "\(Int(Self.fewest * needed)) promised:")
        let joints = try RegionJoiner(subject: self, limit: limits.largestLeftoverAccuracy).joints(of: leftovers) {
            isSettled[$1]
        }
        let fitting = Set(joints.map(\.region))
        var exceptions: [Exception: [Int]] = [:]
        for region in leftovers {
            let around = try settledNeighbors(of: region, isSettled)
            let exception: Exception =
                fitting.contains(region) ? .fits : around.contains { promised[$0] >= needed / 2 } ? .needed : .poor
            exceptions[exception, default: []].append(region)
        }
        for exception in Exception.allCases {
            guard let regions = exceptions[exception] else { continue }
            clause.notes.append("  \(regions.count) with \(sum(regions)) residents \(exception.rawValue)")
        }
        for (regions, most, kind) in [
            (leftovers, bounds.all, "leftovers"), (smallest, bounds.smallest, "smallest leftovers"),
        ]
        where regions.count > most {
            clause.faults.append("\(regions.count) \(kind), more than \(most)")
        }
    }

    /// The settled regions of its country that touch a region.
    private func settledNeighbors(of region: Int, _ isSettled: [Bool]) throws -> Set<Int> {
        let cells = Array(cover.quads(region)) + cover.pieces(region).map(\.cell)
        return Set(try cells.flatMap(Self.leavesAround).map { try tables.region(at: $0) })
            .filter { $0 != region && tables.country($0) == tables.country(region) && isSettled[$0] }
    }

    /// Whether what lies around a region is settled, of its country, and nearly everywhere another region.
    private func isAmidSettled(_ region: Int, _ isSettled: [Bool]) throws -> Bool {
        let center = tables.center(region), distance = Self.ring * tables.accuracy(region)
        let frame = TangentFrame(latitude: center.latitude, longitude: center.longitude)
        let others = try (0..<Self.ringPoints).map { point in
            let (sine, cosine) = sineAndCosine(degrees: Double(point) * 360 / Double(Self.ringPoints))
            return try tables.region(at: CubeGeometry.leaf(at: frame.place(SIMD2(sine, cosine) * distance)))
        }.filter { $0 != region }
        return others.count >= Self.fewestAround
            && others.allSatisfy { tables.country($0) == tables.country(region) && isSettled[$0] }
    }
}
