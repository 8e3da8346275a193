import Hereabouts
import ParallelMap

/// How close together the residents of regions live: the radius of the smallest circle about a point where some of them live that holds
/// nine in ten. (The smallest about any point is at least half as wide.)
enum Concentration {
    private static let share = 0.9, stepMeters = 100.0

    /// Some residents at one point.
    struct Residents {
        var position: SIMD3<Double>
        var number: Double
    }

    /// Steps of 100 m, rounded up, for some residents; 255 for that and more, 0 for nobody.
    static func steps(_ residents: [Residents]) -> UInt8 {
        let all = residents.reduce(0) { $0 + $1.number }
        guard all > 0 else { return 0 }
        // Sums of the same numbers in another order are no fewer.
        let most = all * (1 - share) * (1 + 1e-9)
        var least = Double.infinity
        for center in residents {
            // Most points are seen not to do before the last is looked at.
            var outside = 0.0
            for other in residents where other.position.distance(to: center.position) >= least {
                outside += other.number
                if outside > most { break }
            }
            if outside <= most { least = radius(residents, about: center.position, most: most) }
        }
        return UInt8(min(255, max(1, (least / stepMeters).rounded(.up))))
    }

    /// The radius of the smallest circle about a point outside of which not more than so many live, meters.
    private static func radius(_ residents: [Residents], about center: SIMD3<Double>, most: Double) -> Double {
        var outside = 0.0
        let order = residents.map { (distance: $0.position.distance(to: center), number: $0.number) }
            .sorted { $0.distance > $1.distance }
        for (distance, number) in order {
            outside += number
            if outside > most { return distance }
        }
        return 0
    }

    /// The steps of every region.
    /// - Parameter listed: what a list adds to the residents of regions.
    static func steps(
        of records: [RegionRecord], roots: [RootParts], _ population: [Population], listed: [UInt32: [PopulationPoint]]
    ) throws -> [UInt8] {
        @Sendable func residents(_ leaf: UInt64, _ number: Double) -> Residents {
            Residents(position: Ellipsoid.position(CellID(rawValue: leaf).center), number: number)
        }
        let batch = 1_024
        return try parallelMap(count: (records.count + batch - 1) / batch) { task in
            (task * batch..<min(records.count, (task + 1) * batch)).map { index in
                var found = (listed[UInt32(index)] ?? []).map { residents($0.cell, $0.people.residents) }
                for member in records[index].members {
                    let root = roots[Int(member.root)], part = root.parts[Int(member.part)]
                    let points = population[Int(member.root)]
                    for point in points.range(of: part.cell) {
                        let leaf = CellID(rawValue: points.cells[point])
                        guard part.cut < 0 || root.cuts[Int(part.cut)].country(atLeaf: leaf.lowerLeft) == part.country
                        else { continue }
                        found.append(residents(leaf.rawValue, points.people(point..<point + 1).residents))
                    }
                }
                return steps(found)
            }
        }.flatMap { $0 }
    }
}
