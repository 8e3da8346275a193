import AtlasInspection
import Hereabouts

/// The regions around zones, of which nothing is answered.
///
/// **Which regions.** Let p be the region of a zone's middle, r how far the zone reaches from there, s the steadiness margin
/// and e the error of a fix. A fix taken in the zone lies within r + e of the middle, and the region that a pacer answers
/// within s of the fix: within r + e + s of p. So all regions within that distance of p are taken, the distance rounded up
/// to one of `reachesMeters`. Whatever is answered in the zone is one of them.
///
/// **Why not fewer.** The regions that the widened zone itself intersects would do as well, and would say where it is: two
/// of them that it is within some 350 m of the border between, three that it is near their corner. The set that is taken
/// is a function of p and of one of eight sizes: whoever knows it, knows that the middle is in p, which is what a single
/// answer there would say.
package struct ZoneRegions: Sendable {
    /// The error of a fix, meters: 98 % of phones in street canyons err by less than 25 to 78 m (docs/ARCHITECTURE.md,
    /// Pacing).
    static let fixErrorMeters = 100.0

    /// The distances that are told apart, meters.
    static let reachesMeters = [500.0, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000]

    /// The region of a zone's middle, and which distance around it was taken.
    struct Core: Hashable {
        var region: Region
        var reachMeters: Double
    }

    /// For each zone.
    let cores: [Core]
    let surroundings: [Set<Region>]
    private let atlas: Atlas

    /// - Parameters:
    ///   - atlas: opened by the caller, validated as a whole or ending the process on damage.
    ///   - atlasPath: its file.
    /// - Throws: `FormatError`, `GEOSError`.
    /// - Complexity: some tens of milliseconds for the file, and for each zone.
    package init(_ zones: [Zone], atlas: Atlas, atlasPath: String) throws {
        let geometry = try RegionSurroundings(atlasPath: atlasPath)
        var known: [Core: Set<Region>] = [:]
        var cores: [Core] = [], surroundings: [Set<Region>] = []
        for zone in zones {
            let core = Core(region: Self.region(at: zone.middle, atlas), reachMeters: Self.reach(of: zone, atlas))
            let found = try known[core] ?? geometry.regions(within: core.reachMeters, of: core.region)
            known[core] = found
            cores.append(core)
            surroundings.append(found)
        }
        (self.atlas, self.cores, self.surroundings) = (atlas, cores, surroundings)
    }

    /// The region of a position in range, without a mark.
    private static func region(at place: Coordinate, _ atlas: Atlas) -> Region {
        atlas.region(at: FaceIJ(latitude: place.latitude, longitude: FaceIJ.wrappedLongitude(place.longitude)))
    }

    private static func reach(of zone: Zone, _ atlas: Atlas) -> Double {
        let needed = zone.reachMeters + fixErrorMeters + atlas.steadinessMeters
        guard let reach = reachesMeters.first(where: { $0 >= needed }) else {
            preconditionFailure("a zone reaches no farther than its file's reader accepts")
        }
        return reach
    }

    /// The countries that the zones' middles are in, each once, in order of their codes.
    package var countries: [Country] { Set(cores.map { atlas.country(of: $0.region) }).sorted() }

    /// The regions around all zones.
    package var all: Set<Region> { surroundings.reduce(into: []) { $0.formUnion($1) } }
}
