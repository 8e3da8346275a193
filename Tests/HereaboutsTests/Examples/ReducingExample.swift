import Hereabouts

/// What may be published of a position, as a line of text.
func line(for position: Coordinate, in atlas: Atlas) throws -> String {
    let here = try atlas.reducedLocation(at: position)
    let kilometers = here.horizontalAccuracy / 1_000
    let name = here.place.map { $0.isInside ? $0.name : "near \($0.name)" } ?? "unnamed"
    return "\(name), \(here.country): within \(kilometers) km (\(here.region))"
}

/// How many of many positions lie in each region; invalid ones are left out.
func regionCounts(of positions: [Coordinate], in atlas: Atlas) throws -> [RegionID: Int] {
    var counts: [Region: Int] = [:]
    for region in try atlas.regions(at: positions) where region != .invalid { counts[region, default: 0] += 1 }
    let identified = try counts.map { (try atlas.identifier(of: $0.key), $0.value) }
    return Dictionary(uniqueKeysWithValues: identified)
}
