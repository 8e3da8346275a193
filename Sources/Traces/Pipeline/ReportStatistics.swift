import Hereabouts

/// What the reports of a run come to. Nothing in it is finer than the reports are.
package struct ReportStatistics: Hashable, Sendable {
    /// How often each region was reported.
    private var counts: [Region: Int] = [:]
    private var first = Timestamp(nanosecondsSince1970: .max)
    private var last = Timestamp(nanosecondsSince1970: .min)
    /// How many answers were withheld since their regions promise too few residents.
    package var tooFew = 0

    package init() {}

    /// Counts reports of a region, whose times do not matter.
    mutating func add(_ region: Region, count: Int) { counts[region, default: 0] += count }

    /// Counts a report.
    mutating func add(_ region: Region, at time: Timestamp?) {
        add(region, count: 1)
        guard let time else { return }
        (first, last) = (min(first, time), max(last, time))
    }

    mutating func add(_ other: ReportStatistics) {
        counts.merge(other.counts, uniquingKeysWith: +)
        (first, last) = (min(first, other.first), max(last, other.last))
        tooFew += other.tooFew
    }

    /// What is left where regions are withheld.
    func published(_ withheld: WithheldRegions?) -> ReportStatistics {
        var published = self
        published.counts = counts.filter { withheld.published($0.key) != nil }
        published.tooFew = counts.reduce(0) { $0 + (withheld?.isTooFew($1.key) == true ? $1.value : 0) }
        return published
    }

    /// How many reports have a region.
    package var reports: Int { counts.values.reduce(0, +) }
    /// How many regions were reported.
    package var regions: Int { counts.count }

    /// The ticks of the first and the last report, by the interval, as ISO 8601; nil where no report has a time.
    package func ticks(interval: Duration) -> (first: String, last: String)? {
        guard first <= last else { return nil }
        let nanoseconds = Pacer.nanoseconds(in: interval)
        func text(_ time: Timestamp) -> String {
            var out = ByteBuffer(capacity: 32)
            Pacer.tick(for: time, intervalNanoseconds: nanoseconds).append(to: &out)
            return String(decoding: out.array, as: UTF8.self)
        }
        return (text(first), text(last))
    }

    /// The accuracies of the reports in meters, as they are written, and how many have each; ascending.
    package func accuracies(in atlas: Atlas) -> [(meters: Int, count: Int)] {
        var sums: [Int: Int] = [:]
        for (region, count) in counts {
            sums[Int(atlas.horizontalAccuracy(of: region).rounded(.up)), default: 0] += count
        }
        return sums.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
