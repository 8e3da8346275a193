import AtlasFormat
import ParallelMap

/// C6: how close together residents live is what the file says of it.
extension VerifiedAtlas {
    /// Nine in ten, as nearly as it can be told: the builder rounds residents to 1/1024.
    private static let shares = (low: 0.899, high: 0.901)
    private static let stepMeters = 100.0, meter = 1.0

    func verifyConcentrations(_ count: ResidentCount.Count?, _ clause: inout Clause) throws {
        guard let count else {
            clause.skipped.append("how close together residents live: give the population to see it")
            return
        }
        var points = [[PlaceExtents.Residents]](repeating: [], count: regionCount)
        for point in count.points + count.listedPoints { points[Int(point.region)].append(point) }
        let byRegion = points
        clause.add(
            try offenders { region in
                let residents = byRegion[region].map { (position: $0.position, number: Double($0.number)) }
                guard let given = tables.concentration(region) else {
                    return residents.isEmpty ? nil : "it does not say how close together its residents live"
                }
                if residents.isEmpty { return "it says how close together its residents live, and has none" }
                /// Whether a circle about one of them holds so many.
                func isHeld(_ share: Double, within meters: Double) -> Bool {
                    let enough = share * residents.reduce(0) { $0 + $1.number }
                    return residents.contains { center in
                        residents.reduce(0.0) {
                            $1.position.chord(to: center.position) <= meters ? $0 + $1.number : $0
                        } >= enough
                    }
                }
                // The last step is for all that is more.
                let isLast = given == 255 * Self.stepMeters
                if !isLast, !isHeld(Self.shares.low, within: given + Self.meter) {
                    return "nine in ten residents do not live within \(Int(given)) m"
                }
                let less = given - Self.stepMeters - Self.meter
                return less > 0 && isHeld(Self.shares.high, within: less)
                    ? "nine in ten residents live within less than \(Int(given)) m" : nil
            })
    }
}
