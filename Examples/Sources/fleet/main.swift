// Ten thousand devices for six hours, with a crash amid a tick: nobody is answered twice for a tick, and nothing that was
// published is forgotten.
//
//     fleet world.atlas
import Hereabouts

let atlas = try Atlas(contentsOf: CommandLine.arguments[1])
let start = Timestamp("2026-09-21T06:00:00Z") ?? .now
let keys = (0..<10_000).map { "device \($0)" }

/// What a database would be: the newest state of each device, and the atlas that all are of.
var stored: [String: Pacer.State] = [:]
let storedAtlas = atlas.fingerprint

/// What was published: the tick of each device's last answer, and where it is.
var published: [String: (tick: Timestamp, region: Region)] = [:]
var answerCount = 0, changeCount = 0

struct Crash: Error {}

/// Devices go east, each at its own speed, from Berlin.
func fix(of device: Int, at time: Timestamp) -> Fix {
    let hours = (time - start) / .seconds(3600)
    let longitude = 13.4 + hours * Double(device % 100) / 100
    return Fix(
        coordinate: Coordinate(latitude: 52.5, longitude: longitude), time: time, horizontalAccuracy: 10)
}

@MainActor func restored() throws -> Fleet {
    var fleet = Fleet(capacity: keys.count, atlas: atlas)
    for (key, state) in stored { try fleet.restore(state, for: key, from: storedAtlas) }
    return fleet
}

var fleet = try restored()
var now = start
var crashAfter = 5_000
while now < start + .seconds(6 * 3600) {
    for (device, key) in keys.enumerated() {
        _ = try fleet.report(fix(of: device, at: now + .seconds(device % 900)), from: key)
    }
    now = fleet.nextTick(after: now)
    do {
        try fleet.tick(now) { device in
            if now == start + .seconds(3 * 3600) {
                crashAfter -= 1
                if crashAfter == 0 { throw Crash() }
            }
            // First stored, then published.
            stored[device.key] = device.state
            let last = published.updateValue((device.answer.tick, device.answer.region), forKey: device.key)
            if let last, last.tick >= device.answer.tick { fatalError("two answers for one tick") }
            answerCount += 1
            if device.answer.isNew { changeCount += 1 }
        }
    } catch is Crash {
        fleet = try restored()
        print("\(now): a crash; \(fleet.count) devices are taken up again")
    }
}
print("\(answerCount) answers, \(changeCount) of them new, for \(fleet.count) devices")
