import Hereabouts

func reduce(_ fixes: [Fix], atlasPath: String, publish: (ReducedLocation) -> Void) throws {
    let atlas = try Atlas(contentsOf: atlasPath)  // open it once; every thread may use it
    publish(try atlas.reducedLocation(at: Coordinate(latitude: 31.7619, longitude: -106.4850)))
    var pacer = Pacer()  // one per device; `Fleet` keeps many
    for fix in fixes {
        // The answer of a tick that has passed: of :00, :15, :30 or :45. Live, call `pacer.tick` at these times.
        guard case .kept(let answer?) = try pacer.report(fix, in: atlas), answer.isNew else { continue }
        publish(try atlas.reducedLocation(of: answer.region))
    }
}
