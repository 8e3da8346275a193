/// How many people hardly any partition could give a region of K promised residents: nowhere around them does a circle of the
/// largest allowed size, about a point of their own country, hold that many.
///
/// An estimate: one center is tried for each unit of parts, and parts count by their middles, though a region holds them whole.
struct Feasibility {
    let parts: PartSet
    /// Radius of the circle, meters: the largest distance from a region's center to its corners.
    let radius: Double

    /// Estimated residents of parts (counted by their middles) that lie in no circle of at least `anonymity` promised
    /// residents.
    func unreachableResidents(anonymity: Double) -> Double {
        let all = PointGrid(parts.center, indices: Array(0..<Int32(parts.count)), side: radius / 4)
        var isReached = [Bool](repeating: false, count: parts.count)
        var lastUnit: UInt64?
        for part in 0..<parts.count where parts.unit[part] != lastUnit {
            lastUnit = parts.unit[part]
            let center = parts.center[part]
            var promised = 0.0
            all.forEach(near: center, within: radius) { other in
                if center.distance(to: parts.center[other]) <= radius { promised += parts.population[other] }
            }
            guard promised >= anonymity else { continue }
            all.forEach(near: center, within: radius) { other in
                if center.distance(to: parts.center[other]) <= radius { isReached[other] = true }
            }
        }
        return (0..<parts.count).reduce(0) { isReached[$1] ? $0 : $0 + parts.residents[$1] }
    }
}
