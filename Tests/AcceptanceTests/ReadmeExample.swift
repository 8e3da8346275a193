import Hereabouts

/// Publishes what is around a place, and then what is around a device on its way.
func reduce(_ fixes: [Fix], atlasPath: String, publish: (ReducedLocation) -> Void) throws {
    let atlas = try Atlas(contentsOf: atlasPath)  // open it once; every thread may use it
    let region = try atlas.snap(latitude: 31.7619, longitude: -106.4850)
    publish(atlas.reducedLocation(of: region))  // center, accuracy, region, country, place

    var pacer = Pacer()  // one per device
    for fix in fixes {
        guard case .new(let region) = try pacer.report(fix, in: atlas) else { continue }
        publish(atlas.reducedLocation(of: region))
    }
}
