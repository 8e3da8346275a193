import Hereabouts

/// Whose people live where in one country: which place the residents at each point of the population belong to.
///
/// A place's *extent* is whoever lives within its radius, and if those are fewer than it lists, as many as that, the nearest to it.
/// Places draw them at once, each at the pace of its own size, so that a town's extent is around it however near a city is. Who lives
/// in a place within another lives in both: what a city has within its own circle counts for it, though a borough has drawn it.
struct PlaceExtents: Sendable {
    /// The places, and by part the residents that belong to each.
    private let places: [PlaceIndex.Entry]
    private let shares: [[(place: Int32, residents: Double)]]
    /// Residents by part.
    private let residents: [Double]

    /// A place draws no farther than so many times its radius.
    private static let farthest: Float = 3
    /// A region is named for a place outside if at least so many of its residents belong to that.
    private static let leastShare = 0.25

    /// Some residents at one place.
    struct Point {
        var position: SIMD3<Double>
        var part: Int32
        var residents: Double
    }

    /// A point that a place may draw, at a distance in radii of the place.
    private struct Draw {
        var distance: Float
        var place: Int32
        var point: Int32

        static func < (a: Draw, b: Draw) -> Bool {
            (a.distance, a.place, a.point) < (b.distance, b.place, b.point)
        }
    }

    init(places: [PlaceIndex.Entry], points: [Point], partCount: Int) {
        self.places = places
        let owner = Self.owners(places, points)
        var shares = [[(place: Int32, residents: Double)]](repeating: [], count: partCount)
        var residents = [Double](repeating: 0, count: partCount)
        for (point, owner) in zip(points, owner) {
            let part = Int(point.part)
            residents[part] += point.residents
            guard owner >= 0 else { continue }
            if let index = shares[part].firstIndex(where: { $0.place == owner }) {
                shares[part][index].residents += point.residents
            } else {
                shares[part].append((owner, point.residents))
            }
        }
        (self.shares, self.residents) = (shares, residents)
    }

    /// The place that each point belongs to; -1 for none.
    static func owners(_ places: [PlaceIndex.Entry], _ points: [Point]) -> [Int32] {
        let positions = points.map(\.position)
        let grid = PointGrid(positions, indices: Array(0..<Int32(points.count)), side: 4_000)
        var draws: [Draw] = []
        for (index, place) in places.enumerated() {
            let radius = place.radius
            grid.forEach(near: place.position, within: Double(farthest) * radius) { point in
                let distance = Float(positions[point].distance(to: place.position) / radius)
                guard distance <= farthest else { return }
                draws.append(Draw(distance: distance, place: Int32(index), point: Int32(point)))
            }
        }
        draws.sort(by: <)
        var owner = [Int32](repeating: -1, count: points.count), missing = places.map(\.residents)
        for draw in draws where draw.distance <= 1 || missing[Int(draw.place)] > 0 {
            let point = Int(draw.point), place = Int(draw.place)
            if owner[point] < 0 {
                owner[point] = draw.place
            } else {
                let within = places[Int(owner[point])].position.distance(to: places[place].position)
                if within > positions[point].distance(to: places[place].position) { continue }
            }
            missing[place] -= points[point].residents
        }
        return owner
    }

    /// The place to which most residents of some parts belong, if those are enough of them.
    func main(of parts: [Int32]) -> PlaceIndex.Entry? {
        var sums: [Int32: Double] = [:]
        for part in parts {
            for (place, residents) in shares[Int(part)] { sums[place, default: 0] += residents }
        }
        let most = sums.max { ($0.value, $1.key) < ($1.value, $0.key) }
        let least = Self.leastShare * parts.reduce(0) { $0 + residents[Int($1)] }
        return most.flatMap { $0.value >= least ? places[Int($0.key)] : nil }
    }
}

extension PlaceIndex.Entry {
    /// The radius of a disc with its p residents, of whom 1,500 (p / 10,000)^¼ live on a km², meters.
    fileprivate var radius: Double {
        let density = 1_500 * (residents / 10_000).squareRoot().squareRoot()
        return 1_000 * (residents / density / .pi).squareRoot()
    }
}

extension RegionGrowth {
    /// The extents of the places of a job's country, by its parts.
    func extents(of places: PlaceIndex, in job: GrowthJob, _ population: [Population]) -> PlaceExtents {
        let populated = places.populated(country: job.country)
        var points: [PlaceExtents.Point] = []
        guard !populated.isEmpty else { return PlaceExtents(places: [], points: [], partCount: job.members.count) }
        for (part, reference) in job.members.enumerated() {
            let people = population[Int(reference.root)]
            for index in people.range(of: self[reference].cell) {
                let leaf = CellID(rawValue: people.cells[index])
                let (face, i, j, _) = leaf.faceIJ()
                guard holds(reference, FaceIJ(face: UInt8(face), i: i, j: j)) else { continue }
                points.append(
                    PlaceExtents.Point(
                        position: Ellipsoid.position(leaf.center), part: Int32(part),
                        residents: people.people(index..<index + 1).residents))
            }
        }
        return PlaceExtents(places: populated, points: points, partCount: job.members.count)
    }
}
