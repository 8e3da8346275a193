import AtlasFormat
import AtlasSources

/// C6: the residents that the file promises are those of the sources.
extension VerifiedAtlas {
    /// What came of counting residents from the sources.
    enum Recount {
        case counted(ResidentCount.Count)
        /// Why they were not counted.
        case skipped(String)
    }

    /// Counts residents, if the sources are enough for it.
    /// - Throws: `InputError`, `FormatError`, `GEOSError`.
    func residents(_ sources: AtlasVerifier.Sources) throws -> Recount {
        let count = ResidentCount(tables)
        if let surface = sources.population { return .counted(try count.residents(ofSurface: surface)) }
        guard let places = sources.places, let totals = sources.totals else {
            return .skipped(
                "residents were read from the file: give places and country totals, or a surface, to count them")
        }
        guard let land = sources.land else {
            return .skipped("residents were read from the file: give the land to count them on")
        }
        return .counted(try count.residents(of: places, totals: totals, land: land))
    }

    /// By how much a count may differ for reasons that belong to no region: sums of 32-bit numbers, and a country's
    /// scattered residents moved by the search for the nearest place (see `ResidentCount`).
    private static let relativeTolerance = 0.01
    /// How many fewer of the scattered residents than counted the file may have.
    private static let scatteredTolerance = 0.285

    /// Compares the file's residents with those counted.
    func verifyResidents(_ recount: Recount, _ clause: inout Clause) {
        guard case .counted(let count) = recount else {
            if case .skipped(let reason) = recount { clause.skipped.append(reason) }
            return
        }
        var different = 0, clearlyDifferent = 0, short: [Double] = [], largest: (difference: Double, region: Int)?
        for region in 0..<regionCount {
            let stored = tables.residents(region), counted = count.residents[region]
            // What the file has too many, or too few, beyond its rounding to eleven bits. Sums are of 1/1024 residents.
            let excess = Double(stored.lowerBound) - counted - 0.5, lack = counted - Double(stored.upperBound) - 0.5
            let difference = max(excess, lack)
            guard difference > 0 else { continue }
            different += 1
            if difference > 10 { clearlyDifferent += 1 }
            if difference > largest?.difference ?? 0 { largest = (difference, region) }
            if stored.lowerBound >= tables.limits.anonymity, counted < Double(tables.limits.anonymity) {
                short.append(Double(tables.limits.anonymity) - counted)
            }
            let tolerance = Self.relativeTolerance * counted + count.slack[region]
            if excess > tolerance || lack > tolerance + Self.scatteredTolerance * count.scattered[region] {
                let problem = "the file gives it \(stored.lowerBound) residents, the sources \(Int(counted))"
                clause.add([offender(region, problem)])
            }
        }
        clause.notes.append(
            "\(Int(count.residents.reduce(0, +))) people counted from the sources; \(different) regions differ from the "
                + "file's number by more than its rounding, \(clearlyDifferent) of them by more than 10"
                + (largest.map { ", at most \(Int($0.difference)) in \(tables.identifier($0.region))" } ?? ""))
        clause.notes.append(
            "\(short.count) regions that should hold \(tables.limits.anonymity) were counted short"
                + (short.max().map { ", by \(Int($0.rounded(.up))) at most" } ?? ""))
    }
}
