import Hereabouts

/// Publishes what is around a place, and then what is around a device on its way.
func reduce(_ fixes: [Fix], atlasPath: String, publish: (ReducedLocation) -> Void) throws {
    let atlas = try Atlas(contentsOf: atlasPath)  // open it once; every thread may use it
    let elPaso = Coordinate(latitude: 31.7619, longitude: -106.4850)
    publish(try atlas.reducedLocation(at: elPaso))  // center, accuracy, region, country, place

    var pacer = Pacer()  // one per device; `Fleet` keeps many
    for fix in fixes {
        // The answer of a tick that has passed: of :00, :15, :30 or :45. Live, call `pacer.tick` at these times.
        guard case .kept(let answer?) = try pacer.report(fix, in: atlas), answer.isNew else { continue }
        publish(try atlas.reducedLocation(of: answer.region))
    }
}
