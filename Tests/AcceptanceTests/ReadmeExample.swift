import Hereabouts

/// Publishes what is around a place, and then what is around a device on its way.
func reduce(_ fixes: [Fix], atlasPath: String, publish: (ReducedLocation) -> Void) throws {
    let atlas = try Atlas(contentsOf: atlasPath)  // open it once; every thread may use it
    let elPaso = Coordinate(latitude: 31.7619, longitude: -106.4850)
    publish(try atlas.reducedLocation(at: elPaso))  // center, accuracy, region, country, place

    var pacer = Pacer()  // one per device; `Fleet` keeps many
    for fix in fixes {
        guard case .new(let region) = try pacer.report(fix, in: atlas) else { continue }
        publish(try atlas.reducedLocation(of: region))
    }
}
