import Foundation
import Hereabouts
import Testing
extension Acceptance {
@Suite struct Timing {
    @Test func reading() throws {
        func t(_ n: String, _ f: () throws -> Void) rethrows { let s = Date(); try f(); print(n, Date().timeIntervalSince(s)) }
        try t("borders") { let b = try PolygonOracle.borders.get(); print(b.polygons.count, b.polygons.reduce(0) { $0 + $1.rings.reduce(0) { $0 + $1.count / 2 } }) }
        try t("land") { let b = try PolygonOracle.land.get(); print(b.polygons.count) }
        try t("atlas") { _ = atlas }
        try t("regions") { print(RegionTable.world.codes.count) }
        var random = SplitMix64(seed: 1)
        var points: [Double] = []
        t("random") { for _ in 0..<1_000_000 { points.append(random.uniform(-180, 180)); points.append(asin(random.uniform(-1, 1)) * 180 / .pi) } }
        try t("land holds") { print(try PolygonOracle.land.get().holds(points).count { $0 }) }
        try t("codes") { print(try PolygonOracle.borders.get().codes(of: points).count { $0 == .none }) }
        try t("snap") { for k in 0..<1_000_000 { _ = try atlas.snap(latitude: points[2*k+1], longitude: points[2*k]) } }
    }
}
}
