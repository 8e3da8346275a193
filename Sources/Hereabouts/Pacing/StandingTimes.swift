/// The regions that stood longest for a device where another region was near: what makes a home on an edge the same
/// region every night (contract C11).
///
/// Only such contested time counts, so that a day's work in the middle of a region says nothing about a home on its
/// edge. Of each region the two are kept that contained the fixes for which it stood, besides itself: there it is known.
/// All fades: times are halved every fourteen days (at multiples of fourteen days since 1970), and four regions are kept, a
/// new one in place of the one that stood the shortest. So the memory is bounded, and a device that moves house forgets
/// the old one within weeks.
struct StandingTimes: Hashable, Sendable {
    /// How many regions are kept.
    static let capacity = 4
    /// The time in nanoseconds after which all times are halved.
    private static let halvingNanoseconds: Int64 = 14 * 86_400 * 1_000_000_000
    /// A silence counts for at most twelve hours of standing.
    private static let longestNanoseconds: Int64 = 12 * 3_600 * 1_000_000_000
    private static let none = Region.invalid.bits

    /// The regions' bits; those without time are free.
    private var regions = SIMD4<UInt32>()
    /// Seconds.
    private var times = SIMD4<UInt32>()
    /// The regions that contained the fixes, the one of late first; `none` where there is none.
    private var first = SIMD4(repeating: Self.none)
    private var second = SIMD4(repeating: Self.none)

    /// The contested time that a region stood, in seconds; 0 for one that is not kept.
    func seconds(of region: Region) -> UInt32 {
        times.replacing(with: 0, where: regions .!= region.bits).max()
    }

    /// Whether a region stood for fixes that another one contained.
    func hasStood(_ region: Region, for here: Region) -> Bool {
        any((regions .== region.bits) .& (times .> 0) .& ((first .== here.bits) .| (second .== here.bits)))
    }

    /// Takes out the region that stood longest, if it stood longer than a time in seconds.
    mutating func removeLongest(above seconds: UInt32) -> Region? {
        let longest = times.max()
        guard longest > seconds, let place = times.indices.first(where: { times[$0] == longest }) else { return nil }
        times[place] = 0
        return Region(bits: regions[place])
    }

    /// Adds to the time of a region, which stood for a fix that `here` contained.
    mutating func add(_ nanoseconds: Int64, to region: Region, for here: Region?) {
        let seconds = UInt32(min(nanoseconds, Self.longestNanoseconds) / 1_000_000_000)
        guard seconds > 0 else { return }
        let known = times.indices.first { times[$0] > 0 && regions[$0] == region.bits }
        let place = known ?? times.indices.min { times[$0] < times[$1] } ?? 0
        if known == nil {
            (regions[place], times[place], first[place], second[place]) = (region.bits, 0, Self.none, Self.none)
        }
        times[place] = times[place].addingReportingOverflow(seconds).overflow ? .max : times[place] + seconds
        if let here, here != region, first[place] != here.bits {
            (first[place], second[place]) = (here.bits, first[place])
        }
    }

    /// Halves the times for each boundary between two moments.
    mutating func decay(from earlier: Timestamp, to later: Timestamp) {
        let halvings = Self.period(later) - Self.period(earlier)
        guard halvings > 0 else { return }
        times = halvings < 32 ? times &>> UInt32(halvings) : SIMD4()
    }

    private static func period(_ time: Timestamp) -> Int64 {
        let quotient = time.nanosecondsSince1970 / halvingNanoseconds
        return time.nanosecondsSince1970 % halvingNanoseconds < 0 ? quotient - 1 : quotient
    }
}

// MARK: State

extension StandingTimes {
    /// What is kept, by identifiers, in order of the places; free places are left out.
    func entries(identify: (Region) -> RegionID?) -> [Pacer.State.Standing] {
        times.indices.compactMap { place in
            guard times[place] > 0, let region = identify(Region(bits: regions[place])) else { return nil }
            let others = [first[place], second[place]].filter { $0 != Self.none }
            return Pacer.State.Standing(
                region: region, others: others.compactMap { identify(Region(bits: $0)) }, seconds: times[place])
        }
    }

    /// - Parameter entries: at most `capacity`. Those of regions that are not found are left out.
    init(_ entries: [Pacer.State.Standing], region: (RegionID) -> Region?) {
        for (place, entry) in entries.prefix(Self.capacity).enumerated() {
            guard let found = region(entry.region) else { continue }
            (regions[place], times[place]) = (found.bits, entry.seconds)
            let others = entry.others.compactMap(region)
            first[place] = others.first?.bits ?? Self.none
            second[place] = others.count > 1 ? others[1].bits : Self.none
        }
    }
}

/// Up to four regions near a fix, besides the one that contains it: at a corner there are rarely more.
struct Contenders: Hashable, Sendable {
    static let capacity = 4
    private static let none = Region.invalid.bits

    /// From the first place on; `none` in free places.
    private var bits = SIMD4(repeating: Self.none)

    var isEmpty: Bool { bits[0] == Self.none }

    /// Those that there are.
    var regions: [Region] { bits.indices.filter { bits[$0] != Self.none }.map { Region(bits: bits[$0]) } }

    func contains(_ region: Region) -> Bool { any(bits .== region.bits) }

    /// Notes a region; one that comes when all places are taken is left out.
    mutating func insert(_ region: Region) {
        guard !contains(region), let place = bits.indices.first(where: { bits[$0] == Self.none }) else { return }
        bits[place] = region.bits
    }

    /// Notes all of others but one region.
    mutating func insert(_ others: Contenders, except region: Region) {
        for place in others.bits.indices where others.bits[place] != Self.none && others.bits[place] != region.bits {
            insert(Region(bits: others.bits[place]))
        }
    }
}
