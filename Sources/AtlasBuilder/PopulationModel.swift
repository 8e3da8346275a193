import Hereabouts
import ParallelMap

/// Where people live, made from places and country totals (docs/ARCHITECTURE.md, "Building").
///
/// - A place of p residents covers a disc at 1,500 (p / 10,000)^¼ residents per km², as far as it is its own country's
///   land; the place's own point counts as land, since somebody lives there (an atoll that the coastline lacks).
/// - Where a country's places hold more than nine tenths of its people (a city and its boroughs are often both listed),
///   all are scaled down to nine tenths.
/// - The rest of the country's people live on its land within 30 km of a place, thinning out with distance d from the
///   nearest as e^(-d / 15 km); where that makes fewer than two in 5 km², nobody.
///
/// Known defect: the search for the nearest place may take one 7.5 km away where another is only 3.75 km away, so
/// that a cell gets up to 22 % less weight than this rule says. `AtlasVerifier` allows for it; the committed atlas was
/// built so, and repairing it changes the atlas.
struct PopulationModel {
    let roots: [CellRoot]
    let places: [ModelPlace]
    /// Residents of each country by index; 0 where unknown.
    let totals: [Double]

    /// A place with the index of its country; 0 where that is unknown, and then any country's land will do.
    struct ModelPlace: Sendable {
        var latitude: Double, longitude: Double, residents: Double
        var country: Int
    }

    private static let residentsPerSample = 400.0
    private static let largestSampleCount = 20_000
    private static let settledShare = 0.9
    private static let fadeMeters = 15_000.0
    private static let farthestMeters = 30_000.0
    private static let ruralLevel = 11
    /// A rural cell (20 km²) with fewer residents counts as uninhabited.
    private static let fewestResidents = 8.0
    private static let finestLevel = 14

    /// Every root's residents.
    func build(progress: @Sendable (Int) -> Void) throws -> [Population] {
        let samples = sampleBuckets()
        let labels = try parallelMap(count: roots.count) { root in roots[root].labels(of: samples[root].map(\.cell)) }
        let residents = residentsPerValidSample(samples, labels)
        let rural = try parallelMap(count: roots.count) { try ruralCells(of: roots[$0]) }
        let density = ruralDensity(rural)
        return try parallelMap(count: roots.count, onEach: progress) { root in
            var points: [PopulationPoint] = []
            for (sample, label) in zip(samples[root], labels[root]) {
                guard isValid(sample, label) else { continue }
                points.append(
                    PopulationPoint(
                        cell: sample.cell, residents: residents[Int(sample.place)], country: UInt16(label.country)))
            }
            points.append(contentsOf: ruralPoints(of: roots[root], cells: rural[root], density: density))
            return Population(points)
        }
    }

    // MARK: Places

    private struct Sample: Sendable {
        var cell: UInt64
        var place: Int32
        /// Whether it is the place's own point.
        var isMiddle: Bool
    }

    /// Points of every place's disc, in a sunflower's order, by root and sorted by cell.
    private func sampleBuckets() -> [[Sample]] {
        var buckets = [[Sample]](repeating: [], count: roots.count)
        let goldenAngleDegrees = 137.50776405003785
        for (index, place) in places.enumerated() where place.residents > 0 {
            let density = 1_500 * (place.residents / 10_000).squareRoot().squareRoot()
            let radius = (place.residents / density / Double.pi).squareRoot() * 1_000
            let count = min(Self.largestSampleCount, max(1, Int(place.residents / Self.residentsPerSample)))
            let cosine = max(0.01, Trigonometry.sineAndCosine(degrees: place.latitude).cosine)
            for k in 0..<count {
                let r = radius * (Double(k) / Double(count)).squareRoot() / 111_320
                let turn = (Double(k) * goldenAngleDegrees).truncatingRemainder(dividingBy: 360)
                let (sine, cosineOfTurn) = Trigonometry.sineAndCosine(degrees: turn)
                let cell = CellID.leaf(
                    latitude: max(-90, min(90, place.latitude + r * cosineOfTurn)),
                    longitude: place.longitude + r * sine / cosine)
                buckets[CellRoot.index(of: cell)].append(
                    Sample(cell: cell, place: Int32(index), isMiddle: k == 0))
            }
        }
        for root in buckets.indices { buckets[root].sort { ($0.cell, $0.place) < ($1.cell, $1.place) } }
        return buckets
    }

    private func isValid(_ sample: Sample, _ label: Label) -> Bool {
        let country = places[Int(sample.place)].country
        return (label.isLand || sample.isMiddle) && label.country != 0 && (country == 0 || country == label.country)
    }

    private func residentsPerValidSample(_ samples: [[Sample]], _ labels: [[Label]]) -> [Float] {
        var valid = [Int32](repeating: 0, count: places.count)
        for root in roots.indices {
            for (sample, label) in zip(samples[root], labels[root]) where isValid(sample, label) {
                valid[Int(sample.place)] += 1
            }
        }
        let scales = placeScales()
        return places.indices.map { index in
            valid[index] == 0
                ? 0 : Float(places[index].residents * scales[places[index].country] / Double(valid[index]))
        }
    }

