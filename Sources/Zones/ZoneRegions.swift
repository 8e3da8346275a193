import AtlasInspection
import Hereabouts

/// The regions around zones, and what is answered for them.
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

    /// How far from a region's center the place may be that stands for it by default, meters.
    static let anchorReachMeters = 50_000.0

    /// What is answered in place of the regions around a zone.
    package enum Answer: String, CaseIterable, Sendable {
        /// Nothing.
        case withhold
        /// The region of the zone's anchor.
        case anchor
    }

    /// The region of a zone's middle, and which distance around it was taken.
    struct Core: Hashable {
        var region: Region
        var reachMeters: Double
    }

    /// For each zone.
    let cores: [Core]
    let surroundings: [Set<Region>]
    private let atlas: Atlas
    private let zones: [Zone]

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
        (self.zones, self.atlas, self.cores, self.surroundings) = (zones, atlas, cores, surroundings)
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

    /// What is published in place of the regions around the zones. A region around several zones goes with the first.
    package func replacements(_ answer: Answer) -> [Region: Region?] {
        var replacements: [Region: Region?] = [:]
        let all = surroundings.reduce(into: Set<Region>()) { $0.formUnion($1) }
        var defaults: [Region: Region?] = [:]
        for (index, regions) in surroundings.enumerated() {
            var published: Region?
            if answer == .anchor {
                let core = cores[index].region
                if let anchor = zones[index].anchor {
                    published = Self.region(at: anchor, atlas)
                } else {
                    published = defaults[core] ?? publicRegion(of: core, outside: all)
                    defaults[core] = .some(published)
                }
            }
            for region in regions where replacements[region] == nil { replacements[region] = .some(published) }
        }
        return replacements
    }

    /// The most densely settled region of a region's country with its center within `anchorReachMeters` of the region's:
    /// mostly the middle of the nearest city. Nil where there is none. It is a function of the atlas and of the regions
    /// around the zones, not of the zones.
    private func publicRegion(of core: Region, outside withheld: Set<Region>) -> Region? {
        let country = atlas.country(of: core), center = atlas.center(of: core)
        var best: (region: Region, density: Double)?
        for index in 0..<UInt32(atlas.regionCount) {
            let region = Region(index: index), place = atlas.center(of: region)
            // A degree of latitude is at least 110,574 m.
            guard (place.latitude - center.latitude).magnitude * 110_574 <= Self.anchorReachMeters,
                Self.distanceMeters(center, place) <= Self.anchorReachMeters, !withheld.contains(region),
                atlas.country(of: region) == country,
                let residents = try? atlas.anonymity(of: region), residents > 0
            else { continue }
            let accuracy = atlas.horizontalAccuracy(of: region)
            let density = Double(residents) / (accuracy * accuracy)
            if density > best?.density ?? 0 { best = (region, density) }
        }
        return best?.region
    }

    /// On a sphere: who is nearest to the edge of `anchorReachMeters` does not matter.
    private static func distanceMeters(_ a: Coordinate, _ b: Coordinate) -> Double {
        let (sineA, cosineA) = Trigonometry.sineAndCosine(degrees: a.latitude)
        let (sineB, cosineB) = Trigonometry.sineAndCosine(degrees: b.latitude)
        let east = Trigonometry.sineAndCosine(degrees: (b.longitude - a.longitude) / 2).sine
        let (north, outward) = (sineA - sineB, cosineA - cosineB)
        let chord = (north * north + outward * outward + 4 * cosineA * cosineB * east * east).squareRoot()
        return chord * CellID.earthRadiusMeters
    }
}
