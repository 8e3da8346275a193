import Hereabouts

/// Takes the fixes of many devices and tells at each tick what to publish, over restarts too.
struct Dispatcher {
    private var fleet: Fleet

    /// - Parameter saved: what `saved()` gave in the run before; nil in the first.
    init(atlas: Atlas, saved: [UInt8]?) throws {
        if let saved {
            fleet = try Fleet(snapshot: saved, capacity: 100_000, atlas: atlas)
        } else {
            fleet = Fleet(interval: .seconds(900), capacity: 100_000, atlas: atlas)
        }
    }

    /// Keeps a fix until its tick. One that is of a later tick gives the answer of the tick before it, if `tick` has not.
    mutating func take(_ fix: Fix, from device: String) throws -> ReducedLocation? {
        guard case .kept(let answer?) = try fleet.report(fix, from: device), answer.isNew else { return nil }
        return try fleet.atlas.reducedLocation(of: answer.region)
    }

    /// What to publish at :00, :15, :30 and :45: the new reduced locations by device. Those of the others stand.
    mutating func tick(_ now: Timestamp) throws -> [String: ReducedLocation] {
        var new: [String: Region] = [:]
        try fleet.tick(now) { device in
            if device.answer.isNew { new[device.key] = device.answer.region }
        }
        return try new.mapValues { try fleet.atlas.reducedLocation(of: $0) }
    }

    /// To be stored before the answers so far are published.
    func saved() -> [UInt8] { fleet.snapshot() }

    /// To be called now and then, after `tick`: makes room by forgetting devices that were silent for thirty days.
    mutating func tidy(now: Timestamp) {
        fleet.forgetDevices(silentSince: now - .seconds(30 * 86_400))
    }
}