    /// What each country's places are multiplied by.
    private func placeScales() -> [Double] {
        zip(placeTotals(), totals).map { listed, total in
            total > 0 && listed > Self.settledShare * total ? Self.settledShare * total / listed : 1
        }
    }

    private func placeTotals() -> [Double] {
        var listed = [Double](repeating: 0, count: totals.count)
        for place in places { listed[place.country] += place.residents }
        return listed
    }

    // MARK: The rest of the land

    private struct RuralCell: Sendable {
        var cell: CellID
        var country: UInt16
        /// Area in km² times nearness to places.
        var weight: Float
    }

    /// Cells whose middle is land, with their share of their country's scattered people.
    private func ruralCells(of root: CellRoot) throws -> [RuralCell] {
        var cells: [RuralCell] = []
        let nearness = Nearness(places: places, fade: Self.fadeMeters, farthest: Self.farthestMeters)
        root.walk { view, _ in
            if view.level == Self.ruralLevel || view.edges.isEmpty {
                guard view.reference.isLand, view.reference.country != 0 else {
                    return view.level < Self.ruralLevel && !view.edges.isEmpty
                }
            }
            if view.level == Self.ruralLevel {
                let near = nearness.value(at: view.cell)
                cells.append(
                    RuralCell(
                        cell: view.cell, country: UInt16(view.reference.country),
                        weight: near > 0 ? Float(CellShape(view.cell).area * near) : 0))
                return false
            }
            return true
        }
        return cells
    }

    /// People per unit of weight, by country.
    private func ruralDensity(_ rural: [[RuralCell]]) -> [Double] {
        var weights = [Double](repeating: 0, count: totals.count)
        for cells in rural { for cell in cells { weights[Int(cell.country)] += Double(cell.weight) } }
        let listed = placeTotals(), scales = placeScales()
        return totals.indices.map { country in
            let rest = totals[country] - listed[country] * scales[country]
            return weights[country] > 0 && rest > 0 ? rest / weights[country] : 0
        }
    }

    /// Splits each cell's people over its land until a point holds few.
    private func ruralPoints(of root: CellRoot, cells: [RuralCell], density: [Double]) -> [PopulationPoint] {
        var points: [PopulationPoint] = []
        var next = 0
        var residents = 0.0
        root.walk { view, _ in
            if view.level < Self.ruralLevel {
                return next < cells.count && view.cell.contains(cells[next].cell)
            }
            if view.level == Self.ruralLevel {
                guard next < cells.count, cells[next].cell == view.cell else { return false }
                residents = Double(cells[next].weight) * density[Int(cells[next].country)]
                if residents < Self.fewestResidents { residents = 0 }
                next += 1
            }
            if residents == 0 { return false }
            let share = residents / Double(1 << (2 * (view.level - Self.ruralLevel)))
            if share > Self.residentsPerSample, view.level < Self.finestLevel { return true }
            let label = view.reference
            if label.isLand, label.country == Int(cells[next - 1].country) {
                let middle = CellID(
                    face: view.face, i: UInt32(view.referenceX), j: UInt32(view.referenceY), level: CellID.maxLevel)
                points.append(
                    PopulationPoint(cell: middle.rawValue, residents: Float(share), country: UInt16(label.country)))
            }
            return false
        }
        return points
    }
}

/// How near settled places are: e^(-d / fade) for the distance d to the nearest, 0 beyond `farthest`.
private final class Nearness {
    private let grid: PointGrid
    private let positions: [SIMD3<Double>]
    private let fade: Double, farthest: Double
    private var last: (cell: CellID, value: Double)?

    init(places: [PopulationModel.ModelPlace], fade: Double, farthest: Double) {
        positions = places.map { Ellipsoid.position(latitude: $0.latitude, longitude: $0.longitude) }
        grid = PointGrid(
            positions, indices: places.indices.filter { places[$0].residents > 0 }.map(Int32.init), side: 25_000)
        self.fade = fade
        self.farthest = farthest
    }

    /// The value at the middle of the level-9 cell around: distances change little within it.
    func value(at cell: CellID) -> Double {
        let coarse = cell.parent(level: 9)
        if let last, last.cell == coarse { return last.value }
        let center = coarse.center
        let position = Ellipsoid.position(latitude: center.latitude, longitude: center.longitude)
        var nearest = Double.infinity
        for radius in [farthest / 8, farthest / 2, farthest] where nearest > radius / 2 {
            grid.forEach(near: position, within: radius) {
                nearest = min(nearest, positions[$0].distance(to: position))
            }
        }
        let value = nearest > farthest ? 0 : Exponential.decay(nearest / fade)
        last = (coarse, value)
        return value
    }
}
