/// The regions that stood longest for a device where another region was near: what makes a home on an edge the same
/// region every night (contract C11).
///
/// Only such contested time counts, so that a day's work in the middle of a region says nothing about a home on its
/// edge. It fades: all times are halved every fourteen days (at multiples of fourteen days since 1970), and four regions
/// are kept, a new one in place of the one that stood the shortest. So the memory is bounded, and a device that moves
/// house forgets the old one within weeks.
struct StandingTimes: Hashable, Sendable {
    /// How many regions are kept.
    static let capacity = 4
    /// The time in nanoseconds after which all times are halved.
    private static let halvingNanoseconds: Int64 = 14 * 86_400 * 1_000_000_000
    /// A silence counts for at most twelve hours of standing.
    private static let longestNanoseconds: Int64 = 12 * 3_600 * 1_000_000_000

    /// The regions' bits; those without time are free.
    private var regions = SIMD4<UInt32>()
    /// Seconds.
    private var times = SIMD4<UInt32>()

    /// The contested time that a region stood, in seconds; 0 for one that is not kept.
    func seconds(of region: Region) -> UInt32 {
        times.replacing(with: 0, where: regions .!= region.bits).max()
    }

    /// Takes out the region that stood longest, if it stood longer than a time in seconds.
    mutating func removeLongest(above seconds: UInt32) -> Region? {
        let longest = times.max()
        guard longest > seconds, let place = times.indices.first(where: { times[$0] == longest }) else { return nil }
        times[place] = 0
        return Region(bits: regions[place])
    }

    /// Adds to the time of a region.
    mutating func add(_ nanoseconds: Int64, to region: Region) {
        let seconds = UInt32(min(nanoseconds, Self.longestNanoseconds) / 1_000_000_000)
        guard seconds > 0 else { return }
        let known = times.indices.first { times[$0] > 0 && regions[$0] == region.bits }
        let place = known ?? times.indices.min { times[$0] < times[$1] } ?? 0
        if known == nil { (regions[place], times[place]) = (region.bits, 0) }
        times[place] = times[place].addingReportingOverflow(seconds).overflow ? .max : times[place] + seconds
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
            return Pacer.State.Standing(region: region, seconds: times[place])
        }
    }

    /// - Parameter entries: at most `capacity`. Those of regions that are not found are left out.
    init(_ entries: [Pacer.State.Standing], region: (RegionID) -> Region?) {
        for (place, entry) in entries.prefix(Self.capacity).enumerated() {
            guard let region = region(entry.region) else { continue }
            (regions[place], times[place]) = (region.bits, entry.seconds)
        }
    }
}
