import AtlasFormat
import AtlasSources
import GeoBridge
import ParallelMap

/// Verifies the contract's clauses C1 to C8 on a finished atlas, all regions, with GEOS and PROJ.
///
/// The file is decoded from its specification alone. The engine is asked too, to see that it gives the same answers.
package struct AtlasVerifier: Sendable {
    /// What an atlas was built from, as far as it is given: what is missing is not verified, and the report says so.
    package struct Sources: Sendable {
        /// The borders. Without them C4 is verified in part.
        package var borders: [BorderFeature]?
        /// The land: polygons of closed flat rings, outer first. Without it C4, C5, C6 and C8 are verified in part.
        package var land: [[[Double]]]?
        /// The places. Without them C8 is verified in part.
        package var places: [Place]?
        /// The file of the population: a surface, or rows of positions. Without it the residents of C6 are those of the
        /// file, and C5 is verified in part.
        package var population: String?

        package init() {}
    }

    /// How many leftovers (contract C6) an atlas may have.
    package struct LeftoverBounds: Sendable {
        /// Of all of them, and of the smallest.
        package var all = Int.max, smallest = Int.max

        package init() {}
    }

    let path: String
    let sources: Sources
    let bounds: LeftoverBounds

    /// Smallest area of a region in km² (contract C7).
    static let smallestArea = 6.0

    /// Prepares to verify a file.
    package init(path: String, sources: Sources = Sources(), bounds: LeftoverBounds = LeftoverBounds()) {
        (self.path, self.sources, self.bounds) = (path, sources, bounds)
    }

    /// Verifies the file. Some minutes on two cores for the world.
    ///
    /// - Parameter progress: called with the current step and the share of it that is done, from several threads.
    /// - Throws: `FormatError` for a file that is no atlas; `GEOSError`, `PROJError`. A clause that does not hold
    ///   is not an error but in the report.
    package func verify(
        progress: @escaping @Sendable (String, Double) -> Void = { _, _ in }
    ) throws -> VerificationReport {
        let tables = try AtlasTables(path: path)
        // A file of the wrong kind is found before the minutes of measuring.
        if let population = sources.population { try ResidentCount.open(population) }
        let engine = try EngineAnswers(bytes: tables.bytes)
        let cover = try RegionCover(tables) { progress("listing cells", $0) }
        let measures = try Self.measures(cover) { progress("measuring regions", $0) }
        let ashore = try sources.land.map { land in
            try PointsInPolygons((0..<tables.regionCount).map { tables.position($0) }).areInside(land)
        }
        let subject = VerifiedAtlas(
            tables: tables, engine: engine, cover: cover, measures: measures, isAshore: ashore, land: sources.land)
        progress("counting residents", 0)
        let residents = try sources.population.map {
            try ResidentCount(tables: tables, fragments: RegionFragments(cover)).count($0)
        }
        var clauses: [VerificationReport.Clause] = []
        func run(_ name: String, _ clause: () throws -> VerificationReport.Clause) rethrows {
            progress("verifying \(name)", Double(clauses.count) / 8)
            clauses.append(try clause())
        }
        try run("C1") { try subject.verifyTotal() }
        try run("C2") { try subject.verifyRecords() }
        try run("C3") { try subject.verifyCircles() }
        try run("C4") { try subject.verifySides(borders: sources.borders) }
        try run("C5") { try subject.verifyAccuracies(residents) }
        try run("C6") { try subject.verifyAnonymity(residents, bounds) }
        try run("C7") { try subject.verifyAreas(smallest: Self.smallestArea, residents) }
        try run("C8") { try subject.verifyNames(places: sources.places, residents) }
        progress("done", 1)
        return VerificationReport(regionCount: tables.regionCount, clauses: clauses)
    }

    static func measures(
        _ cover: RegionCover, progress: @Sendable (Double) -> Void
    ) throws -> [RegionMeasure] {
        let batch = 512, count = cover.tables.regionCount, batches = (count + batch - 1) / batch
        let measurer = RegionMeasurer(cover: cover)
        return try parallelMap(count: batches, onEach: { progress(Double($0) / Double(batches)) }) { task in
            try (task * batch..<min(count, (task + 1) * batch)).map { try measurer.measure($0) }
        }.flatMap { $0 }
    }
}

/// An atlas with all that the clauses are checked on.
struct VerifiedAtlas: Sendable {
    let tables: AtlasTables
    let engine: EngineAnswers
    let cover: RegionCover
    let measures: [RegionMeasure]
    /// Whether each region's center is on land; nil where land is unknown.
    let isAshore: [Bool]?
    let land: [[[Double]]]?

    var regionCount: Int { tables.regionCount }

    func offender(_ region: Int, _ problem: String) -> VerificationReport.Offender {
        let name = tables.name(region).flatMap { tables.name(at: $0) }
        return VerificationReport.Offender(
            region: tables.identifier(region), country: tables.countryCode(tables.country(region)) ?? "?",
            place: name.map { (tables.isNameOfNeighbor(region) ? "near " : "") + $0 }, problem: problem)
    }

    /// Runs a check on every region, on all cores.
    func offenders(
        _ check: @Sendable (Int) throws -> String?
    ) throws -> [VerificationReport.Offender] {
        let batch = 1024
        return try parallelMap(count: (regionCount + batch - 1) / batch) { task in
            try (task * batch..<min(regionCount, (task + 1) * batch)).compactMap { region in
                try check(region).map { offender(region, $0) }
            }
        }.flatMap { $0 }
    }
}
