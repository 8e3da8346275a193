import Foundation
import Hereabouts
import Testing
extension Acceptance {
    @Suite struct AdHoc {
        @Test(arguments: [(3.59194, 30.82279, 10.0), (3.59392, 30.80410, 10), (6.19592, -162.33668, 10)]) func map(_ la: Double, _ lo: Double, _ step: Double) throws {
            let o = try PolygonOracle.borders.get()
            var pts: [Double] = []
            for r in stride(from: 20, through: -20, by: -1) { for c in -40...40 { let p = shifted(lo, la, east: Double(c)*step, north: Double(r)*step); pts += [p.x, p.y] } }
            let codes = try o.codes(of: pts)
            var s = "", k = 0
            for _ in 0..<41 { for _ in 0..<81 {
                let a = RegionTable.world.code(try atlas.snap(latitude: pts[2*k+1], longitude: pts[2*k])); let b = codes[k]
                s += a == b ? String(a.description.suffix(1)).lowercased() : String(a.description.suffix(1))
                k += 1 }; s += "\n" }
            print(la, lo, Set(codes), "\n" + s)
        }
        @Test func cathedral() throws {
            let r = try Recording(projectFolder.appendingPathComponent("data/samples/juarez.gpx"))
            var d: [String: Double] = [:]
            for f in r.fixes { let c = RegionTable.world[try atlas.snap(f)]; let x = try distance(Coordinate(latitude: 31.7383, longitude: -106.4872), f)
                let k = "\(c.region) \(c.place ?? "") \(c.horizontalAccuracy)"; d[k] = min(d[k] ?? 1e9, x) }
            for (k, v) in d.sorted(by: { $0.value < $1.value }) { print(Int(v), k) }
        }
        @Test func buesingen() throws {
            for p in BorderPoint.all where ["Büsingen", "Gailingen"].contains(p.name) {
                let r = try atlas.snap(latitude: p.latitude, longitude: p.longitude); print(p.name, RegionTable.world[r], atlas.anonymity(of: r)) }
        }
    }
}
