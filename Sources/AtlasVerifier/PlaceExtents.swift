import AtlasFormat
import AtlasSources
import Foundation
import ParallelMap

/// Which places the residents of each region belong to (contract C8), found anew from the population.
///
/// A place has all residents within its radius and, where those are fewer than it lists, as many as that, the nearest, at most
/// three of its radii away. All places reach out at once, each as fast as its radius is long; residents belong to the first that reaches them. They count for a later one
/// too if the place that they belong to is nearer to that than they are.
struct PlaceExtents: Sendable {
    /// By region, how many of its residents belong to which place.
    private let shares: [[(place: Int, residents: Double)]]

    /// Some residents at a leaf cell.
    struct Residents: Sendable {
        var region: Int32
        private var face: Int32
        private var i: UInt32, j: UInt32
        var number: Float

        init(_ leaf: Leaf, region: Int, number: Double) {
            (face, i, j) = (Int32(leaf.face), UInt32(leaf.i), UInt32(leaf.j))
            (self.region, self.number) = (Int32(region), Float(number))
        }

        var position: SIMD3<Double> {
            func middle(_ step: UInt32) -> Double { (Double(step) + 0.5) * 0x1p-30 }
            return EarthCentered.position(
                CubeGeometry.position(face: Int(face), s: middle(i), t: middle(j)))
        }
    }

    /// `places` are those of each country, and `countryOfRegion` says whose a region is.
    init(
        _ residents: [Residents], places: [[(place: Int, residents: Double, position: SIMD3<Double>)]],
        regionCount: Int, countryOfRegion: (Int) -> Int
    ) throws {
        var byCountry = [[Residents]](repeating: [], count: places.count)
        for some in residents { byCountry[countryOfRegion(Int(some.region))].append(some) }
        let parts = byCountry
        let found = try parallelMap(count: places.count) { Self.owners(of: parts[$0], places[$0]) }
        var shares = [[(place: Int, residents: Double)]](repeating: [], count: regionCount)
        for (residents, owners) in zip(parts, found) {
            for (some, place) in zip(residents, owners) where place >= 0 {
                let region = Int(some.region)
                if let index = shares[region].firstIndex(where: { $0.place == place }) {
                    shares[region][index].residents += Double(some.number)
                } else {
                    shares[region].append((Int(place), Double(some.number)))
                }
            }
        }
        self.shares = shares
    }

    /// By place, the residents of a region that belong to it.
    func shares(of region: Int) -> [(place: Int, residents: Double)] { shares[region] }

    /// The place of each of some residents of one country; -1 where they belong to none.
    private static func owners(
        of residents: [Residents], _ places: [(place: Int, residents: Double, position: SIMD3<Double>)]
    ) -> [Int32] {
        guard !places.isEmpty else { return residents.map { _ in -1 } }
        let positions = residents.map(\.position)
        let grid = CenterGrid(positions: positions, regions: Array(residents.indices), side: 4_000)
        /// What each place meets on its way, and when.
        var meetings: [(time: Float, place: Int32, at: Int32)] = []
        for (index, place) in places.enumerated() {
            let radius = radius(ofResidents: place.residents)
            for at in grid.regions(within: 3 * radius, of: place.position) {
                let time = Float(positions[at].chord(to: place.position) / radius)
                meetings.append((time, Int32(index), Int32(at)))
            }
        }
        meetings.sort { ($0.time, $0.place, $0.at) < ($1.time, $1.place, $1.at) }
        var owner = [Int](repeating: -1, count: residents.count)
        var left = places.map(\.residents)
        for (time, place, at) in meetings {
            let place = Int(place), at = Int(at)
            guard time <= 1 || left[place] > 0 else { continue }
            if owner[at] < 0 {
                owner[at] = place
            } else {
                let other = places[owner[at]].position
                guard other.chord(to: places[place].position) <= positions[at].chord(to: places[place].position) else {
                    continue
                }
            }
            left[place] -= Double(residents[at].number)
        }
        return owner.map { $0 < 0 ? -1 : Int32(places[$0].place) }
    }

    /// Radius in meters of a disc with so many residents, of whom 1,500 (p / 10,000)^¼ live on a km².
    private static func radius(ofResidents residents: Double) -> Double {
        1_000 * (residents / (1_500 * pow(residents / 10_000, 0.25)) / .pi).squareRoot()
    }
}
