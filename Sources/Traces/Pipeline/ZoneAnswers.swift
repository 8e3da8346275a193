import Hereabouts

/// What stands in the output for the regions around sensitive places (*zones*): nothing, or another region.
///
/// It is a function of the region that was answered, applied behind the pacer: so what is published is still a function of
/// regions at ticks alone (contracts C2, C9 and C16), and where in these regions a place lies cannot come out.
package struct ZoneAnswers: Sendable {
    /// By region: what is published in its place; nil to withhold it.
    private let replacements: [Region: Region?]
    /// Two runs with one fingerprint publish alike.
    package let fingerprint: UInt64

    /// - Parameter replacements: the regions around zones, without marks, and what is published in place of each; nil to
    ///   withhold it.
    package init(_ replacements: [Region: Region?]) {
        self.replacements = replacements
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
        return replacement
    }
}

extension ZoneAnswers: CustomStringConvertible {
    /// Equal where two publish alike; no region is in it.
    package var description: String { "ZoneAnswers(\(String(fingerprint, radix: 16)))" }
}

extension Optional<ZoneAnswers> {
    /// What is published for a region: the region itself where there are no zones; nil where it is withheld.
    @inline(__always)
    func published(for region: Region) -> Region? {
        guard let zones = self else { return region }
        return zones.published(for: region)
    }
}
