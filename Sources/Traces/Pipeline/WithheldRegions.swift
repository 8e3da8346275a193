import Hereabouts

/// The regions of which no answer is published: those around sensitive places (*zones*), and those that promise fewer
/// residents than whoever publishes wants.
///
/// Whether an answer is withheld is a function of its region, applied behind the pacer: so what is published is still a
/// function of regions at ticks alone (contracts C2, C9 and C16), and where in these regions a place lies cannot come out.
package struct WithheldRegions: Sendable {
    private let aroundZones: Set<Region>
    /// The residents that a region has to promise, by this atlas; nil where any number will do.
    private let required: (residents: Int, atlas: Atlas)?
    /// Where the zones are.
    private let circles: [ZoneCircle]
    /// The countries that the zones lie in, each once.
    package let countries: [Country]
    /// What the current run learns; nil before one.
    private(set) var watch: ZoneWatch?
    /// Two runs with one fingerprint withhold the same.
    package let fingerprint: UInt64
    /// The same of what is withheld for zones alone.
    let zonesFingerprint: UInt64

    /// - Parameters:
    ///   - aroundZones: regions without marks.
    ///   - circles: the zones themselves, of which no output depends: they say whether latitude and longitude may be exchanged.
    ///   - countries: that the zones lie in.
    ///   - required: the residents that a region has to promise, by this atlas; nil where any number will do.
    package init(
        _ aroundZones: Set<Region>, circles: [ZoneCircle] = [], countries: [Country] = [],
        required: (residents: Int, atlas: Atlas)? = nil
    ) {
        self.aroundZones = aroundZones
        (self.circles, self.countries, self.required) = (circles, countries, required)
        // FNV-1a. It keeps runs apart that differ by mistake, and is no defense against someone who wants two to agree.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        func add(_ value: UInt32) {
            for shift in stride(from: 0, to: 32, by: 8) {
                hash = (hash ^ UInt64(value >> shift & 0xff)) &* 0x100_0000_01b3
            }
        }
        for region in aroundZones.sorted(by: { $0.index < $1.index }) {
            add(region.index)
            // What states of earlier versions have for a region in whose place nothing is published.
            add(.max)
        }
        zonesFingerprint = hash
        if let required { add(UInt32(clamping: required.residents)) }
        fingerprint = hash
    }

    /// The same where regions that promise fewer residents are withheld too.
    package func requiring(_ residents: Int, in atlas: Atlas) -> WithheldRegions {
        WithheldRegions(aroundZones, circles: circles, countries: countries, required: (residents, atlas))
    }

    /// How many regions there are around the zones.
    package var count: Int { aroundZones.count }

    /// The residents that a region has to promise; nil where any number will do.
    package var least: Int? { required?.residents }

    /// Whether there are zones.
    package var hasZones: Bool { !aroundZones.isEmpty }

    /// Whether an answer of a region is withheld. O(1).
    package func contains(_ region: Region) -> Bool {
        if aroundZones.contains(region) {
            watch?.noteWithheld()
            return true
        }
        return promisesTooFew(region)
    }

    /// Whether an answer of a region is withheld for its residents, and not for a zone. O(1).
    func isTooFew(_ region: Region) -> Bool { promisesTooFew(region) && !aroundZones.contains(region) }

    private func promisesTooFew(_ region: Region) -> Bool {
        guard let required else { return false }
        return (try? required.atlas.anonymityLowerBound(of: region)) ?? 0 < required.residents
    }

    /// The same for a run of its own.
    func begun() -> WithheldRegions {
        var regions = self
        regions.watch = ZoneWatch(circles)
        return regions
    }
}

extension WithheldRegions: CustomStringConvertible {
    /// Equal where two withhold the same; no region is in it.
    package var description: String { "WithheldRegions(\(String(fingerprint, radix: 16)))" }
}

extension Optional<WithheldRegions> {
    /// Looks at where a batch's fixes are.
    @inline(__always)
    func look(at batch: borrowing FixBatch, _ records: Range<Int>) {
        guard let watch = self?.watch else { return }
        unsafe watch.look(at: UnsafeBufferPointer(rebasing: batch.positions.elements[records]))
    }

    /// Whether latitude and longitude of the zones may be exchanged, by the fixes so far.
    var mayBeExchanged: Bool { self?.watch?.mayBeExchanged ?? false }

    /// - Throws: `zonesExchanged` where they may be.
    func requireOrder() throws(TraceError) {
        if mayBeExchanged { throw .zonesExchanged }
    }

    /// Whether there are zones and no answer was withheld for them in the run.
    var areIdle: Bool {
        guard let self, self.hasZones else { return false }
        return self.watch?.isIdle ?? false
    }

    /// What is published of a region: the region itself, or nil where it is withheld.
    @inline(__always)
    func published(_ region: Region) -> Region? {
        guard let withheld = self, withheld.contains(region) else { return region }
        return nil
    }
}
