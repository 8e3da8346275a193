import AtlasInspection
import FixedRandom
import Hereabouts
import Testing
import Traces

@testable import Zones

/// The regions around zones, against the engine's lookups.
@Suite struct ZoneRegionsTests {
    static let middles = [
        (48.2082, 16.3738), (31.7619, -106.4850), (51.5072, -0.1276), (-1.2921, 36.8219), (64.1466, -21.9426),
        (-16.8, 179.99), (50.7547, 6.0205), (35.6762, 139.6503), (89.99, 0), (0, -140),
    ].map { Coordinate(latitude: $0.0, longitude: $0.1) }

    /// No region within the distance is missing, and none is there that is much farther away.
    @Test(arguments: middles) func `surroundings are those within reach`(_ middle: Coordinate) throws {
        var random = SplitMix64(seed: 7)
        let core = region(at: middle)
        let surroundings = try RegionSurroundings(atlasPath: atlasPath)
        for reach in [500.0, 4_000] {
            let found = try surroundings.regions(within: reach, of: core)
            #expect(found.contains(core))
            var seen: Set<Region> = []
            let circle = worldAtlas.horizontalAccuracy(of: core)
            for _ in 0..<4000 {
                let place = random.place(within: circle, of: worldAtlas.center(of: core))
                guard region(at: place) == core else { continue }
                let near = region(at: moved(place, meters: reach * random.unit(), azimuth: random.uniform(-180, 180)))
                #expect(found.contains(near))
                seen.insert(near)
            }
            // Circles that are farther apart than that cannot hold regions within reach of each other.
            for region in found {
                let apart = meters(worldAtlas.center(of: core), worldAtlas.center(of: region))
                #expect(apart <= circle + worldAtlas.horizontalAccuracy(of: region) + reach * 1.01)
            }
            #expect(seen.count <= found.count)
        }
    }

    /// What is withheld is a function of the region of the middle and the size, not of where in the region it is.
    @Test(arguments: middles) func `the middle does not matter within its region`(_ middle: Coordinate) throws {
        var random = SplitMix64(seed: 8)
        let core = region(at: middle)
        var fingerprints: Set<UInt64> = []
        for _ in 0..<4 {
            let zone = Zone(middle: random.place(in: core), reachMeters: random.uniform(1, 150))
            let regions = try ZoneRegions([zone], atlas: worldAtlas, atlasPath: atlasPath)
            fingerprints.insert(WithheldRegions(regions.all).fingerprint)
        }
        #expect(fingerprints.count == 1)
    }

    /// Whatever a pacer answers for fixes in a zone is one of the regions around it, with errors of up to 100 m, wherever it
    /// came from.
    @Test(arguments: middles.prefix(8)) func `no answer in a zone is outside its regions`(_ middle: Coordinate) throws {
        var random = SplitMix64(seed: 9)
        let core = region(at: middle)
        for _ in 0..<6 {
            let zone = Zone(middle: random.place(in: core), reachMeters: [50.0, 150, 600][Int(random.next() % 3)])
            let withheld = try ZoneRegions([zone], atlas: worldAtlas, atlasPath: atlasPath).all
            for _ in 0..<60 {
                var pacer = Pacer()
                var tick = Timestamp(nanosecondsSince1970: 1_772_000_100_000_000_000)
                // From another place, then a while in the zone.
                for index in 0..<8 {
                    let isInZone = index >= 3
                    let truth = random.place(
                        within: isInZone ? zone.reachMeters : 6000, of: zone.middle)
                    let place = isInZone ? random.place(within: ZoneRegions.fixErrorMeters, of: truth) : truth
                    let fix = Fix(coordinate: place, time: tick)
                    _ = try pacer.report(fix, in: worldAtlas)
                    let answer = try #require(try pacer.tick(pacer.pendingTick ?? tick, in: worldAtlas))
                    if isInZone { #expect(withheld.contains(Region(index: answer.region.index))) }
                    tick = Timestamp(nanosecondsSince1970: tick.nanosecondsSince1970 + 900_000_000_000)
                }
            }
        }
    }
}
