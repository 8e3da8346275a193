import Hereabouts

/// What stands in the output for the regions around sensitive places (*zones*): nothing, or another region.
///
/// It is a function of the region that was answered, applied behind the pacer: so what is published is still a function of
/// regions at ticks alone (contracts C2, C9 and C16), and where in these regions a place lies cannot come out.
package struct ZoneAnswers: Sendable {
    /// By region: what is published in its place; nil to withhold it.
    private let replacements: [Region: Region?]
    /// Where the zones are.
    private let circles: [ZoneCircle]
    /// The countries that the zones lie in, each once.
    package let countries: [Country]
    /// What the current run learns; nil before one.
    private(set) var watch: ZoneWatch?
    /// Two runs with one fingerprint publish alike.
    package let fingerprint: UInt64

    /// - Parameters:
    ///   - replacements: the regions around zones, without marks, and what is published in place of each; nil to withhold it.
    ///   - circles: the zones themselves, of which no output depends: they say whether latitude and longitude may be exchanged.
    ///   - countries: that the zones lie in.
    package init(_ replacements: [Region: Region?], circles: [ZoneCircle] = [], countries: [Country] = []) {
        self.replacements = replacements
        (self.circles, self.countries) = (circles, countries)
        // FNV-1a. It keeps runs apart that differ by mistake, and is no defense against someone who wants two to agree.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        func add(_ value: UInt32) {
            for shift in stride(from: 0, to: 32, by: 8) {
                hash = (hash ^ UInt64(value >> shift & 0xff)) &* 0x100_0000_01b3
            }
        }
        for (region, replacement) in replacements.sorted(by: { $0.key.index < $1.key.index }) {
            add(region.index)
            add(replacement?.index ?? .max)
        }
        fingerprint = hash
    }

    /// How many regions there are around the zones.
    package var count: Int { replacements.count }

    /// What is published for a region; nil where it is withheld. O(1).
    package func published(for region: Region) -> Region? {
        guard let replacement = replacements[region] else { return region }
        if replacement != region { watch?.noteWithheld() }
        return replacement
    }

    /// The same for a run of its own.
    func begun() -> ZoneAnswers {
        var answers = self
        answers.watch = ZoneWatch(circles)
        return answers
    }
}

extension ZoneAnswers: CustomStringConvertible {
    /// Equal where two publish alike; no region is in it.
    package var description: String { "ZoneAnswers(\(String(fingerprint, radix: 16)))" }
}

extension Optional<ZoneAnswers> {
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

    /// Whether there are zones and no answer was withheld in the run.
    var areIdle: Bool { self?.watch?.isIdle ?? false }

    /// What is published for a region: the region itself where there are no zones; nil where it is withheld.
    @inline(__always)
    func published(for region: Region) -> Region? {
        guard let zones = self else { return region }
        return zones.published(for: region)
    }
}
