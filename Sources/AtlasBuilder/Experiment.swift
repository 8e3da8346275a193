import Foundation
package enum Experiment {
    package static func run() throws {
        let d = "/tmp/exp/src/"
        var s = AtlasBuild.Sources(borders: d + "borders.geojsonl")
        s.land = d + "land.geojsonl"; s.places = d + "places.csv"; s.countries = d + "countries.csv"
        let start = Date(); let last = Mutex("")
        let r = try AtlasBuild(sources: s, limits: RegionLimits()) { p in last.withLock { if $0 != p.stage { $0 = p.stage; print(String(format: "%6.1f", Date().timeIntervalSince(start)), p.stage); unsafe fflush(nil) } } }.run()
        print(String(format: "%6.1f done", Date().timeIntervalSince(start)), r.bytes.count, r.warnings)
        var c = r.summary; let worst = c.countries.sorted { $0.short > $1.short }.prefix(10); c.countries = []
        print(c); for w in worst { print(w) }
        try Data(r.bytes).write(to: URL(fileURLWithPath: CommandLine.arguments[1]))
        for k in 0..<8 { let at = 0x40 + k * 16 + 8; print(k, r.bytes[at..<at+8].reversed().reduce(0) { $0 << 8 | Int($1) }) }
    }
}
import Synchronization
