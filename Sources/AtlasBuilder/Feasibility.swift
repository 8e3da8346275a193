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
        var near: [Int] = []
        for part in 0..<parts.count where parts.unit[part] != lastUnit {
            lastUnit = parts.unit[part]
            let center = parts.center[part]
            var promised = 0.0
            near.removeAll(keepingCapacity: true)
            all.forEach(near: center, within: radius) { other in
                guard center.distance(to: parts.center[other]) <= radius else { return }
                promised += parts.population[other]
                near.append(other)
            }
            if promised >= anonymity { for other in near { isReached[other] = true } }
        }
        return (0..<parts.count).reduce(0) { isReached[$1] ? $0 : $0 + parts.residents[$1] }
    }
}
