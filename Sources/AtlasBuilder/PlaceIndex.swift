import AtlasSources
import Hereabouts
import ParallelMap

/// Places by where they are, to name regions.
struct PlaceIndex: Sendable {
    struct Entry: Sendable {
        var name: String
        var residents: Double
        /// Residents of the level-11 cell (4 km) around it, as the population has them: what decides between places
        /// that list as many, or none because their number is unknown.
        var residentsAround: Double
        /// The index of the country it lists; 0 where it lists none that the borders have.
        var country: UInt16
        /// That country, or else the one that the borders give it.
        var home: UInt16
        var leaf: FaceIJ
        /// Whether a center here would be on land.
        var isAshore: Bool
        var position: SIMD3<Double>
    }

    /// Sorted by leaf cell.
    private let entries: [Entry]
    private let cells: [UInt64]
    private let grid: PointGrid

    private static let aroundLevel = 11

    /// `countries` are those of the places; `roots` tell which places are ashore, and `population` of each root where
    /// people live.
    init(_ places: [Place], countries: [UInt16], roots: [CellRoot], population: [Population]) throws {
        let leaves = places.map { CellID.leaf(latitude: $0.latitude, longitude: $0.longitude) }
        let labels = try Self.labels(of: leaves, roots)
        // Whether the centers that would be published for the places are on land.
        let ashore = try Self.labels(
            of: leaves.map {
                let center = CellID(rawValue: $0).parent(level: RegionID.level).publishedCenter
                return CellID.leaf(latitude: center.latitude, longitude: center.longitude)
            }, roots
        ).map(\.isLand)
        let made = places.indices.map { index in
            let place = places[index], country = countries[index]
            let position = Ellipsoid.position(latitude: place.latitude, longitude: place.longitude)
            return (
                cell: leaves[index],
                entry: Entry(
                    name: place.name, residents: Double(place.population),
                    residentsAround: Self.residents(around: leaves[index], population), country: country,
                    home: country != 0 ? country : UInt16(labels[index].country),
                    leaf: FaceIJ(latitude: place.latitude, longitude: FaceIJ.wrappedLongitude(place.longitude)),
                    isAshore: ashore[index], position: position)
            )
        }.sorted {
            $0.cell != $1.cell
                ? $0.cell < $1.cell : ($0.entry.residents, $0.entry.name) > ($1.entry.residents, $1.entry.name)
        }
        cells = made.map(\.cell)
        entries = made.map(\.entry)
        grid = PointGrid(entries.map(\.position), indices: Array(0..<Int32(entries.count)), side: 50_000)
    }

    private static func residents(around leaf: UInt64, _ population: [Population]) -> Double {
        let people = population[CellRoot.index(of: leaf)]
        return people.people(people.range(of: CellID(rawValue: leaf).parent(level: aroundLevel))).residents
    }

    /// The labels at leaf cells.
    private static func labels(of leaves: [UInt64], _ roots: [CellRoot]) throws -> [Label] {
        var buckets = [[(cell: UInt64, index: Int)]](repeating: [], count: roots.count)
        for (index, leaf) in leaves.enumerated() { buckets[CellRoot.index(of: leaf)].append((leaf, index)) }
        let questions = buckets.map { $0.sorted { ($0.cell, $0.index) < ($1.cell, $1.index) } }
        let answers = try parallelMap(count: roots.count) { roots[$0].labels(of: questions[$0].map(\.cell)) }
        var labels = [Label](repeating: Label(bits: 0), count: leaves.count)
        for (question, answer) in zip(questions.joined(), answers.joined()) { labels[question.index] = answer }
        return labels
    }

    /// The places in a region, the most important first: those of most residents, then with most people around. A place
    /// of another country is none of its own.
    func within(_ members: [PartReference], country: UInt16, _ growth: RegionGrowth) -> [Entry] {
        var found: [Entry] = []
        for member in members {
            for index in cells.range(of: growth[member].cell) {
                let entry = entries[index]
                if entry.country == 0 || entry.country == country, growth.holds(member, entry.leaf) {
                    found.append(entry)
                }
            }
        }
        return found.sorted { a, b in
            (a.residents, a.residentsAround) != (b.residents, b.residentsAround)
                ? (a.residents, a.residentsAround) > (b.residents, b.residentsAround) : a.name < b.name
        }
    }

    /// The places of a country that list residents; none of no country.
    func populated(country: UInt16) -> [Entry] {
        country == 0 ? [] : entries.filter { $0.home == country && $0.residents > 0 }
    }

    /// The nearest place of a country.
    func nearest(to position: SIMD3<Double>, country: UInt16, within radius: Double) -> Entry? {
        guard country != 0 else { return nil }
        for search in [radius / 8, radius / 2, radius] {
            var best: (distance: Double, index: Int)?
            grid.forEach(near: position, within: search) { index in
                guard entries[index].home == country else { return }
                let d = entries[index].position.distance(to: position)
                if d <= search, (d, index) < (best?.distance ?? .infinity, best?.index ?? 0) { best = (d, index) }
            }
            if let best { return entries[best.index] }
        }
        return nil
    }
}
