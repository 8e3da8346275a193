/// How many people no partition could give a region of K promised residents: nowhere around them does a circle of the
/// largest allowed size, about a point of their own country, hold that many.
///
/// An estimate. Only one center is tried for each unit of parts, so some count who could have K: with a center every kilometer
/// there are 6 to 13 % fewer in Germany, Nigeria, Thailand, Vietnam, Turkey and Congo. And parts count by their middles, though a
/// region must hold a part whole: by that, 27 to 75 % more are out of reach of any region that the parts there were could make.
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
