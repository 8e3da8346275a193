import AtlasInspection
import AtlasSources
import Foundation
import GeoBridge
import Hereabouts
import ParallelMap

/// Builds an atlas: sources in, the file's bytes out (docs/ARCHITECTURE.md, "Building").
package struct AtlasBuild {
    /// What to build from.
    package struct Sources: Sendable {
        /// GeoJSON of countries, or whatever the regions must not cross.
        package var borders: String
        /// The property that holds a feature's code; nil for the usual names.
        package var codeProperty: String?
        /// GeoJSON polygons of land; nil where all that lies within borders is land.
        package var land: String?
        /// CSV of places.
        package var places: String?
        /// A population surface, or rows of longitude, latitude and residents.
        package var population: String
        /// An atlas whose regions stay unless the contract is broken in them.
        package var like: LikeAtlas?
        /// JSON about the sources, kept in the atlas as it is.
        package var credits: String?

        package init(borders: String, population: String) {
            (self.borders, self.population) = (borders, population)
        }
    }

    /// What the builder is doing, for a progress bar: a stage, and how much of it is done.
    package struct Progress: Sendable {
        package var stage: String
        package var fraction: Double
    }

    /// A finished atlas.
    package struct Result: Sendable {
        package var bytes: [UInt8]
        package var summary: AtlasSummary
        package var warnings: [String]
        /// How many regions are those of the atlas that this one is like: the same parts, center and accuracy.
        package var kept: Int?
    }

    let sources: Sources
    let limits: RegionLimits
    let progress: @Sendable (Progress) -> Void

    /// Largest distance that simplification moves a border, meters.
    package static let borderToleranceMeters = 25.0

    package init(
        sources: Sources, limits: RegionLimits, progress: @escaping @Sendable (Progress) -> Void = { _ in }
    ) {
        self.sources = sources
        self.limits = limits
        self.progress = progress
    }

    package func run() throws -> Result {
        step("reading", 0)
        let borders = try BordersReader(path: sources.borders, codeProperty: sources.codeProperty).read()
        let countries = CountryList(borders.features)
        let places = try sources.places.map { try PlacesReader(path: $0).read() } ?? []
        let placeCountries = places.map { UInt16(countries.index(of: $0.country)) }
        let map = try cellMap(borders, countries)
        let roots = map.roots(level: CellRoot.level)
        step("people", 0)
        let (population, listed) = try Population.read(sources.population)
        let inhabited = try InhabitedLand(population)
        let growth = RegionGrowth(
            roots: try parts(roots, population, inhabited), limits: limits,
            like: sources.like.map { ($0, countries.codes) })
        let index = try PlaceIndex(places, countries: placeCountries, roots: roots, population: population)
        let results = try regions(growth, countries) { country in
            RegionFinisher(
                country: country, growth: growth, places: index,
                extents: growth.extents(of: index, in: country.job, population), roots: roots, inhabited: inhabited)
        }
        step("writing", 0)
        // Neighbors in space are neighbors in the file.
        var records = results.flatMap(\.records).sorted { $0.centerCell < $1.centerCell }
        let owners = AtlasWriter.owners(of: records, in: growth.roots)
        let listedByRegion = add(listed, to: &records, owners, growth.roots)
        let bySource = try SourceCount(
            sources.population, regionCount: records.count, roots: growth.roots, owners: owners)
        let summary = AtlasSummary(results, records, bySource, limits: limits)
        let writer = AtlasWriter(
            roots: growth.roots, records: records, owners: owners, countryCodes: countries.codes, limits: limits,
            concentrations: try Concentration.steps(
                of: records, roots: growth.roots, population, listed: listedByRegion),
            aboutJSON: try summary.json(
                credits: sources.credits.map { try String(contentsOfFile: $0, encoding: .utf8) }))
        return Result(
            bytes: try writer.bytes(), summary: summary, warnings: borders.warnings.map(\.description),
            kept: try sources.like.map { try growth.keptCount(records, like: $0) })
    }

    private func step(_ stage: String, _ fraction: Double) { progress(Progress(stage: stage, fraction: fraction)) }

    /// Adds the residents of listed settlements to the regions that hold them, by region: nothing of the regions depends on them.
    private func add(
        _ listed: [PopulationPoint], to records: inout [RegionRecord], _ owners: [[UInt32]], _ roots: [RootParts]
    ) -> [UInt32: [PopulationPoint]] {
        let index = PartIndex(roots: roots)
        var byRegion: [UInt32: [PopulationPoint]] = [:]
        for point in listed {
            let (root, part) = index.part(at: CellID(rawValue: point.cell))
            records[Int(owners[root][part])].people += point.people
            byRegion[owners[root][part], default: []].append(point)
        }
        return byRegion
    }

    // MARK: Stages

    private func cellMap(_ borders: Borders, _ countries: CountryList) throws -> CellMap {
        step("borders", 0)
        let graph = try BorderGraphBuilder(
            features: borders.features, countries: borders.features.map { countries.index(of: $0.code) },
            toleranceDegrees: Self.borderToleranceMeters / 111_320
        ).build(references: CellMapBuilder.references)
        step("borders", 0.8)
        var builder = CellMapBuilder()
        for arc in graph.arcs { builder.add(line: arc.line, code: arc.code) }
        var isLand = [Bool](repeating: false, count: 6)
        if let land = sources.land {
            let polygons = try BordersReader(path: land).read().features.flatMap(\.polygons)
            for ring in polygons.joined() { builder.add(line: ring, code: Label.landBit) }
            isLand = try CellMapBuilder.references.map { try Self.isInside(polygons, $0) }
        } else {
            // All that any country holds is land: its outer edges are the coast too.
            for arc in graph.arcs where arc.touchesNone { builder.add(line: arc.line, code: Label.landBit) }
            isLand = graph.references.map { $0 != 0 }
        }
        return builder.map(references: zip(graph.references, isLand).map { Label(country: $0, isLand: $1) })
    }

    private static func isInside(
        _ polygons: [[[Double]]], _ point: (longitude: Double, latitude: Double)
    ) throws -> Bool {
        let context = try GEOSContext()
        let question = try context.point(x: point.longitude, y: point.latitude)
        for polygon in polygons where try context.polygon(polygon).intersects(question) { return true }
        return false
    }

    private func parts(
        _ roots: [CellRoot], _ population: [Population], _ inhabited: InhabitedLand
    ) throws -> [RootParts] {
        try parallelMap(count: roots.count, onEach: { step("parts", Double($0) / Double(roots.count)) }) {
            root in
            try PartBuilder(
                root: roots[root], population: population[root], inhabited: inhabited,
                anonymity: limits.anonymity,
                emptyReach: limits.largestEmptyAccuracy - limits.steadiness
            ).build()
        }
    }

    private func regions(
        _ growth: RegionGrowth, _ countries: CountryList, _ finisher: @Sendable (GrownCountry) -> RegionFinisher
    ) throws -> [(country: String, records: [RegionRecord], unreachable: Double)] {
        let jobs = growth.jobs()
        let total = Double(jobs.reduce(0) { $0 + $1.members.count })
        step("regions", 0)
        let grown = try growth.grow(jobs, progress: { step("regions", $0 / total) }) { country in
            (records: try finisher(country).records(), unreachable: country.unreachable)
        }
        return zip(jobs, grown).map { (countries.codes[Int($0.country)], $1.records, $1.unreachable) }
    }
}

/// Country codes by index, in the order of their bytes; index 0 is no country.
package struct CountryList: Sendable {
    /// The code of no country.
    package static let none = "XZ"
    package let codes: [String]
    private let indices: [String: Int]

    init(_ features: [BorderFeature]) {
        let named = Set(features.map(\.code)).subtracting([Self.none])
        codes = [Self.none] + named.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
        indices = Dictionary(uniqueKeysWithValues: codes.enumerated().map { ($1, $0) })
    }

    /// 0 for nil and for codes that the borders do not have.
    func index(of code: String?) -> Int { code.flatMap { indices[$0] } ?? 0 }
}
