import Hereabouts

/// Takes the fixes of many devices and tells what to publish, over restarts too.
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

    /// What to publish for a fix; nil where the last answer stands.
    mutating func take(_ fix: Fix, from device: String) throws -> ReducedLocation? {
        switch try fleet.report(fix, from: device) {
        case .new(let region): try fleet.atlas.reducedLocation(of: region)
        case .unchanged, .paced: nil
        }
    }

    /// To be stored before the answers so far are published.
    func saved() -> [UInt8] { fleet.snapshot() }

    /// To be called now and then: makes room by forgetting devices that were silent for thirty days.
    mutating func tidy(now: Timestamp) {
        let thirtyDays: Int64 = 30 * 86_400 * 1_000_000_000
        fleet.forgetDevices(silentSince: Timestamp(nanosecondsSince1970: now.nanosecondsSince1970 - thirtyDays))
    }
}
